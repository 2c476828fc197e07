//! Lessons: structure learned from entries, and entries that wait for it.
//!
//! The generalise stage fills it, the mutators `extend`, `fill`, `nest` and
//! `rename` make inputs of it, and each run of such an input tells whether its
//! parts fit together.

use crate::generalise::{self, Generalised, Library, Workbench};
use std::collections::{HashMap, VecDeque};
use wug_folder::report::GeneraliseReport;
use wug_random::Rng;

/// Inputs that wait, and their bytes: memory, where entries are found faster
/// than they are generalised.
const WAITING: usize = 4096;
const WAITING_BYTES: usize = 32 << 20;

/// What was learned from entries.
#[derive(Debug, Default)]
pub(crate) struct Lessons {
    /// All generalised inputs.
    pub library: Library,
    /// The number of the generalised form of each entry that has one.
    pub of_entry: HashMap<usize, u32>,
    backlog: VecDeque<Unlearned>,
    backlog_bytes: usize,
    longest: usize,
    bench: Workbench,
    /// Whether the input that is executed next came from the bench.
    recombined: bool,
}

/// An input with new edges that waits to be generalised.
#[derive(Debug)]
pub(crate) struct Unlearned {
    pub entry: usize,
    /// As it was found: what trimming leaves has few gaps.
    pub input: Box<[u8]>,
    pub edges: Box<[u32]>,
}

impl Lessons {
    pub fn new(by_grammar: bool) -> Lessons {
        let longest = if by_grammar { generalise::LONGEST_BY_GRAMMAR } else { generalise::LONGEST };
        Lessons { longest, ..Lessons::default() }
    }

    /// Puts an input into the backlog; the oldest goes if there are too many.
    pub fn remember(&mut self, entry: usize, input: Vec<u8>, edges: Box<[u32]>) {
        if edges.is_empty() || input.is_empty() || input.len() > self.longest {
            return;
        }
        self.backlog_bytes += input.len();
        self.backlog.push_back(Unlearned { entry, input: input.into(), edges });
        while self.backlog.len() > WAITING || self.backlog_bytes > WAITING_BYTES {
            if self.next().is_none() {
                break;
            }
        }
    }

    /// Takes the oldest of the backlog.
    pub fn next(&mut self) -> Option<Unlearned> {
        let next = self.backlog.pop_front()?;
        self.backlog_bytes -= next.input.len();
        Some(next)
    }

    /// The generalised form of an entry.
    pub fn form(&self, entry: usize) -> Option<&Generalised> {
        self.of_entry.get(&entry).map(|number| self.library.input(*number))
    }

    /// Recombines the form of an entry on the bench into `out`; by how many
    /// operations.
    pub fn recombine(
        &mut self,
        entry: usize,
        out: &mut Vec<u8>,
        on_bench: impl FnOnce(&mut Workbench, &Library, u32) -> Option<u32>,
    ) -> Option<u32> {
        let number = *self.of_entry.get(&entry)?;
        let count = on_bench(&mut self.bench, &self.library, number)?;
        self.recombined = true;
        out.clear();
        out.extend_from_slice(self.bench.content());
        (count > 0).then_some(count)
    }

    /// Forgets an input from the bench that was not executed.
    pub fn clear_bench(&mut self) {
        self.recombined = false;
    }

    /// Whether [`Lessons::judge`] has to see the coverage of the input that was
    /// just made.
    pub fn wants_coverage(&self) -> bool {
        self.recombined
    }

    /// Learns whether the parts of a recombined input still reach their edges.
    pub fn judge(&mut self, coverage: &[u8], rng: &mut Rng) {
        if !std::mem::take(&mut self.recombined) {
            return;
        }
        let library = &mut self.library;
        let reaches = |library: &Library, input: u32| {
            let edges = &library.input(input).edges;
            edges.iter().all(|id| coverage.get(*id as usize).is_some_and(|count| *count != 0))
        };
        for &(gap, input) in self.bench.put() {
            if reaches(library, gap.0) && reaches(library, input) {
                library.fits(gap, input, rng);
            }
        }
    }

    /// Fills in what is known.
    pub fn report(&self, report: &mut GeneraliseReport) {
        report.waiting = self.backlog.len() as u64;
        report.tokens = self.library.tokens().len() as u64;
        report.pairs = self.library.pairs() as u64;
    }
}
