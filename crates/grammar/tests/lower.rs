//! What lowering makes of tokens, by example. That its results lex as
//! meant is a property test of the `produce` crate.

use expect_test::{Expect, expect};
use wug_grammar::diagnostic::render_all;
use wug_grammar::facts::{Closing, ClosingMode, Facts, expected_length};
use wug_grammar::load::load_text;
use wug_grammar::transform::{lower, prune};
use wug_grammar::{Notation, print};

#[track_caller]
fn check(text: &str, expected: Expect) {
    let loaded = load_text("g.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}"));
    let lowered = lower::lower(&loaded.grammar);
    assert!(!lowered.grammar.has_tokens());
    let mut out = render_all(&lowered.warnings, &loaded.sources, false);
    match prune::prune(&lowered.grammar) {
        Ok(grammar) => out.push_str(&print::wug::print(&grammar)),
        Err(endless) => out.push_str(&endless.render(&loaded.sources, false)),
    }
    expected.assert_eq(&out);
}

#[test]
fn keywords_are_taken_from_identifiers_and_kept_apart() {
    check(
        "s = 'if' ID ; token ID = [fi]+ ; skip WS = ' ' ;",
        expect![[r#"
            s = "if" space ID gap ;
            @made WS = " " ;
            @made space = @12 " " | WS ;
            @made gap = @24 | @12 " " | WS ;
            @made ID = "f" `ID.2` | "i" `ID.3` ;
            @made `ID.2` = | @2 [fi] `ID.2` ;
            @made `ID.3` = | "f" `ID.4` | "i" `ID.2` ;
            @made `ID.4` = [fi] `ID.2` ;
        "#]],
    );
}

#[test]
fn tokens_that_cannot_run_together_need_no_space() {
    check(
        "s = ID (',' ID)* ; token ID = [a-z]{1,3} ; skip WS = ' '+ ;",
        expect![[r#"
        s = ID gap ("," gap ID gap)* ;
        @made WS = " "+ ;
        @made gap = @24 | @12 " " | WS ;
        @made ID = [a-z]{1,3} ;
    "#]],
    );
}

#[test]
fn a_lazy_token_ends_at_its_first_end() {
    check(
        "s = TAG ; token TAG = '<' [a>]*? '>' ;",
        expect![[r#"
        s = TAG ;
        @made TAG = "<" `TAG.2` ;
        @made `TAG.2` = ">" | "a" `TAG.2` ;
    "#]],
    );
}

#[test]
fn lexemes_are_narrowed_where_nothing_can_stand_between() {
    check(
        "s = NUM DOT ; token NUM = [0-1]{1,2} | '0.' ; token DOT = '.' ;",
        expect![[r#"
            s = NUM DOT ;
            @made NUM = "0" `NUM.2` | "1" `NUM.3` ;
            @made `NUM.2` = [.01] ;
            @made `NUM.3` = | @2 [01] ;
            @made DOT = "." ;
        "#]],
    );
}

#[test]
fn what_can_only_run_together_derives_nothing() {
    check(
        "s = ID ID | ID '.' ; token ID = [a-z]+ ;",
        expect![[r#"
        s = ID_2 "." ;
        @made ID_2 = [a-z]+ ;
    "#]],
    );
}

#[test]
fn where_nothing_is_proven_inputs_are_lexed_again() {
    check(
        "s = op+ ; op = '+' | '++' | 'x' ; token T = 't' ;",
        expect![[r#"
        warning: inputs are lexed again, since these tokens may run together with what follows: "+"
         --> g.wug:1:1
          |
        1 | s = op+ ; op = '+' | '++' | 'x' ; token T = 't' ;
          | ^
          |
          = help: a skipped token, such as white space, would keep them apart
        s = op+ ;
        op = `+` | `++` | x ;
        @made `+` = "+" ;
        @made `++` = "++" ;
        @made x = "x" ;
    "#]],
    );
}

#[test]
fn a_token_stands_only_where_its_mode_is() {
    check(
        "s = Q (T | s)* E ; token Q = '(' -> push(in) ; mode in { token T = 't' ; token E = ')' -> pop ; token R = '(' -> push(in) ; }",
        expect![[r#"
            s = Q s_1 E ;
            @made Q = "(" ;
            @made s_1 = | s_2 s_1 ;
            @made E = ")" ;
            @made s_2 = T ;
            @made T = "t" ;
        "#]],
    );
}

#[test]
fn a_token_that_earlier_ones_take_is_told_of() {
    check(
        "s = A | B ; token A = [a-z] ; token B = 'b' ;",
        expect![[r#"
        warning: token `B` is never read: earlier tokens take all of its texts
         --> g.wug:1:37
          |
        1 | s = A | B ; token A = [a-z] ; token B = 'b' ;
          |                                     ^
          |
          = help: move it before them
        s = A ;
        @made A = [a-z] ;
    "#]],
    );
}

#[test]
fn a_rule_that_leaves_its_mode_does_not_go_on_in_it() {
    check(
        "s = Q s | Q s s | Q ; token Q = 'q' -> push(m) ; mode m { token Z = 'z' -> pop ; }",
        expect![[r#"
            s = Q ;
            @made Q = "q" ;
        "#]],
    );
}

#[test]
fn modes_beyond_analysis_are_lexed_again() {
    check(
        "s = Q s | 'x' ; token Q = 'q' -> push(default) ;",
        expect![[r#"
        warning: inputs are lexed again, since these tokens may run together with what follows: Q
         --> g.wug:1:1
          |
        1 | s = Q s | 'x' ; token Q = 'q' -> push(default) ;
          | ^
          |
          = help: a skipped token, such as white space, would keep them apart
        s = Q s | x ;
        @made Q = "q" ;
        @made x = "x" ;
    "#]],
    );
}

#[test]
fn a_grammar_whose_tokens_always_run_together_is_an_error() {
    check(
        "s = ID ID ; token ID = [a-z]+ ;",
        expect![[r#"
        error: no input can be read as the tokens it is made of: they always run together
         --> g.wug:1:1
          |
        1 | s = ID ID ; token ID = [a-z]+ ;
          | ^
          |
          = help: a skipped token, such as white space, would keep them apart
        error: rule `s` can never finish
         --> g.wug:1:1
          |
        1 | s = ID ID ; token ID = [a-z]+ ;
          | ^ no alternative of it derives a text
          |
          = help: add an alternative that does not come back to this rule"#]],
    );
}

#[test]
fn a_lazy_comment_is_not_drawn_without_end() {
    // Each byte of a text that goes on is equally likely; the way out is not
    // one in 180 for each of its two bytes.
    let text = "s = C ; token C = '/*' .*? '*/' ;";
    let loaded = load_text("g.wug", text, Notation::Wug).unwrap();
    let grammar = prune::prune(&lower::lower(&loaded.grammar).grammar).unwrap();
    let facts = Facts::of(&grammar);
    let closing = Closing::of(&grammar, &facts, ClosingMode::Min);
    let mean = expected_length(&grammar, &facts, &closing, 4);
    assert!((10.0..60.0).contains(&mean), "{mean}");
}
