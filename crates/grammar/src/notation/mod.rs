//! From text to [`Ast`], one file for each notation.
//!
//! A reader appends the rules of one text to an [`Ast`] and reports
//! mistakes with their places. It binds no names and does no IO: imports
//! are handed back to [`mod@crate::load`].

mod abnf;
pub(crate) mod antlr;
mod bnf;
mod brackets;
pub mod cursor;
mod ebnf;
mod f1;
mod foreign;
mod gramatron;
mod json;
pub mod regex;
mod w3c;
pub mod wug;

pub use foreign::{Foreign, is_automaton};

pub(crate) use antlr::File as AntlrFile;
pub(crate) use bnf::in_name as in_bnf_name;
pub(crate) use f1::bracketed as f1_name;
pub(crate) use gramatron::STARTS as GRAMATRON_STARTS;

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
    /// ANTLR 4, `.g4`.
    Antlr,
}

impl Notation {
    /// All notations with the names they have on the command line.
    pub const ALL: [(&'static str, Notation); 8] = [
        ("wug", Notation::Wug),
        ("f1", Notation::F1),
        ("gramatron", Notation::Gramatron),
        ("bnf", Notation::Bnf),
        ("ebnf", Notation::Ebnf),
        ("w3c", Notation::W3c),
        ("abnf", Notation::Abnf),
        ("antlr", Notation::Antlr),
    ];

    /// The notation with this name.
    pub fn named(name: &str) -> Option<Notation> {
        Notation::ALL.iter().find(|(n, _)| *n == name).map(|&(_, notation)| notation)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Notation::ALL.iter().find(|(_, n)| *n == self).map_or("", |(name, _)| name)
    }

    /// Reads the text called `name`, whose first byte has offset `base`;
    /// gives its imports.
    pub fn read(
        self,
        name: &str,
        text: &str,
        base: u32,
        ast: &mut Ast,
        diags: &mut Diagnostics,
    ) -> Vec<Import> {
        match self {
            Notation::Wug => return wug::read(text, base, ast, diags),
            Notation::F1 => f1::read(text, base, ast, diags),
            Notation::Gramatron => gramatron::read(text, base, ast, diags),
            Notation::Bnf => bnf::read(text, base, ast, diags),
            Notation::Ebnf => ebnf::read(text, base, ast, diags),
            Notation::W3c => w3c::read(text, base, ast, diags),
            Notation::Abnf => abnf::read(text, base, ast, diags),
            Notation::Antlr => return antlr::read(name, text, base, ast, diags),
        }
        Vec::new()
    }

    /// Tells the notation by the name of a file, then by its content.
    pub fn detect(name: &str, text: &str) -> Notation {
        let extension = name.rsplit_once('.').map_or("", |(_, e)| e).to_ascii_lowercase();
        match extension.as_str() {
            "wug" => return Notation::Wug,
            "abnf" => return Notation::Abnf,
            "g4" => return Notation::Antlr,
            _ => {}
        }
        if foreign::is_antlr(text) {
            return Notation::Antlr;
        }
        let start = text.trim_start_matches('\u{FEFF}').trim_start();
        let defined = defined(start);
        // The W3C numbers its rules, `[1] document ::= …`.
        let list = start.starts_with('[') && defined == Defined::Otherwise;
        if extension == "json" || start.starts_with('{') || list {
            // F1 names rules `<so>`, Gramatron does not.
            let key = start.trim_start_matches(['{', ' ', '\n', '\r', '\t']);
            let gramatron = key.starts_with('"') && !(key.starts_with("\"<") || key.starts_with("\"["));
            return if gramatron { Notation::Gramatron } else { Notation::F1 };
        }
        match (extension.as_str(), defined) {
            (_, Defined::Plain) => Notation::W3c,
            ("bnf", Defined::Otherwise) if !text.contains("::=") && text.contains('=') => Notation::Ebnf,
            ("bnf", _) | (_, Defined::Bracketed) => Notation::Bnf,
            ("ebnf", _) => Notation::Ebnf,
            _ => Notation::Wug,
        }
    }
}

/// How a text defines its first rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Defined {
    /// `<name> ::=`
    Bracketed,
    /// `name ::=`
    Plain,
    /// By something else than `::=`, or not at all.
    Otherwise,
}

/// Looks at what stands before the first `=`, comments left out.
fn defined(text: &str) -> Defined {
    /// How comments begin and end in all notations; those of one character
    /// begin only where the line is empty before them.
    const COMMENTS: [(&str, &str); 5] = [("/*", "*/"), ("(*", "*)"), ("//", "\n"), (";", "\n"), ("#", "\n")];
    let mut rest = text;
    // The last two characters, and the last that is no white space.
    let (mut last, mut solid) = ([' '; 2], ' ');
    let mut empty_line = true;
    while let Some(c) = rest.chars().next() {
        let comment =
            COMMENTS.iter().find(|(open, _)| rest.starts_with(open) && (open.len() == 2 || empty_line));
        if let Some((open, close)) = comment {
            let inside = &rest[open.len()..];
            let Some(end) = inside.find(close) else { return Defined::Otherwise };
            rest = &inside[end + close.len()..];
            empty_line |= *close == "\n";
            continue;
        }
        match c {
            '=' if last != [':'; 2] => return Defined::Otherwise,
            '=' if solid == '>' => return Defined::Bracketed,
            '=' => return Defined::Plain,
            '\n' => empty_line = true,
            c if !c.is_whitespace() => {
                empty_line = false;
                if c != ':' {
                    solid = c;
                }
            }
            _ => {}
        }
        last = [last[1], c];
        rest = &rest[c.len_utf8()..];
    }
    Defined::Otherwise
}
