//! Gramatron's grammars: JSON in which an alternative is one text.
//!
//! ```text
//! {"Program": ["'x = ' Sum", "''"], "Sum": ["Digit '+' Sum", "Digit"]}
//! ```
//!
//! Symbols stand apart from each other. What is in single quotes is text,
//! with the escapes `\'` `\\` `\n` `\r` `\t` `\xHH` (one byte) and
//! `\uHHHH`; `''` is the empty text, and so is an alternative without
//! symbols. Everything else is the name of a rule.
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
            if key.text.is_empty() || key.text.starts_with('\'') || key.text.contains(char::is_whitespace) {
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
    let mut at = 0;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &text[at..];
        if rest.is_empty() {
            return;
        }
        if let Some(inside) = rest.strip_prefix('\'') {
            match terminal(inside, bytes) {
                Ok(len) => {
                    ast.literal(bytes, whole.part(at, at + 1 + len));
                    at += 1 + len;
                }
                Err(Mistake { start, end, message, help }) => {
                    let (start, end) =
                        if message == UNENDED { (at, at + 1) } else { (at + 1 + start, at + 1 + end) };
                    diags.push(Diagnostic::error(whole.part(start, end), message).help(help));
                    return;
                }
            }
        } else {
            let len = rest.find(char::is_whitespace).unwrap_or(rest.len());
            ast.call(&rest[..len], whole.part(at, at + len));
            at += len;
        }
    }
}

struct Mistake {
    start: usize,
    end: usize,
    message: &'static str,
    help: &'static str,
}

const UNENDED: &str = "this terminal does not end";

/// Resolves a text behind its opening quote into `bytes`; gives the length
/// up to behind the closing one.
fn terminal(text: &str, bytes: &mut Vec<u8>) -> Result<usize, Mistake> {
    bytes.clear();
    let mut at = 0;
    while let Some(&b) = text.as_bytes().get(at) {
        match b {
            b'\'' => return Ok(at + 1),
            b'\\' => at = escape(text, at, bytes)?,
            _ => {
                bytes.push(b);
                at += 1;
            }
        }
    }
    let help = "close it with `'`; a quote inside is written `\\'`";
    Err(Mistake { start: 0, end: 0, message: UNENDED, help })
}

/// Resolves the escape at `at`; gives the place behind it.
fn escape(text: &str, at: usize, bytes: &mut Vec<u8>) -> Result<usize, Mistake> {
    let digits = |n: usize| {
        let digits = text.as_bytes().get(at + 2..at + 2 + n)?;
        digits.iter().try_fold(0, |value, &b| Some(value * 16 + (b as char).to_digit(16)?))
    };
    let wrong = |message, help| Err(Mistake { start: at, end: at + 1, message, help });
    bytes.push(match text.as_bytes().get(at + 1) {
        Some(&c @ (b'\'' | b'\\')) => c,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'x') => match digits(2) {
            Some(byte) => {
                bytes.push(byte as u8);
                return Ok(at + 4);
            }
            None => return wrong("`\\x` needs two hexadecimal digits", "for example `\\x7F`"),
        },
        Some(b'u') => match digits(4).and_then(char::from_u32) {
            Some(c) => {
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(at + 6);
            }
            None => {
                let help = "for example `\\u00E9`; characters above FFFF stand as themselves";
                return wrong("`\\u` needs the four hexadecimal digits of a character", help);
            }
        },
        _ => {
            let help = "there are \\' \\\\ \\n \\r \\t \\xHH and \\uHHHH; a backslash itself is `\\\\`";
            return wrong("unknown escape in a terminal", help);
        }
    });
    Ok(at + 2)
}
