//! Whether runs behind the set-up of a program are the same as runs from its
//! beginning: evidence before hope.
//!
//! In:  the first inputs, and mutants of these.
//! Out: how many runs agreed, or the first difference.
//!
//! Each input is run by two executors made for that: by a fork server that
//! starts late, and in a new process. Runs agree if they have the same verdict,
//! the same output, and if the counts of the new process are the sum of those
//! of the set-up and of the late run, for each id.
//!
//! Programs differ from process to process by themselves: by addresses, random
//! numbers, time. So after a difference there is a second look: another fork
//! server, and more new processes. What then varies on either side tells
//! nothing, and is not asked again. The judge is the plain run, never the
//! other fork server: whose children would all have the same addresses.

use super::Executor;
use super::error::Error;
use super::fork::{Fork, ForkAt};
use super::target::{Kind, Options, Output, Target, find};
use super::verdict::Verdict;
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;
use wug_random::Rng;

/// Inputs that are run as they are.
const MAX_INPUTS: usize = 64;
/// Longer inputs have no mutants: these are meant to be many and quick.
const MAX_LENGTH: usize = 64 << 10;
/// New processes that a second look takes, and fork servers.
const AGAIN: usize = 3;
/// Runs whose time may be up before it is given up.
const MAX_TIMEOUTS: usize = 3;
/// Bytes of output that are compared.
const MAX_OUTPUT: usize = 1 << 20;

impl Executor {
    /// Where the fork server starts, as far as it is known.
    pub fn fork_point(&self) -> &super::ForkPoint {
        &self.place.point
    }

    /// What the target covers before the place where its runs begin: nothing
    /// that an observation has. Empty if they begin before `main`.
    pub fn setup_coverage(&self) -> &[u8] {
        &self.place.setup
    }

    /// Compares runs from the place where the fork server started with runs
    /// from the beginning; if they differ, the server starts before `main` from
    /// now on. Without this, the first input that is run is used.
    pub fn prove(&mut self, inputs: &[&[u8]]) -> Result<(), Error> {
        if self.place.settled {
            return Ok(());
        }
        let fork = self.options.fork.clone();
        if fork.mutants == 0 || !self.place.point.is_late() || !self.driver.is_served() {
            self.place.settled = true;
            return Ok(());
        }
        let mut proofs = fork.proofs();
        let program = self.target.locate()?;
        let proof = match proofs.get(&program) {
            Some(known) => known.clone(),
            None => {
                let found = prove(&self.target, &self.options, inputs)?;
                proofs.insert(program, found.clone());
                found
            }
        };
        drop(proofs);
        match proof {
            Ok(runs) => self.place.prove(runs),
            Err(why) => {
                self.place.stay(why);
                self.stop_server()?;
            }
        }
        Ok(())
    }
}

/// Runs inputs and mutants both ways: how many agreed, or how they differ.
fn prove(target: &Target, options: &Options, inputs: &[&[u8]]) -> Result<Result<usize, String>, Error> {
    let fork = options.fork.unproven();
    let output = Output::Record(MAX_OUTPUT);
    let late = Options { fork, output, ..options.clone() };
    let plain = Options { fork: Fork::at(ForkAt::Main), kind: Kind::Spawn, output, ..options.clone() };
    let mut pair = Pair {
        late: Executor::new(target.clone(), late)?,
        plain: Executor::new(target.clone(), plain)?,
        varying: HashSet::new(),
        output_varies: false,
        timeouts: 0,
    };
    let begin = Instant::now();
    let mut runs = 0;
    let first = &inputs[..inputs.len().min(MAX_INPUTS)];
    for input in first {
        if let Some(difference) = pair.compare(input)? {
            return Ok(Err(difference));
        }
        runs += 1;
    }
    let short: Vec<&[u8]> = first.iter().copied().filter(|input| input.len() <= MAX_LENGTH).collect();
    let mut rng = Rng::new(0, 0);
    for number in 0..options.fork.mutants {
        if begin.elapsed() > options.fork.patience {
            break;
        }
        let mutant = mutant(&short, number, &mut rng);
        if let Some(difference) = pair.compare(&mutant)? {
            return Ok(Err(difference));
        }
        runs += 1;
    }
    Ok(Ok(runs))
}

/// What a run showed, with the set-up counted in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    verdict: Verdict,
    counts: Vec<u8>,
    output: Vec<u8>,
}

struct Pair {
    late: Executor,
    plain: Executor,
    /// Ids whose counts differ from process to process.
    varying: HashSet<usize>,
    output_varies: bool,
    timeouts: usize,
}

