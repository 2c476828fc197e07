//! What is said of a whole grammar: golden messages.

use expect_test::{Expect, expect};
use wug_grammar::diagnostic::render_all;
use wug_grammar::facts::Facts;
use wug_grammar::load::load_text;
use wug_grammar::{Notation, check};

#[track_caller]
fn check(text: &str, expected: Expect) {
    let loaded = load_text("g.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}"));
    let facts = Facts::of(&loaded.grammar);
    let found = check::check(&loaded.grammar, &facts);
    expected.assert_eq(&render_all(&found, &loaded.sources, false));
}

#[test]
fn a_rule_that_always_calls_itself_never_finishes() {
    check(
        "list = item list ;\nitem = 'x' ;\n",
        expect![[r#"
        error: rule `list` can never finish
         --> g.wug:1:1
          |
        1 | list = item list ;
          | ^^^^ every alternative calls `list` again
          |
          = help: add an alternative that does not call `list`
    "#]],
    );
}

#[test]
fn an_endless_rule_beside_others_is_a_warning() {
    check(
        "s = 'x' | list ;\nlist = 'y' list | list 'z' ;\n",
        expect![[r#"
        warning: rule `list` can never finish
         --> g.wug:2:1
          |
        2 | list = 'y' list | list 'z' ;
          | ^^^^ every alternative calls `list` again
          |
          = help: add an alternative that does not call `list`
    "#]],
    );
}

#[test]
fn endless_circles_are_told_with_what_they_need() {
    check(
        "s = a 'x' ;\na = 'p' b ;\nb = 'q' a | c ;\nc = b b ;\n",
        expect![[r#"
        error: the start rule `s` can never finish
         --> g.wug:1:1
          |
        1 | s = a 'x' ;
          | ^ every alternative needs something endless, such as `a`
        error: rules `a`, `b` and `c` can never finish
         --> g.wug:2:1
          |
        2 | a = 'p' b ;
          | ^ each needs another of them, in a circle
          |
         ::: g.wug:3:1
          |
        3 | b = 'q' a | c ;
          | -
          |
         ::: g.wug:4:1
          |
        4 | c = b b ;
          | -
          |
          = help: give one of them an alternative that needs none of them
    "#]],
    );
}

#[test]
fn a_class_without_members_derives_nothing() {
    check(
        "s = 'a' [a&&b] ;\n",
        expect![[r#"
        error: rule `s` can never finish
         --> g.wug:1:1
          |
        1 | s = 'a' [a&&b] ;
          | ^ every alternative holds something that derives nothing
    "#]],
    );
}

#[test]
fn unused_rules_are_listed_but_not_tokens() {
    check(
        "s = A ;\nold = s ;\ntoken A = 'a' ;\ntoken B = C ;\nfragment C = 'c' ;\nfragment D = 'd' ;\n",
        expect![[r#"
        warning: rule `old` is never used
         --> g.wug:2:1
          |
        2 | old = s ;
          | ^^^ the start rule `s` does not lead here
        warning: rule `D` is never used
         --> g.wug:6:10
          |
        6 | fragment D = 'd' ;
          |          ^ the start rule `s` does not lead here
    "#]],
    );
}

#[test]
fn a_good_grammar_has_nothing_to_tell() {
    check("s = 'a' s | ;", expect![[""]]);
}

#[test]
fn many_unused_rules_are_summed_up() {
    let rules: String = (0..1_000).map(|i| format!("r{i} = 'x' ;\n")).collect();
    let loaded = load_text("g.wug", &format!("s = 'y' ;\n{rules}"), Notation::Wug).unwrap();
    let found = check::check(&loaded.grammar, &Facts::of(&loaded.grammar));
    assert_eq!(found.len(), 11);
    assert_eq!(found[10].message, "990 more rules are never used");
}
