//! Another rest: Gramatron's mutations of walks, on derivations.
//!
//! In:  a derivation, and perhaps another of the same grammar.
//! Out: one that is the same up to some point, and goes another way from there
//!      on: drawn afresh ("random"), or as the other one goes on ("splice").
//!
//! An automaton's state is what is still to be derived. In a derivation, behind
//! a node, that is what the nodes above it still need: the symbols behind, and
//! further rounds of repetitions. So two points are in the same state if all of
//! that is the same; nodes that need nothing more do not count, as on an
//! automaton's stack.

use super::draw::Bounds;
use super::edit::{Edit, With};
use super::shape::Shape;
use super::{FRESH_DEPTH, FRESH_NODES, Mutator, Tree, rounds};
use crate::recursive::Frame;
use wug_grammar::derivation::{Derivation, Forwards, Node};
use wug_grammar::{RepeatId, Symbol, count};
use wug_random::Rng;

/// Points of the own derivation that are tried with one of another.
const TRIES: u32 = 8;

/// What a node still needs behind one of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    /// Symbols of an alternative.
    Symbols { next: u32, end: u32 },
    /// Rounds of a repetition; there may always be more.
    Rounds(RepeatId),
}

impl Pending {
    fn is_nothing(self) -> bool {
        matches!(self, Pending::Symbols { next, end } if next == end)
    }

    fn hash(self) -> u64 {
        match self {
            Pending::Symbols { next, end } => u64::from(next) << 32 | u64::from(end),
            Pending::Rounds(repeat) => u64::MAX << 32 | u64::from(repeat.0),
        }
    }
}

/// A node above a point.
#[derive(Clone, Copy, Debug)]
struct Level {
    node: usize,
    /// The child of it in which the point lies, and how many came before.
    child: usize,
    before: u32,
    pending: Pending,
}

/// Room for points and their states.
#[derive(Debug, Default)]
pub(super) struct Points {
    own: Vec<u64>,
    other: Vec<u64>,
    open: Vec<Open>,
}

/// A node whose children are being looked at.
#[derive(Clone, Copy, Debug)]
struct Open {
    end: usize,
    state: u64,
    /// The next symbol, or the repetition.
    at: Children,
}

#[derive(Clone, Copy, Debug)]
enum Children {
    Of { next: u32, end: u32 },
    Rounds(RepeatId),
}

impl Children {
    /// The symbol of the next child that is a node, and what comes behind it.
    fn next(&mut self, shape: &Shape) -> (Option<Symbol>, Pending) {
        match self {
            Children::Rounds(repeat) => (None, Pending::Rounds(*repeat)),
            Children::Of { next, end } => {
                let mut symbol = None;
                while *next < *end {
                    let here = shape.grammar().symbol(*next);
                    *next += 1;
                    if shape.program.leaves || !matches!(here, Symbol::Bytes(_)) {
                        symbol = Some(here);
                        break;
                    }
                }
                (symbol, Pending::Symbols { next: *next, end: *end })
            }
        }
    }
}

/// What the children of a node are; None if it has none.
fn children(shape: &Shape, node: Node, symbol: Option<Symbol>) -> Option<Children> {
    match (node, symbol) {
        (Node::Alternative(alt), _) => {
            let alternative = shape.grammar().alternative(alt);
            Some(Children::Of { next: alternative.first, end: alternative.end })
        }
        (Node::Repeat(_), Some(Symbol::Repeat(repeat))) => Some(Children::Rounds(repeat)),
        _ => None,
    }
}

/// A number for the state behind each node; 0 behind none that counts.
fn states(shape: &Shape, of: &Derivation, open: &mut Vec<Open>, out: &mut Vec<u64>) {
    out.clear();
    open.clear();
    for at in 0..of.len() {
        while open.last().is_some_and(|open| open.end <= at) {
            open.pop();
        }
        let node = of.node(at);
        let (mut state, mut symbol) = (1, None);
        if let (Some(above), false) = (open.last_mut(), matches!(node, Node::Skipped(_))) {
            let (met, pending) = above.at.next(shape);
            symbol = met;
            state = match pending.is_nothing() {
                true => above.state,
                false => wug_random::mix(above.state ^ pending.hash().rotate_left(17)),
            };
        }
        out.push(if at == 0 || matches!(node, Node::Skipped(_)) { 0 } else { state.max(1) });
        if let Some(at_children) = children(shape, node, symbol) {
            open.push(Open { end: of.end(at), state, at: at_children });
        }
    }
}

