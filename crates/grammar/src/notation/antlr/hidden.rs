//! Which hidden tokens stand between others as separators: white space and
//! comments. Grammars hide more than that, such as any character that fits
//! nowhere (`. -> channel(ERROR)`), which is no part of a good input.

use super::tokens::{Tokens, flat};
use super::tree::{Alternative, Element, What};
use super::unit::Unit;
use crate::class::{Class, Unit as Letters};

/// By variant: whether it is white space or a comment.
pub fn separators(unit: &Unit, tokens: &Tokens) -> Vec<bool> {
    let looks = Looks { unit, tokens, white: white() };
    let of = |v: &super::tokens::Variant| {
        let rule = unit.lexical[v.rule].rule;
        let alternatives = &flat(&rule.block.0)[v.alternatives.clone()];
        let channel = v.effect.channel.as_deref().unwrap_or("");
        v.effect.hidden
            && !is_bad(&rule.name)
            && !is_bad(channel)
            && (is_good(&rule.name) && !alternatives.iter().any(|a| looks.is_junk(a))
                || alternatives.iter().all(|a| looks.alternative(a, 0)))
    };
    tokens.variants.iter().map(of).collect()
}

/// Characters that are white space, and none else.
fn white() -> Class {
    let blanks = (0..0x3001).filter_map(char::from_u32).filter(|c| c.is_whitespace());
    Class::new(Letters::Char, blanks.map(|c| (c as u32, c as u32)))
}

/// Words in names, in lower case.
fn words(name: &str) -> String {
    name.to_lowercase()
}

fn is_good(name: &str) -> bool {
    const GOOD: [&str; 10] =
        ["comment", "space", "white", "newline", "blank", "linebreak", "terminator", "eol", "tabs", "crlf"];
    let name = words(name);
    let word = name.trim_matches('_');
    GOOD.iter().any(|good| word.contains(good))
        || matches!(word, "ws" | "nl" | "s" | "tab" | "sp")
        || word.split('_').any(|part| matches!(part, "ws" | "nl"))
}

fn is_bad(name: &str) -> bool {
    const BAD: [&str; 16] = [
        "err",
        "unknown",
        "invalid",
        "unexpected",
        "illegal",
        "unrecog",
        "bad",
        "junk",
        "other",
        "directive",
        "pragma",
        "preproc",
        "shebang",
        "any",
        "unmatched",
        "catch",
    ];
    let name = words(name);
    BAD.iter().any(|bad| name.contains(bad))
}

struct Looks<'a> {
    unit: &'a Unit<'a>,
    tokens: &'a Tokens,
    white: Class,
}

/// Names of rules are followed this deep.
const MAX_DEPTH: usize = 8;

impl Looks<'_> {
    /// One character that is no white space.
    fn is_junk(&self, alternative: &Alternative) -> bool {
        match &alternative.elements[..] {
            [Element { what: What::Any | What::Not(_), .. }] => true,
            [Element { what: What::Repeat { body, .. }, .. }] => body.0.iter().any(|a| self.is_junk(a)),
            _ => false,
        }
    }

    fn alternative(&self, alternative: &Alternative, depth: usize) -> bool {
        let elements = &alternative.elements;
        if let [Element { what: What::Text(Some(text)), .. }, _, ..] = &elements[..]
            && is_comment_sign(text)
            && elements[1..].iter().any(|e| self.goes_on(e))
        {
            return true;
        }
        elements.iter().all(|e| self.element(e, depth))
    }

    /// Whether this takes any characters, as the inside of a comment does.
    fn goes_on(&self, element: &Element) -> bool {
        let What::Repeat { body, max: None, .. } = &element.what else { return false };
        body.0.iter().any(|a| matches!(&a.elements[..], [Element { what: What::Any | What::Not(_), .. }]))
    }

    fn element(&self, element: &Element, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let all = |alternatives: &[Alternative]| alternatives.iter().all(|a| self.alternative(a, depth + 1));
        match &element.what {
            What::Text(Some(text)) => text.chars().all(char::is_whitespace),
            What::Set(class) => class.difference(&self.white).is_some_and(|rest| rest.is_empty()),
            What::Block(block) => all(&block.0),
            What::Repeat { body, .. } => all(&body.0),
            What::Name(name) => {
                let rule = self.tokens.rules.get(name).map(|&r| self.unit.lexical[r].rule);
                !is_bad(name) && (is_good(name) || rule.is_some_and(|rule| all(&rule.block.0)))
            }
            What::Eof | What::Action | What::Predicate => true,
            What::Text(None) | What::Any | What::Not(_) => false,
        }
    }
}

/// Signs that begin comments in the languages there are.
fn is_comment_sign(text: &str) -> bool {
    const SIGNS: [&str; 18] = [
        "//", "/*", "/**", "#", "--", ";", "%", "!", "(*", "{-", "<!--", "'", "\"\"\"", "*", "REM", "--[[",
        "#|", "///",
    ];
    SIGNS.contains(&text)
}
