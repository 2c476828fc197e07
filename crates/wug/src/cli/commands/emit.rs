//! `wug emit`.

use crate::cli::grammar_arg::GrammarArg;
use crate::cli::terminal::{self};
use crate::cli::{Failure, Outcome};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use wug_engines::emit::{self, Style};
use wug_files::reason;
use wug_produce::{Options, Program, Unfit};

/// Write a producer for a grammar as source code
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug emit json -o json.c && gcc -O3 json.c -o produce-json\n  ./produce-json 1 10         # as `wug generate json -s 1 -n 10`\n\nThe file stands alone: a function that writes one input to a buffer, and a\nprogram around it (./program SEED COUNT DEPTH CAP; C leaves it out with\n-DWUG_NO_MAIN). The same seed, depth and cap give the inputs of `wug generate`."
)]
pub struct Emit {
    #[command(flatten)]
    grammar: GrammarArg,
    /// Language: c (for gcc and clang) or rust
    #[arg(long, value_enum, default_value_t = Language::C, value_name = "LANGUAGE", hide_possible_values = true)]
    lang: Language,
    /// How C runs: `recursive`, a function for each rule,
    /// the fastest; `iterative`, a stack of functions;
    /// `direct-threaded`, by computed goto;
    /// `context-threaded`, by calls and returns in
    /// assembly for x86-64
    #[arg(long, value_enum, default_value_t = StyleArg::Recursive, value_name = "STYLE", hide_possible_values = true, verbatim_doc_comment)]
    style: StyleArg,
    /// How rules are brought to an end at the depth: `min`
    /// or `cheap`, as for `wug generate`
    #[arg(long, value_enum, default_value_t = super::ClosingArg::Min, value_name = "HOW", hide_possible_values = true, verbatim_doc_comment)]
    closing: super::ClosingArg,
    /// File to write; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    C,
    Rust,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StyleArg {
    Recursive,
    Iterative,
    DirectThreaded,
    ContextThreaded,
}

impl Emit {
    pub fn run(self) -> Outcome {
        let loaded = self.grammar.load_and_warn()?;
        // The cap is a parameter of what is emitted.
        let options = Options { max_size: u64::MAX, closing: self.closing.into(), ..Options::default() };
        let program = Program::new(&loaded.grammar, options).map_err(|unfit| match unfit {
            Unfit::Endless(diagnostic) => {
                terminal::diagnostics(&[*diagnostic], &loaded.sources);
                Failure::No
            }
            Unfit::Size { .. } => Failure::Message(1, unfit.to_string()),
        })?;
        terminal::diagnostics(&program.warnings, &loaded.sources);
        let style = match self.style {
            StyleArg::Recursive => Style::Recursive,
            StyleArg::Iterative => Style::Iterative,
            StyleArg::DirectThreaded => Style::DirectThreaded,
            StyleArg::ContextThreaded => Style::ContextThreaded,
        };
        let source = match self.lang {
            Language::C => emit::c(&program, style),
            Language::Rust if style == Style::Recursive => emit::rust(&program),
            Language::Rust => return Err(Failure::usage("--style is for C; Rust is always recursive")),
        };
        let source = source.map_err(|refused| {
            Failure::Message(1, format!("{refused}; `wug check` names them, and `wug generate` makes inputs"))
        })?;
        let Some(path) = &self.output else { return super::print_file(&source) };
        std::fs::write(path, source).map_err(|error| {
            let why = reason(&error);
            Failure::Message(1, format!("cannot write the source to `{}`: {why}", path.display()))
        })
    }
}
