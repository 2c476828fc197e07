//! `wug show`.

use super::print_file;
use crate::cli::grammar_arg::GrammarArg;
use crate::cli::{Failure, Outcome, number, terminal};
use clap::{Args, ValueEnum};
use wug_grammar::transform::{desugar, embed, inline, lower, prune, unroll};
use wug_grammar::{Diagnostic, Loaded, print as printers};

/// Print a grammar in another notation, or rewritten
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug show my.ebnf --as wug\n  wug show json --as dot | dot -Tsvg > json.svg\n  wug show json --unroll 1 --as f1\n\nRewritings are done in the order in which they are listed here. Notations\nwithout tokens or groups get --lower and --desugar where they need it."
)]
pub struct Show {
    #[command(flatten)]
    grammar: GrammarArg,
    /// Notation to print: wug, f1, bnf, gramatron or dot (a
    /// drawing for Graphviz)
    #[arg(
        long = "as",
        value_enum,
        default_value_t = Target::Wug,
        value_name = "NOTATION",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    target: Target,
    /// Replace tokens by rules over bytes, such that no two
    /// neighbours can be read as one
    #[arg(long, verbatim_doc_comment)]
    lower: bool,
    /// Remove rules that never finish or are never used
    #[arg(long)]
    prune: bool,
    /// Replace groups and repetition by plain rules
    #[arg(long)]
    desugar: bool,
    /// Put rules of one alternative where they are used
    #[arg(long)]
    inline: bool,
    /// Replace uses of rules by their alternatives, N times
    #[arg(long, value_name = "N", value_parser = number::small)]
    unroll: Option<u32>,
    /// Where a rule has simple and other alternatives, take
    /// the simple ones once in 2^N times
    #[arg(long, value_name = "N", value_parser = number::small, verbatim_doc_comment)]
    embed: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    Wug,
    F1,
    Bnf,
    Gramatron,
    Dot,
}

impl Show {
    pub fn run(self) -> Outcome {
        let loaded = self.grammar.load_and_warn()?;
        let text = self.convert(&loaded).map_err(|diagnostic| refuse(&loaded, &diagnostic))?;
        print_file(&text)
    }

    fn convert(&self, loaded: &Loaded) -> Result<String, Diagnostic> {
        // Notations without tokens and groups need a grammar without them.
        let plain = !matches!(self.target, Target::Wug | Target::Dot);
        let mut grammar = loaded.grammar.clone();
        if self.lower || (plain && grammar.has_tokens()) {
            let lowered = lower::lower(&grammar);
            terminal::diagnostics(&lowered.warnings, &loaded.sources);
            grammar = lowered.grammar;
        }
        if self.prune {
            grammar = prune::prune(&grammar)?;
        }
        if self.desugar || plain || self.unroll.is_some() {
            grammar = desugar::desugar(&grammar);
        }
        if self.inline {
            grammar = inline::inline(&grammar);
        }
        if let Some(times) = self.unroll {
            grammar = unroll::unroll(&grammar, times)?;
        }
        if let Some(levels) = self.embed {
            grammar = embed::embed(&grammar, levels);
        }
        match self.target {
            Target::Wug => Ok(printers::wug::print(&grammar)),
            Target::Dot => Ok(printers::dot::print(&grammar)),
            Target::F1 => printers::f1::print(&grammar),
            Target::Bnf => printers::bnf::print(&grammar),
            Target::Gramatron => printers::gramatron::print(&grammar),
        }
    }
}

fn refuse(loaded: &Loaded, diagnostic: &Diagnostic) -> Failure {
    terminal::diagnostics(std::slice::from_ref(diagnostic), &loaded.sources);
    Failure::No
}
