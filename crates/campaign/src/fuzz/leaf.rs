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
    /// Changes bytes of one leaf; whether the result is sure to be in the
    /// language. None if it is not, and may not be.
    pub(super) fn change_leaf(&mut self, origin: &[u8], tree: &Tree) -> Option<bool> {
        let structure = self.structure.as_mut()?;
        // Without tokens only the parser could tell, which takes longer than
        // to run the input.
        let tries = if structure.has_tokens() { TRIES } else { 1 };
        for left in (0..tries).rev() {
            let place = structure.some_leaf(tree, NODE, &mut self.rng)?;
            let old = origin.get(place.clone())?;
            self.text.clear();
            self.text.extend_from_slice(old);
            // Another place of the same input gives what is put together.
            self.havoc.bytes(&mut self.text, origin, &mut self.rng, LONGEST);
            if *self.text == *old {
                continue;
            }
            let change = Change { at: place.start, len: place.len(), to: self.text.as_slice().into() };
            if structure.put(&change, origin, tree, &mut self.input) {
                return Some(true);
            }
            if left == 0 && self.share.permits(true) {
                change.apply(origin, &mut self.input);
                return Some(false);
            }
        }
        None
    }

    /// Puts an operand on the leaf that it came from where that keeps the
    /// input in the language, else on its bytes; whether the result is in the
    /// language. None if it is not, and may not be.
    pub(super) fn put(&mut self, change: &Change, origin: &[u8], tree: &Tree) -> Option<bool> {
        let structure = self.structure.as_mut()?;
        if structure.put(change, origin, tree, &mut self.input) {
            return Some(true);
        }
        change.apply(origin, &mut self.input);
        let valid = structure.parse(&self.input).is_ok();
        (valid || self.share.permits(true)).then_some(valid)
    }
}
