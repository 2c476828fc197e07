//! What a person sees of something that runs for long: a line that changes,
//! or a row of a table every few seconds.

use crate::cli::terminal;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use wug_campaign::fuzz::Event;

/// How often the table gets a row, and how many rows have one head.
const ROW: Duration = Duration::from_secs(5);
const ROWS: u32 = 20;

pub struct Ticker {
    /// Whether one line is written over again and again.
    line: bool,
    /// Whether the line stands there now.
    shown: bool,
    next_row: Instant,
    rows: u32,
}

impl Ticker {
    /// A line on a terminal, unless AFL_NO_UI asks for the table.
    pub fn new() -> Ticker {
        let plain = std::env::var_os("AFL_NO_UI").is_some() || !std::io::stderr().is_terminal();
        Ticker { line: !plain, shown: false, next_row: Instant::now(), rows: 0 }
    }

    /// Shows figures: as a line, or as a row if it is time for one.
    pub fn show(&mut self, line: impl FnOnce() -> String, head: &str, row: impl FnOnce() -> String) {
        if self.line {
            terminal::overwrite(&line());
            self.shown = true;
        } else if Instant::now() >= self.next_row {
            self.next_row = Instant::now() + ROW;
            if self.rows.is_multiple_of(ROWS) {
                terminal::row(head);
            }
            self.rows += 1;
            terminal::row(&row());
        }
    }

    /// Says something that stays.
    pub fn say(&mut self, text: &str) {
        self.clear();
        terminal::say(text);
    }

    /// Says what happened, if it is more than figures.
    pub fn tell(&mut self, event: &Event<'_>) {
        match event {
            Event::Report(_) => {}
            Event::Crash(crash) => {
                self.clear();
                terminal::found(&crash.place, &crash.file);
            }
            Event::Paused(why) => self.note("waiting", &why.to_string()),
            Event::Notice(text) => self.note("note", text),
        }
    }

    /// Says something of one line.
    pub fn note(&mut self, kind: &str, text: &str) {
        self.say(&format!("{kind}: {}\n", terminal::clean_line(text)));
    }

    /// Leaves the last line as it is.
    pub fn end(&mut self) {
        if self.shown {
            terminal::say("\n");
            self.shown = false;
        }
    }

    fn clear(&mut self) {
        if self.shown {
            terminal::erase();
            self.shown = false;
        }
    }
}

/// Seconds as hours, minutes and seconds.
pub fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
