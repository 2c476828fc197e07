//! Inputs of a size, all derivations equally likely.

use super::judge::{Judge, Scratch};
use super::workers::Judged;
use crate::cli::Failure;
use crate::cli::automaton_arg::refuse;
use crate::cli::terminal;
use std::ops::RangeInclusive;
use wug_automata::uniform::{Undrawn, Uniform};
use wug_automata::{Form, Weight};
use wug_grammar::Loaded;
use wug_grammar::transform::lower::Lowered;
use wug_random::Rng;

/// Sizes in bytes, as `A..B`, both included.
pub fn sizes(text: &str) -> Result<RangeInclusive<usize>, String> {
    let wrong = || "write sizes as 100..200, both included".to_string();
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let size = |text: &str| crate::cli::size::parse(text.trim_start_matches('=')).map_err(|_| wrong());
    let (from, to) = (size(from)? as usize, size(to)? as usize);
    if from <= to { Ok(from..=to) } else { Err("the first size is larger than the second".to_string()) }
}

/// Draws inputs.
pub struct UniformInputs<'a> {
    uniform: Uniform<'a>,
    judge: Judge<'a>,
}

/// The normal form of a grammar.
pub fn form(loaded: &Loaded, lowered: &Lowered) -> Result<Form, Failure> {
    terminal::diagnostics(&lowered.warnings, &loaded.sources);
    Form::of(&lowered.grammar).map_err(|unfit| refuse(unfit, loaded, lowered))
}

impl<'a> UniformInputs<'a> {
    pub fn new(
        form: &'a Form,
        sizes: RangeInclusive<usize>,
        weight: Weight,
        judge: Judge<'a>,
    ) -> Result<UniformInputs<'a>, Failure> {
        let (from, to) = (*sizes.start(), *sizes.end());
        let uniform = Uniform::new(form, sizes, weight).map_err(|undrawn| {
            Failure::usage(match undrawn {
                Undrawn::None => {
                    format!("no input of this grammar has {from} to {to} bytes; try other sizes")
                }
                Undrawn::TooLarge { fits } => {
                    format!(
                        "counting inputs of up to {to} bytes takes too long for this grammar; {fits} would do"
                    )
                }
            })
        })?;
        Ok(UniformInputs { uniform, judge })
    }
}

impl Judged for UniformInputs<'_> {
    fn scratch(&self) -> Scratch {
        self.judge.scratch()
    }

    fn produce(&self, seed: u64, index: u64, scratch: &mut Scratch, out: &mut Vec<u8>) -> Option<()> {
        let mut rng = Rng::new(seed, index);
        self.judge.draw(scratch, out, |_, out| {
            self.uniform.sample(&mut || rng.wide(), out);
            Some(())
        })
    }
}
