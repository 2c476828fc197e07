//! Texts in quotes and sets in brackets: their escapes, ranges and Unicode
//! properties.

use super::reader::{Reader, Reported, Step};
use super::tree::What;
use crate::class::{Class, Unit};
use crate::diagnostic::Diagnostic;
use regex_syntax::hir::{self, HirKind};
use std::sync::OnceLock;

/// A member of a text or a set.
enum Member {
    Char(u32),
    Property(Class),
}

impl Reader<'_> {
    /// Reads `'…'`.
    pub(super) fn text(&mut self) -> Step<What> {
        let open = self.cursor.at();
        self.cursor.bump();
        let mut points: Vec<u32> = Vec::new();
        loop {
            match self.cursor.peek() {
                None | Some('\n' | '\r') => {
                    let help = "close it with `'`; a line break inside is written `\\n`";
                    return self.fail(self.cursor.since(open), "this text does not end on its line", help);
                }
                Some('\'') => {
                    self.cursor.bump();
                    break;
                }
                Some('\\') => match self.escape(false)? {
                    Member::Char(c) => points.push(c),
                    Member::Property(_) => {
                        let help = "sets have properties: `[\\p{Lu}]`";
                        return self.fail(
                            self.cursor.since(open),
                            "a text cannot hold a Unicode property",
                            help,
                        );
                    }
                },
                Some(c) => {
                    self.cursor.bump();
                    points.push(c as u32);
                }
            }
        }
        Ok(What::Text(characters(&points)))
    }

    /// Reads `[…]`.
    pub(super) fn set(&mut self) -> Step<Class> {
        let open = self.cursor.at();
        self.cursor.bump();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        loop {
            let at = self.cursor.at();
            let low = match self.cursor.peek() {
                None | Some('\n' | '\r') => {
                    let help = "close it with `]`; a bracket inside is written `\\]`";
                    return self.fail(self.cursor.one_at(open), "this set does not end on its line", help);
                }
                Some(']') => {
                    self.cursor.bump();
                    break;
                }
                Some('\\') => self.escape(true)?,
                Some(c) => {
                    self.cursor.bump();
                    Member::Char(c as u32)
                }
            };
            let low = match low {
                Member::Property(class) => {
                    ranges.extend_from_slice(class.ranges());
                    continue;
                }
                Member::Char(c) => c,
            };
            // A dash at the end of a set is a member.
            let mut ahead = self.cursor;
            let range = ahead.eat("-") && !matches!(ahead.peek(), Some(']') | None);
            if !range {
                ranges.push((low, low));
                continue;
            }
            self.cursor.bump();
            let high = match self.cursor.peek() {
                Some('\\') => self.escape(true)?,
                _ => Member::Char(self.cursor.bump().map_or(low, |c| c as u32)),
            };
            match high {
                Member::Char(high) if low <= high => ranges.push((low, high)),
                _ => {
                    let help = "the first end of a range comes before the second; a dash is written `\\-`";
                    return self.fail(self.cursor.since(at), "this range holds nothing", help);
                }
            }
        }
        Ok(Class::new(Unit::Char, ranges))
    }

    /// Reads an escape, at its backslash.
    fn escape(&mut self, in_set: bool) -> Step<Member> {
        let at = self.cursor.at();
        self.cursor.bump();
        let Some(c) = self.cursor.bump() else {
            return self.fail(self.cursor.since(at), "the text ends in an escape", "finish the rule");
        };
        let value = match c {
            'n' => '\n' as u32,
            'r' => '\r' as u32,
            't' => '\t' as u32,
            'b' => 8,
            'f' => 12,
            'u' => return self.code_point(at).map(Member::Char),
            'p' | 'P' if in_set => return self.property(at, c == 'P').map(Member::Property),
            // ANTLR takes a needless backslash for the character behind it,
            // with a warning at most.
            c => c as u32,
        };
        Ok(Member::Char(value))
    }

    /// Reads `XXXX` or `{X…}`, behind `\u`.
    fn code_point(&mut self, at: usize) -> Step<u32> {
        let digits = if self.cursor.eat("{") {
            let digits = self.cursor.eat_while(|c| c.is_ascii_hexdigit());
            if self.cursor.eat("}") { digits } else { "" }
        } else {
            let mut left = 4;
            self.cursor.eat_while(|c| {
                left -= 1;
                left >= 0 && c.is_ascii_hexdigit()
            })
        };
        match u32::from_str_radix(digits, 16) {
            Ok(value) if value <= 0x10FFFF => Ok(value),
            _ => {
                let message = "`\\u` needs the number of a character";
                self.fail(self.cursor.since(at), message, "as in `\\u00E9` or `\\u{1F600}`")
            }
        }
    }

    /// Reads `{Name}` or `{Name=Value}`, behind `\p`.
    fn property(&mut self, at: usize, negated: bool) -> Step<Class> {
        let name = if self.cursor.eat("{") { self.cursor.eat_until("}").unwrap_or("") } else { "" };
        let closed = self.cursor.eat("}");
        let span = self.cursor.since(at);
        let known = if closed && name.len() <= 80 { property(name) } else { None };
        let Some(class) = known else {
            let message = format!("unknown Unicode property `{}`", name.chars().take(40).collect::<String>());
            let help = "general categories, scripts and binary properties have names: \
                        `\\p{Lu}`, `\\p{Script=Greek}`, `\\p{XID_Start}`; write others as ranges";
            self.diags.push(Diagnostic::error(span, message).help(help));
            return Err(Reported);
        };
        Ok(if negated { class.complement(Unit::Char) } else { class })
    }
}

