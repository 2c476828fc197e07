//! Every input of every engine parses and prints back: the parser
//! shares no code with the producers, so neither can hide a mistake of the
//! other.
//!
//! The engines that make choices, emitted C among them, give the same bytes;
//! tables give others. All are asked for in each test of whole grammars.

mod emitted;

use wug_engines::tables::Tables;
use wug_engines::{Calls, Vm};
use wug_grammar::testing::{self, lexical_grammar, productive_grammar};
use wug_grammar::{Grammar, builtin};
use wug_parse::{Cache, Failure, Limits, Parser};
use wug_produce::{Engine, Options, Program, Scratch};

/// What became of the inputs of a grammar.
#[derive(Debug, Default)]
struct Tally {
    inputs: usize,
    /// Of these, made by tables.
    by_tables: usize,
    /// Made by emitted C, and compared with the reference.
    by_c: usize,
    /// Given up by the parser.
    given_up: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.inputs += other.inputs;
        self.by_tables += other.by_tables;
        self.by_c += other.by_c;
        self.given_up += other.given_up;
    }
}

/// How many inputs of which kind.
#[derive(Clone, Copy)]
struct Wanted {
    count: u64,
    seed: u64,
    depth: u32,
    max_size: u64,
    /// Also by emitted C.
    c: bool,
}

/// A grammar, and what it takes to judge inputs of it.
struct Judge<'g> {
    grammar: &'g Grammar,
    parser: Parser<'g>,
    cache: Cache,
    tally: Tally,
}

