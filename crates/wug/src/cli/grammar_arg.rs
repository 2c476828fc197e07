//! The GRAMMAR argument: a built-in name or files.

use crate::cli::Failure;
use crate::cli::terminal::{diagnostics, help};
use clap::Args;
use std::path::{Path, PathBuf};
use wug_files::reason;
use wug_grammar::diagnostic::nearest;
use wug_grammar::load::{LoadOptions, Loader, Rejected, Text};
use wug_grammar::{Loaded, Notation, builtin, load};

/// Which grammar, and how to read it.
#[derive(Args, Clone)]
pub struct GrammarArg {
    /// A built-in grammar (see `wug grammars`) or a file; files that make
    /// up one grammar are joined by commas: lexer.wug,parser.wug
    #[arg(value_name = "GRAMMAR", verbatim_doc_comment)]
    pub grammar: String,
    /// Notation of the files: wug, f1, gramatron, bnf, ebnf,
    /// w3c, abnf or antlr; if not given, told by name and
    /// content
    #[arg(long, value_name = "NOTATION", value_parser = notation, verbatim_doc_comment)]
    pub format: Option<Notation>,
    /// The rule to start from
    #[arg(long, value_name = "RULE")]
    pub start: Option<String>,
    /// Rules with uppercase names are tokens, and white
    /// space may stand between them, as in W3C grammars
    #[arg(long, verbatim_doc_comment)]
    pub tokens_by_case: bool,
}

/// The same as an option.
#[derive(Args, Clone)]
pub struct GrammarOption {
    /// A built-in grammar (see `wug grammars`) or a file;
    /// several files, joined by commas, make up one grammar
    #[arg(short = 'g', long, value_name = "GRAMMAR", verbatim_doc_comment)]
    grammar: Vec<String>,
    /// Notation of the grammar's files
    #[arg(long, value_name = "NOTATION", value_parser = notation, requires = "grammar")]
    format: Option<Notation>,
    /// The rule to start from
    #[arg(long, value_name = "RULE", requires = "grammar")]
    start: Option<String>,
    /// Rules with uppercase names are tokens, and white
    /// space may stand between them, as in W3C grammars
    #[arg(long, requires = "grammar", verbatim_doc_comment)]
    tokens_by_case: bool,
}

impl GrammarOption {
    /// Reads the grammar, if one is given, and tells what is wrong with it.
    pub fn load_and_warn(&self) -> Result<Option<Loaded>, Failure> {
        self.argument().map(|argument| argument.load_and_warn()).transpose()
    }

    /// The same for a grammar whose mistakes were told.
    pub fn load_quietly(&self) -> Result<Option<Loaded>, Failure> {
        let load = |argument: GrammarArg| argument.load()?.map_err(|_| Failure::No);
        self.argument().map(load).transpose()
    }

    /// What to call it; empty without one.
    pub fn name(&self) -> String {
        self.grammar.join(",")
    }

    fn argument(&self) -> Option<GrammarArg> {
        let argument = || GrammarArg {
            grammar: self.name(),
            format: self.format,
            start: self.start.clone(),
            tokens_by_case: self.tokens_by_case,
        };
        (!self.grammar.is_empty()).then(argument)
    }
}

fn notation(name: &str) -> Result<Notation, String> {
    Notation::named(name).ok_or_else(|| {
        let names: Vec<&str> = Notation::ALL.iter().map(|(name, _)| *name).collect();
        format!("the notations are {}", names.join(", "))
    })
}

impl GrammarArg {
    /// The grammar of a name alone.
    pub fn named(name: &str) -> GrammarArg {
        GrammarArg { grammar: name.to_string(), format: None, start: None, tokens_by_case: false }
    }

    /// Reads the grammar. A file that cannot be read is wrong use; a text
    /// that is no grammar is for the caller to tell.
    pub fn load(&self) -> Result<Result<Loaded, Rejected>, Failure> {
        let names = self.grammar.split(',').map(str::trim);
        let texts = names.map(text).collect::<Result<Vec<_>, _>>()?;
        let options = LoadOptions {
            notation: self.format,
            tokens_by_case: self.tokens_by_case,
            meant_start: self.start.as_deref(),
            ..LoadOptions::default()
        };
        match load(texts, options, &Files) {
            Ok(loaded) => self.started(loaded).map(Ok),
            rejected => Ok(rejected),
        }
    }

