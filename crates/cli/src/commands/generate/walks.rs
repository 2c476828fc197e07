//! The engine `automaton`: inputs as walks.

use crate::Failure;
use crate::automaton_arg::GrammarAutomaton;
use wug_automata::{Automaton, Walker, Weight};
use wug_grammar::Grammar;
use wug_parse::{Cache, Limits, Parser};
use wug_produce::rng::Rng;

/// An input is drawn again at most this often when its tokens run together.
const MAX_REDRAWS: u64 = 1_000;

/// Draws inputs.
pub struct Walks<'a> {
    walker: Walker<'a>,
    max_size: u32,
    /// What reads inputs, where tokens may run together.
    judge: Option<Parser<'a>>,
}

/// What one thread writes to.
pub struct Scratch {
    steps: Vec<u32>,
    cache: Option<Cache>,
    /// Inputs that were drawn again.
    pub redrawn: u64,
}

impl<'a> Walks<'a> {
    /// Walks over an automaton, the inputs judged by `judge` if need be.
    pub fn new(
        automaton: &'a Automaton,
        judge: Option<&'a Grammar>,
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
        let judge = judge.map(Parser::new).transpose();
        let judge = judge.map_err(|unfit| Failure::Message(1, unfit.to_string()))?;
        Ok(Walks { walker: Walker::new(automaton, weight), max_size, judge })
    }

    /// As [`Walks::new`], for the automaton of a grammar.
    pub fn of(automaton: &'a GrammarAutomaton, weight: Weight, max_size: u64) -> Result<Walks<'a>, Failure> {
        let judge = (!automaton.unproven.is_empty()).then_some(&automaton.grammar);
        Walks::new(&automaton.built.automaton, judge, weight, max_size)
    }

    pub fn scratch(&self) -> Scratch {
        Scratch { steps: Vec::new(), cache: self.judge.as_ref().map(Cache::new), redrawn: 0 }
    }

    /// Appends input `index` of `seed`, if one is found that is read as it
    /// was meant.
    pub fn produce(&self, seed: u64, index: u64, scratch: &mut Scratch, out: &mut Vec<u8>) -> Option<()> {
        let start = out.len();
        let mut rng = Rng::new(seed, index);
        for _ in 0..MAX_REDRAWS {
            self.walker.walk(&mut || rng.wide(), self.max_size, &mut scratch.steps, out).ok()?;
            let (Some(judge), Some(cache)) = (&self.judge, &mut scratch.cache) else { return Some(()) };
            if judge.parse(&out[start..], cache, Limits::default()).is_ok() {
                return Some(());
            }
            out.truncate(start);
            scratch.redrawn += 1;
        }
        None
    }
}
