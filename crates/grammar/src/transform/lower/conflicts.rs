//! Which lexemes run together with what follows them.
//!
//! A lexeme u is known by the state it leads to in the automaton of its
//! mode, so a conflict is a fact about a state: after it, some text that
//! begins with token U (or a beginning of it) leads on to acceptance, and a
//! lexer would take more than u.
//!
//! All tokens are looked at together: pairs of a state q after u and a state
//! s of the automaton that reads what follows, linked by the letters on
//! which both go on. A pair is bad for a token U if U ends at s, or if q
//! accepts and s leads to U. What a pair is bad for spreads backwards along
//! the links, one strongly connected component after the other. A search
//! for each token alone was rejected: 20,000 tokens would take hours.

use super::sets::TokenSet;
use crate::facts::components_of;
use crate::ir::RuleId;
use crate::lexical::dfa::DEAD;
use crate::lexical::{Dfa, Lexicon, TokenId, TooLarge, Work};
use hashbrown::HashMap;

/// For each state that ends a lexeme, the tokens that must not stand there.
pub struct Conflicts {
    /// By mode, then state: a number of `sets`.
    after: Vec<Vec<u32>>,
    sets: Vec<TokenSet>,
    /// By token: the states that mean it, in order.
    states: Vec<Vec<u32>>,
}

impl Conflicts {
    /// Looks at every pair. With `words`, a lexeme that ends like a word
    /// conflicts with all tokens that begin like one.
    pub fn of(lexicon: &Lexicon, words: bool, work: &mut Work) -> Result<Conflicts, TooLarge> {
        let count = lexicon.tokens.len();
        let mut states = vec![Vec::new(); count];
        for mode in &lexicon.modes {
            for (state, label) in mode.labels.iter().enumerate() {
                if let Some(token) = label {
                    states[*token as usize].push(state as u32);
                }
            }
        }
        let mut lists = Lists::default();
        let mut ahead = Vec::with_capacity(lexicon.modes.len());
        for mode in &lexicon.modes {
            ahead.push(leads_to(mode, &mut lists, work)?);
        }
        let letters: Vec<usize> = (0..lexicon.alphabet.len())
            .filter(|&letter| {
                let (first, last) = lexicon.alphabet.bytes(letter);
                words && (first..=last).any(in_word)
            })
            .collect();
        let begin = |(mode, ahead): (&Dfa, &Vec<u32>)| -> Vec<u32> {
            letters.iter().map(|&letter| ahead[mode.step(mode.start, letter) as usize]).collect()
        };
        let begin = lexicon.modes.iter().zip(&ahead).flat_map(begin).collect();
        let begin = lists.union(begin, work)?;
        let mut after = Vec::with_capacity(lexicon.modes.len());
        for mode in &lexicon.modes {
            let mut found: Vec<Vec<u32>> = vec![Vec::new(); mode.len()];
            for (next, ahead) in lexicon.modes.iter().zip(&ahead) {
                Pairs::of(mode, next, work)?.spread(mode, next, ahead, &mut lists, &mut found, work)?;
            }
            for state in 0..mode.len() as u32 {
                work.spend(letters.len())?;
                for &letter in &letters {
                    let parts = &mut found[mode.step(state, letter) as usize];
                    if parts.last() != Some(&begin) {
                        parts.push(begin);
                    }
                }
            }
            let mut all = Vec::with_capacity(found.len());
            for parts in found {
                all.push(lists.union(parts, work)?);
            }
            after.push(all);
        }
        // Only the lists that are asked for become sets.
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut sets: Vec<TokenSet> = Vec::new();
        for list in after.iter_mut().flatten() {
            let fresh = sets.len() as u32;
            let number = *numbers.entry(*list).or_insert(fresh);
            if number == fresh {
                let mut set = TokenSet::new(count);
                work.spend(set.size())?;
                lists.all[*list as usize].iter().for_each(|&t| set.insert(TokenId(t)));
                sets.push(set);
            }
            *list = number;
        }
        Ok(Conflicts { after, sets, states })
    }

