//! Walks over stacks that are made when they are met.

use crate::inputs::grammar;
use wug_automata::{Built, Form, Limits, Mutant, Pool, Reader, Stacks, Trace, Unread, Walker, Weight};
use wug_grammar::testing::productive_grammar;
use wug_grammar::transform::lower;
use wug_grammar::{Grammar, builtin};
use wug_parse::{Cache, Failure, Parser};
use wug_produce::lexemes::{Layout, Met, Printer};
use wug_produce::mutate::Mutator;
use wug_produce::{Engine, Options, Program, Scratch};
use wug_random::Rng;

fn form(grammar: &Grammar) -> Option<Form> {
    Form::of(&lower::lower(grammar).grammar).ok()
}

/// Inputs that know nothing of automata.
fn produced(grammar: &Grammar, count: u64, depth: u32) -> Vec<Vec<u8>> {
    let options = Options { max_depth: depth, max_size: 2_000, ..Options::default() };
    let lowered = lower::lower(grammar);
    let Ok(program) = Program::lowered(lowered, options) else { return Vec::new() };
    let mut scratch = Scratch::default();
    let mut make = |index| {
        let mut out = Vec::new();
        program.produce(Engine::Recursive, 1, index, &mut scratch, &mut out).map(|()| out)
    };
    (0..count).filter_map(&mut make).collect()
}

/// Reads inputs, and mutates their walks `count` times; `judge` sees each
/// result that came about.
fn mutate(
    stacks: &mut Stacks,
    inputs: &[Vec<u8>],
    count: u64,
    max: u32,
    judge: &mut impl FnMut(&[u8]),
) -> [u64; 3] {
    let mut rng = Rng::new(3, 0);
    let random = &mut || rng.wide();
    let (mut pool, mut traces) = (Pool::default(), Vec::new());
    for input in inputs {
        let walk = match stacks.read(input) {
            Err(Unread::TooMuch) => continue,
            walk => walk.unwrap_or_else(|why| panic!("{why:?}: {}", String::from_utf8_lossy(input))),
        };
        let mut trace = Trace::default();
        assert!(stacks.trace(&walk, &mut trace));
        assert_eq!((trace.steps(), trace.bytes()), (&walk[..], &input[..]));
        assert!(pool.add(&trace));
        traces.push(trace);
    }
    let (mut into, mut done, mut again) = (Mutant::default(), [0; 3], Trace::default());
    for turn in 0..count * u64::from(!traces.is_empty()) {
        let at = random() as usize % traces.len();
        let which = (turn % 3) as usize;
        let made = match which {
            0 => stacks.random(&traces[at], random, max, &mut into),
            1 => traces[at].splice(&pool, random, max, &mut into),
            _ => traces[at].recurse(random, max, &mut into),
        };
        if !made {
            continue;
        }
        done[which] += 1;
        assert!(stacks.trace(&into.steps, &mut again), "mutation {which}: {into:?}");
        assert_eq!(again.bytes(), into.bytes, "mutation {which}");
        assert!(into.bytes.len() <= max as usize);
        judge(&into.bytes);
        // What was made is mutated again.
        std::mem::swap(&mut traces[at], &mut again);
    }
    done
}

#[test]
fn mutations_over_stacks_make_inputs() {
    let mut all = [0; 3];
    wug_property::check(|u| {
        let grammar = productive_grammar(u)?;
        let Some(form) = form(&grammar) else { return Ok(()) };
        let Ok(mut stacks) = Stacks::new(&form) else { return Ok(()) };
        let Ok(parser) = Parser::new(&grammar) else { return Ok(()) };
        let mut cache = Cache::new(&parser);
        let limits = wug_parse::Limits { memory: 1 << 26, steps: 1_000_000 };
        let mut inputs = produced(&grammar, 12, 8);
        inputs.retain(|input| input.len() <= 100);
        let done = mutate(&mut stacks, &inputs, 60, 100, &mut |input| {
            if let Err(Failure::Rejected(why)) = parser.parse(input, &mut cache, limits) {
                let text = wug_grammar::print::wug::print(&grammar);
                panic!("{:?} is rejected: {why:?}\n{text}", String::from_utf8_lossy(input));
            }
        });
        (0..3).for_each(|i| all[i] += done[i]);
        Ok(())
    })
    .for_cases(40);
    eprintln!("{all:?}");
    assert!(all.iter().all(|&done| done > 50), "{all:?}");
}

