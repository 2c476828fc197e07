//! How long a large F1 grammar takes to load, compared with what
//! `serde_json` takes to parse the same text.
//!
//! `cargo run --release -p wug-grammar --example load_time [ALTERNATIVES]`

use std::time::{Duration, Instant};
use wug_grammar::Notation;
use wug_grammar::load::load_text;

fn main() {
    let alternatives = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let text = grammar(alternatives);
    println!("{alternatives} alternatives, {} bytes", text.len());
    let serde = best(|| serde_json::from_str::<serde_json::Value>(&text).map(|_| ()).is_ok());
    let ours = best(|| load_text("grammar.json", &text, Notation::F1).map(|_| ()).is_ok());
    println!("serde_json {serde:?}, load {ours:?}, ratio {:.2}", ours.as_secs_f64() / serde.as_secs_f64());
}

/// The shortest of many runs: others only add to it.
fn best(mut run: impl FnMut() -> bool) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..50 {
        let begin = Instant::now();
        assert!(run());
        best = best.min(begin.elapsed());
    }
    best
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
