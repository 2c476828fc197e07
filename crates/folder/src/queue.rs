//! The queue: entries by number.
//!
//! Numbers have no gaps, since afl-fuzz, when it imports, looks for the very
//! next number and stops where it is missing. What somebody put there under
//! another name gets a number when the campaign goes on; where an entry was
//! removed, an empty file keeps its place.

use super::name::{How, number};
use super::read::{self, Entry, LeftOut};
use super::write::{When, Writer};
use super::{EntryId, Error, Name, Origin, old};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// Largest gap that is filled: a number further on is not one of a queue.
const GAP: u32 = 1000;

/// A number from here on is not one that was counted up to.
const MOST: u32 = 1 << 31;

/// How the name of a file ends that keeps the place of an entry.
const GONE: &str = ",gone";

pub(super) struct Queue {
    folder: PathBuf,
    /// The file of each entry, for those that are trimmed later.
    files: BTreeMap<u32, OsString>,
    next: u32,
}

impl Queue {
    /// An empty one.
    pub fn new(folder: PathBuf) -> Queue {
        Queue { folder, files: BTreeMap::new(), next: 0 }
    }

    /// The one that is there.
    pub fn resume(folder: PathBuf, writer: &Writer) -> Result<Queue, Error> {
        let mut queue = Queue::new(folder);
        let (mut entries, mut others) = (Vec::new(), Vec::new());
        for path in old::files(&queue.folder)? {
            let name = path.file_name().unwrap_or_default().to_owned();
            match number(name.as_encoded_bytes()) {
                Some(id) => entries.push((id, name)),
                None => others.push(path),
            }
        }
        entries.sort();
        others.sort();
        // An afl-fuzz that was stopped while it went on with this campaign
        // left its entries here.
        let left = queue.folder.with_file_name("_resume");
        let mut moved = old::files(&left)?;
        moved.sort();
        others.extend(moved);
        for (id, name) in entries {
            if id < queue.next || id - queue.next > GAP {
                others.push(queue.folder.join(name));
                continue;
            }
            for gap in queue.next..id {
                let place = queue.folder.join(format!("id:{}{GONE}", EntryId(gap)));
                writer.put(&place, &[], When::Soon)?;
            }
            if !is_gone(&name) {
                queue.files.insert(id, name);
            }
            queue.next = id + 1;
        }
        for path in others {
            queue.adopt(&path)?;
        }
        let _ = fs::remove_dir(&left);
        Ok(queue)
    }

    /// Gives a number to a file of another name, unless it is no input.
    fn adopt(&mut self, path: &Path) -> Result<(), Error> {
        if read::why_not(path).is_some() {
            return Ok(());
        }
        let name = path.file_name().unwrap_or_default();
        let origin = Origin { how: How::Seed(name.to_string_lossy().into_owned()), ..Origin::default() };
        let own = self.name(None, &origin);
        fs::rename(path, self.folder.join(&own)).map_err(Error::of("rename", path))?;
        self.take(own);
        Ok(())
    }

    fn name(&self, signal: Option<u8>, origin: &Origin) -> String {
        Name { id: EntryId(self.next), signal, origin: origin.clone() }.to_string()
    }

    fn take(&mut self, name: String) -> EntryId {
        let id = EntryId(self.next);
        self.files.insert(id.0, name.into());
        self.next += 1;
        id
    }

    /// Writes a new entry.
    pub fn add(&mut self, writer: &Writer, bytes: &[u8], origin: &Origin) -> Result<EntryId, Error> {
        let name = self.name(None, origin);
        writer.put(&self.folder.join(&name), bytes, When::Soon)?;
        Ok(self.take(name))
    }

    /// Writes an entry anew.
    pub fn replace(&mut self, writer: &Writer, id: EntryId, bytes: &[u8]) -> Result<(), Error> {
        writer.put(&self.path(id)?, bytes, When::Soon)
    }

    /// The file of an entry.
    pub fn path(&self, id: EntryId) -> Result<PathBuf, Error> {
        let absent =
            || Error::of("find", &self.folder.join(format!("id:{id}")))(std::io::ErrorKind::NotFound.into());
        self.files.get(&id.0).map(|name| self.folder.join(name)).ok_or_else(absent)
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// All entries by number, and what is in the folder besides.
    pub fn entries(&self) -> Result<(Vec<Entry>, Vec<LeftOut>), Error> {
        let (mut entries, mut left_out) = (Vec::new(), Vec::new());
        for (&id, name) in &self.files {
            let path = self.folder.join(name);
            match read::why_not(&path) {
                None => entries.push(Entry { id: EntryId(id), path, origin: read::origin(name) }),
                Some(why) => left_out.push(LeftOut { path, why }),
            }
        }
        for path in old::files(&self.folder)? {
            let name = path.file_name().unwrap_or_default();
            if number(name.as_encoded_bytes()).is_none()
                && let Some(why) = read::why_not(&path)
            {
                left_out.push(LeftOut { path, why });
            }
        }
        Ok((entries, left_out))
    }
}

fn is_gone(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(GONE.as_bytes())
}

/// Crashes or hangs: numbered like entries, never read back.
pub(super) struct Findings {
    folder: PathBuf,
    next: u32,
}

impl Findings {
    /// In a folder that is empty, or was not worth to be set aside.
    pub fn open(folder: &Path) -> Result<Findings, Error> {
        let numbers = old::files(folder)?;
        let numbers = numbers.iter().filter_map(|path| number(path.file_name()?.as_encoded_bytes()));
        // No campaign comes that far: such a name was made up.
        let next = numbers.filter(|number| *number < MOST).max().map_or(0, |last| last + 1);
        Ok(Findings { folder: folder.to_owned(), next })
    }

    /// Writes one; it is on the disk then.
    pub fn add(
        &mut self,
        writer: &Writer,
        bytes: &[u8],
        signal: Option<u8>,
        origin: &Origin,
    ) -> Result<PathBuf, Error> {
        let name = Name { id: EntryId(self.next), signal, origin: origin.clone() };
        let path = self.folder.join(name.to_string());
        writer.put(&path, bytes, When::Now)?;
        self.next += 1;
        Ok(path)
    }
}
