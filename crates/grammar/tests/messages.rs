//! Messages as their readers see them.

use expect_test::{Expect, expect};
use std::time::{Duration, Instant};
use wug_grammar::load::{LoadOptions, Loader, NoImports, Text, load, load_text};
use wug_grammar::{Notation, diagnostic};

#[track_caller]
fn check(notation: Notation, text: &str, message: Expect) {
    check_bytes(notation, text.as_bytes(), message);
}

#[track_caller]
fn check_bytes(notation: Notation, text: &[u8], message: Expect) {
    let text = Text { name: "grammar".to_string(), bytes: text.to_vec() };
    let options = LoadOptions { notation: Some(notation), start: None };
    match load(vec![text], options, &NoImports) {
        Err(rejected) => message.assert_eq(&rejected.render(false)),
        Ok(loaded) => {
            let warnings = diagnostic::render_all(&loaded.warnings, &loaded.sources, false);
            message.assert_eq(&format!("loaded\n{warnings}"));
        }
    }
}

// All notations ----------------------------------------------------------

#[test]
fn unknown_rule_with_a_suggestion() {
    check(
        Notation::Wug,
        "greeting = helo ;\nhello = 'hi' ;",
        expect![[r#"
        error: unknown rule `helo`
         --> grammar:1:12
          |
        1 | greeting = helo ;
          |            ^^^^
          |
          = help: did you mean `hello`?
    "#]],
    );
    check(
        Notation::F1,
        "{\"<start>\": [[\"<helo>\"]], \"<hello>\": [[\"hi\"]]}",
        expect![[r#"
        error: unknown rule `helo`
         --> grammar:1:15
          |
        1 | {"<start>": [["<helo>"]], "<hello>": [["hi"]]}
          |               ^^^^^^^^
          |
          = help: did you mean `hello`? Or, to mean the text `<helo>`, split it in two: "<", "helo>"
    "#]],
    );
    check(
        Notation::F1,
        "{\"<start>\": [\"a <body>\"]}",
        expect![[r#"
        error: unknown rule `body`
         --> grammar:1:17
          |
        1 | {"<start>": ["a <body>"]}
          |                 ^^^^^^
          |
          = help: to mean the text `<body>`, split it in two: "<", "body>"
    "#]],
    );
    check(
        Notation::Gramatron,
        "{\"A\": [\"x 'y'\"]}",
        expect![[r#"
        error: unknown rule `x`
         --> grammar:1:9
          |
        1 | {"A": ["x 'y'"]}
          |         ^
          |
          = help: to mean the text, put it into single quotes: `'x'`
    "#]],
    );
    check(
        Notation::Bnf,
        "<a> ::= <html>",
        expect![[r#"
        error: unknown rule `html`
         --> grammar:1:9
          |
        1 | <a> ::= <html>
          |         ^^^^^^
          |
          = help: to mean the text `<html>`, put it into quotes
    "#]],
    );
    check(
        Notation::Ebnf,
        "a = digits ; digit = '1' ;",
        expect![[r#"
        error: unknown rule `digits`
         --> grammar:1:5
          |
        1 | a = digits ; digit = '1' ;
          |     ^^^^^^
          |
          = help: did you mean `digit`?
    "#]],
    );
    check(
        Notation::W3c,
        "a ::= Digits\nDigit ::= '1'",
        expect![[r#"
        error: unknown rule `Digits`
         --> grammar:1:7
          |
        1 | a ::= Digits
          |       ^^^^^^
          |
          = help: did you mean `Digit`?
    "#]],
    );
    check(
        Notation::Abnf,
        "a = digits\ndigit-s = \"1\"",
        expect![[r#"
        error: unknown rule `digits`
         --> grammar:1:5
          |
        1 | a = digits
          |     ^^^^^^
          |
          = help: did you mean `digit-s`?
    "#]],
    );
}

#[test]
fn duplicate_rule() {
    check(
        Notation::Wug,
        "a = 'x' ;\nb = a ;\na = 'y' ;",
        expect![[r#"
        error: rule `a` is defined twice
         --> grammar:3:1
          |
        3 | a = 'y' ;
          | ^ again here
          |
         ::: grammar:1:1
          |
        1 | a = 'x' ;
          | - first defined here
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": [[]],\n \"<a>\": [[]]}",
        expect![[r#"
        error: rule `a` is defined twice
         --> grammar:2:2
          |
        2 |  "<a>": [[]]}
          |  ^^^^^ again here
          |
         ::: grammar:1:2
          |
        1 | {"<a>": [[]],
          |  ----- first defined here
    "#]],
    );
    check(
        Notation::Abnf,
        "foo = \"1\"\nFOO = \"2\"",
        expect![[r#"
        error: rule `foo` is defined twice
         --> grammar:2:1
          |
        2 | FOO = "2"
          | ^^^ again here
          |
         ::: grammar:1:1
          |
        1 | foo = "1"
          | --- first defined here
    "#]],
    );
}

#[test]
fn empty_files() {
    for (name, notation) in Notation::ALL {
        for text in ["", "\u{FEFF}", " \n\n"] {
            let rejected = load_text(name, text, notation).unwrap_err();
            assert_eq!(rejected.diagnostics.len(), 1, "{rejected}");
        }
    }
    check(
        Notation::Wug,
        "",
        expect![[r#"
        error: this grammar has no rules
         --> grammar:1:1
          |
        1 |
          | ^
          |
          = help: `greeting = "hello" ;` is a whole grammar in .wug
    "#]],
    );
    check(
        Notation::F1,
        "",
        expect![[r#"
        error: expected a value, found the end of the text
         --> grammar:1:1
          |
        1 |
          | ^
    "#]],
    );
    check(
        Notation::F1,
        "{}",
        expect![[r#"
        error: this grammar has no rules
         --> grammar:1:1
          |
        1 | {}
          | ^
          |
          = help: `greeting = "hello" ;` is a whole grammar in .wug
    "#]],
    );
    check(
        Notation::Abnf,
        "; nothing\n",
        expect![[r#"
        error: this grammar has no rules
         --> grammar:1:1
          |
        1 | ; nothing
          | ^
          |
          = help: `greeting = "hello" ;` is a whole grammar in .wug
    "#]],
    );
}

#[test]
fn wrong_utf8() {
    check_bytes(
        Notation::Wug,
        b"a = 'x' ;\nb = '\xFF\xFE' ;",
        expect![[r#"
        error: byte FF is no valid UTF-8 here
         --> grammar:2:6
          |
        2 | b = '��' ;
          |      ^
          |
          = help: grammars are written in UTF-8; most notations have escapes for single bytes
    "#]],
    );
    check_bytes(
        Notation::F1,
        b"{\"<a>\": [[\"\xC3\"]]}",
        expect![[r#"
        error: byte C3 is no valid UTF-8 here
         --> grammar:1:12
          |
        1 | {"<a>": [["�"]]}
          |            ^
          |
          = help: grammars are written in UTF-8; most notations have escapes for single bytes
    "#]],
    );
}

#[test]
fn start_that_does_not_exist() {
    check(
        Notation::Wug,
        "start grete ; greet = 'x' ;",
        expect![[r#"
        error: the start rule `grete` does not exist
         --> grammar:1:7
          |
        1 | start grete ; greet = 'x' ;
          |       ^^^^^
          |
          = help: did you mean `greet`?
    "#]],
    );
    check(
        Notation::F1,
        "{\"[start]\": \"<x>\", \"[grammar]\": {\"<a>\": [[]]}}",
        expect![[r#"
        error: the start rule `x` does not exist
         --> grammar:1:13
          |
        1 | {"[start]": "<x>", "[grammar]": {"<a>": [[]]}}
          |             ^^^^^
    "#]],
    );
    check(
        Notation::Wug,
        "fragment a = 'x' ;",
        expect![[r#"
        error: this grammar has no rule to start from, only fragments of tokens
         --> grammar:1:10
          |
        1 | fragment a = 'x' ;
          |          ^
          |
          = help: add a rule that uses them
    "#]],
    );
    let text = Text { name: "grammar".to_string(), bytes: b"a = 'x' ;".to_vec() };
    let options = LoadOptions { notation: None, start: Some("b") };
    let rejected = load(vec![text], options, &NoImports).unwrap_err();
    expect![[r#"
        error: the start rule `b` does not exist
         --> grammar:1:1
          |
        1 | a = 'x' ;
          | ^
    "#]]
    .assert_eq(&rejected.render(false));
}

/// Texts in memory, by name.
struct Memory(&'static [(&'static str, &'static str)]);

impl Loader for Memory {
    fn import(&self, _from: &str, path: &str) -> Result<Text, String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        let (name, text) = found.ok_or("there is no such file")?;
        Ok(Text { name: name.to_string(), bytes: text.as_bytes().to_vec() })
    }
}

#[test]
fn circular_and_missing_imports() {
    let memory = Memory(&[
        ("a.wug", "import 'b.wug' ;\na = b ;"),
        ("b.wug", "import 'c.wug' ;\nb = c ;"),
        ("c.wug", "c = 'x' ;\nimport 'a.wug' ;\nimport 'd.wug' ;"),
        ("self.wug", "import 'self.wug' ; a = 'x' ;"),
    ]);
    let show = |name: &str| {
        let text = memory.import("", name).unwrap();
        load(vec![text], LoadOptions::default(), &memory).unwrap_err().render(false)
    };
    expect![[r#"
        error: `a.wug` imports itself in a circle
         --> c.wug:2:8
          |
        2 | import 'a.wug' ;
          |        ^^^^^^^ a.wug -> b.wug -> c.wug -> a.wug
          |
          = help: move what both need into a third file
        error: cannot import `d.wug`: there is no such file
         --> c.wug:3:8
          |
        3 | import 'd.wug' ;
          |        ^^^^^^^
    "#]]
    .assert_eq(&show("a.wug"));
    expect![[r#"
        error: `self.wug` imports itself in a circle
         --> self.wug:1:8
          |
        1 | import 'self.wug' ; a = 'x' ;
          |        ^^^^^^^^^^ self.wug -> self.wug
          |
          = help: move what both need into a third file
    "#]]
    .assert_eq(&show("self.wug"));
}

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
        let begin = Instant::now();
        let Err(rejected) = load_text("grammar", &text, notation) else { panic!("{} loads", &text[..20]) };
        let message = rejected.render(false);
        let took = begin.elapsed();
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
                let begin = Instant::now();
                let _ = load_text(name, &text, notation).map(|_| ()).map_err(|e| e.render(false));
                let took = begin.elapsed();
                assert!(took < Duration::from_secs(3), "{name} {head}{token}… {took:?}");
            }
        }
    }
}

#[test]
fn unclosed_things() {
    check(
        Notation::Wug,
        "a = ('x' | 'y' ;",
        expect![[r#"
        error: this parenthesis is not closed
         --> grammar:1:5
          |
        1 | a = ('x' | 'y' ;
          |     ^
          |
          = help: close it with `)`
    "#]],
    );
    check(
        Notation::Wug,
        "a = 'x ;\nb = \"y ;\nc = [a- ;\nd = /x ;",
        expect![[r#"
        error: this text does not end on its line
         --> grammar:1:5
          |
        1 | a = 'x ;
          |     ^^^^
          |
          = help: close it with `'`; a line break inside is written `\n`
        error: this text does not end on its line
         --> grammar:2:5
          |
        2 | b = "y ;
          |     ^^^^
          |
          = help: close it with `"`; a line break inside is written `\n`
        error: this class does not end on its line
         --> grammar:3:5
          |
        3 | c = [a- ;
          |     ^
          |
          = help: close it with `]`; write a line break as `\n`
    "#]],
    );
    check(
        Notation::Wug,
        "a = 'x' /* ;",
        expect![[r#"
        error: this comment does not end
         --> grammar:1:9
          |
        1 | a = 'x' /* ;
          |         ^^
          |
          = help: close it with `*/`
    "#]],
    );
    check(
        Notation::Wug,
        "a = 'x'",
        expect![[r#"
        error: this rule does not end
         --> grammar:1:8
          |
        1 | a = 'x'
          |        ^
          |
          = help: close it with `;`
    "#]],
    );
    check(
        Notation::Wug,
        "mode m { token A = 'a' ;",
        expect![[r#"
        error: this mode does not end
         --> grammar:1:6
          |
        1 | mode m { token A = 'a' ;
          |      ^
          |
          = help: close it with `}`
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": [[\"x\"]",
        expect![[r#"
        error: this list does not end
         --> grammar:1:9
          |
        1 | {"<a>": [["x"]
          |         ^
          |
          = help: close it with `]`
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": [[\"x",
        expect![[r#"
        error: this text does not end
         --> grammar:1:11
          |
        1 | {"<a>": [["x
          |           ^
          |
          = help: close it with `"`
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": [[\"x\n\"]]}",
        expect![[r#"
        error: this text does not end on its line
         --> grammar:1:11
          |
        1 | {"<a>": [["x
          |           ^^
          |
          = help: close it with `"`; a line break inside is written `\n`
    "#]],
    );
    check(
        Notation::Gramatron,
        "{\"A\": [\"B 'x\"]}",
        expect![[r#"
        error: this terminal does not end
         --> grammar:1:11
          |
        1 | {"A": ["B 'x"]}
          |           ^
          |
          = help: close it with `'`; a quote inside is written `\'`
    "#]],
    );
    check(
        Notation::Bnf,
        "<a> ::= \"x\n<b> ::= <c | 'y'\n<d> ::= 'z'",
        expect![[r#"
        error: this text does not end on its line
         --> grammar:1:9
          |
        1 | <a> ::= "x
          |         ^^
          |
          = help: close it with `"`; a line break inside is written `\n`
        error: this name does not end
         --> grammar:2:9
          |
        2 | <b> ::= <c | 'y'
          |         ^
          |
          = help: close it with `>`; to mean the text `<`, put it into quotes
    "#]],
    );
    check(
        Notation::Ebnf,
        "a = [ 'x' ;\nb = { 'x' ) ;\nc = 'x ;\nd = 'y' ;\ne = (* ;",
        expect![[r#"
        error: this text does not end on its line
         --> grammar:3:5
          |
        3 | c = 'x ;
          |     ^
          |
          = help: close it with `'`
        error: this comment does not end
         --> grammar:5:5
          |
        5 | e = (* ;
          |     ^
          |
          = help: close it with `*)`; comments nest
        error: this bracket is not closed
         --> grammar:1:5
          |
        1 | a = [ 'x' ;
          |     ^
          |
          = help: close it with `]`
        error: `)` cannot close this bracket
         --> grammar:2:11
          |
        2 | b = { 'x' ) ;
          |           ^
          |
         ::: grammar:2:5
          |
        2 | b = { 'x' ) ;
          |     - `}` must close this one first
    "#]],
    );
    check(
        Notation::Ebnf,
        "a = 'x'",
        expect![[r#"
        error: the last rule does not end
         --> grammar:1:8
          |
        1 | a = 'x'
          |        ^
          |
          = help: close it with `;`
    "#]],
    );
    check(
        Notation::W3c,
        "a ::= ('x'\nb ::= [a-z\nc ::= 'x\nd ::= 'x')\ne ::= /* ",
        expect![[r#"
        error: this bracket is not closed
         --> grammar:1:7
          |
        1 | a ::= ('x'
          |       ^
          |
          = help: close it with `)`
        error: this class does not end on its line
         --> grammar:2:7
          |
        2 | b ::= [a-z
          |       ^
          |
          = help: close it with `]`; a line break is written #xA
        error: this text does not end on its line
         --> grammar:3:7
          |
        3 | c ::= 'x
          |       ^
          |
          = help: close it with `'`; a line break is written #xA
        error: nothing was opened that this `)` closes
         --> grammar:4:10
          |
        4 | d ::= 'x')
          |          ^
        error: this comment does not end
         --> grammar:5:7
          |
        5 | e ::= /* 
          |       ^^
          |
          = help: close it with `*/`
    "#]],
    );
    check(
        Notation::Abnf,
        "a = (\"x\"\nb = [\"x\"\nc = \"x\nd = <x\ne = )\n",
        expect![[r#"
        error: this bracket is not closed
         --> grammar:1:5
          |
        1 | a = ("x"
          |     ^
          |
          = help: close it with `)`
        error: this bracket is not closed
         --> grammar:2:5
          |
        2 | b = ["x"
          |     ^
          |
          = help: close it with `]`
        error: this text does not end on its line
         --> grammar:3:5
          |
        3 | c = "x
          |     ^
          |
          = help: close it with `"`; other characters are written as `%x0A`
        error: a description in prose derives nothing
         --> grammar:4:5
          |
        4 | d = <x
          |     ^^
          |
          = help: replace `<…>` by the elements that it describes
        error: nothing was opened that this `)` closes
         --> grammar:5:5
          |
        5 | e = )
          |     ^
    "#]],
    );
}

// .wug -------------------------------------------------------------------

#[test]
fn wug_bad_regular_expressions() {
    check(
        Notation::Wug,
        "a = /x(y/ ;\nb = /[z-a]/ ;\nc = /^x/ ;\nd = [z-a] ;",
        expect![[r#"
        error: unclosed group
         --> grammar:1:7
          |
        1 | a = /x(y/ ;
          |       ^
        error: invalid character class range, the start must be <= the end
         --> grammar:2:7
          |
        2 | b = /[z-a]/ ;
          |       ^^^
        error: `^` cannot be derived
         --> grammar:3:5
          |
        3 | c = /^x/ ;
          |     ^^^^
          |
          = help: describe the text itself, without anchors
        error: invalid character class range, the start must be <= the end
         --> grammar:4:6
          |
        4 | d = [z-a] ;
          |      ^^^
    "#]],
    );
}

#[test]
fn wug_bad_weights_and_operators() {
    check(
        Notation::Wug,
        "a = @0 'x' ;\nb = @2000000 'x' ;\nc = @x 'x' ;\nd = 'x' @3 ;",
        expect![[r#"
        error: a weight is a number from 1 to 1000000
         --> grammar:1:5
          |
        1 | a = @0 'x' ;
          |     ^^
        error: a weight is a number from 1 to 1000000
         --> grammar:2:5
          |
        2 | b = @2000000 'x' ;
          |     ^^^^^^^^
        error: expected a weight
         --> grammar:3:5
          |
        3 | c = @x 'x' ;
          |     ^
          |
          = help: `@3` makes an alternative three times as likely
        error: `@` cannot stand here
         --> grammar:4:9
          |
        4 | d = 'x' @3 ;
          |         ^
          |
          = help: a weight stands at the head of an alternative: `| @3 name`
    "#]],
    );
    check(
        Notation::Wug,
        "a = 'x'** ;\nb = * ;\nc = 'x'{3,2} ;\nd = 'x'{99999999999} ;",
        expect![[r#"
        error: an operator stands on another operator
         --> grammar:1:9
          |
        1 | a = 'x'** ;
          |         ^
          |
          = help: put what it repeats into parentheses
        error: expected a symbol, found `*`
         --> grammar:2:5
          |
        2 | b = * ;
          |     ^
        error: the first bound is greater than the second
         --> grammar:3:8
          |
        3 | c = 'x'{3,2} ;
          |        ^^^^^
        error: this count is too large
         --> grammar:4:8
          |
        4 | d = 'x'{99999999999} ;
          |        ^^^^^^^^^^^^^
    "#]],
    );
    check(
        Notation::Wug,
        "a = 'x' @{k: \"v\"}* ;\nb = 'x' -> pop ;\nc 'x' ;\nd = 'x'\ne = 'y' ;",
        expect![[r#"
        error: an operator stands on a remark
         --> grammar:1:18
          |
        1 | a = 'x' @{k: "v"}* ;
          |                  ^
          |
          = help: put what it repeats into parentheses
        error: only a token can change the mode
         --> grammar:2:9
          |
        2 | b = 'x' -> pop ;
          |         ^^^^^^
        error: expected `=` after the name `c`, found `'`
         --> grammar:3:3
          |
        3 | c 'x' ;
          |   ^
        error: rule `e` begins before the last one ended
         --> grammar:5:1
          |
        5 | e = 'y' ;
          | ^
          |
          = help: end each rule with `;`
    "#]],
    );
}

// JSON -------------------------------------------------------------------

#[test]
fn f1_wrong_types() {
    check(
        Notation::F1,
        "[1]",
        expect![[r#"
        error: expected an object with the rules, found a list
         --> grammar:1:1
          |
        1 | [1]
          | ^
          |
          = help: for example {"<start>": [["a"]]}
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": \"x\",\n \"<b>\": [1, [\"x\", {\"p\": [1]}], null],\n \"c\": [[]],\n \"<d>\": [],\n \"[start]\": 1}",
        expect![[r#"
            error: expected a list of alternatives, found a text
             --> grammar:1:9
              |
            1 | {"<a>": "x",
              |         ^
              |
              = help: for example [["a", "<b>"], []]
            error: expected an alternative, found a number
             --> grammar:2:10
              |
            2 |  "<b>": [1, ["x", {"p": [1]}], null],
              |          ^
              |
              = help: a list of symbols, as in ["a", "<b>"], or a text
            error: expected a symbol, found an object
             --> grammar:2:19
              |
            2 |  "<b>": [1, ["x", {"p": [1]}], null],
              |                   ^
              |
              = help: a symbol is a text: "<name>" for a rule, else itself
            error: expected an alternative, found `null`
             --> grammar:2:32
              |
            2 |  "<b>": [1, ["x", {"p": [1]}], null],
              |                                ^
              |
              = help: a list of symbols, as in ["a", "<b>"], or a text
            error: the name of a rule stands in angle brackets
             --> grammar:3:2
              |
            3 |  "c": [[]],
              |  ^^^
              |
              = help: write it as "<c>"
            error: rule `<d>` has no alternative
             --> grammar:4:2
              |
            4 |  "<d>": [],
              |  ^^^^^
              |
              = help: [[]] derives the empty text
            error: expected the name of the start rule, found a number
             --> grammar:5:13
              |
            5 |  "[start]": 1}
              |             ^
              |
              = help: for example "<start>"
        "#]],
    );
}

#[test]
fn f1_wrong_json() {
    check(
        Notation::F1,
        "{\"<a>\": [[\"x\",]]}",
        expect![[r#"
        error: nothing follows this comma
         --> grammar:1:14
          |
        1 | {"<a>": [["x",]]}
          |              ^
          |
          = help: JSON has commas only between two members: drop it
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": [[\"x\" \"y\"]]}",
        expect![[r#"
        error: expected `,` or `]`, found `"`
         --> grammar:1:15
          |
        1 | {"<a>": [["x" "y"]]}
          |               ^
          |
          = help: is a comma missing before it?
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\" [[\"x\"]]}",
        expect![[r#"
        error: expected `:`, found `[`
         --> grammar:1:8
          |
        1 | {"<a>" [["x"]]}
          |        ^
    "#]],
    );
    check(
        Notation::F1,
        "{'<a>': [[\"x\"]]}",
        expect![[r#"
        error: expected a name in double quotes, found `'`
         --> grammar:1:2
          |
        1 | {'<a>': [["x"]]}
          |  ^
          |
          = help: JSON puts texts into double quotes
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": [[\"\\x\"]]}",
        expect![[r#"
        error: unknown escape
         --> grammar:1:12
          |
        1 | {"<a>": [["\x"]]}
          |            ^
          |
          = help: there are \" \\ \/ \b \f \n \r \t and \uHHHH; a backslash itself is `\\`
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": [[\"\\ud800\"]]}",
        expect![[r#"
        error: half of a character
         --> grammar:1:12
          |
        1 | {"<a>": [["\ud800"]]}
          |            ^^^^^^
          |
          = help: characters above FFFF are written as a pair, `\uD83D\uDE00`
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": [[\"x\"]]} x",
        expect![[r#"
        error: expected the end of the text, found `x`
         --> grammar:1:18
          |
        1 | {"<a>": [["x"]]} x
          |                  ^
    "#]],
    );
    check(
        Notation::F1,
        "{\"<a>\": [[\"x\"]] // a\n}",
        expect![[r#"
        error: expected `,` or `}`, found `/`
         --> grammar:1:17
          |
        1 | {"<a>": [["x"]] // a
          |                 ^
          |
          = help: JSON has no comments
    "#]],
    );
}

#[test]
fn gramatron_mistakes() {
    check(
        Notation::Gramatron,
        "{\"A\": [\"'\\\\d'\", 1, \"'\\\\xZZ'\"], \"B C\": [], \"D\": [], \"E\": [\"'x' don't\"]}",
        expect![[r#"
            error: unknown escape in a terminal
             --> grammar:1:8
              |
            1 | {"A": ["'\\d'", 1, "'\\xZZ'"], "B C": [], "D": [], "E": ["'x' don't"]}
              |        ^^^^^^^
              |
              = help: there are \' \\ \n \r \t \xHH and \uHHHH; a backslash itself is `\\`
            error: expected an alternative, found a number
             --> grammar:1:17
              |
            1 | {"A": ["'\\d'", 1, "'\\xZZ'"], "B C": [], "D": [], "E": ["'x' don't"]}
              |                 ^
              |
              = help: an alternative is one text, as in "'a' B"
            error: `\x` needs two hexadecimal digits
             --> grammar:1:20
              |
            1 | {"A": ["'\\d'", 1, "'\\xZZ'"], "B C": [], "D": [], "E": ["'x' don't"]}
              |                    ^^^^^^^^^
              |
              = help: for example `\x7F`
            error: this cannot be the name of a rule
             --> grammar:1:32
              |
            1 | {"A": ["'\\d'", 1, "'\\xZZ'"], "B C": [], "D": [], "E": ["'x' don't"]}
              |                                ^^^^^
              |
              = help: a name has no spaces and does not begin with a quote
            error: rule `D` has no alternative
             --> grammar:1:43
              |
            1 | {"A": ["'\\d'", 1, "'\\xZZ'"], "B C": [], "D": [], "E": ["'x' don't"]}
              |                                           ^^^
              |
              = help: ["''"] derives the empty text
        "#]],
    );
}

// BNF, EBNF, W3C, ABNF ---------------------------------------------------

#[test]
fn bnf_mistakes() {
    check(
        Notation::Bnf,
        "a ::= 'x'\n<b> = 'x'\n<c> ::= 'x' ::= 'y'\n<d> ::= \"\\q\"\n",
        expect![[r#"
        error: expected a rule, found `a`
         --> grammar:1:1
          |
        1 | a ::= 'x'
          | ^
          |
          = help: names stand in angle brackets; without them, it is the W3C's notation
        error: `::=` without the name of a rule before it
         --> grammar:3:13
          |
        3 | <c> ::= 'x' ::= 'y'
          |             ^^^
          |
          = help: a rule is `<name> ::= expression`
        error: unknown escape
         --> grammar:4:10
          |
        4 | <d> ::= "\q"
          |          ^^
          |
          = help: there are \n \r \t \0 \\ \" \' \` \xHH and \u{H…}
    "#]],
    );
}

#[test]
fn ebnf_mistakes() {
    check(
        Notation::Ebnf,
        "a = ? any character ? ;\nb ::= 'x' ;\nc = 3 'x' ;\nd = 99999999999 * 'x' ;\ne = 'x'* ;\nf = 'x'\ng = 'y' ;\n= ;\nh = 3 * ;\ni = - 'x' ;\nj = 'x' ) ;",
        expect![[r#"
            error: a special sequence has no meaning that is known here
             --> grammar:1:5
              |
            1 | a = ? any character ? ;
              |     ^^^^^^^^^^^^^^^^^
              |
              = help: replace `? … ?` by a rule for what it describes
            error: expected `=` after the name `b`, found `:`
             --> grammar:2:3
              |
            2 | b ::= 'x' ;
              |   ^
              |
              = help: `::=` belongs to BNF and to the W3C's notation
            error: a number stands only before `*`
             --> grammar:3:5
              |
            3 | c = 3 'x' ;
              |     ^
              |
              = help: `3 * x` is `x` three times; text stands in quotes
            error: this count is too large
             --> grammar:4:5
              |
            4 | d = 99999999999 * 'x' ;
              |     ^^^^^^^^^^^
              |
              = help: counts are at most 4294967295
            error: expected a symbol, found `*`
             --> grammar:5:8
              |
            5 | e = 'x'* ;
              |        ^
              |
              = help: repetition is written `{ x }`, or `3 * x`
            error: expected a symbol, found `=`
             --> grammar:7:3
              |
            7 | g = 'y' ;
              |   ^
              |
              = help: is a `;` missing at the end of the rule before?
            error: expected the name of a rule, found `=`
             --> grammar:8:1
              |
            8 | = ;
              | ^
              |
              = help: a rule is `name = definition ;`
            error: nothing follows this count
             --> grammar:9:5
              |
            9 | h = 3 * ;
              |     ^
              |
              = help: a count stands before what it repeats; text is put into quotes
            error: nothing stands before this `-`
              --> grammar:10:5
               |
            10 | i = - 'x' ;
               |     ^
            error: nothing was opened that this `)` closes
              --> grammar:11:9
               |
            11 | j = 'x' ) ;
               |         ^
        "#]],
    );
}

#[test]
fn w3c_mistakes() {
    check(
        Notation::W3c,
        "<a> ::= 'x'\nb = 'x'\nc ::= 'x' * \nd ::= [z-a]\ne ::= #x110000\nf ::= #\ng ::= []\nh ::= 'x' -\ni ::= 'x' ;\nj ::= { 'x' }\n",
        expect![[r#"
            error: expected the name of a rule, found `<`
             --> grammar:1:1
              |
            1 | <a> ::= 'x'
              | ^
              |
              = help: names stand in angle brackets in BNF, not in the W3C's notation
            error: expected a symbol, found `*`
             --> grammar:3:11
              |
            3 | c ::= 'x' * 
              |           ^
              |
              = help: an operator stands directly behind what it repeats
            error: this range ends before it begins
             --> grammar:4:8
              |
            4 | d ::= [z-a]
              |        ^^^
            error: there is no such character
             --> grammar:5:7
              |
            5 | e ::= #x110000
              |       ^^^^^^^^
            error: expected the number of a character
             --> grammar:6:7
              |
            6 | f ::= #
              |       ^
              |
              = help: for example `#x20`; to mean the character `#`, put it into quotes
            error: this class has no members
             --> grammar:7:7
              |
            7 | g ::= []
              |       ^^
              |
              = help: an optional part is written `x?`
            error: nothing follows this `-`
             --> grammar:8:7
              |
            8 | h ::= 'x' -
              |       ^^^^^
              |
              = help: `a - b` is what `a` derives and `b` does not
            error: expected a symbol, found `;`
             --> grammar:9:11
              |
            9 | i ::= 'x' ;
              |           ^
              |
              = help: rules and symbols are separated by white space alone; text stands in quotes
            error: expected a symbol, found `{`
              --> grammar:10:7
               |
            10 | j ::= { 'x' }
               |       ^
               |
               = help: repetition is written `x*`
        "#]],
    );
}

#[test]
fn abnf_mistakes() {
    check(
        Notation::Abnf,
        "a = <any text>\nb = \"x\" | \"y\"\nc = 1#d\nd \"x\"\ne = %z1\nf = %x110000\ng = %xD800\nh = 3*2\"x\"\ni = 99999999999\"x\"\nj = %x5A-41\nk = \"x\"\n  l = \"y\"\n1m = \"x\"\nn = 'x'\no = 3\np = %x\n",
        expect![[r#"
            error: expected `=` after the name `d`, found `"`
             --> grammar:4:3
              |
            4 | d "x"
              |   ^
              |
              = help: lines that go on with a rule are indented more than its name
            error: `1m` cannot be the name of a rule
              --> grammar:13:1
               |
            13 | 1m = "x"
               | ^^
               |
               = help: a rule is `name = elements`; its name begins with a letter
            error: a description in prose derives nothing
             --> grammar:1:5
              |
            1 | a = <any text>
              |     ^^^^^^^^^^
              |
              = help: replace `<…>` by the elements that it describes
            error: expected an element, found `|`
             --> grammar:2:9
              |
            2 | b = "x" | "y"
              |         ^
              |
              = help: alternatives are separated by `/`
            error: expected an element, found `#`
             --> grammar:3:6
              |
            3 | c = 1#d
              |      ^
              |
              = help: lists, `1#element`, are not in RFC 5234: write `element *("," element)`
            error: unknown kind of value
             --> grammar:5:5
              |
            5 | e = %z1
              |     ^
              |
              = help: there are %x41, %d65, %b1000001, %s"text" and %i"text"
            error: there is no such character
             --> grammar:6:7
              |
            6 | f = %x110000
              |       ^^^^^^
              |
              = help: the greatest is 10FFFF
            error: D800 is no character of its own
             --> grammar:7:5
              |
            7 | g = %xD800
              |     ^^^^^^
              |
              = help: values from D800 to DFFF are halves of characters in UTF-16
            error: the first bound is greater than the second
             --> grammar:8:5
              |
            8 | h = 3*2"x"
              |     ^^^
            error: this count is too large
             --> grammar:9:5
              |
            9 | i = 99999999999"x"
              |     ^^^^^^^^^^^
              |
              = help: counts are at most 4294967295
            error: this range ends before it begins
              --> grammar:10:5
               |
            10 | j = %x5A-41
               |     ^^^^^^^
            error: expected an element, found `=`
              --> grammar:12:5
               |
            12 |   l = "y"
               |     ^
               |
               = help: a rule begins in the column in which the first one does
            error: expected an element, found `'`
              --> grammar:14:5
               |
            14 | n = 'x'
               |     ^
               |
               = help: text stands in double quotes
            error: nothing follows this count
              --> grammar:15:5
               |
            15 | o = 3
               |     ^
               |
               = help: a count stands before what it repeats; text is put into quotes
            error: expected a number in base 16, found the end of the line
              --> grammar:16:7
               |
            16 | p = %x
               |       ^
        "#]],
    );
}
