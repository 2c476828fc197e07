//! Numeric values: `%x41`, `%d13.10`, `%b0-1`.

use super::super::brackets::Step;
use super::super::cursor::Cursor;
use crate::class::{Class, Unit};
use crate::diagnostic::Diagnostic;

/// What a numeric value derives.
pub enum Value {
    /// Characters one after the other.
    Text(Vec<u8>),
    /// One of a range.
    Range(Class),
}

/// Whether the values of a text are bytes or characters: bytes, unless
/// there is one that no byte can hold.
pub fn unit(text: &str) -> Unit {
    let mut rest = text;
    // Only what could be a value is looked at: comments and quotes are
    // passed, each character once.
    while let Some(at) = rest.find(['%', ';', '"', '<']) {
        let kind = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match kind {
            b'%' => {
                let radix = rest.chars().next().and_then(radix);
                let Some(radix) = radix else { continue };
                rest = &rest[1..];
                let len =
                    rest.find(|c: char| !c.is_digit(radix) && c != '.' && c != '-').unwrap_or(rest.len());
                let wide = |digits: &str| u32::from_str_radix(digits, radix).is_ok_and(|value| value > 0xFF);
                if rest[..len].split(['.', '-']).any(wide) {
                    return Unit::Char;
                }
                rest = &rest[len..];
            }
            _ => {
                let close = match kind {
                    b';' => '\n',
                    b'"' => '"',
                    _ => '>',
                };
                let len = rest.find([close, '\n']).unwrap_or(rest.len());
                rest = rest[len..].strip_prefix(close).unwrap_or(&rest[len..]);
            }
        }
    }
    Unit::Byte
}

fn radix(letter: char) -> Option<u32> {
    match letter.to_ascii_lowercase() {
        'b' => Some(2),
        'd' => Some(10),
        'x' => Some(16),
        _ => None,
    }
}

/// Reads a value behind its `%` and letter, `kind`; `at` is the `%`.
pub fn read(cursor: &mut Cursor, at: usize, kind: Option<char>, unit: Unit) -> Step<Value> {
    let Some(radix) = kind.and_then(radix) else {
        let error = Diagnostic::error(cursor.one_at(at), "unknown kind of value");
        return Err(Box::new(error.help("there are %x41, %d65, %b1000001, %s\"text\" and %i\"text\"")));
    };
    let first = number(cursor, radix)?;
    if cursor.eat("-") {
        let last = number(cursor, radix)?;
        if first > last {
            let error = Diagnostic::error(cursor.since(at), "this range ends before it begins");
            return Err(Box::new(error));
        }
        return Ok(Value::Range(Class::new(unit, [(first, last)])));
    }
    let mut text = Vec::new();
    let mut value = first;
    loop {
        match (unit, char::from_u32(value)) {
            (Unit::Byte, _) => text.push(value as u8),
            (Unit::Char, Some(c)) => text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            (Unit::Char, None) => {
                let error =
                    Diagnostic::error(cursor.since(at), format!("{value:X} is no character of its own"));
                return Err(Box::new(
                    error.help("values from D800 to DFFF are halves of characters in UTF-16"),
                ));
            }
        }
        if !cursor.eat(".") {
            return Ok(Value::Text(text));
        }
        value = number(cursor, radix)?;
    }
}

fn number(cursor: &mut Cursor, radix: u32) -> Step<u32> {
    let at = cursor.at();
    let digits = cursor.eat_while(|c| c.is_digit(radix));
    if digits.is_empty() {
        let message = format!("expected a number in base {radix}, found {}", cursor.found());
        return Err(Box::new(Diagnostic::error(cursor.here(), message)));
    }
    match u32::from_str_radix(digits, radix) {
        Ok(value) if value <= 0x10FFFF => Ok(value),
        _ => {
            let error = Diagnostic::error(cursor.since(at), "there is no such character");
            Err(Box::new(error.help("the greatest is 10FFFF")))
        }
    }
}
