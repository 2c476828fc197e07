//! The grammars that come with the tool, each a `.wug` text written from
//! the public specification of its language.
//!
//! They are also the examples from which the notation can be learned, so
//! they are kept as texts with comments, and are loaded like any other.

use crate::load::{Loaded, Rejected, load_text};
use crate::notation::Notation;

/// A grammar that comes with the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it derives, in one line.
    pub about: &'static str,
    /// Its text, in `.wug`.
    pub text: &'static str,
}

impl Builtin {
    /// The grammar. A test loads all of them, so an error here would be
    /// one of the reader.
    pub fn load(&self) -> Result<Loaded, Rejected> {
        load_text(&format!("{}.wug", self.name), self.text, Notation::Wug)
    }
}

macro_rules! builtin {
    ($name:literal, $about:literal) => {
        Builtin { name: $name, about: $about, text: include_str!(concat!("../builtin/", $name, ".wug")) }
    };
}

/// Sorted by name.
const BUILTINS: [Builtin; 9] = [
    builtin!("csv", "comma-separated values (RFC 4180)"),
    builtin!("expr", "arithmetic expressions"),
    builtin!("http", "HTTP/1.1 requests (RFC 9112)"),
    builtin!("ini", "configuration files (Python's configparser)"),
    builtin!("json", "JSON texts (RFC 8259)"),
    builtin!("lua", "Lua 5.4 programs (reference manual, section 9)"),
    builtin!("sql", "SQL scripts in the dialect of SQLite"),
    builtin!("tinyc", "programs of Marc Feeley's tiny-C"),
    builtin!("xml", "well-formed XML 1.0 documents"),
];

/// All of them, sorted by name.
pub fn all() -> &'static [Builtin] {
    &BUILTINS
}

/// The one with this name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}
