//! A compiler that instruments: the user's own, with flags added.
//!
//! In:  the arguments that a build gives to `cc` or `c++`.
//! Out: what that compiler would have made, instrumented; its exit code.
//!
//! Nothing of the user's command line is reinterpreted: arguments are read
//! only to learn what the command does (`arguments.rs`), then they are passed
//! on in their order, with ours around them (`flags.rs`). A compiler plugin
//! would have to be built for each version of each compiler; flags that
//! compilers already have, and for gcc a few macros of its assembler, do the
//! same.

mod arguments;
mod both;
mod compiler;
mod engine;
mod flags;
pub(crate) mod library;

pub use compiler::{Compiler, Family, Language};

use arguments::Invocation;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use wug_files::private::{self, Temporary};

/// What to build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Build {
    /// Coverage only.
    Fast,
    /// Comparisons and more, without optimisation.
    Traced,
}

/// How a build is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which build.
    pub build: Build,
    /// After a fast build, also the traced one, beside it: `TARGET.traced`.
    pub both: bool,
    /// The compiler to stand in for; none: the machine's.
    pub compiler: Option<OsString>,
    /// Where compiled runtimes are kept; empty: nowhere.
    pub cache: PathBuf,
}

impl Options {
    /// What the environment says (`WUG_TRACED`, `WUG_BOTH`, `WUG_CC`,
    /// `WUG_CXX`, `WUG_CACHE`), and the arguments `--wug-traced`,
    /// `--wug-both` and `--wug-cc=NAME`, which are taken out: a compiler does
    /// not know them. `AFL_USE_ASAN=1` and the like add a sanitizer.
    pub fn take(language: Language, arguments: &mut Vec<OsString>) -> Options {
        let mut build = if is_set("WUG_TRACED") { Build::Traced } else { Build::Fast };
        let mut both = is_set("WUG_BOTH");
        let mut compiler = match language {
            Language::C => variable("WUG_CC"),
            Language::Cxx => {
                variable("WUG_CXX").or_else(|| variable("WUG_CC").map(|cc| compiler::cxx_of(&cc)))
            }
        };
        arguments.retain(|argument| {
            let Some(option) = argument.to_str().and_then(|a| a.strip_prefix("--wug-")) else {
                return true;
            };
            if option == "traced" {
                build = Build::Traced;
            } else if option == "both" {
                both = true;
            } else if let Some(name) = option.strip_prefix("cc=") {
                compiler = Some(name.into());
            } else {
                return true;
            }
            false
        });
        if !arguments.is_empty() {
            let asked = SANITIZERS.iter().filter(|(name, _)| is_set(name));
            let flags = asked.flat_map(|(_, flags)| flags.iter().map(OsString::from)).collect::<Vec<_>>();
            // Before the user's, which may say otherwise.
            arguments.splice(0..0, flags);
        }
        Options { build, both: both && build == Build::Fast, compiler, cache: default_cache() }
    }
}

/// Variables by which users of AFL++ ask for sanitizers, and the flags of
/// these. What is found must end the program.
const SANITIZERS: [(&str, &[&str]); 5] = [
    ("AFL_USE_ASAN", &["-fsanitize=address"]),
    ("AFL_USE_UBSAN", &["-fsanitize=undefined", "-fno-sanitize-recover=undefined"]),
    ("AFL_USE_LSAN", &["-fsanitize=leak"]),
    ("AFL_USE_MSAN", &["-fsanitize=memory"]),
    ("AFL_USE_TSAN", &["-fsanitize=thread"]),
];

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Set, and not to 0.
fn is_set(name: &str) -> bool {
    variable(name).is_some_and(|value| value != "0")
}

/// Why nothing was compiled. What a compiler itself finds wrong is not an
/// error here: it has said so, and its exit code is passed on.
#[derive(Debug)]
pub struct Error(pub(crate) String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Compiles and links as the arguments say, instrumented.
pub fn compile(language: Language, arguments: &[OsString], options: &Options) -> Result<ExitStatus, Error> {
    // Without a cache, the runtime lasts as long as this call.
    let mut options = Cow::Borrowed(options);
    let mut temporary = None;
    if options.cache.as_os_str().is_empty() {
        let made = Temporary::new("runtime").map_err(|e| Error(format!("cannot make a folder: {e}")))?;
        options.to_mut().cache = temporary.insert(made).path().to_owned();
    }
    let options = &*options;
    let compiler = Compiler::find(language, options.compiler.as_deref())?;
    let invocation = Invocation::read(arguments)?;
    let mut command = Command::new(&compiler.path);
    let full = flags::instrumented(&compiler, &invocation, options)?;
    let _response = arguments::pass(&mut command, full)?;
    let status = command
        .status()
        .map_err(|error| Error(format!("cannot start {}: {error}", compiler.path.display())))?;
    if options.both && status.success() {
        return both::add_traced(&compiler, &invocation, options);
    }
    Ok(status)
}

/// Where compiled runtimes are kept: `WUG_CACHE`, else the user's cache
/// folder, else the user's folder of this session (`XDG_RUNTIME_DIR`). Empty if
/// there is none: a name among temporary files that can be foretold could be
/// taken by another user first.
pub fn default_cache() -> PathBuf {
    let from = |name: &str| variable(name).map(PathBuf::from);
    if let Some(folder) = from("WUG_CACHE") {
        return folder;
    }
    let user = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")));
    let user = user.filter(|folder| folder.is_absolute()).map(|folder| folder.join("wug"));
    // One that is there and is not private is told of when it is used.
    let usable = |folder: &Path| {
        private::folder(folder).map_or_else(|_| folder.symlink_metadata().is_ok(), |()| is_writable(folder))
    };
    if let Some(folder) = user.filter(|folder| usable(folder)) {
        return folder;
    }
    private::session().map_or_else(PathBuf::new, |session| session.join("wug"))
}

/// Whether files can be made in a folder.
fn is_writable(folder: &Path) -> bool {
    Temporary::below(folder, "probe").is_ok()
}
