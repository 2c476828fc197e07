//! Texts without characters that a terminal obeys.
//!
//! In:  text of any origin.
//! Out: the same with such characters written as escapes.
//!
//! These are the control characters (C0 but for line breaks and tabs, DEL,
//! C1), and those that change the order or the look of what stands around
//! them without being seen: marks of direction, separators of lines, joiners,
//! tags.

use std::borrow::Cow;
use std::io::{self, Write};

/// Whether a terminal would do something else with it than show it.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A text of several lines, fit for a terminal.
pub fn clean(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_obeyed(c) && !matches!(c, '\n' | '\t'), push_escape)
}

/// A text of one line, fit for a terminal: what breaks lines is escaped too.
pub fn clean_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed, push_escape)
}

/// JSON, fit for a terminal: there, such characters can only stand in
/// strings, which have escapes of their own. Line breaks are its layout.
pub fn clean_json(text: &str) -> Cow<'_, str> {
    let obeyed = |c| is_obeyed(c) && !matches!(c, '\n' | '\t' | '\r');
    escaped(text, obeyed, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

fn escaped(text: &str, obeyed: impl Fn(char) -> bool, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(&obeyed) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if obeyed(c) { escape(c, &mut out) } else { out.push(c) }
    }
    out.into()
}

fn push_escape(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_ascii() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
    }
}

/// Inputs on their way to a terminal: bytes that are no text are escaped as
/// well.
pub struct Screen<W>(pub W);

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for chunk in bytes.utf8_chunks() {
            self.0.write_all(clean(chunk.valid()).as_bytes())?;
            for byte in chunk.invalid() {
                write!(self.0, "\\x{byte:02x}")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_escaped() {
        assert_eq!(clean("plain, ü·…\n\tlines"), "plain, ü·…\n\tlines");
        assert_eq!(clean("\u{1b}[31m\u{7}\r\0\u{7f}"), "\\x1b[31m\\x07\\r\\x00\\x7f");
        assert_eq!(clean("\u{9b}2J \u{202e}evil"), "\\u{9b}2J \\u{202e}evil");
        assert_eq!(clean_line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn nothing_that_is_obeyed_gets_through_and_json_stays_the_same_value() {
        let all: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
        for shown in [clean(&all), clean_line(&all)] {
            assert!(shown.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')));
        }
        let json = serde_json::to_string_pretty(&[&all]).expect("JSON");
        let shown = clean_json(&json);
        assert!(shown.chars().all(|c| !c.is_control() || c == '\n'));
        assert_eq!(serde_json::from_str::<[String; 1]>(&shown).expect("JSON"), [all]);
    }

    #[test]
    fn bytes_of_an_input_are_escaped_where_they_are_no_text() {
        let mut screen = Screen(Vec::new());
        screen.write_all(b"a\xff\x1b[0m\xc3\xbc\n").expect("room");
        assert_eq!(String::from_utf8(screen.0).expect("text"), "a\\xff\\x1b[0mü\n");
    }
}
