//! Entries generalised, and inputs made of what that taught.

use super::execute::Making;
use super::{Campaign, Error};
use crate::feedback::{New, counts_reach};
use crate::generalise::{self, Generalised, Library, Occurrences, Workbench};
use std::collections::{HashMap, VecDeque};
use std::time::Instant;
use wug_folder::report::GeneraliseReport;
use wug_random::Rng;
use wug_target::Verdict;

/// One in so many runs goes into it at most, after a few to begin with.
const SHARE: u64 = 4;
const CREDIT: u64 = 500;
/// Runs for one entry: so many, and so many for each byte.
const RUNS: usize = 64;
const RUNS_PER_BYTE: usize = 1;
/// Runs that look for words which are only right together.
const LINK_RUNS: usize = 32;
/// Runs that look where an input can be put into itself.
const NEST_RUNS: usize = 32;
/// Inputs that wait, and their bytes.
const WAITING: usize = 4096;
const WAITING_BYTES: usize = 32 << 20;
/// What is met on the way and reaches something new.
const MET: usize = 64;
/// Recombined inputs do not grow beyond this.
const LONGEST: usize = 16 << 10;

/// An input that waits to be generalised.
#[derive(Debug)]
struct Waiting {
    entry: usize,
    /// As it was found: what trimming leaves has few gaps.
    input: Box<[u8]>,
    edges: Box<[u32]>,
}

/// What was learned, and what is to be.
#[derive(Debug, Default)]
pub(super) struct Learned {
    library: Library,
    /// The generalised form of each entry that has one.
    of_entry: HashMap<usize, u32>,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    bench: Workbench,
    /// Whether the input that runs next was put together on the bench.
    recombined: bool,
    /// Known strings in the entry whose turn it is.
    strings: Option<(usize, usize, Occurrences)>,
    /// Runs that were spent on it.
    pub execs: u64,
    pub report: GeneraliseReport,
}

impl Learned {
    /// Whether [`Learned::judge`] has to see the counts of the input that was
    /// just made.
    pub fn wants_counts(&self) -> bool {
        self.recombined
    }

    /// Looks whether a recombined input did what its parts do alone.
    pub fn judge(&mut self, counts: &[u8], rng: &mut Rng) {
        if !std::mem::take(&mut self.recombined) {
            return;
        }
        let library = &mut self.library;
        let does = |library: &Library, input: u32| {
            let edges = &library.input(input).edges;
            edges.iter().all(|id| counts.get(*id as usize).is_some_and(|count| *count != 0))
        };
        for &(gap, input) in self.bench.put() {
            if does(library, gap.0) && does(library, input) {
                library.fits(gap, input, rng);
            }
        }
    }

    /// Whether inputs are known that fit into themselves.
    pub fn nests(&self) -> bool {
        self.library.nests()
    }

    /// The generalised form of an entry.
    pub fn form(&self, entry: usize) -> Option<&Generalised> {
        self.of_entry.get(&entry).map(|number| self.library.input(*number))
    }

    pub fn fill(&self, report: &mut GeneraliseReport) {
        *report = GeneraliseReport {
            waiting: self.waiting.len() as u64,
            tokens: self.library.tokens().len() as u64,
            pairs: self.library.pairs() as u64,
            ..self.report.clone()
        };
    }
}

