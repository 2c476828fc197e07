//! What is known of a grammar before the first mutation.

use crate::{Options, Program, Unfit};
use wug_grammar::lexical::Lexicon;
use wug_grammar::{AltId, BodyId, Diagnostic, Grammar, RuleId, Symbol};

/// What fresh subtrees are drawn by: no limit of size but the nodes that each
/// draw allows, and mostly printable characters.
const DRAWN: Options = Options {
    max_depth: 0,
    max_size: u32::MAX as u64,
    closing: wug_grammar::facts::ClosingMode::Min,
    printable: true,
};

/// A grammar as its author wrote it, with the facts that mutators need.
#[derive(Debug)]
pub struct Shape {
    pub(super) program: Program,
    pub(super) lexicon: Option<Lexicon>,
    /// The body of each alternative.
    body_of: Vec<BodyId>,
    /// Whether a body derives more than one text.
    varied: Vec<bool>,
}

impl Shape {
    /// The facts of a grammar; what is wrong if nothing can be made of it.
    pub fn of(grammar: &Grammar) -> Result<Shape, Box<Diagnostic>> {
        let at = grammar.rule(grammar.start()).span;
        let program = Program::written(grammar, DRAWN).map_err(|unfit| match unfit {
            Unfit::Endless(diagnostic) => diagnostic,
            Unfit::Size { .. } => Box::new(Diagnostic::error(at, unfit.to_string())),
        })?;
        let lexicon = match grammar.has_tokens() {
            true => Some(Lexicon::of(grammar).map_err(|_| {
                let message = "the tokens of this grammar are too many for one automaton".to_string();
                Box::new(Diagnostic::error(at, message))
            })?),
            false => None,
        };
        let mut body_of = vec![BodyId(0); grammar.alternative_count()];
        for body in (0..grammar.body_count() as u32).map(BodyId) {
            grammar.alternatives(body).for_each(|alt| body_of[alt.index()] = body);
        }
        let mut shape = Shape { program, lexicon, body_of, varied: vec![false; grammar.body_count()] };
        shape.find_varied();
        Ok(shape)
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.program.grammar
    }

    /// The body that an alternative belongs to.
    #[inline]
    pub fn body_of(&self, alt: AltId) -> BodyId {
        self.body_of[alt.index()]
    }

    /// The alternatives of a body that derive something.
    pub fn offered(&self, body: BodyId) -> &[AltId] {
        self.program.free.alternatives(body)
    }

    /// Whether a body derives more than one text.
    pub fn is_varied(&self, body: BodyId) -> bool {
        self.varied[body.index()]
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
        let grammar = self.grammar();
        let rule =
            |rule: RuleId| grammar.rule(rule).is_token() || self.varied[grammar.rule(rule).body.index()];
        let symbol = |symbol: &Symbol| match *symbol {
            Symbol::Bytes(_) => false,
            Symbol::Class(class) => grammar.class(class).count() > 1,
            Symbol::Rule(id) => rule(id),
            Symbol::Group(body) => self.varied[body.index()],
            Symbol::Repeat(_) => true,
        };
        let offered = self.offered(body);
        offered.len() > 1 || offered.iter().any(|&alt| grammar.symbols(alt).iter().any(symbol))
    }
}
