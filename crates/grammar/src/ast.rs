//! What a notation's reader hands over: rules as they were written, with
//! names not yet bound to rules.

use crate::arena::{Arena, BodyId, Builder, Bytes, ClassId, Note, Repeat, RepeatId};
use crate::class::Class;
use crate::names::{NameId, Names};
use crate::source::Span;

/// A symbol whose names are only names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AstSymbol {
    /// Literal bytes, at least one.
    Bytes(Bytes),
    /// One member of a class.
    Class(ClassId),
    /// A rule, by name.
    Name(NameId),
    /// One of several alternatives in parentheses.
    Group(BodyId),
    /// A repetition.
    Repeat(RepeatId),
    /// What the first derives and the second does not.
    Except(BodyId, BodyId),
}

/// What becomes of the lexer's mode after a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action<M> {
    /// Nothing.
    Stay,
    /// Enter a mode; leaving it comes back here.
    Push(M),
    /// Back to the mode before.
    Pop,
    /// Go on in another mode in place of this one.
    Set(M),
    /// Several of these at once: takes modes off, this one first, then
    /// enters others.
    Change {
        /// How many are taken off.
        drop: u32,
        /// Entered first, if any.
        first: Option<M>,
        /// Entered then, above the first.
        second: Option<M>,
    },
}

impl<M> Action<M> {
    /// The same action on another type of modes.
    pub fn try_map<N, E>(self, mut mode: impl FnMut(M) -> Result<N, E>) -> Result<Action<N>, E> {
        Ok(match self {
            Action::Stay => Action::Stay,
            Action::Push(m) => Action::Push(mode(m)?),
            Action::Pop => Action::Pop,
            Action::Set(m) => Action::Set(mode(m)?),
            Action::Change { drop, first, second } => Action::Change {
                drop,
                first: first.map(&mut mode).transpose()?,
                second: second.map(&mut mode).transpose()?,
            },
        })
    }

    /// The same action on another type of modes.
    pub fn map<N>(self, mut mode: impl FnMut(M) -> N) -> Action<N> {
        match self.try_map(|m| Ok::<N, std::convert::Infallible>(mode(m))) {
            Ok(action) => action,
            Err(never) => match never {},
        }
    }

    /// The action that takes `drop` modes off, this one first, and then
    /// enters those in `push`; `None` if they are more than two.
    pub fn of(drop: u32, push: &[M]) -> Option<Action<M>>
    where
        M: Copy,
    {
        Some(match (drop, push) {
            (0, []) => Action::Stay,
            (0, &[mode]) => Action::Push(mode),
            (1, []) => Action::Pop,
            (1, &[mode]) => Action::Set(mode),
            (drop, []) => Action::Change { drop, first: None, second: None },
            (drop, &[mode]) => Action::Change { drop, first: Some(mode), second: None },
            (drop, &[first, second]) => Action::Change { drop, first: Some(first), second: Some(second) },
            _ => return None,
        })
    }

    /// How many modes it takes off a stack, this one first.
    pub fn drops(&self) -> usize {
        match self {
            Action::Stay | Action::Push(_) => 0,
            Action::Pop | Action::Set(_) => 1,
            Action::Change { drop, .. } => *drop as usize,
        }
    }

    /// The modes that it enters, in order.
    pub fn enters(self) -> impl Iterator<Item = M> {
        let (first, second) = match self {
            Action::Stay | Action::Pop => (None, None),
            Action::Push(mode) | Action::Set(mode) => (Some(mode), None),
            Action::Change { first, second, .. } => (first, second),
        };
        first.into_iter().chain(second)
    }

    /// Carries it out on a stack of modes.
    pub fn apply(self, stack: &mut Vec<M>) {
        stack.truncate(stack.len().saturating_sub(self.drops()));
        stack.extend(self.enters());
    }
}

/// The part that a rule plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<M> {
    /// Derives sequences of tokens, or of bytes where there are no tokens.
    Syntax,
    /// A token: a leaf of the syntax.
    Token {
        /// The mode in which it is read.
        mode: M,
        /// What it does to the mode.
        action: Action<M>,
        /// May stand between any two tokens, and means nothing.
        skip: bool,
    },
    /// A part of tokens, never a token itself.
    Fragment,
}

