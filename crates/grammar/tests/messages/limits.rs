//! Texts made to cost much: they are refused, or read, in little time.

use expect_test::expect;
use std::time::Duration;
use wug_grammar::Notation;
use wug_grammar::load::load_text;
use wug_property::cpu_time;

#[test]
fn a_million_brackets_are_refused_at_once() {
    let n = 1_000_000;
    let many = |s: &str| s.repeat(n);
    let cases = [
        (Notation::Wug, format!("a = {}", many("("))),
        (Notation::Wug, format!("a = {}{} ;", many("("), many(")"))),
        (Notation::Wug, format!("a = 'x'{} ;", many("*"))),
        (Notation::Wug, format!("a = /{}/ ;", many("("))),
        (Notation::Wug, format!("a = [{} ;", many("["))),
        (Notation::F1, many("[")),
        (Notation::F1, many("{\"a\":")),
        (Notation::F1, format!("{{\"<a>\": {}", many("["))),
        (Notation::F1, format!("{{\"<a>\": {}{}}}", many("["), many("]"))),
        (Notation::Gramatron, many("[")),
        (Notation::Gramatron, format!("{{\"a\": [{}", many("["))),
        (Notation::Bnf, many("<")),
        (Notation::Bnf, many("<a")),
        (Notation::Bnf, format!("<a> ::= {}", many("<a "))),
        (Notation::Bnf, format!("<a> ::= {} <b", many("; <a\n"))),
        (Notation::Ebnf, format!("a = {}", many("("))),
        (Notation::Ebnf, format!("a = {}", many("(*"))),
        (Notation::Ebnf, format!("a = {} ;", many("{"))),
        (Notation::Ebnf, format!("a = b {} ;", many("-b"))),
        (Notation::W3c, format!("a ::= {}", many("("))),
        (Notation::W3c, format!("a ::= {}", many("["))),
        (Notation::W3c, format!("a ::= 'x'{}", many("?"))),
        (Notation::W3c, format!("a ::= 'x'{}", many(" - 'y'"))),
        (Notation::Abnf, format!("a = {}", many("["))),
        (Notation::Abnf, format!("a = {}", many("*"))),
        (Notation::Abnf, format!("a = {}", many("<"))),
    ];
    let mut shown = String::new();
    for (notation, text) in cases {
        let begin = cpu_time();
        let Err(rejected) = load_text("grammar", &text, notation) else { panic!("{} loads", &text[..20]) };
        let message = rejected.render(false);
        let took = cpu_time() - begin;
        assert!(took < Duration::from_secs(5), "{:?} {took:?} for {}", notation, &text[..20]);
        shown.push_str(&format!(
            "{} ({}) {}\n",
            notation.name(),
            &text[..12.min(text.len())],
            message.lines().next().unwrap()
        ));
    }
    expect![[r#"
        wug (a = (((((((() error: parentheses nest more than 200 deep
        wug (a = (((((((() error: parentheses nest more than 200 deep
        wug (a = 'x'*****) error: an operator stands on another operator
        wug (a = /((((((() error: unclosed group
        wug (a = [[[[[[[[) error: this class does not end on its line
        f1 ([[[[[[[[[[[[) error: expected an object with the rules, found a list
        f1 ({"a":{"a":{") error: the name of a rule stands in angle brackets
        f1 ({"<a>": [[[[) error: expected a symbol, found a list
        f1 ({"<a>": [[[[) error: expected a symbol, found a list
        gramatron ([[[[[[[[[[[[) error: expected an object with the rules, found a list
        gramatron ({"a": [[[[[[) error: expected an alternative, found a list
        bnf (<<<<<<<<<<<<) error: expected a rule, found `<`
        bnf (<a<a<a<a<a<a) error: expected a rule, found `<`
        bnf (<a> ::= <a <) error: this name does not end
        bnf (<a> ::= ; <a) error: this name does not end
        ebnf (a = (((((((() error: brackets nest more than 200 deep
        ebnf (a = (*(*(*(*) error: this comment does not end
        ebnf (a = {{{{{{{{) error: brackets nest more than 200 deep
        ebnf (a = b -b-b-b) error: operators and brackets nest more than 200 deep
        w3c (a ::= (((((() error: brackets nest more than 200 deep
        w3c (a ::= [[[[[[) error: this class does not end on its line
        w3c (a ::= 'x'???) error: operators and brackets nest more than 200 deep
        w3c (a ::= 'x' - ) error: operators and brackets nest more than 200 deep
        abnf (a = [[[[[[[[) error: brackets nest more than 200 deep
        abnf (a = ********) error: nothing follows this count
        abnf (a = <<<<<<<<) error: a description in prose derives nothing
    "#]]
    .assert_eq(&shown);
}

#[test]
fn reading_takes_linear_time() {
    // Each fragment many times over, behind the head of a rule.
    for (name, notation) in Notation::ALL {
        for token in wug_grammar::fuzzing::tokens(notation) {
            for head in ["", "a = ", "a ::= ", "<a> ::= ", "{\"<a>\": [\"", "{\"A\": [\"'"] {
                let text = format!("{head}{}", token.repeat(200_000 / token.len()));
                let begin = cpu_time();
                let _ = load_text(name, &text, notation).map(|_| ()).map_err(|e| e.render(false));
                let took = cpu_time() - begin;
                assert!(took < Duration::from_secs(3), "{name} {head}{token}… {took:?}");
            }
        }
    }
}
