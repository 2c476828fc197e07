//! The transitions of every item.
//!
//! In:  tries and corners.
//! Out: a [`Form`]. An item's transitions are those of the first symbols of
//!      what it stands for, with the rest of it pushed below.
//!
//! First parts come before those that begin with them, so each list is
//! copied from finished ones. Lists of words are shared, not copied: a rule
//! of 8,600 names is one slot wherever something can begin with it.

use super::corners::Corners;
use super::tries::{NONE, Part, Tries, part};
use super::{Form, Item, ItemKind, Push, Via};
use crate::Unfit;
use crate::labels::{Labels, Leaf};
use hashbrown::HashMap;
use std::sync::Arc;
use wug_grammar::{Grammar, RepeatId, RuleId, Symbol};

/// A form has at most this many slots.
pub const MAX_SLOTS: usize = 1 << 22;
/// A repetition is cut this many rounds above its least count, unless it has
/// no bound at all.
const MAX_ROUNDS: u32 = 256;
/// The greatest least count of a repetition.
const MAX_LEAST_ROUNDS: u32 = 1 << 12;
/// The most pairs of parts of left-recursive circles.
const MAX_LEFTS: usize = 1 << 20;

pub(super) fn expand(grammar: Grammar, tries: Tries, corners: Corners) -> Result<Form, Unfit> {
    let mut expand = Expand {
        nonempty: Vec::new(),
        starts: vec![NONE; corners.parts()],
        items: Vec::new(),
        rounds: Vec::new(),
        lefts: HashMap::new(),
        pushes_of: Vec::new(),
        pushes: Vec::new(),
        push_ids: HashMap::new(),
        vias: Vec::new(),
        word_nodes: Vec::new(),
        labels: Labels::over(&grammar),
        cut: None,
        found: Vec::new(),
        grammar: &grammar,
        tries: &tries,
        corners: &corners,
    };
    expand.make_items()?;
    expand.expand_all()?;
    let start = expand.starts[grammar.rule(grammar.start()).body.index()];
    let Expand { starts, items, rounds, lefts, pushes_of, pushes, vias, word_nodes, labels, cut, .. } =
        expand;
    let labels = Arc::new(labels);
    let heights = Vec::new();
    Ok(Form {
        grammar,
        tries,
        corners,
        items,
        starts,
        rounds,
        lefts,
        pushes_of,
        pushes,
        vias,
        word_nodes,
        labels,
        start,
        heights,
        cut,
        self_embedding: false,
        empty_alternatives: Vec::new(),
    })
}

struct Expand<'a> {
    grammar: &'a Grammar,
    tries: &'a Tries,
    corners: &'a Corners,
    items: Vec<Item>,
    /// Whether each item can be something.
    nonempty: Vec<bool>,
    starts: Vec<u32>,
    rounds: Vec<(u32, u32, bool)>,
    lefts: HashMap<(u32, u32), u32>,
    pushes_of: Vec<u32>,
    pushes: Vec<Push>,
    push_ids: HashMap<Push, u32>,
    vias: Vec<Via>,
    word_nodes: Vec<u32>,
    labels: Labels,
    cut: Option<RuleId>,
    /// What the item at hand can begin with.
    found: Vec<Found>,
}

/// A slot of the item at hand.
#[derive(Clone, Copy)]
struct Found {
    push: u32,
    leaf: Leaf,
    via: Via,
}

