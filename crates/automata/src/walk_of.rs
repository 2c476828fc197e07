//! From a derivation to the walk that stands for it.
//!
//! In:  an automaton that was built from a grammar, and a derivation by that
//!      grammar.
//! Out: the walk with that derivation, where the automaton has it. What the
//!      normal form forgets is forgotten: how the empty text is derived, and
//!      circles of rules that derive themselves.
//!
//! The stack of the automaton is followed beside the derivation: each item on
//! it has a [`Frame`], which knows the part of the tree that the item has
//! still to derive. For a step, the tree is descended along what comes first,
//! and each level names the way that it took; from the bottom up, these ways
//! tell the slot. Left recursion is descended at once: what lies on the way
//! waits as a spine, and is climbed behind the first part.

use crate::automaton::{Built, Step};
use crate::form::{Form, ItemKind, NONE, Part, Via, part};
use crate::labels::Leaf;
use crate::read::Unread;
use std::ops::Range;
use wug_grammar::derivation::{Derivation, Node};
use wug_grammar::{AltId, BodyId, RepeatId, Symbol};

impl Built {
    /// The walk of a derivation by [`Form::grammar`].
    pub fn walk_of(&self, derivation: &Derivation) -> Result<Vec<Step>, Unread> {
        let form = &self.form;
        let spans = derivation.spans(&form.grammar).map_err(|_| Unread::Misfit)?;
        let (ends, frames, spine) = (form.ends(), Vec::new(), Vec::new());
        let mut track = Track { form, derivation, spans, ends, frames, spine };
        let start = Part::Body(form.grammar.rule(form.grammar.start()).body);
        if !track.spans[0].is_empty() {
            track.frames.push(Frame::Whole { part: form.corners.number(start), at: 0 });
        }
        let automaton = &self.automaton;
        let (mut walk, mut state, mut place) = (Vec::new(), automaton.start, 0);
        loop {
            let mut stack = self.stack_of[state as usize];
            while let Some(frame) = track.frames.last()
                && track.is_empty(frame)
            {
                track.close();
                stack = self.stacks[stack as usize].below;
            }
            let Some(frame) = track.frames.pop() else { break };
            let found = track.step(frame).ok_or(Unread::Beyond(place))?;
            let below = self.stacks[stack as usize].below;
            let (at, target) = (0..)
                .zip(automaton.row(state))
                .filter(|(_, transition)| transition.label == found.label)
                .find(|(_, transition)| self.base(transition.target, found.label) == Some(below))
                .map(|(at, transition)| (at, transition.target))
                .ok_or(Unread::Beyond(place))?;
            walk.push(automaton.step(
                state,
                at,
                form.labels.slots[found.slot as usize].member + found.member,
            ));
            place += found.bytes;
            state = target;
        }
        if automaton.states[state as usize].accepting { Ok(walk) } else { Err(Unread::Beyond(place)) }
    }

    /// The stack below what a transition pushed on the way to a state.
    fn base(&self, state: u32, transition: u32) -> Option<u32> {
        let mut base = self.stack_of[state as usize];
        for _ in self.form.pushed(transition) {
            base = self.stacks.get(base as usize)?.below;
        }
        Some(base)
    }
}

/// What an item on the stack has still to derive.
#[derive(Clone, Copy)]
enum Frame {
    /// A part that has not begun: its number, and its node of the derivation.
    Whole { part: u32, at: usize },
    /// The rest of an alternative from a node of the tries on: symbols from
    /// `symbol` on, whose nodes begin at `child`.
    Rest { node: u32, alt: AltId, symbol: usize, child: usize },
    /// Rounds of a repetition, behind those that its item has counted.
    Rounds { item: u32, left: u32, child: usize },
    /// What follows in a left-recursive part when another that came first in
    /// it is done: the spine from `from` on, the innermost last.
    Left { goal: u32, done: u32, from: usize },
}

