//! The alternatives of each body as one tree: those that begin alike share
//! their beginning.
//!
//! In:  a grammar without dead parts.
//! Out: [`Tries`]: a root for each body; below it a node for each symbol
//!      that can come next. A node knows the alternative that ends there.
//!
//! [`Sharing::None`] leaves that out: each alternative has nodes of its own, as it
//! has transitions of its own in the paper on Gramatron.
//!
//! Without sharing, `sum = term | term '+' sum` would double all beginnings
//! of a term, and a ladder of such rules would double them at every rung.

use hashbrown::HashMap;
use wug_grammar::facts::Facts;
use wug_grammar::{AltId, BodyId, Grammar, RepeatId, RuleId, Symbol};

/// What stands for no number.
pub(crate) const NONE: u32 = u32::MAX;

/// Whether alternatives that begin alike share their beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// They do: the end of one competes with how the others go on.
    #[default]
    Beginnings,
    /// Each has transitions of its own, as published.
    None,
}

/// A nonterminal: the body of a rule or a group, or a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// A body.
    Body(BodyId),
    /// A repetition.
    Repeat(RepeatId),
}

/// A place in a body: the symbols on the way to it have been derived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The node before it; [`NONE`] for a root.
    pub parent: u32,
    /// The symbol on the way from there.
    pub symbol: Option<Symbol>,
    /// The rule in which the body stands.
    pub rule: RuleId,
    /// The first alternative that ends here.
    pub end: Option<AltId>,
    first_child: u32,
    next_sibling: u32,
    /// Whether the rest can be empty.
    pub nullable: bool,
    /// Whether the rest can be something.
    pub nonempty: bool,
}

#[derive(Debug)]
pub(crate) struct Tries {
    pub nodes: Vec<Node>,
    /// The root of each body; [`NONE`] where no rule has it.
    pub roots: Vec<u32>,
    /// The rule in which each repetition stands; its length is one more
    /// than the greatest number of a repetition.
    pub repeats: Vec<RuleId>,
    nullable_bodies: Vec<bool>,
    nonempty_bodies: Vec<bool>,
}

/// Symbols that are the same wherever they stand.
#[derive(PartialEq, Eq, Hash)]
enum Key<'g> {
    Bytes(&'g [u8]),
    Class(u32),
    Rule(u32),
    Group(u32),
    Repeat(u32),
}

impl Tries {
    pub fn of(grammar: &Grammar, facts: &Facts, sharing: Sharing) -> Tries {
        let bodies = || (0..grammar.body_count() as u32).map(BodyId);
        let mut tries = Tries {
            nodes: Vec::new(),
            roots: vec![NONE; grammar.body_count()],
            repeats: Vec::new(),
            nullable_bodies: bodies().map(|b| facts.min_length(b) == Some(0)).collect(),
            nonempty_bodies: bodies().map(|b| facts.longest[b.index()] != Some(0)).collect(),
        };
        let mut children = HashMap::new();
        for rule in grammar.rules() {
            grammar.bodies_within(grammar.rule(rule).body, &mut |body| {
                tries.body(grammar, rule, body, sharing, &mut children);
            });
        }
        tries.facts(grammar);
        tries
    }

    fn body<'g>(
        &mut self,
        grammar: &'g Grammar,
        rule: RuleId,
        body: BodyId,
        sharing: Sharing,
        children: &mut HashMap<(u32, Key<'g>), u32>,
    ) {
        let root = self.node(NONE, None, rule);
        self.roots[body.index()] = root;
        children.clear();
        let mut last_child: HashMap<u32, u32> = HashMap::new();
        for alt in grammar.alternatives(body) {
            if sharing == Sharing::None {
                children.clear();
            }
            let mut at = root;
            for &symbol in grammar.symbols(alt) {
                if let Symbol::Repeat(repeat) = symbol {
                    let len = self.repeats.len().max(repeat.index() + 1);
                    self.repeats.resize(len, rule);
                    self.repeats[repeat.index()] = rule;
                }
                let next = children.entry((at, key(grammar, symbol))).or_insert_with(|| {
                    let child = self.node(at, Some(symbol), rule);
                    match last_child.insert(at, child) {
                        Some(last) => self.nodes[last as usize].next_sibling = child,
                        None => self.nodes[at as usize].first_child = child,
                    }
                    child
                });
                at = *next;
            }
            self.nodes[at as usize].end.get_or_insert(alt);
        }
    }