/// The nodes above a node, outermost first, with what each still needs.
fn levels(shape: &Shape, of: &Derivation, node: usize) -> Vec<Level> {
    let path = of.above(node);
    let mut symbol = None;
    let mut levels = Vec::with_capacity(path.len());
    for (place, &above) in path.iter().enumerate() {
        let child = path.get(place + 1).copied().unwrap_or(node);
        let Some(mut at) = children(shape, of.node(above), symbol) else { return Vec::new() };
        let counted = |&n: &usize| !matches!(of.node(n), Node::Skipped(_));
        let before = of.children(above).filter(counted).take_while(|&n| n != child).count() as u32;
        let mut pending = Pending::Symbols { next: 0, end: 0 };
        for _ in 0..=before {
            (symbol, pending) = at.next(shape);
            if matches!(at, Children::Rounds(_)) {
                break;
            }
        }
        levels.push(Level { node: above, child, before, pending });
    }
    levels
}

impl Mutator {
    /// The same up to some point, then drawn afresh.
    pub(super) fn fresh_rest(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let derivation = tree.derivation();
        let node = some_node(derivation, rng)?;
        let levels = levels(&self.shape, derivation, node);
        let most = 1 + rng.below(FRESH_NODES);
        let bounds = Bounds { depth: rng.below(FRESH_DEPTH + 1), nodes: 1 + rng.below(most) as usize };
        let left = Some(bounds.depth).filter(|&depth| depth > 0);
        let grammar = self.shape.grammar();
        let out = &mut Forwards::new(&mut self.part);
        out.graft(derivation, 0..derivation.end(node));
        let mut frames = Vec::with_capacity(2 * levels.len());
        for level in &levels {
            frames.push(Frame::Close);
            match level.pending {
                Pending::Symbols { next, end } => frames.push(Frame::Symbols { next, end, left }),
                Pending::Rounds(id) => {
                    let repeat = *grammar.repeat(id);
                    let done = level.before + 1;
                    let least = repeat.min.max(done);
                    let all = match left {
                        Some(_) => least.saturating_add(count::extra(rng.bits(), least, repeat.max)),
                        None => least,
                    };
                    out.set_count(level.node, all);
                    if all > done {
                        frames.push(Frame::Repeat { body: repeat.body, times: all - done, left });
                    }
                }
            }
        }
        let open = levels.iter().map(|level| level.node);
        self.draw.rest((&self.shape, &mut self.lexemes), open, frames, bounds, rng, out)?;
        self.whole(tree)
    }

    /// The same up to some point, then as another input goes on from a point
    /// in the same state.
    pub(super) fn other_rest(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Edit> {
        let derivation = tree.derivation();
        let body = self.shape.grammar().rule(self.shape.grammar().start()).body;
        let other = self.fragments.draw(body, rng)?;
        let other = &self.fragments.get(body, other).derivation;
        let Points { own, other: others, open } = &mut self.points;
        states(&self.shape, derivation, open, own);
        states(&self.shape, other, open, others);
        for _ in 0..TRIES {
            let node = some_node(derivation, rng)?;
            let state = own[node];
            let same = |&(_, other): &(usize, &u64)| state != 0 && *other == state;
            let count = others.iter().enumerate().filter(same).count() as u32;
            if count == 0 {
                continue;
            }
            let drawn = rng.below(count) as usize;
            let Some((from, _)) = others.iter().enumerate().filter(same).nth(drawn) else { continue };
            let ours = levels(&self.shape, derivation, node);
            let theirs = levels(&self.shape, other, from);
            let out = &mut Forwards::new(&mut self.part);
            out.graft(derivation, 0..derivation.end(node));
            if join(&self.shape, &ours, (other, &theirs), out) {
                return self.whole(tree);
            }
        }
        None
    }

    /// The whole derivation by the mutator's part.
    fn whole(&self, tree: &Tree) -> Option<Edit> {
        let body = self.shape.grammar().rule(self.shape.grammar().start()).body;
        Some(Edit::subtree(tree, 0, With::Part(body)))
    }
}

/// Closes what is open in `out`, with what the other derivation has for it;
/// whether the two are in the same state.
fn join(
    shape: &Shape,
    ours: &[Level],
    (other, theirs): (&Derivation, &[Level]),
    out: &mut Forwards<'_>,
) -> bool {
    let mut theirs = theirs.iter().rev().filter(|level| !level.pending.is_nothing());
    for level in ours.iter().rev() {
        if !level.pending.is_nothing() {
            let Some(from) = theirs.next().filter(|from| from.pending == level.pending) else { return false };
            if let Pending::Rounds(id) = level.pending {
                let repeat = shape.grammar().repeat(id);
                let more = rounds(other, from.node).saturating_sub(from.before + 1);
                let all = (level.before + 1).saturating_add(more);
                if all < repeat.min || repeat.max.is_some_and(|max| all > max) {
                    return false;
                }
                out.set_count(level.node, all);
            }
            out.graft(other, other.end(from.child)..other.end(from.node));
        }
        out.close(level.node);
    }
    theirs.next().is_none()
}

/// Some node behind which a point lies.
fn some_node(of: &Derivation, rng: &mut Rng) -> Option<usize> {
    let below = of.len().checked_sub(1).filter(|&below| below > 0)?;
    let node = 1 + rng.below(below as u32) as usize;
    (!matches!(of.node(node), Node::Skipped(_))).then_some(node)
}
