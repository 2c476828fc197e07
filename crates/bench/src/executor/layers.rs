//! What each layer of confinement costs.
//!
//! In:  the trivial target, as a plain program, with a fork server, persistent.
//! Out: CPU time of a run with each layer alone, with all and with none, of the
//!      fuzzer and all that it started, and what that is of a run with none.
//!
//! Variants take turns within a round, so that whatever else the machine does
//! meets all of them; ratios are medians of the ratios within rounds. The start
//! of an executor is left out of runs, and told by itself. Runs of the
//! persistent target go in batches, as in campaigns; those of the fork server
//! one by one, since batches need a layer (the pid namespace).

use super::build::Targets;
use super::cost::{campaign, children_micros, own_micros};
use super::median;
use serde::Serialize;
use wug_target::{Confinement, Executor, Options, Target};

/// CPU time with one set of layers, in microseconds, and over that with none.
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

/// How often a round runs each kind of target.
#[derive(Clone, Copy)]
struct Runs {
    spawn: usize,
    fork: usize,
    persistent: usize,
}

/// Medians of rounds, in which the variants take turns.
pub fn measure(targets: &Targets, runs: usize, rounds: usize) -> Result<Vec<Layer>, String> {
    let runs = Runs { spawn: runs / 4, fork: runs, persistent: runs * 40 };
    let variants = variants();
    let mut all: Vec<[Vec<f64>; 7]> = variants.iter().map(|_| Default::default()).collect();
    for round in 0..rounds.max(1) {
        let mut times = vec![[0.0; 4]; variants.len()];
        // Each begins a round in its turn.
        for step in 0..variants.len() {
            let at = (step + round) % variants.len();
            times[at] = once(targets, &variants[at].1, runs)?;
        }
        for (own, kept) in times.iter().zip(&mut all) {
            kept.iter_mut().zip(own).for_each(|(kept, time)| kept.push(*time));
            for kind in 0..3 {
                kept[4 + kind].push(own[kind] / times[0][kind]);
            }
        }
    }
    let layer = |((name, _), kept): ((&'static str, _), [Vec<f64>; 7])| {
        let [spawn, fork, persistent, start, spawn_ratio, fork_ratio, persistent_ratio] = kept.map(median);
        Layer {
            name,
            spawn_us: spawn,
            fork_us: fork,
            persistent_us: persistent,
            start_us: start,
            spawn_ratio,
            fork_ratio,
            persistent_ratio,
        }
    };
    Ok(variants.into_iter().zip(all).map(layer).collect())
}

fn once(targets: &Targets, confinement: &Confinement, runs: Runs) -> Result<[f64; 4], String> {
    let inputs = &targets.inputs;
    let target = |name: &str| Target::new(targets.path(name));
    let one_by_one = |executor: &mut Executor, runs: usize| -> Result<(), String> {
        for input in inputs.iter().cycle().take(runs) {
            executor.run(input).map_err(|error| error.to_string())?;
        }
        Ok(())
    };
    let together = |executor: &mut Executor, runs: usize| campaign(executor, inputs, runs);
    Ok([
        per_run(target("trivial.plain"), confinement, runs.spawn, one_by_one)?,
        per_run(target("trivial.fork.wug"), confinement, runs.fork, one_by_one)?,
        per_run(target("trivial.loop.wug"), confinement, runs.persistent, together)?,
        start(target("trivial.plain"), confinement)?,
    ])
}

fn per_run(
    target: Target,
    confinement: &Confinement,
    runs: usize,
    run: impl Fn(&mut Executor, usize) -> Result<(), String>,
) -> Result<f64, String> {
    let runs = runs.max(10);
    let whole = |runs: usize| -> Result<f64, String> {
        let before = children_micros() + own_micros();
        let mut executor = executor(target.clone(), confinement)?;
        run(&mut executor, runs)?;
        drop(executor);
        Ok(children_micros() + own_micros() - before)
    };
    // The difference leaves the start out.
    Ok((whole(runs)? - whole(runs / 10)?) / (runs - runs / 10) as f64)
}

fn start(target: Target, confinement: &Confinement) -> Result<f64, String> {
    const TIMES: usize = 5;
    let before = children_micros() + own_micros();
    for _ in 0..TIMES {
        drop(executor(target.clone(), confinement)?);
    }
    Ok((children_micros() + own_micros() - before) / TIMES as f64)
}

fn executor(target: Target, confinement: &Confinement) -> Result<Executor, String> {
    let options = Options { confinement: confinement.clone(), ..Options::default() };
    Executor::new(target, options).map_err(|error| error.to_string())
}
