//! Stacks become states.
//!
//! In:  a form and limits.
//! Out: [`Built`]: an automaton, and the stack that each state stands for.
//!
//! Stacks are hash-consed: one is an item on top of another stack. The
//! transitions of a stack are those of its top item and, if that can be left
//! empty, those of the stack below.
//!
//! With a limit on the height, all stacks are states that can be reached and
//! emptied within it. Without one, all stacks are, if they are few enough
//! (the automaton is exact then); else those that a walk comes to most
//! likely. That reaches deep into a grammar where a limit on the height that
//! takes as many states would not let a list stand in a list: most stacks of
//! a given height are unlikely ones.

use super::{Automaton, TooWide, Transition};
use crate::Unfit;
use crate::form::{Form, ItemKind, NONE};
use hashbrown::HashMap;
use std::collections::{BinaryHeap, VecDeque};

/// How large an automaton may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The height of the stack; if none is given, likely stacks are taken
    /// until another limit is reached.
    pub stack: Option<u32>,
    /// States.
    pub states: usize,
    /// Transitions, each with all members of its label.
    pub transitions: usize,
}

impl Limits {
    /// What is built when no stack limit is given: at most about 16 MiB.
    pub const DEFAULT: Limits = Limits { stack: None, states: 1 << 16, transitions: 1 << 19 };

    /// With a stack limit that someone asked for: at most about 512 MiB.
    pub fn with_stack(stack: u32) -> Limits {
        Limits { stack: Some(stack), states: 1 << 22, transitions: 1 << 24 }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

/// Stacks grow no higher than this.
const HIGHEST: u32 = 1 << 16;

/// A stack: an item on top of another stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stack {
    /// The item; [`NONE`] in the empty stack, which is number 0.
    pub item: u32,
    /// The stack below.
    pub below: u32,
}

/// An automaton and what its states stand for.
#[derive(Debug)]
pub struct Built {
    /// The automaton.
    pub automaton: Automaton,
    /// The form that it was built from.
    pub form: Form,
    /// Whether it derives all that the grammar does.
    pub exact: bool,
    /// A rule with a repetition that was cut short, whatever the limit.
    pub cut: Option<String>,
    /// The limit on the height of the stack; where none was given, the
    /// height of the highest one.
    pub stack_limit: u32,
    /// The rule that can stand inside itself most often within the limit,
    /// and how often; none if no rule can.
    pub nesting: Option<(String, u32)>,
    pub(crate) stacks: Vec<Stack>,
    /// The stack that each state stands for.
    pub(crate) stack_of: Vec<u32>,
}

impl Built {
    /// Builds the automaton of a form.
    pub fn new(form: Form, limits: Limits) -> Result<Built, Unfit> {
        let mut search = Search::new(&form);
        let all = match limits.stack {
            Some(limit) => search.by_height(limit, limits)?,
            // Where a rule embeds itself there is no end of stacks.
            None => (!form.self_embedding && search.all(limits)) || search.by_chance(limits)?,
        };
        let (stacks, stack_of, start) = search.keep();
        let (rows, transitions) = search.rows();
        let stack_limit = limits.stack.unwrap_or_else(|| search.highest());
        let labels = form.labels.clone();
        let built = Automaton::new(&rows, transitions, labels, start);
        let mut automaton = built.map_err(|TooWide { state }| {
            let item = stacks[stack_of[state as usize] as usize].item;
            Unfit::Members { rule: form.rule_name(item) }
        })?;
        automaton.find_least();
        let nesting = nesting(&form, &stacks);
        let cut = form.cut.map(|rule| form.grammar.name(rule).to_string());
        let exact = all && cut.is_none();
        Ok(Built { automaton, form, exact, cut, stack_limit, nesting, stacks, stack_of })
    }
}

struct Search<'f> {
    form: &'f Form,
    stacks: Vec<Stack>,
    ids: HashMap<(u32, u32), u32>,
    facts: Vec<Facts>,
    /// Where the targets of looked-at stacks begin in `targets`.
    from: Vec<u32>,
    targets: Vec<u32>,
    /// The number of the state that each stack is, after [`Search::keep`].
    state: Vec<u32>,
    start: u32,
}

