//! The engine `automaton`: inputs as walks.

use super::judge::{Judge, Scratch};
use super::workers::Judged;
use crate::cli::Failure;
use wug_automata::{Automaton, Walker, Weight};
use wug_random::Rng;

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
}

impl Judged for Walks<'_> {
    fn scratch(&self) -> Scratch {
        self.judge.scratch()
    }

    fn produce(&self, seed: u64, index: u64, scratch: &mut Scratch, out: &mut Vec<u8>) -> Option<()> {
        let mut rng = Rng::new(seed, index);
        self.judge.draw(scratch, out, |steps, out| {
            self.walker.walk(&mut || rng.wide(), self.max_size, steps, out).ok()
        })
    }
}
