//! Every input of every engine parses, prints back and replays: the parser
//! shares no code with the producers, so neither can hide a mistake of the
//! other.

use arbtest::arbtest;
use std::path::PathBuf;
use wug_grammar::load::{LoadOptions, NoImports, Text, load};
use wug_grammar::testing::{budget, lexical_grammar, productive_grammar};
use wug_grammar::{Grammar, builtin, print};
use wug_parse::{Cache, Failure, Limits, Parser};
use wug_produce::{Engine, Options, Program, Scratch, Tape, Unreachable};

const ENGINES: [Engine; 3] = [Engine::Recursive, Engine::Iterative, Engine::Vm];

/// What became of the inputs of a grammar.
#[derive(Debug, Default)]
struct Tally {
    inputs: usize,
    replayed: usize,
    /// Derived by lists that are longer than one is ever drawn.
    too_long: usize,
    /// Given up by the parser.
    given_up: usize,
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

/// Checks `count` inputs of each engine.
fn check(grammar: &Grammar, count: u64, seed: u64, max_size: u64) -> Option<Tally> {
    let program = Program::new(grammar, Options { max_depth: 9, max_size, ..Options::default() }).ok()?;
    // Choices are free at any depth where a derivation is replayed.
    let deep = Options { max_depth: u32::MAX, max_size: 1 << 30, ..Options::default() };
    let free = Program::new(grammar, deep).ok()?;
    let parser = Parser::new(grammar).ok()?;
    let lowered = Parser::new(&free.grammar).ok()?;
    let (mut cache, mut lowered_cache) = (Cache::new(&parser), Cache::new(&lowered));
    let mut scratch = Scratch::default();
    let limited = grammar.rules().any(|r| grammar.rule(r).depth_limit.is_some());
    let mut tally = Tally::default();
    for index in 0..count {
        let mut before: Option<Vec<u8>> = None;
        for engine in ENGINES {
            let mut input = Vec::new();
            if program.produce(engine, seed, index, &mut scratch, &mut input).is_none() {
                continue;
            }
            if before.as_ref() == Some(&input) {
                continue;
            }
            tally.inputs += 1;
            let given_up = parse(&parser, &mut cache, grammar, &input).is_err();
            let parsed = parse(&lowered, &mut lowered_cache, &free.grammar, &input);
            let Ok(parsed) = parsed else {
                tally.given_up += 1;
                continue;
            };
            tally.given_up += usize::from(given_up);
            match free.choices_of(&parsed.derivation) {
                Ok(choices) => {
                    for engine in ENGINES {
                        let mut again = Vec::new();
                        let mut tape = Tape::replay(choices.clone()).recording();
                        free.produce_with(engine, 0, 0, &mut tape, &mut scratch, &mut again);
                        assert_eq!(again, input, "replayed otherwise");
                        assert_eq!(tape.recorded(), choices, "recorded otherwise");
                    }
                    tally.replayed += 1;
                }
                Err(Unreachable::Count) => tally.too_long += 1,
                // A rule's own limit on depth may forbid what the parser chose.
                Err(Unreachable::Depth | Unreachable::Otherwise) if limited || grammar.has_tokens() => {}
                Err(why) => {
                    panic!("{why}: {:?}\n{}", String::from_utf8_lossy(&input), print::wug::print(grammar))
                }
            }
            before = Some(input);
        }
    }
    Some(tally)
}

#[test]
fn inputs_of_built_in_grammars() {
    for builtin in builtin::all() {
        let grammar = builtin.load().expect("it loads").grammar;
        let tally = check(&grammar, 40, 7, 20_000).expect("it can be produced from");
        eprintln!("{}: {tally:?}", builtin.name);
        assert!(tally.inputs >= 40 && tally.given_up == 0, "{}: {tally:?}", builtin.name);
        assert!(tally.replayed * 20 >= tally.inputs * 19, "{}: {tally:?}", builtin.name);
    }
}

#[test]
fn inputs_of_shared_grammars() {
    let shared =
        std::env::var_os("WUG_SHARED").map_or_else(|| PathBuf::from("../../../shared"), PathBuf::from);
    let Ok(files) = std::fs::read_dir(shared.join("grammars")) else {
        assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "no shared grammars");
        eprintln!("skipped: no shared grammars");
        return;
    };
    for file in files {
        let path = file.expect("a file").path();
        let text =
            Text { name: path.to_string_lossy().into_owned(), bytes: std::fs::read(&path).expect("a file") };
        let Ok(loaded) = load(vec![text], LoadOptions::default(), &NoImports) else { continue };
        let Some(tally) = check(&loaded.grammar, 20, 3, 20_000) else { continue };
        eprintln!("{}: {tally:?}", path.display());
        assert_eq!(tally.given_up, 0, "{}", path.display());
        assert!(tally.replayed * 20 >= tally.inputs * 19, "{}: {tally:?}", path.display());
    }
}

#[test]
fn inputs_of_made_up_grammars() {
    let (mut plain, mut lexical) = (Tally::default(), Tally::default());
    arbtest(|u| {
        let tokens = u.ratio(1, 3)?;
        let grammar = if tokens { lexical_grammar(u)? } else { productive_grammar(u)? };
        if let Some(tally) = check(&grammar, 3, 1, 200) {
            let all = if tokens { &mut lexical } else { &mut plain };
            all.inputs += tally.inputs;
            all.replayed += tally.replayed;
            all.given_up += tally.given_up;
        }
        Ok(())
    })
    .budget_ms(budget(5_000));
    eprintln!("{plain:?} {lexical:?}");
    assert!(plain.replayed > 20 && lexical.replayed > 5, "{plain:?} {lexical:?}");
}
