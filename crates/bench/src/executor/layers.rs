//! What each layer of confinement costs: a run in a process of its own, a
//! run by the fork server, and the start of an executor, with the layers
//! switched off one by one.

use super::build::Targets;
use super::cost::{children_micros, own_micros};
use super::median;
use serde::Serialize;
use wug_target::{Confinement, Executor, Options, Target};

/// CPU time with one set of layers, in microseconds.
#[derive(Serialize)]
pub struct Layer {
    pub name: &'static str,
    pub spawn_us: f64,
    pub fork_us: f64,
    pub start_us: f64,
}

fn variants() -> [(&'static str, Confinement); 6] {
    let all = Confinement::default;
    [
        ("all layers", all()),
        ("without namespaces", Confinement { namespaces: false, ..all() }),
        ("without another user", Confinement { user: false, ..all() }),
        ("without Landlock", Confinement { landlock: false, ..all() }),
        ("without limits", Confinement { limits: false, ..all() }),
        ("none", Confinement::none()),
    ]
}

/// Medians of rounds, in which the variants take turns.
pub fn measure(targets: &Targets, runs: usize, rounds: usize) -> Result<Vec<Layer>, String> {
    let plain = targets.path("trivial.plain");
    let server = targets.path("trivial.fork.wug");
    let input = &targets.inputs[0];
    let mut all: Vec<[Vec<f64>; 3]> = variants().iter().map(|_| Default::default()).collect();
    for _ in 0..rounds.max(1) {
        for ((_, confinement), times) in variants().into_iter().zip(&mut all) {
            times[0].push(per_run(Target::new(&plain), &confinement, input, runs / 4)?);
            times[1].push(per_run(Target::new(&server), &confinement, input, runs)?);
            times[2].push(start(Target::new(&plain), &confinement)?);
        }
    }
    let layer = |((name, _), [spawn, fork, start]): ((&'static str, _), [Vec<f64>; 3])| Layer {
        name,
        spawn_us: median(spawn),
        fork_us: median(fork),
        start_us: median(start),
    };
    Ok(variants().into_iter().zip(all).map(layer).collect())
}

fn per_run(target: Target, confinement: &Confinement, input: &[u8], runs: usize) -> Result<f64, String> {
    let runs = runs.max(10);
    let whole = |runs: usize| -> Result<f64, String> {
        let before = children_micros() + own_micros();
        let mut executor = executor(target.clone(), confinement)?;
        for _ in 0..runs {
            executor.run(input).map_err(|error| error.to_string())?;
        }
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
