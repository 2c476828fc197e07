//! Automata of tokens with lazy repetitions.
//!
//! In:  the automaton of one token, whose silent moves stand in the order in
//!      which they are preferred: a lazy repetition prefers to end.
//! Out: a deterministic automaton that reads what a lexer with these
//!      preferences goes on to read.
//!
//! The ways through the token are followed side by side, best first. When
//! one reaches the end of the token, those behind it that came through a lazy
//! repetition are given up; those before it, and those without one, go on.
//! So `"/*" .*? "*/"` ends at the first `*/`, and `'"' ("\\" . | .)*? '"'`
//! reads over an escaped quote, since that way is the better one. ANTLR's
//! lexers do the same.
//!
//! Keeping only texts without an accepted prefix was rejected: it cuts the
//! second example short.

use super::alphabet::Alphabet;
use super::dfa::{DEAD, Dfa};
use super::nfa::Nfa;
use super::{TooLarge, Work};
use hashbrown::{HashMap, HashSet};

/// A way through the token: where it is, and whether it came through a lazy
/// repetition.
type Way = (u32, bool);

/// The automaton of `nfa` with its preferences.
pub fn ordered(nfa: &Nfa, alphabet: &Alphabet, work: &mut Work) -> Result<Dfa, TooLarge> {
    let width = alphabet.len();
    let mut ids: HashMap<Box<[Way]>, u32> = HashMap::new();
    let mut sets: Vec<Box<[Way]>> = vec![Box::new([])];
    let mut next: Vec<u32> = vec![DEAD; width];
    let mut labels: Vec<Option<u32>> = vec![None];
    let mut reach = Reach::default();
    reach.follow(nfa, (nfa.start, false), false);
    let mut add = |set: Vec<Way>, sets: &mut Vec<Box<[Way]>>| -> u32 {
        if set.is_empty() {
            return DEAD;
        }
        *ids.entry(set.into()).or_insert_with_key(|set| {
            sets.push(set.clone());
            sets.len() as u32 - 1
        })
    };
    let start = add(reach.take(), &mut sets);
    let mut at = 1;
    while at < sets.len() {
        let set = sets[at].clone();
        labels.push(set.iter().any(|&(state, _)| state == nfa.end).then_some(0));
        for letter in 0..width {
            let (byte, _) = alphabet.bytes(letter);
            let mut ended = false;
            for &(state, lazy) in set.iter().filter(|&&(state, _)| state != nfa.end) {
                if ended && lazy {
                    continue;
                }
                let moves = &nfa.moves[state as usize];
                work.spend(1 + moves.len() / 8)?;
                for &(low, high, to) in moves {
                    if low <= byte && byte <= high {
                        ended |= reach.follow(nfa, (to, lazy), ended);
                    }
                }
            }
            let set = reach.take();
            work.spend(set.len())?;
            next.push(add(set, &mut sets));
        }
        at += 1;
    }
    Ok(Dfa::of(width, next, labels, start))
}

/// The ways after a letter, best first.
#[derive(Default)]
struct Reach {
    found: Vec<Way>,
    /// States that were met, those that only lead on included.
    seen: HashSet<Way>,
    open: Vec<Way>,
}

impl Reach {
    /// Follows silent moves, depth first in their order; whether the end of
    /// the token was met. Once it is, lazy ways are given up.
    fn follow(&mut self, nfa: &Nfa, from: Way, mut ended: bool) -> bool {
        let mut met = false;
        self.open.push(from);
        while let Some((state, lazy)) = self.open.pop() {
            let lazy = lazy || nfa.lazy_at[state as usize];
            if state == nfa.end {
                self.found.extend(self.seen.insert((state, lazy)).then_some((state, lazy)));
                (ended, met) = (true, true);
                continue;
            }
            if ended && lazy || !self.seen.insert((state, lazy)) {
                continue;
            }
            if !nfa.moves[state as usize].is_empty() {
                self.found.push((state, lazy));
            }
            self.open.extend(nfa.silent[state as usize].iter().rev().map(|&to| (to, lazy)));
        }
        met
    }

    fn take(&mut self) -> Vec<Way> {
        self.seen.clear();
        std::mem::take(&mut self.found)
    }
}
