//! What goes to a terminal: messages for people on standard error, reports on
//! standard output.
//!
//! In:  texts of any origin: names of files and functions, reports of
//!      sanitizers, inputs.
//! Out: the same with no character that a terminal would obey ([`clean()`]), in
//!      our colours.
//!
//! Everything passes through [`clean()`] here; what this module adds itself
//! (colours, the erasing of a line) is added behind it.
//!
//! A message that cannot be written is dropped. There is nobody left to
//! tell, and what the command does is worth more than the message.

mod clean;

pub use clean::{Screen, clean, clean_json, clean_line};

use std::io::{self, IsTerminal, Write};
use wug_grammar::Diagnostic;
use wug_grammar::source::Sources;

/// Writes to standard error as it is; colours are kept on a terminal only.
fn put(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Writes to standard error.
pub fn say(text: &str) {
    put(&clean(text));
}

/// Says what is wrong, with the look of a diagnostic.
pub fn error(message: &str) {
    put(&format!("\x1B[1m\x1B[91merror\x1B[0m\x1B[1m: {}\x1B[0m\n", clean(message)));
}

/// Says what may be wrong.
pub fn warning(message: &str) {
    put(&format!("\x1B[1m\x1B[93mwarning\x1B[0m\x1B[1m: {}\x1B[0m\n", clean(message)));
}

/// Says what to do about it.
pub fn help(message: &str) {
    put(&format!("\x1B[1m\x1B[96mhelp\x1B[0m: {}\n\n", clean(message)));
}

/// Says what a campaign found: where it is, and its file.
pub fn found(place: &str, file: &str) {
    put(&format!("\x1B[1m\x1B[91mfound\x1B[0m: {}\n       {}\n", clean_line(place), clean_line(file)));
}

/// Writes a line over the one before, cut to the width of the terminal.
pub fn overwrite(line: &str) {
    // There is room for what a terminal writes of Ctrl-C.
    put(&format!("\r\x1B[K{}", cut(&clean_line(line), width().saturating_sub(2))));
}

/// Removes that line.
pub fn erase() {
    put("\r\x1B[K");
}

/// A row of a table, cut if it goes to a terminal.
pub fn row(line: &str) {
    let line = clean_line(line);
    let shown = if io::stderr().is_terminal() { cut(&line, width()) } else { line.into_owned() };
    put(&format!("{shown}\n"));
}

/// Shows diagnostics, a blank line behind each. Where one holds characters
/// that a terminal would obey, it goes without colours, which could not be
/// told from these.
pub fn diagnostics(diagnostics: &[Diagnostic], sources: &Sources) {
    for diagnostic in diagnostics {
        let plain = diagnostic.render(sources, false);
        let safe = clean(&plain);
        match safe == plain {
            true => put(&format!("{}\n\n", diagnostic.render(sources, true))),
            false => put(&format!("{safe}\n\n")),
        }
    }
}

/// Columns of the terminal that standard error is.
fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(80)
}

/// As much of a line as fits into so many columns, but for the last, where
/// some terminals begin another line.
fn cut(line: &str, columns: usize) -> String {
    let most = columns.saturating_sub(1);
    if line.chars().count() <= most {
        return line.to_string();
    }
    line.chars().take(most.saturating_sub(1)).chain((most > 0).then_some('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn lines_are_cut_to_what_fits() {
        assert_eq!(cut("12345678", 9), "12345678");
        assert_eq!(cut("12345678", 8), "123456…");
        assert_eq!(cut("··········", 5), "···…");
        assert_eq!(cut("12", 2), "…");
        assert_eq!(cut("12", 1), "");
        assert_eq!(cut("12", 0), "");
    }
}
