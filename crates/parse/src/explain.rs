//! Why an input was rejected, in words of the grammar.
//!
//! In:  the stacks that had come furthest.
//! Out: what could have come next, and in which rules.

use crate::Rejected;
use crate::automaton::START;
use crate::engine::{Engine, Input};
use crate::form::{Form, Key, What};
use crate::terminals::Terminals;
use hashbrown::{HashMap, HashSet};
use wug_grammar::{BodyId, Class, Grammar, RuleId, Symbol, print};

/// Names for what the parser works with.
pub(crate) struct Names<'g> {
    pub grammar: &'g Grammar,
    pub terminals: &'g Terminals,
    /// The rule that each body is of.
    pub rules: Vec<Option<RuleId>>,
}

/// So many states are looked at for each letter that could come.
const TRIES: usize = 2_000;
/// So many rules are told of those that were being read, the innermost.
const MAX_STACK: usize = 32;
/// So many are told of what was expected.
const MAX_EXPECTED: usize = 1_000;
const END: &str = "the end of the input";

impl<'g> Names<'g> {
    pub fn new(grammar: &'g Grammar, terminals: &'g Terminals) -> Names<'g> {
        let mut rules = vec![None; grammar.body_count()];
        for rule in grammar.rules() {
            rules[grammar.rule(rule).body.index()] = Some(rule);
        }
        Names { grammar, terminals, rules }
    }

    pub fn rule(&self, body: BodyId) -> Option<&'g str> {
        let rule = self.rules[body.index()]?;
        (!self.grammar.rule(rule).made).then(|| self.grammar.name(rule))
    }

    /// The terminal at an item.
    fn terminal(&self, form: &Form, item: u32) -> String {
        if let (Terminals::Tokens(lexicon), What::Set(set)) =
            (self.terminals, form.symbols[item as usize].what())
        {
            let token = form.set(set).first().copied().unwrap_or(0);
            return lexicon.name(self.grammar, wug_grammar::lexical::TokenId(token));
        }
        let Some(symbol) = form.origin(item) else { return self.char(form, item) };
        match self.grammar.symbol(symbol.0) {
            Symbol::Bytes(bytes) => {
                let read = (0..item).rev().take_while(|&i| form.origin(i) == Some(symbol)).count();
                let mut text = String::new();
                print::wug::print_text(&self.grammar.bytes(bytes)[read..], '"', &mut text);
                text
            }
            Symbol::Class(class) => class_text(self.grammar.class(class)),
            _ => String::new(),
        }
    }

    /// A character of several bytes, of which some may be read.
    fn char(&self, form: &Form, item: u32) -> String {
        let end = (item..).find_map(|i| match form.symbols[i as usize].what() {
            What::End(production) => Some(production),
            _ => None,
        });
        let Some(production) = end else { return String::new() };
        let production = form.production(production);
        match form.keys[production.lhs as usize] {
            Key::Char(class) if item == production.first => class_text(self.grammar.class(class)),
            _ => "the rest of a character".to_string(),
        }
    }
}

fn class_text(class: &Class) -> String {
    let mut text = String::new();
    print::wug::print_class(class, &mut text);
    text
}

