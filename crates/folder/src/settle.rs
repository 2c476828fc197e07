//! Brings new entries to the disk, off the way of who finds them.
//!
//! A thread waits for the first new file, then a second for others. A few
//! are brought to the disk one by one; many by one call for the file system,
//! which is cheaper then, but also waits for what others write.

use super::lock::Lock;
use super::write::sync_file_system;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;
use wug_files::regular;

/// How long new files may wait for others.
const WAIT: Duration = Duration::from_secs(1);

/// How many files are brought to the disk one by one.
const FEW: usize = 16;

pub(super) struct Settler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    folder: Arc<Lock>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// New files, the first of them by name.
    some: Vec<PathBuf>,
    count: usize,
    stop: bool,
}

impl Settler {
    pub fn new(folder: Arc<Lock>) -> Settler {
        let shared = Arc::new(Shared { folder, state: Mutex::default(), changed: Condvar::new() });
        let own = shared.clone();
        // Without a thread files still come to the disk, when the system
        // likes.
        let thread = std::thread::Builder::new().name("settle".into()).spawn(move || own.run()).ok();
        Settler { shared, thread }
    }

    /// A file is new.
    pub fn add(&self, path: &Path) {
        let mut state = self.shared.lock();
        if state.count < FEW {
            state.some.push(path.to_owned());
        }
        state.count += 1;
        if state.count == 1 {
            self.shared.changed.notify_one();
        }
    }

    /// Brings everything to the disk now.
    pub fn settle(&self) -> std::io::Result<()> {
        let mut state = self.shared.lock();
        (state.count, state.some) = (0, Vec::new());
        drop(state);
        sync_file_system(&*self.shared.folder)
    }
}

impl Shared {
    /// Nobody panics with the lock in hand; if so, what it guards is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            while state.count == 0 && !state.stop {
                state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            if !state.stop {
                let waited = self.changed.wait_timeout_while(state, WAIT, |state| !state.stop);
                state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
            }
            let (files, count) = (std::mem::take(&mut state.some), std::mem::take(&mut state.count));
            let stop = state.stop;
            drop(state);
            self.bring(&files, count);
            if stop {
                return;
            }
            state = self.lock();
        }
    }

    /// Errors have nowhere to go: they tell of a disk that breaks, and the
    /// next write will say so.
    fn bring(&self, files: &[PathBuf], count: usize) {
        if count > FEW {
            let _ = sync_file_system(&*self.folder);
            return;
        }
        for path in files {
            let _ = regular::open_own(path).and_then(|file| file.sync_data());
        }
        if let Some(folder) = files.first().and_then(|path| path.parent()) {
            let _ = regular::open_folder(folder).and_then(|folder| folder.sync_all());
        }
    }
}

impl Drop for Settler {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
