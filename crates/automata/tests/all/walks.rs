//! Walks: every one is an input, replays to its bytes and has a derivation.

use wug_automata::{Built, Form, Limits, TooShort, Walker, Weight};
use wug_grammar::testing::{lexical_grammar, productive_grammar};
use wug_grammar::transform::lower;
use wug_grammar::{Grammar, builtin};
use wug_parse::{Cache, Failure, Parser};
use wug_random::Rng;

#[derive(Default, Debug)]
struct Tally {
    walks: u32,
    parsed: u32,
    given_up: u32,
}

/// Draws walks of a grammar and judges each.
fn check(grammar: &Grammar, count: u64, max: u32, limits: Limits, tally: &mut Tally) -> Option<Built> {
    let lowered = lower::lower(grammar);
    let built = Built::new(Form::of(&lowered.grammar).ok()?, limits).ok()?;
    let parser = Parser::new(grammar).ok()?;
    let mut cache = Cache::new(&parser);
    let text = || wug_grammar::print::wug::print(grammar);
    for (turn, weight) in [Weight::One, Weight::Members].into_iter().enumerate() {
        let walker = Walker::new(&built.automaton, weight);
        for index in 0..count {
            let mut rng = Rng::new(turn as u64, index);
            let (mut walk, mut input) = (Vec::new(), Vec::new());
            match walker.walk(&mut || rng.wide(), max, &mut walk, &mut input) {
                Err(TooShort { least }) => {
                    assert!(least > max);
                    return Some(built);
                }
                Ok(()) => assert!(input.len() <= max as usize, "{} bytes", input.len()),
            }
            let mut again = Vec::new();
            assert!(built.automaton.replay(&walk, &mut again), "no walk: {walk:?}\n{}", text());
            assert_eq!(again, input);
            let derivation = built.derivation(&walk).expect("every walk has one");
            let mut printed = Vec::new();
            derivation.print(&built.form.grammar, &mut printed).expect("it fits the grammar");
            assert_eq!(printed, input, "{}", text());
            tally.walks += 1;
            // Where tokens may run together, inputs are checked by who asks.
            if lowered.unproven.is_empty() {
                match parser.parse(
                    &input,
                    &mut cache,
                    wug_parse::Limits { memory: 1 << 28, steps: 2_000_000 },
                ) {
                    Ok(_) => tally.parsed += 1,
                    Err(Failure::Limit(..)) => tally.given_up += 1,
                    Err(Failure::Rejected(why)) => {
                        panic!("{:?} is rejected: {why:?}\n{}", String::from_utf8_lossy(&input), text())
                    }
                }
            }
        }
    }
    Some(built)
}

#[test]
fn walks_of_made_up_grammars_are_inputs() {
    let mut tally = Tally::default();
    wug_property::check(|u| {
        let grammar = if u.ratio(1, 3)? { lexical_grammar(u)? } else { productive_grammar(u)? };
        let limits = Limits { stack: Some(u.int_in_range(1..=9)?), states: 5_000, transitions: 50_000 };
        check(&grammar, 4, 60, limits, &mut tally);
        Ok(())
    })
    .for_cases(100);
    eprintln!("{tally:?}");
    assert!(tally.parsed > 100, "{tally:?}");
}

#[test]
fn walks_of_built_in_grammars_are_inputs() {
    for builtin in builtin::all() {
        let grammar = builtin.load().expect("it loads").grammar;
        let mut tally = Tally::default();
        let built = check(&grammar, 30, 3_000, Limits::default(), &mut tally);
        let built = built.unwrap_or_else(|| panic!("{} has an automaton", builtin.name));
        eprintln!(
            "{}: {} states, {} transitions, limit {}, exact {}, nesting {:?}, {} bytes; {tally:?}",
            builtin.name,
            built.automaton.states().len(),
            built.automaton.unit_transitions(),
            built.stack_limit,
            built.exact,
            built.nesting,
            built.automaton.bytes(),
        );
        assert_eq!(tally.walks, 60, "{}", builtin.name);
    }
}

#[test]
fn all_transitions_are_equally_likely() {
    // Two words that share a transition, one of another, a small class, a
    // large one, a long word, and the end.
    let long = "l".repeat(100);
    let text = format!("s = ( ('a' | 'bb') | [x-z] | '(' s ')' | [\\u{{100}}-\\u{{2ff}}] | '{long}' )* ;");
    let grammar = crate::inputs::grammar(&text);
    let built = crate::inputs::build(&grammar, 3).expect("small");
    let kind = |input: &[u8]| match input.first() {
        None => 0,
        Some(b'a') => 1,
        Some(b'b') => 2,
        Some(b'x'..=b'z') => 3,
        Some(b'(') => 4,
        Some(b'l') => 5,
        Some(_) => 6,
    };
    const DRAWS: u32 = 100_000;
    for (weight, weights) in
        [(Weight::One, [1.0; 7]), (Weight::Members, [1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 512.0])]
    {
        let walker = Walker::new(&built.automaton, weight);
        // Near the limit, walks go another way in the code.
        for max in [1 << 20, 1_000] {
            let (mut counts, mut xs) = ([0u32; 7], [0u32; 3]);
            let (mut walk, mut input) = (Vec::new(), Vec::new());
            for index in 0..DRAWS {
                let mut rng = Rng::new(1, index.into());
                input.clear();
                walker.walk(&mut || rng.wide(), max, &mut walk, &mut input).expect("the empty input is one");
                counts[kind(&input)] += 1;
                if let Some(&first @ b'x'..=b'z') = input.first() {
                    xs[usize::from(first - b'x')] += 1;
                }
            }
            let total: f64 = weights.iter().sum();
            for (count, weight) in counts.into_iter().zip(weights) {
                let (p, n) = (weight / total, f64::from(DRAWS));
                let deviation = (n * p * (1.0 - p)).sqrt();
                assert!((f64::from(count) - n * p).abs() < 5.0 * deviation, "{weight:?}, {max}: {counts:?}");
            }
            let all = f64::from(xs.iter().sum::<u32>());
            let even = |&x: &u32| (f64::from(x) - all / 3.0).abs() < 5.0 * (all * 2.0 / 9.0).sqrt();
            assert!(xs.iter().all(even), "{xs:?}");
        }
    }
}
