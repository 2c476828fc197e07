//! The judge itself, on languages that are plain to see.

use expect_test::{Expect, expect};
use wug_grammar::enumerate::enumerate;
use wug_grammar::load::load_text;
use wug_grammar::{Grammar, Notation};

fn grammar(text: &str) -> Grammar {
    load_text("a.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

#[track_caller]
fn check(text: &str, longest: usize, strings: Expect) {
    let found = match enumerate(&grammar(text), longest, 100) {
        None => "too many".to_string(),
        Some(found) => {
            let shown: Vec<String> = found.iter().map(|s| format!("`{}`", s.escape_ascii())).collect();
            shown.join(" ")
        }
    };
    strings.assert_eq(&found);
}

#[test]
fn sequences_alternatives_and_groups_are_as_written() {
    check("s = 'a' ('b' | | 'cd') 'e' | 'x' ;", 4, expect!["`abe` `acde` `ae` `x`"]);
    check("s = 'a' ('b' | | 'cd') 'e' | 'x' ;", 3, expect!["`abe` `ae` `x`"]);
}

#[test]
fn recursion_on_any_side_is_followed_to_the_end() {
    check("s = | s 'a' ;", 3, expect!["`` `a` `aa` `aaa`"]);
    check("s = | 'a' s 'b' ;", 5, expect!["`` `aabb` `ab`"]);
    check("s = s s | 'a' | s ;", 3, expect!["`a` `aa` `aaa`"]);
    check("s = t ; t = u 'b' | 'c' ; u = s ;", 3, expect!["`c` `cb` `cbb`"]);
}

#[test]
fn what_never_finishes_derives_nothing() {
    check("s = s ;", 3, expect![""]);
    check("s = 'a' t | 'b' ; t = 'c' t ;", 3, expect!["`b`"]);
    check("s = 'a' t? 'b' t{0} ; t = t ;", 3, expect!["`ab`"]);
}

#[test]
fn repetitions_count() {
    check("s = 'a'{2,3} ;", 9, expect!["`aa` `aaa`"]);
    check("s = ('a' | 'bb'){2} ;", 9, expect!["`aa` `abb` `bba` `bbbb`"]);
    check("s = ('a' | ){1000000} ;", 2, expect!["`` `a` `aa`"]);
    check("s = 'a'{1000000} ;", 2, expect![""]);
    check("s = 'a'+ 'b'* ;", 2, expect!["`a` `aa` `ab`"]);
    check("s = ''* 'a' ;", 2, expect!["`a`"]);
}

#[test]
fn classes_give_their_members_as_bytes() {
    check("s = [a-cé] ;", 1, expect!["`a` `b` `c`"]);
    check("s = [a-cé] ;", 2, expect![r#"`a` `b` `c` `\xc3\xa9`"#]);
    check("s = x[61 FF] ;", 2, expect![r#"`a` `\xff`"#]);
    check("s = [é-ú]{0} 'a' ;", 2, expect!["`a`"]);
}

#[test]
fn too_many_strings_are_no_answer() {
    check("s = . ;", 4, expect!["too many"]);
    check("s = [ab]* ;", 9, expect!["too many"]);
}

#[test]
fn tokens_are_plain_rules() {
    check("s = A B? ; token A = 'a'+ ; token B = 'ab' ; skip W = ' ' ;", 3, expect!["`a` `aa` `aaa` `aab`"]);
}

#[test]
fn a_long_chain_of_rules_takes_no_stack_and_little_time() {
    let mut text = String::new();
    for i in 0..20_000 {
        text.push_str(&format!("r{i} = r{} ;\n", i + 1));
    }
    text.push_str("r20000 = 'a' ;");
    check(&text, 1, expect!["`a`"]);
}
