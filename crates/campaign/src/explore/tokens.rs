//! Codes of tokens: what a parser behind a lexer compares.
//!
//! In:  the places where such a parser looks at what the lexer made of the
//!      sentinel, and the numbers that it would have liked to see there.
//! Out: lexemes for these numbers.
//!
//! A lexer hands on a byte that it does not know as the byte's own value, and
//! has numbers above 255 for names, keywords and operators. So a comparison of
//! the sentinel with such a number asks for a token. Which lexeme is that
//! token? We run the input with a lexeme in place of the sentinel: what the
//! parser compares at the same place then is the lexeme's code.

use super::offers::{Code, Kind};
use super::words::{apart, is_wordlike, runs_together};
use super::{Error, Explorer};
use std::collections::{HashMap, HashSet, VecDeque};
use wug_runtime::abi::{self, Event};

/// Numbers that are codes: greater than any byte, and not much greater.
const CODES: std::ops::Range<u64> = 256..1 << 16;
/// Lexemes that are asked for their code, and kept of one code.
const ASKED: usize = 4096;
const KEPT: usize = 2;
/// Texts that are asked at once.
const AT_ONCE: usize = 4;
/// Longest operator.
const OPERATOR: usize = 4;
/// Nodes that wait for a lexeme of one code.
const WAITING: usize = 512;
/// No word of any language, we hope: it has the code of names.
const NAME: &[u8] = b"qxz";

/// The code that an operand of so many bytes stands for.
pub fn code(value: u64, size: u8) -> Option<u64> {
    (size >= 2 && CODES.contains(&value)).then_some(value)
}

/// A comparison in a run, told so that another run has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    module: u16,
    site: u32,
    context: u32,
    /// How often the program had been there before.
    before: usize,
}

impl Place {
    /// The place of an event.
    pub fn of(events: &[Event], at: usize) -> Place {
        let Event { module, site, context, .. } = events[at];
        let place = Place { module, site, context, before: 0 };
        Place { before: events[..at].iter().filter(|event| place.is_at(event)).count(), ..place }
    }

    fn is_at(&self, event: &Event) -> bool {
        // A switch of many cases leaves several events.
        let first = event.kind != abi::EVENT_SWITCH || event.function == 0;
        first && (self.module, self.site, self.context) == (event.module, event.site, event.context)
    }

    /// What was looked at here in another run.
    fn value(&self, events: &[Event]) -> Option<u64> {
        let event = events.iter().filter(|event| self.is_at(event)).nth(self.before)?;
        match event.kind {
            abi::EVENT_SWITCH => Some(event.a),
            abi::EVENT_COMPARE if event.flags & abi::FLAG_CONSTANT != 0 => Some(event.b),
            _ => None,
        }
    }
}

/// What is known of codes.
#[derive(Clone, Debug, Default)]
pub struct Codes {
    /// An input, and the place that looks at the token behind it.
    probe: Option<(Vec<u8>, Place)>,
    lexemes: HashMap<u64, Vec<Vec<u8>>>,
    asked: HashSet<Vec<u8>>,
    /// Nodes that a code was wanted behind.
    wanted: HashMap<u64, Vec<u32>>,
    /// Texts that may be lexemes.
    waiting: VecDeque<Vec<u8>>,
    /// The code of the input's end, and that of names.
    end: Option<u64>,
    name: Option<u64>,
}

impl Codes {
    /// Whether the parser compares codes.
    pub fn known(&self) -> bool {
        self.probe.is_some()
    }

    /// Lexemes that have a code.
    pub fn lexemes(&self, code: u64) -> &[Vec<u8>] {
        self.lexemes.get(&code).map_or(&[], |lexemes| &lexemes[..])
    }
}

