//! One leftmost expansion of a sentential form.
//!
//! In:  a [`Form`] and the row it stands in.
//! Out: the forms that its leftmost choice leads to, each with its
//!      probability. What needs no choice is done on the way: text and
//!      places for bytes of sets go over to what is emitted.

use super::entry::{DRAWN, TEXT};
use super::item::{FREE, Item, Levels, Row, What};
use super::parts::{Part, Parts};
use super::sets::{Sets, sequences};
use hashbrown::HashMap;
use std::ops::Range;
use wug_grammar::{AltId, BodyId, ClassId, RuleId, Symbol, count};
use wug_produce::program::{Offers, Program};

/// Sets with fewer members are chosen from like alternatives.
const LEAST_SET: usize = 3;
/// Repetitions of more than this are halved.
const MOST_TIMES: u32 = 8;
/// Parts of an alternative that are looked at one by one.
const MOST_PARTS: u32 = 6;
/// Unless no more than this many are left then.
const MORE_PARTS: u32 = 4;
/// A body with more alternatives than this is chosen from in shares.
const MOST_AMONG: u32 = 256;
/// This many of them.
const SHARES: usize = 16;
/// Steps without a choice that are taken at once.
const MOST_STEPS: usize = 64;

/// A geometric repetition is drawn in blocks of this many: whether one is
/// full, and if not, how far it goes. So tables need not know how many came
/// before the block.
const BLOCK: u32 = 8;
/// The probability that a geometric repetition goes on.
const GOES_ON: f64 = 0.75;

/// Something emitted: a byte, or one of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Emit {
    Byte(u8),
    Of(u32),
}

/// A sentential form: what is emitted, and what is open.
#[derive(Clone, Debug)]
pub struct Form {
    pub probability: f64,
    pub emit: Vec<Emit>,
    /// What is open, leftmost last.
    pub rest: Vec<Item>,
    /// Nothing more can be emitted or chosen here.
    pub full: bool,
}

/// What expansions need to know of a program.
#[derive(Debug)]
pub struct Expander {
    /// Bodies that derive the same at every depth.
    flat: Vec<bool>,
    /// Bodies below which no call costs depth: all that matters to them is
    /// whether they are closed.
    shallow: Vec<bool>,
    /// Levels at the start.
    max_depth: u32,
    pub parts: Parts,
    /// Each class: its sequences of sets.
    classes: Vec<Option<Sequences>>,
    /// Each body, free and closed: the weight of its single bytes, and their
    /// set.
    single: HashMap<(BodyId, bool), Option<(u32, u32)>>,
    pub sets: Sets,
}

type Sequences = Box<[(f64, Box<[u32]>)]>;

impl Expander {
    pub fn new(program: &Program, sets: Sets) -> Expander {
        Expander {
            flat: flat_bodies(program),
            shallow: shallow_bodies(program),
            max_depth: program.options.max_depth,
            parts: Parts::of(program),
            classes: vec![None; program.grammar.class_count()],
            single: HashMap::new(),
            sets,
        }
    }

    /// Whether an item's derivation depends on depth.
    pub fn depends(&self, item: &Item) -> bool {
        match item.what {
            _ if item.ceiling == FREE => false,
            What::Text { .. } | What::Set(_) | What::Class(_) | What::Rest { .. } => false,
            What::Body(body) | What::Times(body, _) | What::Among(body, ..) => !self.flat[body.index()],
            What::Repeat(_) | What::More(..) | What::Within(..) | What::Parts(..) => true,
        }
    }

    /// An item with a body in the one way that its depth is written.
    fn settled(&self, body: BodyId, item: Item, row: Row) -> Item {
        if self.flat[body.index()] {
            Item::flat(item.what)
        } else if self.shallow[body.index()] && item.levels(row) == Levels::Free {
            Item { delta: 0, ceiling: FREE, ..item }
        } else {
            item.canonical(row)
        }
    }

    /// The call of a rule from an item.
    pub fn call(&self, program: &Program, rule: RuleId, from: &Item, row: Row) -> Item {
        let rule = program.grammar.rule(rule);
        let cost = u16::from(rule.costs_depth());
        let mut ceiling = from.ceiling;
        if ceiling < FREE {
            ceiling = ceiling.saturating_sub(cost);
        }
        if let Some(limit) = rule.depth_limit.filter(|&limit| limit < self.max_depth) {
            ceiling = ceiling.min(limit as u16);
        }
        let delta = from.delta.saturating_add(cost);
        self.settled(rule.body, Item { what: What::Body(rule.body), delta, ceiling }, row)
    }