impl<I: Input> Engine<'_, I> {
    /// What is known of a rejection at a letter; `valid` and `found` are
    /// the caller's to tell.
    pub fn explain(&mut self, names: &Names<'_>, tops: &[u32], last: u32) -> Rejected {
        let mut terminals: Vec<String> = Vec::new();
        let mut states: Vec<u32> = Vec::new();
        let mut items: HashSet<u32> = HashSet::new();
        let mut viable: HashSet<u32> = HashSet::new();
        let mut at_end = false;
        for letter in 0..=last {
            let mut found: Vec<u32> = Vec::new();
            self.forget_tried();
            self.explore(tops, letter, TRIES, &mut |engine, top| {
                found.push(engine.state_of(top));
                true
            });
            if !found.is_empty() {
                viable.insert(letter);
            }
            at_end |= letter == last && !found.is_empty();
            for state in found {
                for item in self.automaton.reading(self.form, state, letter) {
                    if items.insert(item) && terminals.len() < MAX_EXPECTED {
                        terminals.push(names.terminal(self.form, item));
                    }
                }
                if !states.contains(&state) && states.len() < MAX_EXPECTED {
                    states.push(state);
                }
            }
        }
        let mut expected = Vec::new();
        for &state in &states {
            for &item in self.automaton.kernel(state) {
                self.parts(names, item, &viable, &mut expected);
            }
        }
        if at_end {
            terminals.push(END.to_string());
            expected.push(END.to_string());
        }
        for list in [&mut terminals, &mut expected] {
            let mut seen = HashSet::new();
            list.retain(|text| !text.is_empty() && seen.insert(text.clone()));
        }
        let rules = tops.first().map_or_else(Vec::new, |&top| self.rules_around(names, top));
        Rejected { valid: 0, found: None, expected, terminals, rules }
    }

    /// What an item expects, rules by their names, as far as it begins with
    /// a letter that could come.
    fn parts(&self, names: &Names<'_>, item: u32, viable: &HashSet<u32>, out: &mut Vec<String>) {
        let form = self.form;
        let (mut work, mut seen) = (vec![item], HashSet::new());
        while let Some(item) = work.pop() {
            match form.symbols[item as usize].what() {
                What::End(_) => {}
                What::Set(set) => {
                    if form.set(set).iter().any(|l| viable.contains(l)) {
                        out.push(names.terminal(form, item));
                    }
                }
                What::Non(nonterminal) => {
                    if !viable.iter().any(|&l| self.follow.begins(nonterminal, l)) {
                        continue;
                    }
                    match form.keys[nonterminal as usize] {
                        Key::Body(body) if names.rule(body).is_some() => {
                            out.extend(names.rule(body).map(|name| format!("`{name}`")));
                        }
                        _ if seen.insert(nonterminal) => {
                            let productions = form.productions_of(nonterminal).rev();
                            work.extend(productions.map(|p| form.production(p).first));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// The rules that were being read, the outermost first.
    fn rules_around(&mut self, names: &Names<'_>, top: u32) -> Vec<String> {
        let form = self.form;
        let mut rules: Vec<String> = Vec::new();
        let mut note = |nonterminal: u32| {
            if let Key::Body(body) = form.keys[nonterminal as usize]
                && let Some(name) = names.rule(body)
                && rules.last().is_none_or(|last| last != name)
            {
                rules.push(name.to_string());
            }
            rules.len() < MAX_STACK
        };
        let mut handle = top;
        // An item that goes on, of those the one that has come furthest.
        let dot = |item: u32| {
            let mut end = item;
            while !matches!(form.symbols[end as usize].what(), What::End(_)) {
                end += 1;
            }
            let What::End(p) = form.symbols[end as usize].what() else { return (0, 0, 0) };
            let first = form.production(p).first;
            (form.production(p).lhs, item - first, end - item)
        };
        let kernel = self.automaton.kernel(self.state_of(top)).to_vec();
        let best = kernel.into_iter().max_by_key(|&i| (dot(i).2 > 0, dot(i).1));
        let Some(mut item) = best else { return rules };
        // Each round goes down by at least one state.
        loop {
            let (lhs, read, _) = dot(item);
            if !note(lhs) {
                break;
            }
            for _ in 0..read {
                let mut below = None;
                self.each_edge(handle, |_, to, _| below = Some(to));
                let Some(to) = below else { break };
                handle = to;
            }
            let state = self.state_of(handle);
            let Some((from, chain)) = self.predicted(state, lhs) else { break };
            if !chain.into_iter().all(&mut note) || (state == START && dot(from).1 == 0) {
                break;
            }
            item = from;
        }
        rules.reverse();
        rules
    }

    /// The item of a state's kernel because of which a nonterminal can
    /// begin in it, and the nonterminals between, the innermost first.
    fn predicted(&self, state: u32, nonterminal: u32) -> Option<(u32, Vec<u32>)> {
        let form = self.form;
        // Who led to each nonterminal: a kernel item, or another nonterminal.
        let mut from: HashMap<u32, Result<u32, u32>> = HashMap::new();
        let mut queue = std::collections::VecDeque::new();
        for &item in self.automaton.kernel(state) {
            if let What::Non(n) = form.symbols[item as usize].what() {
                from.entry(n).or_insert_with(|| {
                    queue.push_back(n);
                    Ok(item)
                });
            }
        }
        while let Some(n) = queue.pop_front() {
            if n == nonterminal {
                break;
            }
            for p in form.productions_of(n) {
                if let What::Non(first) = form.symbols_of(p)[0].what() {
                    from.entry(first).or_insert_with(|| {
                        queue.push_back(first);
                        Err(n)
                    });
                }
            }
        }
        let mut chain = Vec::new();
        let mut at = nonterminal;
        loop {
            match *from.get(&at)? {
                Ok(item) => return Some((item, chain)),
                Err(parent) => {
                    chain.push(parent);
                    at = parent;
                }
            }
        }
    }
}
