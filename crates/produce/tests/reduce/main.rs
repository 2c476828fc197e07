//! Reduced inputs are of the grammar, fulfil the predicate and are minimal:
//! a slow judge tries every single step that the reducer promises.

mod judge;

use expect_test::{Expect, expect};
use judge::Bench;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use wug_grammar::derivation::Node;
use wug_grammar::testing::{lexical_grammar, productive_grammar};
use wug_grammar::{BodyId, Derivation, Grammar, Notation, builtin, load::load_text};
use wug_parse::{Cache, Islands, Limits, Parser};
use wug_produce::reduce::{End, Options, Piece, Reducer, reduce_bytes};
use wug_produce::{Engine, Program, Scratch};

/// Whether a node of `inner` stands below one of `outer`.
fn nested(grammar: &Grammar, derivation: &Derivation, outer: BodyId, inner: BodyId) -> bool {
    let is = |at: usize, body| matches!(derivation.node(at), Node::Alternative(alt) if grammar.body_has(body, alt));
    (0..derivation.len())
        .filter(|&at| is(at, outer))
        .any(|at| (at + 1..derivation.end(at)).any(|below| is(below, inner)))
}

fn body(grammar: &Grammar, name: &str) -> BodyId {
    grammar.rule(grammar.find(name).expect("a rule")).body
}

/// Reduces inputs of a built-in grammar; all come to the same size.
fn check_builtin(name: &str, outer: &str, inner: &str, expected: Expect) {
    let grammar = builtin::find(name).expect("built in").load().expect("it loads").grammar;
    let mut bench = Bench::new(&grammar).expect("it is small");
    let program = Program::new(&grammar, wug_produce::Options::default()).expect("it ends");
    let mut scratch = Scratch::default();
    let (outer_body, inner_body) = (body(&grammar, outer), body(&grammar, inner));
    let holds = move |grammar: &Grammar, derivation: &Derivation, _: &[u8]| {
        nested(grammar, derivation, outer_body, inner_body)
    };
    let (mut found, mut shown) = (0, String::new());
    for index in 0..200 {
        let mut input = Vec::new();
        program.produce(Engine::Recursive, 1, index, &mut scratch, &mut input);
        if input.len() < 100 || found == 5 {
            continue;
        }
        let Some(reduced) = bench.reduce(&input, &holds) else { continue };
        found += 1;
        let text = String::from_utf8_lossy(&reduced.bytes).to_lowercase();
        eprintln!("{name}: {} bytes -> {text} in {} runs", input.len(), reduced.runs);
        assert!(shown.is_empty() || shown.len() == text.len(), "{shown} and {text}");
        shown = text;
    }
    assert!(found > 1);
    expected.assert_eq(&shown);
}