    /// The states of a token's mode that mean it; none if earlier tokens
    /// take all of its texts.
    pub fn states(&self, token: TokenId) -> &[u32] {
        &self.states[token.index()]
    }

    /// The states of `token` after which nothing of `follow` runs on.
    pub fn good(&self, lexicon: &Lexicon, token: TokenId, follow: &TokenSet) -> Vec<u32> {
        let good = |state: &u32| !self.after(lexicon, token, *state).meets(follow);
        self.states(token).iter().copied().filter(good).collect()
    }

    /// Whether some state of `token` is good before some member of `follow`.
    pub fn possible(&self, lexicon: &Lexicon, token: TokenId, follow: &TokenSet) -> bool {
        self.states(token).iter().any(|&s| !follow.within(self.after(lexicon, token, s)))
    }

    /// Whether every lexeme of `token` may stand before `next`.
    pub fn safe(&self, lexicon: &Lexicon, token: TokenId, next: TokenId) -> bool {
        self.states(token).iter().all(|&s| !self.after(lexicon, token, s).contains(next))
    }

    /// What the lexeme of `token` at `state` runs together with. The end of
    /// the text is no token and never a member.
    fn after(&self, lexicon: &Lexicon, token: TokenId, state: u32) -> &TokenSet {
        &self.sets[self.after[lexicon.token(token).mode.0 as usize][state as usize] as usize]
    }
}

/// Whether a byte may be one of a word: of letters and digits, and of what
/// most languages allow in names.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// Lists of tokens, sorted, each stored once. Number 0 is empty.
struct Lists {
    all: Vec<Box<[u32]>>,
    ids: HashMap<Box<[u32]>, u32>,
    /// Unions that are known, by their parts.
    unions: HashMap<Box<[u32]>, u32>,
}

impl Default for Lists {
    fn default() -> Self {
        let empty: Box<[u32]> = Box::new([]);
        Lists { all: vec![empty.clone()], ids: HashMap::from([(empty, 0)]), unions: HashMap::new() }
    }
}

impl Lists {
    fn one(&mut self, token: u32) -> u32 {
        self.id(vec![token])
    }

    fn id(&mut self, list: Vec<u32>) -> u32 {
        let all = &mut self.all;
        *self.ids.entry(list.into()).or_insert_with_key(|list| {
            all.push(list.clone());
            all.len() as u32 - 1
        })
    }

    /// The union of the lists with these numbers.
    fn union(&mut self, mut parts: Vec<u32>, work: &mut Work) -> Result<u32, TooLarge> {
        parts.sort_unstable();
        parts.dedup();
        parts.retain(|&p| p != 0);
        work.spend(parts.len() + 1)?;
        match *parts {
            [] => return Ok(0),
            [one] => return Ok(one),
            _ => {}
        }
        if let Some(&known) = self.unions.get(&*parts) {
            return Ok(known);
        }
        let total = parts.iter().map(|&p| self.all[p as usize].len()).sum();
        work.spend(total)?;
        let mut list = Vec::with_capacity(total);
        parts.iter().for_each(|&p| list.extend_from_slice(&self.all[p as usize]));
        list.sort_unstable();
        list.dedup();
        let id = self.id(list);
        self.unions.insert(parts.into(), id);
        Ok(id)
    }
}

