//! What is true of a grammar, each fact as a fixed point in linear or
//! nearly linear time.
//!
//! In:  a [`Grammar`].
//! Out: [`Facts`], indexed by rule, body and alternative.
//!
//! | file | facts |
//! | --- | --- |
//! | `sites` | where each body is used |
//! | `least` | minimum depth and length, so also productive and nullable |
//! | `graph` | calls, strongly connected components, recursion of all kinds |
//! | `longest` | maximum length, finite or infinite |
//! | `closing` | alternatives that end a derivation: minimal or cheap |
//! | `expected` | mean length at a depth |

mod cheap;
mod closing;
mod expected;
mod graph;
mod least;
mod longest;
mod sites;

pub use closing::{Closing, ClosingMode};
pub use expected::{expected_length, expected_lengths};
pub(crate) use graph::components_of;
pub use graph::{Components, Edge, Graph, Recursion};
pub use least::{Cost, Shortest};

use crate::arena::{AltId, BodyId};
use crate::ir::{Grammar, RuleId};

/// All facts of one grammar but those that depend on options.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Least depth of bodies and alternatives; `None` derives nothing.
    pub depth: least::Least<Cost>,
    /// Least length of bodies and alternatives.
    pub length: least::Least<Shortest>,
    /// Calls among rules.
    pub graph: Graph,
    /// Greatest length of each body; `None` if there is none.
    pub longest: Vec<Option<u64>>,
    /// Whether the start leads to each rule.
    pub reachable: Vec<bool>,
    pub(crate) sites: sites::Sites,
}

impl Facts {
    /// Finds them.
    pub fn of(grammar: &Grammar) -> Facts {
        let sites = sites::Sites::of(grammar);
        let depth = least::depth(grammar, &sites);
        let length = least::length(grammar, &sites);
        let nonempty = longest::nonempty(grammar, &sites, &depth);
        let graph = Graph::of(grammar, &sites, &depth, &length, &nonempty);
        let longest = longest::longest(grammar, &sites, &depth, &nonempty, &graph);
        let reachable = graph.reachable(grammar.start());
        Facts { depth, length, graph, longest, reachable, sites }
    }

    /// Whether a rule derives anything.
    pub fn productive(&self, grammar: &Grammar, rule: RuleId) -> bool {
        self.depth.of_body(grammar.rule(rule).body).is_some()
    }

    /// Whether an alternative derives anything.
    pub fn alternative_productive(&self, alt: AltId) -> bool {
        self.depth.of_alternative(alt).is_some()
    }

    /// Whether a rule derives the empty text.
    pub fn nullable(&self, grammar: &Grammar, rule: RuleId) -> bool {
        self.min_length(grammar.rule(rule).body) == Some(0)
    }

    /// Least bytes of a body; `None` derives nothing.
    pub fn min_length(&self, body: BodyId) -> Option<u64> {
        self.length.of_body(body).map(|s| s.length)
    }

    /// Least depth of a rule: levels of calls below it. F1's mu-depth, with
    /// a rule that calls nothing at 0.
    pub fn min_depth(&self, grammar: &Grammar, rule: RuleId) -> Option<u32> {
        self.depth.of_body(grammar.rule(rule).body).map(|c| c.depth)
    }

    /// Greatest bytes of a rule; `None` if there is no bound. Saturates
    /// just below the greatest number.
    pub fn max_length(&self, grammar: &Grammar, rule: RuleId) -> Option<u64> {
        self.longest[grammar.rule(rule).body.index()]
    }
}
