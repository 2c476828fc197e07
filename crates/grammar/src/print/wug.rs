//! Prints a grammar as `.wug`: reading it back gives the same grammar.

use crate::arena::{AltId, BodyId, Note};
use crate::ast::{Action, Kind};
use crate::class::{Class, Unit};
use crate::ir::{Grammar, ModeId, Rule, RuleId, Symbol};
use std::fmt::Write;

/// The whole grammar as text.
pub fn print(grammar: &Grammar) -> String {
    let mut out = String::new();
    if needs_start(grammar) {
        let _ = writeln!(out, "start {} ;\n", name(grammar.name(grammar.start())));
    }
    let mut mode = ModeId(0);
    if !in_order(grammar) {
        for text in grammar.modes().iter().skip(1) {
            let _ = writeln!(out, "mode {} {{ }}", name(text));
        }
    }
    for rule in grammar.rules() {
        let wanted = mode_of(grammar.rule(rule)).unwrap_or(ModeId(0));
        if wanted != mode {
            if mode != ModeId(0) {
                out.push_str("}\n");
            }
            if wanted != ModeId(0) {
                let _ = writeln!(out, "mode {} {{", name(&grammar.modes()[wanted.0 as usize]));
            }
            mode = wanted;
        }
        print_rule(grammar, rule, &mut out);
    }
    if mode != ModeId(0) {
        out.push_str("}\n");
    }
    out
}

/// Whether the first syntax rule, or the first token where there is none,
/// is not the start.
fn needs_start(grammar: &Grammar) -> bool {
    let first = grammar.rules().find(|&r| grammar.rule(r).kind == Kind::Syntax);
    let first = first.or_else(|| grammar.rules().find(|&r| grammar.rule(r).kind != Kind::Fragment));
    first != Some(grammar.start())
}

/// Whether the modes' numbers follow the order of their first rules.
fn in_order(grammar: &Grammar) -> bool {
    let mut seen = 0;
    for rule in &grammar.rules {
        match mode_of(rule) {
            Some(ModeId(m)) if m > seen + 1 => return false,
            Some(ModeId(m)) if m > seen => seen = m,
            _ => {}
        }
    }
    seen as usize + 1 == grammar.modes().len()
}

fn mode_of(rule: &Rule) -> Option<ModeId> {
    match rule.kind {
        Kind::Token { mode, .. } => Some(mode),
        _ => None,
    }
}

fn print_rule(grammar: &Grammar, id: RuleId, out: &mut String) {
    let rule = grammar.rule(id);
    if rule.made {
        out.push_str("@made ");
    }
    if let Some(limit) = rule.depth_limit {
        let _ = write!(out, "@depth({limit}) ");
    }
    for note in &rule.notes {
        print_note(note, out);
        out.push(' ');
    }
    out.push_str(match rule.kind {
        Kind::Syntax => "",
        Kind::Token { skip: false, .. } => "token ",
        Kind::Token { skip: true, .. } => "skip ",
        Kind::Fragment => "fragment ",
    });
    let _ = write!(out, "{} =", name(&rule.name));
    print_body(grammar, rule.body, out);
    if let Kind::Token { action, .. } = rule.kind {
        let mode = |m: ModeId| name(&grammar.modes()[m.0 as usize]);
        let _ = match action {
            Action::Stay => Ok(()),
            Action::Pop => write!(out, " -> pop"),
            Action::Push(m) => write!(out, " -> push({})", mode(m)),
            Action::Set(m) => write!(out, " -> mode({})", mode(m)),
            Action::Change { drop, .. } => {
                let pops = (0..drop).map(|_| "pop".to_string());
                let pushes = action.enters().map(|m| format!("push({})", mode(m)));
                write!(out, " -> {}", pops.chain(pushes).collect::<Vec<_>>().join(", "))
            }
        };
    }
    out.push_str(" ;\n");
}

fn print_body(grammar: &Grammar, body: BodyId, out: &mut String) {
    if grammar.alternatives(body).len() == 0 {
        // No alternative derives nothing, as an empty class does.
        out.push_str(" [^\\x00-\\u{10FFFF}]");
    }
    for (i, alt) in grammar.alternatives(body).enumerate() {
        if i > 0 {
            out.push_str(" |");
        }
        print_alternative(grammar, alt, out);
    }
}

fn print_alternative(grammar: &Grammar, alt: AltId, out: &mut String) {
    let weight = grammar.alternative(alt).weight;
    if weight != 1 {
        let _ = write!(out, " @{weight}");
    }
    for (id, symbol) in grammar.numbered(alt) {
        out.push(' ');
        print_symbol(grammar, *symbol, out);
        for note in grammar.notes(id) {
            out.push(' ');
            print_note(note, out);
        }
    }
}

