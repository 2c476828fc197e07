//! Looks inside valid inputs.
//!
//! In:  a valid input that covers something new.
//! Out: valid inputs that differ from it in one place, words, operators.
//!
//! Some things are looked at only when all of an input, or of a construct, is
//! there: escapes in a string whose end is searched first, names that are
//! looked up when a program runs. So a byte in the middle is replaced by a
//! sentinel, and a name by names of all lengths. What is compared at a place
//! that never looked at a sentinel before is tried there. Words that are known,
//! and short valid inputs such as `[]`, take the place of names, since what
//! follows a name may depend on it (`JSON.parse`).

use super::offers::{Kind, Probed};
use super::output::Answer;
use super::sentinel::{Class, sentinel};
use super::sight::place;
use super::{Error, Explorer};
use std::collections::{HashMap, HashSet, VecDeque};
use wug_runtime::abi::Event;

/// Valid inputs that wait.
const WAITING: usize = 1024;
/// Bytes and names of an input that are looked at.
const BYTES: usize = 48;
const NAMES: usize = 3;
/// Lengths of names, and of what may have to follow a byte.
const LENGTHS: std::ops::RangeInclusive<usize> = 1..=12;
const FOLLOWING: std::ops::RangeInclusive<usize> = 1..=8;
/// What is wanted behind what is wanted there, and so on.
const DEEP: u32 = 2;
/// What is tried at one place.
const TRIED: usize = 24;
/// Longest operator.
const OPERATOR: usize = 4;
/// Lengths of short inputs, and how many are kept.
const SHORT: std::ops::RangeInclusive<usize> = 2..=4;
const SHORTS: usize = 32;
/// Bytes around a name that words are put in place of, and how many such.
const AROUND: usize = 2;
const CONTEXTS: usize = 4096;
/// Words that names were looked at behind.
const FOLLOWED: usize = 4096;

/// Valid inputs to look into.
#[derive(Clone, Debug, Default)]
pub struct Inner {
    waiting: VecDeque<(Box<[u8]>, u32)>,
    /// Places that looked at a sentinel.
    places: HashSet<u64>,
    /// Operators that were asked about.
    operators: HashSet<Vec<u8>>,
    /// Valid inputs of punctuation alone, such as `[]`.
    short: Vec<Vec<u8>>,
    /// How many words and short inputs were put between these bytes.
    put: HashMap<Vec<u8>, (usize, usize)>,
    /// Words, and what stood between them and the names that were looked at.
    followed: HashSet<Vec<u8>>,
}

impl Inner {
    /// A valid input, and the node that it was made from.
    pub fn add(&mut self, input: &[u8], node: u32) {
        if self.waiting.len() < WAITING {
            self.waiting.push_back((input.into(), node));
        }
    }

    /// An input that was accepted, whether it is new or not.
    pub fn accept(&mut self, input: &[u8]) {
        if SHORT.contains(&input.len())
            && self.short.len() < SHORTS
            && input.iter().all(u8::is_ascii_punctuation)
            && !self.short.iter().any(|known| known == input)
        {
            self.short.push(input.to_vec());
        }
    }

    /// Places that looked at a sentinel.
    pub fn see(&mut self, places: &HashSet<u64>) {
        self.places.extend(places);
    }
}

