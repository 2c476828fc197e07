//! What a person sees of a campaign.

use crate::interrupt::Interrupt;
use crate::terminal;
use crate::ticker::{Ticker, clock};
use wug_campaign::fuzz::{Event, Watch};
use wug_campaign::report::{MutatorReport, Report};

pub struct Status {
    interrupt: Interrupt,
    ticker: Ticker,
    told_seeds: bool,
    /// Whether figures are somebody else's to show.
    silent: bool,
}

impl Status {
    /// For a campaign, or for a worker of several.
    pub fn new(interrupt: Interrupt, seed: u64, worker: bool) -> Status {
        if !worker {
            terminal::say(&format!("seed {seed}\n"));
        }
        Status { silent: worker, ..Status::quiet(interrupt) }
    }

    /// For all workers.
    pub fn quiet(interrupt: Interrupt) -> Status {
        Status { interrupt, ticker: Ticker::new(), told_seeds: false, silent: false }
    }

    /// Leaves the last line as it is.
    pub fn end(&mut self) {
        self.ticker.end();
    }

    fn report(&mut self, report: &Report) {
        if !self.told_seeds && report.seeds.given > 0 && !report.grammar.is_empty() {
            self.told_seeds = true;
            self.ticker.say(&seeds(report));
        }
        if !self.silent {
            self.ticker.show(|| line(report), HEAD, || row(report));
        }
    }
}

impl Watch for Status {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Report(report) => self.report(report),
            other => self.ticker.tell(&other),
        }
    }

    fn stops(&mut self) -> bool {
        self.interrupt.asked()
    }
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
