//! Grammars made to hurt whoever produces from them: each input comes to an
//! end, within the limit, and the same by every engine.

use wug_engines::tables::Tables;
use wug_engines::{Calls, Vm};
use wug_grammar::facts::ClosingMode;
use wug_grammar::load::load_text;
use wug_grammar::{Grammar, Notation};
use wug_produce::{Engine, Options, Program, Scratch, Unfit};

fn wug(text: &str) -> Grammar {
    load_text("g.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

/// Produces one input at each depth; all must end within `max_size`.
fn ends(text: &str, max_size: u64, depths: &[u32]) {
    let grammar = wug(text);
    for closing in [ClosingMode::Min, ClosingMode::Cheap] {
        for &max_depth in depths {
            let program =
                Program::new(&grammar, Options { max_depth, max_size, closing, printable: false }).unwrap();
            let inputs = [Engine::Recursive, Engine::Iterative].map(|engine| {
                let mut out = Vec::new();
                program.produce(engine, 1, 0, &mut Scratch::default(), &mut out).unwrap();
                out
            });
            let (mut scratch, mut by_vm) = (Scratch::default(), Vec::new());
            Vm::new(&program).produce(1, 0, &mut Calls::default(), &mut scratch, &mut by_vm).unwrap();
            assert!(inputs[0].len() as u64 <= max_size);
            if let Ok(mut tables) = Tables::new(&program, b"") {
                let mut input = Vec::new();
                tables.one(1, 0, &mut input);
                assert!(input.len() as u64 <= max_size);
            }
            assert_eq!(inputs[0], inputs[1]);
            assert_eq!(inputs[0], by_vm);
        }
    }
}

fn halves(bottom: &str) -> String {
    let rules: String = (0..60).map(|i| format!("a{i} = a{} a{} ;\n", i + 1, i + 1)).collect();
    format!("{rules} a60 = {bottom} ;")
}

#[test]
fn two_to_the_sixty_empty_parts_are_not_visited() {
    ends(&halves("\"x\"*"), 0, &[1, 12]);
    ends(&format!("s = a0 | \"y\" ; {}", halves("\"x\"*")), 16, &[0, 1]);
}

#[test]
fn a_billion_empty_rounds_are_not_gone() {
    ends("s = t u ; t = (\"a\"*){1000000000} ; u = t t ;", 0, &[0, 1]);
    ends("s = (t{1000000000}){1000000000} ; t = \"a\"* ;", 0, &[0]);
}

#[test]
fn a_long_repetition_of_one_text_takes_no_memory_of_its_own() {
    ends("s = t ; t = \"a\"{100000} ;", 100_000, &[0, 16]);
}

#[test]
fn lengths_beyond_all_numbers_are_refused() {
    let rules: String = (0..80).map(|i| format!("a{i} = a{} a{} ;\n", i + 1, i + 1)).collect();
    let grammar = wug(&format!("{rules} a80 = \"x\" ;"));
    let options = Options { max_size: u64::MAX, ..Options::default() };
    let unfit = Program::new(&grammar, options).unwrap_err();
    assert_eq!(unfit, Unfit::Size { least: u64::MAX, limit: u64::MAX });
}

#[test]
fn weights_may_add_up_to_more_than_32_bits() {
    // Each mode has its own copy of an alternative; their weights add up.
    let heavy = "| @1000000 x ".repeat(4_200);
    let text = format!(
        "s = A y B ; y = C {heavy} ; x = C | A C B ;
         token A = \"a\" -> push(m) ; mode m {{ token B = \"b\" -> pop ; token C = \"c\" ; }}"
    );
    let program = Program::new(&wug(&text), Options::default()).unwrap();
    let mut out = Vec::new();
    assert_eq!(program.produce(Engine::Recursive, 1, 0, &mut Scratch::default(), &mut out), Some(()));
}

#[test]
fn one_of_very_many_alternatives_is_found_by_bisection() {
    let many: String = (0..20_000).map(|i| format!("| \"{}\" ", i % 10)).collect();
    ends(&format!("s = x{{20000}} ; x = \"a\" {many} ;"), 20_000, &[0, 16]);
}
