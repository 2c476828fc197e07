//! The core rules of RFC 5234, appendix B.1.

use crate::arena::Repeat;
use crate::ast::{Ast, AstSymbol};
use crate::class::{Class, Unit};
use crate::names::NameId;
use crate::source::Span;

/// Name and ranges of those that derive one character.
const CLASSES: [(&str, &[(u32, u32)]); 14] = [
    ("ALPHA", &[(0x41, 0x5A), (0x61, 0x7A)]),
    ("BIT", &[(0x30, 0x31)]),
    ("CHAR", &[(0x01, 0x7F)]),
    ("CR", &[(0x0D, 0x0D)]),
    ("CTL", &[(0x00, 0x1F), (0x7F, 0x7F)]),
    ("DIGIT", &[(0x30, 0x39)]),
    ("DQUOTE", &[(0x22, 0x22)]),
    // Its letters are text, of either case.
    ("HEXDIG", &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)]),
    ("HTAB", &[(0x09, 0x09)]),
    ("LF", &[(0x0A, 0x0A)]),
    ("OCTET", &[(0x00, 0xFF)]),
    ("SP", &[(0x20, 0x20)]),
    ("VCHAR", &[(0x21, 0x7E)]),
    ("WSP", &[(0x09, 0x09), (0x20, 0x20)]),
];

/// How the RFC writes the core rule with this name in lower case.
pub fn spelling(lower: &str) -> Option<&'static str> {
    let all = CLASSES.iter().map(|(name, _)| *name).chain(["CRLF", "LWSP"]);
    all.into_iter().find(|name| name.eq_ignore_ascii_case(lower))
}

/// Adds the core rules that are `used` and that no rule defines.
pub fn add(used: &[NameId], ast: &mut Ast) {
    let mut open = vec![false; ast.names.len()];
    for name in used {
        open[name.0 as usize] = true;
    }
    for rule in &ast.rules {
        open[rule.name.0.0 as usize] = false;
    }
    let wanted =
        |ast: &Ast, name| ast.names.find(name).is_some_and(|id| open.get(id.0 as usize) == Some(&true));
    let span = Span::NONE;
    for (name, ranges) in CLASSES {
        if !wanted(ast, name) {
            continue;
        }
        ast.builder.open_body(span);
        match ranges {
            [(low, high)] if low == high => ast.literal(&[*low as u8], span),
            _ => ast.class(Class::new(Unit::Byte, ranges.iter().copied()), span),
        }
        ast.close_rule(name, span);
    }
    if wanted(ast, "CRLF") {
        ast.builder.open_body(span);
        ast.literal(b"\r\n", span);
        ast.close_rule("CRLF", span);
    }
    if wanted(ast, "LWSP") {
        // *(WSP / CRLF WSP)
        let wsp = || Class::new(Unit::Char, [(0x09, 0x09), (0x20, 0x20)]);
        ast.builder.open_body(span);
        ast.builder.open_body(span);
        ast.class(wsp(), span);
        ast.builder.next_alternative(span);
        ast.literal(b"\r\n", span);
        ast.class(wsp(), span);
        let body = ast.builder.close_body();
        let repeat = ast.builder.repeat(Repeat { body, min: 0, max: None, greedy: true });
        ast.builder.symbol(AstSymbol::Repeat(repeat), span);
        ast.close_rule("LWSP", span);
    }
}
