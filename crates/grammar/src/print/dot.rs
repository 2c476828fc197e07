//! Prints which rules call which, as a graph for Graphviz.
//!
//! In:  any grammar.
//! Out: one node for each rule, one edge for each pair of rules of which
//!      the first calls the second. The start has a double border, tokens
//!      are boxes, parts of tokens are dashed.

use crate::ast::Kind;
use crate::ir::Grammar;
use hashbrown::HashSet;
use std::fmt::Write;

/// The graph as text.
pub fn print(grammar: &Grammar) -> String {
    let mut out = String::from("digraph grammar {\n  rankdir=LR;\n  node [shape=ellipse];\n");
    for rule in grammar.rules() {
        let style = match grammar.rule(rule).kind {
            Kind::Syntax => "",
            Kind::Token { skip: false, .. } => ", shape=box",
            Kind::Token { skip: true, .. } => ", shape=box, color=grey",
            Kind::Fragment => ", shape=box, style=dashed",
        };
        let start = if rule == grammar.start() { ", peripheries=2" } else { "" };
        let _ = writeln!(out, "  r{} [label=\"{}\"{style}{start}];", rule.0, escaped(grammar.name(rule)));
    }
    let mut seen = HashSet::new();
    for rule in grammar.rules() {
        seen.clear();
        grammar.body_calls(grammar.rule(rule).body, &mut |called| {
            if seen.insert(called) {
                let _ = writeln!(out, "  r{} -> r{};", rule.0, called.0);
            }
        });
    }
    out.push_str("}\n");
    out
}

fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // Two backslashes: the label shows the escape.
                let _ = write!(out, "\\\\x{:02X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}
