//! Derivations as trees: spans, and subtrees put in place of others.

use wug_grammar::derivation::Node;
use wug_grammar::{BodyId, Derivation, Grammar, builtin};
use wug_parse::{Cache, Limits, Parser};

fn parse(grammar: &Grammar, text: &str) -> Derivation {
    let parser = Parser::new(grammar).expect("it fits");
    parser.parse(text.as_bytes(), &mut Cache::new(&parser), Limits::default()).expect("it parses").derivation
}

fn print(grammar: &Grammar, derivation: &Derivation) -> String {
    let mut out = Vec::new();
    derivation.print(grammar, &mut out).expect("it fits");
    String::from_utf8(out).expect("text")
}

/// The nodes that derive a body.
fn of_body(grammar: &Grammar, derivation: &Derivation, body: BodyId) -> Vec<usize> {
    let is =
        |at: &usize| matches!(derivation.node(*at), Node::Alternative(alt) if grammar.body_has(body, alt));
    (0..derivation.len()).filter(is).collect()
}

/// Puts every subtree of a rule in place of every other, and checks text,
/// spans and sizes against the text put together by hand.
fn check(name: &str, rule: &str, text: &str) -> usize {
    let grammar = builtin::find(name).expect("built in").load().expect("loads").grammar;
    let derivation = parse(&grammar, text);
    let spans = derivation.spans(&grammar).expect("it fits");
    assert_eq!(print(&grammar, &derivation), text);
    let body = grammar.rule(grammar.find(rule).expect("a rule")).body;
    let nodes = of_body(&grammar, &derivation, body);
    for &to in &nodes {
        assert_eq!(
            derivation.above(to).iter().filter(|&&a| derivation.end(a) < derivation.end(to)).count(),
            0
        );
        for &from in &nodes {
            let replaced = derivation.replaced(to, &derivation, from);
            let (cut, put) = (spans[to].clone(), spans[from].clone());
            let meant = [&text[..cut.start], &text[put], &text[cut.end..]].concat();
            assert_eq!(print(&grammar, &replaced), meant);
            assert_eq!(replaced.spans(&grammar).expect("it fits")[0], 0..meant.len());
            let children: usize = replaced.children(0).map(|child| replaced.end(child) - child).sum();
            assert_eq!(children + 1, replaced.end(0));
        }
    }
    nodes.len()
}

#[test]
fn subtrees_of_a_rule_take_each_others_place() {
    assert_eq!(check("json", "value", "[1, {\"a\": [true, \"b\"]}, null]"), 6);
    assert!(check("lua", "exp", "x = f(1 + y, { 'a', b = 2 })  -- a remark\nreturn x .. 'c'") > 4);
    assert!(check("sql", "expr", "SELECT a + 1, (b) FROM t WHERE c = 'd' /* e */ ;") > 3);
}

#[test]
fn a_node_is_eight_bytes() {
    let grammar = builtin::find("json").expect("built in").load().expect("loads").grammar;
    let derivation = parse(&grammar, "[1]");
    assert_eq!(derivation.bytes(), 8 * derivation.len());
}
