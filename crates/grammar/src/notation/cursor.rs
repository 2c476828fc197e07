//! A place in a text that readers move forward, shared by the notations
//! that are not JSON.

use crate::source::Span;

/// What is left of a text.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    base: u32,
}

impl<'a> Cursor<'a> {
    /// At the start of `text`, whose first byte has offset `base`.
    pub fn new(text: &'a str, base: u32) -> Cursor<'a> {
        // A byte order mark is no part of any notation.
        let at = if text.starts_with('\u{FEFF}') { 3 } else { 0 };
        Cursor { text, at, base }
    }

    /// Bytes passed so far.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The text not yet passed.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Whether the end is reached.
    pub fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The next character.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Passes the next character.
    pub fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Passes `word` if it comes next.
    pub fn eat(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Passes all characters that `accept`; gives what it passed.
    pub fn eat_while(&mut self, mut accept: impl FnMut(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Passes all up to `end`, which stays; `None`, at the end of the text,
    /// if it does not come.
    pub fn eat_until(&mut self, end: &str) -> Option<&'a str> {
        let rest = self.rest();
        match rest.find(end) {
            Some(len) => {
                self.at += len;
                Some(&rest[..len])
            }
            None => {
                self.at = self.text.len();
                None
            }
        }
    }

    /// From an earlier place to here.
    pub fn since(&self, at: usize) -> Span {
        Span::new(self.base + at as u32, self.base + self.at as u32)
    }

    /// The text of a span.
    pub fn text_of(&self, span: Span) -> &'a str {
        self.text.get((span.start - self.base) as usize..(span.end - self.base) as usize).unwrap_or("")
    }

    /// The character at an earlier place.
    pub fn one_at(&self, at: usize) -> Span {
        Cursor { at, ..*self }.here()
    }

    /// The next character, or the end.
    pub fn here(&self) -> Span {
        let len = self.peek().map_or(0, char::len_utf8);
        Span::new(self.base + self.at as u32, self.base + (self.at + len) as u32)
    }

    /// What stands here, for messages.
    pub fn found(&self) -> String {
        match self.peek() {
            None => "the end of the text".to_string(),
            Some('\n') => "the end of the line".to_string(),
            Some(c) if c.is_alphanumeric() || c == '_' => {
                let word: String =
                    self.rest().chars().take_while(|&c| c.is_alphanumeric() || c == '_').take(24).collect();
                format!("`{word}`")
            }
            Some(c @ ('"' | '\'')) => format!("`{c}`"),
            Some(c) => format!("`{}`", c.escape_debug()),
        }
    }
}