/// A part on the way down to what comes first.
#[derive(Clone, Copy)]
struct Above {
    part: u32,
    /// Where the next part stands first in it.
    corner: u32,
    /// What follows that.
    rest: Frame,
}

/// A slot, and a member of its leaf.
struct Found {
    label: u32,
    slot: u32,
    member: u32,
    bytes: usize,
}

/// A level of the way down: an item, and how it goes on.
struct Level {
    item: u32,
    land: u32,
    corner: u32,
}

/// What comes first in the rest of an alternative.
struct First {
    symbol: Symbol,
    /// Its node of the derivation; the next one for bytes.
    at: usize,
    /// The node of the tries behind it.
    to: u32,
    rest: Frame,
}

struct Track<'a> {
    form: &'a Form,
    derivation: &'a Derivation,
    spans: Vec<Range<usize>>,
    /// The node of the tries at which each alternative ends.
    ends: Vec<u32>,
    frames: Vec<Frame>,
    spine: Vec<Above>,
}

impl Track<'_> {
    /// Whether nothing is left to derive.
    fn is_empty(&self, frame: &Frame) -> bool {
        match *frame {
            Frame::Whole { at, .. } => self.spans[at].is_empty(),
            Frame::Rest { .. } => self.first(frame).is_none(),
            Frame::Rounds { left, child, .. } => self.round(left, child).is_none(),
            Frame::Left { from, .. } => {
                self.spine[from..].iter().rev().all(|above| self.is_empty(&above.rest))
            }
        }
    }

    /// Leaves the item on top.
    fn close(&mut self) {
        if let Some(Frame::Left { from, .. }) = self.frames.pop() {
            self.spine.truncate(from);
        }
    }

    /// Goes on with an item later, if there is something left of it. None if
    /// there is, but the item cannot be so long.
    fn land(&mut self, item: u32, frame: Frame) -> Option<()> {
        match (self.form.transitions_of(item).is_empty(), self.is_empty(&frame)) {
            (false, _) => self.frames.push(frame),
            (true, false) => return None,
            (true, true) => {
                if let Frame::Left { from, .. } = frame {
                    self.spine.truncate(from);
                }
            }
        }
        Some(())
    }

    /// The first round that is not empty: its node, what is left behind it.
    fn round(&self, left: u32, mut child: usize) -> Option<(usize, u32)> {
        for round in 0..left {
            if !self.spans[child].is_empty() {
                return Some((child, left - round - 1));
            }
            child = self.derivation.end(child);
        }
        None
    }

    /// The first symbol that is not empty.
    fn first(&self, frame: &Frame) -> Option<First> {
        let Frame::Rest { alt, symbol: from, mut child, .. } = *frame else { return None };
        let symbols = self.form.grammar.symbols(alt);
        for (place, &symbol) in symbols.iter().enumerate().skip(from) {
            let at = child;
            if !matches!(symbol, Symbol::Bytes(_)) {
                child = self.derivation.end(child);
                if self.spans[at].is_empty() {
                    continue;
                }
            }
            let to = self.node(alt, place + 1);
            let rest = Frame::Rest { node: to, alt, symbol: place + 1, child };
            return Some(First { symbol, at, to, rest });
        }
        None
    }

    /// The node of the tries behind the first symbols of an alternative.
    fn node(&self, alt: AltId, symbols: usize) -> u32 {
        let mut at = self.ends[alt.index()];
        for _ in symbols..self.form.grammar.symbols(alt).len() {
            at = self.form.tries.nodes.get(at as usize).map_or(NONE, |node| node.parent);
        }
        at
    }

    /// A part that begins at a node of the derivation, as a frame of its item.
    fn begin(&self, part: u32, at: usize) -> Option<(u32, Frame)> {
        let form = self.form;
        let item = form.starts[part as usize];
        let frame = match (form.items.get(item as usize)?.kind, self.derivation.node(at)) {
            (ItemKind::Goal(_), _) => Frame::Whole { part, at },
            (ItemKind::Rest(node), Node::Alternative(alt)) => {
                Frame::Rest { node, alt, symbol: 0, child: at + 1 }
            }
            (ItemKind::Rounds(..), Node::Repeat(left)) => Frame::Rounds { item, left, child: at + 1 },
            _ => return None,
        };
        Some((item, frame))
    }

    /// Takes the step that a frame, which is not empty, begins with.
    fn step(&mut self, frame: Frame) -> Option<Found> {
        let form = self.form;
        let (mut item, mut frame) = match frame {
            Frame::Whole { part, at } => self.begin(part, at)?,
            Frame::Rest { node, .. } => (node, frame),
            Frame::Rounds { item, .. } => (item, frame),
            Frame::Left { goal, done, .. } => (*form.lefts.get(&(goal, done))?, frame),
        };
        let mut levels: Vec<Level> = Vec::new();
        let mut corner = NONE;
        loop {
            let (called, at, land) = match frame {
                Frame::Whole { part, at } => {
                    // A goal: down to the part that begins with another.
                    (corner, frame) = self.descend(part, at)?;
                    continue;
                }
                Frame::Left { goal, from, .. } => {
                    let above = loop {
                        let above = (self.spine.len() > from).then(|| self.spine.pop()).flatten()?;
                        if !self.is_empty(&above.rest) {
                            break above;
                        }
                    };
                    let left = Frame::Left { goal, done: above.part, from };
                    self.land(*form.lefts.get(&(goal, above.part))?, left)?;
                    let land = match above.rest {
                        Frame::Rest { node, .. } => node,
                        Frame::Rounds { item, .. } => item,
                        _ => return None,
                    };
                    levels.push(Level { item, land, corner: above.corner });
                    (item, frame) = (land, above.rest);
                    continue;
                }
                Frame::Rounds { item, left, child } => {
                    let ItemKind::Rounds(repeat, count) = form.items[item as usize].kind else { return None };
                    let (at, left) = self.round(left, child)?;
                    let next = form.next_round(repeat, count)?;
                    self.land(next, Frame::Rounds { item: next, left, child: self.derivation.end(at) })?;
                    (Part::Body(form.grammar.repeat(repeat).body), at, next)
                }
                Frame::Rest { .. } => {
                    let First { symbol, at, to, rest } = self.first(&frame)?;
                    self.land(to, rest)?;
                    let Some(called) = part(&form.grammar, symbol) else {
                        let bottom = Level { item, land: to, corner };
                        return self.slot(symbol, at, bottom, &levels);
                    };
                    (called, at, to)
                }
            };
            levels.push(Level { item, land, corner });
            corner = NONE;
            (item, frame) = self.begin(form.corners.number(called), at)?;
        }
    }

    /// Goes down a left-recursive part while what comes first is in its circle;
    /// the part at the bottom, and its frame.
    fn descend(&mut self, goal: u32, mut at: usize) -> Option<(u32, Frame)> {
        let form = self.form;
        let (corners, from) = (&form.corners, self.spine.len());
        let mut whole = goal;
        loop {
            let (first, node, at_first, rest, frame) = match (corners.part(whole), self.derivation.node(at)) {
                (Part::Body(body), Node::Alternative(alt)) => {
                    let root = form.tries.roots[body.index()];
                    let frame = Frame::Rest { node: root, alt, symbol: 0, child: at + 1 };
                    let First { symbol, at, to, rest } = self.first(&frame)?;
                    (part(&form.grammar, symbol), to, at, rest, frame)
                }
                (Part::Repeat(repeat), Node::Repeat(count)) => {
                    let (first, left) = self.round(count, at + 1)?;
                    let item = form.next_round(repeat, 0)?;
                    let rest = Frame::Rounds { item, left, child: self.derivation.end(first) };
                    (Some(Part::Body(form.grammar.repeat(repeat).body)), NONE, first, rest, rest)
                }
                _ => return None,
            };
            let first = first.map(|first| corners.number(first));
            let within = first.filter(|&f| corners.circle_of[f as usize] == corners.circle_of[goal as usize]);
            let Some(first) = within else {
                let left = Frame::Left { goal, done: whole, from };
                self.land(*form.lefts.get(&(goal, whole))?, left)?;
                return Some((whole, frame));
            };
            let (corner, _) = corners.within(first).find(|(_, c)| c.whole == whole && c.node == node)?;
            self.spine.push(Above { part: whole, corner, rest });
            (whole, at) = (first, at_first);
        }
    }

    /// The slot of the first level that goes down all levels to a symbol.
    fn slot(&self, symbol: Symbol, at: usize, bottom: Level, levels: &[Level]) -> Option<Found> {
        let form = self.form;
        let labels = &form.labels;
        let slots = |item: u32| {
            let slots = |label: u32| {
                let all = labels.labels[label as usize];
                (all.first..all.first + all.slots).map(move |slot| (label, slot))
            };
            form.transitions_of(item).flat_map(slots)
        };
        let Level { item, land, corner } = bottom;
        let (mut label, mut slot, member, bytes) = slots(item).find_map(|(label, slot)| {
            let Via { land: landed, inner, corner: through } = form.vias[slot as usize];
            if inner != NONE || through != corner || (landed != land && landed != NONE) {
                return None;
            }
            match (labels.slots[slot as usize].leaf, symbol) {
                (Leaf::Words { first, count }, Symbol::Bytes(bytes)) => {
                    let nodes = &form.word_nodes[first as usize..(first + count) as usize];
                    let member = nodes.iter().position(|&node| node == land)?;
                    Some((label, slot, member as u32, form.grammar.bytes(bytes).len()))
                }
                (Leaf::Class(class), Symbol::Class(wanted)) if class == wanted => {
                    let Node::Member(value) = self.derivation.node(at) else { return None };
                    let member = form.grammar.class(class).index(value)?;
                    Some((label, slot, member, self.spans[at].len()))
                }
                _ => None,
            }
        })?;
        for level in levels.iter().rev() {
            let via = Via { land: level.land, inner: slot, corner: level.corner };
            (label, slot) = slots(level.item).find(|&(_, slot)| form.vias[slot as usize] == via)?;
        }
        Some(Found { label, slot, member, bytes })
    }
}

