//! Changes to bytes anywhere, without regard to structure.

use super::{Made, Making, Mutator, Subject};
use crate::fuzz::Error;
use crate::fuzz::materials::Materials;

/// Changes bytes, or takes some of another entry.
pub struct HavocBytes;

impl Mutator for HavocBytes {
    fn name(&self) -> &'static str {
        "havoc"
    }

    fn fits(&mut self, entry: &Subject<'_>, _: &Making<'_, '_>) -> bool {
        entry.may_leave
    }

    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let Materials { havoc, rng, max_size, .. } = &mut *making.materials;
        making.out.clear();
        making.out.extend_from_slice(entry.bytes);
        let other = rng.below(making.corpus.len() as u32) as usize;
        let operations = havoc.bytes(making.out, making.corpus.known(other), rng, *max_size);
        Ok(Some(Made { other: Some(other), ..Made::careless(operations) }))
    }
}

/// Puts a token of the dictionary anywhere.
pub struct Token;

impl Mutator for Token {
    fn name(&self) -> &'static str {
        "token"
    }

    fn fits(&mut self, entry: &Subject<'_>, making: &Making<'_, '_>) -> bool {
        entry.may_leave && !making.tokens().is_empty()
    }

    fn make(&mut self, entry: &Subject<'_>, making: &mut Making<'_, '_>) -> Result<Option<Made>, Error> {
        let Materials { havoc, rng, max_size, .. } = &mut *making.materials;
        making.out.clear();
        making.out.extend_from_slice(entry.bytes);
        let done = havoc.token(making.out, rng, *max_size);
        Ok(done.map(|()| Made::careless(1)))
    }
}
