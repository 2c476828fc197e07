//! Texts that can stand between tokens.
//!
//! In:  the automaton of each mode.
//! Out: for each mode, texts of one skipped token that leaves the mode as it
//!      is, the shortest first.
//!
//! What follows a text can tell texts apart only by the state they lead to,
//! what comes before it mostly by their first byte: so there is the
//! shortest text for each pair of these.

use std::collections::VecDeque;
use std::ops::Range;
use wug_grammar::lexical::alphabet::Alphabet;
use wug_grammar::lexical::dfa::DEAD;
use wug_grammar::lexical::{Dfa, Lexicon};

/// At most so many texts for a mode.
const TEXTS: usize = 64;
/// At most so many states are looked at for each first byte.
const STATES: usize = 4_096;

/// The texts of all modes.
#[derive(Debug)]
pub(super) struct Separators {
    texts: Vec<Vec<u8>>,
    modes: Vec<Range<usize>>,
}

impl Separators {
    pub fn of(lexicon: &Lexicon) -> Separators {
        let mut all = Separators { texts: Vec::new(), modes: Vec::new() };
        for dfa in &lexicon.modes {
            let skips = |state: u32| {
                dfa.labels[state as usize].is_some_and(|label| lexicon.tokens[label as usize].separates)
            };
            let mut found = texts(dfa, &lexicon.alphabet, skips);
            found.sort_by_cached_key(|text| (text.len(), text.iter().map(|&b| rank(b)).collect::<Vec<_>>()));
            found.dedup();
            found.truncate(TEXTS);
            let from = all.texts.len();
            all.texts.extend(found);
            all.modes.push(from..all.texts.len());
        }
        all
    }

    /// The numbers of a mode's texts.
    pub fn of_mode(&self, mode: usize) -> Range<usize> {
        self.modes.get(mode).cloned().unwrap_or(0..0)
    }

    pub fn text(&self, number: usize) -> &[u8] {
        &self.texts[number]
    }
}

fn texts(dfa: &Dfa, alphabet: &Alphabet, ends: impl Fn(u32) -> bool) -> Vec<Vec<u8>> {
    let wanted: Vec<u32> = (0..dfa.len() as u32).filter(|&state| ends(state)).collect();
    let useful = dfa.before().leading_to(wanted.into_iter());
    let mut found = Vec::new();
    let mut from: Vec<Option<(u32, usize)>> = vec![None; dfa.len()];
    for first in 0..alphabet.len() {
        let start = dfa.step(dfa.start, first);
        if start == DEAD || !useful[start as usize] {
            continue;
        }
        from.fill(None);
        let mut queue = VecDeque::from([start]);
        let mut met = 0;
        from[start as usize] = Some((DEAD, first));
        while let Some(state) = queue.pop_front() {
            met += 1;
            if ends(state) {
                let mut text = Vec::new();
                let mut at = state;
                while let Some((before, letter)) = from[at as usize] {
                    text.push(byte(alphabet, letter));
                    at = before;
                }
                text.reverse();
                found.push(text);
            }
            for (letter, &to) in dfa.steps(state).iter().enumerate() {
                let fresh = to != DEAD && useful[to as usize] && from[to as usize].is_none();
                if fresh && met < STATES {
                    from[to as usize] = Some((state, letter));
                    queue.push_back(to);
                }
            }
        }
    }
    found
}

/// The byte of a letter that is the best to look at.
fn byte(alphabet: &Alphabet, letter: usize) -> u8 {
    let (low, high) = alphabet.bytes(letter);
    (low..=high).min_by_key(|&b| rank(b)).unwrap_or(low)
}

fn rank(byte: u8) -> (u8, u8) {
    let class = match byte {
        b' ' => 0,
        b'\n' => 1,
        _ if byte.is_ascii_graphic() => 2,
        _ => 3,
    };
    (class, byte)
}
