//! What each layer of confinement costs.
//!
//! In:  the trivial target, as a plain program, with a fork server, persistent.
//! Out: time of a run with each layer alone, with all and with none, and what
//!      that is of a run with none.
//!
//! In a round every variant has an executor, all alive at once, and they take
//! turns in slices of some milliseconds, so that whatever else the machine does
//! meets all of them. A ratio is that of two slices of one turn; its median is
//! over all turns of all rounds. A new round starts new executors, so that luck
//! with cores and addresses does not stay with a variant. Slices are too short
//! for the system's accounts of CPU time, which tell of processes that ended;
//! so it is time on the clock. Runs of the persistent target go in batches, as
//! in campaigns; those of the fork server one by one, since batches need a
//! layer (the pid namespace).

use super::build::Targets;
use super::cost::campaign;
use super::median;
use serde::Serialize;
use std::time::Instant;
use wug_target::{Confinement, Executor, Options, Target};

/// Time of a run with one set of layers, in microseconds, and over that with none.
#[derive(Serialize)]
pub struct Layer {
    pub name: &'static str,
    pub spawn_us: f64,
    pub fork_us: f64,
    pub persistent_us: f64,
    pub start_us: f64,
    pub spawn_ratio: f64,
    pub fork_ratio: f64,
    pub persistent_ratio: f64,
}

/// The first is what the others are compared with.
fn variants() -> [(&'static str, Confinement); 9] {
    let none = Confinement::none;
    let namespaces = || Confinement { namespaces: true, ..none() };
    [
        ("none", none()),
        // Once more: what differs from 1 here is noise.
        ("none, once more", none()),
        ("pid, network, IPC namespaces", Confinement { view: false, ..namespaces() }),
        ("the same and a file-system view", namespaces()),
        ("another user", Confinement { user: true, ..none() }),
        ("Landlock", Confinement { landlock: true, ..none() }),
        ("seccomp", Confinement { seccomp: true, ..none() }),
        ("limits", Confinement { limits: true, ..none() }),
        ("all layers", Confinement::default()),
    ]
}

/// How long a slice is, of runs of each kind, and how many turns a round has.
const TURNS: usize = 40;

/// Times of one variant, one for each turn.
#[derive(Clone, Default)]
struct Times {
    runs: [Vec<f64>; 3],
    ratios: [Vec<f64>; 3],
    start: Vec<f64>,
}

/// Medians of turns, of which each round has the same number.
pub fn measure(targets: &Targets, runs: usize, rounds: usize) -> Result<Vec<Layer>, String> {
    let variants = variants();
    let mut all = vec![Times::default(); variants.len()];
    let slice = [(runs / 80).max(2), (runs / 20).max(5), (runs * 10).max(100)];
    for round in 0..rounds.max(1) {
        for (kind, runs) in slice.into_iter().enumerate() {
            let mut executors = Vec::new();
            for ((_, confinement), times) in variants.iter().zip(&mut all) {
                let before = Instant::now();
                executors.push(executor(kind, targets, confinement)?);
                if kind == 0 {
                    times.start.push(micros(before));
                }
            }
            for turn in 0..TURNS {
                let mut turns = vec![0.0; variants.len()];
                // Each begins a turn in its turn.
                for step in 0..variants.len() {
                    let at = (step + turn + round) % variants.len();
                    turns[at] = slice_of(kind, &mut executors[at], targets, runs)?;
                }
                for (times, own) in all.iter_mut().zip(&turns) {
                    times.runs[kind].push(*own);
                    times.ratios[kind].push(own / turns[0]);
                }
            }
        }
    }
    let layer = |((name, _), times): ((&'static str, _), Times)| {
        let [spawn_us, fork_us, persistent_us] = times.runs.map(median);
        let [spawn_ratio, fork_ratio, persistent_ratio] = times.ratios.map(median);
        let start_us = median(times.start);
        Layer { name, spawn_us, fork_us, persistent_us, start_us, spawn_ratio, fork_ratio, persistent_ratio }
    };
    Ok(variants.into_iter().zip(all).map(layer).collect())
}

/// Microseconds of a run, in a slice of several.
fn slice_of(kind: usize, executor: &mut Executor, targets: &Targets, runs: usize) -> Result<f64, String> {
    let before = Instant::now();
    if kind == 2 {
        campaign(executor, &targets.inputs, runs)?;
    } else {
        for input in targets.inputs.iter().cycle().take(runs) {
            executor.run(input).map_err(|error| error.to_string())?;
        }
    }
    Ok(micros(before) / runs as f64)
}

fn micros(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}

fn executor(kind: usize, targets: &Targets, confinement: &Confinement) -> Result<Executor, String> {
    let target = Target::new(targets.path(["trivial.plain", "trivial.fork.wug", "trivial.loop.wug"][kind]));
    let options = Options { confinement: confinement.clone(), ..Options::default() };
    Executor::new(target, options).map_err(|error| error.to_string())
}
