//! The flattened program on a machine with a stack of calls.
//!
//! In:  [`Code`](crate::flat::Code) and random bits.
//! Out: an input, or word that a limit was passed, upon which the exact
//!      engine makes it again ([`crate::flat`] says why that is right).

use crate::flat::{Code, Flat, Instruction, extra};
use wug_produce::{Engine, Program, Scratch};
use wug_random::Rng;

/// Where a call returns to and the levels left there, or the rounds that a
/// repetition has left.
#[derive(Clone, Copy, Debug)]
struct Call {
    to: u32,
    left: u32,
}

/// What one machine writes to; reused from input to input.
#[derive(Debug, Default)]
pub struct Calls(Vec<Call>);

/// The flattened program of a grammar on a stack of calls.
///
/// ```
/// use wug_engines::{Calls, Vm};
/// use wug_grammar::{Notation, load::load_text};
/// use wug_produce::{Engine, Options, Program, Scratch};
///
/// let grammar = load_text("sum.wug", "sum = [0-9]+ ('+' sum)? ;", Notation::Wug)?.grammar;
/// let program = Program::new(&grammar, Options::default()).expect("it ends");
/// let (vm, mut scratch) = (Vm::new(&program), Scratch::default());
/// let (mut fast, mut slow) = (Vec::new(), Vec::new());
/// vm.produce(1, 0, &mut Calls::default(), &mut scratch, &mut fast).expect("no tokens");
/// program.produce(Engine::Recursive, 1, 0, &mut scratch, &mut slow).expect("no tokens");
/// assert_eq!(fast, slow);
/// # Ok::<(), wug_grammar::Rejected>(())
/// ```
#[derive(Debug)]
pub struct Vm<'p> {
    program: &'p Program,
    code: Code,
}

impl<'p> Vm<'p> {
    /// Flattens a program.
    pub fn new(program: &'p Program) -> Vm<'p> {
        Vm { program, code: Code::of(&Flat::of(program)) }
    }

    /// Appends input `index` of `seed` to `out`, as [`Program::produce`] does.
    /// Inputs near a limit, and those that must be lexed again, are left to
    /// the reference engine.
    pub fn produce(
        &self,
        seed: u64,
        index: u64,
        calls: &mut Calls,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let start = out.len();
        if self.program.relex.is_none() {
            if run(self.program, &self.code, &mut Rng::new(seed, index), calls, out) {
                return Some(());
            }
            scratch.remade += 1;
            out.truncate(start);
        }
        self.program.produce(Engine::Recursive, seed, index, scratch, out)
    }
}

/// Appends an input to `out`; `false` if it passes a limit, and what it
/// appended is of no use.
fn run(program: &Program, code: &Code, rng: &mut Rng, calls: &mut Calls, out: &mut Vec<u8>) -> bool {
    let limit = (out.len() as u64).saturating_add(program.options.max_size);
    let mut fuel = program.max_steps();
    let mut left = program.options.max_depth;
    let stack = &mut calls.0;
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