    /// The grammar with the start that was asked for.
    fn started(&self, loaded: Loaded) -> Result<Loaded, Failure> {
        let Some(start) = &self.start else { return Ok(loaded) };
        let grammar = loaded.grammar;
        let Some(rule) = grammar.find(start) else {
            let near = nearest(start, grammar.rules().map(|r| grammar.name(r)));
            let hint =
                near.map_or("`wug show` prints the rules".to_string(), |n| format!("did you mean `{n}`?"));
            return Err(Failure::usage(format!("there is no rule `{start}` to start from; {hint}")));
        };
        Ok(Loaded { grammar: grammar.with_start(rule), ..loaded })
    }

    /// Tells why a text is no grammar.
    pub fn explain(&self, rejected: &Rejected) {
        diagnostics(&rejected.diagnostics, &rejected.sources);
        if rejected.foreign {
            return;
        }
        let named = Notation::ALL.iter().find(|(_, notation)| Some(*notation) == self.format);
        if let Some((name, _)) = named {
            return help(&format!("this was read as {name}, because of --format"));
        }
        // A name that tells nothing: the content may have been misread.
        let known = ["wug", "json", "bnf", "abnf", "ebnf", "g4"];
        let Some(file) = rejected.sources.files().first() else { return };
        let extension = Path::new(&file.name).extension().and_then(|e| e.to_str()).unwrap_or("");
        if !known.contains(&extension) {
            let text = String::from_utf8_lossy(file.text());
            let name = Notation::detect(&file.name, &text).name();
            help(&format!("this was read as {name}, since its name does not tell; --format names another"));
        }
    }

    /// Reads the grammar and tells what is wrong with it or odd about it.
    pub fn load_and_warn(&self) -> Result<Loaded, Failure> {
        let loaded = self.load()?.map_err(|rejected| {
            self.explain(&rejected);
            Failure::No
        })?;
        diagnostics(&loaded.warnings, &loaded.sources);
        Ok(loaded)
    }
}

fn text(name: &str) -> Result<Text, Failure> {
    let looks_like_a_path = name.contains(['/', '.']);
    if let Some(builtin) = builtin::find(name).filter(|_| !looks_like_a_path) {
        return Ok(Text { name: format!("{name}.wug"), bytes: builtin.text.into() });
    }
    if name.is_empty() {
        return Err(Failure::usage("a grammar without a name; files are joined by single commas"));
    }
    let path = Path::new(name);
    read(path).map_err(|error| {
        if path.is_dir() {
            return Failure::usage(format!("`{name}` is a folder; name a file in it"));
        }
        if error.kind() != std::io::ErrorKind::NotFound {
            return Failure::usage(format!("cannot read the grammar `{name}`: {}", reason(&error)));
        }
        // `json.wug` where there is no such file: the built-in one is meant.
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
        let near = nearest(stem, builtin::all().iter().map(|b| b.name));
        let hint = match near {
            Some(near) if looks_like_a_path => format!("did you mean the built-in `{near}`?"),
            Some(near) => format!("did you mean `{near}`?"),
            None => "`wug grammars` lists the built-in ones".to_string(),
        };
        if looks_like_a_path {
            return Failure::usage(format!("there is no file `{name}`; {hint}"));
        }
        Failure::usage(format!("`{name}` is neither a built-in grammar nor a file; {hint}"))
    })
}

/// Imports from the file system, relative to the file that asks.
struct Files;

impl Loader for Files {
    fn import(&self, from: &str, path: &str) -> Result<Text, String> {
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        read(&folder.join(path)).map_err(|error| reason(&error))
    }
}

/// Reads a file of at most what a grammar may have. Its name is made plain,
/// so that one file has one name.
fn read(path: &Path) -> std::io::Result<Text> {
    let limit = wug_grammar::source::MAX_TEXT as u64 + 1;
    let bytes = wug_files::regular::read_start(path, limit)?;
    Ok(Text { name: plain(path).to_string_lossy().into_owned(), bytes })
}

/// `a/./b/../c` as `a/c`.
fn plain(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
