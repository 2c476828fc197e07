//! The figures of `--stats`.

use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wug_produce::{Program, Scratch};

/// One JSON object.
#[derive(Serialize)]
pub struct Stats {
    pub engine: &'static str,
    pub why: &'static str,
    pub seed: u64,
    pub threads: usize,
    pub inputs: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub setup_seconds: f64,
    pub mib_per_s: f64,
    pub mean: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub max: u64,
    /// The mean that theory gives, the size limit aside; null beyond all numbers.
    pub expected_mean: Option<f64>,
    /// Share of the alternatives of the author's rules that were used; null
    /// if the engine does not note them.
    pub alternatives_used: Option<f64>,
    /// Inputs drawn again because their tokens ran together.
    pub redrawn: u64,
}

/// Lengths below this are counted in an array.
const SHORT: u64 = 1 << 14;

/// How many inputs had each length: bounded by the size limit, however many
/// inputs there are.
#[derive(Default)]
pub struct Lengths {
    /// Of short inputs, by length.
    short: Vec<u64>,
    counts: BTreeMap<u64, u64>,
    pub inputs: u64,
    pub bytes: u64,
}

impl Lengths {
    /// One more input.
    pub fn add(&mut self, length: u64) {
        match self.short.get_mut(length as usize) {
            Some(count) => *count += 1,
            None if length < SHORT => {
                self.short.resize(SHORT as usize, 0);
                self.short[length as usize] += 1;
            }
            None => *self.counts.entry(length).or_default() += 1,
        }
        self.inputs += 1;
        self.bytes += length;
    }

    /// The length that a share `q` of the inputs does not pass.
    pub fn quantile(&self, q: f64) -> u64 {
        let wanted = (self.inputs.saturating_sub(1) as f64 * q).round() as u64;
        let mut seen = 0;
        let short = (0..).zip(self.short.iter().copied());
        for (length, count) in short.chain(self.counts.iter().map(|(&length, &count)| (length, count))) {
            seen += count;
            if seen > wanted {
                return length;
            }
        }
        0
    }
}

/// Share of the alternatives, groups included, of rules that a person
/// wrote, that any of the producers used.
pub fn used_share(program: &Program, scratches: &[Scratch]) -> f64 {
    let (mut used, mut all) = (0u64, 0u64);
    let grammar = &program.grammar;
    for rule in grammar.rules().filter(|&r| grammar.rule(r).costs_depth()) {
        grammar.bodies_within(grammar.rule(rule).body, &mut |body| {
            for alt in grammar.alternatives(body) {
                all += 1;
                let any = scratches.iter().any(|s| s.used.get(alt.index()).copied().unwrap_or(false));
                used += u64::from(any);
            }
        });
    }
    used as f64 / all.max(1) as f64
}

/// Wall and CPU time since a moment.
pub struct Clock {
    wall: Instant,
    cpu: Duration,
}

impl Clock {
    /// From now on.
    pub fn start() -> Clock {
        Clock { wall: Instant::now(), cpu: cpu_time() }
    }

    /// Time that passed.
    pub fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    /// Time that this process spent, all threads together.
    pub fn cpu(&self) -> Duration {
        cpu_time().saturating_sub(self.cpu)
    }
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
