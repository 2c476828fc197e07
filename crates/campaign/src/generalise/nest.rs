//! Places where an input can be put into itself: what a language repeats and
//! nests.
//!
//! In:  a generalised input.
//! Out: the same with gaps where nothing was left out, but something can be
//!      put in; which gaps take the input itself.
//!
//! Leaving out finds the gaps of what stands there already; `<a></a>` has
//! none, and yet is where others go.

use super::Generalised;
use super::links::words;

/// Longer inputs are not put into themselves.
const LONGEST: usize = 512;

/// Puts an input into itself, wherever words begin and end, while `check`
/// says whether it still is what it has to be; after `runs` questions it
/// stops. Numbers of the gaps that it fits into.
pub fn nest<E>(
    form: &mut Generalised,
    runs: usize,
    mut check: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Vec<u32>, E> {
    let text = &form.text;
    if text.len() > LONGEST {
        return Ok(Vec::new());
    }
    let mut taken = Vec::new();
    for place in places(text, runs) {
        if check(&[&text[..place], text, &text[place..]].concat())? {
            taken.push(place as u32);
        }
    }
    let mut gaps = form.gaps.to_vec();
    gaps.extend(&taken);
    gaps.sort_unstable();
    gaps.dedup();
    form.gaps = gaps.into();
    let number = |place: &u32| form.gaps.binary_search(place).unwrap_or_default() as u32;
    Ok(taken.iter().map(number).collect())
}

/// So many places between words and signs, spread over a text.
fn places(text: &[u8], most: usize) -> impl Iterator<Item = usize> {
    let mut inside = vec![false; text.len() + 1];
    words(text).for_each(|word| inside[word.start + 1..word.end].fill(true));
    let all: Vec<usize> = (1..text.len()).filter(|place| !inside[*place]).collect();
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step).take(most)
}
