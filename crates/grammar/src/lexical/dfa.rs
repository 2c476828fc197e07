//! Deterministic automata over an [`Alphabet`], with labels on the states
//! that accept.

use super::alphabet::Alphabet;
use super::nfa::Nfa;
use super::{TooLarge, Work};
use hashbrown::HashMap;

/// The state that leads nowhere.
pub const DEAD: u32 = 0;

/// A deterministic automaton. State 0 is dead.
#[derive(Clone, Debug)]
pub struct Dfa {
    width: usize,
    next: Vec<u32>,
    /// The label of each state that accepts.
    pub labels: Vec<Option<u32>>,
    /// Where it begins.
    pub start: u32,
}

/// What subsets are made of: an automaton and the label of its words.
pub struct Part<'a> {
    /// The automaton.
    pub nfa: &'a Nfa,
    /// The label of what it accepts; the smallest wins.
    pub label: u32,
}

impl Dfa {
    /// The state after `letter`.
    pub fn step(&self, state: u32, letter: usize) -> u32 {
        self.next[state as usize * self.width + letter]
    }

    /// All states after one letter, by letter.
    pub fn steps(&self, state: u32) -> &[u32] {
        &self.next[state as usize * self.width..][..self.width]
    }

    /// How many states there are, the dead one included.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether nothing is accepted.
    pub fn is_empty(&self) -> bool {
        self.labels.iter().all(Option::is_none)
    }

    /// The union of `parts`. `shadowed` is told of each label that loses
    /// a word to a smaller one.
    pub fn union(
        parts: &[Part],
        alphabet: &Alphabet,
        shadowed: &mut dyn FnMut(u32),
        work: &mut Work,
    ) -> Result<Dfa, TooLarge> {
        Subsets::new(parts, alphabet, work).build(shadowed)
    }

    /// An automaton with the same states and other labels, without what no
    /// longer leads to an accepting state.
    pub fn relabel(&self, label: impl Fn(u32) -> Option<u32>) -> Dfa {
        let labels = (0..self.len() as u32).map(label).collect();
        Dfa { labels, ..self.clone() }.minimize()
    }

    /// Only words no proper prefix of which is accepted.
    pub fn shortest_matches(&self) -> Dfa {
        let mut cut = self.clone();
        for state in 0..self.len() {
            if self.labels[state].is_some() {
                cut.next[state * self.width..][..self.width].fill(DEAD);
            }
        }
        cut.minimize()
    }

    /// The same without the empty word.
    pub fn without_empty(&self) -> Dfa {
        if self.labels[self.start as usize].is_none() {
            return self.clone();
        }
        let mut out = self.clone();
        let start = self.start as usize;
        let steps = self.steps(self.start).to_vec();
        out.start = self.len() as u32;
        out.next.extend(steps);
        out.labels.push(None);
        debug_assert!(start < out.len());
        out.minimize()
    }

    /// As a nondeterministic automaton with one end.
    pub fn to_nfa(&self, alphabet: &Alphabet) -> Nfa {
        let mut nfa = Nfa { start: self.start, end: self.len() as u32, ..Nfa::default() };
        for state in 0..self.len() as u32 {
            let mut moves: Vec<(u8, u8, u32)> = Vec::new();
            for (letter, &to) in self.steps(state).iter().enumerate() {
                if to != DEAD {
                    let (low, high) = alphabet.bytes(letter);
                    moves.push((low, high, to));
                }
            }
            nfa.moves.push(moves);
            nfa.silent.push(self.labels[state as usize].map(|_| self.len() as u32).into_iter().collect());
        }
        nfa.moves.push(Vec::new());
        nfa.silent.push(Vec::new());
        nfa
    }

    /// States from which something accepted can be reached.
    pub fn live(&self) -> Vec<bool> {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        for state in 0..self.len() as u32 {
            for &to in self.steps(state) {
                if before[to as usize].last() != Some(&state) {
                    before[to as usize].push(state);
                }
            }
        }
        let mut live: Vec<bool> = self.labels.iter().map(Option::is_some).collect();
        let mut work: Vec<u32> = (0..self.len() as u32).filter(|&s| live[s as usize]).collect();
        while let Some(state) = work.pop() {
            for &from in &before[state as usize] {
                if !std::mem::replace(&mut live[from as usize], true) {
                    work.push(from);
                }
            }
        }
        live[DEAD as usize] = false;
        live
    }

