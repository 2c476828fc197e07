//! Reduction: the smallest input that still does something.
//!
//! In:  an input, as a derivation or in pieces, and a predicate.
//! Out: a smaller one that fulfils the predicate, and how many runs of the
//!      predicate that took.
//!
//! A derivation is reduced along its tree, so that all candidates are
//! inputs of the grammar. The result is minimal: no single subtree can be
//! left out (an element of a list, an optional part, the rest of an
//! alternative that is shorter), nor give way to the shortest derivation of
//! its rule or to a subtree of its own; no lexeme to a shorter one of its
//! token, and nothing between tokens can be shorter.
//!
//! | file | what |
//! | --- | --- |
//! | `trial` | runs of the predicate: counted, bounded, none twice |
//! | `ddmin` | delta debugging over any list |
//! | `tree` | the tree and attempts on it |
//! | `cuts` | smaller subtrees in the place of larger ones |
//! | `lists` | fewer rounds of repetitions |
//! | `texts` | shorter tokens, less between them |
//! | `shortest` | the shortest derivation of everything |
//! | `wraps` | how a subtree can stand where another body is asked for |
//! | `bytes` | bytes without structure |
//!
//! Large cuts come first. Each step that is kept makes the input shorter,
//! and passes go on until none does, so reduction ends; the bound on runs
//! ends it earlier. Nothing recurses on the native stack.
//!
//! An input that does not parse comes in pieces: subtrees, and raw bytes
//! between them. Pieces are left out, subtrees are reduced as trees, raw
//! bytes as bytes. Without a grammar, an input is one raw piece.

mod bytes;
mod cuts;
mod ddmin;
mod lists;
mod shortest;
mod texts;
mod tree;
mod trial;
mod wraps;

use crate::lexemes::Printer;
use shortest::Shortest;
use tree::Search;
use trial::{Stop, Trial};
use wug_grammar::lexical::TooLarge;
use wug_grammar::{Derivation, Grammar, RuleId};

/// A part of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// What a rule derives.
    Tree(RuleId, Derivation),
    /// Bytes of which nothing is known.
    Raw(Vec<u8>),
}

/// How far a reduction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// At most so many runs of the predicate.
    pub runs: u64,
    /// Afterwards leave out single bytes, even if the result is no longer an
    /// input of the grammar.
    pub bytes: bool,
    /// Where bytes are left out, try pairs of them, too.
    pub pairs: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { runs: 100_000, bytes: false, pairs: true }
    }
}

/// Why a reduction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<E> {
    /// Nothing more can be left out.
    Minimal,
    /// The bound on runs was met, or no new candidate was found in a
    /// minute or so.
    Runs,
    /// The predicate said so.
    Stopped(E),
    /// The input does not fulfil the predicate; it comes back as it was.
    Boring,
}

/// What a reduction came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced<E> {
    /// The smallest input that was found.
    pub bytes: Vec<u8>,
    /// The same in pieces.
    pub pieces: Vec<Piece>,
    /// Runs of the predicate, that on the input itself included.
    pub runs: u64,
    /// Why it ended.
    pub end: End<E>,
}

/// Reduces inputs of one grammar; immutable, shared between threads.
#[derive(Debug)]
pub struct Reducer<'g> {
    printer: Printer<'g>,
    shortest: Shortest<'g>,
}

impl<'g> Reducer<'g> {
    /// Prepares `grammar`, as it is written.
    pub fn new(grammar: &'g Grammar) -> Result<Reducer<'g>, TooLarge> {
        let printer = Printer::new(grammar)?;
        let shortest = Shortest::of(grammar, printer.lexicon());
        Ok(Reducer { printer, shortest })
    }

    fn grammar(&self) -> &'g Grammar {
        self.printer.grammar()
    }

