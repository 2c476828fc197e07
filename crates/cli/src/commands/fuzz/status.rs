//! What a person sees of a campaign: a line that changes, or a table.

use crate::interrupt::Interrupt;
use crate::terminal;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use wug_campaign::fuzz::{Event, Watch};
use wug_campaign::report::{CrashReport, MutatorReport, Report};

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
    told_seeds: bool,
    /// Whether figures are somebody else's to show.
    silent: bool,
}

impl Status {
    /// For a campaign, or for a worker of several.
    pub fn new(interrupt: Interrupt, seed: u64, worker: bool) -> Status {
        let status = Status { silent: worker, ..Status::quiet(interrupt) };
        if !worker {
            terminal::say(&format!("seed {seed}\n"));
        }
        status
    }

    /// For all workers.
    pub fn quiet(interrupt: Interrupt) -> Status {
        let plain = std::env::var_os("AFL_NO_UI").is_some() || !std::io::stderr().is_terminal();
        let next_row = Instant::now();
        Status { interrupt, line: !plain, shown: false, next_row, rows: 0, told_seeds: false, silent: false }
    }

    /// Leaves the last line as it is.
    pub fn end(&mut self) {
        if self.shown {
            terminal::say("\n");
            self.shown = false;
        }
    }

    fn say(&mut self, text: &str) {
        if self.shown {
            terminal::say("\r\x1B[K");
            self.shown = false;
        }
        terminal::say(text);
    }

    fn report(&mut self, report: &Report) {
        if !self.told_seeds && report.seeds.given > 0 && !report.grammar.is_empty() {
            self.told_seeds = true;
            self.say(&seeds(report));
        }
        if self.silent {
            return;
        }
        if self.line {
            let text = line(report);
            terminal::say(&format!("\r\x1B[K{text}"));
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
        match event {
            Event::Report(report) => self.report(report),
            Event::Crash(crash) => {
                let text = crash_text(crash);
                self.say(&text);
            }
            Event::Paused(why) => self.say(&format!("waiting: {why}\n")),
            Event::Notice(text) => self.say(&format!("note: {text}\n")),
        }
    }

    fn stops(&mut self) -> bool {
        self.interrupt.asked()
    }
}

fn crash_text(crash: &CrashReport) -> String {
    format!("\x1B[1m\x1B[91mfound\x1B[0m: {}\n       {}\n", crash.place, crash.file)
}

fn seeds(report: &Report) -> String {
    let seeds = &report.seeds;
    let mut text = format!("{} of {} seeds parse\n", seeds.parsed, seeds.given);
    for stop in &seeds.stops {
        text += &format!("  {} stops at byte {}: {}\n", stop.name, stop.offset, stop.message);
    }
    text
}

const HEAD: &str = "    time       execs   per s   edges  corpus  parsed crashes hangs  best mutators\n";

fn row(report: &Report) -> String {
    format!(
        "{:>8} {:>11} {:>7.0} {:>7} {:>7} {:>7} {:>7} {:>5}  {}",
        clock(report.run_time),
        report.execs_done,
        report.execs_ps_last_min,
        report.edges_found,
        report.corpus_count,
        report.corpus_parsed,
        report.saved_crashes,
        report.saved_hangs,
        best(&report.mutators),
    )
}

fn line(report: &Report) -> String {
    format!(
        "{} · {} execs, {:.0}/s · {} of {} edges · corpus {} · crashes {} · {}",
        clock(report.run_time),
        report.execs_done,
        report.execs_ps_last_min,
        report.edges_found,
        report.total_edges,
        report.corpus_count,
        report.saved_crashes,
        best(&report.mutators),
    )
}

/// The mutators that found most, with their finds.
fn best(mutators: &[MutatorReport]) -> String {
    let mut found: Vec<&MutatorReport> = mutators.iter().filter(|mutator| mutator.finds > 0).collect();
    found.sort_by_key(|mutator| std::cmp::Reverse(mutator.finds));
    let words = found.iter().take(3).map(|mutator| format!("{} {}", mutator.name, mutator.finds));
    words.collect::<Vec<_>>().join(", ")
}

fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
