//! Lazy repetitions in tokens: what a lexer reads. The expectations are what
//! ANTLR's lexers do with the same rules.

use wug_grammar::Notation;
use wug_grammar::lexical::Lexicon;
use wug_grammar::lexical::lexer::lex;
use wug_grammar::load::load_text;

/// The lengths of the tokens of `text`, as far as it can be read.
#[track_caller]
fn check(tokens: &str, text: &str, ends: &[usize]) {
    let grammar = load_text("g", &format!("s = T* ; {tokens}"), Notation::Wug);
    let grammar = grammar.unwrap_or_else(|r| panic!("{r}")).grammar;
    let lexicon = Lexicon::of(&grammar).expect("small");
    let found = lex(&lexicon, text.as_bytes());
    let starts: Vec<usize> = found.unwrap_or_else(|at| panic!("stops at {at}")).iter().map(|t| t.1).collect();
    assert_eq!(starts, ends, "{tokens} on {text}");
}

#[test]
fn a_token_ends_at_the_first_end() {
    check("token T = \"/*\" .*? \"*/\" ;", "/*a*//* */", &[0, 5]);
    check("token T = .+? ;", "abc", &[0, 1, 2]);
    check("token T = [a-z]{2,3}? ;", "abcd", &[0, 2]);
}

#[test]
fn a_better_way_goes_on() {
    // The escape is the first alternative, so its quote does not end the text.
    let text = r"'a\'b''c'";
    check(r#"token T = "'" ("\\" . | .)*? "'" ;"#, text, &[0, 6]);
    // As the second alternative it comes too late.
    check(r#"token T = "'" (. | "\\" .)*? "'" | [a-z] ;"#, r"'a\'b", &[0, 4]);
}

#[test]
fn what_is_greedy_behind_it_stays_greedy() {
    check("token T = \"<\" .*? \">\" \"x\"* ;", "<a>xxx<>x", &[0, 6]);
    check("token T = \"<\" .*? \">\" \"x\"?? ; token X = \"x\" ;", "<a>x", &[0, 3]);
}

#[test]
fn other_alternatives_of_the_token_go_on() {
    // The second has no lazy repetition: it may be longer.
    check("token T = \"a\" .*? \"b\" | \"a\" [a-z]* \"c\" ;", "axbxc", &[0]);
}

#[test]
fn a_lazy_repetition_inside_of_a_greedy_one() {
    check("token T = (\"<\" .*? \">\")+ | \"-\" ;", "<a><b>-", &[0, 6]);
}
