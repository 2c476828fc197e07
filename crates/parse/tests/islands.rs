//! What can be read of damaged inputs.

use expect_test::{Expect, expect};
use wug_grammar::derivation::Node;
use wug_grammar::testing::{grammar, lexical_grammar};
use wug_grammar::{Grammar, Notation, builtin, load::load_text};
use wug_parse::{Cache, Failure, Islands, Limits, Parser, Piece};

/// Checks that the pieces are all of the text, and islands what they say.
fn check_pieces(grammar: &Grammar, text: &[u8], pieces: &[Piece]) {
    let mut at = 0;
    let mut raw = false;
    for piece in pieces {
        let span = piece.span();
        assert!(span.start == at && span.end > at, "{pieces:?}");
        at = span.end;
        match piece {
            Piece::Raw(_) => {
                assert!(!raw, "two raw pieces side by side");
                raw = true;
            }
            Piece::Island { rule, span, derivation } => {
                raw = false;
                let mut out = Vec::new();
                derivation.print_from(grammar, *rule, &mut out).expect("a derivation from this rule");
                assert_eq!(out, &text[span.clone()]);
            }
        }
    }
    assert_eq!(at, text.len());
}

fn cover(grammar: &Grammar, text: &[u8]) -> Vec<Piece> {
    let islands = Islands::new(grammar).expect("it fits");
    let pieces = islands.cover(text, &mut islands.cache(), Limits::default()).expect("within limits");
    check_pieces(grammar, text, &pieces);
    pieces
}

fn check(grammar: &Grammar, text: &str, expected: Expect) {
    let shown: Vec<String> = cover(grammar, text.as_bytes())
        .iter()
        .map(|piece| match piece {
            Piece::Island { rule, span, .. } => format!("{} {}", grammar.name(*rule), &text[span.clone()]),
            Piece::Raw(span) => format!("- {}", &text[span.clone()]),
        })
        .collect();
    expected.assert_eq(&shown.join("\n"));
}

#[test]
fn a_missing_bracket_leaves_what_is_around_it() {
    let json = builtin::find("json").expect("built in").load().expect("loads").grammar;
    check(
        &json,
        r#"{"a": [1, 2.5, {"b": null}, "c": true}"#,
        expect![[r#"
        - {
        string "a"
        - :
        ws  
        - [
        element 1
        - ,
        ws  
        element 2.5
        - ,
        ws  
        element {"b": null}
        - ,
        ws  
        element "c"
        char :
        json  true
        char }"#]],
    );
    check(
        &json,
        r#"[1, 2"#,
        expect![[r#"
        - [
        element 1
        - ,
        ws  
        element 2"#]],
    );
}

#[test]
fn statements_around_a_broken_one_are_found() {
    let lua = builtin::find("lua").expect("built in").load().expect("loads").grammar;
    check(
        &lua,
        "local x = 1 + 2\nx = = 3\nprint(x, \"y\")\nif x then y = 1 end ?? z = 2",
        expect![[r#"
        statement local x = 1 + 2
        targets 
        x
        -  = =
        exps  3
        block 
        print(x, "y")
        if x then y = 1 end
        -  ??
        chunk  z = 2"#]],
    );
}

#[test]
fn what_parses_is_one_island() {
    for name in ["json", "lua", "expr", "sql"] {
        let grammar = builtin::find(name).expect("built in").load().expect("loads").grammar;
        let text = match name {
            "json" => "[1, {\"a\": \"b\"}]",
            "lua" => "x = 1 y = f(x)",
            "expr" => "1+2*(3-4)",
            _ => "SELECT a FROM t WHERE b = 1 ;",
        };
        let pieces = cover(&grammar, text.as_bytes());
        assert!(matches!(&pieces[..], [Piece::Island { .. }]), "{name}: {pieces:?}");
    }
}

#[test]
fn a_million_open_brackets_are_covered() {
    let grammar =
        load_text("test.wug", "s = '[' s ']' | '[' ']' ;", Notation::Wug).expect("a grammar").grammar;
    let text = [vec![b'['; 1_000_000], b"]]]".to_vec()].concat();
    let pieces = cover(&grammar, &text);
    assert!(
        matches!(&pieces[..], [Piece::Raw(_), Piece::Island { span, .. }] if span.len() == 6),
        "{}",
        pieces.len()
    );
}

#[test]
fn any_bytes_are_covered() {
    let (mut covered, mut whole) = (0, 0);
    wug_property::check(|u| {
        let grammar = if u.ratio(1, 3)? { lexical_grammar(u)? } else { grammar(u)? };
        let (Ok(islands), Ok(parser)) = (Islands::new(&grammar), Parser::new(&grammar)) else {
            return Ok(());
        };
        let (mut cache, mut plain) = (islands.cache(), Cache::new(&parser));
        let limits = Limits { memory: 1 << 24, steps: 100_000 };
        for round in 0..8 {
            let len = u.choose_index(if round % 2 == 0 { 6 } else { 40 })?;
            let text: Vec<u8> = (0..len)
                .map(|_| Ok(b"aaabbbccc\xC3\xA9\xFE"[u.choose_index(if round % 2 == 0 { 9 } else { 12 })?]))
                .collect::<Result<_, _>>()?;
            let pieces = match islands.cover(&text, &mut cache, limits) {
                Ok(pieces) => pieces,
                Err(Failure::Limit(..)) => continue,
                Err(failure) => panic!("{failure:?}"),
            };
            check_pieces(&grammar, &text, &pieces);
            covered += 1;
            let made = grammar.rule(grammar.start()).made || grammar.rule(grammar.start()).is_token();
            let Ok(parsed) = parser.parse(&text, &mut plain, limits) else { continue };
            // Text that is skipped as a whole belongs to no rule.
            let skipped = matches!(parsed.derivation.node(parsed.derivation.len() - 1), Node::Skipped(n) if n as usize == text.len());
            if !made && !text.is_empty() && !skipped {
                let shown = wug_grammar::print::wug::print(&grammar);
                assert!(matches!(&pieces[..], [Piece::Island { .. }, ..]), "{pieces:?}\n{shown}");
                whole += 1;
            }
        }
        Ok(())
    })
    .for_cases(80);
    assert!(covered > 20 && whole > 0, "{covered} {whole}");
}