    /// The smallest automaton with the same words and labels (Moore's
    /// refinement). States are numbered in breadth-first order of letters,
    /// so equal languages give equal automata.
    pub fn minimize(&self) -> Dfa {
        let live = self.live();
        // Blocks: 0 for what is dead, then one for each label.
        let mut block: Vec<u32> = vec![0; self.len()];
        let mut keys: HashMap<Vec<u32>, u32> = HashMap::new();
        for (state, slot) in block.iter_mut().enumerate() {
            if live[state] {
                let key = vec![self.labels[state].map_or(0, |l| l + 1)];
                let fresh = keys.len() as u32 + 1;
                *slot = *keys.entry(key).or_insert(fresh);
            }
        }
        let mut count = keys.len();
        loop {
            keys.clear();
            let mut refined = vec![0; self.len()];
            for state in (0..self.len()).filter(|&s| live[s]) {
                let mut key = Vec::with_capacity(self.width + 1);
                key.push(block[state]);
                key.extend(self.steps(state as u32).iter().map(|&to| block[to as usize]));
                let fresh = keys.len() as u32 + 1;
                refined[state] = *keys.entry(key).or_insert(fresh);
            }
            block = refined;
            if keys.len() == count {
                break;
            }
            count = keys.len();
        }
        self.quotient(&block, count)
    }

    /// One state for each block, in breadth-first order.
    fn quotient(&self, block: &[u32], count: usize) -> Dfa {
        let mut member = vec![0u32; count + 1];
        for (state, &b) in block.iter().enumerate() {
            member[b as usize] = state as u32;
        }
        let mut number: Vec<Option<u32>> = vec![None; count + 1];
        number[0] = Some(DEAD);
        let mut out =
            Dfa { width: self.width, next: vec![DEAD; self.width], labels: vec![None], start: DEAD };
        let start = block[self.start as usize];
        let mut queue = std::collections::VecDeque::new();
        if start != 0 {
            number[start as usize] = Some(1);
            out.start = 1;
            queue.push_back(start);
        }
        let mut given = 1 + u32::from(start != 0);
        while let Some(b) = queue.pop_front() {
            let state = member[b as usize];
            out.labels.push(self.labels[state as usize]);
            for &to in self.steps(state) {
                let to = block[to as usize];
                let id = *number[to as usize].get_or_insert_with(|| {
                    queue.push_back(to);
                    given += 1;
                    given - 1
                });
                out.next.push(id);
            }
        }
        out
    }

    /// Words of the first that the second does not accept; labels are the
    /// first's. Both have the same alphabet.
    pub fn difference(&self, other: &Dfa, work: &mut Work) -> Result<Dfa, TooLarge> {
        let mut ids: HashMap<(u32, u32), u32> = HashMap::new();
        let mut pairs = vec![(DEAD, DEAD)];
        let mut out = Dfa { width: self.width, next: vec![], labels: vec![], start: DEAD };
        let mut id = |pair: (u32, u32), pairs: &mut Vec<(u32, u32)>| -> u32 {
            if pair.0 == DEAD {
                return DEAD;
            }
            let fresh = pairs.len() as u32;
            let id = *ids.entry(pair).or_insert(fresh);
            if id == fresh {
                pairs.push(pair);
            }
            id
        };
        out.start = id((self.start, other.start), &mut pairs);
        let mut at = 0;
        while at < pairs.len() {
            work.spend(self.width)?;
            let (a, b) = pairs[at];
            let kept = other.labels[b as usize].is_none();
            out.labels.push(self.labels[a as usize].filter(|_| kept));
            for letter in 0..self.width {
                out.next.push(id((self.step(a, letter), other.step(b, letter)), &mut pairs));
            }
            at += 1;
        }
        Ok(out.minimize())
    }

    /// The shortest accepted word; among those, the first by letters.
    pub fn shortest_word(&self, alphabet: &Alphabet) -> Option<Vec<u8>> {
        let mut from: Vec<Option<(u32, usize)>> = vec![None; self.len()];
        let mut queue = std::collections::VecDeque::from([self.start]);
        let mut seen = vec![false; self.len()];
        seen[self.start as usize] = true;
        while let Some(state) = queue.pop_front() {
            if self.labels[state as usize].is_some() {
                let mut word = Vec::new();
                let mut at = state;
                while let Some((before, letter)) = from[at as usize] {
                    word.push(alphabet.bytes(letter).0);
                    at = before;
                }
                word.reverse();
                return Some(word);
            }
            for (letter, &to) in self.steps(state).iter().enumerate() {
                if to != DEAD && !std::mem::replace(&mut seen[to as usize], true) {
                    from[to as usize] = Some((state, letter));
                    queue.push_back(to);
                }
            }
        }
        None
    }

