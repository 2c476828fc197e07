//! An automaton: of a grammar, or from a file.

use crate::cli::grammar_arg::GrammarArg;
use crate::cli::terminal::{self};
use crate::cli::{Failure, number};
use clap::Args;
use std::path::Path;
use wug_automata::{Automaton, Built, Form, Limits, Sharing, Unfit};
use wug_files::reason;
use wug_files::regular;
use wug_grammar::notation::is_automaton;
use wug_grammar::transform::lower;
use wug_grammar::{Grammar, Loaded};

/// How large the automaton becomes.
#[derive(Args, Clone, Copy)]
pub struct StackArg {
    /// Height of the stack that states of the grammar
    /// automaton stand for; without it, states are made
    /// that walks most likely come to, up to 65,536
    #[arg(long, value_parser = number::small, value_name = "N", verbatim_doc_comment)]
    pub stack_limit: Option<u32>,
}

impl StackArg {
    fn limits(self) -> Limits {
        self.stack_limit.map_or(Limits::DEFAULT, Limits::with_stack)
    }
}

/// The automaton of a grammar.
pub struct GrammarAutomaton {
    /// The grammar as it was written, for those who parse.
    pub grammar: Grammar,
    /// The automaton.
    pub built: Built,
    /// Tokens that may run together with what follows.
    pub unproven: Vec<String>,
}

impl GrammarAutomaton {
    /// The grammar that inputs must be judged by, if they must be.
    pub fn judge(&self) -> Option<&Grammar> {
        (!self.unproven.is_empty()).then_some(&self.grammar)
    }

    /// Builds it, and tells what is wrong.
    pub fn of(loaded: Loaded, stack: StackArg, sharing: Sharing) -> Result<GrammarAutomaton, Failure> {
        let lowered = lower::lower(&loaded.grammar);
        terminal::diagnostics(&lowered.warnings, &loaded.sources);
        let built = Form::with(&lowered.grammar, sharing).and_then(|form| Built::new(form, stack.limits()));
        let built = built.map_err(|unfit| refuse(unfit, &loaded, &lowered))?;
        Ok(GrammarAutomaton { grammar: loaded.grammar, built, unproven: lowered.unproven })
    }
}

/// Tells why there is no automaton.
pub fn refuse(unfit: Unfit, loaded: &Loaded, lowered: &lower::Lowered) -> Failure {
    match unfit {
        Unfit::Endless(diagnostic) => {
            // Lowering has told why nothing is left, where it knows better.
            if !lowered.warnings.iter().any(|d| d.severity == wug_grammar::Severity::Error) {
                terminal::diagnostics(&[*diagnostic], &loaded.sources);
            }
            Failure::No
        }
        unfit => Failure::Message(1, unfit.to_string()),
    }
}

/// Larger files are no automata, in bytes.
const MAX_FILE: u64 = 1 << 30;

/// The automaton in the file that a grammar's name may be of, told by its
/// content; none if it is no such file.
pub fn file(grammar: &GrammarArg) -> Result<Option<Automaton>, Failure> {
    let path = Path::new(&grammar.grammar);
    if grammar.format.is_some() || !path.is_file() {
        return Ok(None);
    }
    let text = read(path)
        .map_err(|error| Failure::usage(format!("cannot read `{}`: {}", path.display(), reason(&error))))?;
    let Some(text) = text.filter(|text| is_automaton(text)) else { return Ok(None) };
    let misread = |why| Failure::Message(1, format!("`{}` is no automaton: {why}", path.display()));
    Automaton::from_json(text.as_bytes()).map(Some).map_err(misread)
}

/// The text of a file that may be JSON: other files are left after their
/// first bytes.
fn read(path: &Path) -> std::io::Result<Option<String>> {
    let bytes = regular::read_start(path, 256)?;
    let start = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    if start.trim_ascii_start().first() != Some(&b'{') {
        return Ok(None);
    }
    Ok(String::from_utf8(regular::read(path, MAX_FILE)?).ok())
}
