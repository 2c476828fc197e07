//! The grammar as every later stage reads it.
//!
//! In:  resolved rules.
//! Out: [`Grammar`]: rules over bytes and classes, with lexical rules,
//!      modes, repetition, weights, limits and remarks kept as written.
//!
//! Lexical rules stay in the grammar because a parser needs them; what a
//! producer reads is the result of [`crate::transform::lower`].

use crate::arena::{AltId, Arena, BodyId, Bytes, ClassId, Note, Repeat, RepeatId};
use crate::ast::{Action, Kind};
use crate::source::Span;
use std::ops::Deref;

/// A rule of a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub u32);

impl RuleId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A mode of the lexer; 0 is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModeId(pub u32);

/// A symbol of an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// Literal bytes, at least one.
    Bytes(Bytes),
    /// One member of a class.
    Class(ClassId),
    /// A call of a rule.
    Rule(RuleId),
    /// One of several alternatives.
    Group(BodyId),
    /// A repetition.
    Repeat(RepeatId),
}

/// The part that a rule plays, with modes resolved.
pub type RuleKind = Kind<ModeId>;
/// What a token does to the mode, resolved.
pub type ModeAction = Action<ModeId>;

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name; unique.
    pub name: String,
    /// Where its name stands at its definition.
    pub span: Span,
    /// Its part.
    pub kind: RuleKind,
    /// Its alternatives.
    pub body: BodyId,
    /// At most this many levels below a call of it.
    pub depth_limit: Option<u32>,
    /// Not written by a person: a call of it costs no depth.
    pub made: bool,
    /// Remarks.
    pub notes: Vec<Note>,
}

impl Rule {
    /// Whether a call of it is one level of depth: the user wrote it, and
    /// it is not a token, which is a leaf.
    pub fn costs_depth(&self) -> bool {
        !self.made && self.kind == Kind::Syntax
    }

    /// Whether it is a token.
    pub fn is_token(&self) -> bool {
        matches!(self.kind, Kind::Token { .. })
    }

    /// Whether it is a token or a part of one.
    pub fn is_lexical(&self) -> bool {
        self.kind != Kind::Syntax
    }
}

/// A grammar: immutable once built, shared by all who read it.
#[derive(Clone, Debug)]
pub struct Grammar {
    pub(crate) rules: Vec<Rule>,
    pub(crate) arena: Arena<Symbol>,
    pub(crate) start: RuleId,
    pub(crate) modes: Vec<String>,
    /// Rules that exceptions were made from: used, though nothing calls them.
    pub(crate) mentioned: Vec<RuleId>,
}

impl Deref for Grammar {
    type Target = Arena<Symbol>;
    fn deref(&self) -> &Arena<Symbol> {
        &self.arena
    }
}

