//! Finds the bytes of an input that do not matter, many at a time.
//!
//! Parts are left out from what is left, from large to small, along what looks
//! like structure: brackets and quotes, then lines, statements, lists and
//! words, then the inside of words. What cannot be left out as a whole is
//! halved. Nothing is asked twice: when a part cannot go, but its first half
//! can, then the second half is the same question again.
//!
//! Two things save most of the runs. Where parts of one size have hardly ever
//! gone lately, their parts are tried at once; and words are tried as words:
//! `counter` goes, or becomes `c`, or is needed as it is. The plain way tries
//! each of its letters. When single parts have failed many times in a row,
//! the rest is left as it is.

use std::collections::HashSet;
use std::ops::Range;
use wug_random::hash;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Removed {
    /// Whether each byte does not matter. Without all of these, the input is
    /// still what it has to be.
    pub removed: Vec<bool>,
    /// Runs that it took.
    pub runs: usize,
}

/// Separators, the strongest first.
const SEPARATORS: &[u8] = b"\n\r;,#\t .";
/// Sizes of parts that are told apart in what is known of their luck.
const SIZES: usize = 16;
/// Failures in a row after which single parts are tried no more.
const PATIENCE: u32 = 48;

/// Times that all is gone over: what went opens ways for what did not.
const ROUNDS: usize = 2;

/// Finds what can be left out while `check` says yes; after `runs` questions
/// it stops.
pub fn gaps<E>(
    input: &[u8],
    runs: usize,
    mut check: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Removed, E> {
    let mut removed = vec![false; input.len()];
    let mut failed = HashSet::new();
    let mut left = runs;
    for _ in 0..ROUNDS {
        let places: Vec<usize> = (0..input.len()).filter(|at| !removed[*at]).collect();
        let rest: Vec<u8> = places.iter().map(|at| input[*at]).collect();
        let gone = round(&rest, &mut left, &mut failed, &mut check)?;
        places.iter().zip(&gone).for_each(|(at, gone)| removed[*at] = *gone);
        if !gone.contains(&true) {
            break;
        }
    }
    Ok(Removed { removed, runs: runs - left })
}

/// Goes over an input once.
fn round<E>(
    input: &[u8],
    left: &mut usize,
    failed: &mut HashSet<u64>,
    check: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Vec<bool>, E> {
    let mut search = Search {
        input,
        partner: partners(input),
        removed: vec![false; input.len()],
        candidate: Vec::with_capacity(input.len()),
        failed,
        luck: [(1, 2); SIZES],
        failures: 0,
        left,
        check,
    };
    // An explicit stack: brackets nest as deep as the input is long.
    let mut work = Vec::from([Range { start: 0, end: input.len() }]);
    while let Some(range) = work.pop() {
        search.part(range, &mut work)?;
    }
    Ok(search.removed)
}

struct Search<'a, C> {
    input: &'a [u8],
    /// The closing bracket of each opening one.
    partner: Vec<u32>,
    removed: Vec<bool>,
    candidate: Vec<u8>,
    /// Hashes of what was said no to.
    failed: &'a mut HashSet<u64>,
    /// How many parts of each size went, and how many were tried.
    luck: [(u32, u32); SIZES],
    failures: u32,
    left: &'a mut usize,
    check: C,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    Word,
    Space,
    Binary,
    Sign,
}

fn kind(byte: u8) -> PieceKind {
    match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => PieceKind::Word,
        b' ' | b'\t' | b'\r' | b'\n' => PieceKind::Space,
        0..=0x1f | 0x7f.. => PieceKind::Binary,
        _ => PieceKind::Sign,
    }
}

const NONE: u32 = u32::MAX;

/// Where brackets and quotes that are opened are closed.
fn partners(input: &[u8]) -> Vec<u32> {
    let mut partner = vec![NONE; input.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, &byte) in input.iter().enumerate() {
        let opening = match byte {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b'>' => b'<',
            b'"' | b'\'' => byte,
            b'(' | b'[' | b'{' | b'<' => {
                open.push(at);
                continue;
            }
            _ => continue,
        };
        // What was opened in between is never closed. A look far back would
        // take quadratic time.
        let near = open.len().saturating_sub(64);
        match open[near..].iter().rposition(|&at| input[at] == opening) {
            Some(place) => {
                partner[open[near + place]] = at as u32;
                open.truncate(near + place);
            }
            None if byte == opening => open.push(at),
            None => {}
        }
    }
    partner
}

