//! Finds libFuzzer among the archives of a link.
//!
//! In:  an invocation that links.
//! Out: the argument that names an archive with libFuzzer in it.
//!
//! `libfuzzer-sys` builds libFuzzer into itself unless its features are
//! switched off, and C projects name an archive of it. Linkers take from an
//! archive what is missing when they come to it: there our driver must be in
//! front, or libFuzzer's `main` and hooks would be linked as well. Where the
//! driver always stood in front, a program whose `main` is in an archive would
//! get ours.

use super::arguments::{Invocation, Kind};
use super::both::{search_folders, static_library};
use object::read::ReadCache;
use object::read::archive::ArchiveFile;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Every version of libFuzzer defines it, and hardly anything else.
const SYMBOL: &[u8] = b"LLVMFuzzerRunDriver";

/// Index of the first argument that names an archive with libFuzzer in it.
pub fn libfuzzer(invocation: &Invocation) -> Option<usize> {
    let arguments = &invocation.arguments;
    let folders = search_folders(arguments);
    (0..arguments.len()).find(|&index| {
        let named = |name: &OsStr| static_library(&folders, name).is_some_and(|path| has_engine(&path));
        let before = index.checked_sub(1).map(|before| arguments[before].as_bytes());
        match arguments[index].as_bytes().strip_prefix(b"-l") {
            Some(name) if !name.is_empty() => named(OsStr::from_bytes(name)),
            _ if before == Some(b"-l") => named(&arguments[index]),
            _ => {
                invocation.inputs.contains(&(index, Kind::Object)) && has_engine(Path::new(&arguments[index]))
            }
        }
    })
}

/// Whether an archive's table of symbols has libFuzzer's; only that table is
/// read.
fn has_engine(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return false;
    }
    let data = ReadCache::new(file);
    let Ok(archive) = ArchiveFile::parse(&data) else { return false };
    let Ok(Some(mut symbols)) = archive.symbols() else { return false };
    symbols.any(|symbol| symbol.is_ok_and(|symbol| symbol.name() == SYMBOL))
}