impl Form {
    /// The item behind one more round of a repetition; none if it can have no
    /// more.
    fn next_round(&self, repeat: RepeatId, count: u32) -> Option<u32> {
        let (first, last, endless) = self.rounds[repeat.index()];
        let next = if endless { (count + 1).min(last) } else { count + 1 };
        (next <= last).then_some(first + next)
    }

    /// The node of the tries at which each alternative ends. Alternatives that
    /// say the same end at the same one, which names the first of them.
    fn ends(&self) -> Vec<u32> {
        let mut ends = vec![NONE; self.grammar.alternative_count()];
        for (number, node) in (0..).zip(&self.tries.nodes) {
            if let Some(alt) = node.end {
                ends[alt.index()] = number;
            }
        }
        for body in (0..self.grammar.body_count() as u32).map(BodyId) {
            for alt in self.grammar.alternatives(body) {
                if ends[alt.index()] == NONE {
                    let first = self.grammar.alternatives(body).find(|&other| self.same(other, alt));
                    ends[alt.index()] = first.map_or(NONE, |first| ends[first.index()]);
                }
            }
        }
        ends
    }

    /// Whether two alternatives have the same symbols.
    fn same(&self, left: AltId, right: AltId) -> bool {
        let grammar = &self.grammar;
        let symbols = |alt| grammar.symbols(alt).iter();
        let same = |(left, right): (&Symbol, &Symbol)| match (*left, *right) {
            (Symbol::Bytes(left), Symbol::Bytes(right)) => grammar.bytes(left) == grammar.bytes(right),
            (left, right) => left == right,
        };
        symbols(left).len() == symbols(right).len() && symbols(left).zip(symbols(right)).all(same)
    }
}
