//! Dictionary files: a token on each line, `name="value"`.
//!
//! ```text
//! # a comment
//! keyword="while"
//! quote="\"\\\x00"
//! rare@2="only from level 2"
//! "no name"
//! ```
//!
//! As AFL++ does, the last `"` of a line ends the value, so quotes inside
//! need no `\`. What AFL++ refuses is refused here, except for bytes beyond
//! ASCII, which say what they mean.

use super::{MAX_TOKEN, MAX_TOKENS, Tokens};
use std::fmt::Write;

/// A mistake in a dictionary file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// The byte in it, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Mistakes that are told.
const MISTAKES: usize = 10;

/// Reads the tokens of a dictionary, those up to a level.
pub fn parse(text: &[u8], level: u32) -> Result<Vec<Vec<u8>>, Vec<Mistake>> {
    let (mut tokens, mut mistakes) = (Tokens::default(), Vec::new());
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        match parse_line(line) {
            Ok(Some((_, wanted))) if wanted > level => {}
            Ok(Some((token, _))) => tokens.add(&token),
            Ok(None) => {}
            Err((at, message)) => mistakes.push(Mistake { line: index + 1, column: at + 1, message }),
        }
        if tokens.list.len() == MAX_TOKENS || mistakes.len() == MISTAKES {
            break;
        }
    }
    if mistakes.is_empty() { Ok(tokens.list) } else { Err(mistakes) }
}

type Wrong = (usize, String);

/// A token and its level; none on an empty line. Mistakes come with their
/// place.
fn parse_line(line: &[u8]) -> Result<Option<(Vec<u8>, u32)>, Wrong> {
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(line.len());
    let text = line.trim_ascii_end();
    if start >= text.len() || text[start] == b'#' {
        return Ok(None);
    }
    let Some(open) = text.iter().position(|&byte| byte == b'"') else {
        return Err((start, "a token is written as name=\"value\"".into()));
    };
    let level = parse_name(&text[start..open]).map_err(|message| (start, message))?;
    let close = text.len() - 1;
    if text[close] != b'"' || close == open {
        return Err((close, "the line must end with the `\"` that ends the value".into()));
    }
    let token = unescape(&text[open + 1..close]).map_err(|(at, message)| (open + 1 + at, message))?;
    match token.len() {
        0 => Err((open, "the value is empty".into())),
        n if n > MAX_TOKEN => Err((open, format!("the value has {n} bytes, at most {MAX_TOKEN} are of use"))),
        _ => Ok(Some((token, level))),
    }
}

/// The level in `name@level=`.
fn parse_name(name: &[u8]) -> Result<u32, String> {
    let name = name.trim_ascii_end();
    let name = match name.strip_suffix(b"=") {
        Some(name) => name.trim_ascii_end(),
        None if name.is_empty() => return Ok(0),
        None => return Err("there must be `=` between the name and the value".into()),
    };
    let Some(at) = name.iter().position(|&byte| byte == b'@') else { return Ok(0) };
    let level = std::str::from_utf8(&name[at + 1..]).ok().and_then(|level| level.parse().ok());
    level.ok_or_else(|| "after `@` stands a level, a number".into())
}

fn unescape(value: &[u8]) -> Result<Vec<u8>, Wrong> {
    let mut token = Vec::with_capacity(value.len());
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        let hex = |at: usize| value.get(at).and_then(|&digit| char::from(digit).to_digit(16));
        let length = match (byte, value.get(at + 1)) {
            (b'\\', Some(&next @ (b'\\' | b'"'))) => {
                token.push(next);
                2
            }
            (b'\\', Some(b'x')) => {
                let (Some(high), Some(low)) = (hex(at + 2), hex(at + 3)) else {
                    return Err((at, "after `\\x` stand two hexadecimal digits".into()));
                };
                token.push((high * 16 + low) as u8);
                4
            }
            (b'\\', _) => return Err((at, "after `\\` stands `\\`, `\"` or `xNN`".into())),
            (0..0x20 | 0x7f, _) => return Err((at, format!("write this byte as \\x{byte:02x}"))),
            _ => {
                token.push(byte);
                1
            }
        };
        at += length;
    }
    Ok(token)
}

/// Writes tokens as a dictionary that AFL++ and libFuzzer read.
pub fn write<'a>(tokens: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut out = String::new();
    for (index, token) in tokens.into_iter().enumerate() {
        write!(out, "token_{index}=\"").expect("strings take everything");
        for &byte in token {
            match byte {
                b'\\' | b'"' => out.extend(['\\', char::from(byte)]),
                0x20..0x7f => out.push(char::from(byte)),
                _ => write!(out, "\\x{byte:02x}").expect("strings take everything"),
            }
        }
        out.push_str("\"\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_all_kinds_are_read() {
        let text = b"# comment\n\n  a=\"while\"  \r\nb = \"\\\"\\\\\\x00\\xfF\"\n\"no name\"\nrare@2=\"x\"\nlow@0=\"y\"\nq=\"say \"hi\"\"\na2=\"while\"\n";
        let plain: [&[u8]; 5] = [b"while", b"\"\\\0\xff", b"no name", b"y", b"say \"hi\""];
        assert_eq!(parse(text, 0).unwrap(), plain);
        assert_eq!(parse(text, 2).unwrap().len(), 6);
    }

    #[track_caller]
    fn wrong(line: &str, column: usize, message: &str) {
        let mistakes = parse(format!("ok=\"x\"\n{line}\n").as_bytes(), 0).unwrap_err();
        assert_eq!(mistakes, [Mistake { line: 2, column, message: message.into() }]);
    }

    #[test]
    fn mistakes_have_their_place() {
        wrong("  while", 3, "a token is written as name=\"value\"");
        wrong("a=\"while", 8, "the line must end with the `\"` that ends the value");
        wrong("a=\"", 3, "the line must end with the `\"` that ends the value");
        wrong("a=\"\"", 3, "the value is empty");
        wrong("a \"x\"", 1, "there must be `=` between the name and the value");
        wrong("a@b=\"x\"", 1, "after `@` stands a level, a number");
        wrong("a=\"x\\n\"", 5, "after `\\` stands `\\`, `\"` or `xNN`");
        wrong("a=\"x\\x4\"", 5, "after `\\x` stand two hexadecimal digits");
        wrong("a=\"x\ty\"", 5, "write this byte as \\x09");
        wrong(&format!("a=\"{}\"", "x".repeat(129)), 3, "the value has 129 bytes, at most 128 are of use");
    }

    #[test]
    fn what_is_written_is_read_again() {
        wug_property::check(|u| {
            let tokens: Vec<Vec<u8>> = u.arbitrary()?;
            let mut list = Tokens::default();
            tokens
                .iter()
                .filter(|token| (1..=MAX_TOKEN).contains(&token.len()))
                .for_each(|token| list.add(token));
            let text = write(list.list.iter().map(Vec::as_slice));
            assert!(text.is_ascii());
            assert_eq!(parse(text.as_bytes(), 0).unwrap(), list.list);
            Ok(())
        })
        .for_cases(500);
    }

    #[test]
    fn nothing_breaks_the_reader() {
        wug_property::check(|u| {
            let text: Vec<u8> = u.arbitrary()?;
            if let Ok(tokens) = parse(&text, 0) {
                assert!(tokens.iter().all(|token| (1..=MAX_TOKEN).contains(&token.len())));
            }
            Ok(())
        })
        .for_cases(500);
    }
}
