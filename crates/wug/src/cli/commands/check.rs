//! `wug check`.

use super::{print, print_json};
use crate::cli::grammar_arg::GrammarArg;
use crate::cli::{Failure, Outcome, number, terminal};
use clap::Args;
use serde::Serialize;
use wug_grammar::facts::{Closing, ClosingMode, Facts, expected_length};
use wug_grammar::source::Sources;
use wug_grammar::transform::lower;
use wug_grammar::{Diagnostic, Grammar, Loaded, RuleId, Severity, check};

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
    /// Depth of the expected length
    #[arg(short = 'd', long, default_value = "16", value_parser = number::small, value_name = "DEPTH")]
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
    #[serde(flatten)]
    found: Found,
}

/// What was found, of any text.
#[derive(Default, Serialize)]
struct Found {
    errors: usize,
    warnings: usize,
    diagnostics: Vec<Entry>,
}

/// A diagnostic for programs.
#[derive(Serialize)]
struct Entry {
    severity: &'static str,
    message: String,
    /// Null where it is about no place of a text.
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    help: Option<String>,
}

impl Check {
    pub fn run(self) -> Outcome {
        let loaded = match self.grammar.load()? {
            Ok(loaded) => loaded,
            Err(rejected) => {
                self.grammar.explain(&rejected);
                let found = Found::of(&rejected.diagnostics, &rejected.sources);
                if self.json {
                    print_json(&found)?;
                } else {
                    print(&line("found", &found.text()))?;
                }
                return Err(Failure::No);
            }
        };
        let Loaded { grammar, sources, warnings } = &loaded;
        let facts = Facts::of(grammar);
        let mut diagnostics = warnings.clone();
        diagnostics.extend(check::check(grammar, &facts));
        let wrong = |all: &[Diagnostic]| all.iter().any(|d| d.severity == Severity::Error);
        let lowered = (!wrong(&diagnostics) && grammar.has_tokens()).then(|| lower::lower(grammar));
        if let Some(lowered) = &lowered {
            diagnostics.extend(lowered.warnings.iter().cloned());
        }
        let wrong = wrong(&diagnostics);
        terminal::diagnostics(&diagnostics, sources);

        let (produced, unproven) = match &lowered {
            Some(lowered) => (&lowered.grammar, lowered.unproven.clone()),
            None => (grammar, Vec::new()),
        };
        let report = Report {
            unproven_tokens: unproven,
            expected_length: (!wrong).then(|| self.expected(produced)).filter(|l| l.is_finite()),
            found: Found::of(&diagnostics, sources),
            ..describe(grammar, &facts, self.max_depth)
        };
        // Lengths are those of inputs: with what stands between tokens.
        let report = if lowered.is_some() { with_lengths(report, produced) } else { report };
        if self.json {
            print_json(&report)?
        } else {
            print(&text(&report))?
        }
        if wrong { Err(Failure::No) } else { Ok(()) }
    }

    fn expected(&self, grammar: &Grammar) -> f64 {
        let facts = Facts::of(grammar);
        let closing = Closing::of(grammar, &facts, ClosingMode::Min);
        expected_length(grammar, &facts, &closing, self.max_depth)
    }
}

impl Found {
    fn of(diagnostics: &[Diagnostic], sources: &Sources) -> Found {
        let entries: Vec<Entry> = diagnostics.iter().map(|d| Entry::of(d, sources)).collect();
        let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        Found { errors, warnings: entries.len() - errors, diagnostics: entries }
    }

    fn text(&self) -> String {
        let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        format!("{}, {}", plural(self.errors, "error"), plural(self.warnings, "warning"))
    }
}

impl Entry {
    fn of(diagnostic: &Diagnostic, sources: &Sources) -> Entry {
        let place = diagnostic.labels.first().and_then(|label| sources.locate(label.span));
        Entry {
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: diagnostic.message.clone(),
            file: place.as_ref().map(|place| place.name.to_string()),
            line: place.as_ref().map(|place| place.line),
            column: place.as_ref().map(|place| place.column),
            help: diagnostic.help.clone(),
        }
    }
}

