//! Deterministic automata over an [`Alphabet`], with labels on the states
//! that accept.

use super::alphabet::Alphabet;
use super::nfa::Nfa;
use super::partition::Partition;
use super::{TooLarge, Work};
use hashbrown::HashMap;

/// The state that leads nowhere.
pub const DEAD: u32 = 0;

/// A deterministic automaton. State 0 is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// An automaton of its parts, the dead state first.
    pub(super) fn of(width: usize, next: Vec<u32>, labels: Vec<Option<u32>>, start: u32) -> Dfa {
        Dfa { width, next, labels, start }
    }

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
        nfa.lazy_at = vec![false; nfa.moves.len()];
        nfa
    }

    /// States from which something accepted can be reached.
    pub fn live(&self) -> Vec<bool> {
        let accepting = (0..self.len() as u32).filter(|&s| self.labels[s as usize].is_some());
        let mut live = self.before().leading_to(accepting);
        live[DEAD as usize] = false;
        live
    }

    /// Who leads where, backwards.
    pub fn before(&self) -> Before {
        let mut first = vec![0u32; self.len() + 1];
        for &to in self.next.iter().filter(|&&to| to != DEAD) {
            first[to as usize + 1] += 1;
        }
        for i in 0..self.len() {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut from = vec![0u32; first[self.len()] as usize];
        for state in 0..self.len() as u32 {
            for &to in self.steps(state).iter().filter(|&&to| to != DEAD) {
                from[next[to as usize] as usize] = state;
                next[to as usize] += 1;
            }
        }
        Before { first, from }
    }

    /// The smallest automaton for the words that lead to `states`, all with
    /// the label 0. Costs what leads there, not the whole automaton.
    pub fn leading_to(&self, before: &Before, states: &[u32], work: &mut Work) -> Result<Dfa, TooLarge> {
        let mut number: HashMap<u32, u32> = HashMap::new();
        let mut kept = vec![DEAD];
        for &state in states.iter().filter(|&&s| s != DEAD) {
            if number.insert(state, kept.len() as u32).is_none() {
                kept.push(state);
            }
        }
        let accepting = kept.len();
        let mut at = 1;
        while at < kept.len() {
            work.spend(self.width)?;
            for &from in before.of(kept[at]) {
                let fresh = kept.len() as u32;
                if from != DEAD && *number.entry(from).or_insert(fresh) == fresh {
                    kept.push(from);
                }
            }
            at += 1;
        }
        let mut out =
            Dfa { width: self.width, next: vec![DEAD; self.width], labels: vec![None], start: DEAD };
        out.start = number.get(&self.start).copied().unwrap_or(DEAD);
        for (i, &state) in kept.iter().enumerate().skip(1) {
            out.labels.push((i < accepting).then_some(0));
            out.next.extend(self.steps(state).iter().map(|to| number.get(to).copied().unwrap_or(DEAD)));
        }
        Ok(out.minimize())
    }

    /// The smallest automaton with the same words and labels, in time
    /// m log m for m moves (partition refinement after Hopcroft, in the form
    /// of Valmari and Lehtinen). States are numbered in breadth-first order
    /// of letters, so equal languages give equal automata.
    pub fn minimize(&self) -> Dfa {
        let live = self.live();
        let states: Vec<u32> = (0..self.len() as u32).filter(|&s| live[s as usize]).collect();
        let mut compact = vec![0u32; self.len()];
        for (i, &state) in states.iter().enumerate() {
            compact[state as usize] = i as u32;
        }
        // Moves between live states, by the state they start from.
        let (mut tails, mut letters, mut heads) = (Vec::new(), Vec::new(), Vec::new());
        for (i, &state) in states.iter().enumerate() {
            for (letter, &to) in self.steps(state).iter().enumerate().filter(|&(_, &to)| live[to as usize]) {
                tails.push(i as u32);
                letters.push(letter as u32);
                heads.push(compact[to as usize]);
            }
        }
        let labels: Vec<u32> = states.iter().map(|&s| self.labels[s as usize].map_or(0, |l| l + 1)).collect();
        let mut blocks = Partition::by(&labels);
        let mut cords = Partition::by(&letters);
        let into = Partition::by(&heads);
        // Where the moves into each state begin; states nothing leads to
        // have none.
        let mut moves_into = vec![None; states.len()];
        for set in 0..into.len() {
            moves_into[heads[into.elements[into.first[set] as usize] as usize] as usize] = Some(set);
        }
        let (mut block, mut cord) = (1, 0);
        while cord < cords.len() {
            for i in cords.range(cord) {
                blocks.mark(tails[cords.elements[i] as usize]);
            }
            blocks.split();
            cord += 1;
            while block < blocks.len() {
                for i in blocks.range(block) {
                    let Some(set) = moves_into[blocks.elements[i] as usize] else { continue };
                    for j in into.range(set) {
                        cords.mark(into.elements[j]);
                    }
                }
                cords.split();
                block += 1;
            }
        }
        let mut block = vec![0; self.len()];
        for (i, &state) in states.iter().enumerate() {
            block[state as usize] = blocks.set_of[i] + 1;
        }
        self.quotient(&block, blocks.len())
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

/// The moves of an automaton, backwards.
pub struct Before {
    first: Vec<u32>,
    from: Vec<u32>,
}

impl Before {
    /// The states that lead to `state` by one letter.
    fn of(&self, state: u32) -> &[u32] {
        &self.from[self.first[state as usize] as usize..self.first[state as usize + 1] as usize]
    }

    /// All states that lead to one of `states`, these included.
    pub fn leading_to(&self, states: impl Iterator<Item = u32>) -> Vec<bool> {
        let mut leads = vec![false; self.first.len() - 1];
        let mut work: Vec<u32> = states.collect();
        work.iter().for_each(|&s| leads[s as usize] = true);
        while let Some(state) = work.pop() {
            for &from in self.of(state) {
                if !std::mem::replace(&mut leads[from as usize], true) {
                    work.push(from);
                }
            }
        }
        leads
    }
}

/// The subset construction over several automata side by side, whose
/// states are numbered through.
struct Subsets<'a> {
    alphabet: &'a Alphabet,
    starts: Vec<u32>,
    /// Moves by letters, and silent ones, of each state.
    moves: Flat<(u8, u8, u32)>,
    silent: Flat<u32>,
    /// The label of a state that ends an automaton.
    ends: Vec<Option<u32>>,
    ids: HashMap<Vec<u32>, u32>,
    /// Sets before silent moves, which are met again and again.
    open_ids: HashMap<Vec<u32>, u32>,
    sets: Vec<Vec<u32>>,
    marks: Vec<bool>,
    work: &'a mut Work,
}

/// Lists one behind the other.
struct Flat<T> {
    first: Vec<u32>,
    all: Vec<T>,
}

impl<T> Flat<T> {
    fn new() -> Flat<T> {
        Flat { first: vec![0], all: Vec::new() }
    }

    fn push(&mut self, list: impl Iterator<Item = T>) {
        self.all.extend(list);
        self.first.push(self.all.len() as u32);
    }

    fn of(&self, at: u32) -> &[T] {
        &self.all[self.first[at as usize] as usize..self.first[at as usize + 1] as usize]
    }
}

impl<'a> Subsets<'a> {
    fn new(parts: &'a [Part<'a>], alphabet: &'a Alphabet, work: &'a mut Work) -> Subsets<'a> {
        let (mut moves, mut silent) = (Flat::new(), Flat::new());
        let mut starts = Vec::with_capacity(parts.len());
        let mut ends = Vec::new();
        for part in parts {
            let base = ends.len() as u32;
            let letter = |byte| alphabet.letter(byte) as u8;
            for list in &part.nfa.moves {
                moves.push(list.iter().map(|&(low, high, to)| (letter(low), letter(high), to + base)));
            }
            for list in &part.nfa.silent {
                silent.push(list.iter().map(|to| to + base));
            }
            starts.push(base + part.nfa.start);
            ends.resize(base as usize + part.nfa.moves.len(), None);
            ends[(base + part.nfa.end) as usize] = Some(part.label);
        }
        let marks = vec![false; ends.len()];
        let (ids, open_ids, sets) = (HashMap::new(), HashMap::new(), Vec::new());
        Subsets { alphabet, starts, moves, silent, ends, ids, open_ids, sets, marks, work }
    }

    fn build(mut self, shadowed: &mut dyn FnMut(u32)) -> Result<Dfa, TooLarge> {
        let width = self.alphabet.len();
        let mut out = Dfa { width, next: Vec::new(), labels: Vec::new(), start: DEAD };
        self.id(&[])?;
        let starts = std::mem::take(&mut self.starts);
        out.start = self.id(&starts)?;
        let mut reached: Vec<Vec<u32>> = vec![Vec::new(); width];
        let mut at = 0;
        while at < self.sets.len() {
            let set = std::mem::take(&mut self.sets[at]);
            out.labels.push(self.label(&set, shadowed));
            for &state in &set {
                for &(low, high, to) in self.moves.of(state) {
                    reached[usize::from(low)..=usize::from(high)].iter_mut().for_each(|r| r.push(to));
                }
            }
            for states in &mut reached {
                let to = if states.is_empty() { DEAD } else { self.id(states)? };
                states.clear();
                out.next.push(to);
            }
            at += 1;
        }
        Ok(out)
    }

    fn label(&self, set: &[u32], shadowed: &mut dyn FnMut(u32)) -> Option<u32> {
        let mut least: Option<u32> = None;
        for label in set.iter().filter_map(|&s| self.ends[s as usize]) {
            match least {
                Some(l) if l < label => shadowed(label),
                Some(l) => {
                    shadowed(l);
                    least = Some(label);
                }
                None => least = Some(label),
            }
        }
        least
    }

    /// The number of the set of all that `states` silently lead to.
    fn id(&mut self, states: &[u32]) -> Result<u32, TooLarge> {
        self.work.spend(states.len() + 1)?;
        if let Some(&id) = self.open_ids.get(states) {
            return Ok(id);
        }
        let mut waiting = states.to_vec();
        let mut closed = Vec::with_capacity(states.len());
        while let Some(state) = waiting.pop() {
            if std::mem::replace(&mut self.marks[state as usize], true) {
                continue;
            }
            closed.push(state);
            waiting.extend_from_slice(self.silent.of(state));
        }
        closed.iter().for_each(|&s| self.marks[s as usize] = false);
        self.work.spend(closed.len())?;
        // Only states that move or end tell sets apart.
        closed.retain(|&s| self.ends[s as usize].is_some() || !self.moves.of(s).is_empty());
        closed.sort_unstable();
        let fresh = self.sets.len() as u32;
        let id = *self.ids.entry_ref(&*closed).or_insert(fresh);
        if id == fresh {
            self.work.spend(self.alphabet.len())?;
            self.sets.push(closed);
        }
        self.open_ids.insert(states.to_vec(), id);
        Ok(id)
    }
}
