//! Takes the page breaks out of the text of an RFC.
//!
//! In:  a text.
//! Out: the same text with blanks in place of form feeds, of the lines at
//!      the foot of pages (`… [Page 12]`) and of those at the head of the
//!      next (`RFC 7230 … June 2014`). Lengths stay, so that places do.

use std::borrow::Cow;

/// The text without page breaks.
pub fn without_breaks(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{C}') && !text.contains("[Page ") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    // A page has begun, and its first line is still to come.
    let mut fresh = false;
    for line in text.split_inclusive('\n') {
        let feeds = line.contains('\u{C}');
        fresh |= feeds;
        let words = line.replace('\u{C}', " ");
        let is_break = is_foot(&words) || fresh && is_head(&words);
        if is_break {
            out.extend(line.bytes().map(|b| if matches!(b, b'\n' | b'\r') { b as char } else { ' ' }));
        } else {
            out.push_str(&words);
        }
        fresh = if is_foot(&words) { true } else { fresh && (words.trim().is_empty() && !is_break) };
    }
    Cow::Owned(out)
}

/// `Fielding & Reschke          Standards Track                   [Page 12]`
fn is_foot(line: &str) -> bool {
    let Some((before, number)) = line.trim_end().strip_suffix(']').and_then(|l| l.rsplit_once("[Page "))
    else {
        return false;
    };
    let number = number.trim();
    // Comments and rules may speak of pages.
    !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit() || "ivxlc".contains(c))
        && !before.contains([';', '='])
}

/// `RFC 7230           HTTP/1.1 Message Syntax and Routing         June 2014`
fn is_head(line: &str) -> bool {
    let line = line.trim();
    if line.contains([';', '=']) {
        return false;
    }
    let rfc = line.strip_prefix("RFC ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let year =
        line.get(line.len().saturating_sub(4)..).is_some_and(|y| y.bytes().all(|b| b.is_ascii_digit()));
    (rfc || line.starts_with("Internet-Draft") || line.starts_with("INTERNET-DRAFT"))
        || year && line.contains("  ")
}
