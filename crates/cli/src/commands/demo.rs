//! `wug demo`.

use super::print;
use crate::{Failure, Outcome};
use clap::Args;
use std::fmt::Write;
use wug_grammar::load::load_text;
use wug_grammar::{Notation, builtin};
use wug_produce::{Options, Program, Scratch, recursive};

/// Show the main job on a built-in grammar
#[derive(Args)]
#[command(after_help = "Example:\n  wug demo")]
pub struct Demo {}

const INPUTS: u64 = 5;
const SHOWN: usize = 100;

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
            "This loads the built-in grammar `json` ({rules} rules) and makes {INPUTS} inputs from it."
        );
        let _ = writeln!(
            out,
            "Each is valid JSON: choices are free down to 16 nested rules, then each rule is ended"
        );
        let _ = writeln!(out, "by its shortest way. The same seed gives the same inputs.\n");
        let mut scratch = Scratch::default();
        for index in 0..INPUTS {
            let mut input = Vec::new();
            recursive::produce(&program, 1, index, &mut scratch, &mut input);
            let text = String::from_utf8_lossy(&input);
            let shown: String =
                text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
            let cut = if text.chars().count() > SHOWN { "…" } else { "" };
            let _ = writeln!(out, "{:>6} bytes  {}{cut}", input.len(), shown.trim());
        }
        let _ = writeln!(out, "\nThe same, whole:   wug generate json -n {INPUTS} -s 1");
        let _ = writeln!(out, "Other grammars:    wug grammars");
        let _ = writeln!(out, "Your own grammar:  wug check FILE, then wug generate FILE -n 100 -o inputs");
        print(&out)
    }
}
