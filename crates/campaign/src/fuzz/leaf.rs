//! Bytes of leaves: what is changed stays in the language where the leaf's
//! rule accepts it.

use super::Campaign;
use crate::operands::Change;
use wug_produce::mutate::Tree;

/// A leaf's text does not grow beyond this.
const LONGEST: usize = 1 << 16;
/// In a grammar without tokens, nodes of so many bytes count as leaves.
const NODE: usize = 64;
/// Times that a change is tried before one is let out of the language.
const TRIES: usize = 4;

impl Campaign<'_> {
    /// Changes bytes of one leaf; whether the result is in the language. None
    /// if it is not, and may not be.
    pub(super) fn change_leaf(&mut self, origin: &[u8], tree: &Tree) -> Option<bool> {
        for last in (0..TRIES).map(|at| at + 1 == TRIES) {
            let structure = self.structure.as_ref()?;
            let place = structure.some_leaf(tree, NODE, &mut self.rng)?;
            let old = origin.get(place.clone())?;
            let mut text = std::mem::take(&mut self.text);
            text.clear();
            text.extend_from_slice(old);
            // Another place of the same input gives what is put together.
            self.havoc.bytes(&mut text, origin, &mut self.rng, LONGEST);
            let change = Change { at: place.start, len: place.len(), to: text.as_slice().into() };
            self.text = text;
            if *change.to == *old {
                continue;
            }
            if let done @ Some(_) = self.put(&change, origin, tree, last && self.share.permits(true)) {
                return done;
            }
        }
        None
    }

    /// Makes a change, on the leaf that it lies in where that keeps the input
    /// in the language, else on its bytes; whether the result is in the
    /// language. None if it is not, and may not be.
    pub(super) fn put(
        &mut self,
        change: &Change,
        origin: &[u8],
        tree: &Tree,
        careless: bool,
    ) -> Option<bool> {
        let structure = self.structure.as_mut()?;
        if structure.put(change, tree, &mut self.made) && structure.print(&self.made, &mut self.input) {
            return Some(true);
        }
        change.apply(origin, &mut self.input);
        let valid = structure.parse(&self.input).is_ok();
        (valid || careless).then_some(valid)
    }
}
