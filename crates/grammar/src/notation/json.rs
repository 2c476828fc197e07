//! A pull reader of JSON with places.
//!
//! In:  a text.
//! Out: values one by one, as the caller asks for them; texts are borrowed
//!      from the source, or from one reused buffer when they hold escapes.
//!
//! A tree of values was rejected: it costs an allocation for each symbol
//! of a grammar, and it forgets where each value stood.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;

/// A place in a JSON text.
#[derive(Debug)]
pub struct Json<'a> {
    text: &'a str,
    at: usize,
    base: u32,
    buffer: String,
    /// The error on its way up follows from one that is reported.
    said: bool,
}

/// A result, or what is wrong with the text.
pub type Step<T = ()> = Result<T, Box<Diagnostic>>;

/// What a value is, told by its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `{ … }`
    Object,
    /// `[ … ]`
    List,
    /// `"…"`
    Text,
    /// A number.
    Number,
    /// `true`, `false` or `null`.
    Word(&'static str),
}

impl Shape {
    /// For messages.
    pub fn describe(self) -> &'static str {
        match self {
            Shape::Object => "an object",
            Shape::List => "a list",
            Shape::Text => "a text",
            Shape::Number => "a number",
            Shape::Word("null") => "`null`",
            Shape::Word(_) => "a truth value",
        }
    }
}

/// An object or a list whose end is not yet reached.
#[derive(Debug)]
pub struct Open {
    at: usize,
    close: u8,
    first: bool,
}

/// A text value.
#[derive(Clone, Copy, Debug)]
pub struct Text<'j> {
    /// The characters, escapes resolved.
    pub text: &'j str,
    /// Where it stands, quotes included.
    pub span: Span,
    /// Without escapes: each byte of `text` stands one behind its offset
    /// in `span`.
    pub exact: bool,
}

impl Text<'_> {
    /// Where the bytes from `start` to `end` of it stand; all of it, where
    /// escapes hide that.
    pub fn part(&self, start: usize, end: usize) -> Span {
        if !self.exact {
            return self.span;
        }
        let first = self.span.start + 1;
        Span::new(first + start as u32, first + end as u32)
    }
}

/// The borders of a text, before it is borrowed.
struct Scanned {
    open: usize,
    exact: bool,
}

impl<'a> Json<'a> {
    /// At the start of `text`, whose first byte has offset `base`.
    pub fn new(text: &'a str, base: u32) -> Json<'a> {
        let at = if text.starts_with('\u{FEFF}') { 3 } else { 0 };
        Json { text, at, base, buffer: String::new(), said: false }
    }

    /// The next character that is not white space.
    pub fn here(&mut self) -> Span {
        self.space();
        self.one()
    }

    /// What comes next.
    #[inline]
    pub fn shape(&mut self) -> Step<Shape> {
        self.space();
        match self.byte() {
            Some(b'"') => Ok(Shape::Text),
            Some(b'[') => Ok(Shape::List),
            Some(b'{') => Ok(Shape::Object),
            Some(b'-' | b'0'..=b'9') => Ok(Shape::Number),
            _ => self.word().map(Shape::Word).ok_or_else(|| self.expected("a value")),
        }
    }

    /// Passes the bracket that [`Json::shape`] saw.
    #[inline]
    pub fn open(&mut self) -> Open {
        let close = if self.byte() == Some(b'{') { b'}' } else { b']' };
        self.at += 1;
        Open { at: self.at - 1, close, first: true }
    }

    /// Whether there is another member, which comes next; if not, the end
    /// is passed.
    #[inline]
    pub fn more(&mut self, open: &mut Open) -> Step<bool> {
        self.space();
        let first = std::mem::replace(&mut open.first, false);
        match self.byte() {
            Some(b) if b == open.close => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !first => {
                let comma = self.one();
                self.at += 1;
                self.space();
                if self.byte() == Some(open.close) {
                    let error = Diagnostic::error(comma, "nothing follows this comma");
                    return Err(Box::new(error.help("JSON has commas only between two members: drop it")));
                }
                Ok(true)
            }
            Some(_) if first => Ok(true),
            None => Err(self.unclosed(open)),
            Some(_) => Err(self.expected(if open.close == b'}' { "`,` or `}`" } else { "`,` or `]`" })),
        }
    }

    /// A member's name and the colon behind it.
    #[inline]
    pub fn key(&mut self) -> Step<Text<'_>> {
        self.space();
        if self.byte() != Some(b'"') {
            return Err(self.expected("a name in double quotes"));
        }
        let scanned = self.scan()?;
        let end = self.at;
        self.space();
        if self.byte() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        Ok(self.view(&scanned, end))
    }

