//! The runtime, compiled: once per compiler and target, into a cache.
//!
//! A library is built in a folder of its own and then renamed to its final
//! name in one step: parallel builds may do the work twice, but never see
//! half of it, and no lock can be left behind.
//!
//! What lies in the cache is linked into programs: each use checks that cache
//! and library are ours and private (`wug_files::private`).

use super::Error;
use super::compiler::Compiler;
use crate::source;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use wug_files::private::{self, Temporary};

/// A compiled runtime.
pub struct Library {
    folder: PathBuf,
}

/// Without builtins, or a loop that compares becomes a call of the function
/// that it implements; without anything that the user's build adds.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-omit-frame-pointer",
    "-fno-lto",
    "-U_FORTIFY_SOURCE",
    "-w",
    "-I.",
    "-c",
];

/// Where compilers put texts and constants.
const TEXTS: &[&str] =
    &[".rodata", ".rodata.str1.1", ".rodata.str1.4", ".rodata.str1.8", ".rodata.str1.16", ".rodata.str1.32"];

impl Library {
    /// Finds it in the cache, or compiles it.
    pub fn get(compiler: &Compiler, target: &[OsString], cache: &Path) -> Result<Library, Error> {
        create_private(cache)?;
        let folder = cache.join(format!("runtime-{:016x}", key(compiler, target)));
        if folder.symlink_metadata().is_err() {
            build(compiler, target, cache, &folder)?;
        }
        private::check(&folder).map_err(|why| refused(&folder, &why))?;
        Ok(Library { folder })
    }

    /// A file of it.
    pub fn file(&self, name: &str) -> OsString {
        self.folder.join(name).into_os_string()
    }

    /// Whether a path is one of its files.
    pub fn contains(&self, path: &OsStr) -> bool {
        Path::new(path).starts_with(&self.folder)
    }

    /// What the assembler reads before gcc's output.
    pub fn prelude(&self, traced: bool, intel: bool) -> OsString {
        self.file(prelude_name(traced, intel))
    }

    /// An option of the linker whose value is a file.
    pub fn linker(&self, option: &str, name: &str) -> OsString {
        let mut argument = OsString::from("-Wl,");
        argument.push(option);
        argument.push(if option == "-T" { "," } else { "" });
        argument.push(self.file(name));
        argument
    }
}

fn prelude_name(traced: bool, intel: bool) -> &'static str {
    match (traced, intel) {
        (false, false) => "counters.s",
        (false, true) => "counters-intel.s",
        (true, false) => "guards.s",
        (true, true) => "guards-intel.s",
    }
}

fn build(compiler: &Compiler, target: &[OsString], cache: &Path, to: &Path) -> Result<(), Error> {
    // What is left of it is removed in any case.
    let folder = Temporary::below(cache, "building").map_err(|e| cannot("write to", cache, &e))?;
    build_in(compiler, target, folder.path())?;
    match fs::rename(folder.path(), to) {
        // Another build was faster.
        Err(_) if to.is_dir() => Ok(()),
        renamed => renamed.map_err(|error| cannot("write", to, &error)),
    }
}

fn build_in(compiler: &Compiler, target: &[OsString], folder: &Path) -> Result<(), Error> {
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).map_err(|e| cannot("write", &folder.join(name), &e))
    };
    for (name, text) in source::FILES {
        write(name, text)?;
    }
    for traced in [false, true] {
        for intel in [false, true] {
            write(prelude_name(traced, intel), &source::prelude(traced, intel))?;
        }
    }
    write("sections.ld", source::LINKER_SCRIPT)?;
    write("exported.list", &source::exported())?;
    let mut command = Command::new(&compiler.path);
    command.args(target).args(FLAGS);
    for (name, _) in source::FILES {
        // Before each: g++ takes the second file for C++ otherwise.
        match name.rsplit_once('.') {
            Some((_, "c")) => command.args(["-x", "c", name]),
            Some((_, "s")) => command.args(["-x", "assembler", name]),
            _ => &mut command,
        };
    }
    run(command.current_dir(folder), "cannot compile the runtime")?;
    for (name, _) in source::FILES {
        if let Some((stem, "c")) = name.rsplit_once('.') {
            let mut rename = Command::new("objcopy");
            for section in TEXTS {
                rename.arg("--rename-section").arg(format!("{section}={}", source::TEXTS));
            }
            run(
                rename.arg(format!("{stem}.o")).current_dir(folder),
                "cannot set texts of the runtime apart",
            )?;
        }
    }
    let mut archiver = Command::new("ar");
    archiver.args(["rcs", "libwug.a"]).args(source::ARCHIVE.iter().map(|name| format!("{name}.o")));
    run(archiver.current_dir(folder), "cannot archive the runtime")
}

fn run(command: &mut Command, failure: &str) -> Result<(), Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|error| Error(format!("{failure}: cannot start {program}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let mut message = format!("{failure} with {program}:");
    for line in String::from_utf8_lossy(&output.stderr).lines().take(20) {
        let _ = write!(message, "\n  {line}");
    }
    Err(Error(message))
}

/// What the compiled runtime depends on: its source, the compiler's file,
/// the machine to build for.
fn key(compiler: &Compiler, target: &[OsString]) -> u64 {
    // FNV-1a, with a separator after each part.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for (name, text) in source::FILES {
        add(name.as_bytes());
        add(text.as_bytes());
    }
    add(source::prelude(false, false).as_bytes());
    add(source::prelude(true, true).as_bytes());
    add(source::LINKER_SCRIPT.as_bytes());
    add(source::exported().as_bytes());
    add(FLAGS.join(" ").as_bytes());
    add(TEXTS.join(" ").as_bytes());
    add(source::TEXTS.as_bytes());
    add(compiler.path.as_os_str().as_encoded_bytes());
    if let Ok(about) = fs::metadata(&compiler.path) {
        add(&about.len().to_le_bytes());
        add(&about.mtime().to_le_bytes());
        add(&about.mtime_nsec().to_le_bytes());
    }
    for argument in target {
        add(argument.as_encoded_bytes());
    }
    hash
}

/// Creates the cache, or checks it.
pub fn create_private(folder: &Path) -> Result<(), Error> {
    private::folder(folder).map_err(|why| refused(folder, &why))
}

fn refused(folder: &Path, why: &io::Error) -> Error {
    Error(format!(
        "{}: {why}, so compiled code is not kept here; set WUG_CACHE to a folder of your own, or `chmod 700` this one",
        folder.display()
    ))
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> Error {
    Error(format!("cannot {verb} {}: {error}", path.display()))
}

/// A path that no other process uses.
pub fn unique(folder: &Path, name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{name}-{}-{count}", std::process::id()))
}
