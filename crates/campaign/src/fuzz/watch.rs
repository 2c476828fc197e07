//! The observer of a campaign: what it is told, and what it decides.

use wug_folder::report::{CrashReport, Report};

/// What the observer of a campaign is told.
#[derive(Debug)]
pub enum Event<'a> {
    /// The current statistics; every second or so.
    Report(&'a Report),
    /// The first crash of a new bucket.
    Crash(&'a CrashReport),
    /// The disk is full: the campaign waits.
    Paused(&'a wug_folder::Error),
    /// Something that a person should know.
    Notice(String),
}

/// Observes a campaign, and decides whether it goes on.
pub trait Watch {
    /// Something happened.
    fn event(&mut self, event: Event<'_>);
    /// Whether the campaign is to end. Asked before every execution.
    fn stops(&mut self) -> bool;
}
