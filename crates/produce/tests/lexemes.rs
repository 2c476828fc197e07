//! Derivations that were put together from several print so that they lex
//! as they say: the parser, which shares no code with the printer, must
//! find the same tokens and the same tree.

use arbitrary::Unstructured;
use std::ops::Range;
use wug_grammar::derivation::Node;
use wug_grammar::lexical::{Lexicon, lexer};
use wug_grammar::testing::{lexical_grammar, productive_grammar};
use wug_grammar::{AltId, BodyId, Derivation, Grammar, Notation, builtin, load::load_text, print};
use wug_parse::{Cache, Limits, Parser};
use wug_produce::{Engine, Layout, Options, Printer, Program, Scratch, Spacing};

/// A grammar with all that reads, writes and prints it.
struct Bench<'g> {
    grammar: &'g Grammar,
    parser: Parser<'g>,
    cache: Cache,
    printer: Printer<'g>,
    layout: Layout,
    /// The body of each alternative.
    body_of: Vec<BodyId>,
}

impl<'g> Bench<'g> {
    fn new(grammar: &'g Grammar) -> Option<Bench<'g>> {
        let parser = Parser::new(grammar).ok()?;
        let mut body_of = vec![BodyId(0); grammar.alternative_count()];
        for body in (0..grammar.body_count() as u32).map(BodyId) {
            grammar.alternatives(body).for_each(|alt| body_of[alt.index()] = body);
        }
        let (cache, printer) = (Cache::new(&parser), Printer::new(grammar).ok()?);
        Some(Bench { grammar, cache, parser, printer, layout: Layout::default(), body_of })
    }

    fn parse(&mut self, text: &[u8]) -> Option<(Derivation, u64)> {
        let limits = Limits { memory: 1 << 28, steps: 1_000_000 };
        let parsed = self.parser.parse(text, &mut self.cache, limits).ok()?;
        Some((parsed.derivation, parsed.ambiguities))
    }

    fn print(&mut self, derivation: &Derivation, spacing: Spacing) -> Option<Vec<u8>> {
        let mut out = b"before".to_vec();
        let start = self.grammar.start();
        self.printer.print_from(start, derivation, spacing, &mut self.layout, &mut out)?;
        assert!(out.starts_with(b"before"));
        Some(out.split_off(6))
    }

    /// Checks what a derivation prints as; whether it can be printed.
    fn check(&mut self, derivation: &Derivation) -> bool {
        let [kept, least] = [Spacing::Keep, Spacing::Least].map(|spacing| {
            let text = self.print(derivation, spacing)?;
            let respaced = self.printer.respaced(derivation, &self.layout);
            Some((text, respaced))
        });
        assert_eq!(kept.is_some(), least.is_some(), "{}", print::wug::print(self.grammar));
        let (Some(kept), Some(least)) = (kept, least) else { return false };
        assert!(least.0.len() <= kept.0.len(), "{:?}", (least.0, kept.0));
        for (text, respaced) in [kept, least] {
            let shown =
                || format!("{:?}\n{}", String::from_utf8_lossy(&text), print::wug::print(self.grammar));
            let mut again = Vec::new();
            respaced.print(self.grammar, &mut again).expect("it fits");
            assert_eq!(again, text, "respaced otherwise");
            let shown = shown();
            let (parsed, ambiguities) = self.parse(&text).unwrap_or_else(|| panic!("rejected: {shown}"));
            let bare = |derivation: &Derivation| derivation.respaced(|_| &[]);
            assert_eq!(bare(&parsed).texts(), bare(derivation).texts(), "other tokens: {shown}");
            if ambiguities == 0 {
                assert_eq!(
                    shape(self.grammar, &parsed),
                    shape(self.grammar, &respaced),
                    "another tree: {shown}"
                );
            }
        }
        true
    }

    /// A node of `one` replaced by one of `other` of the same body.
    fn swap(&self, one: &Derivation, other: &Derivation, u: &mut Unstructured<'_>) -> Option<Derivation> {
        let body = |d: &Derivation, at: usize| match d.node(at) {
            Node::Alternative(AltId(alt)) => Some(self.body_of[alt as usize]),
            _ => None,
        };
        let at = u.choose_index(one.len()).ok()?;
        let wanted = body(one, at)?;
        let fitting: Vec<usize> = (0..other.len()).filter(|&at| body(other, at) == Some(wanted)).collect();
        let from = *u.choose(&fitting).ok()?;
        Some(one.replaced(at, other, from))
    }
}

/// The nodes that derive something, with their places: what is empty can be
/// derived in many ways.
fn shape(grammar: &Grammar, derivation: &Derivation) -> Vec<(Node, Range<usize>)> {
    let spans = derivation.spans(grammar).expect("it fits");
    let node = |at| match derivation.node(at) {
        Node::Repeat(_) => Node::Repeat(0),
        node => node,
    };
    spans.into_iter().enumerate().filter(|(_, s)| !s.is_empty()).map(|(at, s)| (node(at), s)).collect()
}

/// Derivations of inputs of a grammar.
fn derivations(bench: &mut Bench, count: u64, seed: u64, max_size: u64) -> Vec<Derivation> {
    let options = Options { max_depth: 8, max_size, ..Options::default() };
    let Ok(program) = Program::new(bench.grammar, options) else { return Vec::new() };
    let mut scratch = Scratch::default();
    let mut made = Vec::new();
    for index in 0..count {
        let mut input = Vec::new();
        if program.produce(Engine::Recursive, seed, index, &mut scratch, &mut input).is_some() {
            made.extend(bench.parse(&input).map(|(derivation, _)| derivation));
        }
    }
    made
}

#[test]
fn built_in_grammars() {
    for builtin in builtin::all() {
        let grammar = builtin.load().expect("it loads").grammar;
        let mut bench = Bench::new(&grammar).expect("it is small");
        let inputs = derivations(&mut bench, 30, 5, 3_000);
        assert!(inputs.len() > 20);
        let (mut swapped, mut printed) = (0, 0);
        wug_property::check(|u| {
            let (one, other) = (u.choose(&inputs)?, u.choose(&inputs)?);
            if let Some(mut made) = bench.swap(one, other, u) {
                for _ in 0..u.choose_index(3)? {
                    made = bench.swap(&made, other, u).filter(|m| m.len() < 20_000).unwrap_or(made);
                }
                swapped += 1;
                printed += usize::from(bench.check(&made));
            }
            Ok(())
        })
        .for_cases(700);
        eprintln!("{}: {printed} of {swapped}", builtin.name);
        assert!(printed > 10 && printed * 50 >= swapped * 49, "{}: {printed} of {swapped}", builtin.name);
    }
}

#[test]
fn made_up_grammars() {
    let (mut swapped, mut printed, mut plain) = (0, 0, 0);
    // On a slow machine, one grammar can take all the time.
    for _ in 0..5 {
        wug_property::check(|u| {
            let tokens = u.ratio(3, 4)?;
            let grammar = if tokens { lexical_grammar(u)? } else { productive_grammar(u)? };
            let Some(mut bench) = Bench::new(&grammar) else { return Ok(()) };
            let inputs = derivations(&mut bench, 8, 1, 60);
            if inputs.is_empty() {
                return Ok(());
            }
            for _ in 0..16 {
                let (one, other) = (u.choose(&inputs)?, u.choose(&inputs)?);
                let Some(made) = bench.swap(one, other, u) else { continue };
                let done = bench.check(&made);
                assert!(done || tokens);
                swapped += usize::from(tokens);
                printed += usize::from(done && tokens);
                plain += usize::from(!tokens);
                if !done {
                    no_way(&mut bench, &made);
                }
            }
            Ok(())
        })
        .for_cases(100);
        if printed > 3 && plain > 3 {
            break;
        }
    }
    eprintln!("{printed} of {swapped}, {plain} without tokens");
    assert!(printed > 3 && plain > 3, "{printed} of {swapped}, {plain} without tokens");
}

/// Tries all skipped tokens of up to two bytes between the tokens of a
/// short derivation: none may serve.
fn no_way(bench: &mut Bench, made: &Derivation) {
    let lexicon = Lexicon::of(bench.grammar).expect("small");
    let tokens = (0..made.len()).filter(|&at| matches!(made.node(at), Node::Token(_))).count();
    if tokens > 3 {
        return;
    }
    let letters = b"abc\xFE";
    let mut skipped: Vec<Vec<u8>> = vec![Vec::new()];
    for &a in letters {
        skipped.push(vec![a]);
        skipped.extend(letters.iter().map(|&b| vec![a, b]));
    }
    skipped.retain(|text| text.is_empty() || lexer::lex(&lexicon, text).is_ok_and(|found| found.is_empty()));
    let bare = made.respaced(|_| &[]);
    for number in 0..skipped.len().pow(tokens as u32 + 1) {
        let gap = |at: usize| &skipped[number / skipped.len().pow(at as u32) % skipped.len()][..];
        let tried = made.respaced(gap);
        let mut text = Vec::new();
        tried.print(bench.grammar, &mut text).expect("it fits");
        if let Some((found, 0)) = bench.parse(&text) {
            let same = found.respaced(|_| &[]) == bare && found == tried;
            assert!(!same, "{:?}\n{}", String::from_utf8_lossy(&text), print::wug::print(bench.grammar));
        }
    }
}

/// Replaces the last `rule` of one input by that of another.
#[track_caller]
fn check(grammar: &str, one: &str, other: &str, rule: &str, expected: Option<&str>) {
    let grammar = load_text("test.wug", grammar, Notation::Wug).expect("a grammar").grammar;
    let mut bench = Bench::new(&grammar).expect("it is small");
    let body = grammar.rule(grammar.find(rule).expect("a rule")).body;
    let last = |d: &Derivation| {
        let here = |&at: &usize| matches!(d.node(at), Node::Alternative(alt) if grammar.body_has(body, alt));
        (0..d.len()).rev().find(here).expect("there is one")
    };
    let (one, _) = bench.parse(one.as_bytes()).expect("it parses");
    let (other, _) = bench.parse(other.as_bytes()).expect("it parses");
    let made = one.replaced(last(&one), &other, last(&other));
    let text = bench.print(&made, Spacing::Keep).map(|text| String::from_utf8(text).expect("text"));
    assert_eq!(text.as_deref(), expected);
    assert_eq!(bench.check(&made), expected.is_some());
}

const WORDS: &str = r#"
    s = ("return" value | "(" value ")")+ ;
    value = NAME | NUMBER | "-" value | '"' TEXT* END ;
    token NAME = [a-z]+ ;
    token NUMBER = [0-9]+ ;
    token QUOTE = '"' -> push(text) ;
    skip SPACE = [ \n]+ ;
    skip COMMENT = "--" [^\n]* "\n" ;
    mode text { token TEXT = [^"]+ ; token END = '"' -> pop ; }
"#;

#[test]
fn words_that_would_run_together_are_separated() {
    check(WORDS, "(x)return\"y\"", "(z)", "value", Some("(x)return z"));
    check(WORDS, "(x)return\"y\"", "(1)", "value", Some("(x)return1"));
}

#[test]
fn what_stands_between_is_kept_where_it_serves() {
    check(WORDS, "return -- why\n 1 -- end\n", "( 2)", "value", Some("return 2 -- end\n"));
    // A comment that now begins too early.
    check(WORDS, "return--1", "return - --\n 1", "value", Some("return- - --\n 1"));
}

#[test]
fn what_means_something_else_is_replaced() {
    let grammar = r#"
        s = ("-" | "+") x ;
        x = "x" | "(" x ")" ;
        token NUMBER = [0-9]+ ;
        skip SPACE = " "+ ;
        skip COMMENT = "-" "-"+ "\n" ;
    "#;
    // `-` and the comment behind it would be one comment.
    check(grammar, "-x", "+--\nx", "x", Some("-x"));
    check(grammar, "+x", "+--\nx", "x", Some("+--\nx"));
}

#[test]
fn without_a_separator_there_is_no_text() {
    let grammar = "s = x x ; x = \"a\" | \"b\" ; token AB = \"ab\" ; token AA = \"ba\" ;";
    check(grammar, "aa", "bb", "x", None);
}
