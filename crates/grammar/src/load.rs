//! From texts to a [`Grammar`]: the one door for all notations.

use crate::ast::Ast;
use crate::by_case;
use crate::diagnostic::{Diagnostic, Diagnostics, render_all};
use crate::ir::Grammar;
use crate::notation::{Foreign, Notation, antlr};
use crate::resolve::resolve;
use crate::source::{MAX_TEXT, Sources, Span};
use std::fmt;

/// A grammar with the texts it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The grammar.
    pub grammar: Grammar,
    /// Its texts, which its spans point into.
    pub sources: Sources,
    /// What is odd about it.
    pub warnings: Vec<Diagnostic>,
}

/// Why texts are no grammar.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// The mistakes.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts, for showing them.
    pub sources: Sources,
    /// The texts are in a notation that is not read, and the diagnostics say
    /// in which.
    pub foreign: bool,
}

impl Rejected {
    /// All messages, one after the other.
    pub fn render(&self, colour: bool) -> String {
        render_all(&self.diagnostics, &self.sources, colour)
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for Rejected {}

/// One text to load.
#[derive(Clone, Debug)]
pub struct Text {
    /// The name it is shown under, usually a path.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Fetches what an import names: this crate does no IO itself.
pub trait Loader {
    /// The text that `path` means inside the text called `from`. The name
    /// in the result must be the same for the same text, however it is
    /// reached: it tells circles and repetitions.
    fn import(&self, from: &str, path: &str) -> Result<Text, String>;
}

/// Refuses every import.
pub struct NoImports;

impl Loader for NoImports {
    fn import(&self, _from: &str, _path: &str) -> Result<Text, String> {
        Err("imports are not available here".to_string())
    }
}

/// How to load.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions<'a> {
    /// The notation; else told by name and content.
    pub notation: Option<Notation>,
    /// The start rule; else the text says or it is the first.
    pub start: Option<&'a str>,
    /// Rules with uppercase names are tokens: see [`crate::by_case`].
    pub tokens_by_case: bool,
    /// The start rule that will be set afterwards, for notations in which
    /// that makes a difference.
    pub meant_start: Option<&'a str>,
}

/// Imports of imports may be this deep.
const MAX_IMPORTS: usize = 1_000;
/// Imports in all texts together, of the same text or not: each is fetched.
const MAX_ASKED: usize = 10_000;

/// Reads all `texts` as parts of one grammar.
pub fn load(texts: Vec<Text>, options: LoadOptions, loader: &dyn Loader) -> Result<Loaded, Rejected> {
    let mut reading = Reading {
        sources: Sources::default(),
        ast: Ast::default(),
        diags: Diagnostics::default(),
        foreign: Vec::new(),
        missing: Vec::new(),
    };
    for text in texts {
        // A lexer that is named beside its parser was found with it.
        if !reading.ast.antlr.is_empty() && reading.knows(&text.name) {
            continue;
        }
        reading.read(text, Span::NONE, options.notation, loader);
    }
    let Reading { sources, mut ast, mut diags, foreign, missing } = reading;
    antlr::finish(&mut ast, &missing, options.start.or(options.meant_start), &mut diags);
    if diags.errors() > 0 && !foreign.is_empty() {
        return Err(Rejected { diagnostics: foreign, sources, foreign: true });
    }
    if options.tokens_by_case && diags.errors() == 0 {
        by_case::mark(&mut ast);
    }
    let place = sources.files().first().map_or(Span::NONE, |f| Span::new(f.base(), f.base()));
    let grammar = if diags.errors() == 0 { resolve(ast, options.start, place, &mut diags) } else { None };
    match grammar {
        Some(grammar) if diags.errors() == 0 => Ok(Loaded { grammar, sources, warnings: diags.into_vec() }),
        _ => Err(Rejected { diagnostics: diags.into_vec(), sources, foreign: false }),
    }
}

/// Reads one text that imports nothing.
pub fn load_text(name: &str, text: &str, notation: Notation) -> Result<Loaded, Rejected> {
    let text = Text { name: name.to_string(), bytes: text.as_bytes().to_vec() };
    load(vec![text], LoadOptions { notation: Some(notation), ..LoadOptions::default() }, &NoImports)
}

struct Reading {
    sources: Sources,
    ast: Ast,
    diags: Diagnostics,
    /// A message for each text in a notation that is not read.
    foreign: Vec<Diagnostic>,
    /// Grammars for ANTLR that could not be fetched: they may be named
    /// themselves, in another folder.
    missing: Vec<antlr::Missing>,
}

impl Reading {
    fn knows(&self, name: &str) -> bool {
        self.sources.files().iter().any(|f| f.name == name)
    }

    /// Reads a text and then all that it imports, breadth first.
    fn read(&mut self, text: Text, asked: Span, notation: Option<Notation>, loader: &dyn Loader) {
        // Texts still to read, each with the chain of texts that led to it.
        let mut queue = std::collections::VecDeque::from([(text, asked, Vec::<String>::new())]);
        let mut count = 0;
        let mut asked_for = 0;
        while let Some((text, asked, chain)) = queue.pop_front() {
            count += 1;
            if count > MAX_IMPORTS {
                self.diags.push(Diagnostic::error(asked, "more than 1,000 files are imported"));
                return;
            }
            let name = text.name.clone();
            let imports = self.read_one(text, asked, notation);
            for import in imports {
                asked_for += 1;
                if asked_for > MAX_ASKED {
                    let message = "more than 10,000 imports are asked for";
                    self.diags.push(Diagnostic::error(import.span, message));
                    return;
                }
                let error = |message: String| Diagnostic::error(import.span, message);
                let text = match loader.import(&name, &import.path) {
                    Ok(text) => text,
                    Err(why) if self.ast.antlr.last().is_some_and(|file| file.path == name) => {
                        let wanted = import.path.trim_end_matches(".g4").to_string();
                        self.missing.push((wanted, import.span, why));
                        continue;
                    }
                    Err(why) => {
                        self.diags.push(error(format!("cannot import `{}`: {why}", import.path)));
                        continue;
                    }
                };
                if text.name == name || chain.contains(&text.name) {
                    let message = format!("`{}` imports itself in a circle", import.path);
                    let mut circle: Vec<&str> =
                        chain.iter().skip_while(|n| **n != text.name).map(|n| n.as_str()).collect();
                    circle.extend([name.as_str(), text.name.as_str()]);
                    let circle = circle.join(" -> ");
                    self.diags
                        .push(error(message).label(circle).help("move what both need into a third file"));
                    continue;
                }
                let known = self.knows(&text.name) || queue.iter().any(|(t, ..)| t.name == text.name);
                if !known {
                    let mut chain = chain.clone();
                    chain.push(name.clone());
                    queue.push_back((text, import.span, chain));
                }
            }
        }
    }

    fn read_one(
        &mut self,
        text: Text,
        asked: Span,
        notation: Option<Notation>,
    ) -> Vec<crate::notation::Import> {
        let name = text.name.clone();
        let Some(source) = self.sources.add(text.name, text.bytes) else {
            let message = format!("`{name}` is too large: all texts together may have {MAX_TEXT} bytes");
            self.diags.push(Diagnostic::error(asked, message));
            return Vec::new();
        };
        match std::str::from_utf8(source.text()) {
            Ok(text) => {
                if notation.is_none()
                    && let Some(foreign) = Foreign::named(&name, text)
                {
                    self.foreign.push(foreign.explain(&name));
                    self.diags.push(foreign.explain(&name));
                    return Vec::new();
                }
                let before = self.diags.errors();
                let read = notation.unwrap_or_else(|| Notation::detect(&name, text));
                let imports = read.read(&name, text, source.base(), &mut self.ast, &mut self.diags);
                // Content is looked at only if the text is in no notation
                // that is read: so no grammar is refused by mistake.
                let told = notation.is_none()
                    && !matches!(read, Notation::Abnf | Notation::Antlr)
                    && !name.ends_with(".wug");
                if told && self.diags.errors() > before {
                    self.foreign.extend(Foreign::told(text).map(|foreign| foreign.explain(&name)));
                }
                imports
            }
            Err(error) => {
                let at = source.base() + error.valid_up_to() as u32;
                let byte = source.text()[error.valid_up_to()];
                self.diags.push(
                    Diagnostic::error(
                        Span::new(at, at + 1),
                        format!("byte {byte:02X} is no valid UTF-8 here"),
                    )
                    .help("grammars are written in UTF-8; most notations have escapes for single bytes"),
                );
                Vec::new()
            }
        }
    }
}
