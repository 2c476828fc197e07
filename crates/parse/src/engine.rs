//! The parser at work: a plain LR parser as long as there is one thing to
//! do, and [`crate::several`] where there are more.
//!
//! The stack is a plain array. An element that was reached in several ways
//! is a *join*: it stands for a node of the graph of stacks, and what is
//! below it must be asked of that graph. Nothing here recurses.

use crate::action::Do;
use crate::automaton::{Automaton, START};
use crate::follow::Follow;
use crate::forest::{Entry, Forest, Label, MAX_ENTRIES, Mark};
use crate::form::Form;
use crate::several::Graph;

/// A row of letters.
pub(crate) trait Input {
    fn len(&self) -> usize;
    /// The letter at a place; the end is a letter of its own.
    fn letter(&self, at: usize) -> u32;
}

/// A state on the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element {
    pub state: u32,
    /// The length of the trace when its symbol was complete.
    pub mark: u32,
    /// Letters read when its symbol was complete.
    pub level: u32,
    /// The node of the graph that it stands for, if it is a join.
    pub join: u32,
}

pub(crate) const NONE: u32 = u32::MAX;

/// What the parser writes to; reused from input to input.
#[derive(Default)]
pub(crate) struct Scratch {
    pub forest: Forest,
    pub stack: Vec<Element>,
    /// Places of joins on the stack.
    pub joins: Vec<u32>,
    pub graph: Graph,
    /// Steps beside the plain ones.
    pub steps: u64,
}

impl Scratch {
    /// What is held for the input: the forest and the stacks.
    pub fn bytes(&self) -> usize {
        self.forest.bytes() + self.graph.bytes() + self.stack.len() * size_of::<Element>()
    }
}

/// One input being parsed.
pub(crate) struct Engine<'a, I> {
    pub form: &'a Form,
    pub follow: &'a Follow,
    pub automaton: &'a mut Automaton,
    pub input: &'a I,
    pub scratch: &'a mut Scratch,
    pub limits: Limits,
}

/// What an input may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for the forest and the stacks; the derivation and
    /// the automaton may take as much again, each.
    pub memory: usize,
    /// Steps where the grammar leaves a choice: paths that are walked in
    /// the graph of stacks. Where it leaves none, time is linear anyway.
    pub steps: u64,
}

/// Which limit was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Memory.
    Memory,
    /// Steps.
    Steps,
    /// The length of an input.
    Length,
}

/// How a parse ends.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Accepted(Label),
    /// At this letter; with the tops of all stacks that had come so far.
    Rejected(usize, Vec<u32>),
    Limit(Limit, usize),
}

/// How a stretch of plain work ends.
enum Stop {
    End(End),
    /// There are several things to do here.
    Several(usize),
}

/// The bit of a handle that stands for a place on the stack.
pub(crate) const DET: u32 = 1 << 31;

