//! What an earlier campaign left in the folder.
//!
//! A new campaign takes the place of an old one only where little is lost,
//! as with AFL++: at most 25 minutes of work, and here also no crash, no
//! hang and no file that somebody else put into the queue. A campaign that
//! goes on keeps its queue; what it found is set aside under a dated name.

use super::{Error, Name, error::READ, name};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// More work than this is not thrown away.
const GRACE: Duration = Duration::from_secs(25 * 60);

/// What a campaign writes beside its folders.
const FILES: [&str; 10] = [
    "fuzzer_stats",
    "tokens.dict",
    "plot_data",
    "report.json",
    "fuzz_bitmap",
    ".cur_input",
    "cmdline",
    "fuzzer_setup",
    "is_main_node",
    super::write::FRESH,
];

/// Where an old queue waits to be removed.
const DOOMED: &str = ".doomed";

/// Whether a campaign has been here.
pub(super) fn is_there(folder: &Path) -> Result<bool, Error> {
    Ok(folder.join("fuzzer_stats").exists() || !files(&folder.join("queue"))?.is_empty())
}

/// Removes an old campaign, unless that loses something.
pub(super) fn remove(folder: &Path) -> Result<(), Error> {
    if let Some(what) = worth(folder)? {
        return Err(Error::AtRisk { path: folder.to_owned(), what });
    }
    // Out of sight first: a removal that is cut short leaves no half queue.
    let doomed = folder.join(DOOMED);
    remove_folder(&doomed)?;
    absent_is_fine(fs::rename(folder.join("queue"), &doomed), "remove", &folder.join("queue"))?;
    remove_folder(&doomed)?;
    remove_folder(&folder.join(".synced"))?;
    for file in FILES {
        let path = folder.join(file);
        absent_is_fine(fs::remove_file(&path), "remove", &path)?;
    }
    Ok(())
}

/// What would be lost, in words.
fn worth(folder: &Path) -> Result<Option<String>, Error> {
    let mut worked =
        super::stats::read(folder).map_or(0, |old| old.last_update.saturating_sub(old.start_time));
    for file in files(&folder.join("queue"))? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match Name::parse(&name) {
            Some(name) => worked = worked.max(name.origin.time / 1000),
            None if name::number(name.as_bytes()).is_some() => {}
            None => return Ok(Some(format!("a file in its queue that no fuzzer made, `{name}`"))),
        }
    }
    for (kind, one, many) in [("crashes", "crash", "crashes"), ("hangs", "hang", "hangs")] {
        let found = findings(&folder.join(kind))?.len();
        if found > 0 {
            return Ok(Some(format!("{found} {}", if found == 1 { one } else { many })));
        }
    }
    Ok((worked > GRACE.as_secs()).then(|| format!("{} minutes of work", worked / 60)))
}

/// Sets crashes and hangs of an old campaign aside.
pub(super) fn set_aside(folder: &Path) -> Result<(), Error> {
    for kind in ["crashes", "hangs"] {
        let path = folder.join(kind);
        if !findings(&path)?.is_empty() {
            let aside = unused(folder, kind);
            fs::rename(&path, &aside).map_err(Error::of("rename", &path))?;
        }
    }
    let fresh = folder.join(super::write::FRESH);
    absent_is_fine(fs::remove_file(&fresh), "remove", &fresh)?;
    remove_folder(&folder.join(DOOMED))
}

/// A dated name that is free: two restarts may fall into one second.
fn unused(folder: &Path, kind: &str) -> PathBuf {
    let date = date();
    let names = std::iter::once(format!("{kind}.{date}")).chain((1..).map(|n| format!("{kind}.{date}-{n}")));
    names.map(|name| folder.join(name)).find(|path| !path.exists()).expect("numbers do not end")
}

/// Local time, as AFL++ writes it.
fn date() -> String {
    let now = super::seconds_now() as libc::time_t;
    // SAFETY: all zero is a valid value of this plain struct.
    let mut tm: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live values.
    unsafe { libc::localtime_r(&now, &mut tm) };
    let (year, month) = (tm.tm_year + 1900, tm.tm_mon + 1);
    format!("{year:04}-{month:02}-{:02}-{:02}:{:02}:{:02}", tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec)
}

/// Files of earlier campaigns that were set aside: those of `crashes.…` or
/// `hangs.…`, oldest first.
pub(super) fn earlier(folder: &Path, kind: &str) -> Result<Vec<PathBuf>, Error> {
    let prefix = format!("{kind}.");
    let mut folders = list(folder, true)?;
    folders.retain(|path| path.file_name().unwrap_or_default().to_string_lossy().starts_with(&prefix));
    folders.sort();
    let mut result = Vec::new();
    for folder in folders {
        result.extend(findings(&folder)?);
    }
    Ok(result)
}

/// The files of a folder of findings, in order.
fn findings(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = files(folder)?;
    found.retain(|path| path.file_name().is_none_or(|name| name != "README.txt"));
    found.sort();
    Ok(found)
}

/// What is in a folder, not hidden and no folder; nothing if there is none.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    list(folder, false)
}

/// The folders in a folder that are not hidden; links to folders are none.
pub(super) fn folders(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    list(folder, true)
}

/// What is in a folder and not hidden: its folders, or all else.
fn list(folder: &Path, folders: bool) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::of(READ, folder))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::of(READ, folder))?;
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder == folders && !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    Ok(paths)
}

fn remove_folder(path: &Path) -> Result<(), Error> {
    absent_is_fine(fs::remove_dir_all(path), "remove", path)
}

fn absent_is_fine(result: io::Result<()>, doing: &'static str, path: &Path) -> Result<(), Error> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(Error::of(doing, path)),
    }
}
