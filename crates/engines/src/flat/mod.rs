//! The flattened program: what is left of a grammar when all is done that
//! needs no random bits.
//!
//! In:  a [`Program`].
//! Out: [`Flat`]: functions of straight code. Neighbouring texts are one,
//!      single alternatives and small rules stand where they are used
//!      (partial evaluation, F1 section 7), rules that are closed with few
//!      completions are tables of ready texts.
//!
//! The draws stay the same, one for one and in order. What is left out are
//! the limits on size and work: as long as an input that was drawn without
//! them is within them, they would have changed nothing, because the least
//! length of what is open is never more than what it came to. An input that
//! passes one is given up, and the exact engine ([`wug_produce::recursive`]) makes
//! it again from its seed: so limits cost two compares for each call, and
//! the worst case is twice the work.
//!
//! Size is bounded: rules are put in place only while the program is small
//! (`build.rs`), and completions that are too long are left to the exact
//! engine ([`Op::Bail`]).
//!
//! Rejected: to carry the open length along and replace choices near the
//! limit. That costs a third register in every call, for the few inputs
//! that come near it.

mod bounds;
mod build;
mod code;
mod draw;

pub(crate) use bounds::{Budget, charge, extra, frames, reach, reach_of};
pub(crate) use code::{Code, Instruction};
pub(crate) use draw::{Draw, Guide};

use wug_produce::Program;

/// Names a function.
pub(crate) type FunctionId = usize;

/// A program of functions.
#[derive(Debug)]
pub(crate) struct Flat {
    /// The first is called with the greatest depth as its levels.
    pub functions: Vec<Function>,
    /// What choices are drawn from.
    pub draws: Vec<Draw>,
    /// Ready texts.
    pub tables: Vec<Table>,
}

/// What is left of a body, free or closed.
#[derive(Debug)]
pub(crate) struct Function {
    /// Its name, for people.
    pub name: String,
    /// Its code.
    pub block: Block,
    /// Levels below it are cut to this.
    pub limit: Option<u32>,
    /// Whether it is closed; if not it knows how many levels are left, at
    /// least one.
    pub closed: bool,
}

/// Straight code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    /// In order.
    pub ops: Vec<Op>,
    /// Steps of the exact engine, as [`Program::max_steps`] counts them, that
    /// nothing is left of but the count.
    pub steps: u32,
}

/// One operation. `left` are the levels left in the function it stands in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Emits bytes.
    Text(Vec<u8>),
    /// Draws one text of a table.
    Pick(usize),
    /// Draws a member of a class with more than [`draw::FEW`] members.
    Class(wug_grammar::ClassId),
    /// Draws a block.
    Choose { draw: usize, arms: Vec<Block> },
    /// Draws one of `choices` counts beyond `min`, and does the block as often.
    Repeat { min: u32, choices: u32, block: Block },
    /// Whether `left` is more than `above`.
    Guard { above: u32, free: Block, closed: Block },
    /// Calls a function with `left - down` levels.
    Call { function: FunctionId, down: u32 },
    /// Leaves the input to the exact engine.
    Bail,
}

/// Texts, one of which is drawn.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Table {
    /// Which.
    pub draw: usize,
    /// The texts.
    pub texts: Vec<Vec<u8>>,
}

impl Table {
    /// The length of the shortest text.
    pub fn shortest(&self) -> usize {
        self.texts.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// The length of the longest text.
    pub fn longest(&self) -> usize {
        self.texts.iter().map(Vec::len).max().unwrap_or(0)
    }
}

impl Flat {
    /// Flattens a program.
    pub fn of(program: &Program) -> Flat {
        build::build(program)
    }
}

impl Block {
    /// Emits bytes; neighbours become one.
    fn text(&mut self, bytes: &[u8]) {
        match self.ops.last_mut() {
            _ if bytes.is_empty() => {}
            Some(Op::Text(text)) => text.extend_from_slice(bytes),
            _ => self.ops.push(Op::Text(bytes.to_vec())),
        }
    }

    fn push(&mut self, op: Op) {
        match op {
            Op::Text(text) => self.text(&text),
            op => self.ops.push(op),
        }
    }

    /// Does all of `block` as well.
    fn append(&mut self, block: Block) {
        self.steps = self.steps.saturating_add(block.steps);
        block.ops.into_iter().for_each(|op| self.push(op));
    }

    /// Its one text, if it is nothing else.
    fn plain(&self) -> Option<&[u8]> {
        match &self.ops[..] {
            [] => Some(&[]),
            [Op::Text(text)] => Some(text),
            _ => None,
        }
    }
}