/// The members of a property, as ANTLR names it.
fn property(name: &str) -> Option<Class> {
    let name = name.trim();
    if name.is_empty()
        || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '=' | ' '))
    {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    match lower.as_str() {
        "emojirk" | "emojinrk" => return property("Emoji"),
        "emojipresentation=textdefault" => {
            return parsed("Emoji")?.difference(&parsed("Emoji_Presentation")?);
        }
        "emojipresentation=emojidefault" => return property("Emoji_Presentation"),
        "extended_pictographic" | "extpict" => return parsed("Extended_Pictographic"),
        // Values that Unicode has withdrawn: no character has them any more.
        "grapheme_cluster_break=e_base"
        | "grapheme_cluster_break=e_base_gaz"
        | "grapheme_cluster_break=e_modifier"
        | "grapheme_cluster_break=glue_after_zwj" => return Some(Class::new(Unit::Char, [])),
        _ => {}
    }
    parsed(name)
}

fn parsed(name: &str) -> Option<Class> {
    // ANTLR 4.13 knows Unicode 15.0: what came later, its lexers refuse.
    let class = of_unicode(name)?;
    match of_unicode("Age=15.0") {
        Some(known) => class.difference(&known.complement(Unit::Char)),
        None => Some(class),
    }
}

fn of_unicode(name: &str) -> Option<Class> {
    let hir = regex_syntax::ParserBuilder::new().build().parse(&format!("\\p{{{name}}}")).ok()?;
    match hir.into_kind() {
        HirKind::Class(hir::Class::Unicode(class)) => {
            Some(Class::new(Unit::Char, class.iter().map(|r| (u32::from(r.start()), u32::from(r.end())))))
        }
        _ => None,
    }
}

/// Code points as text, pairs of surrogates joined; `None` if one is left.
fn characters(points: &[u32]) -> Option<String> {
    let mut text = String::new();
    let mut rest = points.iter().copied().peekable();
    while let Some(c) = rest.next() {
        let c = match (c, rest.peek()) {
            (0xD800..=0xDBFF, Some(&low @ 0xDC00..=0xDFFF)) => {
                rest.next();
                0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00)
            }
            _ => c,
        };
        text.push(char::from_u32(c)?);
    }
    Some(text)
}

/// A class with both cases of all of its letters.
pub fn fold(class: &Class) -> Class {
    /// Characters with another case, each with it, in order.
    static CASES: OnceLock<Vec<(u32, u32)>> = OnceLock::new();
    let cases = CASES.get_or_init(|| {
        let pairs = |c: char| both_cases(c).filter(move |&o| o != c).map(move |o| (c as u32, o as u32));
        ('\0'..=char::MAX).flat_map(pairs).collect()
    });
    let mut ranges: Vec<(u32, u32)> = class.ranges().to_vec();
    for &(low, high) in class.ranges() {
        let from = cases.partition_point(|&(c, _)| c < low);
        ranges.extend(cases[from..].iter().take_while(|&&(c, _)| c <= high).map(|&(_, o)| (o, o)));
    }
    Class::new(class.unit(), ranges)
}

/// A character in lower and in upper case, where each is one character.
pub fn both_cases(c: char) -> impl Iterator<Item = char> {
    let lower = c.to_lowercase();
    let upper = c.to_uppercase();
    let lower = (lower.len() == 1).then_some(lower).into_iter().flatten();
    lower.chain((upper.len() == 1).then_some(upper).into_iter().flatten())
}
