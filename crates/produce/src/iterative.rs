//! The iterative producer of "Developing Grammar Fuzzers": one stack of
//! symbols, and beside it a record of how many of them belong to each level
//! of depth.
//!
//! The published record unwinds only on terminals, so it miscounts after an
//! empty expansion and underruns its array. Ours counts every symbol of a
//! level, and unwinds after any of them.

use crate::choices::{Choices, Completion, Next};
use wug_grammar::{AltId, BodyId, RuleId, Symbol};

/// The stack and the record.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    stack: Vec<Step>,
    levels: Vec<Level>,
}

/// What is still to be derived.
#[derive(Clone, Copy, Debug)]
enum Step {
    Symbol(Symbol),
    Repeat(BodyId, u32),
}

/// A level of depth.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Steps on the stack that belong to it.
    pending: usize,
    /// Levels that may still come below it; none if it is closed.
    left: Option<u32>,
}

/// Walks from the start to the end of one input.
pub(crate) fn walk(choices: &mut Choices) {
    let steps = &mut choices.scratch.steps;
    steps.stack.clear();
    steps.levels.clear();
    let start = choices.program.grammar.start();
    let left = choices.start_levels(choices.program.options.max_depth);
    call(choices, start, left);
    while let Some(step) = choices.scratch.steps.stack.pop() {
        let Some(level) = choices.scratch.steps.levels.last_mut() else { return };
        level.pending -= 1;
        let left = level.left;
        match step {
            Step::Symbol(symbol) => match choices.symbol(symbol, left) {
                Next::Nothing => {}
                Next::Choose(body) => choose(choices, body, left),
                Next::Call(rule, left) => call(choices, rule, left),
                Next::Repeat(body, times) => push(choices, Step::Repeat(body, times)),
            },
            Step::Repeat(body, times) => {
                if !choices.skips(body, left.is_none()) {
                    if times > 1 {
                        push(choices, Step::Repeat(body, times - 1));
                    }
                    choose(choices, body, left);
                }
            }
        }
        unwind(choices);
    }
}

/// Leaves all levels that have nothing to come.
fn unwind(choices: &mut Choices) {
    let levels = &mut choices.scratch.steps.levels;
    while levels.last().is_some_and(|level| level.pending == 0) {
        levels.pop();
    }
}

/// Opens a level for a rule and chooses in it.
fn call(choices: &mut Choices, rule: RuleId, left: Option<u32>) {
    choices.note_token(rule);
    let chosen = if left.is_none() { choices.complete(rule) } else { Completion::Choose };
    if let Completion::Done = chosen {
        return;
    }
    choices.scratch.steps.levels.push(Level { pending: 0, left });
    match chosen {
        Completion::Take(alt) => take(choices, alt),
        _ => choose(choices, choices.program.grammar.rule(rule).body, left),
    }
}

fn choose(choices: &mut Choices, body: BodyId, left: Option<u32>) {
    let alt = choices.alternative(body, left.is_none());
    take(choices, alt);
}

/// Puts the symbols of an alternative on the stack, the first on top.
fn take(choices: &mut Choices, alt: AltId) {
    let symbols = choices.program.grammar.symbols(alt);
    symbols.iter().rev().for_each(|&symbol| push(choices, Step::Symbol(symbol)));
}

/// One more step of the current level.
fn push(choices: &mut Choices, step: Step) {
    let steps = &mut choices.scratch.steps;
    steps.stack.push(step);
    if let Some(level) = steps.levels.last_mut() {
        level.pending += 1;
    }
}
