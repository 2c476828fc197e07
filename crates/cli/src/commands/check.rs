//! `wug check`.

use super::{print, print_json};
use crate::grammar_arg::GrammarArg;
use crate::{Failure, Outcome};
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use wug_grammar::diagnostic::render_all;
use wug_grammar::facts::{Closing, ClosingMode, Facts, expected_length};
use wug_grammar::transform::lower;
use wug_grammar::{Grammar, Loaded, RuleId, Severity, check};

/// Tell what is wrong with a grammar and what is true of it
#[derive(Args)]
#[command(
    after_help = "Example:\n  wug check json\n  wug check my.wug --json\n\nExits 1 if the grammar cannot be used."
)]
pub struct Check {
    #[command(flatten)]
    grammar: GrammarArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The depth for which the expected length is given
    #[arg(short = 'd', long, default_value_t = 16, value_name = "DEPTH")]
    max_depth: u32,
}

#[derive(Serialize)]
struct Report {
    start: String,
    rules: usize,
    tokens: usize,
    alternatives: usize,
    unreachable: Vec<String>,
    unproductive: Vec<String>,
    recursive: Vec<String>,
    left_recursive: Vec<String>,
    self_embedding: Vec<String>,
    nullable: Vec<String>,
    /// Levels of rules below the start, at least.
    min_depth: Option<u32>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    finite: bool,
    depth: u32,
    /// Infinite is null.
    expected_length: Option<f64>,
    /// Tokens that may run together with what follows.
    unproven_tokens: Vec<String>,
    errors: usize,
    warnings: usize,
}

impl Check {
    pub fn run(self) -> Outcome {
        let loaded = self.grammar.load()?;
        let Loaded { grammar, sources, warnings } = &loaded;
        let facts = Facts::of(grammar);
        let mut diagnostics = warnings.clone();
        diagnostics.extend(check::check(grammar, &facts));
        let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        let lowered = (errors == 0 && grammar.has_tokens()).then(|| lower::lower(grammar));
        if let Some(lowered) = &lowered {
            diagnostics.extend(lowered.warnings.iter().cloned());
        }
        anstream::eprint!("{}", render_all(&diagnostics, sources, true));

        let (produced, unproven) = match &lowered {
            Some(lowered) => (&lowered.grammar, lowered.unproven.clone()),
            None => (grammar, Vec::new()),
        };
        let report = Report {
            unproven_tokens: unproven,
            expected_length: (errors == 0).then(|| self.expected(produced)).filter(|l| l.is_finite()),
            errors,
            warnings: diagnostics.len() - errors,
            ..describe(grammar, &facts, self.max_depth)
        };
        if self.json {
            print_json(&report)?
        } else {
            print(&text(&report))?
        }
        if errors > 0 { Err(Failure::No) } else { Ok(()) }
    }

    fn expected(&self, grammar: &Grammar) -> f64 {
        let facts = Facts::of(grammar);
        let closing = Closing::of(grammar, &facts, ClosingMode::Min);
        expected_length(grammar, &facts, &closing, self.max_depth)
    }
}

fn describe(grammar: &Grammar, facts: &Facts, depth: u32) -> Report {
    let start = grammar.start();
    let names = |keep: &dyn Fn(RuleId) -> bool| -> Vec<String> {
        grammar.rules().filter(|&r| keep(r)).map(|r| grammar.name(r).to_string()).collect()
    };
    let recursion = |r: RuleId| facts.graph.recursion[r.index()];
    Report {
        start: grammar.name(start).to_string(),
        rules: grammar.rules().len(),
        tokens: grammar.rules().filter(|&r| grammar.rule(r).is_token()).count(),
        alternatives: grammar.top_alternatives(),
        unreachable: names(&|r| !facts.reachable[r.index()] && !grammar.rule(r).is_lexical()),
        unproductive: names(&|r| !facts.productive(grammar, r)),
        recursive: names(&|r| recursion(r).any()),
        left_recursive: names(&|r| recursion(r).left),
        self_embedding: names(&|r| recursion(r).self_embedding),
        nullable: names(&|r| facts.nullable(grammar, r)),
        min_depth: facts.min_depth(grammar, start),
        min_length: facts.min_length(grammar.rule(start).body),
        max_length: facts.max_length(grammar, start),
        finite: facts.max_length(grammar, start).is_some(),
        depth,
        expected_length: None,
        unproven_tokens: Vec::new(),
        errors: 0,
        warnings: 0,
    }
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    let tokens =
        if report.tokens > 0 { format!(", {} of them tokens", report.tokens) } else { String::new() };
    let _ = writeln!(out, "start           {}", report.start);
    let _ = writeln!(out, "rules           {}{tokens}", report.rules);
    let _ = writeln!(out, "alternatives    {}", report.alternatives);
    let mut names = |label: &str, names: &[String]| {
        if !names.is_empty() {
            let _ = writeln!(out, "{label:15} {}", shortened(names));
        }
    };
    names("unreachable", &report.unreachable);
    names("unproductive", &report.unproductive);
    names("recursive", &report.recursive);
    names("left-recursive", &report.left_recursive);
    names("self-embedding", &report.self_embedding);
    names("can be empty", &report.nullable);
    names("unproven tokens", &report.unproven_tokens);
    let number = |n: Option<u64>| n.map_or("none".to_string(), |n| n.to_string());
    let _ = writeln!(out, "minimum depth   {}", number(report.min_depth.map(u64::from)));
    let most = if report.finite { number(report.max_length) } else { "no bound".to_string() };
    let _ = writeln!(out, "length          from {} to {most}", number(report.min_length));
    let expected = match report.expected_length {
        Some(length) => format!("{length:.1} bytes at depth {}", report.depth),
        None if report.errors > 0 => "none".to_string(),
        None => format!("beyond all numbers at depth {}", report.depth),
    };
    let _ = writeln!(out, "expected length {expected}");
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let _ = writeln!(
        out,
        "found           {}, {}",
        plural(report.errors, "error"),
        plural(report.warnings, "warning")
    );
    out
}

/// The first few names and how many more there are.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let first = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
