//! The tokens of ISO 14977, alternative spellings made one.

use super::super::cursor::Cursor;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word of a name.
    Word,
    /// Text in quotes.
    Text,
    /// A decimal number.
    Number,
    /// `? … ?`
    Special,
    /// A mistake that is reported.
    Bad,
    /// One of `= , | - * ; ( ) [ ] { }`, or a character that means nothing.
    Symbol(char),
}

/// A token where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where.
    pub span: Span,
}

/// All tokens of a text.
pub fn tokens(text: &str, base: u32, diags: &mut Diagnostics) -> Vec<Token> {
    let mut cursor = Cursor::new(text, base);
    let mut tokens = Vec::new();
    loop {
        cursor.eat_while(char::is_whitespace);
        let at = cursor.at();
        let Some(c) = cursor.peek() else { return tokens };
        let kind = match next(&mut cursor, c) {
            Ok(Some(kind)) => kind,
            Ok(None) => continue,
            Err(error) => {
                diags.push(*error);
                Kind::Bad
            }
        };
        tokens.push(Token { kind, span: cursor.since(at) });
    }
}

/// Passes one token; `None` for a comment.
fn next(cursor: &mut Cursor, c: char) -> Result<Option<Kind>, Box<Diagnostic>> {
    let at = cursor.at();
    if cursor.eat("(*") {
        return comment(cursor, at).map(|()| None);
    }
    // A bracket with a stroke is one token, so `(/` begins no group.
    for (spelling, symbol) in [("(/", '['), ("/)", ']'), ("(:", '{'), (":)", '}')] {
        if cursor.eat(spelling) {
            return Ok(Some(Kind::Symbol(symbol)));
        }
    }
    if c.is_alphabetic() || c == '_' {
        word(cursor);
        return Ok(Some(Kind::Word));
    }
    if c.is_ascii_digit() {
        cursor.eat_while(|c| c.is_ascii_digit());
        return Ok(Some(Kind::Number));
    }
    cursor.bump();
    match c {
        '\'' | '"' => {
            cursor.eat_while(|d| d != c && d != '\n');
            if cursor.peek() != Some(c) {
                let error = Diagnostic::error(cursor.one_at(at), "this text does not end on its line");
                return Err(Box::new(error.help(format!("close it with `{c}`"))));
            }
            cursor.bump();
            Ok(Some(Kind::Text))
        }
        '?' => {
            let closed = cursor.eat_until("?").is_some();
            if !closed {
                let error = Diagnostic::error(cursor.one_at(at), "this special sequence does not end");
                return Err(Box::new(error.help("an optional part is written `[ x ]`, not `x?`")));
            }
            cursor.bump();
            Ok(Some(Kind::Special))
        }
        '/' | '!' => Ok(Some(Kind::Symbol('|'))),
        '.' => Ok(Some(Kind::Symbol(';'))),
        _ => Ok(Some(Kind::Symbol(c))),
    }
}

/// Passes a word; a dash belongs to it if a letter follows.
fn word(cursor: &mut Cursor) {
    loop {
        cursor.eat_while(|c| c.is_alphanumeric() || c == '_');
        let mut ahead = *cursor;
        if !ahead.eat("-") || !ahead.peek().is_some_and(|c| c.is_alphabetic() || c == '_') {
            return;
        }
        *cursor = ahead;
    }
}

/// Passes a comment behind its opening; comments nest.
fn comment(cursor: &mut Cursor, at: usize) -> Result<(), Box<Diagnostic>> {
    let mut depth = 1;
    while depth > 0 {
        cursor.eat_while(|c| c != '*' && c != '(');
        if cursor.eat("*)") {
            depth -= 1;
        } else if cursor.eat("(*") {
            depth += 1;
        } else if cursor.bump().is_none() {
            let error = Diagnostic::error(cursor.one_at(at), "this comment does not end");
            return Err(Box::new(error.help("close it with `*)`; comments nest")));
        }
    }
    Ok(())
}