    fn node(&mut self, parent: u32, symbol: Option<Symbol>, rule: RuleId) -> u32 {
        let (end, first_child, next_sibling) = (None, NONE, NONE);
        let (nullable, nonempty) = (false, false);
        self.nodes.push(Node { parent, symbol, rule, end, first_child, next_sibling, nullable, nonempty });
        self.nodes.len() as u32 - 1
    }

    /// A node's children have greater numbers, so one pass backwards does.
    fn facts(&mut self, grammar: &Grammar) {
        for at in (0..self.nodes.len()).rev() {
            let node = self.nodes[at];
            self.nodes[at].nullable |= node.end.is_some();
            let (Some(symbol), true) = (node.symbol, node.parent != NONE) else { continue };
            let node = self.nodes[at];
            let (can_be_empty, can_be_some) = match part(grammar, symbol) {
                None => (false, true),
                Some(part) => (self.nullable(grammar, part), self.nonempty(grammar, part)),
            };
            let parent = &mut self.nodes[node.parent as usize];
            parent.nullable |= can_be_empty && node.nullable;
            parent.nonempty |= can_be_some || node.nonempty;
        }
    }

    /// Whether a part derives the empty text.
    pub fn nullable(&self, grammar: &Grammar, part: Part) -> bool {
        match part {
            Part::Body(body) => self.nullable_bodies[body.index()],
            Part::Repeat(repeat) => {
                let repeat = grammar.repeat(repeat);
                repeat.min == 0 || self.nullable_bodies[repeat.body.index()]
            }
        }
    }

    /// Whether a part derives some other text.
    pub fn nonempty(&self, grammar: &Grammar, part: Part) -> bool {
        match part {
            Part::Body(body) => self.nonempty_bodies[body.index()],
            Part::Repeat(repeat) => {
                let repeat = grammar.repeat(repeat);
                repeat.max != Some(0) && self.nonempty_bodies[repeat.body.index()]
            }
        }
    }

    /// The nodes below a node.
    pub fn children(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.nodes[at as usize].first_child;
        std::iter::from_fn(move || {
            let child = Some(next).filter(|&child| child != NONE)?;
            next = self.nodes[child as usize].next_sibling;
            Some(child)
        })
    }

    /// Calls `visit` with each node whose symbol can be the first that
    /// derives something, from `at` on.
    pub fn firsts(&self, grammar: &Grammar, at: u32, mut visit: impl FnMut(u32, Symbol)) {
        let mut open: Vec<u32> = vec![at];
        while let Some(at) = open.pop() {
            for child in self.children(at) {
                let Some(symbol) = self.nodes[child as usize].symbol else { continue };
                let part = part(grammar, symbol);
                if part.is_none_or(|part| self.nonempty(grammar, part)) {
                    visit(child, symbol);
                }
                if part.is_some_and(|part| self.nullable(grammar, part)) {
                    open.push(child);
                }
            }
        }
    }
}

/// The part that a symbol calls; none for bytes and classes.
pub(crate) fn part(grammar: &Grammar, symbol: Symbol) -> Option<Part> {
    match symbol {
        Symbol::Bytes(_) | Symbol::Class(_) => None,
        Symbol::Rule(rule) => Some(Part::Body(grammar.rule(rule).body)),
        Symbol::Group(body) => Some(Part::Body(body)),
        Symbol::Repeat(repeat) => Some(Part::Repeat(repeat)),
    }
}

fn key(grammar: &Grammar, symbol: Symbol) -> Key<'_> {
    match symbol {
        Symbol::Bytes(bytes) => Key::Bytes(grammar.bytes(bytes)),
        Symbol::Class(class) => Key::Class(class.0),
        Symbol::Rule(rule) => Key::Rule(rule.0),
        Symbol::Group(body) => Key::Group(body.0),
        Symbol::Repeat(repeat) => Key::Repeat(repeat.0),
    }
}
