//! ANTLR 4, `.g4`: combined grammars, lexers and parsers in several files,
//! imports, modes, commands, sets.
//!
//! In:  the text of each file, one after the other.
//! Out: imports, for the loader to fetch; when all files are there, rules in
//!      the [`Ast`].
//!
//! | file | what |
//! | --- | --- |
//! | `tree` | a file as it is written |
//! | `reader`, `elements`, `chars`, `code` | from text to that |
//! | `unit` | files joined: imports, overrides, modes |
//! | `tokens` | what each lexical rule makes, by its commands |
//! | `more` | tokens that several matches make up |
//! | `hidden` | which hidden tokens are white space or comments |
//! | `start` | the start rule, and where the text can end |
//! | `build`, `lexical` | rules as ours |
//! | `codes`, `predicates` | what is known about code |
//!
//! Nothing is built before all files are there: what a text in a syntax rule
//! means, which tokens there are and what `~X` stands for depends on all of
//! them.

mod build;
mod chars;
mod code;
mod codes;
mod elements;
mod hidden;
mod lexical;
mod more;
mod predicates;
mod reader;
mod start;
mod tokens;
mod tree;
mod unit;

pub use tree::File;

use super::Import;
use crate::ast::Ast;
use crate::diagnostic::Diagnostics;
use crate::source::Span;
use build::Build;
use tokens::Tokens;
use unit::Unit;

/// A grammar that could not be fetched: its name, where it is asked for, and
/// why.
pub type Missing = (String, Span, String);

/// Reads one file; gives the files that it needs.
pub fn read(path: &str, text: &str, base: u32, ast: &mut Ast, diags: &mut Diagnostics) -> Vec<Import> {
    let file = reader::read(path, text, base, diags);
    let needed = file.imports.iter().chain(&file.vocab);
    let imports = needed.map(|(name, span)| Import { path: format!("{name}.g4"), span: *span }).collect();
    ast.antlr.push(file);
    imports
}

/// Builds the rules of all files that were read. `start` is the start rule
/// that was asked for.
pub fn finish(ast: &mut Ast, missing: &[Missing], start: Option<&str>, diags: &mut Diagnostics) {
    let files = std::mem::take(&mut ast.antlr);
    if files.is_empty() || diags.errors() > 0 {
        return;
    }
    let unit = Unit::of(&files, missing, diags);
    let tokens = Tokens::of(&unit, diags);
    Build::new(&unit, tokens, ast, diags).run(start);
}
