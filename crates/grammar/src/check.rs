//! What `wug check` says: mistakes that only the whole grammar shows.
//!
//! In:  a grammar and its facts.
//! Out: diagnostics. An error means that nothing can be derived at all;
//!      everything else is a warning, since the rest of the grammar works.

use crate::diagnostic::Diagnostic;
use crate::facts::{Facts, components_of};
use crate::ir::{Grammar, RuleId};
use crate::source::Span;

/// More than this many unused or endless rules are summed up.
const MAX_LISTED: usize = 10;

/// Finds endless and unreachable rules.
pub fn check(grammar: &Grammar, facts: &Facts) -> Vec<Diagnostic> {
    let mut found = endless(grammar, facts);
    let unused = unused(grammar, facts);
    let warn = |&r: &RuleId| {
        let span = grammar.rule(r).span;
        let start = grammar.name(grammar.start());
        Diagnostic::warning(span, format!("rule `{}` is never used", grammar.name(r)))
            .label(format!("the start rule `{start}` does not lead here"))
    };
    list(&unused, warn, "rules are never used", &mut found);
    found
}

/// Rules that neither the start leads to nor an exception was made from,
/// tokens and their parts aside: a lexer reads tokens whether or not a rule
/// asks for them.
pub fn unused(grammar: &Grammar, facts: &Facts) -> Vec<RuleId> {
    let mut used = facts.reachable.clone();
    let mut work: Vec<RuleId> = grammar.rules().filter(|&r| grammar.rule(r).is_token()).collect();
    work.extend(&grammar.mentioned);
    work.iter().for_each(|r| used[r.index()] = true);
    while let Some(rule) = work.pop() {
        for edge in facts.graph.calls(rule) {
            if !std::mem::replace(&mut used[edge.to.index()], true) {
                work.push(edge.to);
            }
        }
    }
    grammar.rules().filter(|r| !used[r.index()]).collect()
}

/// Rules that can never finish, one diagnostic for each circle that is the
/// cause; rules that only need one of these are told of with the start.
fn endless(grammar: &Grammar, facts: &Facts) -> Vec<Diagnostic> {
    let endless = |r: RuleId| !facts.productive(grammar, r);
    let start = grammar.start();
    let (mut first, mut calls) = (vec![0], Vec::new());
    for rule in grammar.rules() {
        if endless(rule) {
            calls.extend(facts.graph.calls(rule).iter().map(|e| e.to).filter(|&to| endless(to)));
        }
        first.push(calls.len() as u32);
    }
    let components = components_of(&first, &calls);
    let own = |r: RuleId| &calls[first[r.index()] as usize..first[r.index() + 1] as usize];
    let cause = |rules: &&[RuleId]| {
        let inside = |&to: &RuleId| components.of(to) == components.of(rules[0]);
        endless(rules[0]) && rules.iter().all(|&r| own(r).iter().all(inside))
    };
    let mut causes: Vec<Vec<RuleId>> = components.iter().filter(cause).map(<[RuleId]>::to_vec).collect();
    causes.iter_mut().for_each(|rules| rules.sort_unstable());
    causes.sort_unstable();

    let mut found = Vec::new();
    let report = if endless(start) { Diagnostic::error } else { Diagnostic::warning };
    if endless(start) && !causes.iter().any(|rules| rules.contains(&start)) {
        let message = format!("the start rule `{}` can never finish", grammar.name(start));
        let need = own(start).first().map_or("", |&r| grammar.name(r));
        let label = format!("every alternative needs something endless, such as `{need}`");
        found.push(report(grammar.rule(start).span, message).label(label));
    }
    let describe = |rules: &Vec<RuleId>| match rules[..] {
        [rule] => alone(grammar, rule, own(rule).contains(&rule), report),
        _ => circle(grammar, rules, report),
    };
    list(&causes, describe, "rules can never finish", &mut found);
    found
}

type Report = fn(Span, String) -> Diagnostic;

/// A rule that is endless by itself.
fn alone(grammar: &Grammar, rule: RuleId, calls_itself: bool, report: Report) -> Diagnostic {
    let name = grammar.name(rule);
    let diagnostic = report(grammar.rule(rule).span, format!("rule `{name}` can never finish"));
    if calls_itself {
        let label = format!("every alternative calls `{name}` again");
        return diagnostic.label(label).help(format!("add an alternative that does not call `{name}`"));
    }
    match grammar.alternatives(grammar.rule(rule).body).len() {
        0 => diagnostic.label("it has no alternative"),
        _ => diagnostic.label("every alternative holds something that derives nothing"),
    }
}

/// Rules that need each other.
fn circle(grammar: &Grammar, rules: &[RuleId], report: Report) -> Diagnostic {
    let quoted: Vec<String> = rules.iter().take(4).map(|&r| format!("`{}`", grammar.name(r))).collect();
    let names = match rules.len().saturating_sub(quoted.len()) {
        0 => format!("{} and {}", quoted[..quoted.len() - 1].join(", "), quoted[quoted.len() - 1]),
        more => format!("{} and {more} more", quoted.join(", ")),
    };
    let span = |r: RuleId| grammar.rule(r).span;
    let diagnostic = report(span(rules[0]), format!("rules {names} can never finish"));
    let diagnostic = diagnostic.label("each needs another of them, in a circle");
    let diagnostic = rules.iter().skip(1).take(3).fold(diagnostic, |d, &r| d.also(span(r), ""));
    diagnostic.help("give one of them an alternative that needs none of them")
}

fn list<T>(all: &[T], describe: impl Fn(&T) -> Diagnostic, plural: &str, found: &mut Vec<Diagnostic>) {
    let more = all.len().saturating_sub(MAX_LISTED);
    found.extend(all.iter().take(MAX_LISTED).map(describe));
    if more > 0 {
        found.push(Diagnostic::warning(Span::NONE, format!("{more} more {plural}")));
    }
}
