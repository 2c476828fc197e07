//! Code in a target language, which is passed over: actions and predicates
//! in braces, arguments in brackets.
//!
//! Texts and comments inside are respected, as most languages write them.
//! Where that leads to the end of the file, quotes mean nothing in the
//! language at hand (Rust's lifetimes), and only brackets are counted.

use super::reader::{Reader, Step};
use crate::notation::cursor::Cursor;

impl<'a> Reader<'a> {
    /// Passes `{…}`; gives the code inside.
    pub(super) fn code(&mut self) -> Step<&'a str> {
        self.balanced('{', '}', "this code does not end")
    }

    /// Passes `[…]`.
    pub(super) fn arguments(&mut self) -> Step {
        self.balanced('[', ']', "these arguments do not end").map(|_| ())
    }

    fn balanced(&mut self, open: char, close: char, message: &str) -> Step<&'a str> {
        if self.cursor.peek() != Some(open) {
            let found = self.cursor.found();
            let message = format!("expected `{open}`, found {found}");
            return self.fail(self.cursor.here(), message, "code stands in braces");
        }
        let at = self.cursor.at();
        // Each time that quotes lead to the end of the file costs a look at
        // all of it, so there are not many.
        let quoted = if self.misled < 8 { pass(self.cursor, open, close, true) } else { None };
        self.misled += usize::from(quoted.is_none());
        let Some(end) = quoted.or_else(|| pass(self.cursor, open, close, false)) else {
            let help = format!("close it with `{close}`");
            let place = self.cursor.one_at(at);
            while self.cursor.bump().is_some() {}
            return self.fail(place, message, &help);
        };
        self.cursor = end;
        let text = self.cursor.text_of(self.cursor.since(at));
        Ok(&text[1..text.len() - 1])
    }
}

/// The place behind the bracket that closes the one that comes next.
fn pass<'a>(mut cursor: Cursor<'a>, open: char, close: char, quotes: bool) -> Option<Cursor<'a>> {
    let mut depth = 0usize;
    loop {
        let comment = cursor.rest().starts_with("//") || cursor.rest().starts_with("/*");
        if comment && quotes && open == '{' {
            if cursor.eat("//") {
                cursor.eat_while(|c| c != '\n');
            } else {
                cursor.eat("/*");
                cursor.eat_until("*/")?;
                cursor.eat("*/");
            }
            continue;
        }
        match cursor.bump()? {
            '\\' => {
                cursor.bump();
            }
            c if c == open => depth += 1,
            c if c == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(cursor);
                }
            }
            quote @ ('"' | '\'') if quotes => loop {
                match cursor.bump()? {
                    '\\' => {
                        cursor.bump();
                    }
                    c if c == quote => break,
                    _ => {}
                }
            },
            _ => {}
        }
    }
}
