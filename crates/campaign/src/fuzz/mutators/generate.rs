//! Fresh inputs of the grammar.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::Error;

/// Generates an input.
pub struct Generate;

impl Mutator for Generate {
    fn name(&self) -> &'static str {
        "generate"
    }

    fn is_gramatrons(&self) -> bool {
        true
    }

    fn fits(&mut self, _: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        making.materials.structure.is_some()
    }

    fn make(&mut self, _: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let made = making.materials.generate(making.out);
        Ok(made.then(|| Made { fresh: true, ..Made::one(true) }))
    }
}
