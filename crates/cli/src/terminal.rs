//! What goes to standard error: messages for people.
//!
//! A message that cannot be written is dropped. There is nobody left to
//! tell, and what the command does is worth more than the message.

use std::io::{self, Write};
use wug_grammar::Diagnostic;
use wug_grammar::source::Sources;

/// Writes to standard error; colours are kept on a terminal only.
pub fn say(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Says what is wrong, with the look of a diagnostic.
pub fn error(message: &str) {
    say(&format!("\x1B[1m\x1B[91merror\x1B[0m\x1B[1m: {message}\x1B[0m\n"));
}

/// Says what may be wrong.
pub fn warning(message: &str) {
    say(&format!("\x1B[1m\x1B[93mwarning\x1B[0m\x1B[1m: {message}\x1B[0m\n"));
}

/// Says what to do about it.
pub fn help(message: &str) {
    say(&format!("\x1B[1m\x1B[96mhelp\x1B[0m: {message}\n\n"));
}

/// Shows diagnostics, a blank line behind each.
pub fn diagnostics(diagnostics: &[Diagnostic], sources: &Sources) {
    for diagnostic in diagnostics {
        say(&format!("{}\n\n", diagnostic.render(sources, true)));
    }
}

/// What the system says of an error, without its number.
pub fn without_number(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}
