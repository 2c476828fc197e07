//! Mutations of walks: every result is an input.

use crate::inputs::{grammar, inputs};
use wug_automata::{
    Automaton, Built, Form, Limits, Mutant, Pool, Reader, Trace, Tracer, Unread, Walker, Weight,
};
use wug_grammar::testing::productive_grammar;
use wug_grammar::transform::lower;
use wug_grammar::{Grammar, builtin};
use wug_parse::{Cache, Failure, Parser};
use wug_random::Rng;

fn built(grammar: &Grammar, limits: Limits) -> Option<Built> {
    Built::new(Form::of(&lower::lower(grammar).grammar).ok()?, limits).ok()
}

/// Mutates walks `count` times; `judge` sees each result that came about.
fn mutate(automaton: &Automaton, seed: u64, count: u64, max: u32, judge: &mut impl FnMut(&[u8])) -> [u64; 3] {
    let walker = Walker::new(automaton, Weight::One);
    let mut rng = Rng::new(seed, 0);
    let random = &mut || rng.wide();
    let (mut pool, mut traces) = (Pool::default(), Vec::new());
    let mut tracer = Tracer::new(&walker);
    for _ in 0..20 {
        let (mut walk, mut input, mut trace) = (Vec::new(), Vec::new(), Trace::default());
        if walker.walk(random, max, &mut walk, &mut input).is_err() {
            return [0; 3];
        }
        assert!(tracer.trace(&walk, &mut trace));
        assert_eq!((trace.steps(), trace.bytes()), (&walk[..], &input[..]));
        assert!(pool.add(&trace));
        traces.push(trace);
    }
    let (mut into, mut plain, mut done) = (Mutant::default(), Mutant::default(), [0; 3]);
    for turn in 0..count {
        let at = random() as usize % traces.len();
        let (trace, walk) = (&traces[at], walker.untraced(traces[at].steps()));
        let which = (turn % 3) as usize;
        // Twice with the same bits, with a trace and without one.
        let (mut rng, mut same) = (Rng::new(seed, turn + 1), Rng::new(seed, turn + 1));
        let (random, same) = (&mut || rng.wide(), &mut || same.wide());
        let (made, agrees) = match which {
            0 => (walker.random(trace, random, max, &mut into), walk.random(same, max, &mut plain)),
            1 => (trace.splice(&pool, random, max, &mut into), walk.splice(&pool, same, max, &mut plain)),
            _ => (trace.recurse(random, max, &mut into), false),
        };
        if which < 2 {
            assert_eq!(made, agrees, "mutation {which} of {trace:?}");
            assert!(!made || (&into.steps, &into.bytes) == (&plain.steps, &plain.bytes), "{trace:?}");
        }
        if !made {
            continue;
        }
        done[which] += 1;
        let mut again = Vec::new();
        assert!(automaton.replay(&into.steps, &mut again), "mutation {which} of {trace:?}: {into:?}");
        assert_eq!(again, into.bytes, "mutation {which}");
        assert!(again.len() <= max as usize);
        judge(&again);
        // What was made is mutated again.
        assert!(tracer.trace(&into.steps, &mut traces[at]));
    }
    done
}

#[test]
fn a_hundred_thousand_mutations_make_no_invalid_input() {
    let text = "s = '(' t ')' | s '+' s | 'x' ; t = (s ',')* s | ;";
    let grammar = grammar(text);
    let built = built(&grammar, Limits { stack: Some(6), ..Limits::default() }).expect("small");
    let parser = Parser::new(&grammar).expect("small");
    let mut cache = Cache::new(&parser);
    let limits = wug_parse::Limits { memory: 1 << 28, steps: 10_000_000 };
    let mut judged = std::collections::HashSet::new();
    let done = mutate(&built.automaton, 1, 100_000, 60, &mut |input| {
        if judged.insert(input.to_vec()) {
            let parsed = parser.parse(input, &mut cache, limits);
            assert!(parsed.is_ok(), "{:?}: {:?}", String::from_utf8_lossy(input), parsed.err());
        }
    });
    eprintln!("{done:?}, {} distinct inputs", judged.len());
    assert!(done.iter().sum::<u64>() > 80_000 && done.iter().all(|&d| d > 10_000), "{done:?}");
}

#[test]
fn mutations_of_made_up_grammars_make_inputs() {
    let mut all = [0; 3];
    wug_property::check(|u| {
        let grammar = productive_grammar(u)?;
        let limits = Limits { stack: Some(u.int_in_range(1..=7)?), states: 2_000, transitions: 20_000 };
        let Some(built) = built(&grammar, limits) else { return Ok(()) };
        let Ok(parser) = Parser::new(&grammar) else { return Ok(()) };
        let mut cache = Cache::new(&parser);
        let limits = wug_parse::Limits { memory: 1 << 26, steps: 1_000_000 };
        let done = mutate(&built.automaton, 2, 60, 40, &mut |input| {
            if let Err(Failure::Rejected(why)) = parser.parse(input, &mut cache, limits) {
                let text = wug_grammar::print::wug::print(&grammar);
                panic!("{:?} is rejected: {why:?}\n{text}", String::from_utf8_lossy(input));
            }
        });
        (0..3).for_each(|i| all[i] += done[i]);
        Ok(())
    })
    .for_cases(300);
    eprintln!("{all:?}");
    assert!(all.iter().all(|&done| done > 50), "{all:?}");
}

