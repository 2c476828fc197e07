//! Which lexemes run together with what follows them.
//!
//! A lexeme u is known by the state it leads to in the automaton of its
//! mode, so a conflict is a fact about a state: after it, some text that
//! begins with token U (or a beginning of it) leads on to acceptance, and a
//! lexer would take more than u.

use super::sets::TokenSet;
use crate::lexical::dfa::DEAD;
use crate::lexical::{Dfa, Lexicon, TokenId};
use hashbrown::HashMap;

/// For each token, the states after which it must not stand.
pub struct Conflicts {
    /// By token, then mode, then state.
    bad: Vec<Vec<Vec<bool>>>,
    /// By token: the states that mean it.
    states: Vec<Vec<u32>>,
}

impl Conflicts {
    /// Looks at every pair.
    pub fn of(lexicon: &Lexicon) -> Conflicts {
        let mut states = vec![Vec::new(); lexicon.tokens.len()];
        for mode in &lexicon.modes {
            for (state, label) in mode.labels.iter().enumerate() {
                if let Some(token) = label {
                    states[*token as usize].push(state as u32);
                }
            }
        }
        let bad = lexicon
            .all()
            .map(|token| {
                let own = lexicon.dfa(token).relabel(|s| {
                    let label = lexicon.dfa(token).labels[s as usize];
                    label.filter(|&l| l == token.0)
                });
                lexicon.modes.iter().map(|mode| bad_states(mode, &own)).collect()
            })
            .collect();
        Conflicts { bad, states }
    }

    /// The states of a token's mode that mean it; none if earlier tokens
    /// take all of its texts.
    pub fn states(&self, token: TokenId) -> &[u32] {
        &self.states[token.index()]
    }

    /// The states of `token` after which nothing of `follow` runs on.
    pub fn good(&self, lexicon: &Lexicon, token: TokenId, follow: &TokenSet) -> Vec<u32> {
        let good = |state: &u32| follow.iter().all(|f| !self.runs_on(lexicon, token, *state, f));
        self.states(token).iter().copied().filter(good).collect()
    }

    /// Whether some state of `token` is good before some member of `follow`.
    pub fn possible(&self, lexicon: &Lexicon, token: TokenId, follow: &TokenSet) -> bool {
        self.states(token).iter().any(|&s| follow.iter().any(|f| !self.runs_on(lexicon, token, s, f)))
    }

    /// Whether the lexeme of `token` at `state` runs together with `next`.
    fn runs_on(&self, lexicon: &Lexicon, token: TokenId, state: u32, next: TokenId) -> bool {
        let mode = lexicon.token(token).mode.0 as usize;
        // The end of the text is no token and runs on with nothing.
        self.bad.get(next.index()).is_some_and(|modes| modes[mode][state as usize])
    }
}

/// For each state of `mode`, whether a text of `next`, a beginning of one
/// or anything after one leads from it to acceptance.
fn bad_states(mode: &Dfa, next: &Dfa) -> Vec<bool> {
    let mut known: HashMap<(u32, u32), bool> = HashMap::new();
    let accepting = |state: u32| mode.labels[state as usize].is_some();
    (0..mode.len() as u32)
        .map(|state| {
            accepting(state) && next.start != DEAD && leads_on(mode, next, (state, next.start), &mut known)
        })
        .collect()
}

/// Searches all pairs that `from` leads to. All states are live: the
/// automata are minimal.
fn leads_on(mode: &Dfa, next: &Dfa, from: (u32, u32), known: &mut HashMap<(u32, u32), bool>) -> bool {
    if let Some(&known) = known.get(&from) {
        return known;
    }
    let mut seen = vec![from];
    let mut work = vec![from];
    known.insert(from, false);
    let mut found = false;
    'search: while let Some((q, s)) = work.pop() {
        let over = next.labels[s as usize].is_some();
        for (letter, &to) in mode.steps(q).iter().enumerate() {
            if to == DEAD {
                continue;
            }
            let after = next.step(s, letter);
            // Behind a whole lexeme of the next token anything may come.
            if over || (after != DEAD && mode.labels[to as usize].is_some()) {
                found = true;
                break 'search;
            }
            if after == DEAD {
                continue;
            }
            match known.get(&(to, after)) {
                Some(true) => {
                    found = true;
                    break 'search;
                }
                Some(false) => {}
                None => {
                    known.insert((to, after), false);
                    seen.push((to, after));
                    work.push((to, after));
                }
            }
        }
    }
    if found {
        // Only where the search began is this certain.
        seen.iter().for_each(|pair| {
            known.remove(pair);
        });
        known.insert(from, true);
    }
    found
}
