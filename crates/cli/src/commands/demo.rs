//! `wug demo`.

use super::print;
use crate::{Failure, Outcome};
use clap::Args;
use std::fmt::Write;
use wug_grammar::load::load_text;
use wug_grammar::{Notation, builtin};
use wug_produce::{Engine, Options, Program, Scratch};

/// Show the main job on a built-in grammar
#[derive(Args)]
#[command(after_help = "Example:\n  wug demo")]
pub struct Demo {}

const INPUTS: u64 = 5;
/// Columns for an input: with its length before it, a line of 80.
const SHOWN: usize = 66;

impl Demo {
    pub fn run(self) -> Outcome {
        let text = builtin::find("json").map_or("", |b| b.text);
        let loaded =
            load_text("json.wug", text, Notation::Wug).map_err(|e| Failure::Message(1, e.to_string()))?;
        let program = Program::new(&loaded.grammar, Options::default())
            .map_err(|unfit| Failure::Message(1, unfit.to_string()))?;
        let mut out = String::new();
        let rules = loaded.grammar.rules().len();
        let _ = writeln!(
            out,
            "This loads the built-in grammar `json` ({rules} rules) and makes {INPUTS} inputs from it.\n\
             Each is valid JSON: choices are free down to 16 nested rules, then each rule\n\
             is ended by its shortest way. The same seed gives the same inputs.\n"
        );
        let mut scratch = Scratch::default();
        for index in 0..INPUTS {
            let mut input = Vec::new();
            program.produce(Engine::Recursive, 1, index, &mut scratch, &mut input);
            let text = String::from_utf8_lossy(&input);
            let _ = writeln!(out, "{:>6} bytes  {}", input.len(), beginning(text.trim()));
        }
        let _ = writeln!(out, "\nThe same, whole:   wug generate json -n {INPUTS} -s 1");
        let _ = writeln!(out, "Other grammars:    wug grammars");
        let _ = writeln!(out, "Your own grammar:  wug check FILE, then wug generate FILE -n 100 -o inputs");
        print(&out)
    }
}

/// As much of a text as fits in a line.
fn beginning(text: &str) -> String {
    let mut out = String::new();
    let mut columns = 0;
    for c in text.chars() {
        // Whether a character is wide is the terminal's affair; none is wider than two.
        columns += if c.is_ascii() { 1 } else { 2 };
        if columns >= SHOWN {
            out.push('…');
            break;
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}
