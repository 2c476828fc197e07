//! The GRAMMAR argument: a built-in name or files.

use crate::Failure;
use clap::Args;
use std::path::{Path, PathBuf};
use wug_grammar::diagnostic::{nearest, render_all};
use wug_grammar::load::{LoadOptions, Loader, Text};
use wug_grammar::{Loaded, Notation, builtin, load};

/// Which grammar, and how to read it.
#[derive(Args, Clone)]
pub struct GrammarArg {
    /// A built-in grammar (see `wug grammars`) or a file; several files that make up one grammar are separated by commas
    #[arg(value_name = "GRAMMAR")]
    pub grammar: String,
    /// The notation of the files: wug, f1, gramatron, bnf, ebnf, w3c or abnf; else told by name and content
    #[arg(long, value_name = "NOTATION", value_parser = notation)]
    pub format: Option<Notation>,
    /// The rule to start from
    #[arg(long, value_name = "RULE")]
    pub start: Option<String>,
}

fn notation(name: &str) -> Result<Notation, String> {
    Notation::named(name).ok_or_else(|| {
        let names: Vec<&str> = Notation::ALL.iter().map(|(name, _)| *name).collect();
        format!("there are {}", names.join(", "))
    })
}

impl GrammarArg {
    /// Reads the grammar. What is wrong with it is an answer of no; a file
    /// that cannot be read is wrong use.
    pub fn load(&self) -> Result<Loaded, Failure> {
        let texts = self.grammar.split(',').map(text).collect::<Result<Vec<_>, _>>()?;
        let options = LoadOptions { notation: self.format, start: self.start.as_deref() };
        load(texts, options, &Files).map_err(|rejected| {
            anstream::eprint!("{}", rejected.render(true));
            Failure::No
        })
    }

    /// Reads the grammar and tells what is odd about it.
    pub fn load_and_warn(&self) -> Result<Loaded, Failure> {
        let loaded = self.load()?;
        anstream::eprint!("{}", render_all(&loaded.warnings, &loaded.sources, true));
        Ok(loaded)
    }
}

fn text(name: &str) -> Result<Text, Failure> {
    let looks_like_a_path = name.contains(['/', '.']);
    if let Some(builtin) = builtin::find(name).filter(|_| !looks_like_a_path) {
        return Ok(Text { name: format!("{name}.wug"), bytes: builtin.text.into() });
    }
    read(Path::new(name)).map_err(|error| {
        let unknown = !looks_like_a_path && !Path::new(name).exists();
        if !unknown {
            return Failure::usage(format!("cannot read the grammar `{name}`: {error}"));
        }
        let near = nearest(name, builtin::all().iter().map(|b| b.name));
        let hint = near.map_or_else(
            || "`wug grammars` lists the built-in ones".to_string(),
            |near| format!("did you mean `{near}`?"),
        );
        Failure::usage(format!("`{name}` is neither a built-in grammar nor a file; {hint}"))
    })
}

/// Imports from the file system, relative to the file that asks.
struct Files;

impl Loader for Files {
    fn import(&self, from: &str, path: &str) -> Result<Text, String> {
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        read(&folder.join(path)).map_err(|error| error.to_string())
    }
}

/// Reads a file of at most what a grammar may have. Its name is made plain,
/// so that one file has one name.
fn read(path: &Path) -> std::io::Result<Text> {
    use std::io::Read;
    let limit = wug_grammar::source::MAX_TEXT as u64 + 1;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
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
