//! wug as a library: grammars, inputs, targets and campaigns.
//!
//! One name for each room; the rooms are crates of their own, for those who
//! need only some of them.
//!
//! ```
//! use wug::grammar::builtin;
//! use wug::produce::{Engine, Options, Program, Scratch};
//!
//! let json = builtin::find("json").expect("it is built in").load()?;
//! let program = Program::new(&json.grammar, Options::default()).expect("it ends");
//! let mut input = Vec::new();
//! program.produce(Engine::Recursive, 1, 0, &mut Scratch::default(), &mut input).expect("an input");
//! assert!(!input.is_empty());
//! # Ok::<(), wug::grammar::Rejected>(())
//! ```

#[doc(hidden)]
pub mod cli;
pub mod compiled;

pub use wug_automata as automata;
pub use wug_campaign as campaign;
pub use wug_engines as engines;
pub use wug_files as files;
pub use wug_folder as folder;
pub use wug_grammar as grammar;
pub use wug_parse as parse;
pub use wug_produce as produce;
pub use wug_random as random;
pub use wug_runtime as runtime;
pub use wug_target as target;