    /// Whether `word` is accepted.
    pub fn accepts(&self, alphabet: &Alphabet, word: &[u8]) -> bool {
        let end = word.iter().fold(self.start, |state, &byte| self.step(state, alphabet.letter(byte)));
        self.labels[end as usize].is_some()
    }
}

/// The subset construction over several automata side by side.
struct Subsets<'a> {
    parts: &'a [Part<'a>],
    alphabet: &'a Alphabet,
    offsets: Vec<u32>,
    ids: HashMap<Vec<u32>, u32>,
    sets: Vec<Vec<u32>>,
    marks: Vec<bool>,
    work: &'a mut Work,
}

impl<'a> Subsets<'a> {
    fn new(parts: &'a [Part<'a>], alphabet: &'a Alphabet, work: &'a mut Work) -> Subsets<'a> {
        let mut offsets = vec![0];
        for part in parts {
            offsets.push(offsets[offsets.len() - 1] + part.nfa.moves.len() as u32);
        }
        let marks = vec![false; offsets[parts.len()] as usize];
        Subsets { parts, alphabet, offsets, ids: HashMap::new(), sets: Vec::new(), marks, work }
    }

    fn build(mut self, shadowed: &mut dyn FnMut(u32)) -> Result<Dfa, TooLarge> {
        let width = self.alphabet.len();
        let mut out = Dfa { width, next: Vec::new(), labels: Vec::new(), start: DEAD };
        self.id(Vec::new())?;
        let starts = self.parts.iter().zip(&self.offsets).map(|(p, o)| o + p.nfa.start).collect();
        out.start = self.id(starts)?;
        let mut at = 0;
        while at < self.sets.len() {
            let set = std::mem::take(&mut self.sets[at]);
            out.labels.push(self.label(&set, shadowed));
            let mut reached: Vec<Vec<u32>> = vec![Vec::new(); width];
            for &state in &set {
                let (part, inner) = self.locate(state);
                for &(low, high, to) in &self.parts[part].nfa.moves[inner as usize] {
                    let letters = self.alphabet.letter(low)..=self.alphabet.letter(high);
                    for letter in letters {
                        reached[letter].push(to + self.offsets[part]);
                    }
                }
            }
            for states in reached {
                let to = self.id(states)?;
                out.next.push(to);
            }
            at += 1;
        }
        Ok(out)
    }

    fn locate(&self, state: u32) -> (usize, u32) {
        let part = self.offsets.partition_point(|&o| o <= state) - 1;
        (part, state - self.offsets[part])
    }

    fn label(&self, set: &[u32], shadowed: &mut dyn FnMut(u32)) -> Option<u32> {
        let mut least: Option<u32> = None;
        for &state in set {
            let (part, inner) = self.locate(state);
            let part = &self.parts[part];
            if part.nfa.end == inner {
                match least {
                    Some(l) if l < part.label => shadowed(part.label),
                    Some(l) => {
                        shadowed(l);
                        least = Some(part.label);
                    }
                    None => least = Some(part.label),
                }
            }
        }
        least
    }

    /// The number of the set of all that `states` silently lead to.
    fn id(&mut self, mut states: Vec<u32>) -> Result<u32, TooLarge> {
        let mut closed = Vec::with_capacity(states.len());
        while let Some(state) = states.pop() {
            if std::mem::replace(&mut self.marks[state as usize], true) {
                continue;
            }
            closed.push(state);
            let (part, inner) = self.locate(state);
            states
                .extend(self.parts[part].nfa.silent[inner as usize].iter().map(|to| to + self.offsets[part]));
        }
        closed.iter().for_each(|&s| self.marks[s as usize] = false);
        self.work.spend(closed.len() + 1)?;
        // Only states that move or end tell sets apart.
        closed.retain(|&s| {
            let (part, inner) = self.locate(s);
            let nfa = self.parts[part].nfa;
            nfa.end == inner || !nfa.moves[inner as usize].is_empty()
        });
        closed.sort_unstable();
        if let Some(&id) = self.ids.get(&closed) {
            return Ok(id);
        }
        let id = self.sets.len() as u32;
        self.work.spend(self.alphabet.len())?;
        self.ids.insert(closed.clone(), id);
        self.sets.push(closed);
        Ok(id)
    }
}
