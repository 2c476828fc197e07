//! What was opened and not closed, in every notation.

use crate::check;
use expect_test::expect;
use wug_grammar::Notation;

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
              = help: close it with `'`; text with a single quote inside stands in double quotes
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
