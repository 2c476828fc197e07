//! The output folder of a campaign: what it found and how it is going, on
//! disk, as AFL++ lays it out.
//!
//! In:  inputs with their origins, figures.
//! Out: `OUT/ID/` with `queue`, `crashes`, `hangs`, `fuzzer_stats`,
//!      `plot_data` and the rest; after a stop of any kind, all of it again.
//!
//! ```text
//! OUT/ID/queue/id:000123,src:000045,time:…   entries            [`Folder::add`]
//! OUT/ID/crashes/id:000000,sig:06,…          crashes            [`Folder::crash`]
//! OUT/ID/hangs/id:000000,…                   hangs              [`Folder::hang`]
//! OUT/ID/fuzzer_stats, report.json           figures            [`Folder::report`]
//! OUT/ID/plot_data                           figures over time  [`Folder::plot`]
//! OUT/ID/fuzz_bitmap                         what was reached   [`Folder::bitmap`]
//! OUT/ID/cmdline, fuzzer_setup, is_main_node how it was started [`Setup`]
//! OUT/ID/.synced/NAME                        what was imported  [`sync::Sync`]
//! ```
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::path::Path;
//! use wug_folder::{Folder, How, Origin, Setup, Start, sync::Sync};
//!
//! let out = Path::new("out");
//! let setup = Setup { target: vec!["./target".into()], main: true, ..Setup::default() };
//! let mut folder = Folder::open(out, "default", Start::AutoResume, &setup)?;
//! for entry in folder.entries()?.0 {
//!     println!("{} came from {:?}: {} bytes", entry.id, entry.origin.how, entry.read()?.len());
//! }
//! let seed = Origin { how: How::Seed("hello.txt".into()), ..Origin::default() };
//! let first = folder.add(b"hello", &seed)?;
//! let how = How::Mutation { parents: vec![first], op: "swap".into(), rep: Some(1) };
//! let origin = Origin { time: 17, execs: 4, how, new_coverage: true };
//! match folder.add(b"ehllo", &origin) {
//!     Err(error) if error.is_full() => { /* say so, wait, and do the same again */ }
//!     id => println!("entry {}", id?),
//! }
//! let mut sync = Sync::new(out, "default", &[])?;
//! for import in sync.poll(100)?.imports {
//!     let how = How::Sync { fuzzer: import.fuzzer, source: import.source };
//!     folder.add(&import.bytes, &Origin { how, ..Origin::default() })?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here decides what is worth keeping. No file is ever seen half
//! written (`write`); a full disk is an error of its own
//! ([`Error::Full`]), after which the same call can be made again.
//!
//! `.cur_input` is not written: inputs reach the target through memory, and
//! a file for each run would cost more than the run. Whoever kills a target
//! has the input in hand.
//!
//! # The way of a find
//!
//! 1. `lib.rs` keeps entries, crashes, hangs and figures in the output
//!    folder, laid out as AFL++ does. It stores and reads; what is worth
//!    keeping is decided elsewhere.
//! 2. A file's name says where the input came from (`name.rs`): that is all a
//!    campaign needs to go on. Files are written beside their place and
//!    renamed (`write.rs`); a thread brings them to the disk (`settle.rs`).
//! 3. `old.rs` sees to it that no campaign takes the place of one that is
//!    worth keeping.
//! 4. What others find is read by `sync/mod.rs`: from siblings in the same
//!    output folder, in AFL++'s way, and from folders of any names.
//! 5. All figures are one value, `report.rs`; `stats.rs` writes it for
//!    AFL++'s tools.
//! 6. Tokens for mutators come from `crates/target/src/dictionary/mod.rs`:
//!    dictionary files, and texts in the program's data.

mod error;
pub mod fuzzing;
mod lock;
mod name;
mod old;
mod plot;
mod queue;
mod read;
pub mod report;
mod settle;
mod setup;
mod stats;
pub mod sync;
mod write;

pub use error::Error;
pub use name::{EntryId, How, Name, Origin};
pub use read::{Entry, Inputs, LeftOut, MAX_INPUT, inputs, read};
pub use setup::Setup;
pub use stats::report;

use crate::report::Report;
use plot::Plot;
use queue::{Findings, Queue};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use write::{When, Writer};

/// Whether a campaign begins or goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// It begins; an old one is removed if little is lost by that.
    New,
    /// It goes on; there must be an old one.
    Resume,
    /// It goes on if there is an old one.
    AutoResume,
}

/// The folder of one campaign, held by a lock.
pub struct Folder {
    path: PathBuf,
    queue: Queue,
    crashes: Findings,
    hangs: Findings,
    plot: Plot,
    writer: Writer,
    previous: Option<Report>,
    resumed: bool,
}