impl<I: Input> Engine<'_, I> {
    /// Parses from letter `at` on.
    pub fn run(&mut self, mut at: usize) -> End {
        let scratch = &mut *self.scratch;
        scratch.forest.clear();
        scratch.stack.clear();
        scratch.joins.clear();
        scratch.graph.clear();
        scratch.steps = 0;
        scratch.stack.push(Element { state: START, mark: 0, level: at as u32, join: NONE });
        loop {
            match self.plain(at) {
                Stop::End(end) => return end,
                Stop::Several(place) => match self.several(place) {
                    Ok(place) => at = place,
                    Err(end) => return end,
                },
            }
        }
    }

    /// Works as a plain LR parser from letter `at` on.
    fn plain(&mut self, mut at: usize) -> Stop {
        let end = self.input.len();
        let mut letter = self.input.letter(at);
        let mut next_check = at + CHECK;
        loop {
            if at >= next_check {
                if let Some(limit) = self.over_limit() {
                    return Stop::End(End::Limit(limit, at));
                }
                next_check = at + CHECK;
            }
            let Scratch { forest, stack, joins, .. } = &mut *self.scratch;
            let depth = stack.len();
            let top = &mut stack[depth - 1];
            match self.automaton.known(top.state, letter) {
                Do::Loop(number) if joins.last().is_none_or(|&j| (j as usize) < depth - 1) => {
                    forest.push(Mark::Macro(number));
                    at += 1;
                    top.mark = forest.trace.len() as u32;
                    top.level = at as u32;
                    letter = self.input.letter(at);
                }
                Do::Push(number) => {
                    forest.push(Mark::Macro(number));
                    at += 1;
                    let state = self.automaton.macros[number as usize].state;
                    let mark = forest.trace.len() as u32;
                    stack.push(Element { state, mark, level: at as u32, join: NONE });
                    letter = self.input.letter(at);
                }
                Do::Shift(state) => {
                    at += 1;
                    let mark = forest.trace.len() as u32;
                    stack.push(Element { state, mark, level: at as u32, join: NONE });
                    letter = self.input.letter(at);
                }
                Do::Loop(number) => {
                    // The top is a join: its list is of several lengths.
                    at += 1;
                    let state = self.automaton.macros[number as usize].shifted;
                    let mark = forest.trace.len() as u32;
                    stack.push(Element { state, mark, level: at as u32, join: NONE });
                    letter = self.input.letter(at);
                }
                Do::Reduce(production) => {
                    if !self.reduce(production, at) {
                        return Stop::Several(at);
                    }
                }
                Do::Choose(choice) => match self.resolve(choice, letter) {
                    Resolved::Shift(state) => {
                        at += 1;
                        let Scratch { forest, stack, .. } = &mut *self.scratch;
                        let mark = forest.trace.len() as u32;
                        stack.push(Element { state, mark, level: at as u32, join: NONE });
                        letter = self.input.letter(at);
                    }
                    Resolved::Reduce(production) => {
                        self.reduce(production, at);
                    }
                    Resolved::Several => return Stop::Several(at),
                    Resolved::Nothing => return self.rejected(at),
                },
                Do::Unknown => {
                    let state = top.state;
                    self.automaton.trim();
                    self.automaton.action(self.form, self.follow, state, letter);
                    if let Some(limit) = self.over_limit() {
                        return Stop::End(End::Limit(limit, at));
                    }
                }
                Do::Error => return self.rejected(at),
                Do::Accept => {
                    debug_assert_eq!(at, end);
                    return Stop::End(End::Accepted(self.label(depth - 1)));
                }
            }
        }
    }

    fn rejected(&self, at: usize) -> Stop {
        let top = DET | (self.scratch.stack.len() as u32 - 1);
        Stop::End(End::Rejected(at, vec![top]))
    }

    /// The label of what an element stands for.
    pub fn label(&self, at: usize) -> Label {
        let element = &self.scratch.stack[at];
        if element.join != NONE
            && let Some((_, label)) = self.scratch.graph.edges(element.join).next()
        {
            return label;
        }
        match self.automaton.access(element.state).nonterminal() {
            Some(_) => Label::Trace(element.mark),
            None => Label::Letter,
        }
    }

    /// Reduces on the plain stack; `false` if a join is in the way.
    #[inline]
    fn reduce(&mut self, production: u32, at: usize) -> bool {
        let p = self.form.production(production);
        let Scratch { forest, stack, joins, .. } = &mut *self.scratch;
        let below = stack.len().wrapping_sub(p.len as usize);
        if joins.last().is_some_and(|&join| join as usize >= below || below > stack.len()) {
            return false;
        }
        stack.truncate(below);
        forest.push(Mark::Reduce(production));
        let state = self.automaton.goto(self.form, stack[below - 1].state, p.lhs);
        stack.push(Element { state, mark: forest.trace.len() as u32, level: at as u32, join: NONE });
        true
    }

    /// Which of several things leads on to the letter, if it is one.
    fn resolve(&mut self, choice: u32, letter: u32) -> Resolved {
        let choice = self.automaton.choices(choice).clone();
        let mut found = choice.shift.map(Resolved::Shift);
        for &production in &choice.reductions {
            let p = self.form.production(production);
            if self.form.cyclic[p.lhs as usize] {
                return Resolved::Several;
            }
            let depth = self.scratch.stack.len();
            let below = depth.wrapping_sub(p.len as usize);
            if self.scratch.joins.last().is_some_and(|&join| join as usize >= below || below > depth) {
                return Resolved::Several;
            }
            let under = self.scratch.stack[below - 1].state;
            let state = self.automaton.goto(self.form, under, p.lhs);
            if self.leads_on(state, DET | (below as u32 - 1), letter) {
                if found.is_some() {
                    return Resolved::Several;
                }
                found = Some(Resolved::Reduce(production));
            }
        }
        found.unwrap_or(Resolved::Nothing)
    }

    /// Which limit is passed, if one is.
    pub fn over_limit(&self) -> Option<Limit> {
        let Scratch { forest, steps, .. } = &*self.scratch;
        let memory = self.scratch.bytes();
        let automaton = self.automaton.bytes() > self.limits.memory;
        if automaton || memory > self.limits.memory || forest.trace.len() > MAX_ENTRIES - 4 * CHECK {
            return Some(Limit::Memory);
        }
        (*steps > self.limits.steps).then_some(Limit::Steps)
    }
}

/// Limits are looked at after so many letters.
const CHECK: usize = 1 << 14;

enum Resolved {
    Nothing,
    Shift(u32),
    Reduce(u32),
    Several,
}

const _: () = assert!(size_of::<Entry>() == 4);
