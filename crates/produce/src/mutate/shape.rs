//! What is known of a grammar before the first mutation.

use wug_grammar::facts::{Closing, ClosingMode, Facts};
use wug_grammar::lexical::Lexicon;
use wug_grammar::{AltId, BodyId, Diagnostic, Grammar, RuleId, Symbol};

/// A grammar as its author wrote it, with the facts that mutators need.
#[derive(Debug)]
pub struct Shape {
    pub(super) grammar: Grammar,
    pub(super) lexicon: Option<Lexicon>,
    closing: Closing,
    /// The body of each alternative.
    body_of: Vec<BodyId>,
    /// Productive alternatives of each body: where they begin in `offered`.
    first: Vec<u32>,
    offered: Vec<AltId>,
    /// Sums of the weights of `offered`, anew in each body.
    sums: Vec<u64>,
    /// Whether a body derives more than one text.
    varied: Vec<bool>,
}

impl Shape {
    /// The facts of a grammar; what is wrong if nothing can be made of it.
    pub fn of(grammar: &Grammar) -> Result<Shape, Box<Diagnostic>> {
        let facts = Facts::of(grammar);
        let start = grammar.rule(grammar.start());
        if !facts.productive(grammar, grammar.start()) {
            let message = format!("the rule `{}` derives nothing", start.name);
            return Err(Box::new(Diagnostic::error(start.span, message)));
        }
        let lexicon = match grammar.has_tokens() {
            true => Some(Lexicon::of(grammar).map_err(|_| {
                let message = "the tokens of this grammar are too many for one automaton".to_string();
                Box::new(Diagnostic::error(start.span, message))
            })?),
            false => None,
        };
        let closing = Closing::of(grammar, &facts, ClosingMode::Min);
        let mut shape = Shape {
            grammar: grammar.clone(),
            lexicon,
            closing,
            body_of: vec![BodyId(0); grammar.alternative_count()],
            first: vec![0],
            offered: Vec::new(),
            sums: Vec::new(),
            varied: vec![false; grammar.body_count()],
        };
        for body in (0..grammar.body_count() as u32).map(BodyId) {
            let mut sum = 0;
            for alt in grammar.alternatives(body) {
                shape.body_of[alt.index()] = body;
                if facts.alternative_productive(alt) {
                    sum += u64::from(grammar.alternative(alt).weight);
                    shape.offered.push(alt);
                    shape.sums.push(sum);
                }
            }
            shape.first.push(shape.offered.len() as u32);
        }
        shape.find_varied();
        Ok(shape)
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The body that an alternative belongs to.
    #[inline]
    pub fn body_of(&self, alt: AltId) -> BodyId {
        self.body_of[alt.index()]
    }

    /// The alternatives of a body that derive something.
    pub fn offered(&self, body: BodyId) -> &[AltId] {
        &self.offered[self.range(body)]
    }

    /// The alternative that a number below `of` means, by weight.
    pub fn by_weight(&self, body: BodyId, bits: u32) -> Option<AltId> {
        let sums = &self.sums[self.range(body)];
        let drawn = ((u128::from(bits) * u128::from(*sums.last()?)) >> 32) as u64;
        self.offered(body).get(sums.partition_point(|&sum| sum <= drawn)).copied()
    }

    /// Whether an alternative is one of the shortest ways to an end.
    pub fn closes(&self, alt: AltId) -> bool {
        self.closing.allows(alt)
    }

    /// Whether a body derives more than one text.
    pub fn is_varied(&self, body: BodyId) -> bool {
        self.varied[body.index()]
    }

    fn range(&self, body: BodyId) -> std::ops::Range<usize> {
        self.first[body.index()] as usize..self.first[body.index() + 1] as usize
    }

    fn find_varied(&mut self) {
        loop {
            let mut changed = false;
            for body in (0..self.varied.len() as u32).map(BodyId) {
                if !self.varied[body.index()] && self.varies(body) {
                    self.varied[body.index()] = true;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn varies(&self, body: BodyId) -> bool {
        let rule = |rule: RuleId| {
            self.grammar.rule(rule).is_token() || self.varied[self.grammar.rule(rule).body.index()]
        };
        let symbol = |symbol: &Symbol| match *symbol {
            Symbol::Bytes(_) => false,
            Symbol::Class(class) => self.grammar.class(class).count() > 1,
            Symbol::Rule(id) => rule(id),
            Symbol::Group(body) => self.varied[body.index()],
            Symbol::Repeat(_) => true,
        };
        let offered = self.offered(body);
        offered.len() > 1 || offered.iter().any(|&alt| self.grammar.symbols(alt).iter().any(symbol))
    }
}
