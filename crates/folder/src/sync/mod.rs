//! What others find: entries of sibling campaigns in the same output folder,
//! and files of folders that the user names.
//!
//! In:  `OUT/*/queue/id:NNNNNN*` of any fuzzer that follows AFL++, and any
//!      files of other folders.
//! Out: each of them once, in order, with what they are called in the names
//!      of entries. What was handed out is written down, as AFL++ does, when
//!      the next ones are asked for: so an import that a crash cuts short is
//!      made again.
//!
//! It is cheap to ask: a folder is read only if it has changed, and no
//! oftener than that reading takes a twentieth of the time. Rejected:
//! inotify, which does not see other machines' writes on shared file systems
//! and needs a fallback for lost events that is this.

mod foreign;
mod sibling;

use super::{EntryId, Error, LeftOut, read};
use foreign::Foreign;
use sibling::Sibling;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use wug_files::regular;

/// An input that somebody else found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Import {
    /// By whom.
    pub fuzzer: String,
    /// Its number there.
    pub source: EntryId,
    /// Its file.
    pub path: PathBuf,
    /// The input.
    pub bytes: Vec<u8>,
}

/// Some imports.
#[derive(Debug, Default)]
pub struct Batch {
    /// The inputs.
    pub imports: Vec<Import>,
    /// Files that are no inputs, each told once.
    pub left_out: Vec<LeftOut>,
    /// Bytes of all.
    size: usize,
    limit: usize,
}

/// Most bytes of a batch, besides its last input.
const BATCH: usize = 16 << 20;

impl Batch {
    /// Whether nothing more fits.
    fn is_full(&self) -> bool {
        self.imports.len() + self.left_out.len() >= self.limit || self.size >= BATCH
    }
}

/// Looks for what others find.
pub struct Sync {
    out: PathBuf,
    own: OsString,
    /// Where it is written down what was imported.
    state: PathBuf,
    siblings: BTreeMap<OsString, Sibling>,
    foreign: Vec<Foreign>,
    look: Look,
}

impl Sync {
    /// For the campaign in `OUT/ID`, whose folder must be open. The other
    /// folders may hold files of any name.
    pub fn new(out: &Path, id: &str, foreign: &[PathBuf]) -> Result<Sync, Error> {
        let state = out.join(id).join(".synced");
        let foreign = foreign.iter().map(|folder| Foreign::open(folder, &state)).collect::<Result<_, _>>()?;
        Ok(Sync {
            out: out.to_owned(),
            own: id.into(),
            state,
            siblings: BTreeMap::new(),
            foreign,
            look: Look::default(),
        })
    }

    /// Inputs that were not handed out before, at most so many; those of the
    /// last call count as imported now. Folders that come and go are fine.
    pub fn poll(&mut self, limit: usize) -> Result<Batch, Error> {
        self.done()?;
        self.find_siblings();
        let mut batch = Batch { limit, ..Batch::default() };
        for sibling in self.siblings.values_mut() {
            sibling.poll(&mut batch);
        }
        for folder in &mut self.foreign {
            folder.poll(&mut batch);
        }
        Ok(batch)
    }

    /// Writes down that what the last call handed out is imported.
    pub fn done(&mut self) -> Result<(), Error> {
        self.siblings.values_mut().try_for_each(|sibling| sibling.done(&self.state))?;
        self.foreign.iter_mut().try_for_each(|folder| folder.done(&self.state))
    }

    /// The siblings that are there, by name.
    pub fn siblings(&self) -> impl Iterator<Item = &OsStr> {
        self.siblings.keys().map(OsString::as_os_str)
    }

    fn find_siblings(&mut self) {
        let Some(names) = self.look.names(&self.out, |_| true) else { return };
        for name in names {
            let hidden = name.as_encoded_bytes().starts_with(b".");
            let queue = self.out.join(&name).join("queue");
            if !hidden && name != self.own && !self.siblings.contains_key(&name) {
                if queue.is_dir() {
                    let sibling = Sibling::new(&name, queue, &self.state);
                    self.siblings.insert(name, sibling);
                } else {
                    // Its queue may come, which the folder above does not tell.
                    self.look.forget();
                }
            }
        }
    }
}

/// Reads a folder when it has changed.
#[derive(Default)]
struct Look {
    /// The folder as it was last read.
    seen: Option<(u64, SystemTime)>,
    /// Not before.
    rest: Option<Instant>,
}

/// Changes within this time may bear the same time stamp.
const COARSE: Duration = Duration::from_secs(2);

impl Look {
    /// Names in the folder that are wanted, in no order; none if they are
    /// those of the last time, or if there is no folder.
    fn names(&mut self, folder: &Path, wanted: impl Fn(&OsStr) -> bool) -> Option<Vec<OsString>> {
        let begin = Instant::now();
        if self.rest.is_some_and(|rest| begin < rest) {
            return None;
        }
        let data = fs::metadata(folder).ok()?;
        let now = identity(&data);
        if self.seen == Some(now) {
            return None;
        }
        let names = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.file_name());
        let names = names.filter(|name| wanted(name)).collect();
        let settled = age(&data).is_none_or(|age| age > COARSE);
        self.seen = settled.then_some(now);
        self.rest = Some(Instant::now() + 20 * begin.elapsed());
        Some(names)
    }

    /// Reads the next time, changed or not.
    fn forget(&mut self) {
        self.seen = None;
    }
}

/// A folder's number, and when something was last added to it.
fn identity(data: &Metadata) -> (u64, SystemTime) {
    use std::os::unix::fs::MetadataExt;
    (data.ino(), data.modified().unwrap_or(SystemTime::UNIX_EPOCH))
}

/// How long ago something was written; none if that is in the future.
fn age(data: &Metadata) -> Option<Duration> {
    data.modified().ok()?.elapsed().ok()
}

/// A file of somebody else.
enum Found {
    /// It may still be written: afl-fuzz writes in place.
    Unsettled,
    /// It is gone, or empty.
    Nothing,
    /// It is no input.
    Unfit(String),
    Input(Vec<u8>),
}

/// A file that nobody has written to for so long is whole, one way or the
/// other.
const WRITING: Duration = Duration::from_millis(100);
const EMPTY: Duration = Duration::from_secs(1);

/// A file that may still be written, as it was first seen at this size; none
/// if it was not there.
struct Held {
    size: Option<u64>,
    since: Instant,
}

/// Whether a file has been so for so long.
fn stays(held: &mut Option<Held>, size: Option<u64>, patience: Duration) -> bool {
    match held {
        Some(held) if held.size == size => held.since.elapsed() >= patience,
        _ => {
            *held = Some(Held { size, since: Instant::now() });
            false
        }
    }
}

/// Reads a file of somebody else. Whether it is whole is told by its time
/// or, since that may be another machine's, by its staying as it is.
fn take(path: &Path, held: &mut Option<Held>) -> Found {
    let opened = regular::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (data, mut file) = match opened {
        Ok(opened) => opened,
        // To trim an entry, afl-fuzz removes it first.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !stays(held, None, WRITING) => {
            return Found::Unsettled;
        }
        Err(_) => return Found::Nothing,
    };
    let size = data.len();
    let patience = if size == 0 { EMPTY } else { WRITING };
    if age(&data).is_none_or(|age| age < patience) && !stays(held, Some(size), patience) {
        return Found::Unsettled;
    }
    if size > read::MAX_INPUT {
        return Found::Unfit(read::too_large(size));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    match (&mut file).take(read::MAX_INPUT).read_to_end(&mut bytes) {
        Ok(0) | Err(_) => Found::Nothing,
        Ok(_) => Found::Input(bytes),
    }
}
