//! `automata-bench [--rounds N] [--json] [FILE]`: walks over a grammar
//! automaton, and mutations of them, beside LibAFL's Gramatron, on the same
//! automaton file, on the same inputs and in turns.
//!
//! Without a file, the automaton is that of a made-up grammar in the shape of
//! the paper's smallest one, with a stack limit of 7. Inputs to mutate are
//! walks of ours, 50 as they are drawn and 50 of 10 to 80 steps; LibAFL gets
//! the same ones (`theirs.rs`). Each measurement makes the walk and its bytes
//! (LibAFL: `mutate` and `unparse`). Times are CPU times of this thread for
//! each byte made, since the two draw mutations differently, so that their
//! results differ in length; medians of rounds, and the ratio of the medians.
//!
//! Three ratios. `times` compares mutations of inputs that are ready to be
//! mutated: for ours that is a trace of the walk, for LibAFL's an own copy of the
//! input, in which each step has its state and text. `whole` begins on both sides
//! with an input of the corpus: ours with four bytes a step, LibAFL's with the
//! copy, the release of which counts, too. `ours` counts that for ours alone.

mod theirs;

use std::time::Duration;
use theirs::{Peer, clock_cost};
use wug_automata::{
    Automaton, Built, Form, Limits, Mutant, Pool, Step, Trace, Tracer, Walker, Weight, shapes,
};
use wug_grammar::{Notation, load::load_text};
use wug_random::Rng;

/// Inputs made in each round.
const INPUTS: usize = 500;
/// Walks that are mutated, and spliced from.
const CORPUS: usize = 50;
/// No input of ours is longer; LibAFL has no limit.
const MAX: u32 = 1 << 20;
/// Steps of short inputs, as terminals in the paper's Table 2.
const SHORT: std::ops::RangeInclusive<usize> = 10..=80;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Generate,
    Random,
    Splice,
    Recursion,
}

/// Bytes made, and seconds for them.
#[derive(Clone, Copy, Default)]
struct Cost {
    bytes: u64,
    seconds: f64,
}

impl Cost {
    /// Nanoseconds for a byte.
    fn each(self) -> f64 {
        self.seconds.max(1e-9) * 1e9 / self.bytes.max(1) as f64
    }
}

/// The two on one set of inputs.
struct Contest<'a> {
    walker: &'a Walker<'a>,
    tracer: Tracer<'a>,
    traces: Vec<Trace>,
    pool: Pool,
    peer: Peer<'a>,
    rng: Rng,
    mutant: Mutant,
    again: Trace,
}

impl<'a> Contest<'a> {
    fn new(
        walker: &'a Walker<'a>,
        file: &'a theirs::File,
        lengths: std::ops::RangeInclusive<usize>,
    ) -> Contest<'a> {
        let mut rng = Rng::new(1, *lengths.start() as u64);
        let mut tracer = Tracer::new(walker);
        let (mut traces, mut pool, mut walks) = (Vec::new(), Pool::default(), Vec::<Vec<Step>>::new());
        while traces.len() < CORPUS {
            let (mut walk, mut out, mut trace) = (Vec::new(), Vec::new(), Trace::default());
            walker.walk(&mut || rng.wide(), MAX, &mut walk, &mut out).expect("it is short");
            if lengths.contains(&walk.len()) {
                assert!(tracer.trace(&walk, &mut trace) && pool.add(&trace));
                traces.push(trace);
                walks.push(walk);
            }
        }
        let peer = Peer::new(file, walker.automaton(), &walks);
        for (trace, bytes) in traces.iter().zip(peer.texts()) {
            assert_eq!(trace.bytes(), bytes, "the same inputs");
        }
        let (mutant, again) = (Mutant::default(), Trace::default());
        Contest { walker, tracer, traces, pool, peer, rng, mutant, again }
    }

    /// Makes inputs; `anew` takes the walk's steps alone, and traces them if
    /// the mutation needs that.
    fn ours(&mut self, what: What, anew: bool) -> Cost {
        let begin = cpu();
        let mut bytes = 0;
        let random = &mut || self.rng.wide();
        for i in 0..INPUTS {
            let (trace, into) = (&self.traces[i % CORPUS], &mut self.mutant);
            let plain = self.walker.untraced(trace.steps());
            let made = match (what, anew) {
                (What::Generate, _) => {
                    into.bytes.clear();
                    self.walker.walk(random, MAX, &mut into.steps, &mut into.bytes).is_ok()
                }
                (What::Random, false) => self.walker.random(trace, random, MAX, into),
                (What::Random, true) => plain.random(random, MAX, into),
                (What::Splice, false) => trace.splice(&self.pool, random, MAX, into),
                (What::Splice, true) => plain.splice(&self.pool, random, MAX, into),
                (What::Recursion, false) => trace.recurse(random, MAX, into),
                (What::Recursion, true) => {
                    assert!(self.tracer.trace(trace.steps(), &mut self.again));
                    self.again.recurse(random, MAX, into)
                }
            };
            bytes += if made { into.bytes.len() as u64 } else { 0 };
        }
        Cost { bytes, seconds: (cpu() - begin).as_secs_f64() }
    }

    /// Runs all rounds of one measurement.
    fn run(&mut self, what: What, rounds: usize) -> serde_json::Value {
        let mut columns: [Vec<f64>; 4] = Default::default();
        let (mut bytes, mut theirs_bytes) = (0, 0);
        // The first round warms up both.
        for round in 0..=rounds {
            let ours = self.ours(what, false);
            let (theirs, theirs_whole) = self.peer.measure(what, INPUTS, clock_cost());
            let anew = if what == What::Generate { ours } else { self.ours(what, true) };
            if round > 0 {
                bytes += ours.bytes;
                theirs_bytes += theirs.bytes;
                for (column, cost) in columns.iter_mut().zip([ours, anew, theirs, theirs_whole]) {
                    column.push(cost.each());
                }
            }
        }
        let [ours, anew, theirs, whole] = columns.map(median);
        let mean = |bytes: u64| bytes as f64 / (rounds * INPUTS) as f64;
        serde_json::json!({
            "what": format!("{what:?}").to_lowercase(),
            "bytes": mean(bytes), "libafl_bytes": mean(theirs_bytes),
            "ns_a_byte": ours, "ns_a_byte_from_steps": anew,
            "libafl_ns_a_byte": theirs, "libafl_ns_a_byte_with_copy": whole,
            "times": theirs / ours, "times_whole": whole / anew, "times_ours_whole": theirs / anew,
        })
    }
}

