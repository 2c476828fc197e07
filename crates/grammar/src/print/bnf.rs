//! Prints a grammar as BNF.
//!
//! In:  a grammar of texts, classes and calls.
//! Out: text that the reader of the same notation takes for the same
//!      language. The start comes first.

use super::plain::{Abilities, Members, Plain, plain};
use super::wug::print_text;
use crate::diagnostic::Diagnostic;
use crate::ir::Grammar;
use crate::notation::in_bnf_name;
use std::fmt::Write;

/// The whole grammar as text, or why this notation cannot hold it.
pub fn print(grammar: &Grammar) -> Result<String, Diagnostic> {
    let members = Members::of(grammar);
    // Blanks would be allowed inside, but not at either end.
    let allowed = |c: char| in_bnf_name(c) && !c.is_whitespace() && !c.is_control();
    let abilities = Abilities { notation: "BNF", any_bytes: true, allowed, reserved: &[] };
    let rules = plain(grammar, &members, abilities)?;
    let mut out = String::new();
    for rule in &rules.rules {
        let _ = write!(out, "<{}> ::=", rule.name);
        for (i, symbols) in rule.alternatives.iter().enumerate() {
            if i > 0 {
                out.push_str(" |");
            }
            if symbols.is_empty() {
                out.push_str(" \"\"");
            }
            for symbol in symbols {
                out.push(' ');
                match symbol {
                    Plain::Call(called) => {
                        let _ = write!(out, "<{}>", rules.rules[*called].name);
                    }
                    Plain::Text(bytes) => print_text(bytes, '"', &mut out),
                }
            }
        }
        out.push('\n');
    }
    Ok(out)
}
