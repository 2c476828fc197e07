//! `inline` by example, and its bounds.

use super::*;

#[test]
fn single_alternatives_go_where_they_are_called() {
    check(
        "s = t u* ('x' t | 'y') ; t = 'a' v 'b' ; u = 'c' | 'd' ; v = ('e' | 'f') ;",
        inline,
        expect![[r#"
            s = "a" ("e" | "f") "b" u* ("x" "a" ("e" | "f") "b" | "y") ;
            u = "c" | "d" ;
        "#]],
    );
}

#[test]
fn recursive_rules_tokens_limits_and_remarks_stay() {
    check(
        "s = r A l n m m @{k: 'v'} | s 'y' ; r = 'a' q ; q = | r ; @depth(2) l = 'l' ; @{k: 'v'} n = 'n' ; \
         m = 'm' ; token A = B ; fragment B = 'b' ;",
        inline,
        expect![[r#"
            s = r A l n m m @{k: "v"} | s "y" ;
            r = "a" q ;
            q = | r ;
            @depth(2) l = "l" ;
            @{k: "v"} n = "n" ;
            m = "m" ;
            token A = B ;
            fragment B = "b" ;
        "#]],
    );
}

#[test]
fn growth_is_bounded() {
    let mut text = "s = r0 r0 ;".to_string();
    for i in 0..60 {
        text.push_str(&format!("r{i} = r{} r{} ;", i + 1, i + 1));
    }
    for last in ["r60 = ;", "r60 = 'a' ;", "r60 = 'a' | ;"] {
        let before = grammar(&format!("{text} {last}"));
        let after = inline(&before);
        assert!(symbols(&after) <= 4 * symbols(&before) + 1_000);
        assert!(after.rules().len() < before.rules().len());
    }
}

#[test]
fn long_chains_take_no_stack() {
    let mut text = "s = r0 ;".to_string();
    for i in 0..50_000 {
        text.push_str(&format!("r{i} = 'a' r{} ;\n", i + 1));
    }
    text.push_str("r50000 = 'b' ;");
    let after = inline(&grammar(&text));
    assert_eq!(after.rules().len(), 1);
    assert_eq!(symbols(&after), 50_001);
}

#[test]
fn groups_do_not_nest_beyond_the_bound() {
    let mut text = "s = r0 ;".to_string();
    for i in 0..1_000 {
        text.push_str(&format!("r{i} = ('a' r{} | 'b') ;\n", i + 1));
    }
    text.push_str("r1000 = 'b' ;");
    let after = inline(&grammar(&text));
    let printed = print::wug::print(&after);
    assert!(load_text("b.wug", &printed, Notation::Wug).is_ok());
    assert_eq!(after.rules().len(), 6);
}
