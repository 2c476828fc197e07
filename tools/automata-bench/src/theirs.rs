//! LibAFL's side.
//!
//! In:  the automaton file, and walks of ours.
//! Out: the same inputs as LibAFL holds them, and what its generator and its
//!      mutators cost.

use crate::{Cost, What, cpu};
use libafl::corpus::{Corpus, InMemoryCorpus, Testcase};
use libafl::feedbacks::ConstFeedback;
use libafl::generators::Generator;
use libafl::generators::gramatron::{Automaton as Theirs, GramatronGenerator, Trigger};
use libafl::inputs::{GramatronInput, gramatron::Terminal};
use libafl::mutators::{
    GramatronIdxMapMetadata, GramatronRandomMutator, GramatronRecursionMutator, GramatronSpliceMutator,
    Mutator,
};
use libafl::state::{HasCorpus, StdState};
use libafl_bolts::rands::StdRand;
use libafl_bolts::serdeany::RegistryBuilder;
use std::collections::HashMap;
use std::time::Duration;
use wug_automata::{Automaton, Step};

type State =
    StdState<InMemoryCorpus<GramatronInput>, GramatronInput, StdRand, InMemoryCorpus<GramatronInput>>;

/// The automaton as LibAFL holds it.
pub struct File {
    automaton: Theirs,
}

impl File {
    pub fn new(json: &[u8]) -> File {
        let file: serde_json::Value = serde_json::from_slice(json).expect("JSON");
        let number = |value: &serde_json::Value| -> usize {
            value.as_str().expect("a state").parse().expect("a number")
        };
        let (init_state, final_state) = (number(&file["init_state"]), number(&file["final_state"]));
        let mut pda = vec![Vec::new(); file["numstates"].as_u64().expect("a number") as usize];
        for (state, row) in file["pda"].as_object().expect("states") {
            let state: usize = state.parse().expect("a number");
            for transition in row.as_array().expect("transitions") {
                let term = transition[2].as_str().expect("a text").replace("\\n", "\n");
                pda[state].push(Trigger { dest: number(&transition[1]), term });
            }
        }
        File { automaton: Theirs { final_state, init_state, pda } }
    }

    /// Walks of ours as inputs of LibAFL's: the state, trigger and text of
    /// each step. Our reader of files keeps the order of a state's targets,
    /// which tells the states of the one from those of the other.
    fn inputs(&self, ours: &Automaton, walks: &[Vec<Step>]) -> Vec<GramatronInput> {
        let targets = |state: usize| {
            let mut targets: Vec<usize> = Vec::new();
            for trigger in &self.automaton.pda[state] {
                if !targets.contains(&trigger.dest) {
                    targets.push(trigger.dest);
                }
            }
            targets
        };
        let mut known: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut input = |walk: &Vec<Step>| {
            let (mut state, mut own) = (self.automaton.init_state, ours.start());
            let mut terms = Vec::new();
            for &step in walk {
                let (place, member) = ours.decode(own, step).expect("a step");
                let transition = ours.row(own)[place as usize];
                let (slot, member) = ours.labels().find(transition.label, member).expect("a member");
                let mut text = Vec::new();
                ours.labels().emit(ours.labels().slots(transition.label)[slot].leaf, member, &mut text);
                let text = String::from_utf8(text).expect("UTF-8");
                let dest = known.entry(state).or_insert_with(|| targets(state))[place as usize];
                let triggers = self.automaton.pda[state].iter();
                let index =
                    triggers.clone().position(|t| t.dest == dest && t.term == text).expect("the same");
                terms.push(Terminal::new(state, index, text));
                (state, own) = (dest, transition.target);
            }
            assert_eq!(state, self.automaton.final_state);
            GramatronInput::new(terms)
        };
        walks.iter().map(&mut input).collect()
    }
}

/// Generator, mutators and inputs.
pub struct Peer<'a> {
    file: &'a File,
    state: State,
    splice: GramatronSpliceMutator,
    recursion: GramatronRecursionMutator,
    inputs: Vec<GramatronInput>,
    bytes: Vec<u8>,
}

impl<'a> Peer<'a> {
    pub fn new(file: &'a File, ours: &Automaton, walks: &[Vec<Step>]) -> Peer<'a> {
        // SAFETY: nothing else runs; LibAFL asks for this before the type is
        // first used.
        unsafe { RegistryBuilder::register::<GramatronIdxMapMetadata>() };
        let (mut feedback, mut objective) = (ConstFeedback::new(false), ConstFeedback::new(false));
        let (corpus, found) = (InMemoryCorpus::new(), InMemoryCorpus::new());
        let state = StdState::new(StdRand::with_seed(1), corpus, found, &mut feedback, &mut objective);
        let mut state = state.expect("a state");
        let inputs = file.inputs(ours, walks);
        for input in &inputs {
            state.corpus_mut().add(Testcase::new(input.clone())).expect("room");
        }
        let (splice, recursion) = (GramatronSpliceMutator::new(), GramatronRecursionMutator::new());
        Peer { file, state, splice, recursion, inputs, bytes: Vec::new() }
    }

    /// The bytes of its inputs.
    pub fn texts(&self) -> impl Iterator<Item = Vec<u8>> {
        self.inputs.iter().map(|input| {
            let mut bytes = Vec::new();
            input.unparse(&mut bytes);
            bytes
        })
    }

    /// Makes so many inputs: what that costs, and what it does with the copy
    /// of each input and giving back its memory. `clock` is what a look at
    /// the clock costs.
    pub fn measure(&mut self, what: What, count: usize, clock: f64) -> (Cost, Cost) {
        let generator = GramatronGenerator::new(&self.file.automaton);
        let mut random = GramatronRandomMutator::new(&generator);
        let mut fresh = GramatronGenerator::new(&self.file.automaton);
        let (mut time, mut bytes) = (Duration::ZERO, 0);
        let whole = cpu();
        for i in 0..count {
            let mut input = match what {
                What::Generate => GramatronInput::default(),
                _ => self.inputs[i % self.inputs.len()].clone(),
            };
            let begin = cpu();
            match what {
                What::Generate => input = fresh.generate(&mut self.state).expect("an input"),
                What::Random => drop(random.mutate(&mut self.state, &mut input)),
                What::Splice => drop(self.splice.mutate(&mut self.state, &mut input)),
                What::Recursion => drop(self.recursion.mutate(&mut self.state, &mut input)),
            }
            input.unparse(&mut self.bytes);
            time += cpu() - begin;
            bytes += self.bytes.len() as u64;
        }
        let whole = (cpu() - whole).as_secs_f64();
        let count = count as f64;
        let cost = |seconds: f64| Cost { bytes, seconds };
        (cost(time.as_secs_f64() - clock * count), cost(whole - 2.0 * clock * count))
    }
}

/// What it costs to look at the clock, in seconds.
pub fn clock_cost() -> f64 {
    let begin = cpu();
    for _ in 0..1_000 {
        std::hint::black_box(cpu());
    }
    (cpu() - begin).as_secs_f64() / 1_000.0
}
