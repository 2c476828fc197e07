//! What an input is made of: bytes, or tokens.
//!
//! In:  a grammar.
//! Out: letters: bytes that no rule tells apart as one, or tokens; and an
//!      input as a row of them.

use regex_syntax::utf8::Utf8Sequences;
use wug_grammar::lexical::alphabet::Alphabet;
use wug_grammar::lexical::dfa::DEAD;
use wug_grammar::lexical::{Lexicon, TooLarge};
use wug_grammar::{Class, Grammar, ModeId, Symbol, Unit};

/// The letters of a grammar.
#[derive(Debug)]
pub(crate) enum Terminals {
    /// Bytes, where there are no tokens.
    Bytes(Box<Alphabet>),
    /// Tokens; a letter is a token's number.
    Tokens(Box<Lexicon>),
}

impl Terminals {
    pub fn of(grammar: &Grammar) -> Result<Terminals, TooLarge> {
        if grammar.has_tokens() {
            return Ok(Terminals::Tokens(Box::new(Lexicon::of(grammar)?)));
        }
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for alt in (0..grammar.alternative_count() as u32).map(wug_grammar::AltId) {
            for &symbol in grammar.symbols(alt) {
                match symbol {
                    Symbol::Bytes(bytes) => ranges.extend(grammar.bytes(bytes).iter().map(|&b| (b, b))),
                    Symbol::Class(class) => {
                        sequences(grammar.class(class)).for_each(|s| ranges.extend(s));
                    }
                    _ => {}
                }
            }
        }
        Ok(Terminals::Bytes(Box::new(Alphabet::of(ranges.into_iter()))))
    }

    /// How many letters there are; the end of an input is one more. In a
    /// grammar with tokens the last letter is what no token reads.
    pub fn letters(&self) -> usize {
        match self {
            Terminals::Bytes(alphabet) => alphabet.len(),
            Terminals::Tokens(lexicon) => lexicon.tokens.len() + 1,
        }
    }
}

/// The bytes of a class's members: for each row of ranges, any byte of the
/// first, then any of the second, and so on.
pub(crate) fn sequences(class: &Class) -> impl Iterator<Item = Vec<(u8, u8)>> + '_ {
    let unit = class.unit();
    let char_of = |v| char::from_u32(v).unwrap_or('\u{0}');
    class.ranges().iter().flat_map(move |&(low, high)| {
        let bytes = (unit == Unit::Byte).then(|| vec![(low as u8, high as u8)]);
        let chars = (unit == Unit::Char).then(|| Utf8Sequences::new(char_of(low), char_of(high)));
        let chars = chars.into_iter().flatten();
        bytes.into_iter().chain(chars.map(|s| s.as_slice().iter().map(|r| (r.start, r.end)).collect()))
    })
}

/// A token of an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub letter: u32,
    pub start: u32,
    pub end: u32,
}

/// Splits `text` into tokens, skipped ones left out. Where none fits it
/// stops, with a last one that no grammar asks for.
pub(crate) fn lex(lexicon: &Lexicon, text: &[u8]) -> Vec<Lexeme> {
    scan(lexicon, text, false)
}

/// As [`lex`], but goes on behind a byte at which no token fits.
pub(crate) fn lex_on(lexicon: &Lexicon, text: &[u8]) -> Vec<Lexeme> {
    scan(lexicon, text, true)
}

fn scan(lexicon: &Lexicon, text: &[u8], on: bool) -> Vec<Lexeme> {
    let mut found = Vec::with_capacity(text.len() / 4);
    let mut modes = vec![ModeId(0)];
    let mut at = 0;
    while at < text.len() {
        let mode = modes.last().copied();
        let Some((token, len)) = mode.and_then(|mode| longest(lexicon, mode, &text[at..])) else {
            let letter = lexicon.tokens.len() as u32;
            found.push(Lexeme { letter, start: at as u32, end: at as u32 + 1 });
            if !on {
                break;
            }
            if modes.is_empty() {
                modes.push(ModeId(0));
            }
            at += 1;
            continue;
        };
        let kind = &lexicon.tokens[token as usize];
        if !kind.skip {
            found.push(Lexeme { letter: token, start: at as u32, end: (at + len) as u32 });
        }
        kind.action.apply(&mut modes);
        at += len;
    }
    found
}

fn longest(lexicon: &Lexicon, mode: ModeId, text: &[u8]) -> Option<(u32, usize)> {
    let dfa = &lexicon.modes[mode.0 as usize];
    let mut state = dfa.start;
    let mut best = None;
    for (i, &byte) in text.iter().enumerate() {
        state = dfa.step(state, lexicon.alphabet.letter(byte));
        if state == DEAD {
            break;
        }
        if let Some(label) = dfa.labels[state as usize] {
            best = Some((label, i + 1));
        }
    }
    best
}
