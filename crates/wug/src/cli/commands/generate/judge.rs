//! Inputs that are read again, where tokens may run together: one that is not
//! read as it was meant is drawn anew.

use crate::cli::Failure;
use wug_automata::Step;
use wug_grammar::Grammar;
use wug_parse::{Cache, Limits, Parser};

/// An input is drawn again at most this often when its tokens run together.
const MAX_REDRAWS: u64 = 1_000;

/// Reads inputs, where tokens may run together.
pub struct Judge<'a>(Option<Parser<'a>>);

/// What one thread writes to.
pub struct Scratch {
    steps: Vec<Step>,
    cache: Option<Cache>,
    /// Inputs that were drawn again.
    pub redrawn: u64,
}

impl<'a> Judge<'a> {
    /// Judges by `grammar`, if one is given.
    pub fn new(grammar: Option<&'a Grammar>) -> Result<Judge<'a>, Failure> {
        let parser = grammar.map(Parser::new).transpose();
        parser.map(Judge).map_err(|unfit| Failure::Message(1, unfit.to_string()))
    }

    pub fn scratch(&self) -> Scratch {
        Scratch { steps: Vec::new(), cache: self.0.as_ref().map(Cache::new), redrawn: 0 }
    }

    /// Appends what `draw` does, until it is read as it was meant.
    pub fn draw(
        &self,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
        mut draw: impl FnMut(&mut Vec<Step>, &mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        let start = out.len();
        for _ in 0..MAX_REDRAWS {
            draw(&mut scratch.steps, out)?;
            let (Some(judge), Some(cache)) = (&self.0, &mut scratch.cache) else { return Some(()) };
            if judge.parse(&out[start..], cache, Limits::default()).is_ok() {
                return Some(());
            }
            out.truncate(start);
            scratch.redrawn += 1;
        }
        None
    }
}