    /// The text that [`Json::shape`] saw.
    #[inline]
    pub fn text(&mut self) -> Step<Text<'_>> {
        let scanned = self.scan()?;
        let end = self.at;
        Ok(self.view(&scanned, end))
    }

    /// Reports a value of the wrong shape and passes it.
    pub fn wrong(&mut self, wanted: &str, found: Shape, help: &str, diags: &mut Diagnostics) -> Step {
        let here = self.here();
        let message = format!("expected {wanted}, found {}", found.describe());
        diags.push(Diagnostic::error(here, message).help(help));
        self.pass()
    }

    /// Passes a value that a mistake has been reported for.
    pub fn pass(&mut self) -> Step {
        self.skip().inspect_err(|_| self.said = true)
    }

    /// Reports what ended the reading, if that is news.
    pub fn report(&self, error: Diagnostic, diags: &mut Diagnostics) {
        if !self.said {
            diags.push(error);
        }
    }

    /// Passes a value, however deep, without looking at it.
    fn skip(&mut self) -> Step {
        let mut open: Vec<Open> = Vec::new();
        loop {
            match self.shape()? {
                Shape::Object | Shape::List => open.push(self.open()),
                Shape::Text => {
                    self.scan()?;
                }
                Shape::Number => {
                    let rest = &self.text[self.at..];
                    let number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
                    self.at += rest.find(|c| !number(c)).unwrap_or(rest.len());
                }
                Shape::Word(word) => self.at += word.len(),
            }
            loop {
                let Some(last) = open.last_mut() else { return Ok(()) };
                if self.more(last)? {
                    if last.close == b'}' {
                        self.key()?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }

    /// Whether nothing but white space is left.
    pub fn end(&mut self) -> Step {
        self.space();
        if self.at < self.text.len() { Err(self.expected("the end of the text")) } else { Ok(()) }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
    }

    fn word(&self) -> Option<&'static str> {
        ["true", "false", "null"].into_iter().find(|word| self.text[self.at..].starts_with(word))
    }

    /// Passes a text; its escapes are resolved into the buffer.
    #[inline]
    fn scan(&mut self) -> Step<Scanned> {
        let open = self.at;
        let bytes = self.text.as_bytes();
        let mut at = open + 1;
        while let Some(&b) = bytes.get(at) {
            if PLAIN[usize::from(b)] {
                at += 1;
            } else if b == b'"' {
                self.at = at + 1;
                return Ok(Scanned { open, exact: true });
            } else {
                break;
            }
        }
        self.scan_escapes(open, at)
    }

    #[cold]
    fn unended(&self, open: usize) -> Box<Diagnostic> {
        let error = Diagnostic::error(self.span(open, open + 1), "this text does not end");
        Box::new(error.help("close it with `\"`"))
    }

    /// The rest of a text from its first escape on.
    fn scan_escapes(&mut self, open: usize, first: usize) -> Step<Scanned> {
        self.buffer.clear();
        self.buffer.push_str(&self.text[open + 1..first]);
        self.at = first;
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(|b| !PLAIN[usize::from(b)]).unwrap_or(rest.len());
            self.buffer.push_str(&rest[..plain]);
            self.at += plain;
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Scanned { open, exact: false });
                }
                Some(b'\\') => self.escape()?,
                Some(b'\n' | b'\r') => {
                    let error =
                        Diagnostic::error(self.span(open, self.at), "this text does not end on its line");
                    return Err(Box::new(
                        error.help("close it with `\"`; a line break inside is written `\\n`"),
                    ));
                }
                Some(b) => {
                    let error =
                        Diagnostic::error(self.one(), format!("byte {b:02X} cannot stand in a JSON text"));
                    return Err(Box::new(error.help(format!("write it as `\\u{b:04X}`"))));
                }
                None => return Err(self.unended(open)),
            }
        }
    }

    fn escape(&mut self) -> Step {
        let at = self.at;
        self.at += 2;
        let c = match self.text.as_bytes().get(at + 1) {
            Some(&c @ (b'"' | b'\\' | b'/')) => c as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(at),
            _ => {
                let error = Diagnostic::error(self.span(at, at + 1), "unknown escape");
                return Err(Box::new(error.help(
                    "there are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uHHHH; a backslash itself is `\\\\`",
                )));
            }
        };
        self.buffer.push(c);
        Ok(())
    }

    /// `\uHHHH`, or two of them that are one character.
    fn unicode(&mut self, at: usize) -> Step {
        let Some(unit) = self.hex4(at) else {
            let error = Diagnostic::error(self.span(at, at + 2), "`\\u` needs four hexadecimal digits");
            return Err(Box::new(error.help("for example `\\u00E9`")));
        };
        self.at = at + 6;
        if let Some(c) = char::from_u32(unit) {
            self.buffer.push(c);
            return Ok(());
        }
        let low = self.hex4(at + 6).filter(|low| (0xDC00..0xE000).contains(low) && unit < 0xDC00);
        match low.and_then(|low| char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))) {
            Some(c) => {
                self.at = at + 12;
                self.buffer.push(c);
                Ok(())
            }
            None => {
                let error = Diagnostic::error(self.span(at, at + 6), "half of a character");
                Err(Box::new(error.help("characters above FFFF are written as a pair, `\\uD83D\\uDE00`")))
            }
        }
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.text.as_bytes().get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |value, &b| Some(value * 16 + (b as char).to_digit(16)?))
    }

    #[inline]
    fn view(&self, scanned: &Scanned, end: usize) -> Text<'_> {
        let text = if scanned.exact { &self.text[scanned.open + 1..end - 1] } else { &self.buffer };
        Text { text, span: self.span(scanned.open, end), exact: scanned.exact }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    fn one(&self) -> Span {
        let len = match self.byte() {
            Some(0..=0x7F) => 1,
            _ => self.text[self.at..].chars().next().map_or(0, char::len_utf8),
        };
        self.span(self.at, self.at + len)
    }

    #[cold]
    fn unclosed(&self, open: &Open) -> Box<Diagnostic> {
        let (what, close) = if open.close == b'}' { ("object", '}') } else { ("list", ']') };
        let error = Diagnostic::error(self.span(open.at, open.at + 1), format!("this {what} does not end"));
        Box::new(error.help(format!("close it with `{close}`")))
    }

    #[cold]
    fn expected(&self, what: &str) -> Box<Diagnostic> {
        let next = self.text[self.at..].chars().next();
        let found = match next {
            None => "the end of the text".to_string(),
            Some(c @ ('"' | '\'')) => format!("`{c}`"),
            Some(c) => format!("`{}`", c.escape_debug()),
        };
        let error = Diagnostic::error(self.one(), format!("expected {what}, found {found}"));
        Box::new(match next {
            Some('\'') => error.help("JSON puts texts into double quotes"),
            Some('/' | '#') => error.help("JSON has no comments"),
            Some('"' | '[' | '{') if what.starts_with("`,`") => error.help("is a comma missing before it?"),
            _ => error,
        })
    }
}

