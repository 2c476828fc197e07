//! The table engine on the grammars of the papers: lengths against what
//! theory gives, and how many inputs differ.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use wug_engines::tables::Tables;
use wug_engines::{Calls, Vm};
use wug_grammar::load::load_text;
use wug_grammar::{Notation, testing};
use wug_produce::{Options, Program, Scratch};

/// Compares mean lengths with the expected ones, by about so many bytes of
/// each grammar at each depth; gives how many were compared.
fn means(depths: &[u32], bytes: f64) -> usize {
    let mut compared = 0;
    for (name, grammar) in testing::shared() {
        for &max_depth in depths {
            // The cap is out of reach.
            let options = Options { max_depth, max_size: 1 << 40, ..Options::default() };
            let program = Program::new(&grammar, options).unwrap();
            let expected = program.expected_length();
            if expected > bytes / 200.0 {
                continue;
            }
            let n = (bytes / expected.max(1.0)) as u64;
            let mut tables = Tables::new(&program, b"").unwrap();
            let (mut sum, mut squares) = (0.0, 0.0);
            for piece in tables.pieces(1, (0..n.div_ceil(500)).map(|i| i * 500..((i + 1) * 500).min(n))) {
                for length in piece.lengths() {
                    sum += length as f64;
                    squares += (length as f64).powi(2);
                }
            }
            let mean = sum / n as f64;
            let error = ((squares / n as f64 - mean * mean).max(0.0) / n as f64).sqrt();
            let far = (mean - expected).abs();
            assert!(far <= 5.0 * error + 1e-6, "{name} at depth {max_depth}: {mean}, not {expected}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn mean_lengths_are_the_expected_ones() {
    let compared = means(&[8, 32], 1e6);
    assert!(compared > 10 || testing::shared().is_empty(), "{compared}");
}

#[test]
#[ignore = "takes minutes; .ci/long runs it"]
fn mean_lengths_are_the_expected_ones_at_all_depths() {
    let compared = means(&[0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128], 5e7);
    assert!(compared > 80 || testing::shared().is_empty(), "{compared}");
}

/// What tells inputs apart: two that differ have the same with a probability
/// of 2^-64.
fn mark(input: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    hasher.finish()
}

#[test]
#[ignore = "takes a minute; .ci/long runs it"]
fn as_many_of_a_million_inputs_differ_as_by_the_reference() {
    let Some((_, grammar)) = testing::shared().into_iter().find(|(name, _)| name == "f1_expr.json") else {
        return;
    };
    let program = Program::new(&grammar, Options { max_depth: 8, ..Options::default() }).unwrap();
    let n = 1_000_000;
    let mut tables = Tables::new(&program, b"").unwrap();
    let mut ours = HashSet::new();
    for piece in tables.pieces(1, (0..n / 1_000).map(|i| i * 1_000..(i + 1) * 1_000)) {
        ours.extend(piece.inputs().map(|(_, input)| mark(input)));
    }
    let (mut theirs, mut scratch, mut out) = (HashSet::new(), Scratch::default(), Vec::new());
    let (vm, mut calls) = (Vm::new(&program), Calls::default());
    for index in 0..n {
        out.clear();
        vm.produce(1, index, &mut calls, &mut scratch, &mut out).unwrap();
        theirs.insert(mark(&out));
    }
    let (ours, theirs) = (ours.len() as f64, theirs.len() as f64);
    // Each has a standard deviation below half the root of n.
    assert!((ours - theirs).abs() < 5.0 * (n as f64 / 2.0).sqrt(), "{ours} {theirs}");
}

/// Nanoseconds that this thread had a processor.
fn cpu() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_ascii_whitespace().next().unwrap().parse().unwrap()
}

#[test]
#[ignore = "a ratio of times; .ci/long runs it"]
fn tables_of_a_large_grammar_are_ready_sooner_than_64_mib() {
    let rules = 1250;
    let mut text = String::from("s = n0 ;\n");
    for i in 0..rules {
        let [a, b, c] = [i * 7 + 1, i * 13 + 5, i * 31 + 11].map(|n| n % rules);
        text.push_str(&format!("n{i} = 'x{i}' | 'a' n{a} 'b' | n{b} 'kw{i}' n{c} | 'yy' ;\n"));
    }
    let grammar = load_text("large.wug", &text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar;
    let program = Program::new(&grammar, Options { max_depth: 32, ..Options::default() }).unwrap();
    let start = cpu();
    let mut tables = Tables::new(&program, b"").unwrap();
    tables.one(1, 0, &mut Vec::new());
    let ready = cpu();
    let (inputs, mut bytes) = (tables.piece_inputs(), 0);
    for piece in tables.pieces(1, (0..).map(|i: u64| i * inputs..(i + 1) * inputs)) {
        bytes += piece.bytes().len();
        if bytes >= 64 << 20 {
            break;
        }
    }
    let (ready, made) = (ready - start, cpu() - ready);
    assert!(ready < made, "ready after {ready} ns, 64 MiB after {made} ns more");
}