impl Expand<'_> {
    fn item(&mut self, kind: ItemKind, rule: RuleId, nullable: bool, nonempty: bool) -> u32 {
        self.items.push(Item { kind, rule, nullable, first: 0, count: 0 });
        self.nonempty.push(nonempty);
        self.items.len() as u32 - 1
    }

    /// All items, without their transitions.
    fn make_items(&mut self) -> Result<(), Unfit> {
        for (i, node) in self.tries.nodes.iter().enumerate() {
            self.item(ItemKind::Rest(i as u32), node.rule, node.nullable, node.nonempty);
        }
        for repeat in (0..self.tries.repeats.len() as u32).map(RepeatId) {
            self.make_rounds(repeat)?;
        }
        for number in 0..self.corners.parts() as u32 {
            let circle = self.corners.circle_of[number as usize] as usize;
            let part = self.corners.part(number);
            self.starts[number as usize] = if self.corners.recursive[circle] {
                let nullable = self.tries.nullable(self.grammar, part);
                self.item(ItemKind::Goal(number), self.rule_of(part), nullable, true)
            } else {
                match part {
                    Part::Body(body) => self.tries.roots[body.index()],
                    Part::Repeat(repeat) => self.rounds[repeat.index()].0,
                }
            };
        }
        let corners = self.corners;
        for circle in corners.circles.iter().zip(&corners.recursive).filter(|c| *c.1).map(|c| c.0) {
            let rule = self.rule_of(corners.part(circle[0]));
            if self.lefts.len() + circle.len() * circle.len() > MAX_LEFTS {
                return Err(Unfit::LeftRecursion { rule: self.grammar.name(rule).to_string() });
            }
            for &goal in circle {
                for &done in circle {
                    let ways = self.units(done);
                    let nullable = ways.iter().any(|&(part, _)| part == goal);
                    let landings = ways.iter().flat_map(|&(part, _)| corners.within(part));
                    let nonempty = landings
                        .map(|(_, c)| self.landing(c.whole, c.node))
                        .any(|landing| self.nonempty[landing as usize]);
                    let rule = self.rule_of(corners.part(goal));
                    let left = self.item(ItemKind::Left(goal, done), rule, nullable, nonempty);
                    self.lefts.insert((goal, done), left);
                }
            }
        }
        Ok(())
    }

    fn make_rounds(&mut self, id: RepeatId) -> Result<(), Unfit> {
        let (repeat, rule) = (*self.grammar.repeat(id), self.tries.repeats[id.index()]);
        // Rounds that derive nothing are added in the end, if they must be.
        let empty = self.tries.nullable(self.grammar, Part::Body(repeat.body));
        let least = if empty { 0 } else { repeat.min };
        if least > MAX_LEAST_ROUNDS {
            return Err(Unfit::Rounds { rule: self.grammar.name(rule).to_string(), least });
        }
        let last = match repeat.max {
            None => least,
            Some(max) if max - least > MAX_ROUNDS => {
                self.cut = Some(rule);
                least + MAX_ROUNDS
            }
            Some(max) => max,
        };
        let endless = repeat.max.is_none();
        let some = self.tries.nonempty(self.grammar, Part::Repeat(id));
        let first = self.items.len() as u32;
        for count in 0..=last {
            let more = some && (endless || count < last);
            self.item(ItemKind::Rounds(id, count), rule, count >= least, more);
        }
        self.rounds.push((first, last, endless));
        Ok(())
    }

    fn rule_of(&self, part: Part) -> RuleId {
        match part {
            Part::Repeat(repeat) => self.tries.repeats[repeat.index()],
            Part::Body(body) => match self.tries.roots[body.index()] {
                NONE => self.grammar.start(),
                root => self.tries.nodes[root as usize].rule,
            },
        }
    }

    /// The item behind a left corner.
    fn landing(&self, whole: u32, node: u32) -> u32 {
        match self.corners.part(whole) {
            Part::Body(_) => node,
            Part::Repeat(repeat) => self.next_round(repeat, 0),
        }
    }

    fn next_round(&self, repeat: RepeatId, count: u32) -> u32 {
        let (first, last, endless) = self.rounds[repeat.index()];
        first + if endless { (count + 1).min(last) } else { count + 1 }
    }

    /// The parts that are done when `done` is, with nothing more read, each
    /// with the corner that leads to it; `done` itself first, with none.
    fn units(&self, done: u32) -> Vec<(u32, u32)> {
        units(self.corners, done, |whole, node| self.items[self.landing(whole, node) as usize].nullable)
    }

    fn expand_all(&mut self) -> Result<(), Unfit> {
        let corners = self.corners;
        for (circle, &recursive) in corners.circles.iter().zip(&corners.recursive) {
            for &number in circle {
                match (recursive, corners.part(number)) {
                    (true, _) => self.goal(number)?,
                    (false, Part::Body(body)) => self.rest(self.tries.roots[body.index()])?,
                    (false, Part::Repeat(repeat)) => self.round(repeat, 0)?,
                }
            }
        }
        for node in 0..self.tries.nodes.len() as u32 {
            if self.tries.nodes[node as usize].parent != NONE {
                self.rest(node)?;
            }
        }
        for repeat in (0..self.rounds.len() as u32).map(RepeatId) {
            let number = corners.number(Part::Repeat(repeat));
            let (first, last, _) = self.rounds[repeat.index()];
            // The first is done where it begins the repetition.
            let begun = u32::from(self.starts[number as usize] == first);
            for count in begun..=last {
                self.round(repeat, count)?;
            }
        }
        let mut lefts: Vec<_> = self.lefts.iter().map(|(&key, &item)| (item, key)).collect();
        lefts.sort_unstable();
        for (item, (goal, done)) in lefts {
            self.left(item, goal, done)?;
        }
        Ok(())
    }

    /// The rest of an alternative.
    fn rest(&mut self, node: u32) -> Result<(), Unfit> {
        if node != NONE && self.nonempty[node as usize] {
            self.firsts(node, NONE, NONE);
            self.write(node)?;
        }
        Ok(())
    }

    fn round(&mut self, repeat: RepeatId, count: u32) -> Result<(), Unfit> {
        let item = self.rounds[repeat.index()].0 + count;
        if self.nonempty[item as usize] {
            let next = self.next_round(repeat, count);
            let body = Part::Body(self.grammar.repeat(repeat).body);
            self.call(body, next, NONE, NONE);
            self.write(item)?;
        }
        Ok(())
    }

    /// A goal begins with what does not lead back into its circle.
    fn goal(&mut self, goal: u32) -> Result<(), Unfit> {
        let circle = self.corners.circle_of[goal as usize] as usize;
        for &whole in &self.corners.circles[circle] {
            if let Part::Body(body) = self.corners.part(whole) {
                let below = self.lefts[&(goal, whole)];
                self.firsts(self.tries.roots[body.index()], whole, below);
            }
        }
        self.write(self.starts[goal as usize])
    }

    /// Behind a corner comes what follows it there, and then the whole is a
    /// corner itself.
    fn left(&mut self, item: u32, goal: u32, done: u32) -> Result<(), Unfit> {
        let corners = self.corners;
        for (part, _) in self.units(done) {
            for (number, corner) in corners.within(part) {
                let land = self.landing(corner.whole, corner.node);
                let below = self.lefts[&(goal, corner.whole)];
                self.copy(land, |inner| Via { land, inner, corner: number }, &[below]);
            }
        }
        self.write(item)
    }

    /// What the rest from `node` on can begin with; within the circle of
    /// `whole` only what does not lead back into it.
    fn firsts(&mut self, node: u32, whole: u32, below: u32) {
        let (tries, grammar) = (self.tries, self.grammar);
        let first = self.labels.words.len() as u32;
        let mut firsts = Vec::new();
        tries.firsts(grammar, node, |child, symbol| firsts.push((child, symbol)));
        for &(child, symbol) in &firsts {
            if let Symbol::Bytes(bytes) = symbol
                && !self.nonempty[child as usize]
            {
                self.labels.word(grammar.bytes(bytes));
                self.word_nodes.push(child);
            }
        }
        let count = self.labels.words.len() as u32 - first;
        if count > 0 {
            let via = Via { land: NONE, inner: NONE, corner: whole };
            self.find(Leaf::Words { first, count }, via, &[below]);
        }
        for (child, symbol) in firsts {
            let via = Via { land: child, inner: NONE, corner: whole };
            match symbol {
                Symbol::Bytes(_) if !self.nonempty[child as usize] => {}
                Symbol::Bytes(bytes) => {
                    let first = self.labels.word(grammar.bytes(bytes));
                    self.word_nodes.push(child);
                    self.find(Leaf::Words { first, count: 1 }, via, &[child, below]);
                }
                Symbol::Class(class) => self.find(Leaf::Class(class), via, &[child, below]),
                _ => {
                    if let Some(part) = part(grammar, symbol) {
                        self.call(part, child, whole, below);
                    }
                }
            }
        }
    }

    /// What a call of `called` can begin with, when `land` comes behind it.
    fn call(&mut self, called: Part, land: u32, whole: u32, below: u32) {
        let number = self.corners.number(called);
        let circle_of = &self.corners.circle_of;
        if whole != NONE && circle_of[number as usize] == circle_of[whole as usize] {
            return;
        }
        let start = self.starts[number as usize];
        self.copy(start, |inner| Via { land, inner, corner: whole }, &[land, below]);
    }

    /// All slots of `item`, with more pushed below what they push.
    fn copy(&mut self, item: u32, via: impl Fn(u32) -> Via, below: &[u32]) {
        let Item { first, count, .. } = self.items[item as usize];
        for transition in first..first + count {
            let push = self.append(self.pushes_of[transition as usize], below);
            let label = self.labels.labels[transition as usize];
            for slot in label.first..label.first + label.slots {
                let leaf = self.labels.slots[slot as usize].leaf;
                self.found.push(Found { push, leaf, via: via(slot) });
            }
        }
    }

    fn find(&mut self, leaf: Leaf, via: Via, below: &[u32]) {
        let push = self.append(NONE, below);
        self.found.push(Found { push, leaf, via });
    }

    /// Pushes more at the bottom; what can only be empty is left out.
    fn append(&mut self, mut push: u32, below: &[u32]) -> u32 {
        for &last in below {
            if last != NONE && self.nonempty[last as usize] {
                let key = Push { before: push, last };
                push = *self.push_ids.entry(key).or_insert_with(|| {
                    self.pushes.push(key);
                    self.pushes.len() as u32 - 1
                });
            }
        }
        push
    }

    /// Makes transitions of what was found: one for all that pushes the same.
    fn write(&mut self, item: u32) -> Result<(), Unfit> {
        let found = std::mem::take(&mut self.found);
        let rule = self.items[item as usize].rule;
        let name = || self.grammar.name(rule).to_string();
        if self.labels.slots.len() + found.len() > MAX_SLOTS {
            return Err(Unfit::Transitions { rule: name() });
        }
        let mut groups: HashMap<u32, usize> = HashMap::new();
        let mut order: Vec<(u32, Vec<Found>)> = Vec::new();
        for slot in found {
            let group = *groups.entry(slot.push).or_insert(order.len());
            if group == order.len() {
                order.push((slot.push, Vec::new()));
            }
            order[group].1.push(slot);
        }
        self.items[item as usize].first = self.pushes_of.len() as u32;
        self.items[item as usize].count = order.len() as u32;
        for (push, slots) in order {
            let label = self.labels.label(slots.iter().map(|slot| slot.leaf));
            label.map_err(|_| Unfit::Members { rule: name() })?;
            self.vias.extend(slots.iter().map(|slot| slot.via));
            self.pushes_of.push(push);
        }
        Ok(())
    }
}

/// The parts that are done when `done` is, where `nullable` says whether
/// what comes behind a corner can be empty.
pub(crate) fn units(corners: &Corners, done: u32, nullable: impl Fn(u32, u32) -> bool) -> Vec<(u32, u32)> {
    let mut found = vec![(done, NONE)];
    let mut at = 0;
    while let Some(&(part, _)) = found.get(at) {
        at += 1;
        for (number, corner) in corners.within(part) {
            if nullable(corner.whole, corner.node) && !found.iter().any(|&(p, _)| p == corner.whole) {
                found.push((corner.whole, number));
            }
        }
    }
    found
}
