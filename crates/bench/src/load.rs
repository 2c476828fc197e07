//! `wug-bench load`: how long large grammars take to load and check,
//! compared with what `serde_json` takes to parse the same text.

use super::median;
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;
use wug::cli::Outcome;
use wug::cli::commands::{print, print_json};
use wug_grammar::facts::{Closing, ClosingMode, Facts, expected_length};
use wug_grammar::load::load_text;
use wug_grammar::{Notation, check};

/// Load and check made-up grammars; serde_json reads the same text
#[derive(Args)]
#[command(after_help = "Example:\n  wug-bench load\n  wug-bench load --sizes 10000 --json")]
pub struct Load {
    /// Alternatives of each grammar
    /// [default: 1000,10000,100000,1000000]
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "1000,10000,100000,1000000",
        hide_default_value = true,
        value_name = "N,N…",
        verbatim_doc_comment
    )]
    sizes: Vec<usize>,
    /// Rounds for each size; if not given, as many as make a
    /// million alternatives, but 5 to 100
    #[arg(long, value_name = "N", verbatim_doc_comment)]
    rounds: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    alternatives: usize,
    bytes: usize,
    rounds: usize,
    serde_json_ms: f64,
    load_ms: f64,
    check_ms: f64,
    /// Load over serde_json, median of rounds.
    load_ratio: f64,
    /// Load and check over serde_json, median of rounds.
    ratio: f64,
    /// Load and check, nanoseconds for each alternative.
    ns_per_alternative: f64,
}

impl Load {
    pub fn run(self) -> Outcome {
        let rows: Vec<Row> = self.sizes.iter().map(|&n| self.measure(n.max(10))).collect();
        if self.json {
            return print_json(&serde_json::json!({ "benchmark": "load", "rows": rows }));
        }
        let mut out = String::new();
        for [a, b, c, d, e, f, g, h] in [
            ["alternatives", "bytes", "serde_json", "load", "check", "load", "both", "ns"],
            ["", "", "ms", "ms", "ms", "/serde", "/serde", "each"],
        ] {
            let _ = writeln!(out, "{a:>12} {b:>10} {c:>11} {d:>9} {e:>9} {f:>7} {g:>7} {h:>8}");
        }
        for row in &rows {
            let _ = writeln!(
                out,
                "{:>12} {:>10} {:>11.2} {:>9.2} {:>9.2} {:>7.2} {:>7.2} {:>8.0}",
                row.alternatives,
                row.bytes,
                row.serde_json_ms,
                row.load_ms,
                row.check_ms,
                row.load_ratio,
                row.ratio,
                row.ns_per_alternative
            );
        }
        print(&out)
    }

    fn measure(&self, alternatives: usize) -> Row {
        let text = grammar(alternatives);
        let rounds = self.rounds.unwrap_or((1_000_000 / alternatives).clamp(5, 100)).max(1);
        let (mut serde, mut load, mut check) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            serde.push(millis(|| serde_json::from_str::<serde_json::Value>(&text).is_ok()));
            let mut loaded = None;
            load.push(millis(|| {
                loaded = load_text("synthetic.json", &text, Notation::F1).ok();
                loaded.is_some()
            }));
            check.push(millis(|| loaded.as_ref().is_some_and(|loaded| all_checks(&loaded.grammar))));
        }
        let ratio = |ours: &dyn Fn(usize) -> f64| median((0..rounds).map(|i| ours(i) / serde[i]).collect());
        let load_ratio = ratio(&|i| load[i]);
        let whole = ratio(&|i| load[i] + check[i]);
        let (load, check) = (median(load), median(check));
        Row {
            alternatives,
            bytes: text.len(),
            rounds,
            serde_json_ms: median(serde),
            load_ms: load,
            check_ms: check,
            load_ratio,
            ratio: whole,
            ns_per_alternative: (load + check) * 1e6 / alternatives as f64,
        }
    }
}

/// All that `wug check` works out.
fn all_checks(grammar: &wug_grammar::Grammar) -> bool {
    let facts = Facts::of(grammar);
    let diagnostics = check::check(grammar, &facts);
    let closing = Closing::of(grammar, &facts, ClosingMode::Min);
    let expected = expected_length(grammar, &facts, &closing, 16);
    std::hint::black_box((diagnostics, expected));
    true
}

fn millis(mut run: impl FnMut() -> bool) -> f64 {
    let begin = Instant::now();
    let worked = run();
    let time = begin.elapsed().as_secs_f64() * 1e3;
    assert!(worked, "the synthetic grammar is a grammar");
    time
}

/// Rules of ten alternatives, each of one to six symbols; every second
/// symbol calls another rule.
fn grammar(alternatives: usize) -> String {
    let rules = alternatives.div_ceil(10);
    let mut random = 0x2545_F491_4F6C_DD1Du64;
    let mut below = |n: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 33) as usize % n
    };
    let mut out = String::from("{\n");
    for rule in 0..rules {
        let name = if rule == 0 { "<start>".to_string() } else { format!("<rule_{rule}>") };
        out.push_str(&format!("  \"{name}\": ["));
        for alternative in 0..10 {
            out.push_str(if alternative > 0 { ", [" } else { "[" });
            for symbol in 0..1 + below(6) {
                out.push_str(if symbol > 0 { ", " } else { "" });
                match below(8) {
                    0..=3 => out.push_str(&format!("\"<rule_{}>\"", 1 + below(rules.max(2) - 1))),
                    4 => out.push_str("\" \\n\""),
                    5 => out.push_str("\"(\""),
                    _ => out.push_str(&format!("\"word{}\"", below(1000))),
                }
            }
            out.push(']');
        }
        out.push_str(if rule + 1 < rules { "],\n" } else { "]\n" });
    }
    out.push_str("}\n");
    out
}
