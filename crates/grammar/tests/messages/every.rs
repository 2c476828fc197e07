//! Mistakes that can be made in every notation.

use crate::{check, check_bytes};
use expect_test::expect;
use wug_grammar::Notation;
use wug_grammar::load::{LoadOptions, Loader, NoImports, Text, load, load_text};

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
    let options = LoadOptions { start: Some("b"), ..LoadOptions::default() };
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
