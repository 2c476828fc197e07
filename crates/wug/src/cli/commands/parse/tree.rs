//! A derivation as lines: rules and tokens, with the bytes they span.
//!
//! Groups, repetitions and rules that a transform made are not shown: they
//! have no names. Lines are flat, each with its depth, because a tree may be
//! a million levels deep.

use serde::Serialize;
use std::fmt::Write;
use wug_grammar::derivation::{Event, Node};
use wug_grammar::{Derivation, Grammar, RuleId};
use wug_parse::Piece;

/// A rule or a token in a tree.
#[derive(Serialize)]
pub struct Line {
    pub depth: usize,
    /// Null for tokens, and for what no rule derives.
    pub rule: Option<String>,
    pub start: usize,
    pub end: usize,
    /// The text, shortened.
    pub text: String,
}

/// Deeper lines are not indented further.
const MAX_INDENT: usize = 100;
/// More characters of a text are not shown.
const MAX_TEXT: usize = 40;

impl Line {
    pub fn write(&self, out: &mut String) {
        let indent = 2 * self.depth.min(MAX_INDENT);
        let _ = match &self.rule {
            Some(rule) => {
                writeln!(out, "{:indent$}{rule} {}..{} {}", "", self.start, self.end, self.text)
            }
            None => writeln!(out, "{:indent$}{}..{} {}", "", self.start, self.end, self.text),
        };
    }
}

/// The lines of a derivation of `text`, in order.
pub fn tree(grammar: &Grammar, derivation: &Derivation, text: &[u8]) -> Vec<Line> {
    let mut rules: Vec<Option<RuleId>> = vec![None; grammar.body_count()];
    for rule in grammar.rules().filter(|&r| !grammar.rule(r).made) {
        rules[grammar.rule(rule).body.index()] = Some(rule);
    }
    let mut of_alternative = vec![None; grammar.alternative_count()];
    for rule in rules.into_iter().flatten() {
        for alt in grammar.alternatives(grammar.rule(rule).body) {
            of_alternative[alt.index()] = Some(rule);
        }
    }
    let named = |node: usize| match derivation.node(node) {
        Node::Alternative(alt) => {
            of_alternative[alt.index()].map(|rule| Some(grammar.name(rule).to_string()))
        }
        Node::Token(_) => Some(None),
        _ => None,
    };
    let mut lines: Vec<Line> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    // What parses fits its grammar.
    let _ = derivation.walk(grammar, |event| match event {
        Event::Enter(node, _) => {
            if let Some(rule) = named(node) {
                open.push(lines.len());
                lines.push(Line { depth: open.len() - 1, rule, start: at, end: at, text: String::new() });
            }
        }
        Event::Bytes(bytes) => at += bytes.len(),
        Event::Leave(node) => {
            if named(node).is_some()
                && let Some(line) = open.pop()
            {
                lines[line].end = at;
                lines[line].text = shortened(&text[lines[line].start..at]);
            }
        }
    });
    lines
}

/// A piece of a text that does not parse as a whole.
pub fn island(grammar: &Grammar, piece: &Piece, text: &[u8]) -> Line {
    let rule = match piece {
        Piece::Island { rule, .. } => Some(grammar.name(*rule).to_string()),
        Piece::Raw(_) => None,
    };
    let span = piece.span();
    Line { depth: 0, rule, start: span.start, end: span.end, text: shortened(&text[span]) }
}

fn shortened(text: &[u8]) -> String {
    let head = &text[..text.len().min(4 * MAX_TEXT)];
    let mut out = String::from("\"");
    for (i, char) in String::from_utf8_lossy(head).chars().enumerate() {
        if i == MAX_TEXT {
            return out + "…\"";
        }
        match char {
            '"' => out.push_str("\\\""),
            c if c.is_control() || c == '\\' => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out + "\""
}
