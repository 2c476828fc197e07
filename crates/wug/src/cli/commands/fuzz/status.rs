//! What a person sees of a campaign.

use super::Fuzz;
use super::summary::Summary;
use super::word::Word;
use crate::cli::interrupt::Interrupt;
use crate::cli::ticker::{Ticker, clock};
use crate::cli::{Outcome, terminal};
use std::path::PathBuf;
use wug_campaign::fuzz::{Event, Watch};
use wug_folder::report::{MutatorReport, Report};
use wug_target::End;

pub struct Status {
    interrupt: Interrupt,
    ticker: Ticker,
    told_seeds: bool,
    /// The last words; none in a worker, whose words go to who started it.
    summary: Option<Summary>,
}

impl Status {
    /// For a campaign.
    pub fn alone(fuzz: &Fuzz, interrupt: Interrupt, end: End) -> Status {
        let crashes = fuzz.output.join(fuzz.id_of(None)).join("crashes");
        Status::with(interrupt, Some(Summary::new(fuzz, crashes, end)))
    }

    /// For all workers of several.
    pub fn of_crew(fuzz: &Fuzz, interrupt: Interrupt, end: End) -> Status {
        Status::with(interrupt, Some(Summary::new(fuzz, PathBuf::from(&fuzz.output), end)))
    }

    /// For one of them.
    pub fn of_worker(interrupt: Interrupt) -> Status {
        Status::with(interrupt, None)
    }

    fn with(interrupt: Interrupt, summary: Option<Summary>) -> Status {
        Status { interrupt, ticker: Ticker::new(), told_seeds: false, summary }
    }

    /// Says which seed it is.
    pub fn seed(&mut self, seed: u64) {
        if self.summary.is_some() {
            self.ticker.say(&format!("seed {seed}\n"));
        }
    }

    /// Says something of one line.
    pub fn note(&mut self, kind: &str, text: &str) {
        self.ticker.note(kind, text);
    }

    /// Says what may be wrong.
    pub fn warn(&mut self, text: &str) {
        self.ticker.say("");
        terminal::warning(text);
    }

    /// Says what is wrong.
    pub fn fail(&mut self, text: &str) {
        self.ticker.say("");
        terminal::error(text.trim_end());
    }

    /// Passes on a line of a target.
    pub fn pass(&mut self, line: &str) {
        self.ticker.say(&format!("{}\n", terminal::clean_line(line)));
    }

    /// Tells what came of it, by these figures if there are any.
    pub fn finish(&mut self, report: &Report) -> Outcome {
        let Some(summary) = &self.summary else {
            Word::of(&Event::Report(report)).say();
            return Ok(());
        };
        summary.update(report);
        self.finish_as_known()
    }

    /// The same of a campaign that failed: only if it had begun.
    pub fn finish_failed(&mut self) {
        if self.summary.as_ref().is_some_and(Summary::has_figures) {
            let _ = self.finish_as_known();
        }
    }

    /// Tells what came of it, by the figures that were told last.
    pub fn finish_as_known(&mut self) -> Outcome {
        self.ticker.say("");
        self.summary.as_ref().map_or(Ok(()), Summary::tell)
    }

    fn report(&mut self, report: &Report) {
        let seeds_done = report.seeds.given > 0 && report.seeds.waiting == 0;
        if !self.told_seeds && seeds_done && !report.grammar.is_empty() {
            self.told_seeds = true;
            self.ticker.say(&seeds(report));
        }
        if report.execs_done > 0 {
            self.ticker.show(|| line(report), HEAD, || row(report));
        }
    }
}

impl Watch for Status {
    fn event(&mut self, event: Event<'_>) {
        let Some(summary) = &self.summary else { return Word::of(&event).say() };
        match event {
            Event::Report(report) => {
                summary.update(report);
                self.report(report);
            }
            other => {
                if let Event::Crash(crash) = &other {
                    summary.add(crash);
                }
                self.ticker.tell(&other);
            }
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
        let (name, message) = (terminal::clean_line(&stop.name), terminal::clean_line(&stop.message));
        text += &format!("  {name} stops at byte {}: {message}\n", stop.offset);
    }
    text
}

const HEAD: &str = "    time       execs   per s   edges  corpus  parsed crashes hangs  best mutators";

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

/// The line that changes: it may be cut.
fn line(report: &Report) -> String {
    let best = best(&report.mutators);
    if best.is_empty() { figures(report) } else { format!("{} · {best}", figures(report)) }
}

/// All figures in a line, the most important first.
pub fn figures(report: &Report) -> String {
    let several =
        |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut parts = vec![clock(report.run_time), several(report.saved_crashes, "crash", "crashes")];
    if report.saved_hangs > 0 {
        parts.push(several(report.saved_hangs, "hang", "hangs"));
    }
    parts.push(format!("{} execs, {:.0}/s", report.execs_done, report.execs_ps_last_min));
    parts.push(format!("{} of {} edges", report.edges_found, report.total_edges));
    parts.push(format!("corpus {}", report.corpus_count));
    let seeds = &report.seeds;
    if seeds.waiting > 0 {
        parts.push(format!("{} of {} seeds", seeds.given, seeds.given + seeds.waiting));
    }
    parts.join(" · ")
}

/// The mutators that found most, with their finds.
fn best(mutators: &[MutatorReport]) -> String {
    let mut found: Vec<&MutatorReport> =
        mutators.iter().filter(|mutator| mutator.finds > 0 && !mutator.is_stage).collect();
    found.sort_by_key(|mutator| std::cmp::Reverse(mutator.finds));
    let words = found.iter().take(3).map(|mutator| format!("{} {}", mutator.name, mutator.finds));
    words.collect::<Vec<_>>().join(", ")
}
