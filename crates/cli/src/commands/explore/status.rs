//! What a person sees of a search: a line that changes, or a table.

use crate::interrupt::Interrupt;
use crate::terminal;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use wug_campaign::fuzz::{Event, Watch};
use wug_campaign::report::Report;

/// How often the table gets a row.
const ROW: Duration = Duration::from_secs(5);

pub struct Status {
    interrupt: Interrupt,
    /// Whether one line is written over again and again.
    line: bool,
    /// Whether the line stands there now.
    shown: bool,
    next_row: Instant,
    rows: u32,
}

impl Status {
    pub fn new(interrupt: Interrupt, seed: u64) -> Status {
        terminal::say(&format!("seed {seed}\n"));
        let plain = std::env::var_os("AFL_NO_UI").is_some() || !std::io::stderr().is_terminal();
        Status { interrupt, line: !plain, shown: false, next_row: Instant::now() + ROW, rows: 0 }
    }

    /// Leaves the last line as it is.
    pub fn end(&mut self) {
        if self.shown {
            terminal::say("\n");
            self.shown = false;
        }
    }

    fn report(&mut self, report: &Report) {
        if self.line {
            terminal::say(&format!("\r\x1B[K{}", line(report)));
            self.shown = true;
        } else if Instant::now() >= self.next_row {
            self.next_row = Instant::now() + ROW;
            let head = if self.rows.is_multiple_of(20) { HEAD } else { "" };
            self.rows += 1;
            terminal::say(&format!("{head}{}\n", row(report)));
        }
    }
}

impl Watch for Status {
    fn event(&mut self, event: Event<'_>) {
        let text = match event {
            Event::Report(report) => return self.report(report),
            Event::Crash(crash) => format!("found: {}\n       {}\n", crash.place, crash.file),
            Event::Paused(why) => format!("waiting: {why}\n"),
            Event::Notice(text) => format!("note: {text}\n"),
        };
        if self.shown {
            terminal::say("\r\x1B[K");
            self.shown = false;
        }
        terminal::say(&text);
    }

    fn stops(&mut self) -> bool {
        self.interrupt.asked()
    }
}

const HEAD: &str = "    time       execs   per s   valid  blocks   words   queue  last find\n";

fn row(report: &Report) -> String {
    format!(
        "{:>8} {:>11} {:>7.0} {:>7} {:>7} {:>7} {:>7}  {} s ago",
        clock(report.run_time),
        report.execs_done,
        report.execs_per_sec,
        report.corpus_count,
        report.edges_found,
        report.auto_dict_entries,
        report.pending_total,
        report.time_wo_finds,
    )
}

fn line(report: &Report) -> String {
    format!(
        "{} · {} execs, {:.0}/s · {} valid inputs · {} of {} blocks · {} words · last find {} s ago",
        clock(report.run_time),
        report.execs_done,
        report.execs_per_sec,
        report.corpus_count,
        report.edges_found,
        report.total_edges,
        report.auto_dict_entries,
        report.time_wo_finds,
    )
}

fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
