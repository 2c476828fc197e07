//! Lessons: structure learned from entries, and entries that wait for it.
//!
//! The generalise stage fills it, the mutators `extend`, `fill`, `nest` and
//! `rename` make inputs of it, and each run of such an input tells whether its
//! parts fit together.

use crate::generalise::{self, Generalised, Library, Workbench};
use std::collections::HashMap;
use wug_folder::report::GeneraliseReport;
use wug_random::Rng;

/// Inputs that wait, and their bytes: memory, where entries are found faster
/// than they are generalised.
const WAITING: usize = 4096;
const WAITING_BYTES: usize = 32 << 20;
/// Runs that any input takes, however short: in bytes.
const FIXED: usize = 64;
/// Up to so many, the oldest is the next: then all will have their turn soon.
const IN_ORDER: usize = 32;

/// What was learned from entries.
#[derive(Debug, Default)]
pub(crate) struct Lessons {
    /// All generalised inputs.
    pub library: Library,
    /// The number of the generalised form of each entry that has one.
    pub of_entry: HashMap<usize, u32>,
    backlog: Vec<Unlearned>,
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

impl Unlearned {
    /// What it promises for what it takes: edges by runs, of which an input
    /// takes some for each byte.
    fn promise(&self) -> f64 {
        self.edges.len() as f64 / (FIXED + self.input.len()) as f64
    }
}

impl Lessons {
    pub fn new(by_grammar: bool) -> Lessons {
        let longest = if by_grammar { generalise::LONGEST_BY_GRAMMAR } else { generalise::LONGEST };
        Lessons { longest, ..Lessons::default() }
    }

    /// Puts an input into the backlog; what promises least goes if there are
    /// too many.
    pub fn remember(&mut self, entry: usize, input: Vec<u8>, edges: Box<[u32]>) {
        if edges.is_empty() || input.is_empty() || input.len() > self.longest {
            return;
        }
        self.backlog_bytes += input.len();
        self.backlog.push(Unlearned { entry, input: input.into(), edges });
        while self.backlog.len() > WAITING || self.backlog_bytes > WAITING_BYTES {
            let Some(least) = self.find(|a, b| a.promise() < b.promise()) else { break };
            self.take(least);
        }
    }

    /// Takes the next of the backlog: where many wait, as after many seeds, the
    /// one that promises most.
    pub fn next(&mut self) -> Option<Unlearned> {
        let in_order = self.backlog.len() <= IN_ORDER;
        let next = self.find(|a, b| !in_order && a.promise() > b.promise())?;
        Some(self.take(next))
    }

    /// The first that is better than all others.
    fn find(&self, better: impl Fn(&Unlearned, &Unlearned) -> bool) -> Option<usize> {
        let all = || 0..self.backlog.len();
        all().reduce(|best, at| if better(&self.backlog[at], &self.backlog[best]) { at } else { best })
    }

    fn take(&mut self, at: usize) -> Unlearned {
        let taken = self.backlog.remove(at);
        self.backlog_bytes -= taken.input.len();
        taken
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

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(lessons: &mut Lessons) -> Vec<usize> {
        std::iter::from_fn(|| lessons.next()).map(|next| next.entry).collect()
    }

    #[test]
    fn where_many_wait_what_pays_is_first() {
        let mut lessons = Lessons::new(false);
        for entry in 0..IN_ORDER {
            lessons.remember(entry, vec![b'x'; 1000], [1].into());
        }
        lessons.remember(100, vec![b'x'; 10], [1].into());
        lessons.remember(101, vec![b'x'; 2000], [1, 2, 3, 4, 5, 6, 7, 8].into());
        let expected: Vec<usize> = [100, 101].into_iter().chain(0..IN_ORDER).collect();
        assert_eq!(numbers(&mut lessons), expected);
        assert_eq!(lessons.backlog_bytes, 0);
    }

    #[test]
    fn where_too_many_wait_what_promises_least_goes() {
        let mut lessons = Lessons::new(false);
        lessons.remember(0, vec![b'x'; 9000], [1].into());
        for entry in 1..=WAITING {
            lessons.remember(entry, vec![b'x'; 5], [1].into());
        }
        let numbers = numbers(&mut lessons);
        assert!(numbers.len() == WAITING && !numbers.contains(&0));
    }
}