impl Campaign<'_> {
    /// Remembers an input with new edges, as it was found, until it is its
    /// turn to be generalised.
    pub(super) fn remember(&mut self, entry: usize, input: Vec<u8>, edges: Box<[u32]>) {
        let longest = match self.structure {
            Some(_) => generalise::LONGEST_BY_GRAMMAR,
            None => generalise::LONGEST,
        };
        let Some(learned) = &mut self.learned else { return };
        if edges.is_empty() || input.is_empty() || input.len() > longest {
            return;
        }
        learned.waiting_bytes += input.len();
        learned.waiting.push_back(Waiting { entry, input: input.into(), edges });
        while learned.waiting.len() > WAITING || learned.waiting_bytes > WAITING_BYTES {
            let Some(oldest) = learned.waiting.pop_front() else { break };
            learned.waiting_bytes -= oldest.input.len();
        }
    }

    /// Generalises what waits, as far as its share of the runs goes.
    pub(super) fn generalise_some(&mut self) -> Result<(), Error> {
        loop {
            let execs = self.figures.execs;
            let Some(learned) = &mut self.learned else { return Ok(()) };
            if learned.execs * SHARE > execs + CREDIT * SHARE || self.is_over() {
                return Ok(());
            }
            let Some(learned) = &mut self.learned else { return Ok(()) };
            let Some(next) = learned.waiting.pop_front() else { return Ok(()) };
            learned.waiting_bytes -= next.input.len();
            learned.recombined = false;
            self.generalise(next)?;
        }
    }

    fn generalise(&mut self, waiting: Waiting) -> Result<(), Error> {
        let Waiting { entry, input, edges } = waiting;
        let (begin, before) = (Instant::now(), self.figures.execs);
        let flaky = self.feedback.flaky();
        let sure = edges.iter().filter(|id| flaky.binary_search(id).is_err());
        let wanted: Vec<New> = sure.map(|id| New { id: *id, classes: u8::MAX }).collect();
        let mut met = Vec::new();
        // What does not do the same when it is asked is not asked further.
        let form = match !wanted.is_empty() && self.still_reaches(&input, &wanted, &mut met)? {
            true => Some(self.form_of(&input, &wanted, &mut met)?),
            false => None,
        };
        let runs = self.figures.execs - before;
        let Some(learned) = &mut self.learned else { return Ok(()) };
        learned.execs += runs;
        if let Some((mut form, takes_itself)) = form {
            let report = &mut learned.report;
            report.inputs += 1;
            report.bytes += input.len() as u64;
            report.gap_bytes += (input.len() - form.content().len()) as u64;
            report.gaps += form.gaps().len() as u64;
            report.links += form.links.len() as u64;
            report.nests += takes_itself.len() as u64;
            form.edges = wanted.iter().map(|new| new.id).collect();
            let number = learned.library.add(form, &mut self.rng);
            for gap in takes_itself {
                learned.library.takes_itself((number, gap), &mut self.rng);
            }
            learned.of_entry.retain(|_, other| *other != number);
            learned.of_entry.insert(entry, number);
        }
        self.figures.generalise += begin.elapsed();
        // What was met on the way is not lost.
        for input in met {
            let by_grammar = self.structure.is_some();
            if self.is_over() || !self.share.permits(by_grammar) {
                break;
            }
            if by_grammar {
                self.share.count(false);
            }
            self.input = input;
            let making = Making::Mutation { from: Some(entry), other: None, op: "generalise", rep: 1 };
            let kept = self.execute(&making)?.gain > 0.0;
            if let Some(learned) = &mut self.learned {
                learned.report.finds += u64::from(kept);
            }
        }
        Ok(())
    }

    /// The generalised form of an input, and the numbers of its gaps that it
    /// fits into itself.
    fn form_of(
        &mut self,
        input: &[u8],
        wanted: &[New],
        met: &mut Vec<Vec<u8>>,
    ) -> Result<(Generalised, Vec<u32>), Error> {
        let runs = RUNS + RUNS_PER_BYTE * input.len();
        let found = generalise::gaps(input, runs, |input| self.still_reaches(input, wanted, met))?;
        let mut form = Generalised::new(input, &found.removed);
        let takes_itself = self.put_into_itself(&mut form, wanted, met)?;
        if self.options.links {
            let text = form.content();
            form.links =
                generalise::links(text, LINK_RUNS, |input| self.still_reaches(input, wanted, met))?.0;
        }
        Ok((form, takes_itself))
    }

    /// Looks where an input fits into itself. It was run there if some edges
    /// are met more often than by it alone, and none less often.
    fn put_into_itself(
        &mut self,
        form: &mut Generalised,
        wanted: &[New],
        met: &mut Vec<Vec<u8>>,
    ) -> Result<Vec<u32>, Error> {
        let (mut alone, mut counts) = (Vec::new(), Vec::new());
        if !self.counts_of(form.content(), wanted, met, &mut alone)? {
            return Ok(Vec::new());
        }
        generalise::nest(form, NEST_RUNS, |input| {
            let reached = self.counts_of(input, wanted, met, &mut counts)?;
            Ok(reached && counts != alone && counts.iter().zip(&alone).all(|(more, less)| more >= less))
        })
    }

    /// Whether an input reaches some edges.
    fn still_reaches(&mut self, input: &[u8], wanted: &[New], met: &mut Vec<Vec<u8>>) -> Result<bool, Error> {
        self.counts_of(input, wanted, met, &mut Vec::new())
    }

    /// Whether an input reaches some edges, and how often each.
    fn counts_of(
        &mut self,
        input: &[u8],
        wanted: &[New],
        met: &mut Vec<Vec<u8>>,
        counts: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        if self.is_over() {
            return Ok(false);
        }
        let seen = self.executor.run(input)?;
        self.figures.execs += 1;
        let crash = seen.verdict.is_crash();
        if met.len() < MET && (crash || self.feedback.has_news(seen.coverage)) {
            met.push(input.to_vec());
        }
        let fine = !crash && seen.verdict != Verdict::Timeout && counts_reach(seen.coverage, wanted);
        counts.clear();
        if fine {
            counts.extend(wanted.iter().map(|new| seen.coverage[new.id as usize]));
        }
        Ok(fine)
    }

    /// Whether an entry has a generalised form; whether words in it belong
    /// together; whether known strings occur in it.
    pub(super) fn lessons(&mut self, at: usize, origin: &[u8]) -> (bool, bool, bool) {
        let Some(learned) = &mut self.learned else { return (false, false, false) };
        // What was put together may not have been run, if it had been lately.
        learned.recombined = false;
        let strings = self.havoc.tokens();
        let known = learned.strings.as_ref().map(|(entry, count, _)| (*entry, *count));
        if known != Some((at, strings.len())) {
            learned.strings = Some((at, strings.len(), Occurrences::of(origin, strings)));
        }
        let form = learned.form(at);
        let any = learned.strings.as_ref().is_some_and(|(.., found)| !found.is_empty());
        (form.is_some(), form.is_some_and(|form| !form.links.is_empty()), any)
    }

    /// Input extension.
    pub(super) fn extend(&mut self, at: usize) -> Option<u32> {
        let learned = self.learned.as_mut()?;
        let number = *learned.of_entry.get(&at)?;
        let before = self.rng.below(2) == 0;
        let strings = self.havoc.tokens();
        learned.bench.extend(&learned.library, number, strings, before, &mut self.rng)?;
        self.take_from_bench(1)
    }

    /// Recursive replacement.
    pub(super) fn fill(&mut self, at: usize) -> Option<u32> {
        let learned = self.learned.as_mut()?;
        let number = *learned.of_entry.get(&at)?;
        let (strings, longest) = (self.havoc.tokens(), self.options.max_size.min(LONGEST));
        let times = learned.bench.recurse(&learned.library, number, strings, longest, &mut self.rng);
        self.take_from_bench(times)
    }

    /// Nesting.
    pub(super) fn nest(&mut self, at: usize) -> Option<u32> {
        let learned = self.learned.as_mut()?;
        let number = *learned.of_entry.get(&at)?;
        let (strings, longest) = (self.havoc.tokens(), self.options.max_size.min(LONGEST));
        let times = learned.bench.nest(&learned.library, number, strings, longest, &mut self.rng)?;
        self.take_from_bench(times)
    }

    fn take_from_bench(&mut self, times: u32) -> Option<u32> {
        let learned = self.learned.as_mut()?;
        learned.recombined = true;
        self.input.clear();
        self.input.extend_from_slice(learned.bench.content());
        (times > 0).then_some(times)
    }

    /// String replacement, of one or of all occurrences.
    pub(super) fn replace_string(&mut self, origin: &[u8]) -> Option<u32> {
        let (.., found) = self.learned.as_ref()?.strings.as_ref()?;
        let strings = self.havoc.tokens();
        let put = (!strings.is_empty()).then(|| &strings[self.rng.below(strings.len() as u32) as usize])?;
        let all = self.rng.below(2) == 0;
        Some(found.replace(origin, put, all, &mut self.rng, &mut self.input)).filter(|count| *count > 0)
    }

    /// Another name in all places where it has to be the same.
    pub(super) fn rename(&mut self, at: usize) -> Option<u32> {
        let learned = self.learned.as_ref()?;
        let form = learned.form(at)?;
        let link = form.links.get(self.rng.below(form.links.len().max(1) as u32) as usize)?;
        let word = learned.library.name(self.havoc.tokens(), form.word(link), &mut self.rng);
        self.input = form.renamed(link, &word).0;
        Some(link.places.len() as u32)
    }
}

/// The edges among news.
pub(super) fn edges_of(news: &[New], is_new: impl Fn(u32) -> bool) -> Box<[u32]> {
    news.iter().map(|new| new.id).filter(|id| is_new(*id)).collect()
}

/// The seed that nothing is known of: letters, digits and signs.
pub(super) fn uninformed() -> Vec<u8> {
    let ranges = [b'A'..=b'Z', b'a'..=b'z', b'0'..=b'9', b'!'..=b'/', b':'..=b'@', b'['..=b'`', b'{'..=b'~'];
    ranges.into_iter().flatten().chain(*b" \n").collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_seed_has_each_printable_character_once() {
        let mut seed = super::uninformed();
        seed.sort_unstable();
        let printable: Vec<u8> = std::iter::once(b'\n').chain(b' '..=b'~').collect();
        assert_eq!(seed, printable);
    }
}
