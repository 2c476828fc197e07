//! Words that are only right together: `<a>` and `</a>`, a variable and its
//! uses.
//!
//! In:  what is left of a generalised input.
//! Out: places of words which one cannot change alone, but all together.

use std::collections::HashMap;
use std::ops::Range;

/// Places of one word that have to be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where each begins, ascending; two at least.
    pub places: Vec<u32>,
    /// The length of the word.
    pub len: u32,
}

/// Words that are looked at, and places of each.
const WORDS: usize = 8;
const PLACES: usize = 8;
const LONGEST: usize = 32;

/// Finds the links of a text, while `check` says whether a changed text is
/// still what it has to be; after `runs` questions it stops. Also how many
/// there were.
pub fn links<E>(
    text: &[u8],
    runs: usize,
    mut check: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<(Vec<Link>, usize), E> {
    let mut left = runs;
    let mut found = Vec::new();
    for places in repeated(text) {
        if left < places.len() + 1 {
            break;
        }
        let len = places[0].len();
        let other = other_word(text, &text[places[0].clone()]);
        let mut bound = Vec::new();
        for place in &places {
            let mut changed = text.to_vec();
            changed[place.clone()].copy_from_slice(&other);
            left -= 1;
            if !check(&changed)? {
                bound.push(place.start as u32);
            }
        }
        if bound.len() < 2 {
            continue;
        }
        let mut changed = text.to_vec();
        for place in &bound {
            changed[*place as usize..*place as usize + len].copy_from_slice(&other);
        }
        left -= 1;
        if check(&changed)? {
            found.push(Link { places: bound, len: len as u32 });
        }
    }
    Ok((found, runs - left))
}

/// Words that occur several times, the most frequent first; numbers, which
/// are seldom names, last.
fn repeated(text: &[u8]) -> Vec<Vec<Range<usize>>> {
    let mut of_word: HashMap<&[u8], usize> = HashMap::new();
    let mut all: Vec<Vec<Range<usize>>> = Vec::new();
    for place in words(text) {
        if place.len() <= LONGEST {
            let at = *of_word.entry(&text[place.clone()]).or_insert(all.len());
            if at == all.len() {
                all.push(Vec::new());
            }
            all[at].push(place);
        }
    }
    all.retain(|places| (2..=PLACES).contains(&places.len()));
    let is_number = |places: &[Range<usize>]| text[places[0].start].is_ascii_digit();
    all.sort_by_key(|places| (is_number(places), std::cmp::Reverse(places.len())));
    all.truncate(WORDS);
    all
}

/// Runs of letters, digits and `_`.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].iter().position(|&byte| is_word(byte))?;
        let len = text[start..].iter().take_while(|&&byte| is_word(byte)).count();
        at = start + len;
        Some(start..at)
    })
}

/// A word of the same length and kind that does not occur in the text.
fn other_word(text: &[u8], word: &[u8]) -> Vec<u8> {
    let mut other = word.to_vec();
    for step in 1..26u8 {
        for (new, old) in other.iter_mut().zip(word) {
            *new = match old {
                b'a'..=b'z' => b'a' + (old - b'a' + step) % 26,
                b'A'..=b'Z' => b'A' + (old - b'A' + step) % 26,
                b'0'..=b'9' => b'0' + (old - b'0' + step) % 10,
                _ => *old,
            };
        }
        if !text.windows(other.len()).any(|part| part == other) {
            break;
        }
    }
    other
}