impl<'g> Judge<'g> {
    fn new(grammar: &'g Grammar) -> Option<Judge<'g>> {
        let parser = Parser::new(grammar).ok()?;
        Some(Judge { grammar, cache: Cache::new(&parser), parser, tally: Tally::default() })
    }

    fn judge(&mut self, input: &[u8]) {
        self.tally.inputs += 1;
        self.tally.given_up +=
            usize::from(parse(&self.parser, &mut self.cache, self.grammar, input).is_err());
    }
}

/// Parses `text` and checks that it prints back.
fn parse(
    parser: &Parser,
    cache: &mut Cache,
    grammar: &Grammar,
    text: &[u8],
) -> Result<wug_parse::Parsed, String> {
    let shown = || String::from_utf8_lossy(text).into_owned();
    let parsed = match parser.parse(text, cache, Limits { memory: 1 << 28, steps: 1_000_000 }) {
        Ok(parsed) => parsed,
        Err(Failure::Rejected(rejected)) => panic!("{rejected}, byte {}: {:?}", rejected.valid, shown()),
        Err(Failure::Limit(limit, _)) => return Err(format!("{limit:?}")),
    };
    let mut out = Vec::new();
    parsed.derivation.print(grammar, &mut out).expect("a derivation of this grammar");
    assert_eq!(out, text);
    Ok(parsed)
}

/// Checks the inputs of each engine; nothing if there are none.
fn check(grammar: &Grammar, wanted: Wanted) -> Option<Tally> {
    let Wanted { count, seed, depth, max_size, c } = wanted;
    let program = Program::new(grammar, Options { max_depth: depth, max_size, ..Options::default() }).ok()?;
    let mut judge = Judge::new(grammar)?;
    let mut scratch = Scratch::default();
    let mut tables = Tables::new(&program, b"").ok();
    let (vm, mut calls) = (Vm::new(&program), Calls::default());
    let mut reference = Vec::new();
    for index in 0..count {
        let mut input = Vec::new();
        let made = program.produce(Engine::Recursive, seed, index, &mut scratch, &mut input);
        let (mut walked, mut flat) = (Vec::new(), Vec::new());
        assert_eq!(program.produce(Engine::Iterative, seed, index, &mut scratch, &mut walked), made);
        assert_eq!(vm.produce(seed, index, &mut calls, &mut scratch, &mut flat), made);
        assert!(made.is_none() || (walked == input && flat == input), "an engine gives another input");
        if made.is_some() {
            judge.judge(&input);
        }
        if let Some(tables) = &mut tables {
            let mut input = Vec::new();
            tables.one(seed, index, &mut input);
            judge.judge(&input);
            judge.tally.by_tables += 1;
        }
        reference.push(input);
    }
    if c && let Some(inputs) = emitted::inputs(&program, seed, count) {
        assert_eq!(inputs, reference, "emitted C gives other inputs");
        judge.tally.by_c = inputs.len();
    }
    Some(judge.tally)
}

/// Checks that all inputs came through.
#[track_caller]
fn expect(name: &str, tally: &Tally) {
    eprintln!("{name}: {tally:?}");
    assert_eq!(tally.given_up, 0, "{name}: {tally:?}");
}

fn built_in() -> Vec<(String, Grammar)> {
    let load = |b: &builtin::Builtin| (b.name.to_string(), b.load().expect("it loads").grammar);
    builtin::all().iter().map(load).collect()
}

#[test]
fn inputs_of_built_in_grammars() {
    for (name, grammar) in built_in() {
        // The C of the others takes long to compile; see the sweep.
        let c = ["csv", "expr", "json", "tinyc"].contains(&name.as_str());
        let wanted = Wanted { count: 40, seed: 7, depth: 9, max_size: 20_000, c };
        let tally = check(&grammar, wanted).expect("it can be produced from");
        expect(&name, &tally);
        assert!(tally.inputs >= 80 && tally.by_tables == 40, "{name}: {tally:?}");
        assert!(!c || tally.by_c == 40 || !emitted::possible(), "{name}: {tally:?}");
    }
}

#[test]
fn inputs_of_shared_grammars() {
    for (name, grammar) in testing::shared() {
        let wanted = Wanted { count: 20, seed: 3, depth: 9, max_size: 20_000, c: false };
        if let Some(tally) = check(&grammar, wanted) {
            expect(&name, &tally);
        }
    }
}

#[test]
fn deep_expressions_stay_in_the_language_at_the_size_limit() {
    let grammar = builtin::find("expr").expect("built in").load().expect("it loads").grammar;
    for max_size in [500, 20_000] {
        let wanted = Wanted { count: 60, seed: 11, depth: 128, max_size, c: false };
        let tally = check(&grammar, wanted).expect("it can be produced from");
        expect(&format!("expr, {max_size} bytes"), &tally);
        assert_eq!((tally.inputs, tally.by_tables), (120, 60));
    }
}

#[test]
fn inputs_of_made_up_grammars() {
    let (mut plain, mut lexical) = (Tally::default(), Tally::default());
    wug_property::check(|u| {
        let tokens = u.ratio(1, 3)?;
        let grammar = if tokens { lexical_grammar(u)? } else { productive_grammar(u)? };
        let wanted = Wanted { count: 3, seed: 1, depth: 9, max_size: 200, c: false };
        if let Some(tally) = check(&grammar, wanted) {
            if tokens { &mut lexical } else { &mut plain }.add(tally);
        }
        Ok(())
    })
    .for_cases(60);
    eprintln!("{plain:?} {lexical:?}");
    assert!(plain.inputs > 20 && lexical.inputs > 5, "{plain:?} {lexical:?}");
}

/// For `.ci/long`: all grammars, all engines, several depths and seeds.
#[test]
#[ignore = "takes some minutes"]
fn sweep() {
    for (name, grammar) in testing::shared().into_iter().chain(built_in()) {
        let mut all = Tally::default();
        for (seed, depth) in [(1, 3), (2, 8), (3, 16), (4, 32)] {
            let wanted = Wanted { count: 150, seed, depth, max_size: 20_000, c: depth == 8 };
            all.add(check(&grammar, wanted).unwrap_or_default());
        }
        eprintln!("{name}: {all:?}");
        // Long inputs of very ambiguous grammars may be given up.
        assert!(all.given_up * 20 <= all.inputs, "{name}: {all:?}");
        assert!(all.given_up * 20 <= all.inputs, "{name}: {all:?}");
    }
}
