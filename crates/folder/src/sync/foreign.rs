//! A folder of inputs under any names.
//!
//! There is no number to remember here, so each file is: by a hash of its
//! name, size and time, in `.synced/+NAME-HASH` (`+` is in no campaign's
//! name). A file that is written anew counts as new when the folder changes.

use super::super::error::READ;
use super::{Batch, EntryId, Error, Found, Held, Import, LeftOut, Look, take};
use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use wug_files::regular;

/// Most files that are remembered, and so imported: 8 MiB of hashes.
const MOST: usize = 1 << 20;

pub(super) struct Foreign {
    folder: PathBuf,
    /// What it is called in the names of entries.
    label: String,
    /// The file with the hashes.
    file: String,
    look: Look,
    /// To be looked at; those that may still be written with how they were.
    waiting: VecDeque<(OsString, Option<Held>)>,
    seen: HashSet<u64>,
    /// Seen and not written down.
    fresh: Vec<u64>,
}

impl Foreign {
    pub fn open(folder: &Path, state: &Path) -> Result<Foreign, Error> {
        if !folder.is_dir() {
            let source =
                std::fs::read_dir(folder).err().unwrap_or_else(|| io::ErrorKind::NotADirectory.into());
            return Err(Error::of(READ, folder)(source));
        }
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        // A campaign's folder stands for its queue.
        let queue = Some(whole.join("queue")).filter(|queue| queue.is_dir());
        let named = if whole.ends_with("queue") { whole.parent() } else { None };
        let named = named.unwrap_or(&whole).file_name().unwrap_or_default().to_string_lossy();
        let label: String =
            named.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(32).collect();
        let file = format!("+{label}-{:016x}", hash(whole.as_os_str().as_bytes(), HASH));
        let mut known = Vec::new();
        if let Ok(file) = regular::open_own(&state.join(&file)) {
            let _ = file.take(MOST as u64 * 8).read_to_end(&mut known);
        }
        let seen = known.chunks_exact(8).map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("eight")));
        let seen = seen.take(MOST).collect();
        let (look, waiting) = (Look::default(), VecDeque::new());
        Ok(Foreign { folder: queue.unwrap_or(whole), label, file, look, waiting, seen, fresh: Vec::new() })
    }

    pub fn poll(&mut self, batch: &mut Batch) {
        if self.waiting.is_empty()
            && let Some(mut names) =
                self.look.names(&self.folder, |name| !name.as_encoded_bytes().starts_with(b"."))
        {
            names.sort();
            self.waiting = names.into_iter().map(|name| (name, None)).collect();
        }
        // Each at most once: those that are being written go to the end.
        for _ in 0..self.waiting.len() {
            if batch.is_full() || self.seen.len() >= MOST {
                return;
            }
            let Some((name, mut held)) = self.waiting.pop_front() else { return };
            let path = self.folder.join(&name);
            let Ok(data) = path.metadata() else { continue };
            let mark = hash(name.as_bytes(), HASH);
            let mark = hash(&data.len().to_ne_bytes(), mark);
            let mark = hash(&data.mtime().to_ne_bytes(), mark);
            let mark = hash(&data.mtime_nsec().to_ne_bytes(), mark);
            if data.is_dir() || self.seen.contains(&mark) {
                continue;
            }
            match take(&path, &mut held) {
                Found::Unsettled => {
                    self.waiting.push_back((name, held));
                    continue;
                }
                Found::Nothing => {}
                Found::Unfit(why) => batch.left_out.push(LeftOut { path, why }),
                Found::Input(bytes) => {
                    batch.size += bytes.len();
                    let source = EntryId(self.seen.len() as u32);
                    batch.imports.push(Import { fuzzer: self.label.clone(), source, path, bytes });
                }
            }
            self.seen.insert(mark);
            self.fresh.push(mark);
        }
    }

    pub fn done(&mut self, state: &Path) -> Result<(), Error> {
        if !self.fresh.is_empty() {
            let path = state.join(&self.file);
            let bytes: Vec<u8> = self.fresh.iter().flat_map(|mark| mark.to_ne_bytes()).collect();
            regular::go_on(&path).and_then(|file| append(file, &bytes)).map_err(Error::of("write", &path))?;
            self.fresh.clear();
        }
        Ok(())
    }
}

/// All or nothing, so that hashes stay where a reader looks for them.
fn append(mut file: std::fs::File, bytes: &[u8]) -> io::Result<()> {
    let end = file.metadata()?.len() / 8 * 8;
    file.set_len(end)?;
    file.seek(io::SeekFrom::Start(end))?;
    let written = file.write_all(bytes);
    if written.is_err() {
        let _ = file.set_len(end);
    }
    written
}

/// FNV-1a: the same in every run.
const HASH: u64 = 0xcbf2_9ce4_8422_2325;

fn hash(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