/// What is known of a stack when it is made.
#[derive(Clone, Copy)]
struct Facts {
    /// How high it is.
    height: u32,
    /// How high it must be allowed to grow so that it can be emptied.
    need: u32,
    /// Transitions of its row, at most.
    row: u32,
    /// Whether an input may end with it.
    accepting: bool,
}

impl<'f> Search<'f> {
    fn new(form: &'f Form) -> Search<'f> {
        let facts = Facts { height: 0, need: 0, row: 0, accepting: true };
        let mut search = Search {
            form,
            stacks: vec![Stack { item: NONE, below: NONE }],
            ids: HashMap::new(),
            facts: vec![facts],
            from: vec![NONE],
            targets: Vec::new(),
            state: Vec::new(),
            start: 0,
        };
        search.start = search.push(0, form.start);
        search
    }

    fn push(&mut self, below: u32, item: u32) -> u32 {
        if let Some(&id) = self.ids.get(&(item, below)) {
            return id;
        }
        let (under, top) = (self.facts[below as usize], self.form.items[item as usize]);
        let mut facts = Facts {
            height: under.height + 1,
            need: under.need.max(under.height.saturating_add(self.form.heights[item as usize])),
            row: top.count,
            accepting: top.nullable && under.accepting,
        };
        if top.nullable {
            facts.row = facts.row.saturating_add(under.row);
        }
        self.stacks.push(Stack { item, below });
        self.facts.push(facts);
        self.from.push(NONE);
        let id = self.stacks.len() as u32 - 1;
        self.ids.insert((item, below), id);
        id
    }

    /// The stack below, if what is on top can be left empty.
    fn through(&self, stack: u32) -> Option<u32> {
        let Stack { item, below } = self.stacks[stack as usize];
        self.form.items.get(item as usize).is_some_and(|item| item.nullable).then_some(below)
    }

    /// Finds where the transitions of the top item lead, once.
    fn look_at(&mut self, stack: u32) {
        self.from[stack as usize] = self.targets.len() as u32;
        let Stack { item, below } = self.stacks[stack as usize];
        if item == NONE {
            return;
        }
        let form = self.form;
        for transition in form.transitions_of(item) {
            let mut target = below;
            for pushed in form.pushed(transition) {
                target = self.push(target, pushed);
            }
            self.targets.push(target);
        }
    }

    fn seen(&self, stack: u32) -> bool {
        self.from[stack as usize] != NONE
    }

    /// Where the transitions of a looked-at stack's top item lead.
    fn targets_of(&self, stack: u32) -> &[u32] {
        let count = self.form.items.get(self.stacks[stack as usize].item as usize).map_or(0, |i| i.count);
        &self.targets[self.from[stack as usize] as usize..][..count as usize]
    }

    /// Looks at all stacks that can be emptied within a limit; whether a
    /// higher limit adds nothing.
    fn by_height(&mut self, limit: u32, limits: Limits) -> Result<bool, Unfit> {
        let least = self.facts[self.start as usize].need;
        if limit < least {
            return Err(Unfit::StackLimit { limit, least });
        }
        let (mut budget, mut all) = (Budget::new(limits), true);
        let mut open = vec![self.start];
        while let Some(stack) = open.pop() {
            if self.seen(stack) {
                continue;
            }
            if !budget.take(self.facts[stack as usize].row) {
                return Err(self.too_many(limits));
            }
            self.look_at(stack);
            open.extend(self.through(stack));
            for &target in self.targets_of(stack) {
                match self.facts[target as usize].need <= limit {
                    true => open.push(target),
                    false => all = false,
                }
            }
        }
        Ok(all)
    }

    /// Looks at all stacks; whether they are few enough.
    fn all(&mut self, limits: Limits) -> bool {
        let mut budget = Budget::new(limits);
        let mut open = VecDeque::from([self.start]);
        while let Some(stack) = open.pop_front() {
            if self.seen(stack) {
                continue;
            }
            let Facts { row, height, .. } = self.facts[stack as usize];
            if !budget.take(row) || height > HIGHEST {
                return false;
            }
            self.look_at(stack);
            open.extend(self.through(stack));
            open.extend(self.targets_of(stack).iter().filter(|&&target| !self.seen(target)));
        }
        true
    }

    /// Looks at the stacks that a walk comes to most likely; never at all.
    ///
    /// A walk is taken to draw among transitions, not among their words: a
    /// rule with thousands of names would else make all but the calls that
    /// nest without end unlikely. For the same reason each level of the stack
    /// counts as one more coin.
    fn by_chance(&mut self, limits: Limits) -> Result<bool, Unfit> {
        *self = Search::new(self.form);
        let mut budget = Budget::new(limits);
        let mut open = BinaryHeap::from([Chance(1.0, self.start)]);
        while let Some(Chance(chance, stack)) = open.pop() {
            if self.seen(stack) {
                continue;
            }
            let Facts { row, height, accepting, .. } = self.facts[stack as usize];
            if !budget.take(row) {
                break;
            }
            self.look_at(stack);
            if height >= HIGHEST {
                continue;
            }
            let each = chance / f64::from(row + u32::from(accepting)).max(1.0);
            // What passes through to the stack below.
            if let Some(below) = self.through(stack).filter(|&below| !self.seen(below)) {
                let passes = self.facts[below as usize].row.max(1);
                open.push(Chance(each * f64::from(passes), below));
            }
            for &target in self.targets_of(stack).iter().filter(|&&target| !self.seen(target)) {
                let higher = self.facts[target as usize].height.saturating_sub(height);
                open.push(Chance(each * 0.5f64.powi(higher as i32), target));
            }
        }
        match self.ends()[self.start as usize] {
            true => Ok(false),
            false => Err(self.too_many(limits)),
        }
    }

    /// Whether each stack can be emptied by way of looked-at ones.
    fn ends(&self) -> Vec<bool> {
        let stacks = || (0..self.stacks.len() as u32).filter(|&stack| self.seen(stack));
        let targets = |stack| self.targets_of(stack).iter().copied().chain(self.through(stack));
        // For each stack those that lead to it, as one list.
        let mut from = vec![0u32; self.stacks.len() + 1];
        stacks().flat_map(targets).for_each(|target| from[target as usize + 1] += 1);
        (0..self.stacks.len()).for_each(|i| from[i + 1] += from[i]);
        let (mut next, mut sources) = (from.clone(), vec![0u32; from[self.stacks.len()] as usize]);
        for stack in stacks() {
            for target in targets(stack) {
                sources[next[target as usize] as usize] = stack;
                next[target as usize] += 1;
            }
        }
        let mut ends = vec![false; self.stacks.len()];
        let mut open: Vec<u32> = stacks().filter(|&s| self.facts[s as usize].accepting).collect();
        while let Some(stack) = open.pop() {
            if !std::mem::replace(&mut ends[stack as usize], true) {
                let range = from[stack as usize] as usize..from[stack as usize + 1] as usize;
                open.extend_from_slice(&sources[range]);
            }
        }
        ends
    }

    fn too_many(&self, limits: Limits) -> Unfit {
        let mut count: HashMap<u32, u32> = HashMap::new();
        for stack in (0..self.stacks.len() as u32).filter(|&stack| self.seen(stack)) {
            if let Some(item) = self.form.items.get(self.stacks[stack as usize].item as usize) {
                *count.entry(item.rule.0).or_default() += 1;
            }
        }
        let most = count.into_iter().max_by_key(|&(rule, count)| (count, rule)).map_or(0, |(rule, _)| rule);
        let rule = self.form.grammar.name(wug_grammar::RuleId(most)).to_string();
        let least = self.facts[self.start as usize].need;
        let lower = limits.stack.filter(|&limit| limit > least).map(|limit| (limit / 2).max(least));
        Unfit::States { rule, limit: limits.stack, lower }
    }

    /// Numbers the states: stacks that transitions lead to, and that can be
    /// emptied. The stacks that are left, with new numbers; the stack of each
    /// state; the state to start from.
    fn keep(&mut self) -> (Vec<Stack>, Vec<u32>, u32) {
        let ends = self.ends();
        let good = |stack: u32| self.seen(stack) && ends[stack as usize];
        let mut entered = vec![false; self.stacks.len()];
        let mut passed = vec![false; self.stacks.len()];
        entered[self.start as usize] = true;
        let mut open = vec![self.start];
        while let Some(stack) = open.pop() {
            if std::mem::replace(&mut passed[stack as usize], true) {
                continue;
            }
            for &target in self.targets_of(stack).iter().filter(|&&target| good(target)) {
                entered[target as usize] = true;
                open.push(target);
            }
            open.extend(self.through(stack).filter(|&below| good(below)));
        }
        let mut needed = entered.clone();
        // The empty stack is number 0, a state or not.
        needed[0] = true;
        for stack in (1..self.stacks.len()).rev().filter(|&stack| entered[stack]) {
            let mut at = self.stacks[stack].below;
            while !std::mem::replace(&mut needed[at as usize], true) {
                at = self.stacks[at as usize].below;
            }
        }
        self.state = vec![NONE; self.stacks.len()];
        let mut number = vec![NONE; self.stacks.len()];
        let (mut stacks, mut stack_of) = (Vec::new(), Vec::new());
        for old in (0..self.stacks.len()).filter(|&old| needed[old]) {
            let Stack { item, below } = self.stacks[old];
            let below = number.get(below as usize).copied().unwrap_or(NONE);
            number[old] = stacks.len() as u32;
            if entered[old] {
                self.state[old] = stack_of.len() as u32;
                stack_of.push(stacks.len() as u32);
            }
            stacks.push(Stack { item, below });
        }
        (stacks, stack_of, self.state[self.start as usize])
    }

    /// The height of the highest state.
    fn highest(&self) -> u32 {
        let states = self.state.iter().zip(&self.facts).filter(|(state, _)| **state != NONE);
        states.map(|(_, facts)| facts.height).max().unwrap_or(0)
    }

    /// The rows of all states, after [`Search::keep`].
    fn rows(&self) -> (Vec<(u32, bool)>, Vec<Transition>) {
        let mut rows: Vec<(u32, bool)> = Vec::new();
        let mut transitions: Vec<Transition> = Vec::new();
        for stack in (0..self.stacks.len() as u32).filter(|&stack| self.state[stack as usize] != NONE) {
            let first = transitions.len();
            let mut at = Some(stack);
            while let Some(here) = at.filter(|&here| self.seen(here)) {
                let item = self.form.items.get(self.stacks[here as usize].item as usize);
                let labels = item.map_or(0, |item| item.first)..;
                for (label, &target) in labels.zip(self.targets_of(here)) {
                    let target = self.state[target as usize];
                    if target != NONE {
                        transitions.push(Transition { label, target });
                    }
                }
                at = self.through(here);
            }
            let accepting = self.facts[stack as usize].accepting;
            rows.push(((transitions.len() - first) as u32, accepting));
        }
        (rows, transitions)
    }
}

/// What is left of the limits.
struct Budget {
    states: usize,
    transitions: usize,
}

impl Budget {
    fn new(limits: Limits) -> Budget {
        Budget { states: limits.states, transitions: limits.transitions }
    }

