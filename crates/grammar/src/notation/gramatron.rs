//! Gramatron's grammars: JSON in which an alternative is one text.
//!
//! ```text
//! {"Program": ["'x = ' Sum", "''"], "Sum": ["Digit '+' Sum", "Digit"]}
//! ```
//!
//! Symbols stand apart from each other. What is in single quotes is text up
//! to the next quote, in which backslashes stand for themselves, as in
//! Gramatron: `'UI\Area'`, `'C:\'`. Only `\n` is a line break. `''` is the
//! empty text, and so is an alternative without symbols. Everything else is
//! the name of a rule.
//!
//! Gramatron has no text with a single quote in it. We read two ways to
//! write one: text in double quotes (`"it's"`), and `\'` in alternatives that
//! make no sense otherwise (`'it\'s'`: something would stand directly behind
//! a closing quote, or a text would not end).
//!
//! The start is the first of `Program`, `PROGRAM`, `program`, `Start`,
//! `START` and `start` that there is, else the first rule.

use super::json::{Json, Shape, Step, Text};
use crate::ast::Ast;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::names::NameId;
use crate::source::Span;

/// Names that a start rule goes by, the likeliest first.
pub(crate) const STARTS: [&str; 6] = ["Program", "PROGRAM", "program", "Start", "START", "start"];

/// Reads `text`, whose first byte has offset `base`.
pub fn read(text: &str, base: u32, ast: &mut Ast, diags: &mut Diagnostics) {
    ast.hints.push((Span::new(base, base + text.len() as u32), |name| {
        format!("to mean the text, put it into single quotes: `'{name}'`")
    }));
    let first_text = ast.rules.is_empty() && ast.start.is_none();
    let mut reader = Reader { json: Json::new(text, base), ast, diags, bytes: Vec::new() };
    if let Err(error) = reader.file() {
        reader.ast.builder.abandon();
        reader.json.report(*error, reader.diags);
        return;
    }
    if first_text {
        let named = |start: &str| {
            let id = ast.names.find(start)?;
            ast.rules.iter().map(|rule| rule.name).find(|name| name.0 == id)
        };
        ast.start = STARTS.into_iter().find_map(named);
    }
}

struct Reader<'a> {
    json: Json<'a>,
    ast: &'a mut Ast,
    diags: &'a mut Diagnostics,
    /// A text while its escapes are resolved.
    bytes: Vec<u8>,
}

impl Reader<'_> {
    fn file(&mut self) -> Step {
        match self.json.shape()? {
            Shape::Object => {}
            other => {
                return self.json.wrong(
                    "an object with the rules",
                    other,
                    "for example {\"Program\": [\"'a'\"]}",
                    self.diags,
                );
            }
        }
        let mut object = self.json.open();
        while self.json.more(&mut object)? {
            let key = self.json.key()?;
            let span = key.span;
            if key.text.is_empty()
                || key.text.starts_with(['\'', '"'])
                || key.text.contains(char::is_whitespace)
            {
                let error = Diagnostic::error(span, "this cannot be the name of a rule");
                self.diags.push(error.help("a name has no spaces and does not begin with a quote"));
                self.json.pass()?;
                continue;
            }
            let name = self.ast.names.add(key.text);
            self.rule(name, span)?;
        }
        self.json.end()
    }

    fn rule(&mut self, name: NameId, span: Span) -> Step {
        match self.json.shape()? {
            Shape::List => {}
            other => {
                return self.json.wrong(
                    "a list of alternatives",
                    other,
                    "for example [\"'a' B\", \"''\"]",
                    self.diags,
                );
            }
        }
        let mut list = self.json.open();
        let mut empty = true;
        while self.json.more(&mut list)? {
            let here = self.json.here();
            if empty {
                self.ast.builder.open_body(here);
            } else {
                self.ast.builder.next_alternative(here);
            }
            empty = false;
            match self.json.shape()? {
                Shape::Text => {
                    let text = self.json.text()?;
                    symbols(text, self.ast, &mut self.bytes, self.diags);
                }
                other => self.json.wrong(
                    "an alternative",
                    other,
                    "an alternative is one text, as in \"'a' B\"",
                    self.diags,
                )?,
            }
        }
        if empty {
            let message = format!("rule `{}` has no alternative", self.ast.names.text(name));
            self.diags.push(Diagnostic::error(span, message).help("[\"''\"] derives the empty text"));
            return Ok(());
        }
        self.ast.close_named((name, span));
        Ok(())
    }
}

/// Appends the symbols of one alternative.
fn symbols(whole: Text, ast: &mut Ast, bytes: &mut Vec<u8>, diags: &mut Diagnostics) {
    let text = whole.text;
    let escaped = has_escaped_quotes(text);
    let mut at = 0;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &text[at..];
        let Some(quote) = rest.bytes().next() else { return };
        if matches!(quote, b'\'' | b'"') {
            let Some(len) = terminal(rest, escaped) else {
                let error = Diagnostic::error(whole.part(at, at + 1), "this terminal does not end");
                let quote = quote as char;
                diags.push(error.help(format!(
                    "close it with `{quote}`; text with a single quote inside stands in double quotes"
                )));
                return;
            };
            resolve(&rest[1..len - 1], escaped && quote == b'\'', bytes);
            ast.literal(bytes, whole.part(at, at + len));
            at += len;
        } else {
            let len = rest.find(char::is_whitespace).unwrap_or(rest.len());
            ast.call(&rest[..len], whole.part(at, at + len));
            at += len;
        }
    }
}

/// Whether `\'` is a quote inside text here: the alternative makes sense
/// only so.
fn has_escaped_quotes(text: &str) -> bool {
    text.contains("\\'") && !is_well_formed(text, false) && is_well_formed(text, true)
}

/// Whether all terminals end and stand apart from the names around them.
fn is_well_formed(text: &str, escaped: bool) -> bool {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let len = if rest.starts_with(['\'', '"']) {
            match terminal(rest, escaped) {
                Some(len) => len,
                None => return false,
            }
        } else {
            rest.find(char::is_whitespace).unwrap_or(rest.len())
        };
        rest = &rest[len..];
        if !rest.is_empty() && !rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '\'' | '"')) {
            return false;
        }
        rest = rest.trim_start();
    }
    true
}

/// The length of the terminal at the start of `text`, quotes included; none
/// if it does not end. With `escaped`, a single quote behind an odd number of
/// backslashes does not end it.
fn terminal(text: &str, escaped: bool) -> Option<usize> {
    let quote = text.as_bytes()[0];
    let mut odd = false;
    for (at, &b) in text.as_bytes().iter().enumerate().skip(1) {
        if b == quote && !(odd && escaped && quote == b'\'') {
            return Some(at + 1);
        }
        odd = b == b'\\' && !odd;
    }
    None
}

/// Replaces `\n`, and with `escaped` `\'`, in the text of a terminal.
fn resolve(text: &str, escaped: bool, bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&b| b == b'\\') {
        bytes.extend_from_slice(&rest[..at]);
        let replaced = match rest.get(at + 1) {
            Some(b'n') => Some(b'\n'),
            Some(b'\'') if escaped => Some(b'\''),
            _ => None,
        };
        bytes.push(replaced.unwrap_or(b'\\'));
        rest = &rest[at + 1 + usize::from(replaced.is_some())..];
    }
    bytes.extend_from_slice(rest);
}