impl<E, C: FnMut(&[u8]) -> Result<bool, E>> Search<'_, C> {
    /// Tries a part, or else puts its parts on `work`.
    fn part(&mut self, range: Range<usize>, work: &mut Vec<Range<usize>>) -> Result<(), E> {
        if range.is_empty() {
            return Ok(());
        }
        let size = (range.len().ilog2() as usize).min(SIZES - 1);
        let (gone, tried) = self.luck[size];
        let single = self.is_single(&range);
        // Of single parts nothing smaller can be tried.
        let hopeless = if single { self.failures > PATIENCE } else { gone * 10 < tried && tried > 12 };
        if !hopeless {
            let went = self.leave_out(range.clone())?;
            self.luck[size] = (gone + u32::from(went), tried + 1);
            if tried >= 64 {
                self.luck[size] = (self.luck[size].0 / 2, self.luck[size].1 / 2);
            }
            if went {
                self.failures = 0;
                return Ok(());
            }
            self.failures += u32::from(single);
        }
        if single {
            return if hopeless { Ok(()) } else { self.shorten(range) };
        }
        // The last is looked at first: what comes first is put last.
        if self.partner[range.start] as usize + 1 == range.end {
            work.push(range.start + 1..range.end - 1);
            return Ok(());
        }
        let middle = self.middle(&range);
        work.extend([middle..range.end, range.start..middle]);
        Ok(())
    }

    /// Whether a part is one word, one run of white space or one other byte.
    fn is_single(&self, range: &Range<usize>) -> bool {
        let first = kind(self.input[range.start]);
        range.len() == 1
            || matches!(first, PieceKind::Word | PieceKind::Space)
                && self.input[range.clone()].iter().all(|&byte| kind(byte) == first)
    }

    /// A word that is needed may do with one letter.
    fn shorten(&mut self, range: Range<usize>) -> Result<(), E> {
        if range.len() > 1
            && !self.leave_out(range.start + 1..range.end)?
            && !self.leave_out(range.start..range.end - 1)?
            && range.len() > 3
        {
            self.leave_out(range.start + range.len() / 2..range.end)?;
        }
        Ok(())
    }

    /// Where a part is divided: at the strongest separator outside of
    /// brackets, the one nearest to the middle; else between words.
    fn middle(&self, range: &Range<usize>) -> usize {
        let wanted = range.start + range.len() / 2;
        let mut best = [(usize::MAX, 0); SEPARATORS.len() + 1];
        let mut at = range.start;
        while at < range.end {
            let byte = self.input[at];
            let next = match self.partner[at] {
                close if close != NONE && (close as usize) < range.end => close as usize + 1,
                _ if kind(byte) == PieceKind::Word => {
                    let rest = &self.input[at..range.end];
                    at + rest.iter().take_while(|&&byte| kind(byte) == PieceKind::Word).count()
                }
                _ => at + 1,
            };
            if next < range.end {
                let rank = SEPARATORS.iter().position(|&other| other == byte).unwrap_or(SEPARATORS.len());
                let distance = next.abs_diff(wanted);
                if distance < best[rank].0 {
                    best[rank] = (distance, next);
                }
            }
            at = next;
        }
        let found = best.iter().find(|(distance, _)| *distance != usize::MAX);
        found.map_or(wanted.max(range.start + 1), |(_, middle)| *middle)
    }

    /// Leaves a part out, if that is possible.
    fn leave_out(&mut self, range: Range<usize>) -> Result<bool, E> {
        if *self.left == 0 || range.is_empty() {
            return Ok(false);
        }
        self.candidate.clear();
        for (at, byte) in self.input.iter().enumerate() {
            if !self.removed[at] && !range.contains(&at) {
                self.candidate.push(*byte);
            }
        }
        let hash = hash(&self.candidate);
        if self.candidate.is_empty() || self.failed.contains(&hash) {
            return Ok(false);
        }
        *self.left -= 1;
        let went = (self.check)(&self.candidate)?;
        if went {
            self.removed[range].fill(true);
        } else {
            self.failed.insert(hash);
        }
        Ok(went)
    }
}
