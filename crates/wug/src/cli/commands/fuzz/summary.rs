//! The last words of a campaign: what came of it.
//!
//! In:  figures, as often as there are new ones.
//! Out: a summary on standard error, with `--json` all figures on standard
//!      output, and the exit code; `guard` sees to it that there is an end.

use super::Fuzz;
use super::status;
use crate::cli::commands::print_json;
use crate::cli::guard::Guard;
use crate::cli::{Failure, Outcome, terminal};
use std::path::{Path, PathBuf};
use wug_folder::report::{CrashReport, Report};
use wug_target::End;

/// Crashes that are named.
const NAMED: usize = 10;

/// The last words, to be.
pub struct Summary {
    guard: Guard,
}

impl Summary {
    /// Begins to guard a campaign that is to end then, with crashes there.
    pub fn new(fuzz: &Fuzz, crashes: PathBuf, end: End) -> Summary {
        let (json, exit_code) = (fuzz.json, fuzz.exit_code);
        let tell = move |report: &Report| {
            terminal::say(&text(report, &crashes));
            if json {
                print_json(report)?;
            }
            let crashed = report.saved_crashes > 0 && exit_code != 0;
            if crashed { Err(Failure::Quiet(exit_code)) } else { Ok(()) }
        };
        Summary { guard: Guard::new(end, tell) }
    }

    /// There are new figures.
    pub fn update(&self, report: &Report) {
        self.guard.update(report);
    }

    /// There is a new crash, which the next figures will hold.
    pub fn add(&self, crash: &CrashReport) {
        let mut report = self.guard.report();
        if report.crashes.iter().all(|known| known.stack != crash.stack) {
            report.crashes.push(crash.clone());
            report.saved_crashes = report.saved_crashes.max(report.crashes.len() as u64);
        }
    }

    /// Whether there are figures.
    pub fn has_figures(&self) -> bool {
        self.guard.report().execs_done > 0
    }

    /// Tells what came of the campaign, unless that was done; an error if
    /// there are crashes and they are to have an exit code.
    pub fn tell(&self) -> Outcome {
        self.guard.tell()
    }
}

fn text(report: &Report, folder: &Path) -> String {
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
        text += &format!("crashes are in {}\n", terminal::clean_line(&folder.to_string_lossy()));
    }
    text
}
