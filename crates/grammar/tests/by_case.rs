//! Uppercase rules as tokens, by the `.wug` that they become.

use expect_test::{Expect, expect};
use wug_grammar::load::{LoadOptions, NoImports, Text, load};
use wug_grammar::print;

#[track_caller]
fn check(text: &str, wug: Expect) {
    let text = Text { name: "a.ebnf".to_string(), bytes: text.as_bytes().to_vec() };
    let options = LoadOptions { tokens_by_case: true, ..LoadOptions::default() };
    let loaded = load(vec![text], options, &NoImports).unwrap_or_else(|e| panic!("{e}"));
    wug.assert_eq(&print::wug::print(&loaded.grammar));
}

#[test]
fn uppercase_rules_are_tokens_or_fragments_and_white_space_is_skipped() {
    check(
        "[1] Query ::= 'SELECT' VAR1+ NIL?\n[2] VAR1 ::= '?' VARNAME\n[3] NIL ::= '(' WS* ')'\n[4] WS ::= #x20 | #xA\n[5] VARNAME ::= letter+\n[6] letter ::= [a-z]",
        expect![[r#"
            Query = "SELECT" VAR1+ NIL? ;
            token VAR1 = "?" VARNAME ;
            token NIL = "(" WS* ")" ;
            @{gaps: "needed"} skip WS = " " | "\n" ;
            fragment VARNAME = letter+ ;
            fragment letter = [a-z] ;
        "#]],
    );
}

#[test]
fn white_space_is_added_where_no_rule_is_for_it() {
    check(
        "a ::= ID '=' a | ID\nID ::= [a-z]+",
        expect![[r#"
            a = ID "=" a | ID ;
            token ID = [a-z]+ ;
            @{gaps: "needed"} skip WS = [\t\n\r ]+ ;
        "#]],
    );
}

#[test]
fn white_space_that_syntax_asks_for_is_not_skipped() {
    check(
        "a ::= ID S a | ID\nID ::= [a-z]+\nS ::= #x20",
        expect![[r#"
        a = ID S a | ID ;
        token ID = [a-z]+ ;
        token S = " " ;
    "#]],
    );
}

#[test]
fn without_uppercase_rules_nothing_changes() {
    check(
        "a ::= 'x' b\nb ::= [0-9]",
        expect![[r#"
        a = "x" b ;
        b = [0-9] ;
    "#]],
    );
}

#[test]
fn a_long_chain_of_helpers_is_followed_to_its_end() {
    let mut text = String::from("a ::= TOKEN\nTOKEN ::= h0\n");
    for i in 0..20_000 {
        text.push_str(&format!("h{i} ::= h{}\n", i + 1));
    }
    text.push_str("h20000 ::= 'x'\n");
    let text = Text { name: "a.ebnf".to_string(), bytes: text.into_bytes() };
    let options = LoadOptions { tokens_by_case: true, ..LoadOptions::default() };
    let loaded = load(vec![text], options, &NoImports).unwrap_or_else(|e| panic!("{e}"));
    let wug = print::wug::print(&loaded.grammar);
    assert_eq!(wug.matches("fragment h").count(), 20_001);
}

#[test]
fn exceptions_inside_of_tokens_are_worked_out() {
    check(
        "a ::= NAME REF\nREF ::= '<' ([^<>] - [#x0-#x20])* '>'\nNAME ::= ([a-c] [a-c]?) - ('ab' | 'c')",
        expect![[r#"
            a = NAME REF ;
            token REF = "<" except-4* ">" ;
            token NAME = except-5 ;
            @{gaps: "needed"} skip WS = [\t\n\r ]+ ;
            @made fragment except-4 = [!-;=?-\u{D7FF}\u{E000}-\u{10FFFF}] ;
            @made fragment except-5 = "a" `except-5.2` | "b" `except-5.3` | "c" `except-5.4` ;
            @made fragment `except-5.2` = | @2 [ac] ;
            @made fragment `except-5.3` = | @3 [a-c] ;
            @made fragment `except-5.4` = [a-c] ;
        "#]],
    );
}
