//! From choices to inputs.
//!
//! In:  a [`wug_grammar::Grammar`], options, and a seed with an index, or
//!      choices as bytes.
//! Out: an input that the grammar derives.
//!
//! A [`Program`] is what is known before the first choice: immutable,
//! shared between threads. A [`Scratch`] is what one producer writes to.
//! The engines differ in how, never in what they produce: the same grammar,
//! options, seed and index give the same bytes.
//!
//! ```
//! use wug_grammar::{Notation, load::load_text};
//! use wug_produce::{Engine, Options, Program, Scratch};
//!
//! let grammar = load_text("sum.wug", "sum = [0-9]+ ('+' sum)? ;", Notation::Wug)?.grammar;
//! let program = Program::new(&grammar, Options::default()).expect("it ends");
//! let mut input = Vec::new();
//! program.produce(Engine::Recursive, 1, 0, &mut Scratch::default(), &mut input).expect("no tokens");
//! assert!(input.iter().all(|b| b.is_ascii_digit() || *b == b'+'));
//! # Ok::<(), wug_grammar::Rejected>(())
//! ```
//!
//! The crate starts no process and reads neither files nor the clock.
//!
//! # The way of an input
//!
//! 1. `program.rs` prepares a grammar: lowered, pruned, with the facts that
//!    each choice needs. It is immutable and shared.
//! 2. An engine walks the grammar: `recursive.rs` with frames, as calls
//!    would, `iterative.rs` with a stack of symbols and a record of depth. At
//!    each choice it asks `choices.rs`, whose module docs state the semantics
//!    in the order in which they apply; `docs/semantics.md` says the same for
//!    users. So engines differ in how, never in what they produce.
//!    The engine `crates/engines/src/tables/mod.rs` does not ask for each choice: it expands
//!    rules ahead of time into tables (`crates/engines/src/tables/build.rs`), as far as a trial
//!    run shows that it is worth while (`crates/engines/src/tables/plan.rs`), and runs them on a
//!    machine whose only branch is at the end of an input
//!    (`crates/engines/src/tables/machine.rs`), several inputs at once. Only what comes near a
//!    limit goes through choices (`crates/engines/src/tables/careful.rs`).
//! 3. A choice comes from a program that is replayed (`replay.rs`), then from
//!    random bits: `crates/random/src/lib.rs` gives each (seed, index) its
//!    own stream. `crates/grammar/src/count.rs` says how often a repetition
//!    repeats; `pool.rs` numbers the completions of a rule at the depth
//!    limit.
//! 4. Fast choice engines run a flattened program (`crates/engines/src/flat/mod.rs`): the same
//!    draws, but texts merged, small rules put in place, completions ready as
//!    tables, and limits left out; an input that passes one is made again by
//!    the reference engine. `crates/engines/src/vm.rs` interprets it, `crates/engines/src/emit/mod.rs` writes it as
//!    source, and `crates/wug/src/compiled.rs` has that compiled and loads
//!    it.
//! 5. `crates/wug/src/cli/commands/generate/mod.rs` hands inputs from its
//!    workers to a sink, in order.

pub mod batch;
pub mod choices;
mod iterative;
pub mod lexemes;
pub mod mutate;
pub mod pool;
pub mod program;
pub mod recursive;
pub mod reduce;
pub mod replay;
pub mod sink;

pub use batch::{Batch, RanTogether};
pub use choices::Scratch;
pub use lexemes::{Layout, Printer, Spacing};
pub use program::{Options, Program, Unfit};
pub use replay::Tape;

use choices::Choices;
use wug_random::Rng;

/// How the grammar is walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Frames of symbols, as calls would be.
    #[default]
    Recursive,
    /// A stack of symbols with a record of depth.
    Iterative,
}

/// An input is drawn again at most this often when it does not lex as meant.
const MAX_REDRAWS: u32 = 1_000;

impl Program {
    /// Appends input `index` of `seed` to `out`. `None` if no input that
    /// lexes as meant was found in a thousand tries.
    pub fn produce(
        &self,
        engine: Engine,
        seed: u64,
        index: u64,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        self.produce_with(engine, seed, index, &mut Tape::default(), scratch, out)
    }

    /// As [`Program::produce`], with choices replayed from a tape first, or
    /// recorded to it.
    pub fn produce_with(
        &self,
        engine: Engine,
        seed: u64,
        index: u64,
        tape: &mut Tape,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let start = out.len();
        let mut rng = Rng::new(seed, index);
        let mut steps = 0u64;
        for attempt in 0..MAX_REDRAWS {
            if attempt == 0 {
                tape.rewind();
            } else {
                tape.give_up();
            }
            let mut choices = Choices::new(self, &mut rng, tape, scratch, out);
            match engine {
                Engine::Recursive => recursive::walk(&mut choices),
                Engine::Iterative => iterative::walk(&mut choices),
            }
            steps += choices.steps();
            match &self.relex {
                Some(relex) if !relex.accepts(&out[start..], &scratch.tokens) => {
                    scratch.redrawn += 1;
                    out.truncate(start);
                    // Not a thousand long ones.
                    if steps > self.max_steps() {
                        return None;
                    }
                }
                _ => return Some(()),
            }
        }
        None
    }
}
