//! The text that was parsed: which bytes its letters are.

use crate::terminals::Lexeme;

/// The text that was parsed.
#[derive(Clone, Copy)]
pub(crate) enum Text<'a> {
    Bytes(&'a [u8]),
    Tokens(&'a [u8], &'a [Lexeme]),
}

impl<'a> Text<'a> {
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Text::Bytes(text) | Text::Tokens(text, _) => text,
        }
    }

    /// What its tokens take.
    pub fn token_bytes(self) -> usize {
        match self {
            Text::Bytes(_) => 0,
            Text::Tokens(_, tokens) => size_of_val(tokens),
        }
    }

    /// The first byte of a letter.
    pub fn place(self, letter: usize) -> usize {
        match self {
            Text::Bytes(_) => letter,
            Text::Tokens(text, tokens) => tokens.get(letter).map_or(text.len(), |t| t.start as usize),
        }
    }

    /// The byte behind so many letters.
    pub fn boundary(self, letters: usize) -> usize {
        match self {
            Text::Bytes(_) => letters,
            Text::Tokens(_, tokens) => letters.checked_sub(1).map_or(0, |i| tokens[i].end as usize),
        }
    }
}
