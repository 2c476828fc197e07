//! The common shape of syntax trees and grammars: bodies of alternatives
//! of symbols, in flat arrays.
//!
//! In:  calls to a [`Builder`], inner groups before the alternatives that
//!      hold them.
//! Out: an [`Arena`] in which every body is a range of alternatives and
//!      every alternative a range of symbols.
//!
//! A tree of boxes was rejected: a grammar of a million alternatives would
//! need millions of allocations, and every pass would recurse.

use crate::class::Class;
use crate::source::Span;
use hashbrown::HashMap;
use std::ops::Range;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// The number as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
id! {
    /// A list of alternatives: a rule's, a group's or a repetition's.
    BodyId,
    /// One alternative of a body.
    AltId,
    /// One occurrence of a symbol in an alternative.
    SymbolId,
    /// An interned class.
    ClassId,
    /// A repetition.
    RepeatId
}

/// Groups nest at most this deep, so that passes may recurse over them.
pub const MAX_NESTING: usize = 200;
/// The largest weight of an alternative.
pub const MAX_WEIGHT: u32 = 1_000_000;

/// A stretch of literal bytes in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bytes {
    /// Offset of the first.
    pub start: u32,
    /// How many.
    pub len: u32,
}

/// One way to derive a body.
#[derive(Clone, Copy, Debug)]
pub struct Alternative {
    /// First symbol.
    pub first: u32,
    /// Behind the last symbol.
    pub end: u32,
    /// Relative probability among the alternatives of its body, at least 1.
    pub weight: u32,
    /// Where it stands.
    pub span: Span,
}

/// Several derivations of one body in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// What is repeated.
    pub body: BodyId,
    /// Least count.
    pub min: u32,
    /// Greatest count, `None` for no bound.
    pub max: Option<u32>,
    /// In a lexical rule: `false` ends the token as soon as it can end.
    pub greedy: bool,
}

/// A remark on a symbol, kept for later passes (names bound, lengths,
/// checksums); this crate gives it no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What kind of remark.
    pub key: String,
    /// Its argument.
    pub value: String,
}

impl Note {
    /// `gaps: "needed"` on a skipped token: it and its like stand only where
    /// two tokens, or two words, would run together.
    pub fn tight() -> Note {
        Note { key: "gaps".to_string(), value: "needed".to_string() }
    }

    /// `gaps: "never"` on a skipped token: it is read, but no separator.
    pub fn unwanted() -> Note {
        Note { key: "gaps".to_string(), value: "never".to_string() }
    }

    /// `gaps: "none"` on a token: nothing skipped stands behind it, since
    /// the next token goes on with its text.
    pub fn joined() -> Note {
        Note { key: "gaps".to_string(), value: "none".to_string() }
    }

    /// Whether it is [`Note::tight`].
    pub fn is_tight(&self) -> bool {
        self.key == "gaps" && self.value == "needed"
    }
}

/// Bodies, alternatives and symbols of kind `S`.
#[derive(Clone, Debug)]
pub struct Arena<S> {
    bodies: Vec<Range<u32>>,
    alternatives: Vec<Alternative>,
    pub(crate) symbols: Vec<S>,
    spans: Vec<Span>,
    bytes: Vec<u8>,
    classes: Vec<Class>,
    repeats: Vec<Repeat>,
    notes: Vec<(SymbolId, Note)>,
}

