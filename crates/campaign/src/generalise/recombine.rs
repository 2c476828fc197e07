//! Inputs put behind and into each other.

use super::library::{Library, Piece};
use super::write_gaps;
use std::fmt;
use wug_produce::rng::Rng;

/// How often something is put into a gap: one of these times.
const TIMES: [u32; 6] = [2, 4, 8, 16, 32, 64];
/// How many of what was put in is remembered, to see whether it fitted.
const REMEMBERED: usize = 8;

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
        self.text.clear();
        self.gaps.clear();
        self.put.clear();
        self.gaps.push(Gap { at: 0, of: Some((number, BEFORE)) });
        let whole = 0..library.input(number).content().len();
        self.insert(0, &Piece::Part(number, whole), library);
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
        for done in 0..times {
            let gap = rng.below(self.gaps.len() as u32) as usize;
            let fitting = self.gaps[gap].of.filter(|_| rng.below(2) == 0);
            let known = fitting.and_then(|of| library.fitting(of, rng));
            let piece = match known {
                Some(input) => Some(Piece::Part(input, 0..library.input(input).content().len())),
                None => library.draw(strings, rng),
            };
            let Some(piece) = piece else { return done };
            if self.text.len() > longest {
                return done;
            }
            self.replace(gap, &piece, library);
        }
        times
    }

    /// Puts a piece into a gap; gaps stay before and behind it.
    pub fn replace(&mut self, gap: usize, piece: &Piece<'_>, library: &Library) {
        if let (Piece::Part(number, range), Some(of)) = (piece, self.gaps[gap].of)
            && self.put.len() < REMEMBERED
            && range.len() == library.input(*number).content().len()
        {
            self.put.push((of, *number));
        }
        self.insert(gap, piece, library);
    }

    fn insert(&mut self, gap: usize, piece: &Piece<'_>, library: &Library) {
        let Gap { at, of } = self.gaps[gap];
        let place = at as usize;
        let text = match piece {
            Piece::Part(number, range) => &library.input(*number).content()[range.clone()],
            Piece::Text(text) => text,
        };
        if text.is_empty() {
            return;
        }
        self.text.splice(place..place, text.iter().copied());
        let len = text.len() as u32;
        self.gaps[gap + 1..].iter_mut().for_each(|gap| gap.at += len);
        // Gaps at the ends of the piece are those that stay there anyway.
        let mut inside = Vec::new();
        if let Piece::Part(number, range) = piece {
            for (index, inner) in library.input(*number).gaps().iter().enumerate() {
                if *inner as usize > range.start && (*inner as usize) < range.end {
                    let of = Some((*number, index as u32));
                    inside.push(Gap { at: at + inner - range.start as u32, of });
                }
            }
        }
        let behind =
            of.map(|(input, gap)| (input, if gap == BEFORE && self.gaps.len() == 1 { BEHIND } else { gap }));
        inside.push(Gap { at: at + len, of: behind });
        self.gaps.splice(gap + 1..gap + 1, inside);
    }
}
