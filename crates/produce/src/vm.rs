//! The flattened program on a machine with a stack of calls.
//!
//! In:  [`Code`](crate::flat::Code) and random bits.
//! Out: an input, or word that a limit was passed, upon which the exact
//!      engine makes it again ([`crate::flat`] says why that is right).

use crate::flat::{Instruction, extra};
use crate::{Program, Scratch};
use wug_random::Rng;

/// Where a call returns to and the levels left there, or the rounds that a
/// repetition has left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    to: u32,
    left: u32,
}

/// Appends an input to `out`; `false` if it passes a limit, and what it
/// appended is of no use.
pub(crate) fn run(program: &Program, rng: &mut Rng, scratch: &mut Scratch, out: &mut Vec<u8>) -> bool {
    let code = program.code();
    let limit = (out.len() as u64).saturating_add(program.options.max_size);
    let mut fuel = program.max_steps();
    let mut left = program.options.max_depth;
    let stack = &mut scratch.calls;
    stack.clear();
    let mut at = 0;
    loop {
        at += 1;
        match code.instructions[at - 1] {
            Instruction::Enter { charge, limit: levels } => {
                if fuel < u64::from(charge) || out.len() as u64 > limit {
                    return false;
                }
                fuel -= u64::from(charge);
                left = left.min(levels);
            }
            Instruction::Text { start, len } => {
                out.extend_from_slice(&code.bytes[start as usize..][..len as usize]);
            }
            Instruction::Pick(table) => {
                let table = &code.tables[table as usize];
                let (start, len) = table.texts[code.drawn(table.draw, rng.bits())];
                out.extend_from_slice(&code.bytes[start as usize..][..len as usize]);
            }
            Instruction::Class(class) => {
                let class = program.grammar.class(class);
                class.emit(rng.below(class.count()), out);
            }
            Instruction::Choose { draw, targets } => {
                let index = code.drawn(draw, rng.bits());
                at = code.targets[targets as usize + index] as usize;
            }
            Instruction::Jump(to) => at = to as usize,
            Instruction::Guard { above, closed } => {
                if left <= above {
                    at = closed as usize;
                }
            }
            Instruction::Call { to, down } => {
                stack.push(Call { to: at as u32, left });
                left = left.saturating_sub(down);
                at = to as usize;
            }
            Instruction::Become { to, down } => {
                left = left.saturating_sub(down);
                at = to as usize;
            }
            Instruction::Return => match stack.pop() {
                Some(call) => (at, left) = (call.to as usize, call.left),
                None => return out.len() as u64 <= limit,
            },
            Instruction::Repeat { min, choices, past } => {
                let extra = if choices > 1 { extra(rng.bits(), choices) } else { 0 };
                match min.saturating_add(extra) {
                    0 => at = past as usize,
                    rounds => stack.push(Call { to: rounds, left }),
                }
            }
            Instruction::Rounds { charge } => {
                let rounds = stack.last().map_or(0, |call| u64::from(call.to));
                let charge = rounds.saturating_mul(charge.into());
                if fuel < charge {
                    return false;
                }
                fuel -= charge;
            }
            Instruction::Again { to } => {
                let Some(call) = stack.last_mut() else { return false };
                call.to -= 1;
                if call.to > 0 {
                    at = to as usize;
                } else {
                    stack.pop();
                }
                if out.len() as u64 > limit {
                    return false;
                }
            }
            Instruction::Bail => return false,
        }
    }
}
