//! Maximal munch with a [`Lexicon`].

use super::dfa::DEAD;
use super::lexicon::{Lexicon, TokenId};
use crate::ir::ModeId;
use std::ops::Range;

/// The tokens of a text, skipped ones left out, each with its offset; or
/// the offset at which no token fits.
pub fn lex(lexicon: &Lexicon, text: &[u8]) -> Result<Vec<(TokenId, usize)>, usize> {
    let mut found = Vec::new();
    each(lexicon, text, |token, span| found.push((token, span.start)))?;
    Ok(found)
}

/// Calls `visit` with the tokens of a text, skipped ones left out, and where
/// each stands; the offset at which no token fits is an error.
pub fn each(
    lexicon: &Lexicon,
    text: &[u8],
    mut visit: impl FnMut(TokenId, Range<usize>),
) -> Result<(), usize> {
    let mut modes = vec![ModeId(0)];
    let mut at = 0;
    while at < text.len() {
        let mode = modes.last().copied().ok_or(at)?;
        let (token, len) = longest(lexicon, mode, &text[at..]).ok_or(at)?;
        if !lexicon.token(token).skip {
            visit(token, at..at + len);
        }
        lexicon.token(token).action.apply(&mut modes);
        at += len;
    }
    Ok(())
}

/// The longest match at the start of `text`.
fn longest(lexicon: &Lexicon, mode: ModeId, text: &[u8]) -> Option<(TokenId, usize)> {
    let dfa = &lexicon.modes[mode.0 as usize];
    let mut state = dfa.start;
    let mut best = None;
    for (i, &byte) in text.iter().enumerate() {
        state = dfa.step(state, lexicon.alphabet.letter(byte));
        if state == DEAD {
            break;
        }
        if let Some(label) = dfa.labels[state as usize] {
            best = Some((TokenId(label), i + 1));
        }
    }
    best
}
