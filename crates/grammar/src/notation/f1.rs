//! F1's grammars, and the fuzzing book's written as JSON.
//!
//! ```text
//! {"<start>": [["<expr>"]],                 a list of symbols, or
//!  "<expr>":  ["<term> + <expr>", "1"]}     one text with <names> inside
//! ```
//!
//! or the same wrapped: `{"[start]": "<expr>", "[grammar]": { … }}`.
//!
//! - A symbol of a list is a rule if all of it is `<name>`, where the name
//!   has no angle brackets; anything else is text, `<` and `<a><b>` too.
//! - In the form of one text, `<name>` is a rule where the name has
//!   neither angle brackets nor spaces.
//! - In the grammar, names are without their brackets.
//! - The start is `[start]`, else `<start>`, else the first rule.
//!
//! A `<name>` that no rule has is an error, not text: it is a slip much
//! more often than markup.

use super::json::{Json, Shape, Step, Text};
use crate::ast::{Ast, AstSymbol};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::names::NameId;
use crate::source::Span;

/// Reads `text`, whose first byte has offset `base`.
pub fn read(text: &str, base: u32, ast: &mut Ast, diags: &mut Diagnostics) {
    let whole = Span::new(base, base + text.len() as u32);
    ast.hints.push((whole, as_text));
    let first_text = ast.rules.is_empty() && ast.start.is_none();
    let mut reader = Reader { json: Json::new(text, base), ast, diags };
    if let Err(error) = reader.file() {
        reader.ast.builder.abandon();
        reader.json.report(*error, reader.diags);
        return;
    }
    if first_text && ast.start.is_none() {
        let start = ast.names.find("start");
        ast.start = ast.rules.iter().map(|rule| rule.name).find(|name| Some(name.0) == start);
    }
}

/// How a name is written when it is meant as text.
fn as_text(name: &str) -> String {
    format!("to mean the text `<{name}>`, split it in two: \"<\", \"{name}>\"")
}

struct Reader<'a> {
    json: Json<'a>,
    ast: &'a mut Ast,
    diags: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn file(&mut self) -> Step {
        match self.json.shape()? {
            Shape::Object => self.rules(true)?,
            other => {
                return self.json.wrong(
                    "an object with the rules",
                    other,
                    "for example {\"<start>\": [[\"a\"]]}",
                    self.diags,
                );
            }
        }
        self.json.end()
    }

    /// The members of an object of rules; the outermost one may be the
    /// wrapped form.
    fn rules(&mut self, outermost: bool) -> Step {
        let mut object = self.json.open();
        while self.json.more(&mut object)? {
            let key = self.json.key()?;
            let span = key.span;
            if let Some(name) = bracketed(key.text) {
                let name = self.ast.names.add(name);
                self.rule(name, span)?;
            } else {
                match key.text {
                    "[start]" if outermost => self.start()?,
                    "[grammar]" if outermost => match self.json.shape()? {
                        Shape::Object => self.rules(false)?,
                        other => self.json.wrong(
                            "an object with the rules",
                            other,
                            "for example {\"<a>\": [[\"a\"]]}",
                            self.diags,
                        )?,
                    },
                    other => {
                        let bare = other.trim_matches(['<', '>', '[', ']']).to_string();
                        let known = outermost && other.starts_with('[');
                        let error = if known {
                            Diagnostic::error(span, "unknown part of a grammar")
                                .help("there are \"[start]\" and \"[grammar]\"")
                        } else if bare.is_empty() {
                            Diagnostic::error(span, "a rule needs a name").help("write it as \"<name>\"")
                        } else {
                            let bare: String =
                                bare.chars().filter(|c| !matches!(c, '<' | '>')).take(40).collect();
                            Diagnostic::error(span, "the name of a rule stands in angle brackets")
                                .help(format!("write it as \"<{}>\"", bare.escape_debug()))
                        };
                        self.diags.push(error);
                        self.json.pass()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn start(&mut self) -> Step {
        match self.json.shape()? {
            Shape::Text => {
                let text = self.json.text()?;
                let name = bracketed(text.text).unwrap_or(text.text);
                self.ast.start = Some((self.ast.names.add(name), text.span));
                Ok(())
            }
            other => {
                self.json.wrong("the name of the start rule", other, "for example \"<start>\"", self.diags)
            }
        }
    }

    fn rule(&mut self, name: NameId, span: Span) -> Step {
        match self.json.shape()? {
            Shape::List => {}
            other => {
                return self.json.wrong(
                    "a list of alternatives",
                    other,
                    "for example [[\"a\", \"<b>\"], []]",
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
                Shape::List => self.symbols()?,
                Shape::Text => split(self.json.text()?, self.ast),
                other => {
                    self.json.wrong(
                        "an alternative",
                        other,
                        "a list of symbols, as in [\"a\", \"<b>\"], or a text",
                        self.diags,
                    )?;
                }
            }
        }
        if empty {
            let message = format!("rule `<{}>` has no alternative", self.ast.names.text(name));
            self.diags.push(Diagnostic::error(span, message).help("[[]] derives the empty text"));
            return Ok(());
        }
        self.ast.close_named((name, span));
        Ok(())
    }

    fn symbols(&mut self) -> Step {
        let mut list = self.json.open();
        while self.json.more(&mut list)? {
            match self.json.shape()? {
                Shape::Text => {
                    let symbol = self.json.text()?;
                    match bracketed(symbol.text) {
                        Some(name) => self.ast.call(name, symbol.span),
                        None => self.ast.literal(symbol.text.as_bytes(), symbol.span),
                    }
                }
                other => self.json.wrong(
                    "a symbol",
                    other,
                    "a symbol is a text: \"<name>\" for a rule, else itself",
                    self.diags,
                )?,
            }
        }
        Ok(())
    }
}

/// The inside of `<name>`.
#[inline]
pub(crate) fn bracketed(text: &str) -> Option<&str> {
    let name = text.strip_prefix('<')?.strip_suffix('>')?;
    (!name.is_empty() && !name.bytes().any(|b| b == b'<' || b == b'>')).then_some(name)
}

/// An alternative as one text: appends its names and what is between them.
fn split(whole: Text, ast: &mut Ast) {
    let text = whole.text;
    // Text before `from` is done; `open` is the last `<` that may begin a name.
    let (mut from, mut open) = (0, None);
    for (at, b) in text.bytes().enumerate() {
        match b {
            b'<' => open = Some(at),
            b' ' => open = None,
            b'>' => {
                if let Some(start) = open.take().filter(|&start| at > start + 1) {
                    ast.literal(&text.as_bytes()[from..start], whole.part(from, start));
                    let name = ast.names.add(&text[start + 1..at]);
                    ast.builder.symbol(AstSymbol::Name(name), whole.part(start, at + 1));
                    from = at + 1;
                }
            }
            _ => {}
        }
    }
    ast.literal(&text.as_bytes()[from..], whole.part(from, text.len()));
}
