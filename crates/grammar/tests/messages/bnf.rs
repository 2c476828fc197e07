//! Mistakes in BNF and its kin: EBNF, W3C, ABNF.

use crate::check;
use expect_test::expect;
use wug_grammar::Notation;

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
