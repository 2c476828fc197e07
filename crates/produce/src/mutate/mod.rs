//! Changes to a derivation that keep the input in the language.
//!
//! In:  a [`Tree`]: a derivation by the grammar that its author wrote, as
//!      the parser gives it; an [`Op`]; random bits.
//! Out: another derivation by the same grammar.
//!
//! | file | what |
//! | --- | --- |
//! | `shape` | what is known of a grammar beforehand |
//! | `tree` | where in a derivation something can be changed |
//! | `draw` | fresh derivations of a symbol |
//! | `fragments` | subtrees of other inputs |
//! | `lexemes` | texts of tokens |
//! | `ops`, `exchange`, `rest` | the operations: what each decides |
//! | `edit` | a decision, carried out on a derivation |
//! | `patch` | the same on its text alone, which is quicker |
//!
//! The grammar as written, not the lowered one: inputs that people have are
//! read by it, with their white space and comments. Tokens that would run
//! together are parted when a derivation is printed.
//!
//! Hardly anything is allocated for a mutation once buffers have grown: the
//! levels above a point in `rest`, and no more.

mod draw;
mod edit;
mod exchange;
mod fragments;
mod lexemes;
mod ops;
mod patch;
mod rest;
mod shape;
mod tree;

pub use patch::Patches;
pub use shape::Shape;
pub use tree::{Leaf, Tree};

use crate::lexemes::Printer;
use draw::{Bounds, Draw};
use edit::Edit;
use fragments::Fragments;
use lexemes::Lexemes;
use rest::Points;
use std::ops::Range;
use wug_grammar::derivation::{Derivation, Forwards, Misfit, Node, Part};
use wug_grammar::{Diagnostic, Grammar, RuleId};
use wug_random::Rng;

/// A way to change a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A fresh subtree in the place of one.
    Fresh,
    /// A subtree of another input that derives the same.
    Splice,
    /// A subtree by one inside it that derives the same.
    Shrink,
    /// A recursion repeated.
    Recurse,
    /// Two subtrees that derive the same change places.
    Swap,
    /// Rounds of a repetition left out.
    Drop,
    /// Rounds of a repetition repeated.
    Repeat,
    /// A fresh or foreign round put into a repetition.
    Insert,
    /// Another alternative; what fits of the old one stays.
    Exchange,
    /// Another text of a token, or member of a class.
    Lexeme,
    /// The same up to some point, then drawn afresh: Gramatron's random
    /// mutation.
    Rest,
    /// The same up to some point, then as another input goes on from the same
    /// state: Gramatron's splicing.
    Tail,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 12] = [
        Op::Fresh,
        Op::Splice,
        Op::Shrink,
        Op::Recurse,
        Op::Swap,
        Op::Drop,
        Op::Repeat,
        Op::Insert,
        Op::Exchange,
        Op::Lexeme,
        Op::Rest,
        Op::Tail,
    ];

    /// Whether it is one of Gramatron's, which change large parts: random
    /// mutation, splicing and recursion, of rules or of repetitions.
    pub fn is_gramatrons(self) -> bool {
        matches!(self, Op::Rest | Op::Tail | Op::Recurse | Op::Repeat)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Op::Fresh => "fresh",
            Op::Splice => "splice",
            Op::Shrink => "shrink",
            Op::Recurse => "recurse",
            Op::Swap => "swap",
            Op::Drop => "drop",
            Op::Repeat => "repeat",
            Op::Insert => "insert",
            Op::Exchange => "exchange",
            Op::Lexeme => "lexeme",
            Op::Rest => "rest",
            Op::Tail => "tail",
        }
    }
}

/// Derivations that are made have at most about so many nodes, unless they
/// are made from a larger one: a few thousand bytes.
const MAX_NODES: usize = 1 << 14;
/// What a fresh subtree may have before it is brought to an end.
const FRESH_NODES: u32 = 256;
const FRESH_DEPTH: u32 = 6;

/// Changes derivations of one grammar.
#[derive(Debug)]
pub struct Mutator {
    shape: Shape,
    lexemes: Lexemes,
    fragments: Fragments,
    draw: Draw,
    points: Points,
    /// What is being put into place.
    part: Derivation,
    /// A derivation on the way to another.
    between: Derivation,
    text: Vec<u8>,
}

impl Mutator {
    /// Appends some lexeme of a token's rule; whether there is one.
    pub fn append_lexeme(&mut self, rule: RuleId, rng: &mut Rng, out: &mut Vec<u8>) -> bool {
        let text = self.lexemes.draw(&self.shape, rule, rng);
        text.map(|text| out.extend_from_slice(text)).is_some()
    }

    /// Prepares a grammar as its author wrote it.
    pub fn new(grammar: &Grammar) -> Result<Mutator, Box<Diagnostic>> {
        let shape = Shape::of(grammar)?;
        Ok(Mutator {
            lexemes: Lexemes::new(&shape),
            fragments: Fragments::new(&shape),
            shape,
            draw: Draw::default(),
            points: Points::default(),
            part: Derivation::default(),
            between: Derivation::default(),
            text: Vec::new(),
        })
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        self.shape.grammar()
    }

