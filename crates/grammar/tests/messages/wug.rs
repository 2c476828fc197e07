//! Mistakes in `.wug`.

use crate::check;
use expect_test::expect;
use wug_grammar::Notation;

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