/// For each state, the tokens whose lexemes can still be reached.
fn leads_to(dfa: &Dfa, lists: &mut Lists, work: &mut Work) -> Result<Vec<u32>, TooLarge> {
    let (mut first, mut calls) = (vec![0], Vec::new());
    for state in 0..dfa.len() as u32 {
        let from = calls.len();
        work.spend(dfa.steps(state).len())?;
        for &to in dfa.steps(state).iter().filter(|&&to| to != DEAD) {
            if calls.len() == from || calls.last() != Some(&RuleId(to)) {
                calls.push(RuleId(to));
            }
        }
        first.push(calls.len() as u32);
    }
    let mut found = vec![0; dfa.len()];
    for states in components_of(&first, &calls).iter() {
        let mut parts = Vec::new();
        for &state in states {
            parts.extend(dfa.labels[state.index()].map(|l| lists.one(l)));
            let own = first[state.index()] as usize..first[state.index() + 1] as usize;
            parts.extend(calls[own].iter().map(|to| found[to.index()]));
        }
        let list = lists.union(parts, work)?;
        states.iter().for_each(|s| found[s.index()] = list);
    }
    Ok(found)
}

/// Pairs of states, and the pairs that one letter leads to.
struct Pairs {
    pairs: Vec<(u32, u32)>,
    first: Vec<u32>,
    links: Vec<RuleId>,
    /// The first pairs belong to these states, in order.
    roots: Vec<u32>,
}

impl Pairs {
    /// All pairs that begin with the end of a lexeme and the start of the
    /// next one. All states are live: the automata are minimal.
    fn of(mode: &Dfa, next: &Dfa, work: &mut Work) -> Result<Pairs, TooLarge> {
        let mut found = Pairs { pairs: Vec::new(), first: vec![0], links: Vec::new(), roots: Vec::new() };
        if next.start == DEAD {
            return Ok(found);
        }
        let goes_on = |s: u32| mode.steps(s).iter().any(|&to| to != DEAD);
        found.roots =
            (0..mode.len() as u32).filter(|&s| mode.labels[s as usize].is_some() && goes_on(s)).collect();
        found.pairs = found.roots.iter().map(|&s| (s, next.start)).collect();
        let mut ids: HashMap<(u32, u32), u32> =
            found.pairs.iter().enumerate().map(|(i, &pair)| (pair, i as u32)).collect();
        let mut at = 0;
        while at < found.pairs.len() {
            let (q, s) = found.pairs[at];
            work.spend(mode.steps(q).len())?;
            for (&to, &after) in mode.steps(q).iter().zip(next.steps(s)) {
                if to == DEAD || after == DEAD {
                    continue;
                }
                let fresh = found.pairs.len() as u32;
                let id = *ids.entry((to, after)).or_insert(fresh);
                if id == fresh {
                    found.pairs.push((to, after));
                }
                found.links.push(RuleId(id));
            }
            found.first.push(found.links.len() as u32);
            at += 1;
        }
        Ok(found)
    }

    /// Adds to `found`, for each state that ends a lexeme, the list of the
    /// tokens of `next` that must not follow it.
    fn spread(
        self,
        mode: &Dfa,
        next: &Dfa,
        ahead: &[u32],
        lists: &mut Lists,
        found: &mut [Vec<u32>],
        work: &mut Work,
    ) -> Result<(), TooLarge> {
        // What is bad about arriving at a pair, and about all behind it.
        let mut arriving = Vec::with_capacity(self.pairs.len());
        for &(q, s) in &self.pairs {
            let over = next.labels[s as usize].map_or(0, |l| lists.one(l));
            let inside = if mode.labels[q as usize].is_some() { ahead[s as usize] } else { 0 };
            arriving.push(lists.union(vec![over, inside], work)?);
        }
        let mut behind = vec![0; self.pairs.len()];
        for pairs in components_of(&self.first, &self.links).iter() {
            let mut parts = Vec::new();
            for &pair in pairs {
                let own = self.first[pair.index()] as usize..self.first[pair.index() + 1] as usize;
                for to in &self.links[own] {
                    parts.extend([arriving[to.index()], behind[to.index()]]);
                }
            }
            let list = lists.union(parts, work)?;
            pairs.iter().for_each(|p| behind[p.index()] = list);
        }
        for (i, &state) in self.roots.iter().enumerate() {
            found[state as usize].push(behind[i]);
        }
        Ok(())
    }
}
