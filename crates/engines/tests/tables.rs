//! The table engine: the same bytes however they are made, and the
//! distribution of the reference engine.

use arbitrary::Unstructured;
use std::collections::HashMap;
use std::hash::Hash;
use wug_engines::tables::{Misfit, Tables};
use wug_grammar::facts::ClosingMode;
use wug_grammar::load::load_text;
use wug_grammar::{Grammar, Notation, builtin, enumerate, testing};
use wug_produce::{Engine, Options, Program, Scratch};

fn wug(text: &str) -> Grammar {
    load_text("g.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

fn options(max_depth: u32, max_size: u64) -> Options {
    Options { max_depth, max_size, ..Options::default() }
}

/// Inputs `0..n`, in pieces of `piece`, each with its index.
fn made(tables: &mut Tables, seed: u64, n: u64, piece: u64) -> Vec<Vec<u8>> {
    let work = (0..n.div_ceil(piece)).map(|i| i * piece..((i + 1) * piece).min(n));
    let mut inputs = Vec::new();
    for piece in tables.pieces(seed, work) {
        for (index, input) in piece.inputs() {
            assert_eq!(index, inputs.len() as u64);
            inputs.push(input.to_vec());
        }
    }
    assert_eq!(inputs.len() as u64, n);
    inputs
}

/// Makes the same inputs in all ways, once with only so many entries.
fn alike(program: &Program, seed: u64, n: u64, entries: usize) {
    let new = || match Tables::new(program, b"\n") {
        Ok(tables) => Some(tables),
        Err(Misfit::Relexed) => None,
        Err(misfit) => panic!("{misfit}"),
    };
    let Some(mut first) = new() else { return };
    let expected = made(&mut first, seed, n, 7);
    assert!(expected.iter().all(|input| input.len() as u64 <= program.options.max_size));
    for (lanes, piece) in [(1, 1), (1, 100), (2, 3), (3, 5), (8, 2)] {
        assert_eq!(made(&mut new().unwrap().with_lanes(lanes), seed, n, piece), expected, "{lanes} lanes");
    }
    assert_eq!(made(&mut new().unwrap().portable(), seed, n, 4), expected, "plain code");
    let mut small = new().unwrap().with_entries(entries);
    assert_eq!(made(&mut small, seed, n, 4), expected, "tables made again");
    // In any order, and after others.
    let mut one = Vec::new();
    for index in (0..n).rev().step_by(3) {
        one.clear();
        first.one(seed, index, &mut one);
        assert_eq!(one, expected[index as usize], "alone");
    }
}

#[test]
fn lanes_pieces_processors_and_memory_change_nothing() {
    let mut programs = 0;
    let property = |u: &mut Unstructured| {
        let grammar =
            if u.ratio(2, 3)? { testing::productive_grammar(u)? } else { testing::lexical_grammar(u)? };
        let closing = if u.arbitrary()? { ClosingMode::Min } else { ClosingMode::Cheap };
        let max_size = if u.arbitrary()? { u.int_in_range(0..=60)? } else { 1_000 };
        let options = Options { max_depth: u.int_in_range(0..=12)?, max_size, closing, printable: false };
        let Ok(program) = Program::new(&grammar, options) else { return Ok(()) };
        alike(&program, u.arbitrary()?, 20, 1_000);
        programs += 1;
        Ok(())
    };
    wug_property::check(property).for_cases(30);
    assert!(programs > 2, "{programs}");
}

#[test]
fn built_in_grammars_come_out_alike_in_all_ways() {
    for builtin in builtin::all() {
        let loaded = builtin.load().unwrap_or_else(|e| panic!("{e}"));
        for (max_depth, max_size) in [(3, 1 << 20), (12, 300)] {
            let Ok(program) = Program::new(&loaded.grammar, options(max_depth, max_size)) else { continue };
            alike(&program, 5, 30, 5_000);
        }
    }
}

#[test]
fn every_input_is_in_the_language() {
    let mut judged = 0;
    let property = |u: &mut Unstructured| {
        let grammar = testing::productive_grammar(u)?;
        let options = options(u.int_in_range(0..=6)?, u.int_in_range(0..=40)?);
        let Ok(program) = Program::new(&grammar, options) else { return Ok(()) };
        let Some(language) = enumerate::enumerate(&grammar, 6, 3_000) else { return Ok(()) };
        for input in made(&mut Tables::new(&program, b"").unwrap(), u.arbitrary()?, 60, 16) {
            if input.len() <= 6 {
                assert!(language.contains(&input), "{input:?}");
                judged += usize::from(input.len() > 2);
            }
        }
        Ok(())
    };
    wug_property::check(property).for_cases(100);
    assert!(judged > 5, "{judged}");
}

/// How far two samples are apart: the sum of chi-square over all values that
/// are common enough, the rest as one, in standard deviations.
fn apart<T: Hash + Eq>(a: &HashMap<T, u64>, b: &HashMap<T, u64>) -> f64 {
    let (na, nb): (u64, u64) = (a.values().sum(), b.values().sum());
    let (mut sum, mut free, mut rest) = (0.0, 0.0, (0u64, 0u64));
    let mut add = |x: u64, y: u64| {
        let (x, y, na, nb) = (x as f64, y as f64, na as f64, nb as f64);
        sum += (x * (nb / na).sqrt() - y * (na / nb).sqrt()).powi(2) / (x + y);
        free += 1.0;
    };
    for (value, &x) in a {
        let y = b.get(value).copied().unwrap_or(0);
        if x + y >= 40 { add(x, y) } else { rest = (rest.0 + x, rest.1 + y) }
    }
    for (value, &y) in b {
        if !a.contains_key(value) {
            if y >= 40 { add(0, y) } else { rest.1 += y }
        }
    }
    if rest.0 + rest.1 > 0 {
        add(rest.0, rest.1);
    }
    // Wilson and Hilferty: the cube root of chi-square is nearly normal.
    let free: f64 = (free - 1.0f64).max(1.0);
    ((sum / free).cbrt() - 1.0 + 2.0 / (9.0 * free)) / (2.0 / (9.0 * free)).sqrt()
}

fn counted<T: Hash + Eq>(values: impl Iterator<Item = T>) -> HashMap<T, u64> {
    let mut counts = HashMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

fn reference(program: &Program, seed: u64, n: u64) -> Vec<Vec<u8>> {
    let mut scratch = Scratch::default();
    let one = |index| {
        let mut out = Vec::new();
        program.produce(Engine::Recursive, seed, index, &mut scratch, &mut out).unwrap();
        out
    };
    (0..n).map(one).collect()
}

/// Compares whole inputs, lengths, pairs of bytes and ends with those of the
/// reference.
fn distributed_alike(program: &Program, seed: u64, n: u64) {
    let ours = made(&mut Tables::new(program, b"").unwrap(), seed, n, 100);
    let theirs = reference(program, seed, n);
    let check = |what: &str, far: f64| {
        assert!(far < 6.0, "{what} are {far:.1} standard deviations apart, seed {seed}");
    };
    check("inputs", apart(&counted(ours.iter()), &counted(theirs.iter())));
    let length = |input: &Vec<u8>| input.len();
    check("lengths", apart(&counted(ours.iter().map(length)), &counted(theirs.iter().map(length))));
    // One pair of each input: pairs of the same input are not independent.
    let pair = |(index, input): (usize, &Vec<u8>)| {
        let at = index * 31 % input.len().max(1);
        (input.get(at).copied(), input.get(at + 1).copied())
    };
    let pairs = |inputs: &[Vec<u8>]| counted(inputs.iter().enumerate().map(pair));
    check("pairs of bytes", apart(&pairs(&ours), &pairs(&theirs)));
    let last = |input: &Vec<u8>| input.iter().rev().take(3).copied().collect::<Vec<u8>>();
    check("ends", apart(&counted(ours.iter().map(last)), &counted(theirs.iter().map(last))));
}

/// Grammars with all that a grammar can have.
const GRAMMARS: [&str; 7] = [
    "s = @3 'x' s | [a-c] t | ; t = s 'y' | @2 '(' s ')' | [0-9] [0-9]? ;",
    "e = t '+' e | t '-' e | t ; t = f '*' t | f ; f = '(' e ')' | '-' f | [0-9]+ ('.' [0-9]{1,3})? ;",
    "s = @5 'ab' s | @2 s s | @20 x ; @depth(2) x = 'x' x 'x' | '' | . ; ",
    "l = '[' (i (',' i)*)? ']' ; i = l | @3 'n' | [a-zé€]{2,20} ;",
    "s = (a | b b){0,12} ; a = 'a' a | c ; @made @depth(9) b = 'b' b | 'c' ; c = s | ;",
    "s = 'k' s 'k' | t{3,5} | u{20} ; t = 'p' | 'q' | @9 [r-t] | 'a long text that needs two entries' ; u = 'v' | 'w' ;",
    "@depth(4) s = a | b ; a = '(' s ')' c | c ; b = s s | 'z' ; @depth(2) c = s | 'c' c | '' ;",
];

#[test]
fn inputs_are_distributed_as_those_of_the_reference() {
    for text in GRAMMARS {
        let grammar = wug(text);
        for closing in [ClosingMode::Min, ClosingMode::Cheap] {
            for max_depth in [0, 1, 2, 4, 9, 300] {
                let program = Program::new(
                    &grammar,
                    Options { max_depth, max_size: 1 << 20, closing, printable: false },
                )
                .unwrap();
                if program.expected_length() < 2_000.0 {
                    distributed_alike(&program, u64::from(max_depth), 3_000);
                }
            }
        }
    }
}

#[test]
fn near_the_size_limit_the_distribution_is_about_the_same() {
    for text in GRAMMARS {
        let grammar = wug(text);
        for max_size in [25, 30, 100] {
            for max_depth in [3, 8] {
                if let Ok(program) = Program::new(&grammar, options(max_depth, max_size)) {
                    distributed_alike(&program, max_size, 2_000);
                }
            }
        }
    }
}

#[test]
fn made_up_grammars_are_distributed_as_by_the_reference() {
    let property = |u: &mut Unstructured| {
        let grammar = testing::productive_grammar(u)?;
        let closing = if u.arbitrary()? { ClosingMode::Min } else { ClosingMode::Cheap };
        let options =
            Options { max_depth: u.int_in_range(0..=9)?, max_size: 1 << 20, closing, printable: false };
        let Ok(program) = Program::new(&grammar, options) else { return Ok(()) };
        if program.expected_length() > 200.0 {
            return Ok(());
        }
        distributed_alike(&program, u.arbitrary()?, 500);
        Ok(())
    };
    wug_property::check(property).for_cases(100);
}

#[test]
fn probabilities_are_the_exact_ones() {
    // Of 1,000 members each, by a sum that no engine takes part in.
    let grammar = wug("s = @3 'a' t | @2 t t | 'b' ; t = [0-9] | @4 'x' | 'y' s ;");
    let program = Program::new(&grammar, options(4, 1 << 20)).unwrap();
    let n = 200_000;
    let counts = counted(made(&mut Tables::new(&program, b"").unwrap(), 3, n, 1000).into_iter());
    // s is free at 4 and 2 levels left, t at 3 and 1; at 0, s is 'b'.
    for (text, probability) in [
        ("b", 1.0 / 6.0),
        ("ax", 3.0 / 6.0 * 4.0 / 6.0),
        ("a7", 3.0 / 6.0 / 6.0 / 10.0),
        ("ayb", 3.0 / 6.0 / 6.0 / 6.0),
        ("xx", 2.0 / 6.0 * 4.0 / 6.0 * 4.0 / 6.0),
        ("5y", 0.0),
        ("yb3", 2.0 / 6.0 / 6.0 / 6.0 / 6.0 / 10.0),
        ("ayayb", 3.0 / 6.0 / 6.0 * 3.0 / 6.0 / 6.0),
    ] {
        let expected = probability * n as f64;
        let found = counts.get(text.as_bytes()).copied().unwrap_or(0) as f64;
        assert!((found - expected).abs() <= 5.0 * expected.sqrt(), "{text}: {found}, not {expected}");
    }
}

#[test]
fn of_many_forms_each_has_its_probability() {
    // More than a table draws from at once, and weights without a common
    // denominator.
    let words =
        (0..240).map(|word| format!("@{} 'w{word};' x", 1 + word % 7)).collect::<Vec<_>>().join(" | ");
    let grammar = wug(&format!("s = {words} ; x = @3 'a' | @4 'b' ;"));
    let program = Program::new(&grammar, options(4, 1 << 20)).unwrap();
    let n = 400_000;
    let counts = counted(made(&mut Tables::new(&program, b"").unwrap(), 5, n, 1000).into_iter());
    let total: u64 = (0..240).map(|word| 1 + word % 7).sum();
    for word in 0..240 {
        for (letter, share) in [("a", 3.0 / 7.0), ("b", 4.0 / 7.0)] {
            let expected = (1 + word % 7) as f64 / total as f64 * share * n as f64;
            let found = counts.get(format!("w{word};{letter}").as_bytes()).copied().unwrap_or(0) as f64;
            assert!(
                (found - expected).abs() <= 5.0 * expected.sqrt(),
                "{word}{letter}: {found}, not {expected}"
            );
        }
    }
}

#[test]
fn means_are_the_expected_ones() {
    let mut grammars: Vec<Grammar> = GRAMMARS.iter().map(|text| wug(text)).collect();
    grammars.extend(builtin::all().iter().map(|b| b.load().unwrap_or_else(|e| panic!("{e}")).grammar));
    for grammar in &grammars {
        for max_depth in [2, 9] {
            let program = Program::new(grammar, options(max_depth, 1 << 40)).unwrap();
            let expected = program.expected_length();
            let Ok(mut tables) = Tables::new(&program, b"") else { continue };
            if expected > 5_000.0 {
                continue;
            }
            let n = 5_000;
            let lengths: Vec<f64> = made(&mut tables, 1, n, 500).iter().map(|i| i.len() as f64).collect();
            let mean = lengths.iter().sum::<f64>() / n as f64;
            let variance = lengths.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / n as f64;
            let error = (variance / n as f64).sqrt();
            let name = grammar.name(grammar.start());
            assert!(
                (mean - expected).abs() <= 5.0 * error + 1e-6,
                "{name} {max_depth}: {mean}, not {expected}"
            );
        }
    }
}

#[test]
fn randomness_is_fresh() {
    // Distinct inputs among many, as many as by the reference.
    let grammar = wug("s = e ; e = t '+' e | t '-' e | t ; t = f '*' t | f '/' t | f ;
         f = '+' f | '-' f | '(' e ')' | i '.' i | i ; i = d i | d ; d = [0-9] ;");
    let program = Program::new(&grammar, options(8, 1 << 20)).unwrap();
    let n = 50_000;
    let ours = counted(made(&mut Tables::new(&program, b"").unwrap(), 1, n, 500).into_iter()).len();
    let theirs = counted(reference(&program, 1, n).into_iter()).len();
    // Each has a standard deviation below the root of n.
    assert!((ours as f64 - theirs as f64).abs() < 5.0 * (2.0 * n as f64).sqrt(), "{ours} {theirs}");
}

#[test]
fn what_does_not_fit_is_told() {
    let program = Program::new(&wug("s = 'a' s | ;"), options(70_000, 1 << 20)).unwrap();
    assert_eq!(Tables::new(&program, b"").unwrap_err(), Misfit::Depth);
    let program = Program::new(&wug("s = 'a' s | ;"), options(10, 1 << 20)).unwrap();
    assert_eq!(Tables::new(&program, &[b'-'; 29]).unwrap_err(), Misfit::Separator);
}

#[test]
fn separators_stand_behind_each_input() {
    let program = Program::new(&wug("s = 'a' s | 'b' ;"), options(10, 1 << 20)).unwrap();
    let mut tables = Tables::new(&program, b"<sep>").unwrap();
    for piece in tables.pieces(1, std::iter::once(0..50)) {
        let joined: Vec<u8> = piece.inputs().flat_map(|(_, input)| [input, b"<sep>"].concat()).collect();
        assert_eq!(piece.bytes(), joined);
        assert_eq!(piece.len(), 50);
    }
}
