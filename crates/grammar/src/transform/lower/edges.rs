//! Which tokens can begin and end what a rule derives.

use super::sets::TokenSet;
use crate::arena::BodyId;
use crate::ir::{Grammar, Symbol};
use crate::lexical::Lexicon;

/// What can stand at the edges of a body.
#[derive(Clone, Debug)]
pub struct Edges {
    pub first: TokenSet,
    pub last: TokenSet,
    pub nullable: bool,
}

/// The edges of every syntax rule.
pub struct RuleEdges<'a> {
    grammar: &'a Grammar,
    lexicon: &'a Lexicon,
    rules: Vec<Edges>,
}

impl<'a> RuleEdges<'a> {
    pub fn of(grammar: &'a Grammar, lexicon: &'a Lexicon) -> RuleEdges<'a> {
        let count = lexicon.tokens.len();
        let none = Edges { first: TokenSet::new(count), last: TokenSet::new(count), nullable: false };
        let mut edges = RuleEdges { grammar, lexicon, rules: vec![none; grammar.rules().len()] };
        let mut callers = vec![Vec::new(); grammar.rules().len()];
        for rule in grammar.rules() {
            grammar.body_calls(grammar.rule(rule).body, &mut |called| callers[called.index()].push(rule));
        }
        let mut work: Vec<_> = grammar.rules().filter(|&r| !grammar.rule(r).is_lexical()).collect();
        let mut queued = vec![true; grammar.rules().len()];
        while let Some(rule) = work.pop() {
            queued[rule.index()] = false;
            let found = edges.body(grammar.rule(rule).body);
            let own = &mut edges.rules[rule.index()];
            let changed = own.first.extend(&found.first)
                | own.last.extend(&found.last)
                | (found.nullable && !std::mem::replace(&mut own.nullable, true));
            if changed {
                for &caller in &callers[rule.index()] {
                    if !grammar.rule(caller).is_lexical()
                        && !std::mem::replace(&mut queued[caller.index()], true)
                    {
                        work.push(caller);
                    }
                }
            }
        }
        edges
    }

    /// The edges of a body, from those of the rules it calls.
    pub fn body(&self, body: BodyId) -> Edges {
        let count = self.lexicon.tokens.len();
        let mut all = self.nothing();
        for alt in self.grammar.alternatives(body) {
            let mut begun = false;
            let mut last = TokenSet::new(count);
            for symbol in self.grammar.symbols(alt) {
                let own = self.symbol(*symbol);
                if !begun {
                    all.first.extend(&own.first);
                    begun = !own.nullable;
                }
                if !own.nullable {
                    last = TokenSet::new(count);
                }
                last.extend(&own.last);
            }
            all.last.extend(&last);
            all.nullable |= !begun;
        }
        all
    }

    fn nothing(&self) -> Edges {
        let count = self.lexicon.tokens.len();
        Edges { first: TokenSet::new(count), last: TokenSet::new(count), nullable: false }
    }

    /// The edges of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> Edges {
        if let Some(token) = self.lexicon.token_of(self.grammar, symbol) {
            let mut one = TokenSet::new(self.lexicon.tokens.len());
            one.insert(token);
            return Edges { first: one.clone(), last: one, nullable: false };
        }
        match symbol {
            Symbol::Rule(rule) => self.rules[rule.index()].clone(),
            Symbol::Group(body) => self.body(body),
            Symbol::Repeat(repeat) => {
                let repeat = self.grammar.repeat(repeat);
                let mut edges = self.body(repeat.body);
                edges.nullable |= repeat.min == 0;
                edges
            }
            // Literals are tokens, and classes do not stand in syntax rules.
            Symbol::Bytes(_) | Symbol::Class(_) => self.nothing(),
        }
    }
}