impl Explorer<'_> {
    /// Looks into the next valid input.
    pub(super) fn look_inside(&mut self) -> Result<(), Error> {
        let Some((input, node)) = self.known.inner.waiting.pop_front() else { return Ok(()) };
        self.look_at_operators(&input)?;
        for at in 0..input.len().min(BYTES) {
            self.tell()?;
            self.look_between(&input[..at], &input[at + 1..], DEEP, node)?;
        }
        for (from, to) in names(&input).into_iter().take(NAMES) {
            for length in LENGTHS {
                self.tell()?;
                self.look_at_name(&input, from, to, length, node)?;
            }
            self.put_words(&input, from, to, node)?;
        }
        Ok(())
    }

    /// Looks at what could stand between two parts of an input. What is not
    /// accepted there may want more to follow.
    fn look_between(&mut self, before: &[u8], rest: &[u8], deep: u32, node: u32) -> Result<(), Error> {
        let whole = [before, rest].concat();
        let Some(byte) = sentinel(&whole, Class::Control, &mut self.rng) else { return Ok(()) };
        let probe = [before, &[byte], rest].concat();
        let probed = Probed { input: &probe, keep: before.len(), sentinel: byte };
        let mut aliases = Vec::new();
        let places = &self.known.inner.places;
        let is_new = |event: &&Event| {
            probed.touches(event, &mut aliases) && !places.contains(&place(event, event.near[0].into(), 0))
        };
        let (offered, sight) = self.prober.probe_at(probed, is_new, &mut self.rng)?;
        self.known.inner.see(&sight.places);
        for offer in offered.texts.iter().take(TRIED) {
            let longer = [&before[..offer.keep], &offer.text].concat();
            if self.try_inside(&longer, rest, &offer.text, node)? != Some(Answer::Rejected) {
                continue;
            }
            for length in FOLLOWING {
                let filled = [&longer[..], &vec![b'0'; length]].concat();
                let answer = self.try_inside(&filled, rest, &offer.text, node)?;
                if answer.is_some_and(|answer| answer != Answer::Rejected) {
                    break;
                }
            }
            if deep > 0 && !self.is_over() {
                self.look_between(&longer, rest, deep - 1, node)?;
            }
        }
        Ok(())
    }

    fn look_at_name(
        &mut self,
        input: &[u8],
        from: usize,
        to: usize,
        length: usize,
        node: u32,
    ) -> Result<(), Error> {
        let Some(byte) = sentinel(input, Class::Letter, &mut self.rng) else { return Ok(()) };
        let probe = [&input[..from], &vec![byte; length], &input[to..]].concat();
        let probed = Probed { input: &probe, keep: from, sentinel: byte };
        let offered = self.prober.probe(probed, &mut self.rng)?;
        let texts: Vec<_> = offered
            .texts
            .into_iter()
            .filter(|offer| offer.kind == Kind::Text && offer.keep == from)
            .collect();
        for offer in texts.iter().take(TRIED) {
            if self.known.words.is_known(&offer.text) {
                continue;
            }
            let before = [&input[..from], &offer.text].concat();
            self.try_inside(&before, &input[to..], &offer.text, node)?;
        }
        self.learn_words(&texts)
    }

    /// Puts each word that is known, and each short valid input, in the place
    /// of a name.
    fn put_words(&mut self, input: &[u8], from: usize, to: usize, node: u32) -> Result<(), Error> {
        // Once for what stands around: from there on what is new since then.
        let around =
            [&input[from.saturating_sub(AROUND)..from], b"_", &input[to..input.len().min(to + AROUND)]];
        let (known, short) = (self.known.words.known(), &self.known.inner.short);
        if self.known.inner.put.len() >= CONTEXTS {
            return Ok(());
        }
        let done =
            self.known.inner.put.insert(around.concat(), (known.len(), short.len())).unwrap_or_default();
        let words = known[done.0..].iter().filter(|word| word.iter().all(is_part));
        let texts: Vec<Vec<u8>> = words.chain(&short[done.1..]).cloned().collect();
        for text in texts {
            if self.is_over() {
                break;
            }
            self.tell()?;
            let before = [&input[..from], &text].concat();
            if self.try_inside(&before, &input[to..], &text, node)? == Some(Answer::Known) {
                self.follow(&before, &input[to..], &text, node)?;
            }
        }
        Ok(())
    }

    /// What a word gave nothing new for may still have names of its own: those
    /// behind it are looked at, once for what stands between.
    fn follow(&mut self, before: &[u8], rest: &[u8], word: &[u8], node: u32) -> Result<(), Error> {
        let Some(&(from, to)) = names(rest).first() else { return Ok(()) };
        if self.known.inner.followed.len() < FOLLOWED
            && self.known.inner.followed.insert([word, &rest[..from]].concat())
        {
            let whole = [before, rest].concat();
            for length in LENGTHS {
                self.tell()?;
                self.look_at_name(&whole, before.len() + from, before.len() + to, length, node)?;
            }
        }
        Ok(())
    }

    fn try_inside(
        &mut self,
        before: &[u8],
        rest: &[u8],
        added: &[u8],
        node: u32,
    ) -> Result<Option<Answer>, Error> {
        let whole = [before, rest].concat();
        if whole.len() > self.options.max_size || !self.frontier.is_new(&whole) {
            return Ok(None);
        }
        self.check(&whole, node, Kind::Inside, added).map(Some)
    }

    /// Punctuation that can not be taken apart is an operator.
    fn look_at_operators(&mut self, input: &[u8]) -> Result<(), Error> {
        let mut from = 0;
        while from < input.len() {
            let length = input[from..].iter().take_while(|byte| byte.is_ascii_punctuation()).count();
            let run = &input[from..from + length];
            if (2..=OPERATOR).contains(&length) && self.known.inner.operators.insert(run.to_vec()) {
                let mut whole = true;
                for at in from + 1..from + length {
                    let apart = [&input[..at], b" ", &input[at..]].concat();
                    whole &= self.prober.run(&apart)?.verdict != wug_target::Verdict::Ok;
                }
                if whole {
                    self.known.words.learn(run);
                }
            }
            from += length.max(1);
        }
        Ok(())
    }
}

/// Whether a byte can be part of a name.
fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Where names begin and end.
pub fn names(input: &[u8]) -> Vec<(usize, usize)> {
    let mut names = Vec::new();
    let mut from = 0;
    while from < input.len() {
        let length = input[from..].iter().take_while(|byte| is_part(byte)).count();
        if length > 0 && !input[from].is_ascii_digit() {
            names.push((from, from + length));
        }
        from += length.max(1);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        assert_eq!(names(b"a.b_1+12"), [(0, 1), (2, 5)]);
        assert_eq!(names(b"''"), []);
    }
}
