//! The reference engine against the grammar it produces from.

use arbitrary::Unstructured;
use std::collections::HashMap;
use wug_grammar::derivation::Derivation;
use wug_grammar::facts::ClosingMode;
use wug_grammar::load::load_text;
use wug_grammar::{Grammar, Notation, enumerate, testing};
use wug_produce::mutate::Mutator;
use wug_produce::{Engine, Options, Program, Scratch, Unfit};
use wug_random::Rng;

fn wug(text: &str) -> Grammar {
    load_text("g.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

fn options(max_depth: u32, max_size: u64, closing: ClosingMode) -> Options {
    Options { max_depth, max_size, closing, printable: false }
}

fn produce(program: &Program, seed: u64, index: u64) -> Vec<u8> {
    let mut out = Vec::new();
    program
        .produce(Engine::Recursive, seed, index, &mut Scratch::default(), &mut out)
        .expect("there are no tokens");
    out
}

fn any_options(u: &mut Unstructured) -> arbitrary::Result<Options> {
    let closing = if u.arbitrary()? { ClosingMode::Min } else { ClosingMode::Cheap };
    Ok(options(u.int_in_range(0..=6)?, u.int_in_range(0..=40)?, closing))
}

#[test]
fn every_input_is_in_the_language_and_within_the_limit() {
    let mut long = 0;
    let property = |u: &mut Unstructured| {
        let grammar = testing::productive_grammar(u)?;
        let options = any_options(u)?;
        let seed = u.arbitrary()?;
        let program = match Program::new(&grammar, options) {
            Ok(program) => program,
            Err(Unfit::Size { least, limit }) => {
                assert!(least > limit);
                return Ok(());
            }
            Err(Unfit::Endless(_)) => panic!("the grammar is productive"),
        };
        let language = enumerate::enumerate(&grammar, 6, 3_000);
        for index in 0..20 {
            let input = produce(&program, seed, index);
            assert!(input.len() as u64 <= options.max_size);
            if let Some(language) = language.as_ref().filter(|_| input.len() <= 6) {
                assert!(language.contains(&input), "{input:?}");
                long += usize::from(input.len() > 2);
            }
        }
        Ok(())
    };
    wug_property::check(property).for_cases(200);
    assert!(long > 20, "only {long} inputs of more than two bytes were judged");
}

/// At the depth limit the size limit can force an alternative that closing
/// does not allow. The group in it must not be taken for an empty one.
#[test]
fn the_shortest_way_out_may_be_one_that_closing_does_not_allow() {
    let text = "s = t 'ab' | c{1,9} ; t = 'bb' s | c 'a' | 'abab' ; c = (c | t)+ | 'abbcabca' | s ;";
    let program = Program::new(&wug(text), options(1, 9, ClosingMode::Cheap)).unwrap();
    for index in 0..50 {
        let input = produce(&program, 1, index);
        assert!(input.len() >= 4, "{:?}", String::from_utf8_lossy(&input));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_came_before() {
    let property = |u: &mut Unstructured| {
        let grammar = testing::productive_grammar(u)?;
        let options = any_options(u)?;
        let Ok(program) = Program::new(&grammar, options) else { return Ok(()) };
        let seed = u.arbitrary()?;
        let mut scratch = Scratch::default();
        let mut out = Vec::new();
        for index in (0..10).rev() {
            let before = out.len();
            program.produce(Engine::Recursive, seed, index, &mut scratch, &mut out).unwrap();
            assert_eq!(out[before..], produce(&program, seed, index));
        }
        Ok(())
    };
    wug_property::check(property).for_cases(1_500);
}

/// Mean and standard error of the lengths of many inputs.
fn sampled(program: &Program, n: u64) -> (f64, f64) {
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    let (mut sum, mut squares) = (0.0, 0.0);
    for index in 0..n {
        out.clear();
        program.produce(Engine::Recursive, 1, index, &mut scratch, &mut out).unwrap();
        sum += out.len() as f64;
        squares += (out.len() as f64).powi(2);
    }
    let mean = sum / n as f64;
    (mean, ((squares / n as f64 - mean * mean).max(0.0) / n as f64).sqrt())
}

#[test]
fn the_mean_length_is_the_expected_one() {
    let texts = [
        "e = t '+' e | t '-' e | t ; t = f '*' t | f ; f = '(' e ')' | '-' f | [0-9]+ ('.' [0-9]{1,3})? ;",
        "s = @5 'ab' s | @2 s s | @20 x ; @depth(2) x = 'x' x 'x' | '' | . ; ",
        "l = '[' (i (',' i)*)? ']' ; i = l | @3 'n' | [a-zé€]{2,20} ;",
        "s = (a | b b){0,12} ; a = 'a' a | c ; @made @depth(9) b = 'b' b | 'c' ; c = s | ;",
    ];
    for text in texts {
        let grammar = wug(text);
        for closing in [ClosingMode::Min, ClosingMode::Cheap] {
            for depth in [0, 1, 2, 5, 9] {
                let program = Program::new(&grammar, options(depth, 1 << 30, closing)).unwrap();
                let expected = program.expected_length();
                if expected > 20_000.0 {
                    continue;
                }
                let (mean, error) = sampled(&program, 3_000);
                assert!(
                    (mean - expected).abs() <= 5.0 * error + 1e-6,
                    "{text} {depth}: {mean} {expected} {error}"
                );
            }
        }
    }
}

#[test]
fn completions_have_their_probabilities_not_equal_ones() {
    // F1's pools hold B's nine strings and C's one as ten equals.
    let grammar = wug("s = a ; a = b | c ; b = [1-9] ; c = '0' ;");
    let program = Program::new(&grammar, options(0, 100, ClosingMode::Min)).unwrap();
    let mut counts: HashMap<Vec<u8>, u32> = HashMap::new();
    for index in 0..18_000 {
        *counts.entry(produce(&program, 3, index)).or_default() += 1;
    }
    // 9,000 of '0', 1,000 of each other; six standard deviations.
    assert!(counts[&b"0"[..]].abs_diff(9_000) < 400, "{counts:?}");
    assert!((b'1'..=b'9').all(|d| counts[&[d][..]].abs_diff(1_000) < 190), "{counts:?}");
}

#[test]
fn closing_by_one_draw_has_the_distribution_of_choosing_one_by_one() {
    // 6 * 6 * 7 completions are drawn at once, 6 * 6 * 8 one by one.
    for (tail, pooled) in [("[0-6]", true), ("[0-7]", false)] {
        let text = format!("s = a a b ; a = @3 'x' | [p-r] | ('y' | @2 'z') ; b = {tail} ; ");
        let grammar = wug(&text);
        let program = Program::new(&grammar, options(0, 100, ClosingMode::Min)).unwrap();
        let ways = program.closing.completions(program.grammar.rule(program.grammar.start()).body);
        assert_eq!(ways <= wug_produce::pool::POOL, pooled, "{ways}");
        let n = 20_000;
        let xs: usize =
            (0..n).map(|i| produce(&program, 9, i)[..2].iter().filter(|&&c| c == b'x').count()).sum();
        let zs: usize =
            (0..n).map(|i| produce(&program, 9, i)[..2].iter().filter(|&&c| c == b'z').count()).sum();
        assert!((xs as f64 / (2 * n) as f64 - 0.6).abs() < 0.015, "{xs}");
        assert!((zs as f64 / (2 * n) as f64 - 2.0 / 15.0).abs() < 0.012, "{zs}");
    }
}

#[test]
fn a_limit_below_the_shortest_input_is_an_error() {
    let grammar = wug("s = 'abc' s | 'abcd' ;");
    let unfit = Program::new(&grammar, options(4, 3, ClosingMode::Min)).unwrap_err();
    assert_eq!(unfit, Unfit::Size { least: 4, limit: 3 });
    let program = Program::new(&grammar, options(1_000, 4, ClosingMode::Min)).unwrap();
    assert!((0..50).all(|i| produce(&program, 1, i) == b"abcd"));
}

#[test]
fn depth_counts_calls_of_written_rules_and_limits_hold() {
    let grammar = wug("s = '(' s ')' | '' ;");
    for depth in 0..5 {
        let program = Program::new(&grammar, options(depth, 1 << 20, ClosingMode::Min)).unwrap();
        let longest = (0..3_000).map(|i| produce(&program, 1, i).len()).max();
        assert_eq!(longest, Some(2 * depth as usize));
    }
    let limited = wug("s = t ; @depth(2) t = '(' u ')' | '' ; u = '[' u ']' | '' ;");
    let program = Program::new(&limited, options(50, 1 << 20, ClosingMode::Min)).unwrap();
    // Two levels are free: t itself and one u below it.
    assert_eq!((0..3_000).map(|i| produce(&program, 1, i).len()).max(), Some(4));
}

#[test]
fn hostile_grammars_come_to_an_end() {
    // Deep, wide, empty, and each doubling the last.
    let mut doubling = String::from("s = a0 'x'? ;\n");
    for i in 0..60 {
        doubling.push_str(&format!("a{i} = a{} a{} ;\n", i + 1, i + 1));
    }
    let empty = format!("{doubling} a60 = ;");
    let nullable = format!("{doubling} a60 = 'a' | @100 ;");
    let full = format!("{doubling} a60 = 'a' | ;");
    let texts = [
        empty.as_str(),
        &nullable,
        &full,
        "s = '(' s | ')' ;",
        "s = @1000 s s | ;",
        "s = @1000 s s | 'a' ;",
        "s = ('a'?){4000000000} ;",
        "s = (''){4000000000} 'b' ;",
        "s = s | 'a' | s s s s ;",
    ];
    for text in texts {
        let grammar = wug(text);
        for closing in [ClosingMode::Min, ClosingMode::Cheap] {
            let program = Program::new(&grammar, options(2_000_000, 3_000, closing)).unwrap();
            for index in 0..3 {
                assert!(produce(&program, 1, index).len() <= 3_000);
            }
        }
    }
}

/// Campaigns draw derivations; docs/semantics.md holds for them, too: the same
/// bits give the derivation of the same bytes.
#[test]
fn derivations_are_drawn_as_bytes_are() {
    let (mut inputs, mut nodes) = (0, 0);
    let property = |u: &mut Unstructured| {
        let grammar = testing::productive_grammar(u)?;
        let depth = u.int_in_range(0..=6)?;
        let seed = u.arbitrary()?;
        let max_size = u64::from(u32::MAX);
        let options = Options { max_depth: depth, max_size, printable: true, ..Options::default() };
        let Ok(program) = Program::new(&grammar, options) else { return Ok(()) };
        // Without a limit of size some are very long.
        if program.expected_length() > 2_000.0 {
            return Ok(());
        }
        let mut mutator = Mutator::new(&grammar).expect("it is productive");
        for index in 0..20 {
            let input = produce(&program, seed, index);
            let mut derivation = Derivation::default();
            let drawn = mutator.fresh(depth, usize::MAX, &mut Rng::new(seed, index), &mut derivation);
            if drawn.is_none() {
                assert!(input.len() > 1_000, "only very large derivations are given up");
                continue;
            }
            let mut printed = Vec::new();
            derivation.print(&grammar, &mut printed).expect("a derivation of the grammar");
            assert_eq!(printed, input, "{}", wug_grammar::print::wug::print(&grammar));
            inputs += usize::from(input.len() > 2);
            nodes += derivation.len();
        }
        Ok(())
    };
    wug_property::check(property).for_cases(300);
    assert!(inputs > 500 && nodes > 5_000, "{inputs} inputs, {nodes} nodes");
}

/// The profile of campaigns, as docs/semantics.md states it.
#[test]
fn campaigns_draw_mostly_printable_characters() {
    let grammar = wug("start = .{16} ;");
    let share = |text: &[char]| {
        let printable = |c: &&char| (' '..='~').contains(*c);
        text.iter().filter(printable).count() as f64 / text.len() as f64
    };
    let drawn = |printable: bool| -> Vec<char> {
        let program = Program::new(&grammar, Options { printable, ..Options::default() }).unwrap();
        let inputs = (0..500).map(|index| String::from_utf8(produce(&program, 1, index)).unwrap());
        inputs.flat_map(|input| input.chars().collect::<Vec<_>>()).collect()
    };
    assert!(share(&drawn(false)) < 0.01);
    let mostly = share(&drawn(true));
    assert!((0.86..0.89).contains(&mostly), "{mostly}");
}