/// Walks from token to token: what stands between these does not matter.
#[test]
fn every_input_of_a_built_in_grammar_has_a_walk() {
    for builtin in builtin::all() {
        let name = builtin.name;
        let grammar = builtin.load().expect("it loads").grammar;
        let printer = Printer::new(&grammar).expect("tokens");
        let form = Form::of(&printer.marked().expect("few tokens")).expect("a form");
        let mut stacks = Stacks::new(&form).expect("it is numbered");
        let parser = Parser::new(&grammar).expect("a parser");
        let mut cache = Cache::new(&parser);
        let limits = wug_parse::Limits::default();
        let inputs = produced(&grammar, 60, 10);
        let longest = inputs.iter().map(Vec::len).max();
        assert!(inputs.len() == 60 && longest > Some(100), "{name}: {longest:?}");
        let (mut layout, mut out, mut texts) = (Layout::default(), Vec::new(), Vec::new());
        let (mut met, mut mutator) = (Met::default(), Mutator::new(&grammar).expect("it derives"));
        let mut rng = Rng::new(8, 0);
        let mut draw = |rule, text: &mut Vec<u8>| mutator.append_lexeme(rule, &mut rng, text);
        for input in &inputs {
            let mut text = Vec::new();
            printer.mark(input, &mut met, &mut text).expect("tokens");
            let walk = stacks.read(&text);
            assert!(walk.is_ok(), "{name}: {walk:?}: {}", String::from_utf8_lossy(input));
            let unmarked = printer.unmark(&text, &met, &mut draw, &mut layout, &mut out);
            unmarked.expect("its tokens can be kept apart");
            let mut again = Vec::new();
            printer.mark(&out, &mut met, &mut again).expect("tokens");
            assert_eq!(again, text, "{name}");
            texts.push(text);
        }
        let (mut judged, mut refused) = (0, 0);
        let done = mutate(&mut stacks, &texts, 300, 4_000, &mut |text| {
            if printer.unmark(text, &met, &mut draw, &mut layout, &mut out).is_none() {
                refused += 1;
                return;
            }
            judged += 1;
            let parsed = parser.parse(&out, &mut cache, limits);
            assert!(parsed.is_ok(), "{name}: {:?}", String::from_utf8_lossy(&out));
        });
        assert!(done.iter().all(|&d| d > 20), "{name}: {done:?}");
        assert!(judged > 9 * refused, "{name}: {refused} refused, {judged} not");
    }
}

/// What an automaton has walks for is read over stacks, and nothing that no
/// automaton reads.
#[test]
fn stacks_and_automata_read_the_same() {
    let (mut read, mut refused) = (0, 0);
    wug_property::check(|u| {
        let grammar = productive_grammar(u)?;
        let limits = Limits { stack: Some(7), states: 2_000, transitions: 20_000 };
        let Some(Ok(built)) = form(&grammar).map(|form| Built::new(form, limits)) else { return Ok(()) };
        let Ok(mut stacks) = Stacks::new(&built.form) else { return Ok(()) };
        let reader = Reader::new(&built.automaton);
        let walker = Walker::new(&built.automaton, Weight::One);
        for index in 0..8 {
            let mut rng = Rng::new(5, index);
            let (mut walk, mut input) = (Vec::new(), Vec::new());
            if walker.walk(&mut || rng.wide(), 40, &mut walk, &mut input).is_err() {
                continue;
            }
            // Very ambiguous grammars have too many stacks at once.
            let walk = stacks.read(&input);
            if walk == Err(Unread::TooMuch) {
                continue;
            }
            assert!(walk.is_ok(), "{walk:?}: {}", String::from_utf8_lossy(&input));
            read += 1;
            if !input.is_empty() && built.exact {
                let at = rng.below(input.len() as u32) as usize;
                input[at] = b' ' + rng.below(90) as u8;
                assert_eq!(reader.read(&input).is_ok(), stacks.read(&input).is_ok());
                refused += u32::from(reader.read(&input).is_err());
            }
        }
        Ok(())
    })
    .for_cases(2_000);
    eprintln!("{read} read, {refused} refused");
    assert!(read > 200 && refused > 50, "{read}, {refused}");
}

#[test]
fn nesting_has_no_limit_but_memory() {
    let form = form(&grammar("s = '(' s ')' | 'x' ;")).expect("a form");
    let mut stacks = Stacks::new(&form).expect("it is numbered");
    let nested = |depth: usize| [vec![b'('; depth], b"x".to_vec(), vec![b')'; depth]].concat();
    assert!(stacks.read(&nested(20_000)).is_ok());
    assert_eq!(stacks.read(&nested(2_000_000)), Err(Unread::TooMuch));
    // What was met is still known; more is not, until it is forgotten.
    assert!(stacks.read(&nested(20_000)).is_ok());
    stacks.forget();
    assert!(stacks.is_empty() && stacks.read(&nested(20_000)).is_ok());
    assert_eq!(stacks.read(b"(x"), Err(Unread::Beyond(2)));
}
