//! Operations on the walk of an entry over the grammar's automaton.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::{Error, Mutators};
use crate::structure::Structure;
use crate::walks::WalkOp;

/// An operation on the walk.
pub struct Walk(pub WalkOp);

impl Mutator for Walk {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        entry.tree.is_some()
            && making.materials.mutators != Mutators::Spot
            && making.materials.structure.as_ref().is_some_and(Structure::has_walk)
    }

    fn make(&mut self, _: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let longest = making.max_size();
        let Some(structure) = &mut making.materials.structure else { return Ok(None) };
        let made = structure.walk(self.0, &mut making.materials.rng, longest, making.out);
        Ok(made.then(|| Made::one(true)))
    }
}