impl Folder {
    /// Opens `OUT/ID`, creates what is missing, and keeps others out until
    /// this value is dropped.
    pub fn open(out: &Path, id: &str, start: Start, setup: &Setup) -> Result<Folder, Error> {
        if !is_id(id) {
            return Err(Error::BadId(id.to_owned()));
        }
        let path = out.join(id);
        make(out, true)?;
        make(&path, false)?;
        let lock = Arc::new(lock::lock(&path)?);
        let there = old::is_there(&path)?;
        let resumed = match start {
            Start::New => false,
            Start::Resume if !there => return Err(Error::NothingToResume(path)),
            Start::Resume | Start::AutoResume => there,
        };
        let previous = stats::read(&path).filter(|_| resumed);
        if resumed {
            old::set_aside(&path)?;
        } else {
            old::remove(&path)?;
        }
        for part in ["queue", "crashes", "hangs", ".synced"] {
            let part = path.join(part);
            make(&part, false)?;
            // What is written there must not end up elsewhere.
            if part.is_symlink() {
                return Err(Error::NotAFolder(part));
            }
        }
        let writer = Writer::new(&path, lock);
        setup.write(&path, &writer)?;
        let queue = path.join("queue");
        Ok(Folder {
            queue: if resumed { Queue::resume(queue, &writer)? } else { Queue::new(queue) },
            crashes: Findings::open(&path.join("crashes"))?,
            hangs: Findings::open(&path.join("hangs"))?,
            plot: Plot::open(&path)?,
            writer,
            previous,
            resumed,
            path,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an old campaign goes on.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The last figures of the campaign that goes on.
    pub fn previous(&self) -> Option<&Report> {
        self.previous.as_ref()
    }

    /// Keeps an input as an entry of the queue.
    pub fn add(&mut self, bytes: &[u8], origin: &Origin) -> Result<EntryId, Error> {
        self.queue.add(&self.writer, bytes, origin)
    }

    /// Writes an entry anew, shorter perhaps, under its old name. A power cut
    /// within the next second may leave it empty on file systems other than
    /// ext4 and btrfs; where it can be, trimming before [`Folder::add`] is
    /// better, and cheaper.
    pub fn replace(&mut self, id: EntryId, bytes: &[u8]) -> Result<(), Error> {
        self.queue.replace(&self.writer, id, bytes)
    }

    /// Keeps an input that crashed the target. It is on the disk when this
    /// returns.
    pub fn crash(&mut self, bytes: &[u8], signal: u8, origin: &Origin) -> Result<PathBuf, Error> {
        self.crashes.add(&self.writer, bytes, Some(signal), origin)
    }

    /// Keeps an input that took too long, likewise.
    pub fn hang(&mut self, bytes: &[u8], origin: &Origin) -> Result<PathBuf, Error> {
        self.hangs.add(&self.writer, bytes, None, origin)
    }

    /// The entries in the order of their numbers, and the files in the queue
    /// that are no inputs.
    pub fn entries(&self) -> Result<(Vec<Entry>, Vec<LeftOut>), Error> {
        self.queue.entries()
    }

    /// The file of an entry.
    pub fn entry_path(&self, id: EntryId) -> Result<PathBuf, Error> {
        self.queue.path(id)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Crashes of earlier runs of this campaign, which were set aside, oldest
    /// first.
    pub fn earlier_crashes(&self) -> Result<Vec<PathBuf>, Error> {
        old::earlier(&self.path, "crashes")
    }

    /// Hangs of earlier runs.
    pub fn earlier_hangs(&self) -> Result<Vec<PathBuf>, Error> {
        old::earlier(&self.path, "hangs")
    }

    /// Writes the figures: `fuzzer_stats`, and all of them in `report.json`.
    pub fn report(&mut self, report: &Report) -> Result<(), Error> {
        let json = serde_json::to_vec(report).map_err(io::Error::from);
        let path = self.path.join("report.json");
        let json = json.map_err(Error::of("write", &path))?;
        self.writer.put(&path, &json, When::Whenever)?;
        self.writer.put(&self.path.join("fuzzer_stats"), stats::write(report).as_bytes(), When::Whenever)
    }

    /// Appends a row to `plot_data`; meant for every 5 seconds.
    pub fn plot(&mut self, report: &Report) -> Result<(), Error> {
        self.plot.row(report)
    }

    /// Writes what was reached so far, a byte for each edge, as
    /// `fuzz_bitmap`.
    pub fn bitmap(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.writer.put(&self.path.join("fuzz_bitmap"), bytes, When::Whenever)
    }

    /// Writes another file beside the queue.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.writer.put(&self.path.join(name), bytes, When::Whenever)
    }

    /// Waits until everything is on the disk. Dropping the folder does so
    /// too for entries.
    pub fn settle(&self) -> Result<(), Error> {
        self.writer.settle().map_err(Error::of("settle", &self.path))
    }
}

impl Drop for Folder {
    /// A campaign that has ended imports no longer: others must not rely on
    /// it to.
    fn drop(&mut self) {
        let _ = fs::remove_file(self.path.join(setup::MAIN));
    }
}

/// The names that afl-fuzz allows.
fn is_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=32).contains(&id.len()) && id.bytes().all(plain)
}

/// Makes a folder unless it is there: for its owner only, as afl-fuzz does.
fn make(path: &Path, parents: bool) -> Result<(), Error> {
    let made = fs::DirBuilder::new().recursive(parents).mode(0o700).create(path);
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if path.is_dir() {
                Ok(())
            } else {
                Err(Error::NotAFolder(path.to_owned()))
            }
        }
        made => made.map_err(Error::of("make", path)),
    }
}

/// Seconds of Unix time.
fn seconds_now() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs())
}