    fn part(&self, program: &Program, part: Part, from: &Item, row: Row) -> Item {
        match part {
            Part::Text { start, len } => Item::flat(What::Text { start, len }),
            Part::Symbol(Symbol::Rule(rule)) => self.call(program, rule, from, row),
            Part::Symbol(Symbol::Group(body)) => {
                self.settled(body, Item { what: What::Body(body), ..*from }, row)
            }
            Part::Symbol(Symbol::Repeat(repeat)) => {
                let item = Item { what: What::Repeat(repeat), ..*from };
                let body = program.grammar.repeat(repeat).body;
                if self.flat[body.index()] && item.levels(row) == Levels::Free {
                    // Beside its body, closing means its count.
                    return Item { delta: 0, ceiling: FREE, ..item };
                }
                if self.flat[body.index()] { item.canonical(row) } else { self.settled(body, item, row) }
            }
            Part::Symbol(Symbol::Class(class)) => Item::flat(What::Class(class)),
            // Bytes are text.
            Part::Symbol(Symbol::Bytes(_)) => Item::flat(What::Text { start: 0, len: 0 }),
        }
    }

    /// Puts the parts from `next` to `end` on top of what is open.
    fn open(&self, program: &Program, next: u32, end: u32, from: &Item, row: Row, rest: &mut Vec<Item>) {
        let near = if end - next <= MOST_PARTS + MORE_PARTS { end } else { next + MOST_PARTS };
        if near < end {
            rest.push(Item { what: What::Parts(near, end), ..*from });
        }
        for at in (next..near).rev() {
            let item = self.part(program, self.parts.part(at), from, row);
            rest.push(item);
        }
    }

    fn take(&self, program: &Program, alt: AltId, from: &Item, row: Row, rest: &mut Vec<Item>) {
        let (next, end) = self.parts.range(alt);
        self.open(program, next, end, from, row, rest);
    }

    /// Emits and opens all that needs no choice.
    pub fn settle(&mut self, program: &Program, form: &mut Form, row: Row) {
        for _ in 0..MOST_STEPS {
            if form.full {
                return;
            }
            let Some(item) = form.rest.last().copied() else {
                form.full = true;
                return;
            };
            let levels = item.levels(row);
            match item.what {
                What::Text { start, len } => {
                    let room = (TEXT - form.emit.len()) as u32;
                    let now = room.min(len);
                    let text = self.parts.bytes(start, now);
                    form.emit.extend(text.iter().map(|&b| Emit::Byte(b)));
                    form.rest.pop();
                    if now < len {
                        form.rest.push(Item::flat(What::Text { start: start + now, len: len - now }));
                        form.full = true;
                    }
                }
                What::Set(set) => {
                    let members = self.sets.members(set);
                    if let [one] = members {
                        if form.emit.len() == TEXT {
                            form.full = true;
                            return;
                        }
                        form.emit.push(Emit::Byte(*one));
                    } else if members.len() < LEAST_SET {
                        return;
                    } else if form.emit.len() < DRAWN && self.sets.fit(sets_of(&form.emit).chain([set])) {
                        form.emit.push(Emit::Of(set));
                    } else {
                        form.full = true;
                        return;
                    }
                    form.rest.pop();
                }
                What::Class(class) => {
                    let sequences = self.sequences(program, class);
                    let [(_, sets)] = sequences else { return };
                    form.rest.pop();
                    form.rest.extend(sets.iter().rev().map(|&set| Item::flat(What::Set(set))));
                }
                What::Body(body) => {
                    let free = levels != Levels::Closed || self.flat[body.index()];
                    if program.only_empty(body) || (!free && program.closing.only_empty(body)) {
                        form.rest.pop();
                        continue;
                    }
                    if levels == Levels::Unknown && !self.flat[body.index()] {
                        form.full = true;
                        return;
                    }
                    match self.offers(program, body, levels).alternatives(body) {
                        [one] => {
                            form.rest.pop();
                            self.take(program, *one, &item, row, &mut form.rest);
                        }
                        several => {
                            let Some((_, set)) = self.set_of(program, body, levels) else { return };
                            if self.sets.members(set).len() < several.len() {
                                return;
                            }
                            form.rest.pop();
                            form.rest.push(Item::flat(What::Set(set)));
                        }
                    }
                }
                What::Among(body, from, to) => {
                    if to - from > 1 {
                        return;
                    }
                    let alt = self.offers(program, body, levels).alternatives(body)[from as usize];
                    form.rest.pop();
                    self.take(program, alt, &item, row, &mut form.rest);
                }
                What::Repeat(repeat) => {
                    if levels == Levels::Unknown {
                        form.full = true;
                        return;
                    }
                    form.rest.pop();
                    let one = *program.grammar.repeat(repeat);
                    let closed = levels == Levels::Closed;
                    if program.only_empty(one.body) || (closed && program.closing.only_empty(one.body)) {
                        continue;
                    }
                    if !closed && count::choices(one.min, one.max) > 1 {
                        form.rest.push(Item { what: What::More(repeat, 0), ..item });
                    }
                    if one.min > 0 {
                        form.rest.push(self.times(one.body, one.min, &item, row));
                    }
                }
                What::More(repeat, already) => {
                    let one = program.grammar.repeat(repeat);
                    if already + 1 < count::choices(one.min, one.max) {
                        return;
                    }
                    form.rest.pop();
                }
                What::Within(_, already) => {
                    if within_stops(already).is_some() {
                        return;
                    }
                    form.rest.pop();
                }
                What::Times(body, times) => {
                    form.rest.pop();
                    if times > MOST_TIMES {
                        let half = times.next_power_of_two() / 2;
                        form.rest.push(self.times(body, times - half, &item, row));
                        form.rest.push(self.times(body, half, &item, row));
                    } else {
                        if times > 1 {
                            form.rest.push(self.times(body, times - 1, &item, row));
                        }
                        form.rest.push(self.settled(body, Item { what: What::Body(body), ..item }, row));
                    }
                }
                // Tables are made of what stands behind it.
                What::Rest { .. } => {
                    form.rest.pop();
                }
                What::Parts(next, end) => {
                    form.rest.pop();
                    self.open(program, next, end, &item, row, &mut form.rest);
                }
            }
            if form.emit.len() == TEXT {
                form.full = true;
            }
        }
        form.full = true;
    }

