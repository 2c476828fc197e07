//! Generalised inputs put behind and into each other.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::Error;
use crate::fuzz::materials::Materials;

/// Recombined inputs do not grow beyond this: time of an execution against
/// what is put together.
const LONGEST: usize = 16 << 10;

/// How generalised inputs are put together.
pub enum Recombine {
    /// Something before or behind the entry.
    Extend,
    /// Something in the gaps of the entry, and in the gaps of that.
    Fill,
    /// Inputs that fit into themselves put into each other, and the entry
    /// into them.
    Nest,
}

impl Mutator for Recombine {
    fn name(&self) -> &'static str {
        match self {
            Recombine::Extend => "extend",
            Recombine::Fill => "fill",
            Recombine::Nest => "nest",
        }
    }

    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        entry.may_leave
            && making.materials.lessons.as_ref().is_some_and(|lessons| {
                let nests = !matches!(self, Recombine::Nest) || lessons.library.nests();
                nests && lessons.form(entry.entry).is_some()
            })
    }

    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let Materials { lessons: Some(lessons), havoc, rng, max_size, .. } = &mut *making.materials else {
            return Ok(None);
        };
        let (strings, longest) = (havoc.tokens(), LONGEST.min(*max_size));
        let made = lessons.recombine(entry.entry, making.out, |bench, library, number| match self {
            Recombine::Extend => {
                let before = rng.below(2) == 0;
                bench.extend(library, number, strings, before, rng).map(|()| 1)
            }
            Recombine::Fill => Some(bench.recurse(library, number, strings, longest, rng)),
            Recombine::Nest => bench.nest(library, number, strings, longest, rng),
        });
        Ok(made.map(Made::careless))
    }
}
