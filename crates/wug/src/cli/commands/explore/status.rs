//! What a person sees of a search.

use crate::cli::guard::Guard;
use crate::cli::interrupt::Interrupt;
use crate::cli::terminal;
use crate::cli::ticker::{Ticker, clock};
use wug_campaign::fuzz::{Event, Watch};
use wug_folder::report::Report;

pub struct Status {
    interrupt: Interrupt,
    ticker: Ticker,
    guard: Guard,
}

impl Status {
    pub fn new(interrupt: Interrupt, seed: u64, guard: Guard) -> Status {
        terminal::say(&format!("seed {seed}\n"));
        Status { interrupt, ticker: Ticker::new(), guard }
    }

    /// Leaves the last line as it is.
    pub fn end(&mut self) {
        self.ticker.end();
    }
}

impl Watch for Status {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Report(report) => {
                self.guard.update(report);
                self.ticker.show(|| line(report), HEAD, || row(report));
            }
            other => self.ticker.tell(&other),
        }
    }

    fn stops(&mut self) -> bool {
        self.interrupt.asked()
    }
}

const HEAD: &str = "    time       execs   per s   valid  blocks   words   queue  last find";

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