/// Steps from anywhere are traced if the automaton replays them, and else
/// neither traced nor a danger.
#[test]
fn steps_from_anywhere_are_walks_or_are_refused() {
    let (mut walks, mut refused) = (0, 0);
    wug_property::check(|u| {
        let grammar = productive_grammar(u)?;
        let limits = Limits { stack: Some(u.int_in_range(1..=7)?), states: 2_000, transitions: 20_000 };
        let Some(built) = built(&grammar, limits) else { return Ok(()) };
        let walker = Walker::new(&built.automaton, Weight::One);
        let (mut tracer, mut trace, mut into) = (Tracer::new(&walker), Trace::default(), Mutant::default());
        let mut rng = Rng::new(3, 0);
        for turn in 0..30 {
            let (mut steps, mut input) = (Vec::new(), Vec::new());
            let _ = walker.walk(&mut || rng.wide(), 40, &mut steps, &mut input);
            for step in &mut steps {
                if rng.below(8) == 0 {
                    *step = [u32::MAX, rng.wide() as u32, *step ^ 1][rng.below(3) as usize];
                }
            }
            if turn % 3 == 0 {
                steps.push(rng.wide() as u32);
            }
            input.clear();
            let good = built.automaton.replay(&steps, &mut input);
            assert_eq!(tracer.trace(&steps, &mut trace), good, "{steps:?}");
            assert!(!good || trace.bytes() == input);
            if walker.untraced(&steps).random(&mut || rng.wide(), 40, &mut into) {
                input.clear();
                assert!(built.automaton.replay(&into.steps, &mut input) && input == into.bytes, "{into:?}");
            }
            (walks, refused) = (walks + u32::from(good), refused + u32::from(!good));
        }
        Ok(())
    })
    .for_cases(2_000);
    assert!(walks > 100 && refused > 100, "{walks} {refused}");
}

#[test]
fn mutations_of_built_in_grammars_make_inputs() {
    for builtin in builtin::all() {
        let grammar = builtin.load().expect("it loads").grammar;
        let limits = Limits { stack: None, states: 20_000, transitions: 200_000 };
        let built = built(&grammar, limits).expect("an automaton");
        let parser = Parser::new(&grammar).expect("a parser");
        let mut cache = Cache::new(&parser);
        let mut judged = 0;
        let done = mutate(&built.automaton, 3, 300, 500, &mut |input| {
            let parsed = parser.parse(input, &mut cache, wug_parse::Limits::default());
            assert!(parsed.is_ok(), "{}: {:?}", builtin.name, String::from_utf8_lossy(input));
            judged += 1;
        });
        assert!(done.iter().all(|&d| d > 20), "{}: {done:?}", builtin.name);
        assert_eq!(judged, done.iter().sum::<u64>());
    }
}

#[test]
fn inputs_become_walks_again() {
    let mut read = 0;
    wug_property::check(|u| {
        let grammar = productive_grammar(u)?;
        let limits = Limits { stack: Some(5), states: 2_000, transitions: 20_000 };
        let Some(built) = built(&grammar, limits) else { return Ok(()) };
        let Some(all) = inputs(&built.automaton, 4) else { return Ok(()) };
        let reader = Reader::new(&built.automaton);
        for input in &all {
            let walk = reader.read(input).expect("the automaton has it");
            let mut again = Vec::new();
            assert!(built.automaton.replay(&walk, &mut again));
            assert_eq!(&again, input);
            read += 1;
            // What is not an input has no walk.
            let mut other = input.clone();
            other.push(b'a');
            assert!(other.len() > 4 || reader.read(&other).is_ok() == all.contains(&other));
        }
        Ok(())
    })
    .for_cases(3_000);
    assert!(read > 200, "{read}");
}

#[test]
fn an_input_beyond_the_limit_has_no_walk() {
    let built = built(&grammar("s = '(' s ')' | 'x' ;"), Limits { stack: Some(3), ..Limits::default() });
    let built = built.expect("small");
    let reader = Reader::new(&built.automaton);
    assert!(reader.read(b"(((x)))").is_ok());
    assert_eq!(reader.read(b"((((x))))"), Err(Unread::Beyond(3)));
}

#[test]
fn many_words_are_read_as_few_are() {
    let words: Vec<String> = (0..200).map(|i| format!("{:b}", i)).collect();
    let text = format!("s = ({})+ ;", words.iter().map(|w| format!("'{w}'")).collect::<Vec<_>>().join(" | "));
    let built = built(&grammar(&text), Limits::default()).expect("small");
    let reader = Reader::new(&built.automaton);
    for word in &words {
        let mut again = Vec::new();
        assert!(built.automaton.replay(&reader.read(word.as_bytes()).expect("a word"), &mut again));
        assert_eq!(again, word.as_bytes());
    }
    assert!(reader.read(b"10200").is_err());
}
