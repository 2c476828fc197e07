//! Strings, hex bytes and quoted names.

use super::super::cursor::Cursor;
use crate::class::{Class, Unit};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Reads to the closing `quote`, which is passed; `None` after a mistake.
pub fn string(cursor: &mut Cursor, quote: char, diags: &mut Diagnostics) -> Option<Vec<u8>> {
    let open = cursor.at();
    cursor.bump();
    let mut out = Vec::new();
    loop {
        let at = cursor.at();
        let next = cursor.peek();
        if next != Some('\n') {
            cursor.bump();
        }
        match next {
            None | Some('\n') => {
                let span = cursor.since(open);
                diags.push(
                    Diagnostic::error(span, "this text does not end on its line")
                        .help(format!("close it with `{quote}`; a line break inside is written `\\n`")),
                );
                return None;
            }
            Some(c) if c == quote => return Some(out),
            Some('\\') => escape(cursor, at, &mut out, diags)?,
            Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

fn escape(cursor: &mut Cursor, at: usize, out: &mut Vec<u8>, diags: &mut Diagnostics) -> Option<()> {
    let simple = match cursor.bump() {
        Some('n') => b'\n',
        Some('r') => b'\r',
        Some('t') => b'\t',
        Some('0') => 0,
        Some(c @ ('\\' | '"' | '\'' | '`')) => c as u8,
        Some('x') => {
            let digits: String = cursor.rest().chars().take(2).collect();
            match u8::from_str_radix(&digits, 16) {
                Ok(byte) if digits.len() == 2 => {
                    cursor.bump();
                    cursor.bump();
                    byte
                }
                _ => {
                    let message = "`\\x` needs two hexadecimal digits";
                    diags.push(Diagnostic::error(cursor.since(at), message));
                    return None;
                }
            }
        }
        Some('u') => {
            let c = braced(cursor);
            let Some(c) = c else {
                let message = "`\\u` needs the number of a character, as in `\\u{E9}`";
                diags.push(Diagnostic::error(cursor.since(at), message));
                return None;
            };
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(());
        }
        _ => {
            diags.push(
                Diagnostic::error(cursor.since(at), "unknown escape")
                    .help("there are \\n \\r \\t \\0 \\\\ \\\" \\' \\` \\xHH and \\u{H…}"),
            );
            return None;
        }
    };
    out.push(simple);
    Some(())
}

fn braced(cursor: &mut Cursor) -> Option<char> {
    if !cursor.eat("{") {
        return None;
    }
    let digits = cursor.eat_while(|c| c.is_ascii_hexdigit());
    let c = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
    cursor.eat("}").then_some(c)
}

/// Reads `"7F 45"`, behind the `x`.
pub fn hex_bytes(cursor: &mut Cursor, diags: &mut Diagnostics) -> Option<Vec<u8>> {
    let open = cursor.at();
    cursor.bump();
    let Some(text) = cursor.eat_until("\"") else {
        diags.push(
            Diagnostic::error(cursor.since(open), "these bytes do not end").help("close them with `\"`"),
        );
        return None;
    };
    cursor.bump();
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map_while(|c| c.to_digit(16)).collect();
    if !digits.len().is_multiple_of(2) || digits.len() != text.chars().filter(|c| !c.is_whitespace()).count()
    {
        let message = "bytes are written as pairs of hexadecimal digits";
        diags.push(Diagnostic::error(cursor.since(open), message).help("for example x\"7F 45 4C 46\""));
        return None;
    }
    Some(digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

/// Reads `[00-1F 7F]` or `[^00]`, behind the `x`.
pub fn hex_class(cursor: &mut Cursor, diags: &mut Diagnostics) -> Option<Class> {
    let open = cursor.at();
    cursor.bump();
    let negated = cursor.eat("^");
    let mut ranges = Vec::new();
    loop {
        cursor.eat_while(char::is_whitespace);
        if cursor.eat("]") {
            break;
        }
        let at = cursor.at();
        let byte = |cursor: &mut Cursor| {
            let digits = cursor.eat_while(|c| c.is_ascii_hexdigit());
            u8::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2)
        };
        let low = byte(cursor);
        let high = if cursor.eat("-") { byte(cursor) } else { low };
        match (low, high) {
            (Some(low), Some(high)) if low <= high => ranges.push((u32::from(low), u32::from(high))),
            _ => {
                let span = if cursor.at() == at { cursor.here() } else { cursor.since(at) };
                let whole = cursor.since(open);
                diags.push(
                    Diagnostic::error(
                        if span.start == span.end { whole } else { span },
                        "not a range of bytes",
                    )
                    .help("for example x[00-1F 7F]"),
                );
                return None;
            }
        }
    }
    let class = Class::new(Unit::Byte, ranges);
    Some(if negated { class.complement(Unit::Byte) } else { class })
}