/// The report with the lengths of another grammar.
fn with_lengths(report: Report, grammar: &Grammar) -> Report {
    let facts = Facts::of(grammar);
    let max_length = facts.max_length(grammar, grammar.start());
    Report {
        min_length: facts.min_length(grammar.rule(grammar.start()).body),
        max_length,
        finite: max_length.is_some(),
        ..report
    }
}

fn describe(grammar: &Grammar, facts: &Facts, depth: u32) -> Report {
    let start = grammar.start();
    let names = |keep: &dyn Fn(RuleId) -> bool| -> Vec<String> {
        let written = grammar.rules().filter(|&r| !grammar.rule(r).made);
        written.filter(|&r| keep(r)).map(|r| grammar.name(r).to_string()).collect()
    };
    let unused = check::unused(grammar, facts);
    let recursion = |r: RuleId| facts.graph.recursion[r.index()];
    Report {
        start: grammar.name(start).to_string(),
        rules: grammar.rules().filter(|&r| !grammar.rule(r).made).count(),
        tokens: grammar.rules().filter(|&r| grammar.rule(r).is_token()).count(),
        alternatives: grammar.written_alternatives(),
        unreachable: names(&|r| unused.binary_search(&r).is_ok()),
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
        found: Found::default(),
    }
}

fn text(report: &Report) -> String {
    let mut out = line("start", &report.start);
    let tokens = match report.tokens {
        0 => String::new(),
        n => format!(", {n} of them tokens"),
    };
    out += &line("rules", &format!("{}{tokens}", report.rules));
    out += &line("alternatives", &report.alternatives.to_string());
    let lists = [
        ("unreachable", &report.unreachable),
        ("unproductive", &report.unproductive),
        ("recursive", &report.recursive),
        ("left-recursive", &report.left_recursive),
        ("self-embedding", &report.self_embedding),
        ("can be empty", &report.nullable),
        ("may run together", &report.unproven_tokens),
    ];
    for (label, names) in lists {
        if !names.is_empty() {
            out += &line(label, &shortened(names));
        }
    }
    if let (Some(depth), Some(least)) = (report.min_depth, report.min_length) {
        let bytes = |n: u64| format!("{n} byte{}", if n == 1 { "" } else { "s" });
        let length = match report.max_length {
            Some(most) if most == least => bytes(least),
            Some(most) => format!("{least} to {}", bytes(most)),
            None => format!("{} or more, without end", bytes(least)),
        };
        let expected = match report.expected_length {
            Some(length) => format!("{length:.1} bytes at depth {}", report.depth),
            None => format!("too large to compute at depth {}", report.depth),
        };
        out += &line("minimum depth", &depth.to_string());
        out += &line("length", &length);
        out += &line("expected length", &expected);
    }
    out += &line("found", &report.found.text());
    out
}

/// Width of the labels.
const LABEL: usize = 18;
/// Width of a terminal that nobody made wider.
const WIDTH: usize = 80;

fn line(label: &str, text: &str) -> String {
    format!("{label:LABEL$}{text}\n")
}

/// As many names as fit on a line, at least one, and how many more there are.
fn shortened(names: &[String]) -> String {
    const MORE: usize = " and 1000 more".len();
    let mut out = String::new();
    for (at, name) in names.iter().enumerate() {
        let after = if at + 1 == names.len() { 0 } else { MORE };
        let width = LABEL + out.chars().count() + 2 + name.chars().count() + after;
        if at > 0 && width > WIDTH {
            return format!("{out} and {} more", names.len() - at);
        }
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(name);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{LABEL, WIDTH, shortened};

    #[test]
    fn a_list_of_names_fits_on_its_line() {
        for count in 1..100 {
            let names: Vec<String> = (0..count).map(|n| format!("rule_{n}")).collect();
            let text = shortened(&names);
            assert!(LABEL + text.len() <= WIDTH, "{text}");
            let shown = text.matches("rule_").count();
            let more = count - shown;
            assert!(more == 0 || text.ends_with(&format!(" and {more} more")), "{text}");
        }
    }
}
