//! Several inputs by one word to the target.
//!
//! In:  inputs, and what was seen so far.
//! Out: the first of them that is of interest, and its [`Observation`].
//!
//! Two switches between processes are most of what a short run costs, and a
//! tenth of what a fork costs, and nearly all runs tell nothing new. So a
//! target of `wug cc`, its persistent child or its fork server, runs a batch by
//! itself, compares its counts with those that were seen, and answers at the
//! first that differs, that does not end well (that a target rejects it does
//! not count), or that is the last. All others are run one by one, and the
//! caller need not know: those of AFL++, traced builds, targets whose memory is
//! bounded, those of which a run left files behind, for a while, and fork
//! servers whose children are not numbered in a row.

use super::Executor;
use super::error::Error;
use super::observation::Observation;
use super::server::{Link, Reply, Server};
use super::spawn::Run;
use super::verdict::Verdict;
use std::ops::Range;

/// Inputs, laid out as the target reads them: a length and the bytes of each,
/// from a multiple of 8 on.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

const ALIGNED: usize = 8;

impl Batch {
    /// Adds an input.
    pub fn push(&mut self, input: &[u8]) {
        let start = self.bytes.len() + size_of::<u32>();
        // Longer ones than a word can tell are run on their own.
        self.bytes.extend((input.len() as u32).to_ne_bytes());
        self.bytes.extend_from_slice(input);
        self.places.push(start..self.bytes.len());
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNED), 0);
    }

    /// An input.
    pub fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.places[at].clone()]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Bytes of all inputs, lengths included.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// The bytes from an input on, of as many inputs as fit, `most` at most, and
    /// how many.
    fn part(&self, from: usize, room: usize, longest: usize, most: usize) -> (&[u8], usize) {
        let start = self.places[from].start - size_of::<u32>();
        let fits = |place: &&Range<usize>| {
            place.end.next_multiple_of(ALIGNED) - start <= room && place.len() <= longest
        };
        let count = self.places[from..].iter().take(most).take_while(fits).count();
        let end =
            self.places[from..].get(count).map_or(self.bytes.len(), |next| next.start - size_of::<u32>());
        (&self.bytes[start..end], count)
    }
}

impl Executor {
    /// Runs the inputs of a batch from a place on, up to the first that
    /// reaches what is not in `seen` (classes of counts as bits, by id), that
    /// does not end well, or that is the last. Its place, and what was seen
    /// of it; time is the mean of those that were run.
    ///
    /// # Panics
    /// If there is no input at that place.
    pub fn run_batch(
        &mut self,
        batch: &Batch,
        from: usize,
        seen: &[u8],
    ) -> Result<(usize, Observation<'_>), Error> {
        let mut at = from;
        self.prove(&[batch.get(from)])?;
        if let Some((done, run)) = self.together(batch, from, seen)? {
            at = from + done;
            if let Some(run) = run {
                return Ok((at, self.observation(run.verdict, run)));
            }
        }
        Ok((at, self.run(batch.get(at))?))
    }

    /// Runs inputs together, if the target can. How many ended without news,
    /// and what became of the next; nothing, if it has to be run alone.
    fn together(
        &mut self,
        batch: &Batch,
        from: usize,
        seen: &[u8],
    ) -> Result<Option<(usize, Option<Run>)>, Error> {
        if !self.driver.is_served() || self.options.trace.is_some() || self.options.memory.is_some() {
            return Ok(None);
        }
        // The watchdog ends a batch that takes much longer than one run may.
        let half = self.options.timeout.as_nanos() / 2;
        let most = usize::try_from(half / self.driver.pace.as_nanos().max(1)).unwrap_or(usize::MAX);
        if self.driver.litter.is_likely() {
            return Ok(None);
        }
        let orderly = self.warden.pid_namespace;
        let can = |server: &&mut Server| server.runs() && server.batches && (server.persistent || orderly);
        let Some(server) = self.driver.server_mut().filter(can) else {
            return Ok(None);
        };
        let Link::Native(board) = &server.link else { return Ok(None) };
        let board = board.clone();
        let longest = if server.shared_input { board.input_capacity() as usize } else { usize::MAX };
        let (bytes, count) = batch.part(from, board.batch_room(), longest, most);
        if count < 2 {
            return Ok(None);
        }
        board.put_batch(bytes, count as u32, seen);
        let (reply, begin) = server.run();
        let wall = begin.elapsed();
        let cpu = server.cpu(wall);
        let done = (board.batch_at() as usize).min(count - 1);
        board.end_batch();
        self.input.written();
        let lost = !server.runs();
        let verdict = match reply {
            Reply::Status(status) => Verdict::of_status(status, &self.crash_codes),
            // How long the last one took is not known: it gets its own time.
            Reply::Timeout => {
                self.warden.settle()?;
                self.take_records();
                return Ok(Some((done, None)));
            }
            Reply::Lost => {
                self.warden.kill_all()?;
                self.take_records();
                return Ok(Some((done, None)));
            }
        };
        if lost {
            self.warden.kill_all()?;
        }
        self.take_records();
        let runs = done as u32 + 1;
        let run = Run { verdict, wall: wall / runs, cpu: cpu.map(|cpu| cpu / runs) };
        self.driver.pace = run.wall.max(self.driver.pace / 8 * 7);
        let disturbed = self.clean_up(verdict, runs)?;
        if self.driver.litter.is_likely() {
            // Files of one run were there for the next: all are made again.
            return Ok(Some((0, None)));
        }
        Ok(Some((done, (!disturbed).then_some(run))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_holds_whole_inputs_that_fit() {
        wug_property::check(|u| {
            let inputs: Vec<Vec<u8>> = u.arbitrary()?;
            let mut batch = Batch::default();
            inputs.iter().for_each(|input| batch.push(input));
            assert_eq!(batch.len(), inputs.len());
            for (at, input) in inputs.iter().enumerate() {
                assert_eq!(batch.get(at), input);
                let (room, longest) = (u.int_in_range(0..=200)?, u.int_in_range(0..=50)?);
                let most = u.int_in_range(0..=20)?;
                let (bytes, count) = batch.part(at, room, longest, most);
                assert!(bytes.len() <= room && bytes.len() % ALIGNED == 0);
                let mut rest = bytes;
                for input in &inputs[at..at + count] {
                    let (length, tail) = rest.split_first_chunk().expect("a length");
                    assert_eq!(u32::from_ne_bytes(*length) as usize, input.len());
                    assert!(tail.starts_with(input) && input.len() <= longest);
                    rest = &rest[(input.len() + 4).next_multiple_of(ALIGNED)..];
                }
                assert!(rest.is_empty());
                // As many as there can be.
                if let Some(next) = inputs.get(at + count) {
                    let size = (next.len() + 4).next_multiple_of(ALIGNED);
                    assert!(bytes.len() + size > room || next.len() > longest || count == most);
                }
            }
            Ok(())
        })
        .for_cases(1_000);
    }
}
