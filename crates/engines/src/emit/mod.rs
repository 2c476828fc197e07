//! Producers as source: one file that stands alone and gives the same bytes
//! as every choice engine.
//!
//! In:  a [`Program`]; of its options only the closing counts, since depth
//!      and cap are parameters of what is emitted.
//! Out: source text, C or Rust. It has the fast way, which is the flattened
//!      program (`crate::flat`) in one of several styles, and the exact way
//!      on tables of the grammar, which makes an input again that came near a
//!      limit, as the engine `vm` has it made by the reference engine.
//!
//! The exact way is written by hand, once for each language (`c/exact.c`,
//! `rust/exact.rs`): it is the same for all grammars.

mod c;
mod rust;
mod tables;

use std::fmt;
use wug_produce::Program;

/// How emitted C runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A function for each rule.
    Recursive,
    /// A stack of functions to call.
    Iterative,
    /// Instructions with addresses of code (GNU C's computed `goto`).
    DirectThreaded,
    /// Instructions as calls, in x86-64 assembly.
    ContextThreaded,
}

impl Style {
    /// All of them.
    pub const ALL: [Style; 4] =
        [Style::Recursive, Style::Iterative, Style::DirectThreaded, Style::ContextThreaded];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Style::Recursive => "recursive",
            Style::Iterative => "iterative",
            Style::DirectThreaded => "direct-threaded",
            Style::ContextThreaded => "context-threaded",
        }
    }
}

/// Why no source can be emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Inputs must be lexed, and drawn again where tokens run together.
    Tokens,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Tokens => f.write_str(
                "some tokens of this grammar can run together, so its inputs are lexed and drawn again, \
                 which emitted source cannot do",
            ),
        }
    }
}

impl std::error::Error for Refused {}

/// A producer in C, for gcc and clang.
pub fn c(program: &Program, style: Style) -> Result<String, Refused> {
    if program.relex.is_some() {
        return Err(Refused::Tokens);
    }
    Ok(c::file(program, style))
}

/// A producer in Rust, safe code only.
pub fn rust(program: &Program) -> Result<String, Refused> {
    if program.relex.is_some() {
        return Err(Refused::Tokens);
    }
    Ok(rust::file(program))
}
