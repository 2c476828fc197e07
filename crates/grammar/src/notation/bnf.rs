//! Backus-Naur form.
//!
//! ```text
//! ; a comment
//! <sum>  ::= <digit> "+" <sum> | <digit>
//!          | zero                    ; the text `zero`
//! <none> ::= "" ;
//! ```
//!
//! What every BNF decides for itself, and how we do:
//! - Names stand in angle brackets and are all but `<`, `>`, `|`, quotes,
//!   `;` and line breaks; blanks at either end do not count.
//! - What is neither a name nor in quotes is text, as in Backus's own:
//!   `zero`, `:=`, `<=`. Blanks only separate. A `<` before a letter must
//!   begin a name.
//! - Text in double or single quotes has the escapes of `.wug`: `\n` `\r`
//!   `\t` `\0` `\\` `\"` `\'` `\xHH` (one byte) and `\u{H…}`.
//! - `;` begins a comment to the end of the line, so at the end of a rule
//!   it does no harm. Only if a rule stands before it and another behind
//!   it on the same line, it does no more than to part them. To mean it as
//!   text, put it into quotes.
//! - A rule ends where the next one begins, and may have several lines.
//! - The empty text is `""`, or nothing between two bars.

use super::cursor::Cursor;
use super::wug::literal;
use crate::ast::Ast;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;

/// Reads `text`, whose first byte has offset `base`.
pub fn read(text: &str, base: u32, ast: &mut Ast, diags: &mut Diagnostics) {
    ast.hints.push((Span::new(base, base + text.len() as u32), |name| {
        format!("to mean the text `<{name}>`, put it into quotes")
    }));
    let mut reader = Reader { cursor: Cursor::new(text, base), ast, diags };
    loop {
        match reader.rule() {
            Ok(true) => {}
            Ok(false) => return,
            Err(Reported) => {
                reader.ast.builder.abandon();
                reader.recover();
            }
        }
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    ast: &'a mut Ast,
    diags: &'a mut Diagnostics,
}

/// A mistake was reported; the rule it stands in is given up.
struct Reported;
type Step<T = ()> = Result<T, Reported>;

impl<'a> Reader<'a> {
    /// Goes on with the next line that begins a rule.
    fn recover(&mut self) {
        while !self.cursor.at_end() && head(self.cursor).is_none() {
            self.cursor.eat_while(|c| c != '\n');
            self.space();
        }
    }

    /// Reads a rule; `false` at the end of the text.
    fn rule(&mut self) -> Step<bool> {
        self.space();
        if self.cursor.at_end() {
            return Ok(false);
        }
        let at = self.cursor.at();
        let Some(name) = name(&mut self.cursor) else {
            let message = format!("expected a rule, found {}", self.cursor.found());
            let place = self.cursor.here();
            self.cursor.eat_while(|c| !c.is_whitespace());
            self.cursor.eat_while(char::is_whitespace);
            let help = match self.cursor.rest().starts_with("::=") {
                true => "names stand in angle brackets; without them, it is the W3C's notation",
                false => "a rule is `<name> ::= expression`",
            };
            return self.fail(place, message, help);
        };
        let span = self.cursor.since(at);
        self.space();
        if !self.cursor.eat("::=") {
            let message = format!("expected `::=` after the name `<{name}>`, found {}", self.cursor.found());
            return self.fail(self.cursor.here(), message, "a rule is `<name> ::= expression`");
        }
        self.ast.builder.open_body(self.cursor.here());
        self.expression()?;
        self.ast.close_rule(name, span);
        Ok(true)
    }

    /// Reads up to the next rule.
    fn expression(&mut self) -> Step {
        loop {
            self.space();
            let at = self.cursor.at();
            let Some(c) = self.cursor.peek() else { return Ok(()) };
            match c {
                '|' => {
                    self.cursor.bump();
                    self.ast.builder.next_alternative(self.cursor.here());
                }
                '"' | '\'' => {
                    let bytes = literal::string(&mut self.cursor, c, self.diags).ok_or(Reported)?;
                    self.ast.literal(&bytes, self.cursor.since(at));
                }
                '<' => {
                    if head(self.cursor).is_some() {
                        return Ok(());
                    }
                    match name(&mut self.cursor) {
                        Some(name) => self.ast.call(name, self.cursor.since(at)),
                        None => self.bare()?,
                    }
                }
                _ => self.bare()?,
            }
        }
    }

    /// Reads text without quotes.
    fn bare(&mut self) -> Step {
        let at = self.cursor.at();
        if self.cursor.eat("<") && self.cursor.peek().is_some_and(|c| c.is_alphabetic() || c == '_') {
            let place = self.cursor.one_at(at);
            return self.fail(
                place,
                "this name does not end",
                "close it with `>`; to mean the text `<`, put it into quotes",
            );
        }
        self.cursor.eat_while(|c| !c.is_whitespace() && !matches!(c, '<' | '|' | ';'));
        let span = self.cursor.since(at);
        let text = self.cursor.text_of(span);
        if text == "::=" {
            return self.fail(
                span,
                "`::=` without the name of a rule before it",
                "a rule is `<name> ::= expression`",
            );
        }
        self.ast.literal(text.as_bytes(), span);
        Ok(())
    }

    /// Passes white space and comments.
    fn space(&mut self) {
        loop {
            // Nothing but a byte order mark comes before the first line.
            let first_line = self.cursor.at() <= 3;
            let line_start = self.cursor.eat_while(char::is_whitespace).contains('\n') || first_line;
            if !self.cursor.eat(";") {
                return;
            }
            let mut ahead = self.cursor;
            ahead.eat_while(|c| matches!(c, ' ' | '\t'));
            if line_start || head(ahead).is_none() {
                self.cursor.eat_while(|c| c != '\n');
            }
        }
    }

    fn fail<T>(&mut self, span: Span, message: impl Into<String>, help: &str) -> Step<T> {
        self.diags.push(Diagnostic::error(span, message).help(help));
        Err(Reported)
    }
}

/// Passes `<name>`; `None`, without moving, if it does not come next.
fn name<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    let mut ahead = *cursor;
    if !ahead.eat("<") {
        return None;
    }
    let name = ahead.eat_while(in_name).trim();
    if name.is_empty() || !ahead.eat(">") {
        return None;
    }
    *cursor = ahead;
    Some(name)
}

/// Whether a character can stand in a name.
pub(crate) fn in_name(c: char) -> bool {
    !matches!(c, '<' | '>' | '|' | '"' | '\'' | ';' | '\n' | '\r')
}

/// The name, if a rule begins here.
fn head(mut cursor: Cursor<'_>) -> Option<&str> {
    let name = name(&mut cursor)?;
    cursor.eat_while(char::is_whitespace);
    cursor.eat("::=").then_some(name)
}
