//! What a program says when it gives up: a failed assertion, a panic, an
//! exception that nobody caught, a complaint of libc.
//!
//! In:  what a target wrote.
//! Out: what is the same for all inputs that fail alike ([`Said`]): the place
//!      and the condition as they are, what is said besides without numbers,
//!      addresses and quoted texts.
//!
//! The stack alone does not tell such crashes apart: compilers merge the ends
//! of functions, so two assertions may fail by the same call.

use std::fmt;

/// The longest line that is kept, in characters.
const MAX_LENGTH: usize = 200;
/// How complaints of libc begin.
const COMPLAINTS: [&str; 18] = [
    "*** stack smashing detected ***",
    "*** buffer overflow detected ***",
    "*** bit out of range",
    "*** longjmp causes",
    "*** %n in writable segment",
    "free(): ",
    "malloc(): ",
    "calloc(): ",
    "realloc(): ",
    "double free or corruption",
    "munmap_chunk(): ",
    "mremap_chunk(): ",
    "malloc_consolidate(): ",
    "corrupted size vs",
    "corrupted double-linked list",
    "break adjusted to free malloc space",
    "Fatal glibc error: ",
    "pure virtual method called",
];

/// What a program said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// What is in the program's text: place and condition, a type, a
    /// complaint.
    pub place: String,
    /// What may be made of the input; empty if nothing is.
    pub message: String,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

impl Said {
    fn new(place: &str, message: &str) -> Said {
        Said { place: cut(place), message: cut(&normal(message)) }
    }
}

/// The last that a target said; of panics the last outside of Rust's own
/// code, since that one follows from another.
pub fn read(output: &[u8]) -> Option<Said> {
    let text = String::from_utf8_lossy(output);
    let mut found: Option<Said> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(said) = said(line.trim_end(), lines.peek().copied()) else { continue };
        let inner =
            ["panic at library/", "panic at /rustc/"].iter().any(|inner| said.place.starts_with(inner));
        if !inner || found.is_none() {
            found = Some(said);
        }
    }
    found
}

fn said(line: &str, next: Option<&str>) -> Option<Said> {
    if let Some(said) = assertion(line) {
        return Some(said);
    }
    if let Some((_, panic)) = line.split_once(" panicked at ") {
        return Some(rust_panic(panic, next));
    }
    if let Some((_, of)) = line.split_once("terminate called after throwing an instance of ") {
        let what = next.and_then(|next| next.trim_start().strip_prefix("what():"));
        return Some(Said::new(&format!("uncaught {}", of.trim_matches('\'')), what.unwrap_or_default()));
    }
    if let Some((_, rest)) = line.split_once("uncaught exception of type ") {
        let (of, what) = rest.split_once(": ").unwrap_or((rest, ""));
        return Some(Said::new(&format!("uncaught {of}"), what));
    }
    let complaint = line.starts_with("terminate called ")
        || COMPLAINTS.iter().any(|complaint| line.starts_with(complaint));
    complaint.then(|| Said::new(&normal(line), ""))
}

/// `program: file.c:12: function: Assertion `x' failed.`, the same without
/// the program, `Assertion failed: x (file.c: function: 12)`, and
/// `ERROR:file.c:12:function: assertion failed (x)`.
fn assertion(line: &str) -> Option<Said> {
    if let Some(at) = line.find("Assertion failed: ") {
        return Some(Said::new(&line[at..], ""));
    }
    if let Some(at) = line.find("Assertion ").filter(|_| line.ends_with("failed.")) {
        let places: Vec<&str> = line[..at].split(": ").filter(|part| !part.is_empty()).collect();
        let place = places[places.len().saturating_sub(2)..].join(": ");
        return Some(Said::new(&format!("{place}: {}", &line[at..]), ""));
    }
    let at = line.find(": assertion failed").filter(|_| line.starts_with("ERROR:"))?;
    Some(Said::new(&line[..at], &line[at + 2..]))
}

/// `src/main.rs:3:5:` with the message on the next line, or, as older
/// versions have it, `'message', src/main.rs:3:5`.
fn rust_panic(panic: &str, next: Option<&str>) -> Said {
    let (place, message) = match panic.strip_suffix(':') {
        Some(place) => (place, next.unwrap_or_default()),
        None => panic.rsplit_once(", ").map_or((panic, ""), |(message, place)| (place, message)),
    };
    Said::new(&format!("panic at {place}"), message.trim_matches('\''))
}