impl Explorer<'_> {
    /// A place that compares the code of the token behind an input. The first
    /// such place is where lexemes are asked for their codes.
    pub(super) fn learn_place(&mut self, input: &[u8], place: Option<Place>) -> Result<(), Error> {
        let Some(place) = place.filter(|_| !self.known.codes.known()) else { return Ok(()) };
        self.known.codes.probe = Some((input.to_vec(), place));
        self.known.codes.end = self.code_of(b"")?;
        self.known.codes.name = self.ask(NAME)?;
        self.ask(b"0")?;
        for text in self.known.words.known().to_vec().into_iter().chain(self.known.doubtful.clone()) {
            self.ask(&text)?;
        }
        // Compilers keep no text twice that is the end of another, and short
        // ones are no texts to a reader of programs.
        let letters = b'a'..=b'z';
        let pairs = letters.clone().flat_map(|first| letters.clone().map(move |second| vec![first, second]));
        let ends =
            self.known.doubtful.iter().flat_map(|text| (1..text.len()).map(|from| text[from..].to_vec()));
        self.known.codes.waiting = pairs.chain(ends.filter(|end| is_wordlike(end))).collect();
        Ok(())
    }

    /// Asks for the codes of some more texts.
    pub(super) fn ask_more(&mut self) -> Result<(), Error> {
        for _ in 0..AT_ONCE {
            let Some(text) = self.known.codes.waiting.pop_front() else { break };
            self.ask(&text)?;
        }
        Ok(())
    }

    /// Asks for the code of a lexeme, once.
    pub(super) fn ask(&mut self, lexeme: &[u8]) -> Result<Option<u64>, Error> {
        let Some((before, _)) = &self.known.codes.probe else { return Ok(None) };
        if self.known.codes.asked.len() >= ASKED
            || runs_together(before, lexeme)
            || !self.known.codes.asked.insert(lexeme.to_vec())
            || self.is_over()
        {
            return Ok(None);
        }
        let Some(code) = self.code_of(lexeme)? else { return Ok(None) };
        // White space and comments are no tokens.
        if Some(code) == self.known.codes.end {
            return Ok(None);
        }
        let lexemes = self.known.codes.lexemes.entry(code).or_default();
        // The code may be that of its beginning.
        let longer = !is_wordlike(lexeme) && lexemes.iter().any(|known| lexeme.starts_with(known));
        if lexemes.len() < KEPT && !longer {
            lexemes.push(lexeme.to_vec());
            for node in self.known.codes.wanted.get(&code).cloned().unwrap_or_default() {
                self.frontier.add_word(node, lexeme, Kind::Token, 0, &self.known);
            }
        }
        if Some(code) != self.known.codes.name && !longer {
            self.known.words.learn(lexeme);
        }
        Ok(Some(code))
    }

    /// The code of what is lexed of a text first.
    fn code_of(&mut self, text: &[u8]) -> Result<Option<u64>, Error> {
        let Some((before, place)) = &self.known.codes.probe else { return Ok(None) };
        let input = [before, text].concat();
        let seen = self.prober.run(&input)?;
        Ok(place.value(seen.events).and_then(|value| code(value, 8)))
    }

    /// Asks for the code of the punctuation at the end of an input: operators
    /// of several characters are made one by one.
    pub(super) fn ask_operator(&mut self, input: &[u8]) -> Result<(), Error> {
        let length = input.iter().rev().take_while(|byte| byte.is_ascii_punctuation()).count();
        let run = &input[input.len() - length..];
        for operator in (2..=length.min(OPERATOR)).map(|length| &run[..length]) {
            self.ask(operator)?;
        }
        Ok(())
    }

    /// Offers lexemes for the codes that were wanted behind a node, now and
    /// when they are learned.
    pub(super) fn offer_tokens(&mut self, node: u32, codes: &[Code]) -> Result<(), Error> {
        for code in codes {
            let known = self.known.is_known(code.deed, code.asked);
            let waiting = self.known.codes.wanted.entry(code.value).or_default();
            if waiting.len() < WAITING {
                waiting.push(node);
            }
            for lexeme in self.known.codes.lexemes(code.value).to_vec() {
                self.frontier.add_word(node, &lexeme, Kind::Token, known, &self.known);
                if known == 0 {
                    let input = &self.frontier.nodes.at(node).input;
                    let (keep, text) = (input.len(), apart(input, &lexeme));
                    self.try_end(node, keep, &text, Kind::Token)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(site: u32, context: u32, a: u64, b: u64) -> Event {
        // SAFETY: every pattern of bytes is an event.
        let mut event: Event = unsafe { std::mem::zeroed() };
        (event.kind, event.flags) = (abi::EVENT_COMPARE, abi::FLAG_CONSTANT);
        (event.site, event.context, event.a, event.b) = (site, context, a, b);
        event
    }

    #[test]
    fn a_place_is_found_again_in_another_run() {
        // The second time at site 7 by these calls, whatever else happens.
        let first = [event(7, 1, 300, 5), event(7, 2, 300, 6), event(9, 1, 0, 0), event(7, 1, 300, 0x7f)];
        let place = Place::of(&first, 3);
        let second = [event(7, 1, 300, 5), event(8, 1, 0, 0), event(7, 1, 300, 301), event(7, 1, 300, 9)];
        assert_eq!(place.value(&second), Some(301));
        assert_eq!(place.value(&second[..2]), None);
    }

    #[test]
    fn codes_are_greater_than_bytes() {
        assert_eq!(
            [(255, 4), (256, 4), (300, 1), (300, 4), (1 << 16, 8)].map(|(v, s)| code(v, s)),
            [None, Some(256), None, Some(300), None]
        );
    }
}
