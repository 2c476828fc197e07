//! `prune` by example.

use super::*;

#[test]
fn what_never_finishes_goes_and_then_what_nothing_calls() {
    check(
        "s = 'a' t | 'b' u | v? 'c' ; t = t 'x' | w ; u = 'y' ; v = v ; w = t ; x = 'z' ;",
        pruned,
        expect![[r#"
            s = "b" u | "c" ;
            u = "y" ;
        "#]],
    );
}

#[test]
fn groups_lose_their_dead_alternatives() {
    check(
        "s = ('a' | s | 'b') ('c' | n) (n 'x' | 'd' | 'e')* (n | 'f'){2} 'g'{0} ; n = n ;",
        pruned,
        expect![[r#"
            s = ("a" | s | "b") "c" ("d" | "e")* "f"{2} ;
        "#]],
    );
}

#[test]
fn remarks_keep_a_group_together() {
    check(
        "s = ('c' | n) @{k: 'v'} ; n = n ;",
        pruned,
        expect![[r#"
        s = ("c") @{k: "v"} ;
    "#]],
    );
}

#[test]
fn tokens_stay_with_what_they_use() {
    check(
        "s = A | C ; token A = D ; skip W = ' ' E ; token B = 'b' ; token C = C ; fragment D = 'd' ; \
         fragment E = 'e' ; fragment F = 'f' ;",
        pruned,
        expect![[r#"
            s = A ;
            token A = D ;
            skip W = " " E ;
            token B = "b" ;
            token C = [^\x00-\u{10FFFF}] ;
            fragment D = "d" ;
            fragment E = "e" ;
        "#]],
    );
}

#[test]
fn a_start_that_never_finishes_is_an_error_with_a_place() {
    let loaded = load_text("a.wug", "s = 'a' t ;\nt = s | t ;", Notation::Wug).unwrap();
    let error = prune(&loaded.grammar).unwrap_err();
    expect![[r#"
        error: rule `s` can never finish
         --> a.wug:1:1
          |
        1 | s = 'a' t ;
          | ^ no alternative of it derives a text
          |
          = help: add an alternative that does not come back to this rule"#]]
    .assert_eq(&error.render(&loaded.sources, false));
}
