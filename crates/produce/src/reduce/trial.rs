//! Runs of the predicate, counted, bounded, and never two on the same bytes.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// There are to be no more runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop;

/// What a candidate is tried with.
pub(super) struct Trial<'a> {
    /// Whether bytes are still of interest; nothing to stop.
    check: &'a mut dyn FnMut(&[u8]) -> Option<bool>,
    /// What was not.
    failed: HashSet<u128>,
    /// The bytes around the piece that is reduced.
    pub before: Vec<u8>,
    pub behind: Vec<u8>,
    candidate: Vec<u8>,
    /// The smallest input so far.
    pub best: Vec<u8>,
    pub runs: u64,
    most: u64,
    /// Nodes and bytes that were looked at since the last run.
    work: u64,
}

/// At most so many nodes and bytes between two runs: a minute or so.
const WORK: u64 = 1 << 33;

impl<'a> Trial<'a> {
    pub fn new(input: Vec<u8>, most: u64, check: &'a mut dyn FnMut(&[u8]) -> Option<bool>) -> Trial<'a> {
        Trial {
            check,
            failed: HashSet::new(),
            before: Vec::new(),
            behind: Vec::new(),
            candidate: Vec::new(),
            best: input,
            runs: 0,
            most,
            work: 0,
        }
    }

    /// Whether the input itself is of interest.
    pub fn begin(&mut self) -> Result<bool, Stop> {
        self.runs = 1;
        (self.check)(&self.best).ok_or(Stop)
    }

    /// Takes note of so many nodes and bytes that are looked at: a large
    /// input whose candidates are all known could take for ever.
    pub fn spend(&mut self, work: usize) -> Result<(), Stop> {
        self.work += work as u64;
        if self.work > WORK { Err(Stop) } else { Ok(()) }
    }

    /// Whether `piece`, with what is around it, is shorter than the best and
    /// of interest: then it is the best.
    pub fn test(&mut self, piece: &[u8]) -> Result<bool, Stop> {
        if self.before.len() + piece.len() + self.behind.len() >= self.best.len() {
            return Ok(false);
        }
        self.spend(self.best.len())?;
        self.candidate.clear();
        self.candidate.extend_from_slice(&self.before);
        self.candidate.extend_from_slice(piece);
        self.candidate.extend_from_slice(&self.behind);
        let key = key(&self.candidate);
        if self.failed.contains(&key) {
            return Ok(false);
        }
        if self.runs >= self.most {
            return Err(Stop);
        }
        self.runs += 1;
        self.work = 0;
        let holds = (self.check)(&self.candidate).ok_or(Stop)?;
        if holds {
            std::mem::swap(&mut self.best, &mut self.candidate);
        } else {
            self.failed.insert(key);
        }
        Ok(holds)
    }
}

/// Two hashes of 64 bits: no two candidates will ever share both.
fn key(bytes: &[u8]) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, bytes).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
