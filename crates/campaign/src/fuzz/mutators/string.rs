//! Known strings of an entry replaced by others of the dictionary.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::Error;
use crate::fuzz::materials::Materials;
use crate::generalise::Occurrences;

/// Replaces one or all occurrences of known strings. Only where structure is
/// learned.
#[derive(Default)]
pub struct Strings {
    /// Those in an entry, with its number and the size of the dictionary.
    found: Option<(usize, usize, Occurrences)>,
}

impl Mutator for Strings {
    fn name(&self) -> &'static str {
        "string"
    }

    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        if !entry.may_leave || making.materials.lessons.is_none() {
            return false;
        }
        let tokens = making.tokens();
        let known = self.found.as_ref().map(|(entry, size, _)| (*entry, *size));
        if known != Some((entry.entry, tokens.len())) {
            self.found = Some((entry.entry, tokens.len(), Occurrences::of(entry.bytes, tokens)));
        }
        self.found.as_ref().is_some_and(|(.., found)| !found.is_empty())
    }

    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let Some((.., found)) = &self.found else { return Ok(None) };
        let Materials { havoc, rng, .. } = &mut *making.materials;
        let tokens = havoc.tokens();
        if tokens.is_empty() {
            return Ok(None);
        }
        let put = &tokens[rng.below(tokens.len() as u32) as usize];
        let all = rng.below(2) == 0;
        let count = found.replace(entry.bytes, put, all, rng, making.out);
        Ok((count > 0).then(|| Made::careless(count)))
    }
}
