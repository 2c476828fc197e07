//! Counts code that was passed over, for one notice.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;

/// Actions and predicates, with the rules that have predicates.
#[derive(Default)]
pub struct Codes {
    actions: usize,
    predicates: usize,
    /// Rules in order, each once.
    rules: Vec<String>,
    place: Option<Span>,
}

/// More rules than this are summed up.
const MAX_LISTED: usize = 10;

impl Codes {
    pub fn action(&mut self, rule: &str, span: Span) {
        self.actions += 1;
        self.note(rule, span);
    }

    pub fn predicate(&mut self, rule: &str, span: Span) {
        self.predicates += 1;
        self.note(rule, span);
    }

    fn note(&mut self, rule: &str, span: Span) {
        self.place.get_or_insert(span);
        if self.rules.last().is_none_or(|last| last != rule) {
            self.rules.push(rule.to_string());
        }
    }

    /// The notice, if there was any code.
    pub fn tell(&self, diags: &mut Diagnostics) {
        let Some(place) = self.place else { return };
        let count = |n: usize, what: &str| match n {
            0 => None,
            1 => Some(format!("1 {what}")),
            n => Some(format!("{n} {what}s")),
        };
        let counts = [count(self.actions, "action"), count(self.predicates, "predicate")];
        let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        let mut names: Vec<&str> = Vec::new();
        for rule in &self.rules {
            if !names.contains(&rule.as_str()) && names.len() <= MAX_LISTED {
                names.push(rule);
            }
        }
        let more = if names.len() > MAX_LISTED { " and more" } else { "" };
        let names = names[..names.len().min(MAX_LISTED)].join(", ");
        let message = format!("{counts} in a programming language are passed over, in {names}{more}");
        let help = "predicates count as true: what a real parser checks there, inputs may break";
        diags.push(Diagnostic::warning(place, message).help(help));
    }
}