fn print_symbol(grammar: &Grammar, symbol: Symbol, out: &mut String) {
    match symbol {
        Symbol::Bytes(bytes) => print_text(grammar.bytes(bytes), '"', out),
        Symbol::Class(class) => print_class(grammar.class(class), out),
        Symbol::Rule(rule) => out.push_str(&name(grammar.name(rule))),
        Symbol::Group(body) => print_group(grammar, body, out),
        Symbol::Repeat(repeat) => {
            let repeat = grammar.repeat(repeat);
            match simple(grammar, repeat.body) {
                Some(symbol) => print_symbol(grammar, symbol, out),
                None => print_group(grammar, repeat.body, out),
            }
            let _ = match (repeat.min, repeat.max) {
                (0, None) => write!(out, "*"),
                (1, None) => write!(out, "+"),
                (0, Some(1)) => write!(out, "?"),
                (min, None) => write!(out, "{{{min},}}"),
                (min, Some(max)) if min == max => write!(out, "{{{min}}}"),
                (min, Some(max)) => write!(out, "{{{min},{max}}}"),
            };
            if !repeat.greedy {
                out.push('?');
            }
        }
    }
}

fn print_group(grammar: &Grammar, body: BodyId, out: &mut String) {
    let mut inner = String::new();
    print_body(grammar, body, &mut inner);
    let _ = write!(out, "({})", inner.strip_prefix(' ').unwrap_or(&inner));
}

/// The only symbol of a body that needs no parentheses when repeated.
fn simple(grammar: &Grammar, body: BodyId) -> Option<Symbol> {
    let mut alternatives = grammar.alternatives(body);
    let (alt, None) = (alternatives.next()?, alternatives.next()) else { return None };
    let mut symbols = grammar.numbered(alt);
    let ((id, symbol), None) = (symbols.next()?, symbols.next()) else { return None };
    let plain = matches!(symbol, Symbol::Bytes(_) | Symbol::Class(_) | Symbol::Rule(_));
    (plain && grammar.alternative(alt).weight == 1 && grammar.notes(id).next().is_none()).then_some(*symbol)
}

fn print_note(note: &Note, out: &mut String) {
    let _ = write!(out, "@{{{}: ", name(&note.key));
    print_text(note.value.as_bytes(), '"', out);
    out.push('}');
}

/// A name, in backticks if it is not plain.
pub fn name(name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && !name.ends_with('-');
    // `x"` and `x[` begin bytes, but a space always follows a name.
    if plain {
        return name.to_string();
    }
    let mut out = String::new();
    print_text(name.as_bytes(), '`', &mut out);
    out
}

/// Bytes as a quoted text, with escapes for what is not printable.
pub fn print_text(bytes: &[u8], quote: char, out: &mut String) {
    out.push(quote);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\\' => out.push_str("\\\\"),
                c if c == quote => out.extend(['\\', c]),
                c if c.is_ascii_control() => {
                    let _ = write!(out, "\\x{:02X}", c as u32);
                }
                c if printable(c) => out.push(c),
                c => {
                    let _ = write!(out, "\\u{{{:X}}}", c as u32);
                }
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02X}");
        }
    }
    out.push(quote);
}

/// Whether a character can stand in a text as itself.
fn printable(c: char) -> bool {
    // `escape_debug` leaves alone what is printable, but for quotes and
    // the backslash, which the caller has dealt with.
    matches!(c, '"' | '\'' | '\\') || c.escape_debug().len() == 1
}

/// A class, as regular expressions write it, or as `x[…]` for bytes.
pub fn print_class(class: &Class, out: &mut String) {
    if class.is_empty() {
        out.push_str("[^\\x00-\\u{10FFFF}]");
        return;
    }
    if *class == Class::any_char() {
        out.push('.');
        return;
    }
    if class.unit() == Unit::Byte {
        let ranges = class.ranges().iter();
        let texts =
            ranges.map(|&(l, h)| if l == h { format!("{l:02X}") } else { format!("{l:02X}-{h:02X}") });
        let _ = write!(out, "x[{}]", texts.collect::<Vec<_>>().join(" "));
        return;
    }
    // A class that holds nearly everything reads better negated.
    let negated = class.contains(0x10FFFF) && class.contains(0);
    let shown = if negated { &class.complement(Unit::Char) } else { class };
    out.push_str(if negated { "[^" } else { "[" });
    for &(low, high) in shown.ranges() {
        class_char(low, out);
        if high > low {
            if high > low + 1 {
                out.push('-');
            }
            class_char(high, out);
        }
    }
    out.push(']');
}

fn class_char(value: u32, out: &mut String) {
    let _ = match char::from_u32(value) {
        Some('\n') => write!(out, "\\n"),
        Some('\r') => write!(out, "\\r"),
        Some('\t') => write!(out, "\\t"),
        Some(c @ ('\\' | '[' | ']' | '^' | '-' | '&' | '~')) => write!(out, "\\{c}"),
        Some(c) if c == ' ' || (printable(c) && !c.is_whitespace()) => write!(out, "{c}"),
        _ if value < 0x80 => write!(out, "\\x{value:02X}"),
        _ => write!(out, "\\u{{{value:X}}}"),
    };
}
