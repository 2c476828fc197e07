//! `wug show`.

use super::print;
use crate::grammar_arg::GrammarArg;
use crate::{Failure, Outcome};
use clap::{Args, ValueEnum};
use wug_grammar::transform::{desugar, embed, inline, lower, prune, unroll};
use wug_grammar::{Diagnostic, Grammar, Loaded, print as printers};

/// Convert a grammar to another notation, or show what a transform makes of it
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug show my.ebnf --as wug\n  wug show json --as dot | dot -Tsvg > json.svg\n  wug show json --unroll 1 --as f1\n\nTransforms are applied in the order in which they are listed here."
)]
pub struct Show {
    #[command(flatten)]
    grammar: GrammarArg,
    /// The notation to print
    #[arg(long = "as", value_enum, default_value_t = Target::Wug, value_name = "NOTATION")]
    target: Target,
    /// Replace tokens by rules over bytes whose texts lex as intended
    #[arg(long)]
    lower: bool,
    /// Remove what derives nothing and what is never used
    #[arg(long)]
    prune: bool,
    /// Replace groups and repetition by plain rules
    #[arg(long)]
    desugar: bool,
    /// Replace calls of rules with one alternative by that alternative
    #[arg(long)]
    inline: bool,
    /// Replace each call by each of its alternatives, N times
    #[arg(long, value_name = "N")]
    unroll: Option<u32>,
    /// Push simple alternatives down N levels, so that they do not flood
    #[arg(long, value_name = "N")]
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
        let text = self.convert(&loaded.grammar).map_err(|diagnostic| refuse(&loaded, &diagnostic))?;
        print(&text)
    }

    fn convert(&self, grammar: &Grammar) -> Result<String, Diagnostic> {
        // Notations without tokens and groups need a grammar without them.
        let plain = !matches!(self.target, Target::Wug | Target::Dot);
        let mut grammar = grammar.clone();
        if self.lower || (plain && grammar.has_tokens()) {
            grammar = lower::lower(&grammar).grammar;
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
    anstream::eprintln!("{}", diagnostic.render(&loaded.sources, true));
    Failure::No
}
