//! Which letters can begin a nonterminal, and stand behind it.

use crate::form::{Form, What};

/// For each nonterminal, the letters that can begin it and those that can
/// stand behind it; the end of an input is the last letter.
pub(crate) struct Follow {
    first: Sets,
    follow: Sets,
}

impl Follow {
    pub fn of(form: &Form, letters: usize) -> Follow {
        let words = letters / 64 + 1;
        let mut first = Sets::empty(form, words);
        let mut edges = vec![Vec::new(); form.nonterminals()];
        for p in 0..form.productions.len() as u32 {
            let lhs = form.production(p).lhs;
            match form.symbols_of(p)[0].what() {
                What::Set(set) => form.set(set).iter().for_each(|&l| first.add(lhs, l)),
                What::Non(n) => edges[n as usize].push(lhs),
                What::End(_) => {}
            }
        }
        first.spread(&edges);
        let mut follow = Sets::empty(form, words);
        follow.add(0, letters as u32);
        edges.iter_mut().for_each(Vec::clear);
        for p in 0..form.productions.len() as u32 {
            let (lhs, symbols) = (form.production(p).lhs, form.symbols_of(p));
            for (at, symbol) in symbols.iter().enumerate() {
                let What::Non(n) = symbol.what() else { continue };
                match symbols.get(at + 1).map(|s| s.what()) {
                    Some(What::Set(set)) => form.set(set).iter().for_each(|&l| follow.add(n, l)),
                    Some(What::Non(next)) => {
                        for word in 0..words {
                            follow.sets[n as usize * words + word] |=
                                first.sets[next as usize * words + word];
                        }
                    }
                    _ => edges[lhs as usize].push(n),
                }
            }
        }
        follow.spread(&edges);
        Follow { first, follow }
    }

    /// Whether `letter` can stand behind a nonterminal.
    pub fn has(&self, nonterminal: u32, letter: u32) -> bool {
        self.follow.has(nonterminal, letter)
    }

    /// Whether `letter` can begin a nonterminal.
    pub fn begins(&self, nonterminal: u32, letter: u32) -> bool {
        self.first.has(nonterminal, letter)
    }
}

/// A set of letters for each nonterminal.
struct Sets {
    words: usize,
    sets: Vec<u64>,
}

impl Sets {
    fn empty(form: &Form, words: usize) -> Sets {
        Sets { words, sets: vec![0; form.nonterminals() * words] }
    }

    fn add(&mut self, nonterminal: u32, letter: u32) {
        self.sets[nonterminal as usize * self.words + letter as usize / 64] |= 1 << (letter % 64);
    }

    fn has(&self, nonterminal: u32, letter: u32) -> bool {
        self.sets[nonterminal as usize * self.words + letter as usize / 64] >> (letter % 64) & 1 == 1
    }

    /// Adds each set to those that its edges lead to, until nothing grows.
    fn spread(&mut self, edges: &[Vec<u32>]) {
        let words = self.words;
        let mut work: Vec<u32> = (0..edges.len() as u32).collect();
        let mut waits = vec![true; edges.len()];
        while let Some(from) = work.pop() {
            waits[from as usize] = false;
            for &to in &edges[from as usize] {
                let mut grew = false;
                for word in 0..words {
                    let add = self.sets[from as usize * words + word];
                    let old = &mut self.sets[to as usize * words + word];
                    grew |= add & !*old != 0;
                    *old |= add;
                }
                if grew && !std::mem::replace(&mut waits[to as usize], true) {
                    work.push(to);
                }
            }
        }
    }
}