    /// One more state, with so many transitions; whether there is room.
    fn take(&mut self, row: u32) -> bool {
        let fits = self.states > 0 && self.transitions >= row as usize;
        self.states = self.states.saturating_sub(1);
        self.transitions = self.transitions.saturating_sub(row as usize);
        fits
    }
}

/// A stack and how likely a walk comes to it; equally likely ones in the
/// order in which they were met.
#[derive(PartialEq)]
struct Chance(f64, u32);

impl Eq for Chance {}

impl Ord for Chance {
    fn cmp(&self, other: &Chance) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}

impl PartialOrd for Chance {
    fn partial_cmp(&self, other: &Chance) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The rule whose rest lies on one stack most often, and how often; rounds
/// of a repetition that stand below themselves count for their rule.
fn nesting(form: &Form, stacks: &[Stack]) -> Option<(String, u32)> {
    let mut often = vec![0u32; stacks.len()];
    let mut best: Option<(u32, u32)> = None;
    let place = |item: u32| match form.items[item as usize].kind {
        ItemKind::Rounds(repeat, _) => (0, repeat.0, 0),
        ItemKind::Rest(node) => (1, node, 0),
        ItemKind::Goal(part) => (2, part, 0),
        ItemKind::Left(goal, part) => (3, goal, part),
    };
    for at in 1..stacks.len() {
        let Stack { item, mut below } = stacks[at];
        let own = place(item);
        let mut count = 1;
        while stacks[below as usize].item != NONE {
            let next = stacks[below as usize];
            if place(next.item) == own {
                count = 1 + often[below as usize];
                break;
            }
            below = next.below;
        }
        often[at] = count;
        if count > 1 && best.is_none_or(|(most, _)| count > most) {
            best = Some((count, item));
        }
    }
    best.map(|(count, item)| (form.rule_name(item), count))
}
