//! Mistakes in ANTLR's grammars, and notices about what is passed over.

use crate::check;
use expect_test::expect;
use wug_grammar::Notation;

#[track_caller]
fn antlr(text: &str, message: expect_test::Expect) {
    check(Notation::Antlr, text, message);
}

#[test]
fn a_grammar_without_its_head() {
    antlr(
        "a : 'x' ;",
        expect![[r#"
        error: an ANTLR grammar begins with `grammar NAME;`
         --> grammar:1:1
          |
        1 | a : 'x' ;
          | ^
          |
          = help: or `lexer grammar NAME;`, or `parser grammar NAME;`
        error: expected a rule, found `:`
         --> grammar:1:3
          |
        1 | a : 'x' ;
          |   ^
          |
          = help: names are letters, digits and `_`
    "#]],
    );
    antlr(
        "lexer a : 'x' ;",
        expect![[r#"
        error: an ANTLR grammar begins with `grammar NAME;`
         --> grammar:1:1
          |
        1 | lexer a : 'x' ;
          | ^^^^^^^
          |
          = help: or `lexer grammar NAME;`, or `parser grammar NAME;`
        error: expected a rule, found `:`
         --> grammar:1:9
          |
        1 | lexer a : 'x' ;
          |         ^
          |
          = help: names are letters, digits and `_`
    "#]],
    );
}

#[test]
fn what_does_not_end() {
    antlr(
        "grammar A; a : 'x ;\nb : 'y' ;",
        expect![[r#"
        error: this text does not end on its line
         --> grammar:1:16
          |
        1 | grammar A; a : 'x ;
          |                ^^^^
          |
          = help: close it with `'`; a line break inside is written `\n`
    "#]],
    );
    antlr(
        "grammar A; a : B ; B : [a-z ;\nC : 'y' ;",
        expect![[r#"
        error: this set does not end on its line
         --> grammar:1:24
          |
        1 | grammar A; a : B ; B : [a-z ;
          |                        ^
          |
          = help: close it with `]`; a bracket inside is written `\]`
    "#]],
    );
    antlr(
        "grammar A; a : ( 'x' | 'y' ;\nb : 'y' ;",
        expect![[r#"
            error: this parenthesis is not closed
             --> grammar:1:16
              |
            1 | grammar A; a : ( 'x' | 'y' ;
              |                ^
              |
              = help: close it with `)`
        "#]],
    );
    antlr(
        "grammar A; a : 'x' { if (x) { } ;\nb : 'y' ;",
        expect![[r#"
        error: this code does not end
         --> grammar:1:20
          |
        1 | grammar A; a : 'x' { if (x) { } ;
          |                    ^
          |
          = help: close it with `}`
    "#]],
    );
    antlr(
        "grammar A; a : 'x'",
        expect![[r#"
        error: this rule does not end
         --> grammar:1:12
          |
        1 | grammar A; a : 'x'
          |            ^
          |
          = help: close it with `;`
    "#]],
    );
    antlr(
        "grammar A; a : 'x'\nb : 'y' ;",
        expect![[r#"
        error: rule `b` begins before the last one ended
         --> grammar:2:1
          |
        2 | b : 'y' ;
          | ^^
          |
          = help: end each rule with `;`
    "#]],
    );
    antlr(
        "grammar A; /* a : 'x' ;",
        expect![[r#"
        error: this comment does not end
         --> grammar:1:12
          |
        1 | grammar A; /* a : 'x' ;
          |            ^^
          |
          = help: close it with `*/`
    "#]],
    );
}

#[test]
fn sets_and_escapes() {
    antlr(
        "grammar A; a : B ; B : [z-a] | [\\p{Klingon}] ;",
        expect![[r#"
        error: this range holds nothing
         --> grammar:1:25
          |
        1 | grammar A; a : B ; B : [z-a] | [\p{Klingon}] ;
          |                         ^^^
          |
          = help: the first end of a range comes before the second; a dash is written `\-`
    "#]],
    );
    antlr(
        "grammar A; a : B ; B : 'z'..'a' ; C : '\\u00' ;",
        expect![[r#"
        error: this range holds nothing
         --> grammar:1:24
          |
        1 | grammar A; a : B ; B : 'z'..'a' ; C : '\u00' ;
          |                        ^^^^^^^^
          |
          = help: a range goes from one character to a later one: `'a'..'z'`
    "#]],
    );
    antlr(
        "grammar A; a : B ; B : ~('ab' | 'c') ;",
        expect![[r#"
        error: `~` cannot negate what is more than one character
         --> grammar:1:24
          |
        1 | grammar A; a : B ; B : ~('ab' | 'c') ;
          |                        ^^^^^^^^^^^^^
          |
         ::: grammar:1:26
          |
        1 | grammar A; a : B ; B : ~('ab' | 'c') ;
          |                          ---- this is more than one character, or unknown
          |
          = help: `~` takes single characters and sets of them: `~('a' | [b-d])`
    "#]],
    );
}

#[test]
fn commands_and_modes() {
    antlr(
        "grammar A; a : B ; B : 'b' -> skipp ; C : 'c' -> pushMode(M) ;",
        expect![[r#"
        error: unknown lexer command `skipp`
         --> grammar:1:31
          |
        1 | grammar A; a : B ; B : 'b' -> skipp ; C : 'c' -> pushMode(M) ;
          |                               ^^^^^
          |
          = help: did you mean `skip`?
        error: unknown mode `M`
         --> grammar:1:59
          |
        1 | grammar A; a : B ; B : 'b' -> skipp ; C : 'c' -> pushMode(M) ;
          |                                                           ^
          |
          = help: begin it with `mode M;`
    "#]],
    );
    antlr(
        "grammar A; a : B ; B : 'b' -> type ; C : 'c' -> skip(1) ; d : 'x' -> skip ;",
        expect![[r#"
        error: only a lexical rule can have commands
         --> grammar:1:61
          |
        1 | r A; a : B ; B : 'b' -> type ; C : 'c' -> skip(1) ; d : 'x' -> skip ;
          |                                                             ^^
          |
          = help: trees are built by listeners and visitors in ANTLR 4: remove it
    "#]],
    );
}

#[test]
fn rules() {
    antlr(
        "grammar A; a : b C ; a : 'x' ; D : 'd' ;",
        expect![[r#"
        error: rule `a` is defined twice
         --> grammar:1:22
          |
        1 | grammar A; a : b C ; a : 'x' ; D : 'd' ;
          |                      ^ again here
          |
         ::: grammar:1:12
          |
        1 | grammar A; a : b C ; a : 'x' ; D : 'd' ;
          |            - first defined here
          |
          = help: rename one of them, or join their alternatives with `|`
        warning: no lexical rule makes these tokens: C
         --> grammar:1:18
          |
        1 | grammar A; a : b C ; a : 'x' ; D : 'd' ;
          |                  ^ first asked for here
          |
          = help: alternatives that need them are left out; code may make them: a .wug file named as well, joined by a comma, can define them as tokens
    "#]],
    );
    antlr(
        "grammar A; a : bb ; b : 'x' ;",
        expect![[r#"
        error: unknown rule `bb`
         --> grammar:1:16
          |
        1 | grammar A; a : bb ; b : 'x' ;
          |                ^^
    "#]],
    );
    antlr(
        "grammar A; a 'x' ;",
        expect![[r#"
        error: expected `:` after the name `a`, found `'`
         --> grammar:1:14
          |
        1 | grammar A; a 'x' ;
          |              ^
          |
          = help: the form is `NAME : … ;`
    "#]],
    );
    antlr(
        "grammar A; a : 'x'** ;",
        expect![[r#"
        error: `*` stands on another operator
         --> grammar:1:20
          |
        1 | grammar A; a : 'x'** ;
          |                    ^
          |
          = help: put what it repeats into parentheses
    "#]],
    );
}

#[test]
fn files_that_are_not_there() {
    antlr(
        "parser grammar A; options { tokenVocab = L; } a : B ;",
        expect![[r#"
        error: the grammar `L` is not there: imports are not available here
         --> grammar:1:42
          |
        1 | parser grammar A; options { tokenVocab = L; } a : B ;
          |                                          ^
          |
          = help: put `L.g4` beside this file, or name it as well, joined by a comma
    "#]],
    );
    antlr(
        "grammar A; import Common; a : B ;",
        expect![[r#"
        error: the grammar `Common` is not there: imports are not available here
         --> grammar:1:19
          |
        1 | grammar A; import Common; a : B ;
          |                   ^^^^^^
          |
          = help: put `Common.g4` beside this file, or name it as well, joined by a comma
    "#]],
    );
    antlr(
        "parser grammar A; a : B ;",
        expect![[r#"
        error: no file of this grammar has the rules of its tokens
         --> grammar:1:23
          |
        1 | parser grammar A; a : B ;
          |                       ^
          |
          = help: name the lexer as well, joined by a comma: `XParser.g4,XLexer.g4`
    "#]],
    );
}

#[test]
fn code_gets_one_notice() {
    antlr(
        "grammar A; @members { int n; } a @init { n = 0; } : {n > 0}? 'x' { n++; } b | 'y' {'}'} ; b : {p()}? B ; B : 'b' {f();} ;",
        expect![[r#"
            loaded
            warning: 3 actions and 2 predicates in a programming language are passed over, in a, b, B
             --> grammar:1:53
              |
            1 | grammar A; @members { int n; } a @init { n = 0; } : {n > 0}? 'x' { n++; } b | 'y' {'}'} ; b : {p()}? B ; B : 'b' {f();} ;
              |                                                     ^^^^^^^^^
              |
              = help: predicates count as true: what a real parser checks there, inputs may break
        "#]],
    );
}

#[test]
fn tokens_that_no_rule_makes_get_one_notice() {
    antlr(
        "grammar A; tokens { INDENT } a : 'x' | INDENT a DEDENT | WS 'y' ; WS : ' ' -> skip ;",
        expect![[r#"
            loaded
            warning: no lexical rule makes these tokens: INDENT, DEDENT, WS
             --> grammar:1:40
              |
            1 | grammar A; tokens { INDENT } a : 'x' | INDENT a DEDENT | WS 'y' ; WS : ' ' -> skip ;
              |                                        ^^^^^^ first asked for here
              |
              = help: alternatives that need them are left out; code may make them: a .wug file named as well, joined by a comma, can define them as tokens
        "#]],
    );
}
