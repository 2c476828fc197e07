//! Inputs put behind and into each other.

use super::library::{Library, Piece};
use super::write_gaps;
use std::fmt;
use std::ops::Range;
use wug_random::Rng;

/// How often something is put into a gap: one of these times.
const TIMES: [u32; 6] = [2, 4, 8, 16, 32, 64];
/// How many of what was put in is remembered, to see whether it fitted.
const REMEMBERED: usize = 8;
/// How many inputs are put into one that they nest in, at most.
const NESTED: u32 = 8;

/// A gap of the input that is being made.
#[derive(Clone, Copy, Debug)]
struct Gap {
    at: u32,
    /// The gap of a generalised input that it was; none for those at the ends
    /// of tokens.
    of: Option<(u32, u32)>,
}

/// An input that is being made, with its gaps.
#[derive(Clone, Debug, Default)]
pub struct Workbench {
    text: Vec<u8>,
    gaps: Vec<Gap>,
    /// What was put into which gap.
    put: Vec<((u32, u32), u32)>,
}

/// What was put into which gap of a generalised input.
pub type Recombined = ((u32, u32), u32);

/// Gaps at both ends have numbers behind those of the input's own.
const BEFORE: u32 = u32::MAX - 1;
const BEHIND: u32 = u32::MAX;

impl fmt::Display for Workbench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_gaps(f, &self.text, self.gaps.iter().map(|gap| gap.at as usize))
    }
}

impl Workbench {
    /// Begins with a generalised input, with a gap at both ends.
    pub fn begin(&mut self, library: &Library, number: u32) {
        self.clear();
        self.gaps.push(Gap { at: 0, of: Some((number, BEFORE)) });
        let whole = 0..library.input(number).content().len();
        self.insert(0, &Piece::Part(number, whole), library);
    }

    fn clear(&mut self) {
        self.text.clear();
        self.gaps.clear();
        self.put.clear();
    }

    /// The input, with all gaps empty.
    pub fn content(&self) -> &[u8] {
        &self.text
    }

    /// What was put into which gap, the first ones.
    pub fn put(&self) -> &[Recombined] {
        &self.put
    }

    /// How many gaps there are.
    pub fn gaps(&self) -> usize {
        self.gaps.len()
    }

    /// Input extension: a random piece before or behind the input.
    pub fn extend(
        &mut self,
        library: &Library,
        number: u32,
        strings: &[Box<[u8]>],
        before: bool,
        rng: &mut Rng,
    ) -> Option<()> {
        self.begin(library, number);
        let piece = library.draw(strings, rng)?;
        let gap = if before { 0 } else { self.gaps.len() - 1 };
        self.replace(gap, &piece, library);
        Some(())
    }

    /// Recursive replacement: random pieces put into random gaps, also into
    /// those that they bring along. Half of the time, a piece is one that is
    /// known to fit. How often.
    pub fn recurse(
        &mut self,
        library: &Library,
        number: u32,
        strings: &[Box<[u8]>],
        longest: usize,
        rng: &mut Rng,
    ) -> u32 {
        self.begin(library, number);
        let times = TIMES[rng.below(TIMES.len() as u32) as usize];
        let mut done = 0;
        for _ in 0..times {
            let gap = rng.below(self.gaps.len() as u32) as usize;
            let fitting = self.gaps[gap].of.filter(|_| rng.below(2) == 0);
            if self.text.len() > longest {
                break;
            }
            if let Some(input) = fitting.and_then(|of| library.fitting(of, rng)) {
                self.put_whole(gap, input, library, strings, rng);
            } else if let Some(piece) = library.draw(strings, rng) {
                self.replace(gap, &piece, library);
            } else {
                break;
            }
            done += 1;
        }
        done
    }

    /// Puts a piece into a gap; gaps stay before and behind it.
    pub fn replace(&mut self, gap: usize, piece: &Piece<'_>, library: &Library) {
        if let Piece::Part(number, range) = piece
            && range.len() == library.input(*number).content().len()
        {
            self.remember(gap, *number);
        }
        self.insert(gap, piece, library);
    }

