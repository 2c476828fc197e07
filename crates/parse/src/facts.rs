//! What the parser must know of a grammar before it can be put into its
//! normal form: which bodies derive the empty text, and how; which derive
//! anything else.

use wug_grammar::{AltId, BodyId, Grammar, RuleKind, Symbol};

/// Facts about bodies.
pub(crate) struct Facts {
    /// How a body derives the empty text: its alternative of greatest
    /// weight, then the first, among those that get there in the fewest
    /// levels.
    empty: Vec<Option<AltId>>,
    /// Derives some text that is not empty.
    full: Vec<bool>,
    tokens: bool,
}

/// What a symbol derives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Derives {
    pub empty: bool,
    pub full: bool,
}

impl Facts {
    pub fn of(grammar: &Grammar) -> Facts {
        let bodies = grammar.body_count();
        let mut facts =
            Facts { empty: vec![None; bodies], full: vec![false; bodies], tokens: grammar.has_tokens() };
        let users = Users::of(grammar);
        // In waves, so that what is chosen does not depend on the order in
        // which bodies are looked at.
        let mut wave: Vec<u32> = (0..bodies as u32).collect();
        while !wave.is_empty() {
            let found: Vec<(u32, AltId)> = wave
                .iter()
                .filter(|&&body| facts.empty[body as usize].is_none())
                .filter_map(|&body| Some((body, facts.empty_alternative(grammar, BodyId(body))?)))
                .collect();
            found.iter().for_each(|&(body, alt)| facts.empty[body as usize] = Some(alt));
            wave = found.iter().flat_map(|&(body, _)| users.of_body(body).iter().copied()).collect();
            wave.sort_unstable();
            wave.dedup();
        }
        let mut work: Vec<u32> = (0..bodies as u32).collect();
        while let Some(body) = work.pop() {
            if !facts.full[body as usize] && facts.has_full(grammar, BodyId(body)) {
                facts.full[body as usize] = true;
                work.extend_from_slice(users.of_body(body));
            }
        }
        facts
    }

    /// The alternative by which a body derives the empty text.
    pub fn empty(&self, body: BodyId) -> Option<AltId> {
        self.empty[body.index()]
    }

    /// What a symbol of a syntax rule derives.
    pub fn derives(&self, grammar: &Grammar, symbol: Symbol) -> Derives {
        let body = |body: BodyId| Derives {
            empty: self.empty[body.index()].is_some(),
            full: self.full[body.index()],
        };
        match symbol {
            Symbol::Bytes(_) => Derives { empty: false, full: true },
            Symbol::Class(class) => {
                Derives { empty: false, full: !self.tokens && !grammar.class(class).is_empty() }
            }
            Symbol::Rule(rule) => {
                let rule = grammar.rule(rule);
                match rule.kind {
                    RuleKind::Token { .. } => Derives { empty: false, full: true },
                    RuleKind::Fragment if self.tokens => Derives { empty: false, full: false },
                    _ => body(rule.body),
                }
            }
            Symbol::Group(inner) => body(inner),
            Symbol::Repeat(repeat) => {
                let repeat = grammar.repeat(repeat);
                let inner = body(repeat.body);
                Derives { empty: repeat.min == 0 || inner.empty, full: repeat.max != Some(0) && inner.full }
            }
        }
    }

    fn empty_alternative(&self, grammar: &Grammar, body: BodyId) -> Option<AltId> {
        let all_empty = |alt: &AltId| grammar.symbols(*alt).iter().all(|&s| self.derives(grammar, s).empty);
        let found = grammar.alternatives(body).filter(all_empty);
        found.min_by_key(|&alt| (std::cmp::Reverse(grammar.alternative(alt).weight), alt))
    }

    fn has_full(&self, grammar: &Grammar, body: BodyId) -> bool {
        grammar.alternatives(body).any(|alt| {
            let mut some = false;
            let productive = grammar.symbols(alt).iter().all(|&symbol| {
                let derives = self.derives(grammar, symbol);
                some |= derives.full;
                derives.empty || derives.full
            });
            productive && some
        })
    }
}

/// For each body, the bodies that hold it or call its rule.
struct Users {
    first: Vec<u32>,
    all: Vec<u32>,
}

impl Users {
    fn of(grammar: &Grammar) -> Users {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for user in (0..grammar.body_count() as u32).map(BodyId) {
            for alt in grammar.alternatives(user) {
                for &symbol in grammar.symbols(alt) {
                    let used = match symbol {
                        Symbol::Rule(rule) => grammar.rule(rule).body,
                        Symbol::Group(body) => body,
                        Symbol::Repeat(repeat) => grammar.repeat(repeat).body,
                        Symbol::Bytes(_) | Symbol::Class(_) => continue,
                    };
                    pairs.push((used.0, user.0));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut first = vec![0; grammar.body_count() + 1];
        pairs.iter().for_each(|&(used, _)| first[used as usize + 1] += 1);
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        Users { first, all: pairs.into_iter().map(|(_, user)| user).collect() }
    }

    fn of_body(&self, body: u32) -> &[u32] {
        &self.all[self.first[body as usize] as usize..self.first[body as usize + 1] as usize]
    }
}