    /// Least bytes of an item.
    pub fn least(&self, program: &Program, item: &Item) -> u64 {
        let body = |body: BodyId| program.least[body.index()];
        match item.what {
            What::Text { len, .. } => u64::from(len),
            What::Set(_) => 1,
            What::Class(class) => u64::from(program.grammar.class(class).min_len()),
            // What is left of a body may be longer, but is counted as it was.
            What::Body(one) | What::Among(one, ..) => body(one),
            What::Times(one, times) => body(one).saturating_mul(times.into()),
            What::Repeat(repeat) => {
                let repeat = program.grammar.repeat(repeat);
                body(repeat.body).saturating_mul(repeat.min.into())
            }
            What::More(..) | What::Within(..) | What::Rest { .. } => 0,
            What::Parts(next, end) => (next..end).fold(0, |sum: u64, at| {
                let item = self.part(program, self.parts.part(at), item, 0);
                sum.saturating_add(self.least(program, &item))
            }),
        }
    }

    fn times(&self, body: BodyId, times: u32, from: &Item, row: Row) -> Item {
        self.settled(body, Item { what: What::Times(body, times), ..*from }, row)
    }

    /// Appends the forms that the leftmost choice of a settled form that is
    /// not full leads to.
    pub fn expand(&mut self, program: &Program, form: &Form, row: Row, into: &mut Vec<Form>) {
        let Some(item) = form.rest.last().copied() else { return };
        let base = &form.rest[..form.rest.len() - 1];
        let child = |probability: f64| {
            let mut rest = Vec::with_capacity(base.len() + 4);
            rest.extend_from_slice(base);
            Form { probability: form.probability * probability, emit: form.emit.clone(), rest, full: false }
        };
        let first = into.len();
        match item.what {
            What::Set(set) => {
                let members = self.sets.members(set);
                for &member in members {
                    let mut form = child(1.0 / members.len() as f64);
                    form.emit.push(Emit::Byte(member));
                    into.push(form);
                }
            }
            What::Class(class) => {
                let sequences = self.sequences(program, class);
                for (share, sets) in sequences {
                    let mut form = child(*share);
                    form.rest.extend(sets.iter().rev().map(|&set| Item::flat(What::Set(set))));
                    into.push(form);
                }
            }
            What::Body(body) => {
                let offers = self.offers(program, body, item.levels(row));
                let count = offers.alternatives(body).len() as u32;
                if count > MOST_AMONG {
                    self.split(program, body, 0..count, &item, row, child, into);
                } else {
                    self.choose(program, body, &item, row, child, into);
                }
            }
            What::Among(body, from, to) => {
                self.split(program, body, from..to, &item, row, child, into);
            }
            What::More(repeat, already) => {
                let one = *program.grammar.repeat(repeat);
                if count::choices(one.min, one.max) > count::MAX_EXTRA {
                    let full = GOES_ON.powi(BLOCK as i32);
                    let mut form = child(1.0 - full);
                    form.rest.push(Item { what: What::Within(repeat, 0), ..item });
                    into.push(form);
                    let mut form = child(full);
                    form.rest.push(Item { what: What::More(repeat, already + BLOCK), ..item });
                    form.rest.push(self.times(one.body, BLOCK, &item, row));
                    into.push(form);
                } else {
                    let stops = count::stops(one.min, one.max, already);
                    into.push(child(stops));
                    let mut form = child(1.0 - stops);
                    form.rest.push(Item { what: What::More(repeat, already + 1), ..item });
                    form.rest.push(self.times(one.body, 1, &item, row));
                    into.push(form);
                }
            }
            What::Within(repeat, already) => {
                let stops = within_stops(already).unwrap_or(1.0);
                into.push(child(stops));
                let mut form = child(1.0 - stops);
                let body = program.grammar.repeat(repeat).body;
                form.rest.push(Item { what: What::Within(repeat, already + 1), ..item });
                form.rest.push(self.times(body, 1, &item, row));
                into.push(form);
            }
            What::Text { .. } | What::Repeat(_) | What::Times(..) | What::Parts(..) | What::Rest { .. } => {}
        }
        for form in &mut into[first..] {
            self.settle(program, form, row);
        }
    }