    /// Reduces an input in pieces. `check` says whether bytes still do what
    /// is of interest; an error from it ends the reduction, with the
    /// smallest input so far.
    pub fn reduce<E>(
        &self,
        pieces: Vec<Piece>,
        options: Options,
        check: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Reduced<E> {
        run(Some(self), pieces, options, check)
    }
}

/// Reduces bytes of which nothing is known.
pub fn reduce_bytes<E>(
    input: &[u8],
    options: Options,
    check: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Reduced<E> {
    run(None, vec![Piece::Raw(input.to_vec())], options, check)
}

fn run<E>(
    reducer: Option<&Reducer<'_>>,
    mut pieces: Vec<Piece>,
    options: Options,
    mut check: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Reduced<E> {
    let mut error = None;
    let mut wrapped = |bytes: &[u8]| match check(bytes) {
        Ok(holds) => Some(holds),
        Err(e) => {
            error = Some(e);
            None
        }
    };
    let texts: Vec<Vec<u8>> = pieces.iter_mut().map(|piece| text(reducer, piece)).collect();
    let mut trial = Trial::new(texts.concat(), options.runs, &mut wrapped);
    let mut all = Pieces { reducer, options, pieces, texts };
    let end = match trial.begin() {
        Ok(false) => Ok(false),
        Ok(true) => all.run(&mut trial).map(|()| true),
        Err(Stop) => Err(Stop),
    };
    let (bytes, runs) = (std::mem::take(&mut trial.best), trial.runs);
    let end = match (end, error) {
        (Ok(true), _) => End::Minimal,
        (Ok(false), _) => End::Boring,
        (Err(Stop), Some(error)) => End::Stopped(error),
        (Err(Stop), None) => End::Runs,
    };
    let mut pieces = all.pieces;
    if all.texts.concat() != bytes {
        // It ended in the middle of something.
        pieces = vec![Piece::Raw(bytes.clone())];
    }
    Reduced { bytes, pieces, runs, end }
}

/// The bytes of a piece; one that does not print is raw from now on.
fn text(reducer: Option<&Reducer<'_>>, piece: &mut Piece) -> Vec<u8> {
    let mut out = Vec::new();
    match (&piece, reducer) {
        (Piece::Raw(bytes), _) => out.clone_from(bytes),
        (Piece::Tree(rule, derivation), Some(reducer)) => {
            if derivation.print_from(reducer.grammar(), *rule, &mut out).is_err() {
                *piece = Piece::Raw(out.clone());
            }
        }
        (Piece::Tree(..), None) => {}
    }
    out
}

/// An input in pieces, with their bytes.
struct Pieces<'a, 'g> {
    reducer: Option<&'a Reducer<'g>>,
    options: Options,
    pieces: Vec<Piece>,
    texts: Vec<Vec<u8>>,
}

impl Pieces<'_, '_> {
    fn run(&mut self, trial: &mut Trial<'_>) -> Result<(), Stop> {
        loop {
            let before = trial.best.len();
            if self.pieces.len() > 1 {
                self.fewer(trial)?;
            }
            for at in 0..self.pieces.len() {
                self.piece(trial, at)?;
            }
            if self.pieces.len() < 2 || trial.best.len() == before {
                break;
            }
        }
        if self.options.bytes && self.pieces.iter().any(|piece| matches!(piece, Piece::Tree(..))) {
            let before = trial.best.clone();
            trial.before.clear();
            trial.behind.clear();
            let after = bytes::reduce(trial, before.clone(), self.options.pairs)?;
            if after != before {
                self.texts = vec![after.clone()];
                self.pieces = vec![Piece::Raw(after)];
            }
        }
        Ok(())
    }

    /// Leaves pieces out.
    fn fewer(&mut self, trial: &mut Trial<'_>) -> Result<(), Stop> {
        trial.before.clear();
        trial.behind.clear();
        let mut out = Vec::new();
        let kept = ddmin::ddmin(self.pieces.len(), 0, &mut |kept| {
            out.clear();
            kept.iter().for_each(|&at| out.extend_from_slice(&self.texts[at]));
            trial.test(&out)
        })?;
        self.pieces = kept.iter().map(|&at| self.pieces[at].clone()).collect();
        self.texts = kept.iter().map(|&at| std::mem::take(&mut self.texts[at])).collect();
        Ok(())
    }

    /// Reduces one piece.
    fn piece(&mut self, trial: &mut Trial<'_>, at: usize) -> Result<(), Stop> {
        trial.before = self.texts[..at].concat();
        trial.behind = self.texts[at + 1..].concat();
        match (&mut self.pieces[at], self.reducer) {
            (Piece::Tree(rule, derivation), Some(reducer)) => {
                let Some(mut search) = Search::new(reducer, trial, *rule, derivation.clone()) else {
                    return Ok(());
                };
                let ended = search.run();
                *derivation = std::mem::take(&mut search.tree.derivation);
                self.texts[at] = std::mem::take(&mut search.tree.bytes);
                ended
            }
            (Piece::Raw(bytes), _) => {
                let shorter = bytes::reduce(trial, std::mem::take(bytes), self.options.pairs)?;
                self.texts[at].clone_from(&shorter);
                *bytes = shorter;
                Ok(())
            }
            (Piece::Tree(..), None) => Ok(()),
        }
    }
}

impl Search<'_, '_, '_> {
    /// Reduces the tree until nothing gives way.
    fn run(&mut self) -> Result<(), Stop> {
        self.tighten()?;
        loop {
            while self.cut(false)? {}
            let shorter = self.shorten()?;
            if !self.cut(true)? && !shorter {
                return Ok(());
            }
        }
    }
}
