//! The same parsers, built with different ways of reading standard input: the
//! search finds the same tokens, or all but one.

use super::common::build_native;
use super::{explore, folder, kept};
use wug_target::Target;

/// What a parser's valid inputs can have, and executions in which the search
/// finds it where all is read by `fread`.
struct Subject {
    source: &'static str,
    tokens: &'static [&'static str],
    execs: u64,
}

const JSON: Subject = Subject {
    source: "json.c",
    tokens: &[
        "{", "}", "[", "]", ",", ":", "true", "false", "null", "-", ".", "e", "E", "+", "\"", "\\\\", "\\\"",
        "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u",
    ],
    execs: 1_800,
};

const CALC: Subject = Subject {
    source: "calc.c",
    tokens: &[
        "(", ")", "-", "!", ".", "pi", "abs", "sqrt", "round", "max", ",", "^", "*", "/", "%", "+", "<<",
        "<=", "==", "&&",
    ],
    execs: 4_000,
};

const TINY: Subject = Subject {
    source: "tiny.c",
    tokens: &["if", "else", "while", "do", "{", "}", "(", ")", ";", "=", "<", "+", "-"],
    execs: 8_000,
};

/// Tokens that are found with a way of reading, those of a seed.
fn found(subject: &Subject, compiler: &str, way: &str, seed: u64) -> Vec<&'static str> {
    let name = format!("{}-{way}-{compiler}-{seed}", subject.source);
    let flag = format!("-DWAY={way}");
    let flags = ["--wug-traced", "-w", &flag];
    let language: &[&str] = if compiler.ends_with("++") { &["-x", "c++"] } else { &[] };
    let source = format!("ways/{}", subject.source);
    let program = build_native(compiler, &[&flags, language].concat(), &source, &name);
    let out = folder(&name);
    let outcome = explore(Target::new(&program), &out, seed, subject.execs);
    assert_eq!(outcome.remark, None, "{name}");
    let inputs = kept(&out, "queue");
    let has = |token: &&str| {
        inputs.values().any(|input| input.windows(token.len()).any(|part| part == token.as_bytes()))
    };
    subject.tokens.iter().copied().filter(has).collect()
}

/// The ways of C and of C++ find what `fread` finds, but for one token.
#[track_caller]
fn check(subject: &Subject, seed: u64, c: &[&str], cxx: &[&str]) {
    let expected = found(subject, "gcc", "FREAD", seed);
    println!("{} seed {seed} FREAD: {} of {}", subject.source, expected.len(), subject.tokens.len());
    let ways = c.iter().map(|way| ("gcc", way)).chain(cxx.iter().map(|way| ("g++", way)));
    let mut worse = Vec::new();
    for (compiler, way) in ways {
        let tokens = found(subject, compiler, way, seed);
        let missing: Vec<_> = subject.tokens.iter().filter(|token| !tokens.contains(token)).collect();
        println!(
            "{} seed {seed} {way}: {} of {}, without {missing:?}",
            subject.source,
            tokens.len(),
            subject.tokens.len()
        );
        if tokens.len() + 1 < expected.len() {
            worse.push((way, missing));
        }
    }
    assert!(worse.is_empty(), "{}: {} with fread; worse: {worse:?}", subject.source, expected.len());
    assert!(expected.len() + 1 >= subject.tokens.len(), "{}: {expected:?}", subject.source);
}

#[test]
fn json_is_found_however_it_is_read() {
    let c = [
        "GETCHAR",
        "FGETC",
        "GETC",
        "GETC_UNLOCKED",
        "GETCHAR_UNLOCKED",
        "READ",
        "UNGETC",
        "FGETS",
        "GETLINE",
        "GETCHAR_ALL",
        "FGETC_FEOF_ALL",
        "GETC_LINES_ALL",
        "READ_SKIP_ALL",
        "FGETS_ALL",
        "GETLINE_ALL",
        "SCANF_ALL",
        "FREAD_CHECKED",
    ];
    let cxx = ["CIN_GET", "CIN_PEEK", "STREAMBUF", "CIN_GET_ALL", "STREAMBUF_ALL", "STD_GETLINE_ALL"];
    check(&JSON, 1, &c, &cxx);
}

#[test]
fn a_calculator_is_found_however_it_is_read() {
    check(&CALC, 1, &["GETCHAR", "GETCHAR_ALL", "READ_SKIP_ALL", "FREAD_CHECKED"], &["STREAMBUF_ALL"]);
}

#[test]
fn tiny_c_is_found_however_it_is_read() {
    check(&TINY, 1, &["GETCHAR", "GETCHAR_ALL", "READ_SKIP_ALL", "FREAD_CHECKED"], &["STREAMBUF_ALL"]);
}
