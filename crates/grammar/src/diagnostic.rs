//! What is wrong with a grammar, said so that its author can mend it.
//!
//! Mistakes of users are collected as [`Diagnostic`]s; no text makes this
//! crate panic. Rendering is a pure function to a string.

use crate::source::{Sources, Span};
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The grammar works; a part of it does not do what it seems to.
    Warning,
    /// The grammar cannot be used.
    Error,
}

/// One mistake, with its places and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where; the first is the place of the mistake.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A place with what is to be said there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// May be empty: the caret says enough.
    pub text: String,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            labels: vec![Label { span, text: String::new() }],
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Says something at the first place.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.labels[0].text = text.into();
        self
    }

    /// Adds a second place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        self.labels.push(Label { span, text });
        self
    }

    /// Adds the way out.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// The message with its source lines, as plain text or with colours.
    pub fn render(&self, sources: &Sources, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let excerpts: Vec<Excerpt> = self.excerpts(sources);
        let mut group = level.primary_title(self.message.as_str()).elements(Vec::<Origin>::new());
        for excerpt in &excerpts {
            group = group.element(excerpt.snippet());
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }

    /// The labels' source lines, cut to a window: a grammar may be one line
    /// of many megabytes.
    fn excerpts<'a>(&'a self, sources: &'a Sources) -> Vec<Excerpt<'a>> {
        let mut excerpts: Vec<Excerpt> = Vec::new();
        for (at, label) in self.labels.iter().enumerate() {
            let Some((file, range)) = sources.resolve(label.span) else {
                continue;
            };
            let text = file.text();
            let line_start = text[..range.start].iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
            let line_end =
                |from: usize| text[from..].iter().position(|&b| b == b'\n').map_or(text.len(), |i| from + i);
            // A span of several lines is shown by its first.
            let line_end = line_end(range.start).max(range.start);
            let end = range.end.clamp(range.start, line_end);
            let from = line_start.max(range.start.saturating_sub(WINDOW));
            let to = line_end.min(end.saturating_add(WINDOW)).min(range.start + 4 * WINDOW);
            let lossy = |r: &[u8]| String::from_utf8_lossy(r).into_owned();
            let before = lossy(&text[from..range.start]);
            let marked = lossy(&text[range.start..end.min(to)]);
            let after = lossy(&text[end.min(to)..to]);
            let mark = before.len()..before.len() + marked.len();
            let line = text[..range.start].iter().filter(|&&b| b == b'\n').count() + 1;
            excerpts.push(Excerpt {
                name: &file.name,
                line,
                text: format!("{before}{marked}{after}"),
                mark,
                label: &label.text,
                primary: at == 0,
            });
        }
        excerpts
    }
}

/// Bytes of a line shown on each side of a mark.
const WINDOW: usize = 60;

struct Excerpt<'a> {
    name: &'a str,
    line: usize,
    text: String,
    mark: std::ops::Range<usize>,
    label: &'a str,
    primary: bool,
}

impl Excerpt<'_> {
    fn snippet(&self) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
        let kind = if self.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let mut annotation = kind.span(self.mark.clone());
        if !self.label.is_empty() {
            annotation = annotation.label(self.label);
        }
        Snippet::source(self.text.as_str()).line_start(self.line).path(self.name).annotation(annotation)
    }
}

/// Collects the mistakes of one grammar.
#[derive(Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
}

/// More errors than this are counted, not kept.
const MAX_ERRORS: usize = 50;

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Error {
            self.errors += 1;
        }
        if self.list.len() < MAX_ERRORS || self.errors == 1 {
            self.list.push(diagnostic);
        }
    }

    /// How many errors there were.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Those that were kept, in order.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }
}

/// Renders several, one after the other.
pub fn render_all(diagnostics: &[Diagnostic], sources: &Sources, colour: bool) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        out.push_str(&diagnostic.render(sources, colour));
        out.push('\n');
    }
    out
}

/// The name nearest to `wanted` by edit distance, if it is near enough to
/// be a likely slip.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match wanted.chars().count() {
        // Of names this short, any two are alike but for case.
        0..=2 => 0,
        len => (len / 3).clamp(1, 3),
    };
    if wanted.len() > 64 {
        return None;
    }
    names
        .filter(|name| name.len() <= 64 && name.len().abs_diff(wanted.len()) <= limit * 4)
        .map(|name| (distance(wanted, name), name))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, name)| name)
}

/// Edits (insert, drop, replace, swap neighbours) between two short words,
/// case ignored.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = row[j] + usize::from(x != y);
            let mut least = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                least = least.min(above[j - 1] + 1);
            }
            next.push(least);
        }
        above = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
