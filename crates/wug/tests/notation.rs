//! Files that are told by their content, and grammars that are long chains.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn wug(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wug")).args(arguments).output().expect("wug runs")
}

/// What a command prints; it must succeed.
#[track_caller]
fn printed(arguments: &[&str]) -> Vec<u8> {
    let output = wug(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("a path").to_string()
}

#[test]
fn automata_are_told_by_their_content() {
    let written = file("told.json", "");
    printed(&["automaton", "expr", "--stack-limit", "6", "-o", &written]);
    let text = std::fs::read_to_string(&written).expect("an automaton");
    for name in ["told", "told.txt", "told.automaton"] {
        let name = file(name, &text);
        let figures = printed(&["automaton", &name]);
        assert!(String::from_utf8_lossy(&figures).contains("states"), "{name}");
        let walks = printed(&["generate", &name, "-n", "5", "-s", "1"]);
        assert!(!walks.is_empty() && walks == printed(&["generate", &written, "-n", "5", "-s", "1"]));
        let refused = wug(&["check", &name]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("is an automaton") && said.trim().lines().count() == 1, "{said}");
    }
}

#[test]
fn the_published_php_grammar_of_gramatron_is_walked() {
    let home = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("WUG_SHARED").map_or_else(|| home.join("../../../shared"), PathBuf::from);
    let php = shared.join("grammars/gramatron/php.json");
    if !php.is_file() {
        assert!(std::env::var_os("WUG_REQUIRE_ALL").is_none(), "there is no {}", php.display());
        println!("skipped: there is no {}", php.display());
        return;
    }
    let walks =
        printed(&["generate", php.to_str().unwrap(), "-n", "20000", "-s", "1", "--engine", "automaton"]);
    let walks = String::from_utf8(walks).expect("UTF-8");
    assert_eq!(walks.matches("<?php").count(), 20_000);
    // One class in 1,500 has such a name.
    assert!(walks.contains("MongoDB\\BSON\\"), "names keep their backslashes");
}

/// Runs a command on a chain of 100,000 rules, with a minute of the
/// processor: one that takes the square of that takes many.
#[track_caller]
fn chain(name: &str, body: &str, command: &str) {
    const RULES: usize = 100_000;
    let mut text = String::new();
    for rule in 0..RULES {
        writeln!(text, "r{rule} = {} ;", body.replace('@', &format!("r{}", rule + 1))).unwrap();
    }
    writeln!(text, "r{RULES} = 'x' ;").unwrap();
    let grammar = file(&format!("chain-{name}.wug"), &text);
    let (input, out) = (file("chain-input", "x"), file("chain-out", ""));
    let command = command.replace("GRAMMAR", &grammar).replace("INPUT", &input).replace("OUT", &out);
    let script = format!("ulimit -t 60; exec {} {command}", env!("CARGO_BIN_EXE_wug"));
    let output = Command::new("sh").args(["-c", &script]).output().expect("sh runs");
    assert!(output.status.success(), "{name}, {command}: {output:?}");
}

#[test]
fn chains_of_rules_take_linear_time() {
    for (name, body) in [("plain", "@"), ("optional", "@ 'y'?"), ("empty", "@ | "), ("either", "@ | 'z' @")] {
        for command in ["check GRAMMAR", "generate GRAMMAR -s 1", "generate GRAMMAR -s 1 -n 3 -d 100"] {
            chain(name, body, command);
        }
    }
    chain("plain", "@", "show GRAMMAR --as f1");
    chain("plain", "@", "parse GRAMMAR INPUT");
    chain("around", "'a' @ 'b'", "check GRAMMAR");
    chain("around", "'a' @ 'b'", "generate GRAMMAR -s 1 -n 3");
}
