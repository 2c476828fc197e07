//! Changes to the bytes of a terminal: the input stays in the language where
//! the rule of the terminal accepts the result.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::Error;
use crate::fuzz::materials::Materials;
use crate::operands::Change;
use crate::structure::Structure;
use wug_produce::mutate::Tree;

/// The text of a terminal does not grow beyond this: time of an execution.
const LONGEST: usize = 1 << 16;
/// In a grammar without tokens, nodes of so many bytes count as terminals.
const NODE: usize = 64;
/// Times that a change is tried before one is let out of the language: time
/// against the share of inputs that leave it.
const TRIES: usize = 4;

/// Changes bytes of one terminal.
#[derive(Default)]
pub struct Leaf {
    text: Vec<u8>,
}

impl Mutator for Leaf {
    fn name(&self) -> &'static str {
        "leaf"
    }

    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        let has_tokens = || making.materials.structure.as_ref().is_some_and(Structure::has_tokens);
        entry.tree.is_some() && (entry.may_leave || has_tokens())
    }

    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let Some(tree) = entry.tree else { return Ok(None) };
        Ok(self.change(entry.bytes, tree, making.materials, making.out).map(Made::one))
    }
}

impl Leaf {
    /// Changes a terminal; whether the result is sure to be in the language.
    /// None if it is not, and may not be.
    fn change(
        &mut self,
        bytes: &[u8],
        tree: &Tree,
        materials: &mut Materials<'_>,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        let Materials { structure, rng, havoc, share, .. } = materials;
        let structure = structure.as_mut()?;
        // Without tokens only the parser could tell, which takes longer than
        // to run the input.
        let tries = if structure.has_tokens() { TRIES } else { 1 };
        for left in (0..tries).rev() {
            let place = structure.some_leaf(tree, NODE, rng)?;
            let old = bytes.get(place.clone())?;
            self.text.clear();
            self.text.extend_from_slice(old);
            // Another place of the same input gives what is put together.
            havoc.bytes(&mut self.text, bytes, rng, LONGEST);
            if *self.text == *old {
                continue;
            }
            let change = Change { at: place.start, len: place.len(), to: self.text.as_slice().into() };
            if structure.put(&change, bytes, tree, out) {
                return Some(true);
            }
            if left == 0 && share.permits(true) {
                change.apply(bytes, out);
                return Some(false);
            }
        }
        None
    }
}
