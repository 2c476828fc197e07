//! A run in a new process, without any help of the target.

use super::Executor;
use super::error::Error;
use super::target::Output;
use super::verdict::Verdict;
use super::warden::{Command, Ended};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// How one run went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub verdict: Verdict,
    pub wall: Duration,
    pub cpu: Option<Duration>,
}

/// For a process that was killed to be gone.
const GRACE: Duration = Duration::from_secs(20);

impl Executor {
    /// Runs the input that was put, in a process of its own.
    pub(super) fn spawn(&mut self) -> Result<Run, Error> {
        self.output.clear();
        let bound = self.output_bound();
        let begin = Instant::now();
        let started = self.warden.start(if bound.is_some() { Command::OUTPUT } else { 0 })?;
        let mut pipe = started.pipes.into_iter().next().map(File::from);
        let deadline = begin + self.options.timeout;
        let ended = self.await_end(&mut pipe, bound.unwrap_or(0), deadline)?;
        let wall = begin.elapsed();
        let (ended, timeout) = match ended {
            Some(ended) => (ended, false),
            None => match self.warden.kill_all()? {
                Some(ended) => (ended, true),
                None => {
                    return Err(Error::System {
                        doing: "end the target",
                        source: std::io::ErrorKind::TimedOut.into(),
                    });
                }
            },
        };
        // All writers are gone: what is left in the pipe ends.
        if let (Some(pipe), Some(bound)) = (&mut pipe, bound) {
            while self.drain(pipe, bound)? {}
        }
        let verdict = if timeout { Verdict::Timeout } else { self.verdict(ended.status) };
        Ok(Run { verdict, wall, cpu: Some(ended.cpu) })
    }

    /// Waits for the target's end and takes in what it writes. None when its
    /// time is up.
    fn await_end(
        &mut self,
        pipe: &mut Option<File>,
        bound: usize,
        deadline: Instant,
    ) -> Result<Option<Ended>, Error> {
        loop {
            let warden = self.warden.descriptor();
            // Twice the warden, if there is nothing else to wait for.
            let output = pipe.as_ref().map_or(warden, |pipe| pipe.as_raw_fd());
            let waited = self.options.end.readable([warden, output], deadline);
            match waited.map_err(Error::system("wait for the target"))? {
                None => return Ok(None),
                Some([true, _]) => return self.warden.ended(GRACE),
                Some(_) => {
                    // At its end, the pipe would always be ready.
                    if let Some(file) = pipe
                        && !self.drain(file, bound)?
                    {
                        *pipe = None;
                    }
                }
            }
        }
    }

    /// Takes in what is in the pipe, up to the bound; false at its end.
    fn drain(&mut self, pipe: &mut File, bound: usize) -> Result<bool, Error> {
        let mut buffer = [0; 16 << 10];
        let got = match pipe.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(true),
            got => got.map_err(Error::system("read the target's output"))?,
        };
        let room = bound.saturating_sub(self.output.len());
        self.output.extend_from_slice(&buffer[..got.min(room)]);
        Ok(got > 0)
    }

    /// The bound on captured output, if it is captured.
    fn output_bound(&self) -> Option<usize> {
        match self.options.output {
            Output::Capture(bound) => Some(bound),
            _ => None,
        }
    }

    pub(super) fn verdict(&self, status: i32) -> Verdict {
        Verdict::of_status(status, &self.crash_codes)
    }
}
