//! Tokens as marks.
//!
//! In:  a grammar with tokens, and which symbols ask for which token.
//! Out: a grammar without tokens: in place of each stand a mark that names it,
//!      and the number of one of its lexemes, whichever that is.
//!
//! A text of it is a text of tokens, so it says nothing of what stands between
//! them, and nothing in it can run together. [Lowering](super::lower) makes
//! texts that can be used as they are; but it decides for each place once what
//! stands between two tokens, and an input that was laid out otherwise is none
//! of its texts.
//!
//! Marks and numbers are characters in UTF-8.

use super::copy::{Edit, Rewrite};
use crate::arena::{ClassId, SymbolId};
use crate::class::{Class, Unit};
use crate::ir::{Grammar, Symbol};

/// Tokens that can be named.
pub const TOKENS: u32 = 1 << 16;
/// Lexemes that can be numbered.
pub const LEXEMES: u32 = SURROGATES.0 + (LAST - SURROGATES.1);
/// The first mark.
const FIRST: u32 = 0x1_0000;
/// The last character.
const LAST: u32 = char::MAX as u32;
/// Numbers that are no characters.
const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// Appends a token and a lexeme, by their numbers, which must be below
/// [`TOKENS`] and [`LEXEMES`].
pub fn write(token: u32, lexeme: u32, out: &mut Vec<u8>) {
    let gap = SURROGATES.1 - SURROGATES.0 + 1;
    let lexeme = if lexeme < SURROGATES.0 { lexeme } else { lexeme + gap };
    for number in [FIRST + token, lexeme] {
        let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// The tokens and lexemes of a marked text, by their numbers, as far as it is
/// one; `None` if it is none at all.
pub fn read(text: &[u8]) -> Option<impl Iterator<Item = (u32, u32)>> {
    let mut characters = std::str::from_utf8(text).ok()?.chars();
    Some(std::iter::from_fn(move || {
        let token = u32::from(characters.next()?).checked_sub(FIRST)?;
        let lexeme = u32::from(characters.next()?);
        let gap = SURROGATES.1 - SURROGATES.0 + 1;
        Some((token, if lexeme < SURROGATES.0 { lexeme } else { lexeme - gap }))
    }))
}

/// The grammar of marked texts; `token_of` says which symbol of a syntax rule,
/// by its number, asks for which token. The start must not be a token.
pub fn mark(grammar: &Grammar, token_of: impl Fn(u32) -> Option<u32>) -> Grammar {
    let is_syntax = |rule| !grammar.rule(rule).is_lexical();
    Rewrite::new(grammar, is_syntax).all(&mut Marks { token_of, any: None })
}

struct Marks<F> {
    token_of: F,
    /// The class of all characters.
    any: Option<ClassId>,
}

impl<F: Fn(u32) -> Option<u32>> Edit for Marks<F> {
    fn replace(&mut self, out: &mut Rewrite<'_>, id: SymbolId) -> bool {
        let Some(token) = (self.token_of)(id.index() as u32) else { return false };
        let any = || Class::new(Unit::Char, [(0, LAST)]);
        let any = *self.any.get_or_insert_with(|| out.to.class(any()));
        let mark = char::from_u32(FIRST + token).unwrap_or(char::REPLACEMENT_CHARACTER);
        let mark = out.to.bytes(mark.encode_utf8(&mut [0; 4]).as_bytes());
        let span = out.from.span(id);
        out.to.symbol(Symbol::Bytes(mark), span);
        out.to.symbol(Symbol::Class(any), span);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let all = [(0, 0), (7, 0xD7FF), (TOKENS - 1, 0xD800), (1, LEXEMES - 1), (2, 0x1_0000)];
        let mut text = Vec::new();
        all.iter().for_each(|&(token, lexeme)| write(token, lexeme, &mut text));
        assert!(read(&text).expect("characters").eq(all));
        assert!(read(b"\xFF").is_none());
        assert_eq!(read(b"ab").expect("characters").count(), 0);
    }
}
