//! An ANTLR grammar as it is written: what the reader hands to the builder.

use crate::class::Class;
use crate::source::Span;

/// One file.
#[derive(Debug)]
pub struct File {
    /// The name of the text.
    pub path: String,
    /// What it may hold.
    pub kind: FileKind,
    /// As its first line declares it.
    pub name: String,
    /// Where that stands.
    pub name_span: Span,
    /// Grammars it imports.
    pub imports: Vec<(String, Span)>,
    /// The grammar whose tokens it uses.
    pub vocab: Option<(String, Span)>,
    /// `options { caseInsensitive = true; }`
    pub caseless: bool,
    /// `tokens { … }`
    pub tokens: Vec<(String, Span)>,
    /// Rules, in order.
    pub rules: Vec<Rule>,
    /// Modes, in order; the default one is not among them.
    pub modes: Vec<(String, Span)>,
}

/// What a file may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Both kinds of rules.
    Combined,
    /// Only lexical rules.
    Lexer,
    /// Only syntax.
    Parser,
}

/// A rule. Its name tells syntax, in lower case, from tokens.
#[derive(Debug)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// A part of tokens.
    pub fragment: bool,
    /// The mode it stands in: a number of [`File::modes`].
    pub mode: Option<usize>,
    /// `options { caseInsensitive = …; }`
    pub caseless: Option<bool>,
    /// Its alternatives.
    pub block: Block,
}

impl Rule {
    /// Whether it is a token or a part of one.
    pub fn is_lexical(&self) -> bool {
        is_lexical(&self.name)
    }
}

/// Names of tokens begin with a capital.
pub fn is_lexical(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Alternatives.
#[derive(Debug, Default)]
pub struct Block(pub Vec<Alternative>);

/// One alternative.
#[derive(Debug)]
pub struct Alternative {
    /// Its symbols.
    pub elements: Vec<Element>,
    /// What stands behind `->`.
    pub commands: Vec<Command>,
    /// Where it begins.
    pub span: Span,
}

/// A lexer command, as `pushMode(X)`.
#[derive(Debug)]
pub struct Command {
    /// Its name.
    pub name: String,
    /// What stands in parentheses.
    pub argument: Option<(String, Span)>,
    /// Where it stands.
    pub span: Span,
}

/// A symbol.
#[derive(Debug)]
pub struct Element {
    /// What it is.
    pub what: What,
    /// Where it stands.
    pub span: Span,
}

/// What a symbol is.
#[derive(Debug)]
pub enum What {
    /// Literal text; `None` where it holds half of a surrogate pair, which
    /// no text has.
    Text(Option<String>),
    /// A set of characters.
    Set(Class),
    /// `.`: any character, or any token.
    Any,
    /// `~`: none of these.
    Not(Vec<Element>),
    /// A rule or token by name.
    Name(String),
    /// The end of the text.
    Eof,
    /// Alternatives in parentheses.
    Block(Block),
    /// A repetition.
    Repeat {
        /// Of this.
        body: Block,
        /// Least count, 0 or 1.
        min: u32,
        /// Greatest count, 1 or none.
        max: Option<u32>,
        /// Whether more is better.
        greedy: bool,
    },
    /// `{…}?`
    Predicate,
    /// `{…}`
    Action,
}