#[test]
fn built_in_grammars() {
    check_builtin("json", "array", "object", expect!["[{}]"]);
    check_builtin("json", "object", "string", expect![[r#"{"":0}"#]]);
    check_builtin("lua", "if", "function_body", expect!["if function()end then end"]);
    check_builtin("tinyc", "sum", "condition", expect!["(v);"]);
    check_builtin("xml", "element", "comment", expect!["<a><!----></a>"]);
    check_builtin("sql", "where", "select", expect!["select*where(select*)"]);
}

/// A predicate that is fulfilled at random, but always by the same.
fn at_random(salt: u64, bytes: &[u8]) -> bool {
    let mut hasher = DefaultHasher::new();
    (salt, bytes).hash(&mut hasher);
    hasher.finish() & 3 != 0
}

#[test]
fn made_up_grammars() {
    let (mut plain, mut lexical, mut runs) = (0, 0, 0);
    // On a slow machine, one grammar can take all the time.
    for _ in 0..5 {
        wug_property::check(|u| {
            let tokens = u.ratio(1, 2)?;
            let grammar = if tokens { lexical_grammar(u)? } else { productive_grammar(u)? };
            let options = wug_produce::Options { max_depth: 8, max_size: 100, ..Default::default() };
            let Ok(program) = Program::new(&grammar, options) else { return Ok(()) };
            let Some(mut bench) = Bench::new(&grammar) else { return Ok(()) };
            for index in 0..4 {
                let mut input = Vec::new();
                let engine = Engine::Recursive;
                if program.produce(engine, 3, index, &mut Scratch::default(), &mut input).is_none() {
                    continue;
                }
                let (salt, kind) = (u.arbitrary::<u64>()?, u.choose_index(4)?);
                let (needed, length) = (b"abc"[u.choose_index(3)?], u.choose_index(5)?);
                let start = input.clone();
                let holds = move |_: &Grammar, derivation: &Derivation, bytes: &[u8]| match kind {
                    0 => bytes == start || at_random(salt, bytes),
                    1 => bytes.contains(&needed),
                    2 => bytes.len() >= length,
                    _ => derivation.len() >= 2 * length,
                };
                if let Some(reduced) = bench.reduce(&input, &holds) {
                    plain += usize::from(!tokens);
                    lexical += usize::from(tokens);
                    runs += reduced.runs;
                }
            }
            Ok(())
        })
        .for_cases(150);
        if plain > 3 && lexical > 3 {
            break;
        }
    }
    eprintln!("{plain} inputs, {lexical} with tokens, {runs} runs");
    assert!(plain > 3 && lexical > 3, "{plain} inputs, {lexical} with tokens");
}

const LIST: &str = r#"
    s = "[" (item ("," item)*)? "]" ;
    item = NAME | s ;
    token NAME = [a-z]+ ;
    skip SPACE = " "+ ;
"#;

fn list() -> Grammar {
    load_text("list.wug", LIST, Notation::Wug).expect("a grammar").grammar
}

#[test]
fn lexemes_and_spaces_become_short() {
    let grammar = list();
    let mut bench = Bench::new(&grammar).expect("it is small");
    let needs = |text: &'static str| {
        move |_: &Grammar, _: &Derivation, bytes: &[u8]| String::from_utf8_lossy(bytes).contains(text)
    };
    let input = b" [ some, [[ [ words ] , or, names ],  more]] ";
    let mut check = |text: &'static str, expected: &str| {
        let reduced = bench.reduce(input, &needs(text)).expect("it holds");
        assert_eq!(String::from_utf8_lossy(&reduced.bytes), expected);
    };
    check("wor", "[wor]");
    check("[ ", "[ ]");
    check(",  ", "[a,  a]");
    check("]", "[]");
    check("]]", "[[]]");
}

#[test]
fn a_recursive_list_is_halved() {
    let text = "s = 'x' s | 'y' s | 'z' ;";
    let grammar = load_text("list.wug", text, Notation::Wug).expect("a grammar").grammar;
    let mut bench = Bench::new(&grammar).expect("it is small");
    let mut input = vec![b'x'; 2_000];
    input[1_234] = b'y';
    input.push(b'z');
    let holds = |_: &Grammar, _: &Derivation, bytes: &[u8]| bytes.contains(&b'y');
    let reduced = bench.reduce(&input, &holds).expect("it holds");
    assert_eq!(reduced.bytes, b"yz");
    assert!(reduced.runs < 60, "{} runs", reduced.runs);
}

#[test]
fn what_is_large_or_deep_and_stays_takes_bounded_work() {
    let grammar = builtin::find("json").expect("built in").load().expect("loads").grammar;
    let parser = Parser::new(&grammar).expect("it is small");
    let reducer = Reducer::new(&grammar).expect("it is small");
    let elements: String = (0..3_000).map(|number| format!("{number},[true],")).collect();
    let list = format!("[{elements}0]").into_bytes();
    let deep = [b"[".repeat(100), b"]".repeat(100)].concat();
    for text in [list, deep] {
        let parsed = parser.parse(&text, &mut Cache::new(&parser), Limits::default()).expect("it parses");
        let options = Options { runs: 200, ..Options::default() };
        let pieces = vec![Piece::Tree(grammar.start(), parsed.derivation)];
        let same = |bytes: &[u8]| Ok::<bool, Infallible>(bytes == text);
        let reduced = reducer.reduce(pieces, options, same);
        assert_eq!((reduced.bytes.len(), reduced.end), (text.len(), End::Runs));
    }
}

/// The pieces of a damaged input.
fn pieces(grammar: &Grammar, text: &[u8]) -> Vec<Piece> {
    let islands = Islands::new(grammar).expect("it fits");
    let pieces = islands.cover(text, &mut islands.cache(), Limits::default()).expect("within limits");
    let piece = |piece| match piece {
        wug_parse::Piece::Island { rule, derivation, .. } => Piece::Tree(rule, derivation),
        wug_parse::Piece::Raw(span) => Piece::Raw(text[span].to_vec()),
    };
    pieces.into_iter().map(piece).collect()
}

#[test]
fn damaged_inputs_are_reduced_in_pieces() {
    let grammar = builtin::find("json").expect("built in").load().expect("loads").grammar;
    let reducer = Reducer::new(&grammar).expect("it is small");
    let text = br#"{"a": [1, {"key": [null, true, "text"]}, 2.5, ] ] , "b": {"c": "d"}, ]]"#;
    let holds = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        Ok::<bool, Infallible>(text.contains("true") && text.contains("]]"))
    };
    let reduced = reducer.reduce(pieces(&grammar, text), Options::default(), holds);
    assert_eq!((String::from_utf8_lossy(&reduced.bytes).as_ref(), reduced.end), ("true]]", End::Minimal));
}

