//! Emitted source gives the bytes of the reference engine, and compilers have
//! nothing to say about it.

mod compile;

use arbitrary::Unstructured;
use compile::{Case, Compiler, Wanted};
use wug_engines::emit::{self, Refused, Style};
use wug_grammar::facts::ClosingMode;
use wug_grammar::load::load_text;
use wug_grammar::{Grammar, Notation, builtin, testing};
use wug_produce::{Options, Program};

fn wug(text: &str) -> Grammar {
    load_text("g.wug", text, Notation::Wug).unwrap_or_else(|e| panic!("{e}")).grammar
}

fn program(grammar: &Grammar, closing: ClosingMode) -> Program {
    Program::new(grammar, Options { max_size: u64::MAX, closing, ..Options::default() }).unwrap()
}

/// What a grammar is asked for: inputs at several depths and caps, one seed.
fn wanted(depths: &[u32], caps: &[u64], inputs: u64) -> Vec<Wanted> {
    let mut all = Vec::new();
    for &depth in depths {
        for &cap in caps {
            all.extend((0..inputs).map(|index| Wanted { seed: 7, index, depth, cap }));
        }
    }
    all
}

/// Random bytes that are the same each time.
fn noise(seed: u64) -> Vec<u8> {
    let mut rng = wug_random::Rng::new(seed, 0);
    (0..2_000).map(|_| rng.below(256) as u8).collect()
}

/// Made-up grammars in which all occurs that the flattened program treats.
fn made_up(count: u64) -> Vec<Case> {
    let texts = [
        "s = @5 'ab' s | @2 s s | @20 x ; @depth(2) x = 'x' x 'x' | '' | [é-ʀ€-𐍈] ;",
        "l = '[' (i (',' i)*)? ']' ; i = l | @3 'n' | [a-zé€]{2,20} | \"a long text of forty bytes, or so it seems\" ;",
        "s = (a | b b){0,12} ; a = 'a' a | c ; @made @depth(9) b = 'b' b | 'c' ; c = s | ;",
        "@made r = 'x' r 'y' | . ; ",
        "s = @1 t | @3 t s ; t = ('?' '?=' | '\\\\' | '\"' | '%s' | \"\\n\") u{1000} ; u = 'a' | 'bc' | '' ;",
        "s = t{3} | s s ; t = u u | v ; u = 'a' | 'b' | 'cd' ; v = [0-9]{5} | u v ;",
    ];
    let mut grammars: Vec<Grammar> = texts.iter().map(|text| wug(text)).collect();
    for seed in 0..count {
        let bytes = noise(seed);
        let mut u = Unstructured::new(&bytes);
        grammars.push(testing::productive_grammar(&mut u).unwrap());
    }
    let cases = grammars.iter().enumerate().map(|(at, grammar)| {
        let closing = if at % 2 == 0 { ClosingMode::Min } else { ClosingMode::Cheap };
        let program = program(grammar, closing);
        let least = program.facts.min_length(grammar.rule(grammar.start()).body);
        let least = least.unwrap_or(0);
        let caps = [least, least + 3, least + 40, least + 3_000];
        Case { grammar: grammar.clone(), program, wanted: wanted(&[0, 1, 2, 5, 9], &caps, 6) }
    });
    cases.collect()
}

/// How many made-up grammars: few, or as many as the budget of property tests
/// allows.
fn many() -> u64 {
    (wug_property::budget(1_000) / 150).clamp(6, 100)
}

#[test]
fn made_up_grammars_give_the_bytes_of_the_reference() {
    let cases = made_up(many());
    for style in Style::ALL {
        let compiler = Compiler::C("gcc");
        let fast = compiler.check(&cases, style.name(), |program| emit::c(program, style).unwrap());
        // Half of the caps leave little room.
        assert!(fast.remade * 4 < fast.inputs * 3, "{style:?}: {fast:?}");
    }
}

#[test]
fn made_up_grammars_give_the_bytes_of_the_reference_in_rust() {
    let told = Compiler::Rust.check(&made_up(many()), "rust", |program| emit::rust(program).unwrap());
    assert!(told.remade * 4 < told.inputs * 3, "{told:?}");
    let exact = |program: &Program| {
        emit::rust(program).unwrap().replace("if f0(&mut fast", "if room > usize::MAX - 1 && f0(&mut fast")
    };
    let told = Compiler::Rust.check(&made_up(4), "rust-exact", exact);
    assert_eq!(told.remade, told.inputs);
}

#[test]
fn the_exact_way_alone_gives_the_bytes_of_the_reference() {
    let exact = |program: &Program| {
        let source = emit::c(program, Style::Recursive).unwrap();
        source.replace("if (room >= SLACK)", "if (room > UINT64_MAX - 1 && room >= SLACK)")
    };
    let told = Compiler::C("gcc").check(&made_up(many()), "exact", exact);
    assert_eq!(told.remade, told.inputs);
}

#[test]
fn built_in_grammars_give_the_bytes_of_the_reference() {
    let mut cases = Vec::new();
    // Not sql: compiling it takes longer than all others together.
    for builtin in builtin::all().iter().filter(|builtin| builtin.name != "sql") {
        let grammar = builtin.load().unwrap_or_else(|e| panic!("{e}")).grammar;
        let program = program(&grammar, ClosingMode::Min);
        cases.push(Case { grammar, program, wanted: wanted(&[1, 8, 32], &[2_000, 50_000], 10) });
    }
    let told = Compiler::C("gcc").check(&cases, "builtin", |p| emit::c(p, Style::Recursive).unwrap());
    assert!(told.remade * 2 < told.inputs, "{told:?}");
}

#[test]
fn every_compiler_takes_every_style_without_a_warning() {
    let cases = made_up(2);
    for style in Style::ALL {
        Compiler::C("clang")
            .check(&cases, &format!("clang-{}", style.name()), |program| emit::c(program, style).unwrap());
    }
}

#[test]
fn grammars_of_the_papers_give_the_bytes_of_the_reference() {
    sweep(Style::Recursive, &[1, 8, 32, 128], 8);
}

#[test]
#[ignore = "takes minutes; .ci/long runs it"]
fn grammars_of_the_papers_in_every_style() {
    for style in Style::ALL {
        sweep(style, &[1, 8, 32, 128], 300);
    }
}

fn sweep(style: Style, depths: &[u32], inputs: u64) {
    let mut cases = Vec::new();
    for (_, grammar) in testing::shared() {
        let program = program(&grammar, ClosingMode::Min);
        cases.push(Case { grammar, program, wanted: wanted(depths, &[60_000], inputs) });
    }
    if cases.is_empty() {
        return; // `shared` said that they are not there.
    }
    let told = Compiler::C("gcc")
        .check(&cases, &format!("shared-{}", style.name()), |program| emit::c(program, style).unwrap());
    assert!(told.remade * 2 < told.inputs, "{told:?}");
}

#[test]
fn a_grammar_whose_inputs_must_be_lexed_is_refused() {
    let grammar = wug("s = (ID | NUM){10} ; token ID = [a-z]+ ; token NUM = [0-9]+ ;");
    let program = program(&grammar, ClosingMode::Min);
    assert_eq!(emit::c(&program, Style::Recursive), Err(Refused::Tokens));
}
