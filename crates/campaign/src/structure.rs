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
use wug_produce::mutate::{Mutator, Op, Patches, Tree};
use wug_produce::reduce::{Options, Piece, Reducer};
use wug_random::Rng;

/// What an input may take to be parsed: inputs are a mebibyte at most.
const LIMITS: Limits = Limits { memory: 256 << 20, steps: 20_000_000 };
/// Depth and nodes of generated inputs at most: variety against size.
const DEPTH: u32 = 12;
const NODES: u32 = 400;
/// The same where inputs are as long as they come, as in Gramatron.
const ANY_DEPTH: u32 = 1 << 12;
const ANY_NODES: u32 = 1 << 14;
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
    patches: Patches,
    /// A derivation on its way to a text.
    made: Derivation,
    /// Changes trees.
    pub mutator: Mutator,
    /// Whether generated inputs are as long as they come.
    any_length: bool,
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
            patches: Patches::default(),
            made: Derivation::default(),
            mutator: Mutator::new(grammar).map_err(Useless::Nothing)?,
            any_length: false,
        })
    }

    /// The same, with generated inputs as long as they come.
    pub fn of_any_length(self) -> Structure<'g> {
        Structure { any_length: true, ..self }
    }

    /// The tree of an input, or why there is none.
    pub fn parse(&mut self, input: &[u8]) -> Result<Tree, Failure> {
        let parsed = self.parser.parse(input, &mut self.cache, LIMITS)?;
        // The parser gives derivations of its own grammar, so they fit.
        Ok(self.mutator.tree(parsed.derivation).unwrap_or_default())
    }

    /// Replaces `out` by a generated input; whether there is one in which
    /// tokens do not run together.
    pub fn generate(&mut self, rng: &mut Rng, out: &mut Vec<u8>) -> bool {
        let (depth, nodes) = match self.any_length {
            true => (ANY_DEPTH, ANY_NODES as usize),
            false => (1 + rng.below(DEPTH), 1 + rng.below(NODES) as usize),
        };
        self.mutator.fresh(depth, nodes, rng, &mut self.made).is_some() && self.print(out)
    }

    /// Replaces `out` by the input of a mutated tree; whether there is one in
    /// which tokens do not run together.
    pub fn mutate(&mut self, op: Op, tree: &Tree, rng: &mut Rng, out: &mut Vec<u8>) -> bool {
        self.mutator.mutate(op, tree, rng, &mut self.made).is_some() && self.print(out)
    }

    fn print(&mut self, out: &mut Vec<u8>) -> bool {
        out.clear();
        self.printer.print(&self.made, &mut self.layout, out).is_some()
    }

    /// A place for a change of bytes: that of a token, or in a grammar without
    /// tokens that of a node of at most `most` bytes.
    pub fn some_leaf(&self, tree: &Tree, most: usize, rng: &mut Rng) -> Option<Range<usize>> {
        match self.grammar.has_tokens() {
            true => self.mutator.some_token(tree, rng),
            false => tree.pick_span(most, rng),
        }
    }

    /// Replaces `out` by a change of `input` inside one token, if the result is
    /// a lexeme of it.
    pub fn put(&mut self, change: &Change, input: &[u8], tree: &Tree, out: &mut Vec<u8>) -> bool {
        let bytes = change.at..change.at + change.len;
        if !self.printer.joins() || tree.text() != input {
            return false;
        }
        let Some(token) = self.mutator.accepts(tree, bytes, &change.to) else { return false };
        change.apply(input, out);
        let end = token.end + change.to.len() - change.len;
        self.printer.join(out, &mut [token.start, end]).is_some()
    }

    /// Whether the grammar has tokens.
    pub fn has_tokens(&self) -> bool {
        self.grammar.has_tokens()
    }

    /// Whether operations can be carried out on texts alone, which is quicker.
    pub fn can_patch(&self) -> bool {
        self.printer.joins()
    }

    /// Decides what an operation replaces; how many have decided so far.
    pub fn patch(&mut self, op: Op, tree: &Tree, rng: &mut Rng) -> usize {
        let _ = self.mutator.patch(op, tree, rng, &self.printer, &mut self.patches);
        self.patches.len()
    }

    /// Carries out what was decided on `tree`, and replaces `out` by the
    /// result; how many operations that were. None if nothing can be changed
    /// so.
    pub fn patched(&mut self, tree: &Tree, out: &mut Vec<u8>) -> Option<u32> {
        let done = match self.patches.is_empty() {
            true => None,
            false => self.patches.apply(tree, &self.printer, out),
        };
        let count = self.patches.len() as u32;
        self.patches.clear();
        done.map(|()| count)
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
