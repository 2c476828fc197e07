//! Producers compiled by the machine's C compiler: the emitted C as a shared
//! object, built once for each grammar and compiler (`--engine compiled`).
//!
//! In:  a program.
//! Out: [`Compiled`], a function of the shared object that makes inputs.
//!
//! Objects are kept in `wug/compiled` in the user's cache folder, which only
//! the user may write to, since what lies there is loaded. A name is made from
//! the source and the compiler's version. An object is built beside its name
//! and then renamed, so that runs at the same time cannot disturb each other.

use libloading::Library;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wug_engines::emit::{self, Style};
use wug_produce::{Options, Program};

const FLAGS: [&str; 6] = ["-O3", "-flto", "-shared", "-fPIC", "-DWUG_NO_MAIN", "-w"];

type Produce = unsafe extern "C" fn(u64, u64, u32, u64, *mut u8, usize) -> usize;

/// A producer that was compiled and loaded.
pub struct Compiled {
    produce: Produce,
    options: Options,
    /// How long the compiler took; nothing if it was called before.
    pub build: Duration,
    /// Keeps the code in place.
    _library: Library,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Why there is no compiled producer, with the way out.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Compiled {
    /// Emits, compiles unless that was done before, and loads.
    pub fn new(program: &Program) -> Result<Compiled, Error> {
        let source = emit::c(program, Style::Recursive)
            .map_err(|refused| Error(format!("{refused}; take another engine, such as `vm`")))?;
        let (compiler, version) = compiler()?;
        let folder = cache_folder()?;
        let object = folder.join(format!("{}.so", name(&source, &compiler, &version)));
        let clock = Instant::now();
        let mut built = Duration::ZERO;
        if !object.is_file() {
            build(&source, &compiler, &object)?;
            built = clock.elapsed();
        }
        let broken = |error: libloading::Error| {
            let place = object.display();
            Error(format!("cannot load `{place}`: {error}; remove it and try again"))
        };
        // SAFETY: the object was built from our source, in a folder that only
        // the user may write to; it runs no code when it is loaded.
        let library = unsafe { Library::new(&object) }.map_err(broken)?;
        // SAFETY: the emitted source declares the function with this type.
        let produce = *unsafe { library.get::<Produce>(b"wug_produce\0") }.map_err(broken)?;
        Ok(Compiled { produce, options: program.options, build: built, _library: library })
    }

    /// Appends input `index` of `seed`; `None` if memory runs out.
    pub fn produce(&self, seed: u64, index: u64, out: &mut Vec<u8>) -> Option<()> {
        let Options { max_depth, max_size, .. } = self.options;
        // Room for a usual input; a longer one says how much it needs. One
        // byte more than the cap is never needed.
        let mut room = (1 << 16).min(max_size.saturating_add(1)) as usize;
        loop {
            out.try_reserve(room).ok()?;
            let spare = out.spare_capacity_mut();
            // SAFETY: the function writes at most as many bytes as it is
            // told there is room for. The tests of `compiled` cover it.
            let len = unsafe {
                (self.produce)(seed, index, max_depth, max_size, spare.as_mut_ptr().cast(), spare.len())
            };
            if len <= spare.len() {
                // SAFETY: the function has written `len` bytes.
                unsafe { out.set_len(out.len() + len) };
                return Some(());
            }
            if len == usize::MAX {
                return None;
            }
            room = len;
        }
    }
}

/// The compiler's name and what it says of its version.
fn compiler() -> Result<(OsString, Vec<u8>), Error> {
    let given = std::env::var_os("CC").filter(|name| !name.is_empty());
    let names = match &given {
        Some(name) => vec![name.clone()],
        None => ["cc", "gcc", "clang"].map(OsString::from).to_vec(),
    };
    for name in names {
        let asked = Command::new(&name).arg("--version").stdin(Stdio::null()).output();
        if let Ok(answer) = asked.as_ref().map(|output| &output.stdout)
            && !answer.is_empty()
        {
            return Ok((name, answer.clone()));
        }
    }
    let message = match given {
        Some(name) => format!("the C compiler `{}`, named by CC, does not run", name.display()),
        None => "the engine `compiled` needs a C compiler, and there is no cc, gcc or clang".to_string(),
    };
    Err(Error(format!("{message}; `--engine vm` makes the same inputs without one")))
}

/// The folder of compiled producers.
fn cache_folder() -> Result<PathBuf, Error> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let Some(cache) = cache else {
        return Err(Error("no folder to keep compiled producers in; set HOME or XDG_CACHE_HOME".into()));
    };
    let folder = cache.join("wug/compiled");
    // What lies there is run: it must be ours alone.
    let refused = |folder: &Path, error: &std::io::Error| {
        let (place, why) = (folder.display(), wug_files::reason(error));
        let way_out = "make it a folder of your own with `chmod 700`, or set XDG_CACHE_HOME";
        Error(format!("cannot keep compiled producers in `{place}`: {why}; {way_out}"))
    };
    for folder in [cache.join("wug"), folder.clone()] {
        wug_files::private::folder(&folder).map_err(|error| refused(&folder, &error))?;
    }
    Ok(folder)
}

/// A name for the object of a source, 128 bits of it.
fn name(source: &str, compiler: &OsString, version: &[u8]) -> String {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, source, compiler, version, FLAGS).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}

/// Compiles to a name of our own, then renames.
fn build(source: &str, compiler: &OsString, object: &Path) -> Result<(), Error> {
    let own = object.with_extension(format!("{}.tmp", std::process::id()));
    let result = compile(source, compiler, &own).and_then(|()| {
        fs::rename(&own, object).map_err(|error| {
            Error(format!("cannot write `{}`: {}", object.display(), wug_files::reason(&error)))
        })
    });
    if result.is_err() {
        let _ = fs::remove_file(&own);
    }
    result
}

fn compile(source: &str, compiler: &OsString, object: &Path) -> Result<(), Error> {
    let failed = |why: String| {
        let compiler = compiler.display();
        Error(format!("the C compiler `{compiler}` could not build the producer: {why}"))
    };
    let mut child = Command::new(compiler)
        .args(FLAGS)
        .args(["-x", "c", "-", "-o"])
        .arg(object)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(wug_files::reason(&error)))?;
    if let Some(mut input) = child.stdin.take() {
        // If it ends early it says why itself. It reads all before it
        // complains of anything, so that neither waits for the other.
        let _ = input.write_all(source.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| failed(wug_files::reason(&error)))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(said.lines().next().unwrap_or("it said nothing").to_string()))
}
