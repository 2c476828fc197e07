//! Which rule calls which: the common ground of the passes that look
//! further than one rule.

use crate::ast::Kind;
use crate::ir::{Grammar, RuleId};

/// The call graph of a grammar.
pub(crate) struct Calls {
    /// Where the calls of each rule begin in `called`, and behind the last.
    first: Vec<usize>,
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
            first.push(called.len());
        }
        Calls { first, called }
    }

    /// The rules that `rule` calls, once for each call.
    pub(crate) fn by(&self, rule: RuleId) -> &[RuleId] {
        &self.called[self.first[rule.index()]..self.first[rule.index() + 1]]
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

    /// Sorts the rules by Tarjan's algorithm, on a stack of our own.
    pub(crate) fn order(&self) -> Order {
        const NEW: u32 = 0;
        const DONE: u32 = u32::MAX;
        let count = self.first.len() - 1;
        let mut order = Order { callees_first: Vec::with_capacity(count), recursive: vec![false; count] };
        // When each rule was met first, and the earliest open one it reaches.
        let (mut met, mut low) = (vec![NEW; count], vec![NEW; count]);
        let mut clock = NEW;
        let mut open: Vec<RuleId> = Vec::new();
        let mut path: Vec<(RuleId, usize)> = Vec::new();
        for root in (0..count as u32).map(RuleId) {
            if met[root.index()] == NEW {
                path.push((root, 0));
            }
            while let Some((rule, next)) = path.last_mut() {
                let (rule, at) = (*rule, rule.index());
                if *next == 0 && met[at] == NEW {
                    clock += 1;
                    (met[at], low[at]) = (clock, clock);
                    open.push(rule);
                }
                if let Some(&callee) = self.by(rule).get(*next) {
                    *next += 1;
                    order.recursive[at] |= callee == rule;
                    match met[callee.index()] {
                        NEW => path.push((callee, 0)),
                        DONE => {}
                        when => low[at] = low[at].min(when),
                    }
                    continue;
                }
                path.pop();
                if let Some(&(caller, _)) = path.last() {
                    low[caller.index()] = low[caller.index()].min(low[at]);
                }
                if low[at] == met[at] {
                    let from = open.iter().rposition(|&r| r == rule).unwrap_or(0);
                    let circle = open.len() - from > 1;
                    for member in open.drain(from..) {
                        met[member.index()] = DONE;
                        order.recursive[member.index()] |= circle;
                        order.callees_first.push(member);
                    }
                }
            }
        }
        order
    }
}
