//! The last words of a campaign: what came of it.
//!
//! In:  figures, as often as there are new ones.
//! Out: a summary on standard error, with `--json` all figures on standard
//!      output, and the exit code: once, at the end, whatever happens.
//!
//! A guard sees to it that there is an end: a campaign that is still busy a
//! moment after its end has come, with a slow disk or a long parse, is ended
//! from a thread of its own. Findings are on disk as soon as they are found,
//! and what runs ends with this process, so nothing is lost by that.

use super::Fuzz;
use super::status;
use crate::commands::print_json;
use crate::{Failure, Outcome, terminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wug_folder::report::{CrashReport, Report};
use wug_target::End;

/// How long a campaign may take to end by itself.
const GRACE: Duration = Duration::from_millis(850);
/// How often the guard looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
/// Crashes that are named.
const NAMED: usize = 10;

/// The last words, to be.
#[derive(Clone)]
pub struct Summary {
    shared: Arc<Shared>,
}

struct Shared {
    report: Mutex<Report>,
    told: AtomicBool,
    json: bool,
    /// The exit code if there are crashes.
    exit_code: u8,
    /// Where crashes are.
    crashes: PathBuf,
}

impl Summary {
    /// Begins to guard a campaign that is to end then.
    pub fn new(fuzz: &Fuzz, crashes: PathBuf, end: End) -> Summary {
        let summary = Summary {
            shared: Arc::new(Shared {
                report: Mutex::default(),
                told: AtomicBool::new(false),
                json: fuzz.json,
                exit_code: fuzz.exit_code,
                crashes,
            }),
        };
        let guard = summary.clone();
        let watched = std::thread::Builder::new().name("guard".into()).spawn(move || guard.watch(&end));
        // Without a thread, the campaign ends by itself as well as it can.
        drop(watched);
        summary
    }

    /// There are new figures.
    pub fn update(&self, report: &Report) {
        self.report().clone_from(report);
    }

    /// There is a new crash, which the next figures will hold.
    pub fn add(&self, crash: &CrashReport) {
        let mut report = self.report();
        if report.crashes.iter().all(|known| known.stack != crash.stack) {
            report.crashes.push(crash.clone());
            report.saved_crashes = report.saved_crashes.max(report.crashes.len() as u64);
        }
    }

    /// Whether there are figures.
    pub fn has_figures(&self) -> bool {
        self.report().execs_done > 0
    }

    /// Tells what came of the campaign, unless that was done; an error if
    /// there are crashes and they are to have an exit code.
    pub fn tell(&self) -> Outcome {
        if self.shared.told.swap(true, Ordering::AcqRel) {
            // The guard does so at this moment, and then ends the process.
            std::thread::sleep(GRACE);
            return Ok(());
        }
        let report = self.report();
        terminal::say(&self.text(&report));
        if self.shared.json {
            print_json(&*report)?;
        }
        let crashed = report.saved_crashes > 0 && self.shared.exit_code != 0;
        if crashed { Err(Failure::Quiet(self.shared.exit_code)) } else { Ok(()) }
    }

    fn text(&self, report: &Report) -> String {
        let mut text = match report.execs_done {
            0 => "it ended before the first inputs were run\n".to_string(),
            _ => format!("{}\n", status::figures(report)),
        };
        for crash in report.crashes.iter().take(NAMED) {
            let times = if crash.count == 1 { "once".into() } else { format!("{} times", crash.count) };
            let place = terminal::clean_line(&crash.place);
            text += &format!("  {place}, {times}\n    {}\n", terminal::clean_line(&crash.file));
        }
        let more = report.crashes.len().saturating_sub(NAMED);
        if more > 0 {
            text += &format!("  and {more} more\n");
        }
        if report.saved_crashes > 0 {
            let folder = self.shared.crashes.to_string_lossy().into_owned();
            text += &format!("crashes are in {}\n", terminal::clean_line(&folder));
        }
        text
    }

    fn report(&self) -> MutexGuard<'_, Report> {
        self.shared.report.lock().unwrap_or_else(PoisonError::into_inner)
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
            Err(Failure::Quiet(code)) => code,
            _ => 0,
        };
        std::process::exit(code.into());
    }
}
