//! `automata-bench [FILE]`: walks over a grammar automaton, and mutations of
//! them, beside LibAFL's Gramatron, on the same automaton file and in turns.
//!
//! Without a file, the automaton is that of a made-up grammar in the shape of
//! the paper's smallest one, with a stack limit of 7. Each measurement makes
//! the walk and its bytes (LibAFL: `unparse`). The figure is the ratio of CPU
//! times for each byte made, the median of rounds: mutations of the two are
//! drawn differently, so their results differ in length.

use libafl::corpus::{Corpus, InMemoryCorpus, Testcase};
use libafl::feedbacks::ConstFeedback;
use libafl::generators::Generator;
use libafl::generators::gramatron::{Automaton as Theirs, GramatronGenerator, Trigger};
use libafl::inputs::GramatronInput;
use libafl::mutators::{
    GramatronIdxMapMetadata, GramatronRandomMutator, GramatronRecursionMutator, GramatronSpliceMutator,
    Mutator as _,
};
use libafl::state::{HasCorpus, StdState};
use libafl_bolts::rands::StdRand;
use libafl_bolts::serdeany::RegistryBuilder;
use std::time::Duration;
use wug_automata::{Automaton, Built, Form, Limits, Mutator, Pool, Step, Walker, Weight, shapes};
use wug_grammar::{Notation, load::load_text};
use wug_produce::rng::Rng;

const ROUNDS: usize = 5;
/// Inputs made in each round.
const INPUTS: usize = 100;
/// Walks that are mutated, and spliced from.
const CORPUS: usize = 50;
/// No input of ours is longer; LibAFL has no limit.
const MAX: u32 = 1 << 20;

type State =
    StdState<InMemoryCorpus<GramatronInput>, GramatronInput, StdRand, InMemoryCorpus<GramatronInput>>;

