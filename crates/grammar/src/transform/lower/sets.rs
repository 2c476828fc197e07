//! Sets of tokens, with the end of the text as one more member.

use crate::lexical::TokenId;

/// A set of tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenSet {
    words: Vec<u64>,
}

impl TokenSet {
    /// No token of `count`.
    pub fn new(count: usize) -> TokenSet {
        TokenSet { words: vec![0; count / 64 + 1] }
    }

    /// Only the end of the text, which follows all `count` tokens.
    pub fn end(count: usize) -> TokenSet {
        let mut set = TokenSet::new(count);
        set.insert(TokenId(count as u32));
        set
    }

    /// Adds a token.
    pub fn insert(&mut self, token: TokenId) {
        self.words[token.index() / 64] |= 1 << (token.index() % 64);
    }

    /// Adds all of another set; whether that changed anything.
    pub fn extend(&mut self, other: &TokenSet) -> bool {
        let mut changed = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }

    /// Whether a token is a member.
    pub fn contains(&self, token: TokenId) -> bool {
        self.words[token.index() / 64] >> (token.index() % 64) & 1 != 0
    }

    /// Whether both have a member in common.
    pub fn meets(&self, other: &TokenSet) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Whether all members are in `other`.
    pub fn within(&self, other: &TokenSet) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// How many words it takes.
    pub fn size(&self) -> usize {
        self.words.len()
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        let bits = |(i, &word): (usize, &u64)| {
            (0..64).filter(move |b| word >> b & 1 != 0).map(move |b| TokenId((i * 64 + b) as u32))
        };
        self.words.iter().enumerate().flat_map(bits)
    }
}
