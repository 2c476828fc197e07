//! What a worker tells the process that started it: a line of JSON each, on
//! standard output.

use serde::{Deserialize, Serialize};
use std::io::Write;
use wug_campaign::fuzz::Event;
use wug_folder::report::{CrashReport, Report};

/// One thing that a worker says.
#[derive(Serialize, Deserialize)]
pub enum Word {
    /// Its figures.
    Report(Box<Report>),
    /// A crash at a place where it had none.
    Crash(CrashReport),
    /// Something that a person should know.
    Note {
        /// What kind of a note it is.
        kind: String,
        /// In one line.
        text: String,
    },
    /// Why it cannot go on.
    Failed(String),
    /// No word of a worker, but of its target (AFL_DEBUG_CHILD).
    Other(String),
}

/// How lines begin that are words.
const MARK: &str = "wug-word ";

impl Word {
    /// What happened.
    pub fn of(event: &Event<'_>) -> Word {
        let note = |kind: &str, text: String| Word::Note { kind: kind.into(), text };
        match event {
            Event::Report(report) => Word::Report(Box::new((*report).clone())),
            Event::Crash(crash) => Word::Crash((*crash).clone()),
            Event::Paused(why) => note("waiting", why.to_string()),
            Event::Notice(text) => note("note", text.clone()),
        }
    }

    /// Says it.
    pub fn say(&self) {
        let Ok(json) = serde_json::to_string(self) else { return };
        let mut out = std::io::stdout().lock();
        // If nobody listens, this process is about to end.
        let _ = writeln!(out, "{MARK}{json}").and_then(|()| out.flush());
    }

    /// Reads what a worker said.
    pub fn read(line: String) -> Word {
        match line.strip_prefix(MARK).and_then(|json| serde_json::from_str(json).ok()) {
            Some(word) => word,
            None => Word::Other(line),
        }
    }
}
