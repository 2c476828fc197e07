//! Regular expressions as terminals: a pattern becomes the nodes that a
//! person would have written for it.
//!
//! Anchors and word boundaries are refused: they say something about the
//! neighbourhood of a text, not about the text.

use crate::ast::{Ast, AstSymbol};
use crate::class::{Class, Unit};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;
use crate::{MAX_NESTING, Repeat};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{self, Hir, HirKind};

/// Appends `pattern` to the open alternative. `at` is the offset of its
/// first character, `span` that of the whole terminal.
pub fn append(pattern: &str, caseless: bool, at: u32, span: Span, ast: &mut Ast, diags: &mut Diagnostics) {
    let parsed = ParserBuilder::new()
        .utf8(false)
        .nest_limit(MAX_NESTING as u32 / 2)
        .case_insensitive(caseless)
        .dot_matches_new_line(true)
        .build()
        .parse(pattern);
    match parsed {
        Ok(hir) => {
            if let Err(why) = node(&hir, span, ast) {
                diags.push(Diagnostic::error(span, why).help("describe the text itself, without anchors"));
            }
        }
        Err(error) => diags.push(mistake(&error, at)),
    }
}

/// Parses `[...]` as a class.
pub fn class(pattern: &str, at: u32, span: Span, diags: &mut Diagnostics) -> Option<Class> {
    // We negate ourselves: regex-syntax 0.8 negates `\u{D7FF}\u{E000}` into
    // a range that holds both, as if there were something between them.
    if let Some(rest) = pattern.strip_prefix("[^") {
        let (open, shift) = if rest.starts_with('^') { ("[\\", 0) } else { ("[", 1) };
        let class = positive_class(&format!("{open}{rest}"), at + shift, span, diags)?;
        return Some(class.complement(Unit::Char));
    }
    positive_class(pattern, at, span, diags)
}

fn positive_class(pattern: &str, at: u32, span: Span, diags: &mut Diagnostics) -> Option<Class> {
    let parsed = ParserBuilder::new().utf8(false).nest_limit(50).build().parse(pattern);
    match parsed.map(|hir| hir.into_kind()) {
        Ok(HirKind::Class(class)) => Some(convert(&class)),
        // A class of one member is simplified to a literal.
        Ok(HirKind::Literal(literal)) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            Some(Class::new(Unit::Char, text.chars().map(|c| (c as u32, c as u32))))
        }
        Ok(_) => {
            diags.push(Diagnostic::error(span, "this is not a class of characters"));
            None
        }
        Err(error) => {
            diags.push(mistake(&error, at));
            None
        }
    }
}

fn mistake(error: &regex_syntax::Error, at: u32) -> Diagnostic {
    let (span, why) = match error {
        regex_syntax::Error::Parse(e) => (*e.span(), e.kind().to_string()),
        regex_syntax::Error::Translate(e) => (*e.span(), e.kind().to_string()),
        other => return Diagnostic::error(Span::new(at, at), other.to_string()),
    };
    let place = Span::new(at + span.start.offset as u32, at + span.end.offset as u32);
    Diagnostic::error(place, why)
}

fn convert(class: &hir::Class) -> Class {
    match class {
        hir::Class::Unicode(c) => {
            Class::new(Unit::Char, c.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))))
        }
        hir::Class::Bytes(c) => {
            Class::new(Unit::Byte, c.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))))
        }
    }
}

/// Appends one node. Its depth is bounded by the nest limit above.
fn node(hir: &Hir, span: Span, ast: &mut Ast) -> Result<(), String> {
    match hir.kind() {
        HirKind::Empty => {}
        HirKind::Literal(literal) => ast.literal(&literal.0, span),
        HirKind::Class(class) => ast.class(convert(class), span),
        HirKind::Look(look) => return Err(format!("`{}` cannot be derived", look_text(*look))),
        HirKind::Capture(capture) => node(&capture.sub, span, ast)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| node(part, span, ast))?,
        HirKind::Alternation(parts) => {
            alternatives(parts, span, ast)?;
            ast.close_group(false, span);
        }
        HirKind::Repetition(repetition) => {
            match peel(&repetition.sub).kind() {
                HirKind::Alternation(parts) => alternatives(parts, span, ast)?,
                _ => alternatives(std::slice::from_ref(&*repetition.sub), span, ast)?,
            }
            let body = ast.builder.close_body();
            let (min, max, greedy) = (repetition.min, repetition.max, repetition.greedy);
            let repeat = ast.builder.repeat(Repeat { body, min, max, greedy });
            ast.builder.symbol(AstSymbol::Repeat(repeat), span);
        }
    }
    Ok(())
}

/// Opens a body and fills it; stops at the first mistake with all inner
/// bodies closed by the caller's recovery.
fn alternatives(parts: &[Hir], span: Span, ast: &mut Ast) -> Result<(), String> {
    ast.builder.open_body(span);
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            ast.builder.next_alternative(span);
        }
        if let Err(why) = node(part, span, ast) {
            ast.builder.close_body_without_last();
            return Err(why);
        }
    }
    Ok(())
}

fn peel(hir: &Hir) -> &Hir {
    let mut hir = hir;
    while let HirKind::Capture(capture) = hir.kind() {
        hir = &capture.sub;
    }
    hir
}

fn look_text(look: hir::Look) -> &'static str {
    match look {
        hir::Look::Start | hir::Look::StartLF | hir::Look::StartCRLF => "^",
        hir::Look::End | hir::Look::EndLF | hir::Look::EndCRLF => "$",
        _ => "\\b",
    }
}
