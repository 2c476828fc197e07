//! The reference engine: the recursive producer of "Developing Grammar
//! Fuzzers". What it chooses is the business of [`crate::choices`].
//!
//! The recursion's frames live on the heap: depth is the user's to choose,
//! and the native stack is not.

use crate::choices::{Choices, Completion, Next};
use crate::sink::Sink;
use wug_grammar::derivation::Node;
use wug_grammar::{AltId, BodyId, RuleId, Symbol};

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
    /// The end of a node, where the sink takes nodes.
    Close,
}

/// Walks from the start to the end of one input.
pub fn walk<S: Sink>(choices: &mut Choices<S>) {
    choices.scratch.frames.clear();
    start(choices, choices.program.options.max_depth);
    drain(choices);
}

/// Enters the start rule, with so many levels in all.
pub fn start<S: Sink>(choices: &mut Choices<S>, depth: u32) {
    let start = choices.program.grammar.start();
    let left = choices.start_levels(depth);
    match choices.program.leaves && choices.program.grammar.rule(start).is_token() {
        true => symbol(choices, Symbol::Rule(start), left),
        false => call(choices, start, left),
    }
}

/// Walks one symbol with `left` levels below it.
pub fn symbol<S: Sink>(choices: &mut Choices<S>, symbol: Symbol, left: Option<u32>) {
    match choices.symbol(symbol, left) {
        Next::Nothing => {}
        Next::Choose(body) => choose(choices, body, left),
        Next::Call(rule, left) => call(choices, rule, left),
        Next::Repeat(body, times) => {
            if S::NODES {
                choices.scratch.frames.push(Frame::Close);
            }
            choices.scratch.frames.push(Frame::Repeat { body, times, left });
        }
    }
}

/// Walks what the frames hold.
pub fn drain<S: Sink>(choices: &mut Choices<S>) {
    while let Some(frame) = choices.scratch.frames.pop() {
        if choices.out.failed() {
            return choices.scratch.frames.clear();
        }
        match frame {
            Frame::Symbols { next, end, left } => {
                if next + 1 < end {
                    choices.scratch.frames.push(Frame::Symbols { next: next + 1, end, left });
                }
                if next < end {
                    symbol(choices, choices.program.grammar.symbol(next), left);
                }
            }
            Frame::Repeat { body, times, left } => {
                if choices.skips(body, left.is_none()) {
                    choices.empty(body, times);
                    continue;
                }
                if times > 1 {
                    choices.scratch.frames.push(Frame::Repeat { body, times: times - 1, left });
                }
                choose(choices, body, left);
            }
            Frame::Close => choices.close_node(),
        }
    }
}

/// Enters a rule with `left` levels for its own choices and those below.
fn call<S: Sink>(choices: &mut Choices<S>, rule: RuleId, left: Option<u32>) {
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

/// Chooses an alternative of a body.
pub fn choose<S: Sink>(choices: &mut Choices<S>, body: BodyId, left: Option<u32>) {
    let alt = choices.alternative(body, left.is_none());
    take(choices, alt, left);
}

/// Leaves the symbols of an alternative as work.
pub fn take<S: Sink>(choices: &mut Choices<S>, alt: AltId, left: Option<u32>) {
    let alternative = choices.program.grammar.alternative(alt);
    let (next, end) = (alternative.first, alternative.end);
    if S::NODES {
        choices.open_node(Node::Alternative(alt));
        choices.scratch.frames.push(Frame::Close);
    }
    choices.scratch.frames.push(Frame::Symbols { next, end, left });
}
