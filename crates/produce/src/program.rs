//! What is known before the first choice.
//!
//! In:  a grammar as its author wrote it, and options.
//! Out: a [`Program`]: the grammar lowered and pruned, with the facts that
//!      every engine needs at a choice; or why nothing can be produced.

use crate::pool;
use std::fmt;
use wug_grammar::facts::{Closing, ClosingMode, Facts, expected_length};
use wug_grammar::lexical::TokenId;
use wug_grammar::transform::{lower, prune};
use wug_grammar::{AltId, BodyId, Diagnostic, Grammar, Severity};

/// What is produced.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Free choice while depth is below this; the start is at depth 0.
    pub max_depth: u32,
    /// No input is longer than this, in bytes.
    pub max_size: u64,
    /// What rules are completed from at the depth limit.
    pub closing: ClosingMode,
    /// Whether members of large classes are mostly printable.
    pub printable: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_depth: 16, max_size: 1 << 20, closing: ClosingMode::Min, printable: false }
    }
}

/// A grammar ready for production.
#[derive(Debug)]
pub struct Program {
    /// Lowered and pruned.
    pub grammar: Grammar,
    /// Its facts.
    pub facts: Facts,
    /// Its completions.
    pub closing: Closing,
    /// The options it was made for.
    pub options: Options,
    /// Least bytes of each body.
    pub least: Vec<u64>,
    /// The alternative of each body with the least bytes.
    pub shortest: Vec<AltId>,
    /// The choice at each body while it is free.
    pub free: Offers,
    /// That at the limit.
    pub closed: Offers,
    /// Completions of each alternative.
    pub ways: Vec<u64>,
    /// What an input must be lexed against, where lowering proved too little.
    pub relex: Option<lower::Relex>,
    /// The token that a rule derives, for each rule, where it is checked.
    pub token_of: Vec<Option<TokenId>>,
    /// Whether tokens are leaves: rules of tokens are in the grammar, and a
    /// sink must take them.
    pub leaves: bool,
    /// What lowering had to say.
    pub warnings: Vec<Diagnostic>,
}

/// The alternatives that each body offers.
#[derive(Debug)]
pub struct Offers {
    first: Vec<u32>,
    alternatives: Vec<AltId>,
    /// Weights of an alternative and all before it in its body.
    sums: Vec<u64>,
}

impl Offers {
    fn of(grammar: &Grammar, allowed: impl Fn(AltId) -> bool) -> Offers {
        let mut choices = Offers { first: vec![0], alternatives: Vec::new(), sums: Vec::new() };
        for body in (0..grammar.body_count() as u32).map(BodyId) {
            let mut sum = 0;
            for alt in grammar.alternatives(body).filter(|&alt| allowed(alt)) {
                sum += u64::from(grammar.alternative(alt).weight);
                choices.alternatives.push(alt);
                choices.sums.push(sum);
            }
            choices.first.push(choices.alternatives.len() as u32);
        }
        choices
    }

    fn range(&self, body: BodyId) -> std::ops::Range<usize> {
        self.first[body.index()] as usize..self.first[body.index() + 1] as usize
    }

    /// The alternatives of a body.
    pub fn alternatives(&self, body: BodyId) -> &[AltId] {
        &self.alternatives[self.range(body)]
    }

    /// The sum of their weights.
    pub fn weight(&self, body: BodyId) -> u64 {
        self.sums[self.range(body)].last().copied().unwrap_or(0)
    }

    /// For each of them, the weights of it and those before it.
    pub fn sums(&self, body: BodyId) -> &[u64] {
        &self.sums[self.range(body)]
    }

    /// The sum of the weights of some of them.
    pub fn weight_of(&self, body: BodyId, places: std::ops::Range<u32>) -> u64 {
        let sums = &self.sums[self.range(body)];
        let below = |place: u32| place.checked_sub(1).map_or(0, |last| sums[last as usize]);
        below(places.end) - below(places.start)
    }

    /// The one that a number below that sum means. There must be one.
    pub fn at(&self, body: BodyId, drawn: u64) -> AltId {
        let range = self.range(body);
        let at = self.sums[range.clone()].partition_point(|&sum| sum <= drawn);
        self.alternatives[range.start + at.min(range.len().saturating_sub(1))]
    }
}

/// Why a grammar cannot be produced from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The start rule derives nothing.
    Endless(Box<Diagnostic>),
    /// The shortest input is longer than the limit.
    Size {
        /// Bytes of the shortest input.
        least: u64,
        /// The limit.
        limit: u64,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Endless(diagnostic) => f.write_str(&diagnostic.message),
            Unfit::Size { least, limit } => {
                let s = if *least == 1 { "" } else { "s" };
                write!(f, "the shortest input of this grammar has {least} byte{s}, but the limit is {limit}")
            }
        }
    }
}