    /// What a body offers.
    fn offers<'a>(&self, program: &'a Program, body: BodyId, levels: Levels) -> &'a Offers {
        if levels != Levels::Closed || self.flat[body.index()] { &program.free } else { &program.closed }
    }

    /// One form for each alternative of a body; those that are single bytes
    /// of the same weight are one.
    fn choose(
        &mut self,
        program: &Program,
        body: BodyId,
        item: &Item,
        row: Row,
        child: impl Fn(f64) -> Form,
        into: &mut Vec<Form>,
    ) {
        let offers = self.offers(program, body, item.levels(row));
        let (alternatives, total) = (offers.alternatives(body), offers.weight(body) as f64);
        let weight = |alt: AltId| program.grammar.alternative(alt).weight;
        let mut in_set = None;
        if let Some((one, set)) = self.set_of(program, body, item.levels(row)) {
            let share = f64::from(one) * self.sets.members(set).len() as f64 / total;
            let mut form = child(share);
            form.rest.push(Item::flat(What::Set(set)));
            into.push(form);
            in_set = Some(one);
        }
        for &alt in alternatives {
            if Some(weight(alt)) == in_set && single_byte(program, alt).is_some() {
                continue;
            }
            let mut form = child(f64::from(weight(alt)) / total);
            self.take(program, alt, item, row, &mut form.rest);
            into.push(form);
        }
    }

    /// One form for each of a few shares of a body's alternatives.
    #[allow(clippy::too_many_arguments)]
    fn split(
        &mut self,
        program: &Program,
        body: BodyId,
        places: Range<u32>,
        item: &Item,
        row: Row,
        child: impl Fn(f64) -> Form,
        into: &mut Vec<Form>,
    ) {
        let offers = self.offers(program, body, item.levels(row));
        let weight = |places: Range<u32>| offers.weight_of(body, places) as f64;
        let total = weight(places.clone());
        let step = places.len().div_ceil(SHARES).next_power_of_two() as u32;
        for from in places.clone().step_by(step as usize) {
            let to = (from + step).min(places.end);
            let mut form = child(weight(from..to) / total);
            form.rest.push(Item { what: What::Among(body, from, to), ..*item });
            into.push(form);
        }
    }

    fn sequences(&mut self, program: &Program, class: ClassId) -> &[(f64, Box<[u32]>)] {
        let Expander { classes, sets, .. } = self;
        classes[class.index()].get_or_insert_with(|| {
            let class = program.grammar.class(class);
            let all = sequences(class);
            // Ranges of single bytes are one set.
            let singles: Vec<u8> =
                all.iter().filter(|(_, s)| s.len() == 1).flat_map(|(_, s)| s[0].0..=s[0].1).collect();
            let total = f64::from(class.count());
            let mut result = Vec::new();
            if !singles.is_empty() {
                result.push((singles.len() as f64 / total, Box::from([sets.number(&singles)])));
            }
            for (members, sequence) in all.iter().filter(|(_, s)| s.len() > 1) {
                let ranges = sequence.iter().map(|&(low, high)| {
                    let bytes: Vec<u8> = (low..=high).collect();
                    sets.number(&bytes)
                });
                result.push((*members as f64 / total, ranges.collect()));
            }
            result.into()
        })
    }

    /// The weight and the set of the alternatives that are single bytes of
    /// one weight, if a body offers some.
    fn set_of(&mut self, program: &Program, body: BodyId, levels: Levels) -> Option<(u32, u32)> {
        let closed = levels == Levels::Closed && !self.flat[body.index()];
        if let Some(known) = self.single.get(&(body, closed)) {
            return *known;
        }
        let alternatives = self.offers(program, body, levels).alternatives(body);
        // Of many, shares are drawn.
        let few = alternatives.len() <= MOST_AMONG as usize;
        let found =
            few.then(|| single_bytes(program, alternatives)).filter(|(_, bytes)| bytes.len() >= LEAST_SET);
        let found = found.map(|(weight, bytes)| (weight, self.sets.number(&bytes)));
        self.single.insert((body, closed), found);
        found
    }
}

