//! The reference engine: the recursive producer of "Developing Grammar
//! Fuzzers". What it chooses is the business of [`crate::choices`].
//!
//! The recursion's frames live on the heap: depth is the user's to choose,
//! and the native stack is not.

use crate::choices::{Choices, Completion, Next};
use wug_grammar::{AltId, BodyId, RuleId};

/// Work that is left; `left` levels are below it, none if it is closed.
#[derive(Clone, Copy, Debug)]
pub enum Frame {
    /// Symbols from `next` to `end`.
    Symbols {
        /// The first.
        next: u32,
        /// Behind the last.
        end: u32,
        /// Levels below them.
        left: Option<u32>,
    },
    /// A body that comes `times` more.
    Repeat {
        /// What is repeated.
        body: BodyId,
        /// How often it comes.
        times: u32,
        /// Levels below it.
        left: Option<u32>,
    },
}

/// Walks from the start to the end of one input.
pub fn walk(choices: &mut Choices) {
    choices.scratch.frames.clear();
    let start = choices.program.grammar.start();
    let left = choices.start_levels();
    call(choices, start, left);
    drain(choices);
}

/// Walks what the frames hold.
pub fn drain(choices: &mut Choices) {
    while let Some(frame) = choices.scratch.frames.pop() {
        match frame {
            Frame::Symbols { next, end, left } => {
                if next + 1 < end {
                    choices.scratch.frames.push(Frame::Symbols { next: next + 1, end, left });
                }
                if next < end {
                    match choices.symbol(choices.program.grammar.symbol(next), left) {
                        Next::Nothing => {}
                        Next::Choose(body) => choose(choices, body, left),
                        Next::Call(rule, left) => call(choices, rule, left),
                        Next::Repeat(body, times) => {
                            choices.scratch.frames.push(Frame::Repeat { body, times, left });
                        }
                    }
                }
            }
            Frame::Repeat { body, times, left } => {
                if choices.skips(body, left.is_none()) {
                    continue;
                }
                if times > 1 {
                    choices.scratch.frames.push(Frame::Repeat { body, times: times - 1, left });
                }
                choose(choices, body, left);
            }
        }
    }
}

/// Enters a rule with `left` levels for its own choices and those below.
fn call(choices: &mut Choices, rule: RuleId, left: Option<u32>) {
    choices.note_token(rule);
    let body = choices.program.grammar.rule(rule).body;
    if left.is_none() {
        match choices.complete(rule) {
            Completion::Done => return,
            Completion::Take(alt) => return take(choices, alt, None),
            Completion::Choose => {}
        }
    }
    choose(choices, body, left);
}

fn choose(choices: &mut Choices, body: BodyId, left: Option<u32>) {
    let alt = choices.alternative(body, left.is_none());
    take(choices, alt, left);
}

/// Leaves the symbols of an alternative as work.
pub fn take(choices: &mut Choices, alt: AltId, left: Option<u32>) {
    let alternative = choices.program.grammar.alternative(alt);
    let (next, end) = (alternative.first, alternative.end);
    choices.scratch.frames.push(Frame::Symbols { next, end, left });
}
