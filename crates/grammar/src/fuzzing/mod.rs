//! Bodies of fuzz targets: any bytes in, no panic, and what loads survives
//! being printed.
//!
//! The same functions run for a second under `cargo test`
//! (`tests/fuzz_bodies.rs`) and for as long as one likes under
//! `cargo fuzz` (`fuzz/`).

mod samples;

use crate::ir::Grammar;
use crate::load::{LoadOptions, NoImports, Text, load, load_text};
use crate::notation::Notation;
use crate::{diagnostic, print};

pub use samples::{sample, tokens};

/// Texts longer than this only cost time.
const MAX_LEN: usize = 4_000;

/// Loads `bytes` as they are, as a row of the notation's tokens, and as
/// edits of a valid grammar.
pub fn check_all(notation: Notation, bytes: &[u8]) {
    check(notation, bytes);
    check(notation, &soup(notation, bytes));
    check(notation, &edited(notation, bytes));
}

/// Loads `text`. If it is a grammar, reading its print gives the same one;
/// if not, the messages can be shown.
pub fn check(notation: Notation, text: &[u8]) {
    if text.len() > MAX_LEN {
        return;
    }
    let text = Text { name: "fuzz".to_string(), bytes: text.to_vec() };
    let options = LoadOptions { notation: Some(notation), ..LoadOptions::default() };
    match load(vec![text], options, &NoImports) {
        Ok(loaded) => {
            let _ = diagnostic::render_all(&loaded.warnings, &loaded.sources, false);
            check_print(&loaded.grammar);
        }
        Err(rejected) => {
            assert!(!rejected.diagnostics.is_empty(), "rejected without a word");
            let shown = rejected.render(false);
            assert!(shown.contains("error"), "no error among: {shown}");
        }
    }
}

/// Prints a grammar in every notation and reads it back.
pub fn check_print(grammar: &Grammar) {
    let printed = print::wug::print(grammar);
    let again = reload(&printed, Notation::Wug);
    assert!(grammar.same_as(&again), "read back differently:\n{printed}\n{}", print::wug::print(&again));
    let _ = print::dot::print(grammar);

    type Print = fn(&Grammar) -> Result<String, diagnostic::Diagnostic>;
    let prints: [(Notation, Print); 3] = [
        (Notation::F1, print::f1::print),
        (Notation::Gramatron, print::gramatron::print),
        (Notation::Bnf, print::bnf::print),
    ];
    for (notation, print) in prints {
        // Groups and large classes are refused.
        let Ok(printed) = print(grammar) else { continue };
        let again = reload(&printed, notation);
        // Classes have become rules, so the grammar is another; but its
        // print is the same.
        let second = print(&again).unwrap_or_else(|e| panic!("{}\n{printed}", e.message));
        assert_eq!(printed, second, "{notation:?}");
    }
}

#[track_caller]
fn reload(printed: &str, notation: Notation) -> Grammar {
    match load_text("printed", printed, notation) {
        Ok(loaded) => loaded.grammar,
        Err(rejected) => panic!("what was printed does not load:\n{printed}\n{rejected}"),
    }
}

/// A row of the notation's tokens, one for each byte.
pub fn soup(notation: Notation, bytes: &[u8]) -> Vec<u8> {
    let tokens = tokens(notation);
    let mut out = Vec::new();
    for &byte in bytes.iter().take(MAX_LEN / 8) {
        out.extend_from_slice(tokens[usize::from(byte) % tokens.len()].as_bytes());
    }
    out
}

/// The notation's sample with edits: four bytes tell one of them, as place,
/// kind and token.
pub fn edited(notation: Notation, bytes: &[u8]) -> Vec<u8> {
    let tokens = tokens(notation);
    let mut text = sample(notation).as_bytes().to_vec();
    for edit in bytes.chunks_exact(4).take(16) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % (text.len() + 1);
        let len = usize::from(edit[2] / 4 % 16).min(text.len() - at);
        let token = tokens[usize::from(edit[3]) % tokens.len()].as_bytes();
        match edit[2] % 4 {
            0 => drop(text.splice(at..at, token.iter().copied())),
            1 => drop(text.drain(at..at + len)),
            2 => drop(text.splice(at..at + len, token.iter().copied())),
            _ => {
                // A part of the text once more, elsewhere.
                let part = text[at..at + len].to_vec();
                let to = usize::from(edit[3]) * text.len() / 256;
                text.splice(to..to, part);
            }
        }
    }
    text
}
