//! Which rule calls which: the common ground of the passes that look
//! further than one rule.

use crate::ast::Kind;
use crate::facts::components_of;
use crate::ir::{Grammar, RuleId};

/// The call graph of a grammar.
pub(crate) struct Calls {
    /// Where the calls of each rule begin in `called`, and behind the last.
    first: Vec<u32>,
    called: Vec<RuleId>,
}

/// The rules of a call graph, sorted.
pub(crate) struct Order {
    /// All rules; what a rule calls stands before it, circles aside.
    pub(crate) callees_first: Vec<RuleId>,
    /// Whether each rule can reach itself.
    pub(crate) recursive: Vec<bool>,
}

impl Calls {
    /// The calls of all rules, those inside groups and repetitions included.
    pub(crate) fn of(grammar: &Grammar) -> Calls {
        let (mut first, mut called) = (vec![0], Vec::new());
        for rule in &grammar.rules {
            grammar.body_calls(rule.body, &mut |callee| called.push(callee));
            first.push(called.len() as u32);
        }
        Calls { first, called }
    }

    /// The rules that `rule` calls, once for each call.
    pub(crate) fn by(&self, rule: RuleId) -> &[RuleId] {
        &self.called[self.first[rule.index()] as usize..self.first[rule.index() + 1] as usize]
    }

    /// Whether each rule can be reached from the start or from a token: a
    /// lexer needs all tokens, called or not.
    pub(crate) fn reachable(&self, grammar: &Grammar) -> Vec<bool> {
        let mut seen = vec![false; grammar.rules.len()];
        let tokens = grammar.rules().filter(|&r| matches!(grammar.rule(r).kind, Kind::Token { .. }));
        let mut open: Vec<RuleId> = tokens.chain([grammar.start]).collect();
        while let Some(rule) = open.pop() {
            if !std::mem::replace(&mut seen[rule.index()], true) {
                open.extend(self.by(rule));
            }
        }
        seen
    }

    /// Sorts the rules by their strongly connected components.
    pub(crate) fn order(&self) -> Order {
        let components = components_of(&self.first, &self.called);
        let mut recursive = vec![false; self.first.len() - 1];
        for rules in components.iter() {
            for &rule in rules {
                recursive[rule.index()] = rules.len() > 1 || self.by(rule).contains(&rule);
            }
        }
        Order { callees_first: components.rules().to_vec(), recursive }
    }
}
