//! `embed` by example: Figure 12.

use super::*;

#[test]
fn figure_12_halves_the_share_of_simple_values_at_each_level() {
    check(
        JSON,
        |g| embed(g, 3),
        expect![[r#"
        start = value ;
        value = value_complex | value_2 ;
        object = object_complex | object_2 ;
        members = member | member "," members ;
        member = string ":" value ;
        array = array_complex | array_2 ;
        elements = value | value "," elements ;
        string = "\"" [a-z]* "\"" ;
        number = [0-9]+ ;
        @made value_2 = value_complex | value_3 ;
        @made value_3 = value_complex | value_simple ;
        @made value_complex = object | array | string | number ;
        @made value_simple = "true" | "false" | "null" ;
        @made object_2 = object_complex | object_3 ;
        @made object_3 = object_complex | object_simple ;
        @made object_complex = "{" members "}" ;
        @made object_simple = "{}" ;
        @made array_2 = array_complex | array_3 ;
        @made array_3 = array_complex | array_simple ;
        @made array_complex = "[" elements "]" ;
        @made array_simple = "[]" ;
    "#]],
    );
}

#[test]
fn one_level_parts_them_and_none_changes_nothing() {
    let text = "s = 'a' | @3 'b' | @2 s s | t ; t = 'x'{2,3} ;";
    check(
        text,
        |g| embed(g, 1),
        expect![[r#"
        s = s_complex | s_simple ;
        t = "x"{2,3} ;
        @made s_complex = @2 s s ;
        @made s_simple = "a" | @3 "b" | t ;
    "#]],
    );
    assert!(embed(&grammar(text), 0).same_as(&grammar(text)));
}

#[test]
fn made_rules_and_tokens_are_left_alone() {
    check(
        "s = 'a'* A ; token A = 'a' | 'b'+ ;",
        |g| embed(&desugar(g), 2),
        expect![[r#"
        s = s_1 A ;
        token A = "a" | "b" A_1 ;
        @made s_1 = | "a" s_1 ;
        @made fragment A_1 = | "b" A_1 ;
    "#]],
    );
}

#[test]
fn levels_are_bounded() {
    let result = embed(&grammar("s = 'a' | s 'b' ;"), u32::MAX);
    assert_eq!(result.rules().len(), 34);
}
