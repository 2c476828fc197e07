//! The parser agrees with the bounded enumerator, which shares no code with
//! it: on members, on strings that are none, and on how far those go.

use std::collections::BTreeSet;
use wug_grammar::testing::{grammar, strings};
use wug_grammar::{Grammar, Notation, load::load_text, print};
use wug_parse::{Cache, Failure, Limits, Parsed, Parser};

/// All strings over `a`, `b` and `c` of up to `longest` bytes.
fn words(longest: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for i in from..to {
            for byte in *b"abc" {
                let mut word = all[i].clone();
                word.push(byte);
                all.push(word);
            }
        }
        from = to;
    }
    all
}

/// A few bytes that are easily a member with one of them changed.
fn near(member: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for at in 0..member.len() {
        let mut cut = member.to_vec();
        cut.remove(at);
        all.push(cut);
        for byte in [b'a', 0xC3, 0xA9, 0xFE] {
            let mut changed = member.to_vec();
            changed[at] = byte;
            all.push(changed);
        }
    }
    all
}

fn printed(grammar: &Grammar, parsed: &Parsed) -> Vec<u8> {
    let mut out = Vec::new();
    parsed.derivation.print(grammar, &mut out).expect("a derivation of this grammar");
    out
}

/// Checks all strings of up to `longest` bytes; how many there were.
fn check(grammar: &Grammar, longest: usize) -> usize {
    let Some(members) = strings(grammar, longest) else { return 0 };
    let parser = match Parser::new(grammar) {
        Ok(parser) => parser,
        Err(unfit) => panic!("{unfit}\n{}", print::wug::print(grammar)),
    };
    let mut cache = Cache::new(&parser);
    let mut others: BTreeSet<Vec<u8>> = words(longest.min(5)).into_iter().collect();
    members.iter().take(50).for_each(|m| others.extend(near(m)));
    let all: BTreeSet<&Vec<u8>> = members.iter().chain(&others).filter(|w| w.len() <= longest).collect();
    for &word in &all {
        let shown = || format!("{:?}\n{}", String::from_utf8_lossy(word), print::wug::print(grammar));
        match parser.parse(word, &mut cache, Limits::default()) {
            Ok(parsed) => {
                assert!(members.contains(word), "accepted, but no member: {}", shown());
                assert_eq!(&printed(grammar, &parsed), word, "printed otherwise: {}", shown());
                let spans = parsed.derivation.spans(grammar).expect("it fits");
                assert_eq!(spans[0], 0..word.len());
                // A cache that keeps nothing, too.
                let fresh = parser.parse(word, &mut Cache::bounded(&parser, 0), Limits::default());
                assert_eq!(
                    fresh.expect("parsed before").derivation,
                    parsed.derivation,
                    "depends on what was parsed before: {}",
                    shown()
                );
            }
            Err(Failure::Rejected(rejected)) => {
                assert!(!members.contains(word), "rejected: {}", shown());
                if let Some(beyond) = word.get(..rejected.valid + 1) {
                    let further = members.iter().any(|m| m.starts_with(beyond));
                    assert!(!further, "goes on beyond {}: {}", rejected.valid, shown());
                }
            }
            Err(failure) => panic!("{failure:?}: {}", shown()),
        }
    }
    all.len()
}

#[track_caller]
fn check_text(text: &str, longest: usize) {
    let grammar = load_text("test.wug", text, Notation::Wug).expect("a grammar").grammar;
    assert!(check(&grammar, longest) > 0, "too many strings");
}

#[test]
fn grammars_that_are_hard_for_parsers() {
    check_text("s = s s | 'a' | ;", 7);
    check_text("s = s 'a' | 'a' ;", 7);
    check_text("s = 'a' s | ;", 7);
    check_text("s = 'a' s 'a' | 'a' ;", 9);
    check_text("s = t s 'b' | 'a' ; t = | 'c' ;", 6);
    check_text("s = s | 'a' | t ; t = s 'b' | u ; u = t | s | ;", 6);
    check_text("s = a b | 'c' s ; a = 'a' | ; b = a a | b 'b' | ;", 5);
    check_text("s = ('a'? 'b'?){3,5} ;", 6);
    check_text("s = ('a' | 'aa'){2,3} 'b'* ;", 7);
    check_text("s = 'a'{4,} | ('b'? 'c'?){2,} ;", 5);
    check_text("s = ('ab' | 'a')* ('b' | 'bc')+ ;", 7);
    check_text("s = 'if' s | 'if' s 'else' s | 'a' ;", 9);
    check_text("s = [a-b]* [b-c]* s? 'a' ;", 6);
    check_text("s = [\\u{E0}-\\u{FF}]+ | x[C3 FE] 'a' ;", 4);
}

#[test]
fn made_up_grammars() {
    let (mut grammars, mut words) = (0, 0);
    wug_property::check(|u| {
        let grammar = grammar(u)?;
        let checked = check(&grammar, 4 + u.choose_index(4)?);
        words += checked;
        grammars += usize::from(checked > 0);
        Ok(())
    })
    .for_cases(200);
    assert!(grammars > 20 && words > 2_000, "{words} words of {grammars} grammars");
}
