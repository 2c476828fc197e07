//! What `wug check` says: mistakes that only the whole grammar shows.
//!
//! In:  a grammar and its facts.
//! Out: diagnostics. An error means that nothing can be derived at all;
//!      everything else is a warning, since the rest of the grammar works.

use crate::diagnostic::Diagnostic;
use crate::facts::Facts;
use crate::ir::{Grammar, RuleId};
use crate::source::Span;

/// More than this many unused or endless rules are summed up.
const MAX_LISTED: usize = 10;

/// Finds endless and unreachable rules.
pub fn check(grammar: &Grammar, facts: &Facts) -> Vec<Diagnostic> {
    let mut found = endless(grammar, facts);
    let used = used(grammar, facts);
    let unused = grammar.rules().filter(|&r| !used[r.index()]);
    let warn = |r: RuleId| {
        let span = grammar.rule(r).span;
        let start = grammar.name(grammar.start());
        Diagnostic::warning(span, format!("rule `{}` is never used", grammar.name(r)))
            .label(format!("the start rule `{start}` does not lead here"))
    };
    list(unused.collect(), warn, "rules are never used", &mut found);
    found
}

/// Rules that the start leads to, and tokens, which a lexer reads whether
/// or not a rule asks for them.
fn used(grammar: &Grammar, facts: &Facts) -> Vec<bool> {
    let mut used = facts.reachable.clone();
    let mut work: Vec<RuleId> = grammar.rules().filter(|&r| grammar.rule(r).is_token()).collect();
    work.iter().for_each(|r| used[r.index()] = true);
    while let Some(rule) = work.pop() {
        for edge in facts.graph.calls(rule) {
            if !std::mem::replace(&mut used[edge.to.index()], true) {
                work.push(edge.to);
            }
        }
    }
    used
}

/// Rules that can never finish. Those that only wait for another are told
/// of once, with it.
fn endless(grammar: &Grammar, facts: &Facts) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let endless = |r: RuleId| !facts.productive(grammar, r);
    let all: Vec<RuleId> = grammar.rules().filter(|&r| endless(r)).collect();
    let start = grammar.start();
    let roots: Vec<RuleId> = all.iter().copied().filter(|&r| leads_back(grammar, facts, r)).collect();
    let causes: &[RuleId] = if roots.is_empty() { &all } else { &roots };
    let describe = |r: RuleId| {
        let name = grammar.name(r);
        let message = format!("rule `{name}` can never finish");
        let error = if endless(start) { Diagnostic::error } else { Diagnostic::warning };
        let diagnostic = error(grammar.rule(r).span, message).label(reason(grammar, facts, r));
        if grammar.alternatives(grammar.rule(r).body).len() == 0 {
            diagnostic
        } else {
            diagnostic.help(format!("add an alternative that does not need `{name}`"))
        }
    };
    list(causes.to_vec(), describe, "rules can never finish", &mut found);
    if endless(start) && !causes.contains(&start) {
        let span = grammar.rule(start).span;
        let message = format!("the start rule `{}` can never finish", grammar.name(start));
        found.insert(0, Diagnostic::error(span, message).label(reason(grammar, facts, start)));
    }
    found
}

fn reason(grammar: &Grammar, facts: &Facts, rule: RuleId) -> String {
    let body = grammar.rule(rule).body;
    let itself = |alt| {
        let mut found = false;
        grammar.calls(alt, &mut |called| found |= called == rule);
        found
    };
    let name = grammar.name(rule);
    if grammar.alternatives(body).len() == 0 {
        return "it has no alternative".to_string();
    }
    if grammar.alternatives(body).all(itself) {
        return format!("every alternative calls `{name}` again");
    }
    let mut needs: Vec<&str> = Vec::new();
    grammar.body_calls(body, &mut |called| {
        let text = grammar.name(called);
        if called != rule && !facts.productive(grammar, called) && !needs.contains(&text) && needs.len() < 3 {
            needs.push(text);
        }
    });
    match needs.as_slice() {
        [] => "every alternative holds something that derives nothing".to_string(),
        needs => format!("every alternative needs something endless, such as `{}`", needs.join("`, `")),
    }
}

/// Whether an endless rule calls itself, directly or through other endless
/// rules: a cause, not a consequence. Gives up on very long ways.
fn leads_back(grammar: &Grammar, facts: &Facts, rule: RuleId) -> bool {
    let calls = facts.graph.calls(rule);
    if calls.iter().any(|e| e.to == rule) {
        return true;
    }
    let endless = |r: RuleId| !facts.productive(grammar, r);
    if calls.iter().all(|e| !endless(e.to)) {
        return true;
    }
    let mut seen = vec![rule];
    let mut work = vec![rule];
    while let Some(from) = work.pop() {
        for edge in facts.graph.calls(from) {
            if edge.to == rule {
                return true;
            }
            if endless(edge.to) && seen.len() < 64 && !seen.contains(&edge.to) {
                seen.push(edge.to);
                work.push(edge.to);
            }
        }
    }
    false
}

fn list(
    rules: Vec<RuleId>,
    describe: impl Fn(RuleId) -> Diagnostic,
    plural: &str,
    found: &mut Vec<Diagnostic>,
) {
    let more = rules.len().saturating_sub(MAX_LISTED);
    found.extend(rules.into_iter().take(MAX_LISTED).map(describe));
    if more > 0 {
        found.push(Diagnostic::warning(Span::NONE, format!("{more} more {plural}")));
    }
}