    /// Looks at a derivation of the grammar.
    pub fn tree(&self, derivation: Derivation) -> Result<Tree, Misfit> {
        Tree::of(&self.shape, derivation)
    }

    /// Keeps parts of an input for others.
    pub fn learn(&mut self, tree: &Tree, rng: &mut Rng) {
        self.fragments.learn(tree, rng);
        for (node, leaf) in tree.leaves() {
            if let Leaf::Token(rule) = leaf {
                self.lexemes.add(rule, tree.derivation().text(node), rng);
            }
        }
    }

    /// Keeps a text for all tokens that it is a lexeme of; whether there is
    /// one.
    pub fn learn_text(&mut self, text: &[u8], rng: &mut Rng) -> bool {
        self.lexemes.offer(&self.shape, text, rng)
    }

    /// Whether a text is a lexeme of a token.
    pub fn is_lexeme(&self, rule: RuleId, text: &[u8]) -> bool {
        lexemes::is_lexeme(&self.shape, rule, text)
    }

    /// Some token that could have another text, and the place of its bytes in
    /// the input. None in a grammar without tokens.
    pub fn some_token(&self, tree: &Tree, rng: &mut Rng) -> Option<Range<usize>> {
        match tree.pick_leaf(rng)? {
            (node, Leaf::Token(_)) => Some(tree.derivation().text_place(node)),
            _ => None,
        }
    }

    /// The token that some bytes of an input lie in, if with others in their
    /// place it is still a lexeme of the same rule.
    pub fn accepts(&mut self, tree: &Tree, bytes: Range<usize>, put: &[u8]) -> Option<Range<usize>> {
        let (node, place) = tree.derivation().owner(bytes.start)?;
        let Leaf::Token(rule) = tree.leaf(node)? else { return None };
        if bytes.end > place.end {
            return None;
        }
        let old = tree.derivation().text(node);
        self.text.clear();
        self.text.extend_from_slice(&old[..bytes.start - place.start]);
        self.text.extend_from_slice(put);
        self.text.extend_from_slice(&old[bytes.end - place.start..]);
        lexemes::is_lexeme(&self.shape, rule, &self.text).then_some(place)
    }

    /// A fresh input, free for `depth` levels and about `nodes` nodes. None
    /// if a token has no lexeme.
    pub fn fresh(&mut self, depth: u32, nodes: usize, rng: &mut Rng, out: &mut Derivation) -> Option<()> {
        let bounds = Bounds { depth, nodes };
        self.draw.start((&self.shape, &mut self.lexemes), bounds, rng, &mut Forwards::new(out))
    }

    /// Changes a derivation. None where there is nothing to change so, or
    /// the result would be too large.
    pub fn mutate(&mut self, op: Op, tree: &Tree, rng: &mut Rng, out: &mut Derivation) -> Option<()> {
        let edit = self.decide(op, tree, rng)?;
        self.rebuild(&edit, tree, out)
    }

    /// As [`Mutator::mutate`], on the text of a tree: only what is changed is
    /// printed. Adds to `patches` what is to be replaced; nothing is added
    /// where there is nothing to change so.
    pub fn patch(
        &mut self,
        op: Op,
        tree: &Tree,
        rng: &mut Rng,
        printer: &Printer<'_>,
        patches: &mut Patches,
    ) -> Option<()> {
        let edit = self.decide(op, tree, rng)?;
        self.write(&edit, tree, printer, patches)
    }

    /// What an operation is going to do.
    fn decide(&mut self, op: Op, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        match op {
            Op::Fresh => self.fresh_subtree(tree, rng),
            Op::Splice => self.splice(tree, rng),
            Op::Shrink => self.shrink(tree, rng),
            Op::Recurse => self.recurse(tree, rng),
            Op::Swap => self.swap(tree, rng),
            Op::Drop => self.drop_rounds(tree, rng),
            Op::Repeat => self.repeat_rounds(tree, rng),
            Op::Insert => self.insert_round(tree, rng),
            Op::Exchange => self.exchange(tree, rng),
            Op::Lexeme => self.lexeme(tree, rng),
            Op::Rest => self.fresh_rest(tree, rng),
            Op::Tail => self.other_rest(tree, rng),
        }
    }
}

/// Replaces the subtree of `at`.
fn replace(of: &Derivation, at: usize, part: &Part<'_>, out: &mut Derivation) -> Option<()> {
    if of.len() + part.nodes.len() > MAX_NODES + (of.end(at) - at) {
        return None;
    }
    of.rebuild(of.parent(at), at..of.end(at), std::slice::from_ref(part), out);
    Some(())
}

/// The count of a repetition.
fn rounds(of: &Derivation, at: usize) -> u32 {
    match of.node(at) {
        Node::Repeat(count) => count,
        _ => 0,
    }
}