/// A name where it stands.
pub type Named = (NameId, Span);

/// A rule as written.
#[derive(Clone, Debug)]
pub struct AstRule {
    /// Its name.
    pub name: Named,
    /// Its part.
    pub kind: Kind<Option<Named>>,
    /// Its alternatives.
    pub body: BodyId,
    /// At most this many levels below.
    pub depth_limit: Option<u32>,
    /// Not written by a person: costs no depth.
    pub made: bool,
    /// Remarks.
    pub notes: Vec<Note>,
}

/// What to say about an unknown name that may be meant as text.
pub type Hint = fn(&str) -> String;

/// A grammar text, read.
#[derive(Debug, Default)]
pub struct Ast {
    /// All names that occur.
    pub names: Names,
    /// The insides of the rules.
    pub builder: Builder<AstSymbol>,
    /// The rules, in order.
    pub rules: Vec<AstRule>,
    /// The start rule, if it was named; else it is the first syntax rule.
    pub start: Option<Named>,
    /// Modes beside the default one, in order.
    pub modes: Vec<Named>,
    /// For texts in which a name is easily mistaken for literal text.
    pub hints: Vec<(Span, Hint)>,
    /// ANTLR's files, which are built into rules when all are there.
    pub(crate) antlr: Vec<crate::notation::AntlrFile>,
}

impl Ast {
    /// Appends literal bytes to the open alternative; empty ones vanish.
    pub fn literal(&mut self, bytes: &[u8], span: Span) {
        if !bytes.is_empty() {
            let bytes = self.builder.bytes(bytes);
            self.builder.symbol(AstSymbol::Bytes(bytes), span);
        }
    }

    /// Appends a class to the open alternative.
    pub fn class(&mut self, class: Class, span: Span) {
        let class = self.builder.class(class);
        self.builder.symbol(AstSymbol::Class(class), span);
    }

    /// Appends literal text of which the case of ASCII letters is free.
    pub fn caseless(&mut self, text: &str, span: Span) {
        let mut run = Vec::new();
        for c in text.chars() {
            if c.is_ascii_alphabetic() {
                self.literal(&run, span);
                run.clear();
                let (upper, lower) = (c.to_ascii_uppercase() as u32, c.to_ascii_lowercase() as u32);
                self.class(Class::new(crate::Unit::Char, [(upper, upper), (lower, lower)]), span);
            } else {
                run.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        self.literal(&run, span);
    }

    /// Appends a call by name.
    pub fn call(&mut self, name: &str, span: Span) {
        let name = self.names.add(name);
        self.builder.symbol(AstSymbol::Name(name), span);
    }

    /// Closes the innermost body and appends it as a group. With `keep`
    /// something stands behind it that needs the group to be one symbol.
    pub fn close_group(&mut self, keep: bool, span: Span) {
        if let Some(body) = self.builder.close_group(keep) {
            self.builder.symbol(AstSymbol::Group(body), span);
        }
    }

    /// Replaces the last symbol by a repetition of it; `false` if there is
    /// none.
    pub fn repeat_last(&mut self, min: u32, max: Option<u32>, greedy: bool, end: Span) -> bool {
        let Some((symbol, span)) = self.builder.take_last() else {
            return false;
        };
        let body = match symbol {
            AstSymbol::Group(body) => body,
            other => {
                self.builder.open_body(span);
                self.builder.symbol(other, span);
                self.builder.close_body()
            }
        };
        let repeat = self.builder.repeat(Repeat { body, min, max, greedy });
        self.builder.symbol(AstSymbol::Repeat(repeat), span.to(end));
        true
    }

    /// Ends a syntax rule whose body is open.
    pub fn close_rule(&mut self, name: &str, name_span: Span) {
        let name = self.names.add(name);
        self.close_named((name, name_span));
    }

    /// As [`Ast::close_rule`], for a name that is already known.
    pub fn close_named(&mut self, name: Named) {
        let body = self.builder.close_body();
        self.rules.push(AstRule {
            name,
            kind: Kind::Syntax,
            body,
            depth_limit: None,
            made: false,
            notes: Vec::new(),
        });
    }

    /// The insides, when all bodies are closed.
    pub fn arena(&self) -> &Arena<AstSymbol> {
        self.builder.arena()
    }
}
