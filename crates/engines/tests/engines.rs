//! All engines give the same bytes, and choices can be recorded and
//! replayed.

use arbitrary::Unstructured;
use wug_engines::{Calls, Vm};
use wug_grammar::facts::ClosingMode;
use wug_grammar::load::load_text;
use wug_grammar::{Grammar, Notation, builtin, enumerate, testing};
use wug_produce::{Batch, Engine, Options, Program, Scratch, Tape};

fn wug(text: &str) -> Grammar {
    load_text("g.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

fn any_options(u: &mut Unstructured) -> arbitrary::Result<Options> {
    let closing = if u.arbitrary()? { ClosingMode::Min } else { ClosingMode::Cheap };
    Ok(Options {
        max_depth: u.int_in_range(0..=7)?,
        max_size: u.int_in_range(0..=60)?,
        closing,
        printable: false,
    })
}

fn produce(program: &Program, engine: Engine, seed: u64, index: u64) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    program.produce(engine, seed, index, &mut Scratch::default(), &mut out).map(|()| out)
}

/// Compares all engines with the reference on some inputs; gives how many the
/// flattened program made without help.
fn agree(program: &Program, seed: u64, inputs: u64) -> u64 {
    let (mut one, mut other, mut flat) = (Scratch::default(), Scratch::default(), Scratch::default());
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    let (vm, mut calls) = (Vm::new(program), Calls::default());
    for index in 0..inputs {
        expected.clear();
        found.clear();
        let a = program.produce(Engine::Recursive, seed, index, &mut one, &mut expected);
        let b = program.produce(Engine::Iterative, seed, index, &mut other, &mut found);
        assert_eq!((a, &expected), (b, &found));
        assert_eq!(one.tokens, other.tokens);
        found.clear();
        let b = vm.produce(seed, index, &mut calls, &mut flat, &mut found);
        assert_eq!((a, &expected), (b, &found), "vm");
    }
    assert_eq!(one.used, other.used);
    inputs - flat.remade
}

#[test]
fn engines_agree_on_made_up_grammars() {
    let (mut made, mut flat) = (0, 0);
    let property = |u: &mut Unstructured| {
        let grammar =
            if u.arbitrary()? { testing::productive_grammar(u)? } else { testing::lexical_grammar(u)? };
        let options = any_options(u)?;
        let Ok(program) = Program::new(&grammar, options) else { return Ok(()) };
        flat += agree(&program, u.arbitrary()?, 10);
        made += 10;
        Ok(())
    };
    wug_property::check(property).for_cases(90);
    assert!(flat * 4 > made, "only {flat} of {made} without help");
}

#[test]
fn engines_agree_on_built_in_grammars() {
    for builtin in builtin::all() {
        let loaded = builtin.load().unwrap_or_else(|e| panic!("{e}"));
        for (max_depth, closing) in [(1, ClosingMode::Min), (8, ClosingMode::Cheap), (32, ClosingMode::Min)] {
            let options = Options { max_depth, closing, max_size: 20_000, printable: false };
            let flat = agree(&Program::new(&loaded.grammar, options).unwrap(), 5, 10);
            assert!(flat >= 5, "{}: only {flat} without help", builtin.name);
        }
    }
}

#[test]
fn engines_agree_on_the_grammars_of_the_papers() {
    // Longer with the budget of property tests.
    let inputs = wug_property::budget(10).clamp(10, 1_000);
    for (name, grammar) in testing::shared() {
        for max_depth in [1, 8, 32, 128] {
            for closing in [ClosingMode::Min, ClosingMode::Cheap] {
                let max_size = if inputs > 10 { 1 << 20 } else { 50_000 };
                let program =
                    Program::new(&grammar, Options { max_depth, closing, max_size, printable: false })
                        .unwrap();
                let flat = agree(&program, 3, inputs);
                assert!(max_depth == 128 || flat > 0, "{name}: all were left to the reference");
            }
        }
    }
}

#[test]
fn empty_alternatives_leave_the_record_of_depth_right() {
    // The published record miscounts after an empty expansion.
    let grammar = wug("s = a b s | 'x' ; a = | b ; b = | '(' s ')' a ;");
    for max_depth in 0..12 {
        let options = Options { max_depth, ..Options::default() };
        agree(&Program::new(&grammar, options).unwrap(), 11, 200);
    }
}

#[test]
fn what_is_recorded_replays_to_the_same_bytes() {
    let property = |u: &mut Unstructured| {
        let grammar = testing::productive_grammar(u)?;
        let options = any_options(u)?;
        let Ok(program) = Program::new(&grammar, options) else { return Ok(()) };
        let seed = u.arbitrary()?;
        let (mut scratch, mut first, mut second) = (Scratch::default(), Vec::new(), Vec::new());
        let mut tape = Tape::default().recording();
        program.produce_with(Engine::Recursive, seed, 0, &mut tape, &mut scratch, &mut first);
        let mut replay = Tape::replay(tape.recorded()).recording();
        // Another seed: nothing is left to chance.
        program.produce_with(Engine::Iterative, !seed, 9, &mut replay, &mut scratch, &mut second);
        assert_eq!(first, second);
        assert_eq!(tape.recorded(), replay.recorded());
        Ok(())
    };
    wug_property::check(property).for_cases(4_000);
}

#[test]
fn any_bytes_are_a_program() {
    let mut judged = 0;
    let property = |u: &mut Unstructured| {
        let grammar = testing::productive_grammar(u)?;
        let options = any_options(u)?;
        let Ok(program) = Program::new(&grammar, options) else { return Ok(()) };
        let mut tape = Tape::replay(u.bytes(u.len().min(40))?);
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        program.produce_with(Engine::Recursive, 1, 0, &mut tape, &mut scratch, &mut out);
        assert!(out.len() as u64 <= options.max_size);
        if out.len() <= 5
            && let Some(language) = enumerate::enumerate(&grammar, 5, 2_000)
        {
            assert!(language.contains(&out));
            judged += 1;
        }
        Ok(())
    };
    wug_property::check(property).for_cases(800);
    assert!(judged > 20, "only {judged}");
}

#[test]
fn a_short_program_is_a_beginning() {
    let grammar = wug("s = [ab] [ab] [ab] [ab] t ; t = [cd] [cd] [cd] [cd] ;");
    let program = Program::new(&grammar, Options::default()).unwrap();
    let mut seen = std::collections::HashSet::new();
    for seed in 0..200 {
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        let mut tape = Tape::replay([1, 0, 1]);
        program.produce_with(Engine::Recursive, seed, 0, &mut tape, &mut scratch, &mut out).unwrap();
        assert!(out.starts_with(b"bab"));
        seen.insert(out);
    }
    assert_eq!(seen.len(), 32, "all ends come up");
    assert_eq!(produce(&program, Engine::Recursive, 3, 4), produce(&program, Engine::Iterative, 3, 4));
}

#[test]
fn a_batch_holds_the_single_inputs() {
    let grammar = wug("s = [a-z]* s | 'x'* ;");
    let program = Program::new(&grammar, Options::default()).unwrap();
    let (mut batch, mut scratch) = (Batch::default(), Scratch::default());
    let next = batch.fill(&program, Engine::Recursive, 7, 20..1_000, 500, &mut scratch).unwrap();
    let inputs: Vec<(u64, Vec<u8>)> = batch.inputs().map(|(i, bytes)| (i, bytes.to_vec())).collect();
    assert_eq!(inputs.first().map(|i| i.0), Some(20));
    assert_eq!(inputs.last().map(|i| i.0 + 1), Some(next));
    assert!(next < 1_000 && batch.bytes().len() >= 500 && batch.ends().len() == inputs.len());
    for (index, bytes) in inputs {
        assert_eq!(Some(bytes), produce(&program, Engine::Recursive, 7, index));
    }
    assert_eq!(batch.fill(&program, Engine::Recursive, 7, 5..5, 9, &mut scratch), Ok(5));
    assert_eq!(batch.inputs().count(), 0);
}

#[test]
fn inputs_before_one_that_cannot_be_made_are_kept() {
    let grammar = wug("s = (ID | NUM){10} ; token ID = [a-z]+ ; token NUM = [0-9]+ ;");
    let program = Program::new(&grammar, Options { max_size: 200, ..Options::default() }).unwrap();
    let (mut batch, mut scratch) = (Batch::default(), Scratch::default());
    let ran = batch.fill(&program, Engine::Recursive, 1, 0..10_000, usize::MAX, &mut scratch).unwrap_err();
    assert_eq!(batch.inputs().count() as u64, ran.index);
    for (index, input) in batch.inputs() {
        assert_eq!(produce(&program, Engine::Recursive, 1, index).as_deref(), Some(input));
    }
    assert_eq!(produce(&program, Engine::Recursive, 1, ran.index), None);
}