/// Bytes that stand for themselves in a text.
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut at = 0;
    while at < 0x20 {
        plain[at] = false;
        at += 1;
    }
    plain[b'"' as usize] = false;
    plain[b'\\' as usize] = false;
    plain
};

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> Result<String, String> {
        let mut reader = Json::new(json, 0);
        reader.shape().map_err(|e| e.message)?;
        reader.text().map(|t| t.text.to_string()).map_err(|e| e.message)
    }

    #[test]
    fn escapes_are_resolved_as_serde_json_does() {
        wug_property::check(|u| {
            let pieces = [
                "a", "é", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\t", "\\r", "\\u00e9",
                "\\uD83D", "\\uDE00", "\\u12", "\\x", "\\", "\n", "\u{1}", "<a>", "\\u0000",
            ];
            let mut json = String::from("\"");
            for _ in 0..u.int_in_range(0..=8)? {
                json.push_str(u.choose(&pieces)?);
            }
            json.push('"');
            let ours = text(&json).and_then(|t| {
                let mut reader = Json::new(&json, 0);
                reader.skip().and_then(|()| reader.end()).map(|()| t).map_err(|e| e.message)
            });
            let theirs = serde_json::from_str::<String>(&json);
            assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{json} {ours:?}");
            Ok(())
        })
        .for_cases(600);
    }

    #[test]
    fn values_are_accepted_as_serde_json_does() {
        wug_property::check(|u| {
            let pieces = ["[", "]", "{", "}", ",", ":", "\"a\"", "1", "-2.5e1", "true", "null", " "];
            let mut json = String::new();
            for _ in 0..u.int_in_range(0..=12)? {
                json.push_str(u.choose(&pieces)?);
                json.push(' ');
            }
            let mut reader = Json::new(&json, 0);
            let ours = reader.skip().and_then(|()| reader.end());
            let theirs = serde_json::from_str::<serde_json::Value>(&json);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{json} {ours:?}");
            Ok(())
        })
        .for_cases(600);
    }

    #[test]
    fn a_part_of_a_text_has_its_own_place() {
        let mut reader = Json::new(" \"abc\"", 10);
        reader.shape().unwrap();
        let found = reader.text().unwrap();
        assert_eq!((found.span, found.part(1, 2)), (Span::new(11, 16), Span::new(13, 14)));
    }
}
