//! Prints a grammar as Gramatron's JSON.
//!
//! In:  a grammar of texts, classes and calls.
//! Out: JSON that the reader of the same notation takes for the same
//!      language. The start comes first; a rule that only has the name of
//!      a start gets another.

use super::f1::quoted;
use super::plain::{Abilities, Members, Plain, Rules, plain};
use crate::diagnostic::Diagnostic;
use crate::ir::Grammar;
use crate::notation::GRAMATRON_STARTS;

/// The whole grammar as text, or why this notation cannot hold it.
pub fn print(grammar: &Grammar) -> Result<String, Diagnostic> {
    let members = Members::of(grammar);
    let allowed = |c: char| !c.is_whitespace() && !matches!(c, '\'' | '"');
    let notation = "Gramatron's JSON";
    let abilities = Abilities { notation, any_bytes: false, allowed, reserved: &GRAMATRON_STARTS };
    let rules = plain(grammar, &members, abilities)?;
    let mut out = String::from("{\n");
    let mut text = String::new();
    for (at, rule) in rules.rules.iter().enumerate() {
        out.push_str(if at > 0 { ",\n  " } else { "  " });
        quoted(&rule.name, &mut out);
        out.push_str(": [");
        for (i, symbols) in rule.alternatives.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            text.clear();
            print_symbols(&rules, symbols, &mut text);
            quoted(&text, &mut out);
        }
        out.push(']');
    }
    out.push_str("\n}\n");
    Ok(out)
}

fn print_symbols(rules: &Rules, symbols: &[Plain], out: &mut String) {
    if symbols.is_empty() {
        out.push_str("''");
    }
    for (i, symbol) in symbols.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        match symbol {
            Plain::Call(called) => out.push_str(&rules.rules[*called].name),
            Plain::Text(bytes) => terminal(bytes, out),
        }
    }
}

/// Prints text as terminals: more than one where a single one cannot hold it
/// (see the reader: single quotes stand in double quotes, and a backslash
/// before an `n` must not become a line break).
fn terminal(bytes: &[u8], out: &mut String) {
    let text = String::from_utf8_lossy(bytes);
    let mut quote = None;
    let mut last = ' ';
    for c in text.chars() {
        let wanted = match (c, quote) {
            ('\'', _) => '"',
            ('"', _) => '\'',
            (_, Some(quote)) => quote,
            _ => '\'',
        };
        let splits = quote.is_some_and(|quote| quote != wanted) || last == '\\' && c == 'n';
        if let Some(quote) = quote.filter(|_| splits) {
            out.extend([quote, ' ']);
        }
        if quote.is_none() || splits {
            out.push(wanted);
        }
        quote = Some(wanted);
        match c {
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
        last = c;
    }
    match quote {
        Some(quote) => out.push(quote),
        None => out.push_str("''"),
    }
}