#[test]
fn any_bytes_in_pieces() {
    let grammars = [list(), builtin::find("json").expect("built in").load().expect("loads").grammar];
    let mut reduced = 0;
    wug_property::check(|u| {
        let grammar = u.choose(&grammars)?;
        let text: Vec<u8> = (0..u.choose_index(40)?)
            .map(|_| Ok(b"[]{},:a1\" "[u.choose_index(10)?]))
            .collect::<Result<_, _>>()?;
        let reducer = Reducer::new(grammar).expect("it is small");
        let (salt, options) =
            (u.arbitrary()?, Options { bytes: u.arbitrary()?, pairs: u.arbitrary()?, runs: 3_000 });
        let (mut last, start) = (text.clone(), text.clone());
        let result = reducer.reduce(pieces(grammar, &text), options, |bytes| {
            let holds = bytes == start || at_random(salt, bytes);
            if holds {
                last = bytes.to_vec();
            }
            Ok::<bool, Infallible>(holds)
        });
        // The last that held is the smallest.
        assert_eq!(result.bytes, last);
        reduced += usize::from(result.end == End::Minimal && result.bytes.len() < text.len());
        Ok(())
    })
    .for_cases(3_000);
    assert!(reduced > 3, "{reduced}");
}

#[test]
fn bytes_alone_become_minimal() {
    wug_property::check(|u| {
        let text: Vec<u8> = u.arbitrary()?;
        let (salt, pairs) = (u.arbitrary()?, u.arbitrary()?);
        let start = text.clone();
        let holds = |bytes: &[u8]| bytes == start || at_random(salt, bytes);
        let options = Options { pairs, ..Options::default() };
        let reduced = reduce_bytes(&text, options, |bytes| Ok::<bool, Infallible>(holds(bytes)));
        assert_eq!(reduced.end, End::Minimal);
        assert!(holds(&reduced.bytes));
        for at in 0..reduced.bytes.len() {
            let mut shorter = reduced.bytes.clone();
            shorter.remove(at);
            assert!(!holds(&shorter));
            if pairs && at < shorter.len() {
                shorter.remove(at);
                assert!(!holds(&shorter));
            }
        }
        Ok(())
    })
    .for_cases(6_000);
}

#[test]
fn a_reduction_ends_where_it_must() {
    let text = [b"(".repeat(50), b")".repeat(50)].concat();
    let few = Options { runs: 7, ..Options::default() };
    let reduced = reduce_bytes(&text, few, |bytes| Ok::<bool, Infallible>(bytes.len() >= 10));
    assert_eq!((reduced.runs, reduced.end), (7, End::Runs));
    assert!(reduced.bytes.len() < text.len());
    let mut left = 7;
    let stopped = reduce_bytes(&text, Options::default(), |bytes| {
        left -= 1;
        if left == 0 { Err("no more") } else { Ok(bytes.len() >= 10) }
    });
    assert_eq!((stopped.end, stopped.runs), (End::Stopped("no more"), 7));
    assert!(stopped.bytes.len() < text.len());
    let boring = reduce_bytes(&text, Options::default(), |_| Ok::<bool, Infallible>(false));
    assert_eq!((boring.end, boring.runs, boring.bytes), (End::Boring, 1, text));
}
