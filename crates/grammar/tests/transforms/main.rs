//! Each pass by example, and all of them on made-up grammars: the language
//! stays, as the bounded enumerator sees it, and what the pass promises
//! holds.

mod desugaring;
mod embedding;
mod inlining;
mod made_up;
mod pruning;
mod unrolling;

use arbitrary::Unstructured;
use expect_test::{Expect, expect};
use wug_grammar::load::load_text;
use wug_grammar::transform::{desugar, embed, inline, prune, unroll};
use wug_grammar::{Grammar, Notation, RuleId, Symbol, print, testing};

fn grammar(text: &str) -> Grammar {
    load_text("a.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

#[track_caller]
fn check(before: &str, pass: impl Fn(&Grammar) -> Grammar, after: Expect) {
    let before = grammar(before);
    let result = pass(&before);
    assert_eq!(testing::malformed(&result), None);
    assert_ne!(testing::same_language(&before, &result, 3), Some(false));
    after.assert_eq(&print::wug::print(&result));
}

fn pruned(grammar: &Grammar) -> Grammar {
    prune(grammar).unwrap_or_else(|e| panic!("{}", e.message))
}

const JSON: &str = r#"
    start = value ;
    value = object | array | string | number | "true" | "false" | "null" ;
    object = "{}" | "{" members "}" ;
    members = member | member "," members ;
    member = string ":" value ;
    array = "[]" | "[" elements "]" ;
    elements = value | value "," elements ;
    string = '"' [a-z]* '"' ;
    number = [0-9]+ ;
"#;

/// All symbols, nested ones included.
fn symbols(grammar: &Grammar) -> usize {
    let mut count = 0;
    for id in grammar.rules() {
        grammar.bodies_within(grammar.rule(id).body, &mut |body| {
            count += grammar.alternatives(body).map(|alt| grammar.symbols(alt).len()).sum::<usize>();
        });
    }
    count
}
