//! Messages as their readers see them.

mod antlr;
mod bnf;
mod every;
mod foreign;
mod json;
mod limits;
mod unclosed;
mod wug;

use expect_test::Expect;
use wug_grammar::load::{LoadOptions, NoImports, Text, load};
use wug_grammar::{Notation, diagnostic};

#[track_caller]
fn check(notation: Notation, text: &str, message: Expect) {
    check_bytes(notation, text.as_bytes(), message);
}

#[track_caller]
fn check_bytes(notation: Notation, text: &[u8], message: Expect) {
    let text = Text { name: "grammar".to_string(), bytes: text.to_vec() };
    let options = LoadOptions { notation: Some(notation), ..LoadOptions::default() };
    match load(vec![text], options, &NoImports) {
        Err(rejected) => message.assert_eq(&rejected.render(false)),
        Ok(loaded) => {
            let warnings = diagnostic::render_all(&loaded.warnings, &loaded.sources, false);
            message.assert_eq(&format!("loaded\n{warnings}"));
        }
    }
}
