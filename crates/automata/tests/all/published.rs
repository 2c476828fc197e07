//! The distribution of the paper on Gramatron: by our automaton without shared
//! beginnings, and by weights on alternatives; judged against the paper's own
//! example and against automata that its converter made.

use std::path::PathBuf;
use wug_automata::{Automaton, Built, Form, Limits, Sharing, Walker, Weight};
use wug_grammar::load::load_text;
use wug_grammar::transform::{beginnings, lower};
use wug_grammar::{Grammar, Notation};
use wug_produce::{Engine, Options, Program, Scratch};
use wug_random::Rng;

const INPUTS: u64 = 20_000;

/// Listing 1: a part of PHP.
const PHP: &str = "program = '<?php ' block ' ?>' ;
    block = stmt | stmt block ;
    stmt = call | ret ;
    call = func '();' ;
    ret = 'return;' ;
    func = 'rand' | 'mt_rand' ;";

fn wug(text: &str) -> Grammar {
    load_text("g.wug", text, Notation::Wug).expect("it loads").grammar
}

fn walks(automaton: &Automaton) -> Vec<Vec<u8>> {
    let walker = Walker::new(automaton, Weight::Members);
    let walk = |index| {
        let (mut rng, mut steps, mut input) = (Rng::new(1, index), Vec::new(), Vec::new());
        walker.walk(&mut || rng.wide(), 1 << 20, &mut steps, &mut input).expect("it is short");
        input
    };
    (0..INPUTS).map(walk).collect()
}

fn ours(grammar: &Grammar, sharing: Sharing) -> Vec<Vec<u8>> {
    let form = Form::with(&lower::lower(grammar).grammar, sharing).expect("a form");
    walks(&Built::new(form, Limits::default()).expect("an automaton").automaton)
}

fn chosen(grammar: &Grammar) -> Vec<Vec<u8>> {
    let options = Options { max_depth: 10_000, ..Options::default() };
    let program = Program::new(&beginnings::by_beginnings(grammar), options).expect("it ends");
    let input = |index| {
        let mut input = Vec::new();
        program.produce(Engine::Recursive, 1, index, &mut Scratch::default(), &mut input).expect("no tokens");
        input
    };
    (0..INPUTS).map(input).collect()
}

fn mean(inputs: &[Vec<u8>], of: impl Fn(&[u8]) -> usize) -> f64 {
    inputs.iter().map(|input| of(input)).sum::<usize>() as f64 / inputs.len() as f64
}

#[test]
fn the_example_of_the_paper_has_two_statements_of_which_two_thirds_are_calls() {
    let grammar = wug(PHP);
    let count = |input: &[u8], byte: u8| input.iter().filter(|&&b| b == byte).count();
    for inputs in [ours(&grammar, Sharing::None), chosen(&grammar)] {
        let statements = mean(&inputs, |input| count(input, b';'));
        let calls = mean(&inputs, |input| count(input, b'('));
        assert!((statements - 2.0).abs() < 0.05, "{statements} statements");
        assert!((calls / statements - 2.0 / 3.0).abs() < 0.02, "{calls} calls of {statements}");
    }
    // With shared beginnings the end competes with each word that may follow.
    let statements = mean(&ours(&grammar, Sharing::Beginnings), |input| count(input, b';'));
    assert!((statements - 4.0).abs() < 0.15, "{statements} statements");
}

/// Left recursion, which the paper's converter does not end on: one more with
/// probability 1/2; and an empty alternative counts one.
#[test]
fn what_the_converter_does_not_know_is_drawn_as_stated() {
    let ones = |text: &str| mean(&chosen(&wug(text)), <[u8]>::len);
    assert!((ones("s = s 'a' | 'b' ;") - 2.0).abs() < 0.05);
    assert!((ones("s = s 'a' | s 'b' | 'c' | 'd' | 'e' ;") - 2.0).abs() < 0.05);
    assert!((ones("s = 'a' s | ;") - 1.0).abs() < 0.05);
}

#[test]
fn published_grammars_are_drawn_as_their_published_automata() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let folder =
        std::env::var_os("WUG_SHARED").map_or(beside.into(), PathBuf::from).join("grammars/gramatron");
    if !folder.exists() {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    }
    for name in ["ruby", "php"] {
        let read = |file: String| std::fs::read(folder.join(file)).expect("it is there");
        let theirs = Automaton::from_json(&read(format!("{name}.automaton.json"))).expect("an automaton");
        let text = String::from_utf8(read(format!("{name}.json"))).expect("text");
        let grammar =
            load_text(&format!("{name}.json"), &text, Notation::Gramatron).expect("it loads").grammar;
        let published = walks(&theirs);
        for (by, inputs) in [("walks", ours(&grammar, Sharing::None)), ("choices", chosen(&grammar))] {
            for (what, of) in measures() {
                let (wanted, found) = (mean(&published, of), mean(&inputs, of));
                // Rare things are counted less exactly.
                let close = 0.03 * wanted + 5.0 * (wanted / INPUTS as f64).sqrt();
                assert!((found - wanted).abs() < close, "{name}, {by}: {found} {what}, published {wanted}");
            }
        }
    }
}

type Measure = fn(&[u8]) -> usize;

fn measures() -> [(&'static str, Measure); 4] {
    [
        ("bytes", <[u8]>::len),
        ("dots", |input| input.iter().filter(|&&b| b == b'.').count()),
        ("brackets", |input| input.iter().filter(|&&b| b == b'(').count()),
        ("equals signs", |input| input.iter().filter(|&&b| b == b'=').count()),
    ]
}