fn main() {
    let (mut rounds, mut json_wanted, mut path) = (9usize, false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => rounds = arguments.next().and_then(|n| n.parse().ok()).expect("--rounds N"),
            "--json" => json_wanted = true,
            _ => path = Some(argument),
        }
    }
    let json = match path {
        Some(path) => std::fs::read(path).expect("a file"),
        None => shape(),
    };
    let ours = Automaton::from_json(&json).expect("an automaton");
    let file = theirs::File::new(&json);
    let walker = Walker::new(&ours, Weight::One);
    let mut rows = Vec::new();
    let all = [What::Generate, What::Random, What::Splice, What::Recursion];
    for (inputs, lengths, measured) in [("as drawn", 1..=usize::MAX, &all[..]), ("short", SHORT, &all[1..])] {
        let mut contest = Contest::new(&walker, &file, lengths);
        for &what in measured {
            let mut row = contest.run(what, rounds);
            row["inputs"] = inputs.into();
            rows.push(row);
        }
    }
    let (states, transitions) = (ours.states().len(), ours.unit_transitions());
    if json_wanted {
        let report =
            serde_json::json!({"states": states, "transitions": transitions, "rounds": rounds, "rows": rows});
        return println!("{report}");
    }
    println!("{states} states, {transitions} transitions; walker {} KiB", walker.bytes() / 1024);
    println!(
        "{:>9} {:>10} {:>9} {:>9} {:>8} {:>9} {:>9} {:>9} {:>7} {:>7} {:>7}",
        "inputs", "", "bytes", "LibAFL", "ns/byte", "steps", "LibAFL", "with copy", "times", "whole", "ours"
    );
    for row in rows {
        let number = |name: &str| row[name].as_f64().unwrap_or(0.0);
        println!(
            "{:>9} {:>10} {:>9.1} {:>9.1} {:>8.3} {:>9.3} {:>9.3} {:>9.3} {:>7.1} {:>7.1} {:>7.1}",
            row["inputs"].as_str().unwrap_or(""),
            row["what"].as_str().unwrap_or(""),
            number("bytes"),
            number("libafl_bytes"),
            number("ns_a_byte"),
            number("ns_a_byte_from_steps"),
            number("libafl_ns_a_byte"),
            number("libafl_ns_a_byte_with_copy"),
            number("times"),
            number("times_whole"),
            number("times_ours_whole"),
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn shape() -> Vec<u8> {
    let grammar = load_text("shape.wug", &shapes::grammar(171), Notation::Wug).expect("a grammar").grammar;
    let built = Built::new(Form::of(&grammar).expect("a form"), Limits::with_stack(7)).expect("small");
    built.automaton.to_json().expect("text").json.into_bytes()
}