impl<S> Default for Arena<S> {
    fn default() -> Self {
        Arena {
            bodies: Vec::new(),
            alternatives: Vec::new(),
            symbols: Vec::new(),
            spans: Vec::new(),
            bytes: Vec::new(),
            classes: Vec::new(),
            repeats: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl<S> Arena<S> {
    /// Gives each alternative another weight.
    pub(crate) fn set_weights(&mut self, weight: impl Fn(AltId) -> u32) {
        for (at, alternative) in self.alternatives.iter_mut().enumerate() {
            alternative.weight = weight(AltId(at as u32)).clamp(1, MAX_WEIGHT);
        }
    }

    /// The alternatives of a body, in order.
    pub fn alternatives(
        &self,
        body: BodyId,
    ) -> impl ExactSizeIterator<Item = AltId> + DoubleEndedIterator + use<S> {
        self.bodies[body.index()].clone().map(AltId)
    }

    /// Whether a body has this alternative.
    pub fn body_has(&self, body: BodyId, alt: AltId) -> bool {
        self.bodies[body.index()].contains(&alt.0)
    }

    /// Facts about one alternative.
    pub fn alternative(&self, alt: AltId) -> &Alternative {
        &self.alternatives[alt.index()]
    }

    /// The symbols of an alternative.
    pub fn symbols(&self, alt: AltId) -> &[S] {
        let a = &self.alternatives[alt.index()];
        &self.symbols[a.first as usize..a.end as usize]
    }

    /// The symbol with a number.
    pub fn symbol(&self, at: u32) -> S
    where
        S: Copy,
    {
        self.symbols[at as usize]
    }

    /// The symbols of an alternative with their numbers.
    pub fn numbered(
        &self,
        alt: AltId,
    ) -> impl DoubleEndedIterator<Item = (SymbolId, &S)> + ExactSizeIterator {
        let a = &self.alternatives[alt.index()];
        (a.first..a.end).map(|i| (SymbolId(i), &self.symbols[i as usize]))
    }

    /// Where a symbol stands.
    pub fn span(&self, symbol: SymbolId) -> Span {
        self.spans[symbol.index()]
    }

    /// The bytes of a literal.
    pub fn bytes(&self, bytes: Bytes) -> &[u8] {
        &self.bytes[bytes.start as usize..][..bytes.len as usize]
    }

    /// A class.
    pub fn class(&self, class: ClassId) -> &Class {
        &self.classes[class.index()]
    }

    /// A repetition.
    pub fn repeat(&self, repeat: RepeatId) -> &Repeat {
        &self.repeats[repeat.index()]
    }

    /// The remarks on a symbol.
    pub fn notes(&self, symbol: SymbolId) -> impl Iterator<Item = &Note> {
        let from = self.notes.partition_point(|(s, _)| *s < symbol);
        self.notes[from..].iter().take_while(move |(s, _)| *s == symbol).map(|(_, note)| note)
    }

    /// How many bodies there are.
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// How many alternatives there are in all bodies.
    pub fn alternative_count(&self) -> usize {
        self.alternatives.len()
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// The same arena with each symbol replaced.
    pub(crate) fn map<T>(self, symbol: impl FnMut(S) -> T) -> Arena<T> {
        Arena {
            bodies: self.bodies,
            alternatives: self.alternatives,
            symbols: self.symbols.into_iter().map(symbol).collect(),
            spans: self.spans,
            bytes: self.bytes,
            classes: self.classes,
            repeats: self.repeats,
            notes: self.notes,
        }
    }
}

/// Fills an [`Arena`], innermost group first.
#[derive(Debug)]
pub struct Builder<S> {
    arena: Arena<S>,
    class_ids: HashMap<Class, ClassId>,
    // Alternatives and symbols of the bodies that are still open.
    open_alternatives: Vec<Alternative>,
    open_symbols: Vec<Open<S>>,
    marks: Vec<Mark>,
}

#[derive(Debug)]
struct Open<S> {
    symbol: S,
    span: Span,
    notes: Vec<Note>,
}

#[derive(Debug)]
struct Mark {
    alternatives: usize,
    symbols: usize,
    weight: u32,
    span: Span,
}

impl<S> Default for Builder<S> {
    fn default() -> Self {
        Builder::resume(Arena::default())
    }
}

impl<S> Builder<S> {
    /// Goes on filling `arena`.
    pub fn resume(arena: Arena<S>) -> Builder<S> {
        let class_ids =
            arena.classes.iter().enumerate().map(|(i, c)| (c.clone(), ClassId(i as u32))).collect();
        Builder {
            arena,
            class_ids,
            open_alternatives: Vec::new(),
            open_symbols: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// The arena so far.
    pub fn arena(&self) -> &Arena<S> {
        &self.arena
    }

    /// The arena, when every body is closed.
    pub fn finish(self) -> Arena<S> {
        debug_assert!(self.marks.is_empty());
        self.arena
    }

    /// How many bodies are open.
    pub fn nesting(&self) -> usize {
        self.marks.len()
    }

    /// Opens a body with its first alternative.
    pub fn open_body(&mut self, span: Span) {
        self.marks.push(Mark {
            alternatives: self.open_alternatives.len(),
            symbols: self.open_symbols.len(),
            weight: 1,
            span,
        });
    }

    /// Weight of the alternative that is open.
    pub fn weight(&mut self, weight: u32) {
        if let Some(mark) = self.marks.last_mut() {
            mark.weight = weight.clamp(1, MAX_WEIGHT);
        }
    }

    /// Ends the open alternative and opens the next of the same body.
    pub fn next_alternative(&mut self, span: Span) {
        self.end_alternative();
        if let Some(mark) = self.marks.last_mut() {
            mark.weight = 1;
            mark.span = span;
        }
    }

    /// Ends the last alternative and the body.
    pub fn close_body(&mut self) -> BodyId {
        self.end_alternative();
        let from = self.marks.pop().map_or(0, |m| m.alternatives);
        self.close_from(from)
    }

    /// Ends the body of a group. A group of one alternative is no group:
    /// its symbols become a part of the alternative around it (`None`),
    /// unless `keep` says that something stands on the group itself.
    pub fn close_group(&mut self, keep: bool) -> Option<BodyId> {
        let single = self.marks.last().is_some_and(|m| m.alternatives == self.open_alternatives.len());
        if single && !keep {
            self.marks.pop();
            return None;
        }
        Some(self.close_body())
    }

    /// Drops the open alternative and closes the body: no alternative at
    /// all derives nothing.
    pub fn close_body_without_last(&mut self) -> BodyId {
        let mark = self.marks.pop();
        let (from, symbols) = mark.map_or((0, 0), |m| (m.alternatives, m.symbols));
        self.open_symbols.truncate(symbols);
        self.close_from(from)
    }

    fn close_from(&mut self, from: usize) -> BodyId {
        let first = self.arena.alternatives.len() as u32;
        self.arena.alternatives.extend(self.open_alternatives.drain(from..));
        self.arena.bodies.push(first..self.arena.alternatives.len() as u32);
        BodyId(self.arena.bodies.len() as u32 - 1)
    }

    fn end_alternative(&mut self) {
        let Some(mark) = self.marks.last() else { return };
        let first = self.arena.symbols.len() as u32;
        let mut span = mark.span;
        for open in self.open_symbols.drain(mark.symbols..) {
            let id = SymbolId(self.arena.symbols.len() as u32);
            span = span.to(open.span);
            self.arena.symbols.push(open.symbol);
            self.arena.spans.push(open.span);
            self.arena.notes.extend(open.notes.into_iter().map(|note| (id, note)));
        }
        self.open_alternatives.push(Alternative {
            first,
            end: self.arena.symbols.len() as u32,
            weight: mark.weight,
            span,
        });
    }

    /// Drops all that is open, after a mistake in the text.
    pub fn abandon(&mut self) {
        self.marks.clear();
        self.open_alternatives.clear();
        self.open_symbols.clear();
    }

    /// Appends a symbol to the open alternative.
    pub fn symbol(&mut self, symbol: S, span: Span) {
        self.open_symbols.push(Open { symbol, span, notes: Vec::new() });
    }

    /// Takes the last symbol of the open alternative back.
    pub fn take_last(&mut self) -> Option<(S, Span)> {
        let mark = self.marks.last()?;
        if self.open_symbols.len() <= mark.symbols {
            return None;
        }
        self.open_symbols.pop().map(|open| (open.symbol, open.span))
    }

    /// Puts a remark on the last symbol; `false` if there is none.
    pub fn note_last(&mut self, note: Note) -> bool {
        let from = self.marks.last().map_or(0, |m| m.symbols);
        match self.open_symbols.get_mut(from..).and_then(|s| s.last_mut()) {
            Some(open) => {
                open.notes.push(note);
                true
            }
            None => false,
        }
    }

    /// Stores literal bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> Bytes {
        let start = self.arena.bytes.len() as u32;
        self.arena.bytes.extend_from_slice(bytes);
        Bytes { start, len: bytes.len() as u32 }
    }

    /// The number of a class.
    pub fn class(&mut self, class: Class) -> ClassId {
        let classes = &mut self.arena.classes;
        *self.class_ids.entry(class).or_insert_with_key(|class| {
            classes.push(class.clone());
            ClassId(classes.len() as u32 - 1)
        })
    }

    /// Stores a repetition.
    pub fn repeat(&mut self, repeat: Repeat) -> RepeatId {
        self.arena.repeats.push(repeat);
        RepeatId(self.arena.repeats.len() as u32 - 1)
    }
}
