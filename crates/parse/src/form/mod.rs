//! The normal form that the parser runs on.
//!
//! In:  a grammar, its letters and the rules to start from.
//! Out: productions over sets of letters and nonterminals, none of them
//!      empty, each with at most two nonterminals, and with a note of how
//!      it is written as nodes of a derivation.
//!
//! No empty productions: a part that may be empty is left out in another
//! production of the same alternative, which says so in its note. So an
//! optional part never forces a decision before it is seen, every step of
//! the parser covers some text, and the only circles are those of rules
//! that call each other without any text.
//!
//! At most two nonterminals: what is left of a longer alternative is a
//! nonterminal of its own (`Rest`), nested to the right, so that all
//! decisions still fall at the end. That makes the worst case cubic.
//!
//! Lists are left-recursive: an item is reduced as soon as it is read, and
//! a list of a million items takes no stack. A bounded count is a chain of
//! nonterminals, one for each number of items.

mod build;

use crate::facts::Facts;
use crate::terminals::Terminals;
use std::ops::Range;
use wug_grammar::{AltId, BodyId, ClassId, Grammar, RepeatId, RuleId, SymbolId};

/// A symbol in a production: a set of letters, a nonterminal, or the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sym(u32);

const NON: u32 = 1 << 31;
const END: u32 = 1 << 30;

/// What a [`Sym`] is.
pub(crate) enum What {
    Set(u32),
    Non(u32),
    End(u32),
}

impl Sym {
    pub const NONE: Sym = Sym(u32::MAX);

    pub fn non(nonterminal: u32) -> Sym {
        Sym(NON | nonterminal)
    }

    fn set(set: u32) -> Sym {
        Sym(set)
    }

    fn end(production: u32) -> Sym {
        Sym(END | production)
    }

    pub fn what(self) -> What {
        match self.0 {
            s if s & NON != 0 => What::Non(s & !NON),
            s if s & END != 0 => What::End(s & !END),
            s => What::Set(s),
        }
    }

    pub fn nonterminal(self) -> Option<u32> {
        (self.0 & NON != 0 && self != Sym::NONE).then_some(self.0 & !NON)
    }
}

/// How a production is written as nodes, from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// The node of an alternative, above all that follows.
    Alternative(AltId),
    /// Bytes of a literal.
    Literal(u32),
    /// A byte that is a member of a class.
    Member,
    /// A character of so many bytes that is a member of a class.
    Char(u32),
    /// A token.
    Token,
    /// The next nonterminal.
    Kid,
    /// The next nonterminal, which is a repetition: it gets a node.
    List,
    /// The next nonterminal, which is one round of a repetition.
    Item,
    /// What a symbol is when it is empty.
    Empty(SymbolId),
    /// So many empty rounds of a repetition.
    Pad(BodyId, u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Production {
    pub lhs: u32,
    /// Where its symbols begin, which is also its first item.
    pub first: u32,
    pub len: u32,
    ops: (u32, u32),
    pub weight: u32,
}

/// What a nonterminal stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// Above the start.
    Top,
    Start,
    Body(BodyId),
    /// An alternative from a symbol on.
    Rest(AltId, u32),
    /// A repetition.
    List(RepeatId),
    /// Just so many rounds of a repetition.
    Chain(RepeatId, u32),
    /// At least so many rounds of a repetition, none of them empty.
    More(RepeatId, u32),
    /// A member of a class that has members of several bytes.
    Char(ClassId),
}

/// A grammar as the parser sees it.
pub(crate) struct Form {
    pub productions: Vec<Production>,
    /// The symbols of all productions, an end behind each. A place in it is
    /// an item.
    pub symbols: Vec<Sym>,
    /// The symbol of the grammar that each place comes from.
    origins: Vec<Option<SymbolId>>,
    ops: Vec<Op>,
    pub keys: Vec<Key>,
    /// The productions of each nonterminal.
    first: Vec<u32>,
    /// The letters of each set, in order.
    sets: Vec<Vec<u32>>,
    pub facts: Facts,
    /// Derives itself without any text.
    pub cyclic: Vec<bool>,
    /// Is a rule that a person wrote.
    pub written: Vec<bool>,
}

/// Why a grammar cannot be parsed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The lexical rules are too large for an automaton.
    Lexical,
    /// The start is a part of tokens.
    Fragment(String),
    /// Repetitions with bounds that are too large.
    Repeat,
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unfit::Lexical => f.write_str(
                "the lexical rules are too large for an automaton; counts in the thousands, such as {0,5000}, are the usual reason",
            ),
            Unfit::Fragment(name) => {
                write!(f, "`{name}` is a fragment of tokens, which no input can be read as; start from a token or a syntax rule")
            }
            Unfit::Repeat => write!(
                f,
                "the bounds of repetitions are too large to be counted: {MAX_CHAIN} rounds in all; without an upper bound they need no counting"
            ),
        }
    }
}

impl std::error::Error for Unfit {}

/// The bounds of all repetitions that count, together.
const MAX_CHAIN: usize = 1 << 20;
/// No input has this many rounds that are not empty.
const UNBOUNDED: u32 = 1 << 28;

impl Form {
    pub fn new(grammar: &Grammar, terminals: &Terminals, starts: &[RuleId]) -> Result<Form, Unfit> {
        build::build(grammar, terminals, starts)
    }

    pub fn nonterminals(&self) -> usize {
        self.keys.len()
    }

    pub fn productions_of(&self, nonterminal: u32) -> Range<u32> {
        self.first[nonterminal as usize]..self.first[nonterminal as usize + 1]
    }

    pub fn production(&self, production: u32) -> &Production {
        &self.productions[production as usize]
    }

    pub fn symbols_of(&self, production: u32) -> &[Sym] {
        let p = self.production(production);
        &self.symbols[p.first as usize..(p.first + p.len) as usize]
    }

    pub fn ops_of(&self, production: u32) -> &[Op] {
        let (from, to) = self.production(production).ops;
        &self.ops[from as usize..to as usize]
    }

    pub fn set(&self, set: u32) -> &[u32] {
        &self.sets[set as usize]
    }

    pub fn set_has(&self, set: u32, letter: u32) -> bool {
        self.sets[set as usize].binary_search(&letter).is_ok()
    }

    /// The symbol of the grammar that the terminal at an item comes from.
    pub fn origin(&self, item: u32) -> Option<SymbolId> {
        self.origins[item as usize]
    }
}
