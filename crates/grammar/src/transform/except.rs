//! Resolves exceptions (`a - b` of the EBNF notations).
use crate::arena::BodyId;
use crate::ast::Kind;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Grammar, Rule, RuleId};
use crate::source::Span;

/// A rule that stands for the exception until [`resolve`] has its language.
pub fn placeholder(rule: RuleId, left: BodyId, span: Span) -> Rule {
    let name = format!("except-{}", rule.0);
    Rule { name, span, kind: Kind::Syntax, body: left, depth_limit: None, made: true, notes: Vec::new() }
}

/// Gives each rule what its body derives and the other body does not.
pub fn resolve(
    grammar: Grammar,
    exceptions: &[(RuleId, BodyId)],
    diags: &mut Diagnostics,
) -> Option<Grammar> {
    for (rule, _) in exceptions {
        diags.push(Diagnostic::error(grammar.rule(*rule).span, "not yet"));
    }
    None
}
