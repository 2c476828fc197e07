//! The LR(0) automaton, built as far as inputs ask for it.
//!
//! In:  a [`Form`], and from then on states and letters.
//! Out: what the parser does in a state at a letter, and where it goes
//!      after a nonterminal.
//!
//! States are sets of items. What a state does at a letter is worked out
//! when it is first asked for and kept in a row, as a lazy DFA keeps its
//! transitions; rows are dropped when they pass a bound. A reduction is
//! offered only where the letter can follow its nonterminal (SLR); what is
//! still in doubt then the parser decides on its actual stack, which is
//! exact where tables of LALR(1) look-ahead would not be, and needs no
//! tables.
//!
//! Where a shift leads to states that can only reduce, all of it is one
//! step, a [`Macro`]: reading one more character of a list of characters
//! costs one look into a row.

use crate::action::{Action, Choice, Do, Macro};
use crate::follow::Follow;
use crate::form::{Form, Sym, What};
use crate::fx::Fx;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::hash::BuildHasher;

struct State {
    kernel: (u32, u32),
    /// The symbol that leads here.
    access: Sym,
    row: u32,
    /// What follows from the kernel, once worked out.
    closed: Option<Box<Closed>>,
}

/// The items of a state, by what comes next.
struct Closed {
    terminals: Vec<(u32, u32)>,
    gotos: Vec<(u32, u32)>,
    complete: Vec<u32>,
}

const NO_ROW: u32 = u32::MAX;

/// The part of the automaton that is built.
pub(crate) struct Automaton {
    width: usize,
    states: Vec<State>,
    kernels: Vec<u32>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    rows: Vec<Action>,
    gotos: HashMap<u64, u32, Fx>,
    pub macros: Vec<Macro>,
    choices: Vec<Choice>,
    seen: Vec<u32>,
    round: u32,
    /// Bytes of closed states, rows and gotos.
    size: usize,
    bound: usize,
}

/// The start state.
pub(crate) const START: u32 = 0;

impl Automaton {
    pub fn new(form: &Form, letters: usize, bound: usize) -> Automaton {
        let mut automaton = Automaton {
            width: letters + 1,
            states: Vec::new(),
            kernels: Vec::new(),
            ids: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            rows: Vec::new(),
            gotos: HashMap::default(),
            macros: Vec::new(),
            choices: Vec::new(),
            seen: vec![0; form.nonterminals()],
            round: 0,
            size: 0,
            bound,
        };
        automaton.state(vec![0], Sym::NONE);
        automaton
    }

    /// Bytes of all that is built.
    pub fn bytes(&self) -> usize {
        self.size + self.states.len() * 64 + self.kernels.len() * 4
    }

    /// Before an input: no trace refers to a macro any more.
    pub fn begin(&mut self) {
        if self.size > self.bound {
            self.trim();
            self.macros = Vec::new();
        }
    }

    /// Drops what can be worked out again, if it has grown beyond the bound.
    pub fn trim(&mut self) {
        if self.size <= self.bound {
            return;
        }
        for state in &mut self.states {
            state.row = NO_ROW;
            state.closed = None;
        }
        self.rows = Vec::new();
        self.gotos = HashMap::default();
        self.choices = Vec::new();
        self.size = 0;
    }

    #[inline]
    pub fn access(&self, state: u32) -> Sym {
        self.states[state as usize].access
    }

    /// What is done in `state` at `letter`, if it is known.
    #[inline]
    pub fn known(&self, state: u32, letter: u32) -> Do {
        let row = self.states[state as usize].row;
        if row == NO_ROW {
            return Do::Unknown;
        }
        self.rows[row as usize + letter as usize].what()
    }

    /// What is done in `state` at `letter`.
    pub fn action(&mut self, form: &Form, follow: &Follow, state: u32, letter: u32) -> Do {
        match self.known(state, letter) {
            Do::Unknown => {
                let action = self.work_out(form, follow, state, letter);
                if self.states[state as usize].row == NO_ROW {
                    self.states[state as usize].row = self.rows.len() as u32;
                    self.rows.resize(self.rows.len() + self.width, Action::UNKNOWN);
                    self.size += self.width * 4;
                }
                let row = self.states[state as usize].row as usize;
                self.rows[row + letter as usize] = action;
                action.what()
            }
            known => known,
        }
    }

    pub fn choices(&self, choice: u32) -> &Choice {
        &self.choices[choice as usize]
    }

    /// The state after a shift, and the reductions that are offered.
    pub fn offers(&self, what: Do) -> (Option<u32>, &[u32]) {
        match what {
            Do::Shift(state) => (Some(state), &[]),
            Do::Loop(m) | Do::Push(m) => (Some(self.macros[m as usize].shifted), &[]),
            Do::Choose(choice) => {
                let choice = &self.choices[choice as usize];
                (choice.shift, &choice.reductions)
            }
            Do::Unknown | Do::Error | Do::Accept | Do::Reduce(_) => (None, &[]),
        }
    }

    /// The state after a nonterminal; only asked for where there is one.
    #[inline]
    pub fn goto(&mut self, form: &Form, state: u32, nonterminal: u32) -> u32 {
        let key = u64::from(state) << 32 | u64::from(nonterminal);
        if let Some(&to) = self.gotos.get(&key) {
            return to;
        }
        self.close(form, state);
        let mut kernel = Vec::new();
        if let Some(closed) = &self.states[state as usize].closed {
            let from = closed.gotos.partition_point(|g| g.0 < nonterminal);
            let items = closed.gotos[from..].iter().take_while(|g| g.0 == nonterminal);
            kernel.extend(items.map(|&(_, item)| item + 1));
        }
        let to = self.state(kernel, Sym::non(nonterminal));
        self.gotos.insert(key, to);
        self.size += 24;
        to
    }