impl Pair {
    /// How runs of both kinds differ on an input, if they do.
    fn compare(&mut self, input: &[u8]) -> Result<Option<String>, Error> {
        let (mut late, mut plain) = (vec![self.run_late(input)?], vec![self.run_plain(input)?]);
        if !self.late.fork_point().is_late() {
            return Ok(Some("it does not start there every time".into()));
        }
        // One that is slow from the beginning may be in time without.
        if plain[0].verdict == Verdict::Timeout {
            self.timeouts += 1;
            let too_many = self.timeouts >= MAX_TIMEOUTS;
            return Ok(too_many.then(|| "too many runs from the beginning take too long to compare".into()));
        }
        if self.difference(&late, &plain).is_none() {
            return Ok(None);
        }
        for _ in 0..AGAIN {
            self.late.stop_server()?;
            late.push(self.run_late(input)?);
            plain.push(self.run_plain(input)?);
        }
        self.learn(&late);
        self.learn(&plain);
        Ok(self.difference(&late, &plain))
    }

    fn run_plain(&mut self, input: &[u8]) -> Result<Seen, Error> {
        let seen = self.plain.run(input)?;
        let (verdict, counts, output) = (seen.verdict, seen.coverage.to_vec(), seen.output.to_vec());
        Ok(Seen { verdict, counts, output: placeless(output, &self.plain) })
    }

    fn run_late(&mut self, input: &[u8]) -> Result<Seen, Error> {
        let seen = self.late.run(input)?;
        let mut seen =
            Seen { verdict: seen.verdict, counts: seen.coverage.to_vec(), output: seen.output.to_vec() };
        let setup = self.late.setup_coverage();
        seen.counts.resize(seen.counts.len().max(setup.len()), 0);
        // Counts wrap: so does their sum.
        seen.counts.iter_mut().zip(setup).for_each(|(count, before)| *count = count.wrapping_add(*before));
        let mut output = self.late.setup_output.clone();
        output.extend_from_slice(&seen.output);
        output.truncate(MAX_OUTPUT);
        seen.output = placeless(output, &self.late);
        Ok(seen)
    }

    /// Remembers what varies in runs that should be the same.
    fn learn(&mut self, runs: &[Seen]) {
        let Some((first, rest)) = runs.split_first() else { return };
        for run in rest {
            self.output_varies |= run.output != first.output;
            self.varying.extend(differing(&first.counts, &run.counts));
        }
    }

    /// A difference that holds between all late runs and all plain ones.
    fn difference(&self, late: &[Seen], plain: &[Seen]) -> Option<String> {
        let (first, judge) = (late.first()?, plain.first()?);
        if !late.iter().any(|run| plain.iter().any(|other| other.verdict == run.verdict)) {
            return Some(format!(
                "a run from there ends with {}, one from the beginning with {}",
                first.verdict, judge.verdict
            ));
        }
        // A program that ends now this way, now that; a run that was cut short
        // by its time ended anywhere.
        if first.verdict != judge.verdict || first.verdict == Verdict::Timeout {
            return None;
        }
        let count = differing(&first.counts, &judge.counts).filter(|id| !self.varying.contains(id)).count();
        if count > 0 {
            return Some(format!("runs from there cover {count} places differently"));
        }
        let same =
            self.output_varies || late.iter().any(|run| plain.iter().any(|other| other.output == run.output));
        (!same).then(|| "runs from there write something else".into())
    }
}

/// Output without the name of the executor's own folder, in which the input is
/// where there is no file system of the target's own.
fn placeless(output: Vec<u8>, executor: &Executor) -> Vec<u8> {
    let folder = executor.workplace.folder().as_os_str().as_bytes();
    let mut out = Vec::with_capacity(output.len());
    let mut rest = output.as_slice();
    while let Some(at) = find(rest, folder) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + folder.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Ids whose counts differ; what is not there is 0.
fn differing<'a>(a: &'a [u8], b: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let at = |counts: &[u8], id: usize| counts.get(id).copied().unwrap_or(0);
    (0..a.len().max(b.len())).filter(move |&id| at(a, id) != at(b, id))
}

/// An input that is like one of the first: bytes changed, left out, repeated,
/// or taken from another.
fn mutant(inputs: &[&[u8]], number: usize, rng: &mut Rng) -> Vec<u8> {
    let Some(base) = (!inputs.is_empty()).then(|| inputs[number % inputs.len()]) else { return Vec::new() };
    let mut bytes = base.to_vec();
    if number == 0 {
        return Vec::new();
    }
    // Inputs are short: see `MAX_LENGTH`.
    let mut below = |end: usize| rng.below(end as u32) as usize;
    for _ in 0..=below(4) {
        let at = below(bytes.len() + 1);
        let end = at + below((bytes.len() - at).min(16) + 1);
        match below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << below(8),
            1 if at < bytes.len() => bytes[at] = below(256) as u8,
            2 => bytes.insert(at, below(256) as u8),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                let other = inputs[below(inputs.len())];
                let from = below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_are_bounded_and_many() {
        let mut rng = Rng::new(0, 0);
        let inputs: [&[u8]; 2] = [b"{\"a\": [1, 2]}", b"x"];
        let made: HashSet<Vec<u8>> = (0..100).map(|number| mutant(&inputs, number, &mut rng)).collect();
        assert!(made.len() > 50 && made.contains(&Vec::new()), "{}", made.len());
        assert!(made.iter().all(|bytes| bytes.len() < 200));
        assert!(mutant(&[], 3, &mut rng).is_empty());
    }
}
