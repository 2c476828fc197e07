//! Grammars made to hurt. None may panic, hang, overflow the stack or take
//! memory without bound; tests run on threads with small stacks. What is
//! asserted is that they come to an end, and that the end is right.

use std::fmt::Write;
use wug_grammar::facts::{Closing, ClosingMode, Facts, expected_length};
use wug_grammar::lexical::lexer::lex;
use wug_grammar::lexical::{Lexicon, TokenId};
use wug_grammar::load::load_text;
use wug_grammar::transform::lower::{Lowered, lower};
use wug_grammar::{Grammar, Notation};

fn wug(text: &str) -> Grammar {
    load_text("g.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

/// `count` pieces of text, one for each number.
fn each(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

fn proven(text: &str) -> Lowered {
    let lowered = lower(&wug(text));
    assert!(lowered.unproven.is_empty(), "{:?}", lowered.unproven.first());
    lowered
}

#[test]
fn a_long_literal_is_one_token() {
    let lowered = proven(&format!("s = \"{}\" T ; token T = \"x\"+ ;", "ab".repeat(20_000)));
    let facts = Facts::of(&lowered.grammar);
    assert_eq!(facts.min_length(lowered.grammar.rule(lowered.grammar.start()).body), Some(40_001));
}

#[test]
fn a_literal_beyond_all_bounds_is_kept_as_it_is() {
    let lowered = lower(&wug(&format!("s = \"{}\" T ; token T = \"x\"+ ;", "ab".repeat(2_000_000))));
    assert_eq!(lowered.unproven, ["T"]);
}

#[test]
fn thousands_of_tokens_are_compared_together() {
    let tokens = each(3_000, |i| format!("token T{i} = \"k{i}\" ;\n"));
    let calls = each(3_000, |i| format!("| T{i} "));
    let text = format!("s = (ID {calls})* ; {tokens} token ID = [a-z0-9]+ ; skip W = \" \"+ ;");
    let lowered = proven(&text);
    assert!(lowered.warnings.is_empty());
}

#[test]
fn a_counted_token_has_a_state_for_each_count() {
    let lowered = lower(&wug("s = T+ ; token T = \"a\"{1,300} ;"));
    // `aa` is one token, so that two never stand side by side.
    assert_eq!(lowered.unproven, Vec::<String>::new());
    assert_eq!(lower(&wug("s = T+ ; token T = [a-z]{0,200} U{0,200} ; fragment U = [0-9] ;")).warnings, []);
}

#[test]
fn what_only_an_exponential_automaton_accepts_is_given_up() {
    let text = "s = T U ; token T = (\"a\" | \"b\")* \"a\" (\"a\" | \"b\"){30} ; token U = \"a\"+ ;";
    assert_eq!(lower(&wug(text)).unproven, ["T", "U"]);
    let halves = each(40, |i| format!("fragment F{i} = F{} F{} ;", i + 1, i + 1));
    let text = format!("s = T ; token T = F0 ; {halves} fragment F40 = \"x\"? ;");
    assert_eq!(lower(&wug(&text)).unproven, ["T"]);
}

#[test]
fn rules_are_visited_in_the_order_of_their_calls() {
    // Each link passes on what it learns to the top, which calls them all.
    let n = 4_000;
    for up in [true, false] {
        let link = |i: usize| {
            let next = if up { i + 1 } else { i.wrapping_sub(1) };
            if next < n { format!("r{i} = r{next} ;\n") } else { format!("r{i} = T ;\n") }
        };
        let calls = each(n, |i| format!("| r{i} "));
        let (top, links) = (format!("top = \"x\" {calls} ;\n"), each(n, link));
        proven(&format!("{top}{links} token T = \"t\"+ ;"));
        proven(&format!("{top}{links} token T = \"t\" -> push(m) ; mode m {{ token U = \"u\" -> pop ; }}"));
    }
}

#[test]
fn a_long_alternative_is_linear_with_modes_too() {
    let calls = each(20_000, |_| "C \"x\" ".into());
    proven(&format!("s = {calls} ; token C = \"c\"+ ; skip W = \" \" ;"));
    let calls = each(20_000, |_| "C ".into());
    let lowered = proven(&format!(
        "s = A {calls} B ; token A = \"a\" -> push(m) ; mode m {{ token B = \"b\" -> pop ; token C = \"c\" ; }}"
    ));
    let facts = Facts::of(&lowered.grammar);
    assert_eq!(facts.min_length(lowered.grammar.rule(lowered.grammar.start()).body), Some(20_002));
}

#[test]
fn nested_groups_are_looked_at_once_each() {
    let (open, close) = ("(\"a\" | T ".repeat(190), ")".repeat(190));
    let rules = each(40, |i| format!("r{i} = {open}T{close} r{} ;\n", i + 1));
    proven(&format!("{rules} r40 = T ; token T = \"t\"+ ; skip W = \" \"+ ;"));
}

#[test]
fn rules_and_literals_by_the_thousand_are_bounded_together() {
    let word =
        |i: usize| [i, i / 26, i / 676].map(|d| (b'a' + (d % 26) as u8) as char).iter().collect::<String>();
    let rule = |i: usize| {
        format!("r{i} = \"{}\" r{} r{} | ;\n", word(i), (i * 7919 + 1) % 6_000, (i * 31 + 7) % 6_000)
    };
    let lowered = lower(&wug(&format!("{} token T = [A-Z]+ ;", each(6_000, rule))));
    assert!(lowered.grammar.rules().len() >= 6_000);
}

#[test]
fn a_wide_choice_is_a_class_at_once() {
    let chars = |n: u32| {
        (0..n).filter_map(|i| char::from_u32(0x4E00 + i)).map(|c| format!("| \"{c}\" ")).collect::<String>()
    };
    let text = format!("r = big - \"\u{4E01}\" ; big = \"a\" {} ;", chars(8_000));
    let grammar = load_text("g.ebnf", &text, Notation::Ebnf).unwrap_or_else(|e| panic!("{e}")).grammar;
    assert_eq!(grammar.class_count(), 1);
    let mut text = format!("big = \"a\" {} ;", chars(3_000));
    (0..5_000).for_each(|i| write!(text, "r{i} = big - \"x{i}\" ;").unwrap_or(()));
    let refused = load_text("g.ebnf", &text, Notation::Ebnf).unwrap_err();
    assert!(refused.to_string().contains("too large"), "{refused}");
}

#[test]
fn exceptions_and_tokens_do_not_mix() {
    use wug_grammar::load::{LoadOptions, NoImports, Text, load};
    let text = |name: &str, text: &str| Text { name: name.into(), bytes: text.into() };
    let texts = vec![text("a.ebnf", "s = (\"a\" | \"b\") - \"b\", T;"), text("b.wug", "token T = \"t\" ;")];
    let refused = load(texts, LoadOptions::default(), &NoImports).unwrap_err();
    assert!(refused.to_string().contains("an exception in a grammar with tokens"), "{refused}");
}

#[test]
fn the_mean_of_a_circle_that_seldom_ends_is_exact() {
    // On average 65,536 steps: too many to go round until it settles.
    let mean = |text: &str| {
        let grammar = lower(&wug(text)).grammar;
        let facts = Facts::of(&grammar);
        expected_length(&grammar, &facts, &Closing::of(&grammar, &facts, ClosingMode::Min), 16)
    };
    assert!((mean("@made s = @999999 \"a\" s | \"b\" ;") - 1e6).abs() < 1e-3);
    assert_eq!(mean("@made s = @2 s s | \"b\" ;"), f64::INFINITY);
    let ring = each(3_000, |i| format!("@made s{i} = s{} \"a\" | \"b\" ;", (i + 1) % 3_000));
    assert!((mean(&ring) - 2.0).abs() < 1e-9);
}

#[test]
fn equal_languages_have_equal_automata() {
    let lexicon = |text: &str| Lexicon::of(&wug(text)).unwrap_or_else(|_| panic!("small"));
    for (left, right) in [
        ("(\"a\" | \"b\")* \"a\" \"b\"", "\"b\"* \"a\" (\"a\" | \"b\" \"b\"* \"a\")* \"b\""),
        ("\"a\"{2,5}", "\"aa\" | \"aaa\" | \"aa\" \"aa\" | \"aaa\" \"aa\""),
        ("(\"a\"? \"b\"?)* \"c\"", "[ab]* \"c\""),
    ] {
        let automaton = |body: &str| lexicon(&format!("s = T ; token T = {body} ; token X = [abc] \"x\" ;"));
        let (left, right) = (automaton(left), automaton(right));
        assert_eq!(left.modes[0].len(), right.modes[0].len());
        assert_eq!(left.modes[0].labels, right.modes[0].labels);
    }
    let lexicon = lexicon("s = T U ; token T = \"ab\"* \"c\" ; token U = [a-c]+ ;");
    let tokens =
        |text: &[u8]| lex(&lexicon, text).map(|found| found.into_iter().map(|(t, _)| t).collect::<Vec<_>>());
    assert_eq!(tokens(b"ababc"), Ok(vec![TokenId(0)]));
    assert_eq!(tokens(b"abac"), Ok(vec![TokenId(1)]));
    assert_eq!(tokens(b"x"), Err(0));
}
