//! What a run showed.

use super::verdict::Verdict;
use std::fmt;
use std::time::Duration;
use wug_runtime::abi::Event;

/// What a run showed. The views hold until the next run.
#[derive(Clone, Copy)]
pub struct Observation<'a> {
    /// How it ended.
    pub verdict: Verdict,
    /// From handing over the input until the end.
    pub wall: Duration,
    /// User and system time of the target, where it was measured: not for
    /// AFL++'s builds, whose fork server alone knows it and does not tell.
    pub cpu: Option<Duration>,
    /// How often each id was hit, by its number; empty without
    /// instrumentation. Only ids that the target has.
    pub coverage: &'a [u8],
    /// What a traced build logged: comparisons and the like, the last ones
    /// if there were too many. Written by the target: nothing in it is sure.
    pub events: &'a [Event],
    /// Pairs of blocks in the order in which they were first seen, of a
    /// traced build.
    pub pairs: &'a [u32],
    /// The deepest stack that an event saw, in frames.
    pub depth: u32,
    /// What it wrote, up to the bound; empty if output is not captured.
    pub output: &'a [u8],
}

impl fmt::Debug for Observation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observation")
            .field("verdict", &self.verdict)
            .field("wall", &self.wall)
            .field("cpu", &self.cpu)
            .field("hit", &super::coverage::hit_count(self.coverage))
            .field("events", &self.events.len())
            .finish_non_exhaustive()
    }
}
