//! The end of a command that runs a target until its time is up.
//!
//! In:  figures, as often as there are new ones; what is to be said of them.
//! Out: the last words, once, at the end, whatever happens; the exit code.
//!
//! A thread sees to it that there is an end: a command that is still busy a
//! moment after its end has come, with a slow disk, a long parse or a target
//! that does not let go, is ended from there. Findings are on disk as soon as
//! they are found, and what runs ends with this process, so nothing is lost by
//! that.

use crate::cli::{Failure, Outcome, terminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wug_folder::report::Report;
use wug_target::End;

/// How long a command may take to end by itself.
const GRACE: Duration = Duration::from_millis(850);
/// How often the guard looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// What is said of the last figures; an error is the exit code.
type Tell = dyn Fn(&Report) -> Outcome + Send + Sync;

/// The last words, to be, and who sees to it that they are said.
#[derive(Clone)]
pub struct Guard {
    shared: Arc<Shared>,
}

struct Shared {
    report: Mutex<Report>,
    told: AtomicBool,
    tell: Box<Tell>,
}

impl Guard {
    /// Begins to guard a command that is to end then.
    pub fn new(end: End, tell: impl Fn(&Report) -> Outcome + Send + Sync + 'static) -> Guard {
        let shared = Shared { report: Mutex::default(), told: AtomicBool::new(false), tell: Box::new(tell) };
        let guard = Guard { shared: Arc::new(shared) };
        let other = guard.clone();
        let watched = std::thread::Builder::new().name("guard".into()).spawn(move || other.watch(&end));
        // Without a thread, the command ends by itself as well as it can.
        drop(watched);
        guard
    }

    /// The figures as they are known.
    pub fn report(&self) -> MutexGuard<'_, Report> {
        self.shared.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There are new figures.
    pub fn update(&self, report: &Report) {
        self.report().clone_from(report);
    }

    /// Says the last words, unless that was done.
    pub fn tell(&self) -> Outcome {
        if self.shared.told.swap(true, Ordering::AcqRel) {
            // The guard does so at this moment, and then ends the process.
            std::thread::sleep(GRACE);
            return Ok(());
        }
        let report = self.report();
        (self.shared.tell)(&report)
    }

    fn watch(&self, end: &End) {
        while !end.has_come() {
            std::thread::sleep(end.nap(LOOK));
        }
        std::thread::sleep(GRACE);
        if self.shared.told.load(Ordering::Acquire) {
            return;
        }
        let code = match self.tell() {
            Ok(()) => 0,
            Err(Failure::No) => 1,
            Err(Failure::Quiet(code)) => code,
            Err(Failure::Message(code, message)) => {
                terminal::error(&message);
                code
            }
        };
        std::process::exit(code.into());
    }
}
