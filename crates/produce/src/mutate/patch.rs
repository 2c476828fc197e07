//! What an operation decides, carried out on the text of a derivation.
//!
//! A changed input is the old one with some bytes replaced: only what is new
//! has to be printed, and the derivation is not built at all. Most inputs
//! are run once and forgotten, so this is what a fuzzer needs. Several
//! operations can be decided on one tree and carried out together, as long
//! as they touch different bytes.

use super::edit::{Edit, With};
use super::{MAX_NODES, Mutator, Tree};
use crate::lexemes::{Layout, Printer};
use std::ops::Range;

/// An operation does not make an input longer than this, unless it was.
const LONGEST: usize = 1 << 16;

#[derive(Clone, Debug)]
struct Patch {
    /// The subtrees that the operation was about. Bytes do not tell whether
    /// two operations get into each other's way: many nodes derive none.
    nodes: Range<usize>,
    /// What goes.
    cut: Range<usize>,
    /// What comes: a stretch of the text of all.
    put: Range<usize>,
}

/// Bytes of an input that are to be replaced.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    list: Vec<Patch>,
    text: Vec<u8>,
    /// Where in it parts meet, in order.
    seams: Vec<usize>,
    joints: Vec<usize>,
    layout: Layout,
}

impl Patches {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.list.clear();
        self.text.clear();
        self.seams.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Writes the changed input of a tree to `out`, with separators where
    /// tokens would run together. Of patches that overlap, the first ones
    /// count. None where tokens cannot be kept apart.
    pub fn apply(&mut self, tree: &Tree, printer: &Printer<'_>, out: &mut Vec<u8>) -> Option<()> {
        // There are few of them.
        let mut kept: usize = 0;
        for next in 0..self.list.len() {
            let nodes = self.list[next].nodes.clone();
            let apart = |other: &Patch| other.nodes.end <= nodes.start || nodes.end <= other.nodes.start;
            if self.list[..kept].iter().all(apart) {
                self.list.swap(kept, next);
                kept += 1;
            }
        }
        self.list.truncate(kept);
        self.list.sort_unstable_by_key(|patch| patch.nodes.start);
        let input = tree.text();
        out.clear();
        self.joints.clear();
        let mut at = 0;
        for Patch { cut, put, .. } in &self.list {
            out.extend_from_slice(&input[at..cut.start]);
            self.joints.push(out.len());
            let base = out.len();
            let first = self.seams.partition_point(|seam| *seam <= put.start);
            let inside = self.seams[first..].iter().take_while(|seam| **seam < put.end);
            self.joints.extend(inside.map(|seam| base + seam - put.start));
            out.extend_from_slice(&self.text[put.clone()]);
            self.joints.push(out.len());
            at = cut.end;
        }
        out.extend_from_slice(&input[at..]);
        printer.join(out, &mut self.joints)
    }
}

impl Mutator {
    /// Adds what an edit replaces.
    pub(super) fn write(
        &mut self,
        edit: &Edit,
        tree: &Tree,
        printer: &Printer<'_>,
        patches: &mut Patches,
    ) -> Option<()> {
        let Patches { list, text, seams, layout, .. } = patches;
        let input = tree.text();
        let derivation = tree.derivation();
        let from = text.len();
        let whole = |at: usize| tree.span(&(at..derivation.end(at)));
        let mut add = |nodes: Range<usize>, cut: Range<usize>, text: &mut Vec<u8>| {
            let room = input.len() + (text.len() - from) <= LONGEST + cut.len();
            if room {
                list.push(Patch { nodes, cut, put: from..text.len() });
            } else {
                text.truncate(from);
            }
            room.then_some(())
        };
        match edit {
            Edit::Subtree { at, with } => {
                self.put(with, tree, printer, layout, text, seams)?;
                add(*at..derivation.end(*at), whole(*at), text)
            }
            Edit::Rounds { at, cut, with, .. } => {
                self.put(with, tree, printer, layout, text, seams)?;
                // A place behind the last round is not before the next node,
                // which may stand elsewhere.
                let place = match cut.is_empty() && cut.start == derivation.end(*at) {
                    true => whole(*at).end..whole(*at).end,
                    false => tree.span(cut),
                };
                add(*at..derivation.end(*at), place, text)
            }
            Edit::Recurse { outer, inner, times } => {
                let (outside, inside) = (whole(*outer), whole(*inner));
                let (before, after) = (outside.start..inside.start, inside.end..outside.end);
                let size = derivation.end(*outer) - outer;
                let fits = (MAX_NODES.saturating_sub(derivation.len())) / size.max(1);
                let times = 1 + (*times as usize).min(fits.max(usize::from(size == 0)));
                if times == 1 {
                    return None;
                }
                let copies = |part: Range<usize>| std::iter::repeat_n(part, times);
                for part in copies(before).chain([inside]).chain(copies(after)) {
                    text.extend_from_slice(&input[part]);
                    seams.push(text.len());
                }
                add(*outer..derivation.end(*outer), outside, text)
            }
            Edit::Swap { first, second } => {
                let (a, b) = (whole(*first), whole(*second));
                // One patch for both, so that they come or go together.
                for part in [b.clone(), a.end..b.start, a.clone()] {
                    text.extend_from_slice(&input[part]);
                    seams.push(text.len());
                }
                add(*first..derivation.end(*second), a.start..b.end, text)
            }
            Edit::Member { at, class, value } => {
                self.shape.grammar().class(*class).emit_value(*value, text);
                add(*at..*at + 1, whole(*at), text)
            }
        }
    }

    fn put(
        &self,
        with: &With,
        tree: &Tree,
        printer: &Printer<'_>,
        layout: &mut Layout,
        text: &mut Vec<u8>,
        seams: &mut Vec<usize>,
    ) -> Option<()> {
        match with {
            With::Nothing => {}
            With::Own { nodes, times } => {
                let own = &tree.text()[tree.span(nodes)];
                for _ in 0..*times {
                    text.extend_from_slice(own);
                    seams.push(text.len());
                }
            }
            With::Part(body) => printer.print_body(*body, &self.part, layout, text)?,
            With::Fragment(body, at) => text.extend_from_slice(&self.fragments.get(*body, *at).text),
            With::Text => text.extend_from_slice(&self.text),
        }
        Some(())
    }
}
