//! The engine `automaton`: inputs as walks.

use crate::Failure;
use wug_automata::{Automaton, Step, Walker, Weight};
use wug_grammar::Grammar;
use wug_parse::{Cache, Limits, Parser};
use wug_produce::rng::Rng;

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

/// Draws inputs.
pub struct Walks<'a> {
    walker: Walker<'a>,
    max_size: u32,
    judge: Judge<'a>,
}

impl<'a> Walks<'a> {
    /// Walks over an automaton.
    pub fn new(
        automaton: &'a Automaton,
        judge: Judge<'a>,
        weight: Weight,
        max_size: u64,
    ) -> Result<Walks<'a>, Failure> {
        let least = automaton.states()[automaton.start() as usize].least;
        let max_size = u32::try_from(max_size).unwrap_or(u32::MAX);
        if least > max_size {
            let s = if least == 1 { "" } else { "s" };
            let what = format!("the shortest input has {least} byte{s}, but the limit is {max_size}");
            return Err(Failure::usage(format!("{what}; allow more with --max-size {least}")));
        }
        Ok(Walks { walker: Walker::new(automaton, weight), max_size, judge })
    }

    pub fn scratch(&self) -> Scratch {
        self.judge.scratch()
    }

    /// Appends input `index` of `seed`.
    pub fn produce(&self, seed: u64, index: u64, scratch: &mut Scratch, out: &mut Vec<u8>) -> Option<()> {
        let mut rng = Rng::new(seed, index);
        self.judge.draw(scratch, out, |steps, out| {
            self.walker.walk(&mut || rng.wide(), self.max_size, steps, out).ok()
        })
    }
}