    /// Nesting: an input that fits into itself, with others that are known to
    /// fit in there; half of the time also a given one, or one more that fits
    /// into itself. How many were put in.
    pub fn nest(
        &mut self,
        library: &Library,
        number: u32,
        strings: &[Box<[u8]>],
        longest: usize,
        rng: &mut Rng,
    ) -> Option<u32> {
        let host = library.host(rng)?;
        self.clear();
        self.gaps.push(Gap { at: 0, of: None });
        self.put_whole(0, host.0, library, strings, rng);
        let times = 1 + rng.below(NESTED);
        let other = match rng.below(4) {
            0 => Some(number),
            1 => library.host(rng).map(|host| host.0),
            _ => None,
        };
        let mut other = other.map(|other| (rng.below(times), other));
        for done in 0..times {
            let open = |gap: &Gap| gap.of.is_some_and(|of| library.is_host(of));
            let count = self.gaps.iter().filter(|gap| open(gap)).count() as u32;
            if count == 0 || self.text.len() > longest {
                return Some(done);
            }
            let drawn = rng.below(count) as usize;
            let gap = (0..self.gaps.len()).filter(|gap| open(&self.gaps[*gap])).nth(drawn)?;
            let input = match other.take_if(|(when, _)| *when == done) {
                Some((_, other)) => other,
                None => self.gaps[gap].of.and_then(|of| library.fitting(of, rng))?,
            };
            self.put_whole(gap, input, library, strings, rng);
        }
        Some(times)
    }

    /// Puts an input into a gap, sometimes with another name in it.
    fn put_whole(
        &mut self,
        gap: usize,
        number: u32,
        library: &Library,
        strings: &[Box<[u8]>],
        rng: &mut Rng,
    ) {
        let form = library.input(number);
        let links = form.links.len() as u32;
        if links == 0 || rng.below(2) == 0 {
            return self.replace(gap, &Piece::Part(number, 0..form.content().len()), library);
        }
        let link = &form.links[rng.below(links) as usize];
        let (text, gaps) = form.renamed(link, &library.name(strings, form.word(link), rng));
        self.remember(gap, number);
        self.insert_text(gap, &text, number, gaps.iter().copied().zip(0..));
    }

    fn remember(&mut self, gap: usize, number: u32) {
        if let Some(of) = self.gaps[gap].of
            && self.put.len() < REMEMBERED
        {
            self.put.push((of, number));
        }
    }

    fn insert(&mut self, gap: usize, piece: &Piece<'_>, library: &Library) {
        match piece {
            Piece::Part(number, Range { start, end }) => {
                let form = library.input(*number);
                let gaps =
                    form.gaps().iter().zip(0..).filter(|(at, _)| (*start..*end).contains(&(**at as usize)));
                let gaps = gaps.map(|(at, index)| (at - *start as u32, index));
                self.insert_text(gap, &form.content()[*start..*end], *number, gaps);
            }
            Piece::Text(text) => self.insert_text(gap, text, 0, std::iter::empty()),
        }
    }

    /// Puts a text into a gap; its gaps, by their places in it and numbers in
    /// an input, come along.
    fn insert_text(&mut self, gap: usize, text: &[u8], number: u32, gaps: impl Iterator<Item = (u32, u32)>) {
        if text.is_empty() {
            return;
        }
        let Gap { at, of } = self.gaps[gap];
        self.text.splice(at as usize..at as usize, text.iter().copied());
        let len = text.len() as u32;
        self.gaps[gap + 1..].iter_mut().for_each(|gap| gap.at += len);
        // Gaps at the ends of the piece are those that stay there anyway.
        let inner = gaps.filter(|(inner, _)| (1..len).contains(inner));
        let mut inside: Vec<Gap> =
            inner.map(|(inner, index)| Gap { at: at + inner, of: Some((number, index)) }).collect();
        let behind =
            of.map(|(input, gap)| (input, if gap == BEFORE && self.gaps.len() == 1 { BEHIND } else { gap }));
        inside.push(Gap { at: at + len, of: behind });
        self.gaps.splice(gap + 1..gap + 1, inside);
    }
}
