//! From text to [`Ast`], one file for each notation.
//!
//! A reader appends the rules of one text to an [`Ast`] and reports
//! mistakes with their places. It binds no names and does no IO: imports
//! are handed back to [`crate::load`].

pub mod cursor;
pub mod regex;
pub mod wug;

use crate::ast::Ast;
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// A text that another one asks for.
#[derive(Clone, Debug)]
pub struct Import {
    /// As written.
    pub path: String,
    /// Where.
    pub span: Span,
}

/// The notations that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Our own.
    Wug,
    /// F1's and the fuzzing book's JSON.
    F1,
    /// Gramatron's JSON.
    Gramatron,
    /// Backus-Naur form.
    Bnf,
    /// ISO 14977.
    Ebnf,
    /// The W3C's, as in the XML specification.
    W3c,
    /// RFC 5234 and 7405.
    Abnf,
}

impl Notation {
    /// All notations with the names they have on the command line.
    pub const ALL: [(&'static str, Notation); 7] = [
        ("wug", Notation::Wug),
        ("f1", Notation::F1),
        ("gramatron", Notation::Gramatron),
        ("bnf", Notation::Bnf),
        ("ebnf", Notation::Ebnf),
        ("w3c", Notation::W3c),
        ("abnf", Notation::Abnf),
    ];

    /// The notation with this name.
    pub fn named(name: &str) -> Option<Notation> {
        Notation::ALL.iter().find(|(n, _)| *n == name).map(|&(_, notation)| notation)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Notation::ALL.iter().find(|(_, n)| *n == self).map_or("", |(name, _)| name)
    }

    /// Reads `text`, whose first byte has offset `base`; gives its imports.
    pub fn read(self, text: &str, base: u32, ast: &mut Ast, diags: &mut Diagnostics) -> Vec<Import> {
        match self {
            Notation::Wug => return wug::read(text, base, ast, diags),
            _ => {}
        }
        Vec::new()
    }
}

impl Notation {
    /// Tells the notation by the name of a file, then by its content.
    pub fn detect(name: &str, text: &str) -> Notation {
        let extension = name.rsplit_once('.').map_or("", |(_, e)| e).to_ascii_lowercase();
        match extension.as_str() {
            "wug" => return Notation::Wug,
            "abnf" => return Notation::Abnf,
            "bnf" => return Notation::Bnf,
            _ => {}
        }
        let start = text.trim_start_matches('\u{FEFF}').trim_start();
        if start.starts_with(['{', '[']) {
            // F1 names rules `<so>`; Gramatron quotes terminals instead.
            let f1 = start.contains("\"<") || start.contains("\"[grammar]\"");
            return if f1 { Notation::F1 } else { Notation::Gramatron };
        }
        if extension == "json" {
            return Notation::F1;
        }
        match (text.contains("::="), start.starts_with('<')) {
            (true, true) => Notation::Bnf,
            (true, false) => Notation::W3c,
            (false, _) if extension == "ebnf" => Notation::Ebnf,
            _ => Notation::Wug,
        }
    }
}
