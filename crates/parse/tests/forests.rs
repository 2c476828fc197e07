//! Forests hold every derivation once.

use wug_grammar::testing::grammar;
use wug_grammar::{BodyId, Grammar, Notation, Symbol, load::load_text};
use wug_parse::{Cache, Limits, Packed, Parser};

fn forest(grammar: &Grammar, text: &[u8]) -> Packed {
    let parser = Parser::new(grammar).expect("it fits");
    parser.forest(text, &mut Cache::new(&parser), Limits::default()).expect("it parses")
}

#[track_caller]
fn check(grammar: &str, text: &str, derivations: Option<u64>, ambiguous: usize) {
    let grammar = load_text("test.wug", grammar, Notation::Wug).expect("a grammar").grammar;
    let packed = forest(&grammar, text.as_bytes());
    assert_eq!(packed.nodes[0].span, 0..text.len());
    assert_eq!(packed.derivations(), derivations);
    assert_eq!(packed.ambiguous().count(), ambiguous);
}

#[test]
fn derivations_are_counted() {
    // Catalan's numbers.
    check("s = s s | 'a' ;", "a", Some(1), 0);
    check("s = s s | 'a' ;", "aaaaa", Some(14), 6);
    check("s = s s | 'a' ;", "aaaaaaaaaaa", Some(16_796), 45);
    check("s = s '+' s | s '*' s | [0-9] ;", "1+2*3", Some(2), 1);
    check("s = 'if' s | 'if' s 'else' s | 'a' ;", "ififaelsea", Some(2), 1);
    check("s = '[' s* ']' ;", "[[][[]]]", Some(1), 0);
    check("s = a 'c' b ; a = ('b' | 'bb')* ; b = 'a'+ ;", "bbbcaaa", Some(3), 2);
    check("s = s | 'a' ;", "a", None, 1);
}

/// Derivations of `text` from a body, by trying all; only for grammars
/// without repetitions, empty texts and circles.
fn slow(grammar: &Grammar, body: BodyId, text: &[u8], depth: u32) -> Option<u64> {
    if depth > 40 {
        return None;
    }
    let mut total = 0;
    for alt in grammar.alternatives(body) {
        total += sequence(grammar, grammar.symbols(alt), text, depth)?;
    }
    Some(total)
}

fn sequence(grammar: &Grammar, symbols: &[Symbol], text: &[u8], depth: u32) -> Option<u64> {
    let [first, rest @ ..] = symbols else { return Some(u64::from(text.is_empty())) };
    match *first {
        Symbol::Bytes(bytes) => match text.strip_prefix(grammar.bytes(bytes)) {
            Some(text) => sequence(grammar, rest, text, depth),
            None => Some(0),
        },
        Symbol::Class(class) => match text {
            [byte, text @ ..] if byte.is_ascii() && grammar.class(class).contains(u32::from(*byte)) => {
                sequence(grammar, rest, text, depth)
            }
            _ => Some(0),
        },
        Symbol::Rule(_) | Symbol::Group(_) => {
            let body = match *first {
                Symbol::Rule(rule) => grammar.rule(rule).body,
                Symbol::Group(body) => body,
                _ => return None,
            };
            let mut total = 0;
            for end in 1..=text.len().saturating_sub(rest.len()) {
                let (here, there) = text.split_at(end);
                let after = sequence(grammar, rest, there, depth)?;
                if after > 0 {
                    total += after * slow(grammar, body, here, depth + 1)?;
                }
            }
            Some(total)
        }
        Symbol::Repeat(_) => None,
    }
}

/// Whether there are no repetitions and nothing is empty.
fn plain(grammar: &Grammar) -> bool {
    grammar.rules().all(|rule| {
        let mut plain = true;
        grammar.bodies_within(grammar.rule(rule).body, &mut |body| {
            for alt in grammar.alternatives(body) {
                let symbols = grammar.symbols(alt);
                plain &= !symbols.is_empty() && !symbols.iter().any(|s| matches!(s, Symbol::Repeat(_)));
            }
        });
        plain
    })
}

#[test]
fn made_up_grammars_have_as_many_derivations_as_trying_all_finds() {
    let (mut counted, mut ambiguous) = (0, 0);
    wug_property::check(|u| {
        let grammar = grammar(u)?;
        if !plain(&grammar) {
            return Ok(());
        }
        let parser = Parser::new(&grammar).expect("it fits");
        let mut cache = Cache::new(&parser);
        for _ in 0..20 {
            let len = 1 + u.choose_index(7)?;
            let text: Vec<u8> = (0..len).map(|_| Ok(b"abc"[u.choose_index(3)?])).collect::<Result<_, _>>()?;
            let Ok(packed) = parser.forest(&text, &mut cache, Limits::default()) else { continue };
            let start = grammar.rule(grammar.start()).body;
            if let Some(count) = slow(&grammar, start, &text, 0) {
                assert_eq!(packed.derivations(), Some(count), "{:?}", String::from_utf8_lossy(&text));
                counted += 1;
                ambiguous += usize::from(count > 1);
            }
        }
        Ok(())
    })
    .for_cases(9_000);
    eprintln!("{counted} counted, {ambiguous} of them ambiguous");
    assert!(counted > 5, "{counted}");
}
