//! A parser with a bug: nested brackets, a keyword, and a slice out of range.

/// How deep brackets nest, or none if they do not match.
pub fn depth(text: &[u8]) -> Option<usize> {
    match text.split_first() {
        None => Some(0),
        Some((b'[', rest)) => depth(rest.strip_suffix(b"]")?).map(|n| n + 1),
        Some(_) if text == "keyword".as_bytes() => Some(100),
        Some((b'!', rest)) => Some(usize::from(rest[3])),
        Some(_) => None,
    }
}
