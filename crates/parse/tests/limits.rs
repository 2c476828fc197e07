//! What is large, deep, ambiguous or senseless ends, within its limits.

use wug_grammar::{Grammar, Notation, builtin, load::load_text};
use wug_parse::{Cache, Failure, Limit, Limits, Parsed, Parser};

fn load(text: &str) -> Grammar {
    load_text("test.wug", text, Notation::Wug).expect("a grammar").grammar
}

fn parse(grammar: &Grammar, text: &[u8], limits: Limits) -> Result<Parsed, Failure> {
    let parser = Parser::new(grammar).expect("it fits");
    parser.parse(text, &mut Cache::new(&parser), limits)
}

#[track_caller]
fn accepts(grammar: &Grammar, text: &[u8]) -> Parsed {
    let parsed = parse(grammar, text, Limits::default()).expect("it parses");
    let mut out = Vec::new();
    parsed.derivation.print(grammar, &mut out).expect("it fits");
    assert!(out == text, "printed otherwise");
    parsed
}

#[test]
fn a_million_nested_brackets_parse() {
    let n = 1_000_000;
    let text = [vec![b'['; n], vec![b']'; n]].concat();
    accepts(&builtin::find("json").expect("built in").load().expect("loads").grammar, &text);
    accepts(&load("s = '[' s ']' | '[' ']' ;"), &text);
    accepts(&load("s = OPEN s? CLOSE ; token OPEN = '[' ; token CLOSE = ']' ; skip WS = ' ' ;"), &text);
    // Unclosed: told at the end.
    let grammar = load("s = '[' s ']' | '[' ']' ;");
    match parse(&grammar, &text[..n + 5], Limits::default()) {
        Err(Failure::Rejected(rejected)) => assert_eq!(rejected.valid, n + 5),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_of_any_recursion_are_linear() {
    let n = 300_000;
    for text in ["s = 'a' s | 'a' ;", "s = s 'a' | 'a' ;", "s = 'a'* ;", "s = 'a' s? ;", "s = | 'a' s ;"] {
        let grammar = load(text);
        let parser = Parser::new(&grammar).expect("it fits");
        let (mut cache, limits) = (Cache::new(&parser), Limits { memory: 400 * n, steps: 10 });
        parser.parse(&vec![b'a'; n], &mut cache, limits).unwrap_or_else(|f| panic!("{text}: {f:?}"));
    }
}

#[test]
fn memory_is_linear_in_the_input() {
    // So much for each byte is enough, however long the input is.
    let grammar = builtin::find("json").expect("built in").load().expect("loads").grammar;
    let row = b"{\"name\": \"some text\", \"numbers\": [1, 2.5, -3e7, null, true]},\n";
    let parser = Parser::new(&grammar).expect("it fits");
    let mut cache = Cache::new(&parser);
    for rows in [100, 1_000, 10_000] {
        let text = [b"[".to_vec(), row.repeat(rows), b"0]".to_vec()].concat();
        let limits = Limits { memory: (1 << 20) + 80 * text.len(), steps: 10 };
        let parsed = parser.parse(&text, &mut cache, limits).expect("linear");
        assert!(parsed.derivation.len() < 5 * text.len());
    }
}

#[test]
fn the_worst_ambiguity_ends_with_a_clear_answer() {
    let grammar = load("s = s s | 'a' | ;");
    let limits = Limits { steps: 5_000_000, ..Limits::default() };
    match parse(&grammar, &[b'a'; 10_000], limits) {
        Err(Failure::Limit(Limit::Steps, at)) => assert!(at > 100),
        other => panic!("{:?}", other.map(|p| p.ambiguities)),
    }
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let small = parse(&grammar, &[b'a'; 10_000], limits);
    assert!(matches!(small, Err(Failure::Limit(Limit::Memory, _))));
    // Each of 100 leaves and 99 pairs could also be a pair with an empty one.
    assert_eq!(accepts(&grammar, &[b'a'; 100]).ambiguities, 199);
}

#[test]
fn ambiguity_costs_at_most_the_cube() {
    // Four calls in a row would be the fifth power if paths were walked plainly.
    let grammar = load("s = s s s s | s s s | s s | 'a' ;");
    let parser = Parser::new(&grammar).expect("it fits");
    let steps = |n: usize| {
        let parsed = parser.parse(&vec![b'a'; n], &mut Cache::new(&parser), Limits::default());
        parsed.expect("it ends").steps as f64
    };
    let growth = (steps(80) / steps(40)).log2();
    assert!(growth < 3.3, "steps grow with the power {growth:.2}");
}

#[test]
fn empty_derivations_that_would_explode_are_given_up() {
    let mut text = String::from("s = a0 'x' ;\n");
    (0..60).for_each(|i| text += &format!("a{i} = a{0} a{0} ;\n", i + 1));
    text += "a60 = 'y' | ;";
    let limits = Limits { memory: 1 << 24, ..Limits::default() };
    assert!(matches!(parse(&load(&text), b"x", limits), Err(Failure::Limit(Limit::Memory, _))));
}

#[test]
fn long_literals_and_chains_of_rules() {
    let literal = "ab".repeat(50_000);
    accepts(&load(&format!("s = 'x' | s '{literal}' ;")), format!("x{literal}{literal}").as_bytes());
    let mut text = String::new();
    (0..20_000).for_each(|i| text += &format!("r{i} = r{} | 'b' ;\n", i + 1));
    text += "r20000 = 'a' ;";
    accepts(&load(&text), b"a");
}
