//! The machine's steps in plain code, with an eye on the limits.
//!
//! In:  the random stream of an input, from its beginning or from where the
//!      machine had it within the limits.
//! Out: the input: by the tables as long as no limit is passed, then choice
//!      by choice, as all other engines make it.
//!
//! Where a step could pass the size limit, whatever is drawn, it is not made,
//! and what is open is handed over to [`wug_produce::choices`]. Up to there the
//! limit changed nothing, and handing over does not depend on what would be
//! drawn next: so inputs have the same distribution as if each were made by
//! choices from its beginning, with one difference: a repetition or a rule
//! closed by one draw that the tables have begun is not drawn again as a
//! whole. This is also what the machine is compared with in tests.

use super::expand::within_stops;
use super::item::{FREE, HORIZON, Item, What};
use super::machine::element;
use super::parts::Part;
use super::store::Store;
use super::stream::Stream;
use wug_grammar::{BodyId, Symbol, count};
use wug_produce::choices::{Choices, Next, Scratch};
use wug_produce::recursive::{self, Frame};
use wug_produce::replay::Tape;
use wug_random::Rng;

/// An input on its way.
#[derive(Debug)]
pub struct Careful<'s, 'p> {
    store: &'s mut Store<'p>,
    stream: Stream,
    /// What is open, top last.
    stack: Vec<u32>,
    /// Steps that are left.
    steps: u64,
    /// Some steps were made before; how many is known from above.
    resumed: bool,
}

impl<'s, 'p> Careful<'s, 'p> {
    /// The input of this stream. The store is for this use
    /// alone: it may be thrown away and made again.
    pub fn new(store: &'s mut Store<'p>, stream: Stream) -> Careful<'s, 'p> {
        let start = element(store.start(), store.levels());
        let steps = store.program.max_steps();
        Careful { store, stream, stack: vec![start], steps, resumed: false }
    }

    /// Goes on with an input: what is open of it, and the steps that were
    /// made at most.
    pub fn resume(store: &'s mut Store<'p>, stream: Stream, stack: Vec<u32>, made: u64) -> Careful<'s, 'p> {
        let steps = store.program.max_steps().saturating_sub(made);
        Careful { store, stream, stack, steps, resumed: true }
    }

    /// Appends the input, or the rest of it, whose bytes stand in `out` from
    /// `begun` on. `false`, and bytes that mean nothing, if it was resumed and
    /// would run out of steps by those that were made at most.
    #[must_use]
    pub fn run(mut self, out: &mut Vec<u8>, begun: usize, scratch: &mut Scratch) -> bool {
        let limit = self.store.program.options.max_size;
        let mut open = self.open();
        let mut steps = self.steps;
        while let Some(&top) = self.stack.last() {
            if !self.store.has_room() && self.store.start_over(&mut [&mut self.stack]).is_none() {
                self.finish(out, begun, open, false, scratch);
                return true;
            }
            let top = self.stack.last().copied().unwrap_or(top);
            let (symbol, row) = ((top >> 16) as u16, (top as u16).min(HORIZON));
            if !self.store.is_made(symbol, row) {
                self.store.build(symbol, row);
            }
            let emitted = (out.len() - begun) as u64;
            let most = emitted.saturating_add(open).saturating_add(self.store.growth(symbol, row));
            // A draw from what a table left belongs to the draw from the table.
            let drawn = matches!(self.store.items(symbol), [Item { what: What::Rest { .. }, .. }, ..]);
            if steps == 0 && self.resumed {
                return false;
            }
            if (most > limit && !drawn) || steps == 0 {
                self.finish(out, begun, open, steps == 0, scratch);
                return true;
            }
            let (entry, random) = self.store.draw(symbol, row, self.stream.next());
            open = open - self.store.least(symbol) + self.store.pushed(&entry);
            steps -= 1;
            let (text, len) = self.store.emissions.emitted(entry.emission, random);
            out.extend_from_slice(&text[..len]);
            self.stack.pop();
            for (symbol, less) in entry.pushed() {
                self.stack.push(element(symbol, (top as u16).saturating_sub(less)));
            }
        }
        true
    }

    /// Least length of all that is open.
    fn open(&self) -> u64 {
        self.stack.iter().fold(0, |sum: u64, e| sum.saturating_add(self.store.least((e >> 16) as u16)))
    }

    /// Derives what is open choice by choice, or by the shortest way if the
    /// work is `exhausted`.
    fn finish(mut self, out: &mut Vec<u8>, begun: usize, open: u64, exhausted: bool, scratch: &mut Scratch) {
        let mut tape = Tape::default();
        let mut rng = Rng::resume(self.stream.next());
        let stack = std::mem::take(&mut self.stack);
        let store = &*self.store;
        let mut choices =
            Choices::resume(store.program, &mut rng, &mut tape, scratch, out, begun, open, exhausted);
        for element in stack.iter().rev() {
            for item in store.items((element >> 16) as u16) {
                derive(store, &mut choices, item, *element as u16);
            }
        }
    }
}

fn derive(store: &Store, choices: &mut Choices, item: &Item, levels: u16) {
    let left = match item.ceiling {
        // Free at any depth, where no call costs any.
        FREE => Some(1),
        ceiling => Some(u32::from(levels.saturating_sub(item.delta).min(ceiling))).filter(|&left| left > 0),
    };
    let parts = &store.expander.parts;
    match item.what {
        What::Rest { .. } => {}
        What::Text { start, len } => choices.bytes(parts.bytes(start, len)),
        What::Set(set) => choices.member(store.expander.sets.members(set)),
        What::Class(class) => symbol(choices, Symbol::Class(class), left),
        What::Body(body) => times(choices, body, 1, left),
        What::Among(body, from, to) => {
            let alt = choices.alternative_among(body, from as usize..to as usize, left.is_none());
            choices.scratch.frames.clear();
            recursive::take(choices, alt, left);
            recursive::drain(choices);
        }
        What::Times(body, count) => times(choices, body, count, left),
        What::Repeat(repeat) => symbol(choices, Symbol::Repeat(repeat), left),
        What::More(repeat, already) => {
            let repeat = *store.program.grammar.repeat(repeat);
            let more = choices.more(&repeat, |more| {
                let already = already + more;
                (already + 1 < count::choices(repeat.min, repeat.max))
                    .then(|| count::stops(repeat.min, repeat.max, already))
            });
            times(choices, repeat.body, more, left);
        }
        What::Within(repeat, already) => {
            let repeat = *store.program.grammar.repeat(repeat);
            let more = choices.more(&repeat, |more| within_stops(already + more));
            times(choices, repeat.body, more, left);
        }
        What::Parts(next, end) => {
            for at in next..end {
                match parts.part(at) {
                    Part::Text { start, len } => choices.bytes(parts.bytes(start, len)),
                    Part::Symbol(one) => symbol(choices, one, left),
                }
            }
        }
    }
}

fn symbol(choices: &mut Choices, symbol: Symbol, left: Option<u32>) {
    match choices.symbol(symbol, left) {
        Next::Nothing => {}
        Next::Choose(body) => times(choices, body, 1, left),
        Next::Call(rule, left) => times(choices, choices.program.grammar.rule(rule).body, 1, left),
        Next::Repeat(body, count) => times(choices, body, count, left),
    }
}

fn times(choices: &mut Choices, body: BodyId, times: u32, left: Option<u32>) {
    if times > 0 {
        choices.scratch.frames.clear();
        choices.scratch.frames.push(Frame::Repeat { body, times, left });
        recursive::drain(choices);
    }
}