/// The probability that no more come in a block that is not full, when this
/// many came: of a geometric number known to be below the block. `None` if no
/// more can.
pub fn within_stops(already: u32) -> Option<f64> {
    let left = BLOCK.checked_sub(already).filter(|&left| left > 1)?;
    Some((1.0 - GOES_ON) / (1.0 - GOES_ON.powi(left as i32)))
}

/// The sets that what is emitted draws from.
pub fn sets_of(emit: &[Emit]) -> impl Iterator<Item = u32> {
    emit.iter().filter_map(|emit| match emit {
        Emit::Of(set) => Some(*set),
        Emit::Byte(_) => None,
    })
}

fn single_byte(program: &Program, alt: AltId) -> Option<u8> {
    match program.grammar.symbols(alt) {
        [Symbol::Bytes(bytes)] if bytes.len == 1 => Some(program.grammar.bytes(*bytes)[0]),
        _ => None,
    }
}

/// The single bytes among alternatives that have the weight of the first of
/// them, and that weight.
fn single_bytes(program: &Program, alternatives: &[AltId]) -> (u32, Vec<u8>) {
    let mut weight = None;
    let mut bytes = Vec::new();
    for &alt in alternatives {
        if let Some(byte) = single_byte(program, alt) {
            let own = program.grammar.alternative(alt).weight;
            if *weight.get_or_insert(own) == own && bytes.len() < 256 {
                bytes.push(byte);
            }
        }
    }
    (weight.unwrap_or(0), bytes)
}

/// Bodies that derive the same at every depth: all alternatives may be used
/// at the limit, and so it is with all inside. Largest fixed point.
fn flat_bodies(program: &Program) -> Vec<bool> {
    let grammar = &program.grammar;
    let mut flat: Vec<bool> = (0..grammar.body_count() as u32)
        .map(BodyId)
        .map(|body| program.free.alternatives(body) == program.closed.alternatives(body))
        .collect();
    loop {
        let mut changed = false;
        for body in (0..grammar.body_count() as u32).map(BodyId) {
            if !flat[body.index()] {
                continue;
            }
            let depends = program.free.alternatives(body).iter().any(|&alt| {
                grammar.symbols(alt).iter().any(|symbol| match *symbol {
                    Symbol::Bytes(_) | Symbol::Class(_) => false,
                    Symbol::Rule(rule) => !flat[grammar.rule(rule).body.index()],
                    Symbol::Group(body) => !flat[body.index()],
                    Symbol::Repeat(repeat) => {
                        let repeat = grammar.repeat(repeat);
                        repeat.max != Some(repeat.min) || !flat[repeat.body.index()]
                    }
                })
            });
            if depends {
                flat[body.index()] = false;
                changed = true;
            }
        }
        if !changed {
            return flat;
        }
    }
}

/// Bodies from which no call costs depth or has a limit to it. Largest fixed
/// point.
fn shallow_bodies(program: &Program) -> Vec<bool> {
    let grammar = &program.grammar;
    let mut shallow = vec![true; grammar.body_count()];
    loop {
        let mut changed = false;
        for body in (0..grammar.body_count() as u32).map(BodyId) {
            let deep = || {
                grammar.alternatives(body).flat_map(|alt| grammar.symbols(alt)).any(|symbol| match *symbol {
                    Symbol::Bytes(_) | Symbol::Class(_) => false,
                    Symbol::Rule(rule) => {
                        let rule = grammar.rule(rule);
                        rule.costs_depth() || rule.depth_limit.is_some() || !shallow[rule.body.index()]
                    }
                    Symbol::Group(body) => !shallow[body.index()],
                    Symbol::Repeat(repeat) => !shallow[grammar.repeat(repeat).body.index()],
                })
            };
            if shallow[body.index()] && deep() {
                shallow[body.index()] = false;
                changed = true;
            }
        }
        if !changed {
            return shallow;
        }
    }
}