impl std::error::Error for Unfit {}

impl Program {
    /// Prepares `grammar`.
    pub fn new(grammar: &Grammar, options: Options) -> Result<Program, Unfit> {
        Program::lowered(lower::lower(grammar), options)
    }

    /// Prepares a grammar that is lowered already.
    pub fn lowered(lowered: lower::Lowered, options: Options) -> Result<Program, Unfit> {
        let grammar = prune::prune(&lowered.grammar).map_err(|endless| {
            // Lowering knows better why nothing is left.
            let told = lowered.warnings.iter().find(|d| d.severity == Severity::Error);
            Unfit::Endless(Box::new(told.cloned().unwrap_or(endless)))
        })?;
        let token_of = lowered.relex.as_ref().map_or_else(Vec::new, |relex| relex.tokens(&grammar));
        let relex = lowered.relex.filter(|_| !lowered.unproven.is_empty());
        let warnings = lowered.warnings;
        Ok(Program { relex, token_of, warnings, leaves: false, ..Program::of(grammar, options)? })
    }

    /// Prepares a grammar as it is written, with tokens as leaves: for
    /// derivations, which are those of this grammar.
    pub fn written(grammar: &Grammar, options: Options) -> Result<Program, Unfit> {
        let program = Program::of(grammar.clone(), options)?;
        let start = grammar.rule(grammar.start());
        if !program.facts.productive(grammar, grammar.start()) {
            let message = format!("the rule `{}` derives nothing", start.name);
            return Err(Unfit::Endless(Box::new(Diagnostic::error(start.span, message))));
        }
        Ok(program)
    }

    fn of(grammar: Grammar, options: Options) -> Result<Program, Unfit> {
        let facts = Facts::of(&grammar);
        let closing = Closing::of(&grammar, &facts, options.closing);
        let bodies = (0..grammar.body_count() as u32).map(BodyId);
        let least: Vec<u64> = bodies.clone().map(|b| facts.min_length(b).unwrap_or(u64::MAX)).collect();
        let shortest = bodies.map(|b| shortest(&grammar, &facts, b)).collect();
        let size = least[grammar.rule(grammar.start()).body.index()];
        // At the greatest number a length is only known to be no less.
        if size > options.max_size || size == u64::MAX {
            return Err(Unfit::Size { least: size, limit: options.max_size });
        }
        let free = Offers::of(&grammar, |alt| facts.alternative_productive(alt));
        let closed = Offers::of(&grammar, |alt| closing.allows(alt));
        let ways = (0..grammar.alternative_count() as u32)
            .map(|a| pool::ways_of(&grammar, &closing, AltId(a)))
            .collect();
        Ok(Program {
            leaves: grammar.has_tokens(),
            grammar,
            facts,
            closing,
            options,
            least,
            shortest,
            free,
            closed,
            ways,
            relex: None,
            token_of: Vec::new(),
            warnings: Vec::new(),
        })
    }

    /// The mean length of what is produced, as far as the size limit is out
    /// of reach.
    pub fn expected_length(&self) -> f64 {
        expected_length(&self.grammar, &self.facts, &self.closing, self.options.max_depth)
    }

    /// After this many draws an input is ended by the shortest way: a bound
    /// on work for grammars that derive much and emit little.
    pub fn max_draws(&self) -> u64 {
        self.options.max_size.saturating_mul(16).saturating_add(1 << 20)
    }

    /// After this many steps it is ended as well: a step is an alternative or
    /// the completion of a rule, and those that draw and emit nothing would
    /// else be without bound.
    pub fn max_steps(&self) -> u64 {
        self.max_draws().saturating_mul(4)
    }

    /// Whether a body derives nothing but the empty text.
    pub fn only_empty(&self, body: BodyId) -> bool {
        self.facts.longest[body.index()] == Some(0)
    }

    /// Least bytes of an alternative.
    pub fn least_of(&self, alt: AltId) -> u64 {
        self.facts.length.of_alternative(alt).map_or(u64::MAX, |s| s.length)
    }
}

/// The first alternative of least length and, among those, least height.
fn shortest(grammar: &Grammar, facts: &Facts, body: BodyId) -> AltId {
    let least = facts.length.of_body(body);
    let mut alternatives = grammar.alternatives(body);
    alternatives.find(|&alt| least.is_some() && facts.length.of_alternative(alt) == least).unwrap_or(AltId(0))
}