impl Grammar {
    /// All rules, in order.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = RuleId> + DoubleEndedIterator + use<> {
        (0..self.rules.len() as u32).map(RuleId)
    }

    /// A rule.
    pub fn rule(&self, rule: RuleId) -> &Rule {
        &self.rules[rule.index()]
    }

    /// A rule's name.
    pub fn name(&self, rule: RuleId) -> &str {
        &self.rules[rule.index()].name
    }

    /// The rule with this name.
    pub fn find(&self, name: &str) -> Option<RuleId> {
        self.rules().find(|&r| self.name(r) == name)
    }

    /// Where derivation begins.
    pub fn start(&self) -> RuleId {
        self.start
    }

    /// The same grammar with another start.
    pub fn with_start(mut self, start: RuleId) -> Grammar {
        self.start = start;
        self
    }

    /// The same grammar with other weights.
    pub fn with_weights(mut self, weight: impl Fn(AltId) -> u32) -> Grammar {
        self.arena.set_weights(weight);
        self
    }

    /// Names of the modes; the first is the default one.
    pub fn modes(&self) -> &[String] {
        &self.modes
    }

    /// Whether there are tokens; without them, bytes are read one by one.
    pub fn has_tokens(&self) -> bool {
        self.rules.iter().any(|r| matches!(r.kind, Kind::Token { .. }))
    }

    /// Alternatives of the rules that a person wrote, those in groups apart.
    pub fn written_alternatives(&self) -> usize {
        self.rules.iter().filter(|r| !r.made).map(|r| self.alternatives(r.body).len()).sum()
    }

    /// Calls `visit` for each rule that an alternative calls, those in its
    /// groups and repetitions included, in order.
    pub fn calls(&self, alt: AltId, visit: &mut dyn FnMut(RuleId)) {
        for symbol in self.symbols(alt) {
            match *symbol {
                Symbol::Rule(rule) => visit(rule),
                Symbol::Group(body) => self.body_calls(body, visit),
                Symbol::Repeat(repeat) => self.body_calls(self.repeat(repeat).body, visit),
                Symbol::Bytes(_) | Symbol::Class(_) => {}
            }
        }
    }

    /// As [`Grammar::calls`], for all alternatives of a body.
    pub fn body_calls(&self, body: BodyId, visit: &mut dyn FnMut(RuleId)) {
        for alt in self.alternatives(body) {
            self.calls(alt, visit);
        }
    }

    /// Calls `visit` for a body and every body inside it, outermost first.
    pub fn bodies_within(&self, body: BodyId, visit: &mut dyn FnMut(BodyId)) {
        visit(body);
        for alt in self.alternatives(body) {
            for symbol in self.symbols(alt) {
                match *symbol {
                    Symbol::Group(inner) => self.bodies_within(inner, visit),
                    Symbol::Repeat(repeat) => self.bodies_within(self.repeat(repeat).body, visit),
                    _ => {}
                }
            }
        }
    }

    /// Whether both mean the same, symbol for symbol: spans and the order
    /// of storage aside.
    pub fn same_as(&self, other: &Grammar) -> bool {
        let rule = |a: &Rule, b: &Rule| {
            a.name == b.name
                && a.kind == b.kind
                && a.depth_limit == b.depth_limit
                && a.made == b.made
                && a.notes == b.notes
                && (self.same_body(a.body, other, b.body) || (self.is_void(a.body) && other.is_void(b.body)))
        };
        self.start == other.start
            && self.modes == other.modes
            && self.rules.len() == other.rules.len()
            && self.rules.iter().zip(&other.rules).all(|(a, b)| rule(a, b))
    }

    /// Whether a body has no alternative, or none but an empty class, which
    /// is how text says so.
    fn is_void(&self, body: BodyId) -> bool {
        self.alternatives(body).all(|alt| match self.symbols(alt) {
            [Symbol::Class(class)] => self.class(*class).is_empty(),
            _ => false,
        })
    }

    fn same_body(&self, a: BodyId, other: &Grammar, b: BodyId) -> bool {
        let (left, right) = (self.alternatives(a), other.alternatives(b));
        left.len() == right.len()
            && left.zip(right).all(|(x, y)| {
                self.alternative(x).weight == other.alternative(y).weight
                    && self.symbols(x).len() == other.symbols(y).len()
                    && self.numbered(x).zip(other.numbered(y)).all(|((i, s), (j, t))| {
                        self.same_symbol(*s, other, *t) && self.notes(i).eq(other.notes(j))
                    })
            })
    }

    fn same_symbol(&self, a: Symbol, other: &Grammar, b: Symbol) -> bool {
        match (a, b) {
            (Symbol::Bytes(a), Symbol::Bytes(b)) => self.bytes(a) == other.bytes(b),
            (Symbol::Class(a), Symbol::Class(b)) => self.class(a) == other.class(b),
            (Symbol::Rule(a), Symbol::Rule(b)) => a == b,
            (Symbol::Group(a), Symbol::Group(b)) => self.same_body(a, other, b),
            (Symbol::Repeat(a), Symbol::Repeat(b)) => {
                let (a, b): (Repeat, Repeat) = (*self.repeat(a), *other.repeat(b));
                (a.min, a.max, a.greedy) == (b.min, b.max, b.greedy) && self.same_body(a.body, other, b.body)
            }
            _ => false,
        }
    }
}