    /// The items that a state is made of.
    pub fn kernel(&self, state: u32) -> &[u32] {
        let (from, to) = self.states[state as usize].kernel;
        &self.kernels[from as usize..to as usize]
    }

    /// The items of a state that read a letter next.
    pub fn reading(&mut self, form: &Form, state: u32, letter: u32) -> Vec<u32> {
        self.close(form, state);
        let Some(closed) = &self.states[state as usize].closed else { return Vec::new() };
        let reads = closed.terminals.iter().filter(|t| form.set_has(t.0, letter));
        reads.map(|&(_, item)| item).collect()
    }

    fn state(&mut self, mut kernel: Vec<u32>, access: Sym) -> u32 {
        kernel.sort_unstable();
        kernel.dedup();
        let hash = self.hasher.hash_one(&kernel);
        let (states, kernels) = (&self.states, &self.kernels);
        let slice = |id: u32| {
            let (from, to) = states[id as usize].kernel;
            &kernels[from as usize..to as usize]
        };
        if let Some(&id) = self.ids.find(hash, |&id| slice(id) == kernel) {
            return id;
        }
        let hasher = &self.hasher;
        self.ids.insert_unique(hash, states.len() as u32, |&id| hasher.hash_one(slice(id).to_vec()));
        let from = self.kernels.len() as u32;
        self.kernels.extend(kernel);
        let kernel = (from, self.kernels.len() as u32);
        self.states.push(State { kernel, access, row: NO_ROW, closed: None });
        self.states.len() as u32 - 1
    }

    /// Works out the items of a state.
    fn close(&mut self, form: &Form, state: u32) {
        if self.states[state as usize].closed.is_some() {
            return;
        }
        self.round += 1;
        let (mut terminals, mut gotos, mut complete) = (Vec::new(), Vec::new(), Vec::new());
        let mut items: Vec<u32> = self.kernel(state).to_vec();
        while let Some(item) = items.pop() {
            match form.symbols[item as usize].what() {
                What::Set(set) => terminals.push((set, item)),
                What::End(production) => complete.push(production),
                What::Non(nonterminal) => {
                    gotos.push((nonterminal, item));
                    if self.seen[nonterminal as usize] != self.round {
                        self.seen[nonterminal as usize] = self.round;
                        let productions = form.productions_of(nonterminal);
                        items.extend(productions.map(|p| form.production(p).first));
                    }
                }
            }
        }
        gotos.sort_unstable();
        complete.sort_unstable();
        self.size += (terminals.len() + gotos.len()) * 8 + complete.len() * 4 + 96;
        self.states[state as usize].closed = Some(Box::new(Closed { terminals, gotos, complete }));
    }

    fn work_out(&mut self, form: &Form, follow: &Follow, state: u32, letter: u32) -> Action {
        self.close(form, state);
        let Some(closed) = &self.states[state as usize].closed else { return Action::new(1, 0) };
        let last = self.width as u32 - 1;
        if closed.complete.first() == Some(&0) {
            return Action::new(if letter == last { 7 } else { 1 }, 0);
        }
        // With a single thing to do the letter need not be looked at: if it
        // is wrong, that shows before it is read.
        let single = closed.complete.len() == 1 && closed.terminals.is_empty() && closed.gotos.is_empty();
        let reductions: Box<[u32]> = closed
            .complete
            .iter()
            .copied()
            .filter(|&p| single || follow.has(form.production(p).lhs, letter))
            .collect();
        let mut kernel = Vec::new();
        let mut access = Sym::NONE;
        if letter < last {
            for &(_, item) in closed.terminals.iter().filter(|t| form.set_has(t.0, letter)) {
                kernel.push(item + 1);
                access = form.symbols[item as usize];
            }
        }
        let shift = (!kernel.is_empty()).then(|| self.state(kernel, access));
        match (shift, &*reductions) {
            (None, []) => Action::new(1, 0),
            (None, &[one]) if !form.cyclic[form.production(one).lhs as usize] => Action::new(3, one),
            (Some(to), []) => self.shift(form, state, to),
            _ => {
                self.choices.push(Choice { shift, reductions });
                self.size += 48;
                Action::new(6, self.choices.len() as u32 - 1)
            }
        }
    }

    /// The action that goes from `state` to `to`, with all reductions that
    /// must follow.
    fn shift(&mut self, form: &Form, state: u32, to: u32) -> Action {
        let mut above = vec![to];
        let mut reductions = Vec::new();
        while let Some(production) = self.only(form, above.last().copied().unwrap_or(state)) {
            let (lhs, len) = {
                let p = form.production(production);
                (p.lhs, p.len as usize)
            };
            if form.cyclic[lhs as usize] {
                break;
            }
            if len == above.len() + 1 && self.access(state) == Sym::non(lhs) {
                // The state below leads by the same symbol to the same state.
                reductions.push(production);
                above.clear();
                break;
            }
            if len > above.len() {
                break;
            }
            reductions.push(production);
            above.truncate(above.len() - len);
            let below = above.last().copied().unwrap_or(state);
            above.push(self.goto(form, below, lhs));
        }
        if reductions.is_empty() || above.len() > 1 {
            return Action::new(2, to);
        }
        let looped = above.is_empty();
        let end = above.pop().unwrap_or(state);
        self.macros.push(Macro { shifted: to, state: end, reductions: reductions.into() });
        Action::new(if looped { 4 } else { 5 }, self.macros.len() as u32 - 1)
    }

    /// The production that is all that a state can do.
    fn only(&mut self, form: &Form, state: u32) -> Option<u32> {
        match *self.kernel(state) {
            [item] => match form.symbols[item as usize].what() {
                What::End(production) if production != 0 => Some(production),
                _ => None,
            },
            _ => None,
        }
    }
}
