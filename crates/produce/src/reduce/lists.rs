//! Fewer rounds of a repetition.
//!
//! Often the first element of a list stands before the repetition, or the
//! last one behind it: `element ("," element)*`. Then all are one list, and
//! where that element is left out, one of a round takes its place.

use super::ddmin::ddmin;
use super::tree::{Search, Tree};
use super::trial::Stop;
use crate::lexemes::Spacing;
use wug_grammar::derivation::{Node, Part, Place};
use wug_grammar::{Derivation, Grammar};

/// The elements of a list.
struct List {
    /// The repetition and its rounds.
    at: usize,
    rounds: Vec<usize>,
    /// The element beside it, and what in each round can take its place.
    beside: Option<(usize, Vec<usize>)>,
}

impl Search<'_, '_, '_> {
    /// Leaves out rounds of the repetition at `at`.
    pub fn list(&mut self, at: usize) -> Result<(), Stop> {
        let Place::Repeat(repeat) = self.tree.facts[at].place else { return Ok(()) };
        let least = self.reducer.grammar().repeat(repeat).min as usize;
        let rounds: Vec<usize> = self.tree.derivation.children(at).collect();
        // Rounds without bytes can be left out as well.
        let list = List { at, beside: beside(&self.tree, self.reducer.grammar(), at, &rounds), rounds };
        let whole = self.tree.derivation.clone();
        let (parent, elements) = match &list.beside {
            Some((element, _)) => (self.tree.facts[*element].parent as usize, list.rounds.len() + 1),
            None => (at, list.rounds.len()),
        };
        let least = least + usize::from(list.beside.is_some());
        let (mut middle, mut out) = (Derivation::default(), Derivation::default());
        ddmin(elements, least, &mut |kept| {
            list.without(&whole, parent, kept, &mut middle, &mut out);
            self.attempt(&out, Spacing::Keep)
        })?;
        Ok(())
    }
}

impl List {
    /// Writes to `out` the derivation with these elements only.
    fn without(
        &self,
        whole: &Derivation,
        parent: usize,
        kept: &[usize],
        middle: &mut Derivation,
        out: &mut Derivation,
    ) {
        let Some((element, others)) = &self.beside else {
            return self.rounds(whole, kept.iter().copied(), out);
        };
        let first = *element < self.at;
        // Numbers of rounds among the elements, and the one that is beside.
        let (own, shift) = if first { (0, 1) } else { (self.rounds.len(), 0) };
        let rounds = kept.iter().filter(|&&k| k != own).map(|&k| k - shift);
        if kept.contains(&own) {
            return self.rounds(whole, rounds, out);
        }
        let taken = if first { rounds.clone().next() } else { rounds.clone().next_back() };
        let Some(taken) = taken else { return self.rounds(whole, rounds, out) };
        let part = [Part::subtree(whole, others[taken])];
        let cut = *element..whole.end(*element);
        // What comes later is changed first: so numbers stay as they are.
        let left = rounds.filter(|&round| round != taken);
        if first {
            self.rounds(whole, left, middle);
            middle.rebuild(Some(parent), cut, &part, out);
        } else {
            whole.rebuild(Some(parent), cut, &part, middle);
            self.rounds(middle, left, out);
        }
    }

    fn rounds(&self, whole: &Derivation, kept: impl Iterator<Item = usize>, out: &mut Derivation) {
        let parts: Vec<Part<'_>> = kept.map(|round| Part::subtree(whole, self.rounds[round])).collect();
        whole.rebuild(Some(self.at), self.at + 1..whole.end(self.at), &parts, out);
        out.set_count(self.at, parts.len() as u32);
    }
}

/// The element beside a repetition, and those in its rounds that derive the
/// same.
fn beside(tree: &Tree, grammar: &Grammar, at: usize, rounds: &[usize]) -> Option<(usize, Vec<usize>)> {
    let derivation = &tree.derivation;
    let parent = tree.facts[at].parent as usize;
    if parent == at || rounds.is_empty() {
        return None;
    }
    let siblings: Vec<usize> = derivation.children(parent).collect();
    let place = siblings.iter().position(|&child| child == at)?;
    let element = |&child: &usize| match tree.facts[child].place {
        Place::Body(_) => true,
        Place::Token(rule) => grammar.rule(rule).is_token(),
        _ => false,
    };
    // The nearest before it, else the nearest behind it.
    let before = siblings[..place].iter().rev().copied();
    let behind = siblings[place + 1..].iter().copied();
    before.chain(behind).filter(element).find_map(|element| {
        let wanted = tree.facts[element].place;
        let same = |&round: &usize| {
            (round..derivation.end(round)).find(|&node| {
                tree.facts[node].place == wanted && !matches!(derivation.node(node), Node::Skipped(_))
            })
        };
        let others: Option<Vec<usize>> = rounds.iter().map(same).collect();
        others.map(|others| (element, others))
    })
}
