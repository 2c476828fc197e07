//! Prints a grammar as F1's JSON, rules as lists of symbols.
//!
//! In:  a grammar of texts, classes and calls.
//! Out: JSON that the reader of the same notation takes for the same
//!      language; wrapped, with `[start]`, unless the start is `<start>`.
//!      Text that looks like `<name>` is split so that it stays text.

use super::plain::{Abilities, Members, Plain, Rules, plain};
use crate::diagnostic::Diagnostic;
use crate::ir::Grammar;
use crate::notation::f1_name;
use std::fmt::Write;

/// The whole grammar as text, or why this notation cannot hold it.
pub fn print(grammar: &Grammar) -> Result<String, Diagnostic> {
    let members = Members::of(grammar);
    let allowed = |c| !matches!(c, '<' | '>' | ' ');
    let abilities = Abilities { notation: "F1's JSON", any_bytes: false, allowed, reserved: &["start"] };
    let rules = plain(grammar, &members, abilities)?;
    let wrapped = rules.rules[0].name != "start";
    let mut out = String::from("{\n");
    if wrapped {
        out.push_str("\"[start]\": ");
        quoted(&format!("<{}>", rules.rules[0].name), &mut out);
        out.push_str(",\n\"[grammar]\": {\n");
    }
    for (at, rule) in rules.rules.iter().enumerate() {
        out.push_str(if at > 0 { ",\n  " } else { "  " });
        quoted(&format!("<{}>", rule.name), &mut out);
        out.push_str(": [");
        for (i, symbols) in rule.alternatives.iter().enumerate() {
            out.push_str(if i > 0 { ", [" } else { "[" });
            print_symbols(&rules, symbols, &mut out);
            out.push(']');
        }
        out.push(']');
    }
    out.push_str(if wrapped { "\n}}\n" } else { "\n}\n" });
    Ok(out)
}

fn print_symbols(rules: &Rules, symbols: &[Plain], out: &mut String) {
    for (i, symbol) in symbols.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        match symbol {
            Plain::Call(called) => quoted(&format!("<{}>", rules.rules[*called].name), out),
            Plain::Text(bytes) => {
                // Bytes that are not UTF-8 have been refused.
                let text = String::from_utf8_lossy(bytes);
                match f1_name(&text) {
                    Some(name) => {
                        out.push_str("\"<\", ");
                        quoted(&format!("{name}>"), out);
                    }
                    None => quoted(&text, out),
                }
            }
        }
    }
}

/// Appends a JSON text.
pub(super) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || c == '\u{7F}' => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
