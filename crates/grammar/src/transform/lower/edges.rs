//! Which tokens can begin and end what a rule derives.

use super::order::Order;
use super::sets::TokenSet;
use crate::arena::BodyId;
use crate::ir::{Grammar, RuleId, Symbol};
use crate::lexical::{Lexicon, TokenId, TooLarge, Work};

/// What can stand at the edges of a body.
#[derive(Clone, Debug)]
pub struct Edges {
    pub first: TokenSet,
    pub last: TokenSet,
    pub nullable: bool,
}

/// What can stand at the edges of a symbol.
#[derive(Clone, Copy, Debug)]
pub enum Edge<'a> {
    /// It is this token.
    Token(TokenId),
    /// It derives a body; nothing at all is enough where `nullable`.
    Body { edges: &'a Edges, nullable: bool },
    /// It derives nothing.
    Nothing,
}

impl Edge<'_> {
    pub fn nullable(self) -> bool {
        matches!(self, Edge::Body { nullable: true, .. })
    }

    /// Adds what it can begin with.
    pub fn first_into(self, set: &mut TokenSet) {
        match self {
            Edge::Token(token) => set.insert(token),
            Edge::Body { edges, .. } => {
                set.extend(&edges.first);
            }
            Edge::Nothing => {}
        }
    }

    fn last_into(self, set: &mut TokenSet) {
        match self {
            Edge::Token(token) => set.insert(token),
            Edge::Body { edges, .. } => {
                set.extend(&edges.last);
            }
            Edge::Nothing => {}
        }
    }
}

/// The edges of all bodies of syntax rules, groups included.
pub struct RuleEdges<'a> {
    grammar: &'a Grammar,
    lexicon: &'a Lexicon,
    bodies: Vec<Option<Edges>>,
}

impl<'a> RuleEdges<'a> {
    pub fn of(
        grammar: &'a Grammar,
        lexicon: &'a Lexicon,
        order: &Order,
        work: &mut Work,
    ) -> Result<RuleEdges<'a>, TooLarge> {
        let mut edges = RuleEdges { grammar, lexicon, bodies: vec![None; grammar.body_count()] };
        order.callees_first(|rule| {
            if grammar.rule(rule).is_lexical() {
                return Ok(false);
            }
            edges.update(grammar.rule(rule).body, work)
        })?;
        Ok(edges)
    }

    /// Finds the edges of a body and of those inside it; whether they
    /// changed.
    fn update(&mut self, body: BodyId, work: &mut Work) -> Result<bool, TooLarge> {
        let count = self.lexicon.tokens.len();
        let mut all = Edges { first: TokenSet::new(count), last: TokenSet::new(count), nullable: false };
        let mut last = TokenSet::new(count);
        for alt in self.grammar.alternatives(body) {
            let mut begun = false;
            last.clear();
            for &symbol in self.grammar.symbols(alt) {
                let inner = match symbol {
                    Symbol::Group(inner) => Some(inner),
                    Symbol::Repeat(repeat) => Some(self.grammar.repeat(repeat).body),
                    _ => None,
                };
                if let Some(inner) = inner {
                    self.update(inner, work)?;
                }
                let own = self.symbol(symbol);
                if !begun {
                    own.first_into(&mut all.first);
                    begun = !own.nullable();
                }
                if !own.nullable() {
                    last.clear();
                }
                own.last_into(&mut last);
                work.spend(last.size())?;
            }
            all.last.extend(&last);
            all.nullable |= !begun;
        }
        work.spend(4 * last.size())?;
        let slot = &mut self.bodies[body.index()];
        let Some(old) = slot else {
            *slot = Some(all);
            return Ok(true);
        };
        let changed = old.first.extend(&all.first)
            | old.last.extend(&all.last)
            | (all.nullable && !std::mem::replace(&mut old.nullable, true));
        Ok(changed)
    }

    /// The tokens that can end a rule.
    pub fn last(&self, rule: RuleId) -> Option<&TokenSet> {
        self.bodies[self.grammar.rule(rule).body.index()].as_ref().map(|e| &e.last)
    }

    /// The edges of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> Edge<'_> {
        if let Some(token) = self.lexicon.token_of(self.grammar, symbol) {
            return Edge::Token(token);
        }
        let (body, may_lack) = match symbol {
            Symbol::Rule(rule) => (self.grammar.rule(rule).body, false),
            Symbol::Group(body) => (body, false),
            Symbol::Repeat(repeat) => {
                let repeat = self.grammar.repeat(repeat);
                (repeat.body, repeat.min == 0)
            }
            // Literals are tokens, and classes do not stand in syntax rules.
            Symbol::Bytes(_) | Symbol::Class(_) => return Edge::Nothing,
        };
        match &self.bodies[body.index()] {
            Some(edges) => Edge::Body { edges, nullable: edges.nullable || may_lack },
            None => Edge::Nothing,
        }
    }
}
