//! All that was learned, and random parts of it.

use super::Generalised;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use wug_random::Rng;
use wug_random::hash;

/// Bytes of generalised inputs that are kept; beyond, new ones take the place
/// of others.
const BYTES: usize = 64 << 20;
/// Tokens that are kept, and how long they are at most.
const TOKENS: usize = 1 << 16;
const LONGEST_TOKEN: usize = 256;
/// Pairs that are known to fit, and how many of one gap.
const PAIRS: usize = 1 << 16;
const PAIRS_OF_GAP: usize = 16;
/// Words that are drawn to find one for a name.
const TRIES: usize = 8;

/// Generalised inputs, tokens, and what fits into which gap.
#[derive(Debug, Default)]
pub struct Library {
    inputs: Vec<Generalised>,
    bytes: usize,
    tokens: Vec<Box<[u8]>>,
    known: HashSet<u64>,
    /// Inputs that fitted into a gap of another: by input and number of the
    /// gap.
    pairs: HashMap<(u32, u32), Vec<u32>>,
    pair_count: usize,
    /// Gaps that take the input that they are in.
    hosts: Vec<(u32, u32)>,
    is_host: HashSet<(u32, u32)>,
}

/// Something to put into a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A part of a generalised input, from one place in it to another, each
    /// at a gap or an end; the input's number.
    Part(u32, Range<usize>),
    /// A token or a string.
    Text(&'a [u8]),
}

impl Library {
    /// Keeps a generalised input and its tokens; its number.
    pub fn add(&mut self, input: Generalised, rng: &mut Rng) -> u32 {
        for token in input.tokens() {
            if token.len() <= LONGEST_TOKEN && self.tokens.len() < TOKENS && self.known.insert(hash(token)) {
                self.tokens.push(token.into());
            }
        }
        self.bytes += input.content().len() + 4 * input.gaps().len();
        if self.bytes <= BYTES || self.inputs.is_empty() {
            self.inputs.push(input);
            return self.inputs.len() as u32 - 1;
        }
        let place = rng.below(self.inputs.len() as u32);
        let old = std::mem::replace(&mut self.inputs[place as usize], input);
        self.bytes -= old.content().len() + 4 * old.gaps().len();
        // Pairs with the old one were pairs of gaps that are gone.
        self.pairs.retain(|(input, _), _| *input != place);
        self.hosts.retain(|(input, _)| *input != place);
        self.is_host.retain(|(input, _)| *input != place);
        place
    }

    /// How many inputs there are.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// A generalised input by its number.
    pub fn input(&self, number: u32) -> &Generalised {
        &self.inputs[number as usize]
    }

    /// What stood between gaps.
    pub fn tokens(&self) -> &[Box<[u8]>] {
        &self.tokens
    }

    /// Pairs of gap and input that are known to fit.
    pub fn pairs(&self) -> usize {
        self.pair_count
    }

    /// Notes that an input fitted into a gap of another: both did what they
    /// do alone.
    pub fn fits(&mut self, gap: (u32, u32), input: u32, rng: &mut Rng) {
        if self.pair_count >= PAIRS && !self.pairs.contains_key(&gap) {
            return;
        }
        let known = self.pairs.entry(gap).or_default();
        if known.contains(&input) {
            return;
        }
        if known.len() < PAIRS_OF_GAP {
            known.push(input);
            self.pair_count += 1;
        } else {
            known[rng.below(PAIRS_OF_GAP as u32) as usize] = input;
        }
    }

    /// Notes that an input fits into a gap of itself.
    pub fn takes_itself(&mut self, gap: (u32, u32), rng: &mut Rng) {
        self.fits(gap, gap.0, rng);
        if self.is_host.insert(gap) {
            self.hosts.push(gap);
        }
    }

    /// Whether some input fits into itself.
    pub fn nests(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// Whether a gap takes the input that it is in.
    pub fn is_host(&self, gap: (u32, u32)) -> bool {
        self.is_host.contains(&gap)
    }

    /// A gap of an input that fits into itself there.
    pub fn host(&self, rng: &mut Rng) -> Option<(u32, u32)> {
        (!self.hosts.is_empty()).then(|| self.hosts[rng.below(self.hosts.len() as u32) as usize])
    }

    /// An input that is known to fit into a gap.
    pub fn fitting(&self, gap: (u32, u32), rng: &mut Rng) -> Option<u32> {
        let known = self.pairs.get(&gap)?;
        (!known.is_empty()).then(|| known[rng.below(known.len() as u32) as usize])
    }

    /// Another name than `old`: a token or a string, or `old` with a letter
    /// more.
    pub fn name(&self, strings: &[Box<[u8]>], old: &[u8], rng: &mut Rng) -> Vec<u8> {
        let is_name = |text: &[u8]| {
            text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') && !text[0].is_ascii_digit()
        };
        let drawn = (0..TRIES).find_map(|_| match self.draw_text(strings, rng)? {
            Piece::Text(word) if is_name(word) && word != old => Some(word.to_vec()),
            _ => None,
        });
        drawn.unwrap_or_else(|| [old, &[b'a' + rng.below(26) as u8]].concat())
    }

    /// Algorithm 3: a generalised input, a slice of one, a token or a string.
    pub fn draw<'a>(&'a self, strings: &'a [Box<[u8]>], rng: &mut Rng) -> Option<Piece<'a>> {
        if rng.below(2) == 0 {
            let slice = rng.below(2) == 0;
            let drawn = if slice { self.draw_slice(rng) } else { self.draw_text(strings, rng) };
            if drawn.is_some() {
                return drawn;
            }
        }
        self.draw_input(rng).or_else(|| self.draw_text(strings, rng))
    }

    fn draw_input(&self, rng: &mut Rng) -> Option<Piece<'_>> {
        let number = (!self.inputs.is_empty()).then(|| rng.below(self.inputs.len() as u32))?;
        Some(Piece::Part(number, 0..self.input(number).content().len()))
    }

    /// What lies between two gaps; the beginning and the end count as gaps.
    fn draw_slice(&self, rng: &mut Rng) -> Option<Piece<'_>> {
        let number = (!self.inputs.is_empty()).then(|| rng.below(self.inputs.len() as u32))?;
        let input = self.input(number);
        let ends = input.gaps().len() as u32 + 2;
        let place = |number: u32| match number {
            0 => 0,
            n if n + 1 == ends => input.content().len(),
            n => input.gaps()[n as usize - 1] as usize,
        };
        let (a, b) = (place(rng.below(ends)), place(rng.below(ends)));
        (a != b).then(|| Piece::Part(number, a.min(b)..a.max(b)))
    }

    fn draw_text<'a>(&'a self, strings: &'a [Box<[u8]>], rng: &mut Rng) -> Option<Piece<'a>> {
        let tokens = self.tokens.len();
        let count = tokens + strings.len();
        let at = (count > 0).then(|| rng.below(count as u32) as usize)?;
        Some(Piece::Text(if at < tokens { &self.tokens[at] } else { &strings[at - tokens] }))
    }
}
