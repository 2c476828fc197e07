//! Grammar texts and places in them.
//!
//! All texts of one grammar (a file and what it imports) share one space
//! of offsets, so that a [`Span`] is two numbers and needs no file id.

use std::ops::Range;

/// All texts together may have this many bytes.
pub const MAX_TEXT: usize = 1 << 30;

/// A stretch of the texts in [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The place of what no text holds, such as a rule built by a program.
    pub const NONE: Span = Span { start: u32::MAX, end: u32::MAX };

    /// From `start` up to `end`, not included.
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        if self == Span::NONE {
            return other;
        }
        if other == Span::NONE {
            return self;
        }
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// One text with the name it is shown under.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name in messages, usually a path.
    pub name: String,
    text: Vec<u8>,
    base: u32,
}

impl Source {
    /// The bytes of the text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The offset of its first byte in the common space.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// The whole text as a span.
    pub fn span(&self) -> Span {
        Span::new(self.base, self.base + self.text.len() as u32)
    }
}

/// The texts that a grammar was read from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

/// A place as people name it: one-based line and column, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The text's name.
    pub name: &'a str,
    /// One-based line.
    pub line: usize,
    /// One-based column, counted in characters.
    pub column: usize,
}

impl Sources {
    /// Adds a text; `None` when all texts together would pass [`MAX_TEXT`].
    pub fn add(&mut self, name: impl Into<String>, text: Vec<u8>) -> Option<&Source> {
        // One byte apart, so that the end of one text is not the start of the next.
        let base = self.files.last().map_or(0, |f| f.span().end as usize + 1);
        if base + text.len() > MAX_TEXT {
            return None;
        }
        self.files.push(Source { name: name.into(), text, base: base as u32 });
        self.files.last()
    }

    /// The texts in the order of their offsets.
    pub fn files(&self) -> &[Source] {
        &self.files
    }

    /// The text that holds `span`, and the span within it.
    pub fn resolve(&self, span: Span) -> Option<(&Source, Range<usize>)> {
        if span == Span::NONE {
            return None;
        }
        let at = self.files.partition_point(|f| f.base <= span.start);
        let file = self.files.get(at.checked_sub(1)?)?;
        let start = (span.start - file.base) as usize;
        let end = (span.end.max(span.start) - file.base) as usize;
        let len = file.text.len();
        Some((file, start.min(len)..end.min(len)))
    }

    /// Line and column of the start of `span`.
    pub fn locate(&self, span: Span) -> Option<Location<'_>> {
        let (file, range) = self.resolve(span)?;
        let before = &file.text[..range.start];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        Some(Location { name: &file.name, line, column })
    }
}
