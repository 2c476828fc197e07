//! Flags that make rustc instrument, on a stable toolchain.
//!
//! rustc is asked to run LLVM's pass for coverage, which needs no unstable
//! option, and to link by a small script that calls `wug cc`: so executables
//! get the runtime, and shared libraries (procedural macros among them) only
//! what a library needs. Naming the runtime's objects as link arguments was
//! rejected: those would go into everything.

use crate::compile::library::{create_private, unique};
use crate::compile::{Build, Error, Options};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What to put into RUSTFLAGS. `wug` is the program that the linker script
/// calls as `wug cc`.
pub fn flags(options: &Options, wug: &Path) -> Result<Vec<String>, Error> {
    let linker = linker(options, wug)?;
    let linker = linker.to_str().filter(|path| !path.contains(char::is_whitespace)).ok_or_else(|| {
        Error(format!("{}: RUSTFLAGS cannot hold this path; set WUG_CACHE to another", linker.display()))
    })?;
    let passes: &[&str] = match options.build {
        Build::Fast => &["level=3", "inline-8bit-counters"],
        Build::Traced => &["level=2", "prune-blocks=0", "trace-pc-guard", "trace-compares"],
    };
    let mut all = vec!["-Cpasses=sancov-module".to_string()];
    all.extend(passes.iter().map(|pass| format!("-Cllvm-args=-sanitizer-coverage-{pass}")));
    all.push("-Cforce-frame-pointers=yes".to_string());
    if options.build == Build::Traced {
        all.push("-Copt-level=0".to_string());
        // Comparisons of texts stay calls of memcmp, which is ours.
        all.push("-Cllvm-args=-max-loads-per-memcmp=0".to_string());
    }
    all.push(format!("-Clinker={linker}"));
    Ok(all)
}

/// A program of one path that does what `wug cc` does.
fn linker(options: &Options, wug: &Path) -> Result<PathBuf, Error> {
    if options.cache.as_os_str().is_empty() {
        return Err(Error("there is no folder of yours to keep a linker in: set HOME or WUG_CACHE".into()));
    }
    create_private(&options.cache)?;
    let (name, argument) = match options.build {
        Build::Fast => ("linker", ""),
        Build::Traced => ("linker-traced", " --wug-traced"),
    };
    let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
    let text =
        format!("#!/bin/sh\nWUG_CACHE={} exec {} cc{argument} \"$@\"\n", quoted(&options.cache), quoted(wug));
    let path = options.cache.join(name);
    if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(path);
    }
    let fresh = unique(&options.cache, name);
    let written = fs::write(&fresh, text)
        .and_then(|()| fs::set_permissions(&fresh, fs::Permissions::from_mode(0o755)))
        .and_then(|()| fs::rename(&fresh, &path));
    written.map_err(|error| Error(format!("cannot write {}: {error}", path.display())))?;
    Ok(path)
}
