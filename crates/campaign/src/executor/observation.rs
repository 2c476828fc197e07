//! What a run showed.

use super::verdict::Verdict;
use std::time::Duration;

/// What a run showed. The views hold until the next run.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// How it ended.
    pub verdict: Verdict,
    /// From handing over the input until the end.
    pub wall: Duration,
    /// User and system time of the target, where it was measured.
    pub cpu: Option<Duration>,
    /// How often each id was hit, by its number; empty without
    /// instrumentation. Only ids that the target has.
    pub coverage: &'a [u8],
    /// What it wrote, up to the bound; empty if output is not captured.
    pub output: &'a [u8],
}
