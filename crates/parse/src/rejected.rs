//! Where an input stops being one of the grammar.

use std::fmt;

/// A rejection, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The longest beginning that some input of the grammar has, in bytes.
    pub valid: usize,
    /// What stands there; nothing at the end of the input.
    pub found: Option<String>,
    /// What could have stood there: rules in grave accents, else terminals.
    pub expected: Vec<String>,
    /// The same as terminals alone.
    pub terminals: Vec<String>,
    /// The rules that were being read, the outermost first; of many, those
    /// that are innermost.
    pub rules: Vec<String>,
}

/// More than this is summed up in a message.
const MAX_LISTED: usize = 12;

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Some(found) => write!(f, "stops at `{found}`")?,
            None => f.write_str("stops at the end of the input")?,
        }
        match self.rules.last() {
            Some(rule) => write!(f, ": rule `{rule}` expected ")?,
            None => f.write_str(": expected ")?,
        }
        match &self.expected[..] {
            [] => f.write_str("something else"),
            [one] => f.write_str(one),
            many => {
                write!(f, "one of {}", many[..many.len().min(MAX_LISTED)].join(", "))?;
                match many.len().saturating_sub(MAX_LISTED) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
        }
    }
}

/// One-based line and column, in characters, of a byte of `text`.
pub fn place(text: &[u8], byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// The longest word that is shown.
const MAX_WORD: usize = 24;

/// What stands at a byte, as people would name it: a word, a character, or
/// a byte that is none.
pub(crate) fn word(text: &[u8], at: usize) -> Option<String> {
    let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
    let letters = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    if letters > 0 {
        let shown = String::from_utf8_lossy(&rest[..letters.min(MAX_WORD)]).into_owned();
        return Some(if letters > MAX_WORD { shown + "…" } else { shown });
    }
    let char = rest.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    Some(match char {
        Some(char) if char == ' ' || !(char.is_control() || char.is_whitespace()) => char.to_string(),
        Some(char) => char.escape_default().to_string(),
        None => format!("\\x{:02X}", rest[0]),
    })
}
