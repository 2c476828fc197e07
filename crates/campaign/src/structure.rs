//! Between bytes and structure, by one grammar.
//!
//! In:  a grammar as its author wrote it.
//! Out: trees of inputs that it derives, inputs of trees, mutated trees.
//!
//! Bytes are what a corpus holds; trees are worked out from them and can be
//! thrown away at any time.

use crate::operands::Change;
use std::fmt;
use std::ops::Range;
use wug_grammar::{Derivation, Diagnostic, Grammar};
use wug_parse::{Cache, Failure, Limits, Parser, Unfit};
use wug_produce::lexemes::{Layout, Printer};
use wug_produce::mutate::{Mutator, Tree};
use wug_produce::reduce::{Options, Piece, Reducer};
use wug_produce::rng::Rng;

/// What an input may take to be parsed: inputs are a mebibyte at most.
const LIMITS: Limits = Limits { memory: 256 << 20, steps: 20_000_000 };
/// What the parser may keep between inputs.
const PARSER: usize = 64 << 20;

/// Parses, mutates and prints by one grammar.
pub struct Structure<'g> {
    parser: Parser<'g>,
    cache: Cache,
    printer: Printer<'g>,
    layout: Layout,
    reducer: Reducer<'g>,
    grammar: &'g Grammar,
    /// Changes trees.
    pub mutator: Mutator,
}

/// Why a grammar cannot be used so.
#[derive(Debug)]
pub enum Useless {
    /// Nothing can be derived from it.
    Nothing(Box<Diagnostic>),
    /// The parser cannot be built.
    Parser(Unfit),
    /// Its tokens are too many for one automaton.
    Tokens,
}

impl fmt::Display for Useless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Useless::Nothing(why) => f.write_str(&why.message),
            Useless::Parser(why) => write!(f, "{why}"),
            Useless::Tokens => f.write_str("the tokens of this grammar are too many for one automaton"),
        }
    }
}

impl std::error::Error for Useless {}

impl<'g> Structure<'g> {
    /// Prepares a grammar.
    pub fn new(grammar: &'g Grammar) -> Result<Structure<'g>, Useless> {
        let parser = Parser::new(grammar).map_err(Useless::Parser)?;
        Ok(Structure {
            cache: Cache::bounded(&parser, PARSER),
            parser,
            printer: Printer::new(grammar).map_err(|_| Useless::Tokens)?,
            layout: Layout::default(),
            reducer: Reducer::new(grammar).map_err(|_| Useless::Tokens)?,
            grammar,
            mutator: Mutator::new(grammar).map_err(Useless::Nothing)?,
        })
    }

    /// The tree of an input, or why there is none.
    pub fn parse(&mut self, input: &[u8]) -> Result<Tree, Failure> {
        let parsed = self.parser.parse(input, &mut self.cache, LIMITS)?;
        // The parser gives derivations of its own grammar, so they fit.
        Ok(self.mutator.tree(parsed.derivation).unwrap_or_default())
    }

    /// Replaces `out` by the input of a derivation; whether there is one in
    /// which tokens do not run together.
    pub fn print(&mut self, derivation: &Derivation, out: &mut Vec<u8>) -> bool {
        out.clear();
        self.printer.print(derivation, &mut self.layout, out).is_some()
    }

    /// A place for a change of bytes: that of a token, or in a grammar without
    /// tokens that of a node of at most `most` bytes.
    pub fn some_leaf(&self, tree: &Tree, most: usize, rng: &mut Rng) -> Option<Range<usize>> {
        if self.grammar.has_tokens() {
            return self.mutator.some_token(tree, rng);
        }
        let spans = tree.derivation().spans(self.grammar).ok()?;
        for _ in 0..8 {
            let span = spans.get(rng.below(spans.len().max(1) as u32) as usize)?;
            if (1..=most).contains(&span.len()) {
                return Some(span.clone());
            }
        }
        None
    }

    /// Makes a change inside one token, if the result is a lexeme of it.
    pub fn put(&mut self, change: &Change, tree: &Tree, out: &mut Derivation) -> bool {
        let bytes = change.at..change.at + change.len;
        self.grammar.has_tokens() && self.mutator.put_text(tree, bytes, &change.to, out).is_some()
    }

    /// The smallest input of the same tree that `check` still says yes to,
    /// after so many questions at most, with its tree; or what `check` fails
    /// with.
    pub fn reduce<E>(
        &self,
        tree: &Tree,
        runs: u64,
        check: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Result<Option<(Vec<u8>, Tree)>, E> {
        let pieces = vec![Piece::Tree(self.grammar.start(), tree.derivation().clone())];
        let options = Options { runs, bytes: false, pairs: false };
        let mut failure = None;
        let mut check = check;
        let reduced =
            self.reducer.reduce(pieces, options, |bytes| check(bytes).map_err(|error| failure = Some(error)));
        if let Some(error) = failure {
            return Err(error);
        }
        let Some(Piece::Tree(_, derivation)) = reduced.pieces.into_iter().next() else { return Ok(None) };
        Ok(self.mutator.tree(derivation).ok().map(|tree| (reduced.bytes, tree)))
    }
}