fn main() {
    // SAFETY: nothing else runs yet; LibAFL asks for this before the type is
    // first used.
    unsafe { RegistryBuilder::register::<GramatronIdxMapMetadata>() };
    let json = match std::env::args().nth(1) {
        Some(path) => std::fs::read(path).expect("a file"),
        None => shape(),
    };
    let ours = Automaton::from_json(&json).expect("an automaton");
    let theirs = translate(&json);
    println!("{} states, {} transitions", ours.states().len(), ours.unit_transitions());
    let walker = Walker::new(&ours, Weight::One);
    let mut mutator = Mutator::new(&walker);
    let mut rng = Rng::new(1, 1);
    let random = &mut || rng.wide();

    let mut state = state();
    let mut generator = GramatronGenerator::new(&theirs);
    let (mut pool, mut walks): (Pool, Vec<Vec<Step>>) = (Pool::default(), Vec::new());
    let mut inputs: Vec<GramatronInput> = Vec::new();
    while walks.len() < CORPUS {
        let (mut walk, mut out) = (Vec::new(), Vec::new());
        walker.walk(random, MAX, &mut walk, &mut out).expect("it is short");
        assert!(pool.add(&ours, &walk));
        walks.push(walk);
        let input = generator.generate(&mut state).expect("an input");
        state.corpus_mut().add(Testcase::new(input.clone())).expect("room");
        inputs.push(input);
    }
    let mut results: [Vec<f64>; 4] = Default::default();
    let (mut into, mut out, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let for_random = GramatronGenerator::new(&theirs);
    let mut random_mutator = GramatronRandomMutator::new(&for_random);
    let (mut splice, mut recursion) = (GramatronSpliceMutator::new(), GramatronRecursionMutator::new());
    let mut lines = [(0u64, 0.0, 0u64, 0.0); 4];
    for _ in 0..ROUNDS {
        for which in 0..4 {
            let begin = cpu();
            let mut made = 0u64;
            for i in 0..INPUTS {
                let walk = &walks[i % CORPUS];
                let done = match which {
                    0 => {
                        out.clear();
                        walker.walk(random, MAX, &mut into, &mut out).is_ok()
                    }
                    1 => mutator.random(walk, random, MAX, &mut into, &mut out),
                    2 => mutator.splice(walk, &pool, random, MAX, &mut into, &mut out),
                    _ => mutator.recurse(walk, random, MAX, &mut into, &mut out),
                };
                made += if done { out.len() as u64 } else { 0 };
            }
            let mine = (cpu() - begin).as_secs_f64();
            let (mut time, mut theirs_made) = (Duration::ZERO, 0u64);
            for i in 0..INPUTS {
                // What a fuzzer does before a mutation: a copy, not timed.
                let mut input =
                    if which == 0 { GramatronInput::default() } else { inputs[i % CORPUS].clone() };
                let begin = cpu();
                match which {
                    0 => input = generator.generate(&mut state).expect("an input"),
                    1 => drop(random_mutator.mutate(&mut state, &mut input)),
                    2 => drop(splice.mutate(&mut state, &mut input)),
                    _ => drop(recursion.mutate(&mut state, &mut input)),
                }
                input.unparse(&mut bytes);
                time += cpu() - begin;
                theirs_made += bytes.len() as u64;
            }
            let theirs = (time.as_secs_f64() - clock_cost() * INPUTS as f64).max(1e-9);
            results[which].push((theirs / theirs_made as f64) / (mine / made as f64));
            lines[which].0 += made;
            lines[which].1 += mine;
            lines[which].2 += theirs_made;
            lines[which].3 += theirs;
        }
    }
    println!(
        "{:>10} {:>12} {:>12} {:>14} {:>14} {:>8}",
        "", "bytes each", "LibAFL", "ns a byte", "LibAFL", "times"
    );
    for (which, name) in ["generate", "random", "splice", "recursion"].into_iter().enumerate() {
        let (made, mine, theirs_made, theirs) = lines[which];
        let each = |bytes: u64| bytes as f64 / (ROUNDS * INPUTS) as f64;
        results[which].sort_unstable_by(f64::total_cmp);
        println!(
            "{name:>10} {:>12.1} {:>12.1} {:>14.2} {:>14.2} {:>8.1}",
            each(made),
            each(theirs_made),
            mine * 1e9 / made as f64,
            theirs * 1e9 / theirs_made as f64,
            results[which][ROUNDS / 2]
        );
    }
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What it costs to look at the clock, in seconds.
fn clock_cost() -> f64 {
    let begin = cpu();
    for _ in 0..1_000 {
        std::hint::black_box(cpu());
    }
    (cpu() - begin).as_secs_f64() / 1_000.0
}

fn state() -> State {
    let (mut feedback, mut objective) = (ConstFeedback::new(false), ConstFeedback::new(false));
    StdState::new(
        StdRand::with_seed(1),
        InMemoryCorpus::new(),
        InMemoryCorpus::new(),
        &mut feedback,
        &mut objective,
    )
    .expect("a state")
}

fn shape() -> Vec<u8> {
    let grammar = load_text("shape.wug", &shapes::grammar(171), Notation::Wug).expect("a grammar").grammar;
    let built = Built::new(Form::of(&grammar).expect("a form"), Limits::with_stack(7)).expect("small");
    built.automaton.to_json().expect("text").json.into_bytes()
}

/// The same automaton as LibAFL holds it.
fn translate(json: &[u8]) -> Theirs {
    let file: serde_json::Value = serde_json::from_slice(json).expect("JSON");
    let number =
        |value: &serde_json::Value| -> usize { value.as_str().expect("a state").parse().expect("a number") };
    let (init_state, final_state) = (number(&file["init_state"]), number(&file["final_state"]));
    let mut pda = vec![Vec::new(); file["numstates"].as_u64().expect("a number") as usize];
    for (state, row) in file["pda"].as_object().expect("states") {
        let state: usize = state.parse().expect("a number");
        for transition in row.as_array().expect("transitions") {
            let term = transition[2].as_str().expect("a text").replace("\\n", "\n");
            pda[state].push(Trigger { dest: number(&transition[1]), term });
        }
    }
    Theirs { final_state, init_state, pda }
}
