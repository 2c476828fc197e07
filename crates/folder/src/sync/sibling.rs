//! The queue of a sibling campaign.
//!
//! Its entries are taken in the order of their numbers; `.synced/NAME` holds
//! the next one as four bytes, as AFL++ writes it. Numbers that are missing
//! are passed over.

use super::super::name::number;
use super::super::write::{self, When};
use super::{Batch, EntryId, Error, Found, Held, Import, LeftOut, Look, take};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(super) struct Sibling {
    name: OsString,
    queue: PathBuf,
    /// Which folder it is: numbers are given again, so the time of its making
    /// counts too.
    identity: Option<Identity>,
    look: Look,
    /// Seen, not handed out yet, in order.
    waiting: VecDeque<(u32, OsString)>,
    /// The first of them, if it may still be written.
    held: Option<Held>,
    next: u32,
    /// The same as it is written down.
    written: u32,
}

type Identity = (u64, Option<SystemTime>);

impl Sibling {
    pub fn new(name: &OsStr, queue: PathBuf, state: &Path) -> Sibling {
        let next = wug_files::regular::read_own(&state.join(name), 64).ok();
        let next = next.and_then(|bytes| bytes.first_chunk().copied()).map_or(0, u32::from_ne_bytes);
        let (look, waiting) = (Look::default(), VecDeque::new());
        Sibling {
            name: name.to_owned(),
            queue,
            identity: None,
            look,
            waiting,
            held: None,
            next,
            written: next,
        }
    }

    pub fn poll(&mut self, batch: &mut Batch) {
        self.check_identity();
        if self.waiting.is_empty() {
            self.list();
        }
        while !batch.is_full()
            && let Some((id, name)) = self.waiting.front()
        {
            let (id, path) = (*id, self.queue.join(name));
            let gone = name.as_encoded_bytes().ends_with(b",gone");
            match if gone { Found::Nothing } else { take(&path, &mut self.held) } {
                // Those behind it wait, since only one number is remembered.
                Found::Unsettled => return,
                Found::Nothing => {}
                Found::Unfit(why) => batch.left_out.push(LeftOut { path, why }),
                Found::Input(bytes) => {
                    batch.size += bytes.len();
                    let fuzzer = self.name.to_string_lossy().into_owned();
                    batch.imports.push(Import { fuzzer, source: EntryId(id), path, bytes });
                }
            }
            self.held = None;
            self.next = id.saturating_add(1);
            self.waiting.pop_front();
        }
    }

    /// A sibling that starts again makes its queue anew: other entries may
    /// bear the numbers that were seen.
    fn check_identity(&mut self) {
        let identity = self.queue.metadata().ok().map(|data| (data.ino(), data.created().ok()));
        if identity == self.identity {
            return;
        }
        self.waiting.clear();
        self.held = None;
        self.look.forget();
        if identity.is_some() {
            if self.identity.is_some() {
                self.next = 0;
            }
            self.identity = identity;
        }
    }

    fn list(&mut self) {
        let newest = Cell::new(None);
        let is_new = |name: &OsStr| {
            let id = number(name.as_encoded_bytes());
            newest.set(newest.get().max(id));
            id.is_some_and(|id| id >= self.next)
        };
        let Some(names) = self.look.names(&self.queue, is_new) else { return };
        // The same while we were away: its numbers end before ours.
        if newest.get().is_some_and(|newest| newest.saturating_add(1) < self.next) {
            self.next = 0;
            return self.look.forget();
        }
        let numbered = names.into_iter().filter_map(|name| Some((number(name.as_encoded_bytes())?, name)));
        let mut entries: Vec<(u32, OsString)> = numbered.collect();
        entries.sort();
        self.waiting = entries.into();
    }

    pub fn done(&mut self, state: &Path) -> Result<(), Error> {
        if self.next != self.written {
            let fresh = state.join(".fresh");
            write::put(&fresh, &state.join(&self.name), &self.next.to_ne_bytes(), When::Whenever)?;
            self.written = self.next;
        }
        Ok(())
    }
}
