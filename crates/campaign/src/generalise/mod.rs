//! Structure learned while fuzzing: inputs with gaps, and what is made of
//! them (GRIMOIRE).
//!
//! In:  inputs that reached new edges, and a way to ask whether another input
//!      still reaches them.
//! Out: the same inputs without what does not matter, with a gap where
//!      something was left out; inputs made by putting them into each other.
//!
//! | file | what |
//! | --- | --- |
//! | `group` | finds what does not matter, many bytes at a time |
//! | `links` | words that are only right together |
//! | `nest` | places where an input can be put into itself |
//! | `library` | all that was learned, and random parts of it |
//! | `recombine` | inputs put behind and into each other |
//! | `strings` | known texts by other ones |
//!
//! It is a grammar with one nonterminal, the gap, and every generalised input
//! and part of one as a rule. The plain way to find gaps, one piece after the
//! other, is in `plain`: tests compare with it.

mod group;
mod library;
mod links;
mod nest;
mod recombine;
mod strings;

#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;

pub use group::{Removed, gaps};
pub use library::{Library, Piece};
pub use links::{Link, links};
pub use nest::nest;
pub use recombine::{Recombined, Workbench};
pub use strings::Occurrences;

use std::fmt;

/// Longer inputs are not generalised.
pub const LONGEST: usize = 16_384;
/// Nor longer ones than this, when inputs come from a grammar.
pub const LONGEST_BY_GRAMMAR: usize = 2_048;

/// An input without what does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Generalised {
    /// What is left: the input when all gaps are empty.
    text: Box<[u8]>,
    /// Where gaps stand in it, ascending, each once.
    gaps: Box<[u32]>,
    /// Words that are only right together.
    pub links: Vec<Link>,
    /// The edges that it was the first to reach.
    pub edges: Box<[u32]>,
}

impl Generalised {
    /// Of an input, where some bytes were found not to matter. Neighbours make
    /// one gap.
    pub fn new(input: &[u8], removed: &[bool]) -> Generalised {
        let (mut text, mut gaps) = (Vec::with_capacity(input.len()), Vec::new());
        for (byte, gone) in input.iter().zip(removed) {
            match gone {
                true if gaps.last() != Some(&(text.len() as u32)) => gaps.push(text.len() as u32),
                true => {}
                false => text.push(*byte),
            }
        }
        Generalised { text: text.into(), gaps: gaps.into(), ..Generalised::default() }
    }

    /// What is left when all gaps are empty.
    pub fn content(&self) -> &[u8] {
        &self.text
    }

    /// Where gaps stand in it.
    pub fn gaps(&self) -> &[u32] {
        &self.gaps
    }

    /// The word of a link.
    pub fn word(&self, link: &Link) -> &[u8] {
        &self.text[link.places[0] as usize..(link.places[0] + link.len) as usize]
    }

    /// Another word in the places of a link: what is left then, and where gaps
    /// stand in it.
    pub fn renamed(&self, link: &Link, word: &[u8]) -> (Vec<u8>, Vec<u32>) {
        let (mut text, mut gaps) = (Vec::with_capacity(self.text.len()), self.gaps.to_vec());
        let mut from = 0;
        for place in &link.places {
            text.extend_from_slice(&self.text[from..*place as usize]);
            text.extend_from_slice(word);
            from = (place + link.len) as usize;
        }
        text.extend_from_slice(&self.text[from..]);
        for gap in &mut gaps {
            let before = link.places.iter().filter(|place| *place + link.len <= *gap).count() as u32;
            *gap = *gap - before * link.len + before * word.len() as u32;
        }
        (text, gaps)
    }

    /// What stands between gaps: often words of the input's language.
    pub fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.gaps.iter().map(|gap| *gap as usize));
        let ends = self.gaps.iter().map(|gap| *gap as usize).chain([self.text.len()]);
        starts.zip(ends).map(|(start, end)| &self.text[start..end]).filter(|token| !token.is_empty())
    }
}

impl fmt::Display for Generalised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_gaps(f, &self.text, self.gaps.iter().map(|gap| *gap as usize))
    }
}

/// Shows a text with its gaps.
fn write_gaps(f: &mut fmt::Formatter<'_>, text: &[u8], gaps: impl Iterator<Item = usize>) -> fmt::Result {
    let mut from = 0;
    for gap in gaps {
        write!(f, "{}□", String::from_utf8_lossy(&text[from..gap]))?;
        from = gap;
    }
    write!(f, "{}", String::from_utf8_lossy(&text[from..]))
}
