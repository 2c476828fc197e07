//! The flattened program as one list of instructions, for machines with a
//! stack of their own: [`crate::vm`] and threaded code.

use super::{Block, Flat, Guide, Op, charge};
use wug_grammar::ClassId;

/// A list of instructions with what they refer to.
#[derive(Debug)]
pub(crate) struct Code {
    /// The first begins an input.
    pub instructions: Vec<Instruction>,
    /// Where choices lead to.
    pub targets: Vec<u32>,
    /// What is drawn from: how many, and how if they are uneven.
    pub draws: Vec<(u32, Option<Guide>)>,
    /// Ready texts.
    pub tables: Vec<Texts>,
    /// All texts, one behind the other.
    pub bytes: Vec<u8>,
}

/// A table of texts.
#[derive(Debug)]
pub(crate) struct Texts {
    pub draw: u32,
    /// Where each begins and its length.
    pub texts: Box<[(u32, u32)]>,
}

/// One instruction. Numbers named `to` and such are places in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// A function begins: charge for it, cut its levels.
    Enter { charge: u32, limit: u32 },
    /// Emits bytes.
    Text { start: u32, len: u32 },
    /// Draws a text of a table.
    Pick(u32),
    /// Draws a member of a class.
    Class(ClassId),
    /// Draws one of the targets from `targets` on.
    Choose { draw: u32, targets: u32 },
    /// Goes on there.
    Jump(u32),
    /// Goes on at `closed` unless more than `above` levels are left.
    Guard { above: u32, closed: u32 },
    /// Calls a function.
    Call { to: u32, down: u32 },
    /// Calls a function that returns to where this one would.
    Become { to: u32, down: u32 },
    /// Back to the caller.
    Return,
    /// Draws a count; with none goes on at `past`.
    Repeat { min: u32, choices: u32, past: u32 },
    /// Charges for rounds to come.
    Rounds { charge: u32 },
    /// Another round, if there are more.
    Again { to: u32 },
    /// Leaves the input to the exact engine.
    Bail,
}

impl Code {
    /// Lines up a flattened program.
    pub fn of(flat: &Flat) -> Code {
        let code = Code {
            instructions: Vec::new(),
            targets: Vec::new(),
            draws: flat.draws.iter().map(|draw| (draw.count, draw.guide())).collect(),
            tables: Vec::new(),
            bytes: Vec::new(),
        };
        let mut writer = Writer { code, entries: Vec::new() };
        for table in &flat.tables {
            let texts = table.texts.iter().map(|text| writer.text(text)).collect();
            writer.code.tables.push(Texts { draw: table.draw as u32, texts });
        }
        for function in &flat.functions {
            writer.entries.push(writer.here());
            let charge = charge(&function.block).min(u32::MAX.into()) as u32;
            writer.push(Instruction::Enter { charge, limit: function.limit.unwrap_or(u32::MAX) });
            writer.block(&function.block, true);
        }
        // Calls were written before all functions had their place.
        for instruction in &mut writer.code.instructions {
            if let Instruction::Call { to, .. } | Instruction::Become { to, .. } = instruction {
                *to = writer.entries[*to as usize];
            }
        }
        writer.code
    }
}

impl Code {
    /// Which one of a draw `bits` mean.
    #[inline]
    pub fn drawn(&self, draw: u32, bits: u32) -> usize {
        match &self.draws[draw as usize] {
            (count, None) => ((u64::from(bits) * u64::from(*count)) >> 32) as usize,
            (_, Some(guide)) => guide.index(bits),
        }
    }
}

struct Writer {
    code: Code,
    /// Where each function begins.
    entries: Vec<u32>,
}

impl Writer {
    fn here(&self) -> u32 {
        self.code.instructions.len() as u32
    }

    fn push(&mut self, instruction: Instruction) -> usize {
        self.code.instructions.push(instruction);
        self.code.instructions.len() - 1
    }

    fn text(&mut self, text: &[u8]) -> (u32, u32) {
        let start = self.code.bytes.len() as u32;
        self.code.bytes.extend_from_slice(text);
        (start, text.len() as u32)
    }

    /// A block; if `last`, the function returns behind it.
    fn block(&mut self, block: &Block, last: bool) {
        for (at, op) in block.ops.iter().enumerate() {
            let last = last && at + 1 == block.ops.len();
            self.op(op, last);
            if last && matches!(op, Op::Choose { .. } | Op::Guard { .. } | Op::Call { .. } | Op::Bail) {
                return;
            }
        }
        if last {
            self.push(Instruction::Return);
        }
    }

    fn op(&mut self, op: &Op, last: bool) {
        match op {
            Op::Text(text) => {
                let (start, len) = self.text(text);
                self.push(Instruction::Text { start, len });
            }
            Op::Pick(table) => {
                self.push(Instruction::Pick(*table as u32));
            }
            Op::Class(class) => {
                self.push(Instruction::Class(*class));
            }
            Op::Choose { draw, arms } => {
                let targets = self.code.targets.len();
                self.push(Instruction::Choose { draw: *draw as u32, targets: targets as u32 });
                self.code.targets.resize(targets + arms.len(), 0);
                let mut jumps = Vec::new();
                for (at, arm) in arms.iter().enumerate() {
                    self.code.targets[targets + at] = self.here();
                    self.block(arm, last);
                    if !last && at + 1 < arms.len() {
                        jumps.push(self.push(Instruction::Jump(0)));
                    }
                }
                self.land(&jumps);
            }
            Op::Guard { above, free, closed } => {
                let guard = self.push(Instruction::Bail);
                self.block(free, last);
                let jump = (!last).then(|| self.push(Instruction::Jump(0)));
                self.code.instructions[guard] = Instruction::Guard { above: *above, closed: self.here() };
                self.block(closed, last);
                self.land(jump.as_slice());
            }
            Op::Repeat { min, choices, block } => {
                let repeat = self.push(Instruction::Bail);
                let charge = charge(block).min(u32::MAX.into()) as u32;
                self.push(Instruction::Rounds { charge });
                let to = self.here();
                self.block(block, false);
                self.push(Instruction::Again { to });
                let past = self.here();
                self.code.instructions[repeat] = Instruction::Repeat { min: *min, choices: *choices, past };
            }
            Op::Call { function, down } => {
                let (to, down) = (*function as u32, *down);
                self.push(match last {
                    true => Instruction::Become { to, down },
                    false => Instruction::Call { to, down },
                });
            }
            Op::Bail => {
                self.push(Instruction::Bail);
            }
        }
    }

    /// Lets jumps end here.
    fn land(&mut self, jumps: &[usize]) {
        let here = self.here();
        for &jump in jumps {
            self.code.instructions[jump] = Instruction::Jump(here);
        }
    }
}