/// Leaves out what differs from input to input.
pub fn normal(text: &str) -> String {
    let characters: Vec<char> = text.chars().take(4 * MAX_LENGTH).collect();
    let mut out = String::new();
    let mut at = 0;
    while at < characters.len() {
        let character = characters[at];
        let in_word = at > 0 && (characters[at - 1].is_alphanumeric() || characters[at - 1] == '_');
        let quoted = |longest: usize| {
            let rest = characters[at + 1..].iter().take(longest);
            rest.clone().position(|other| *other == character).map(|length| at + 2 + length)
        };
        let end = match character {
            '0'..='9' if !in_word => {
                let number = |c: &char| c.is_alphanumeric() || *c == '.';
                // A dot ends a sentence unless a digit follows.
                let mut end = at + characters[at..].iter().take_while(|c| number(c)).count();
                while characters[end - 1] == '.' {
                    end -= 1;
                }
                if out.ends_with('-') {
                    out.pop();
                }
                out.push('#');
                end
            }
            '"' if let Some(end) = quoted(usize::MAX) => {
                out.push_str("\"\"");
                end
            }
            // An apostrophe inside of a word quotes nothing.
            '\'' if !in_word && let Some(end) = quoted(16) => {
                out.push_str("''");
                end
            }
            _ => {
                out.push(character);
                at + 1
            }
        };
        at = end;
    }
    out
}

/// One line of bounded length without control characters.
pub fn cut(text: &str) -> String {
    plain(text, MAX_LENGTH)
}

/// A text of so many characters at most, without control characters.
pub fn plain(text: &str, most: usize) -> String {
    let plain = |c: char| if c.is_control() { '?' } else { c };
    text.trim().chars().take(most).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: &str) {
        let said = read(output.as_bytes()).map(|said| said.to_string());
        assert_eq!(said.as_deref(), Some(expected));
    }

    #[test]
    fn assertions_keep_place_and_condition() {
        check(
            "a.out: a.c:12: parse: Assertion `x > 0' failed.\n",
            "a.c:12: parse: Assertion `x > 0' failed.",
        );
        check(
            "/s.h:9: T& f(int): Assertion 'n < 3' failed.\n",
            "/s.h:9: T& f(int): Assertion 'n < 3' failed.",
        );
        check("Assertion failed: x (a.c: f: 3)", "Assertion failed: x (a.c: f: 3)");
        check(
            "ERROR:a.c:3:f: assertion failed (x == 2): (7 == 2)",
            "ERROR:a.c:3:f: assertion failed (x == #): (# == #)",
        );
    }

    #[test]
    fn panics_keep_their_place_and_lose_numbers() {
        let text = "thread 'main' (77) panicked at src/main.rs:3:5:\nindex out of bounds: the len is 3 but the index is 48\nnote: run";
        check(text, "panic at src/main.rs:3:5: index out of bounds: the len is # but the index is #");
        let older = "thread 'main' panicked at 'bad \"abc\"', src/main.rs:3:5\n";
        check(older, "panic at src/main.rs:3:5: bad \"\"");
        let twice = "thread 'main' panicked at a.rs:1:1:\nfirst\nthread 'main' panicked at library/core/src/panicking.rs:2:2:\npanic in a destructor\n";
        check(twice, "panic at a.rs:1:1: first");
    }

    #[test]
    fn exceptions_and_complaints_are_told() {
        let what = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  __n (which is 48) >= this->size() (which is 3)\n";
        check(what, "uncaught std::out_of_range: __n (which is #) >= this->size() (which is #)");
        check("terminate called after throwing an instance of 'int'\nAborted", "uncaught int");
        check("terminate called without an active exception", "terminate called without an active exception");
        check("free(): double free detected in tcache 2\n", "free(): double free detected in tcache #");
        assert_eq!(read(b"all is well\n"), None);
    }

    #[test]
    fn what_differs_from_input_to_input_is_left_out() {
        assert_eq!(
            normal("at 0x7ffe12, -3 of u32 can't 'x' \"a b\" 1.5e3."),
            "at #, # of u32 can't '' \"\" #."
        );
        assert_eq!(cut("a\x1b[2J\tb"), "a?[2J?b");
    }
}
