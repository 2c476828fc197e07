//! `unroll` by example: Figure 11.

use super::*;

fn by(levels: u32) -> impl Fn(&Grammar) -> Grammar {
    move |grammar| unroll(grammar, levels).unwrap_or_else(|e| panic!("{}", e.message))
}

#[test]
fn figure_11_replaces_each_call_by_each_alternative() {
    check(
        JSON,
        by(1),
        expect![[r#"
        start = object | array | string | number | "true" | "false" | "null" ;
        value = "{}" | "{" members "}" | "[]" | "[" elements "]" | "\"" string_1 "\"" | [0-9] number_1 | "true" | "false" | "null" ;
        object = "{}" | "{" member "}" | "{" member "," members "}" ;
        members = string ":" value | string ":" value "," member | string ":" value "," member "," members ;
        member = "\"" string_1 "\"" ":" object | "\"" string_1 "\"" ":" array | "\"" string_1 "\"" ":" string | "\"" string_1 "\"" ":" number | "\"" string_1 "\"" ":" "true" | "\"" string_1 "\"" ":" "false" | "\"" string_1 "\"" ":" "null" ;
        array = "[]" | "[" value "]" | "[" value "," elements "]" ;
        elements = object | array | string | number | "true" | "false" | "null" | object "," value | object "," value "," elements | array "," value | array "," value "," elements | string "," value | string "," value "," elements | number "," value | number "," value "," elements | "true" "," value | "true" "," value "," elements | "false" "," value | "false" "," value "," elements | "null" "," value | "null" "," value "," elements ;
        string = "\"" "\"" | "\"" [a-z] string_1 "\"" ;
        number = [0-9] | [0-9] [0-9] number_1 ;
        @made string_1 = | [a-z] | [a-z] [a-z] string_1 ;
        @made number_1 = | [0-9] | [0-9] [0-9] number_1 ;
    "#]],
    );
}

#[test]
fn calls_are_combined_and_weights_multiply() {
    check(
        "s = @2 t u | 'x' ; t = 'a' | @3 'b' ; u = 'c' s | @5 ;",
        by(1),
        expect![[r#"
        s = @2 "a" "c" s | @10 "a" | @6 "b" "c" s | @30 "b" | "x" ;
    "#]],
    );
}

#[test]
fn weights_that_grow_too_large_are_reduced() {
    check(
        "s = t t | @1000 t ; t = @1000000 'a' | @500000 'b' ;",
        by(1),
        expect![[r#"
        s = @2000 "a" "a" | @1000 "a" "b" | @1000 "b" "a" | @500 "b" "b" | @2 "a" | "b" ;
    "#]],
    );
}

#[test]
fn tokens_limits_and_remarks_are_leaves() {
    check(
        "s = A t | u | v @{k: 'v'} ; t = 't' ; @depth(1) u = 'u' ; v = 'v' ; token A = ('a' | 'b')+ ;",
        by(3),
        expect![[r#"
            s = A "t" | u | v @{k: "v"} ;
            @depth(1) u = "u" ;
            v = "v" ;
            token A = ("a" | "b")+ ;
        "#]],
    );
}

#[test]
fn too_large_a_result_is_an_error_that_names_the_rule() {
    let text = "s = t t t t t t t\n  t t t t t t t ;\nt = 'a' | 'b' | 'c' ;";
    let loaded = load_text("a.wug", text, Notation::Wug).unwrap();
    let error = unroll(&loaded.grammar, 1).unwrap_err();
    expect![[r#"
        error: rule `s` is too large to unroll
         --> a.wug:1:1
          |
        1 | s = t t t t t t t
          | ^ more than 1000000 alternatives at level 1
          |
          = help: unroll fewer levels"#]]
    .assert_eq(&error.render(&loaded.sources, false));
    for text in ["s = 'a' s | ;", "s = s | 'a' ;"] {
        assert!(unroll(&grammar(text), u32::MAX).is_err());
    }
    for text in ["s = s ;", "s = 'a' ;", "s = ;"] {
        assert!(unroll(&grammar(text), u32::MAX).is_ok());
    }
}
