//! Mistakes in the notations that are JSON: F1 and Gramatron.

use crate::check;
use expect_test::expect;
use wug_grammar::Notation;

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
        "{\"A\": [1], \"B C\": [], \"D\": [], \"E\": [\"'x' don't\"]}",
        expect![[r#"
        error: expected an alternative, found a number
         --> grammar:1:8
          |
        1 | {"A": [1], "B C": [], "D": [], "E": ["'x' don't"]}
          |        ^
          |
          = help: an alternative is one text, as in "'a' B"
        error: this cannot be the name of a rule
         --> grammar:1:12
          |
        1 | {"A": [1], "B C": [], "D": [], "E": ["'x' don't"]}
          |            ^^^^^
          |
          = help: a name has no spaces and does not begin with a quote
        error: rule `D` has no alternative
         --> grammar:1:23
          |
        1 | {"A": [1], "B C": [], "D": [], "E": ["'x' don't"]}
          |                       ^^^
          |
          = help: ["''"] derives the empty text
    "#]],
    );
}
