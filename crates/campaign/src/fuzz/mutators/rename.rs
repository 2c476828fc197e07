//! A word of an entry replaced by another in all places where it has to be the
//! same.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::Error;
use crate::fuzz::materials::Materials;

/// Renames a linked word of a generalised entry.
pub struct Rename;

impl Mutator for Rename {
    fn name(&self) -> &'static str {
        "rename"
    }

    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        let lessons = making.materials.lessons.as_ref();
        let form = lessons.and_then(|lessons| lessons.form(entry.entry));
        entry.may_leave && form.is_some_and(|form| !form.links.is_empty())
    }

    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let Materials { lessons: Some(lessons), havoc, rng, .. } = &mut *making.materials else {
            return Ok(None);
        };
        let Some(form) = lessons.form(entry.entry) else { return Ok(None) };
        let at = rng.below(form.links.len().max(1) as u32) as usize;
        let Some(link) = form.links.get(at) else { return Ok(None) };
        let word = lessons.library.name(havoc.tokens(), form.word(link), rng);
        *making.out = form.renamed(link, &word).0;
        Ok(Some(Made::careless(link.places.len() as u32)))
    }
}
