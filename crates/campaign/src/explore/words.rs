//! Words of the language: texts that the program compared its input with, and
//! texts in its data that turned out to be words.
//!
//! A word that was learned at one place is tried at others. So it does not
//! matter that a parser looks words up in a table that compares nothing until
//! the length, or a hash, is right.

use std::collections::HashSet;

/// Words that are kept.
const MOST: usize = 1024;
const LONGEST: usize = 24;

/// Words of the language.
#[derive(Clone, Debug, Default)]
pub struct Words {
    known: Vec<Vec<u8>>,
    seen: HashSet<Vec<u8>>,
}

impl Words {
    /// Takes a text for a word; whether it is new.
    pub fn learn(&mut self, text: &[u8]) -> bool {
        let fits = (2..=LONGEST).contains(&text.len()) && self.known.len() < MOST;
        let new = fits && self.seen.insert(text.to_vec());
        if new {
            self.known.push(text.to_vec());
        }
        new
    }

    /// Whether a text is one of them.
    pub fn is_known(&self, text: &[u8]) -> bool {
        self.seen.contains(text)
    }

    /// All of them, in the order of learning.
    pub fn known(&self) -> &[Vec<u8>] {
        &self.known
    }
}

/// Whether a text looks like a word or an operator, and not like a message.
pub fn is_wordlike(text: &[u8]) -> bool {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let starts = text.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    (2..=16).contains(&text.len())
        && (starts && text.iter().all(word) || text.len() <= 4 && text.iter().all(u8::is_ascii_punctuation))
}

/// Whether something must stand between two texts, lest they become one word.
pub fn runs_together(before: &[u8], text: &[u8]) -> bool {
    let word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    word(before.last()) && word(text.first())
}

/// A word as it can stand behind an input.
pub fn apart(input: &[u8], word: &[u8]) -> Vec<u8> {
    if runs_together(input, word) { [b" ", word].concat() } else { word.to_vec() }
}
