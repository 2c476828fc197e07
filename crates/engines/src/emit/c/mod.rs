//! Emitted C.

mod context;
mod direct;
mod iterative;
mod recursive;
mod texts;

use super::Style;
use super::tables::{self, Array};
use crate::flat::{Code, Draw, Flat};
use std::fmt::Write;
use wug_produce::Program;

/// Bytes beyond the end of a text that may be written with it.
const SLACK: u32 = 32;

/// The function that goes the fast way.
const FAST: &str = "static unsigned char *fast(unsigned char *out, unsigned char *end, unsigned char *stop,
                           uint64_t rng, uint32_t depth, int64_t fuel) {";

/// The whole file.
pub(super) fn file(program: &Program, style: Style) -> String {
    let flat = Flat::of(program);
    let mut out = String::from("/* A producer of inputs, made from a grammar by wug. */\n");
    for constant in tables::constants(program) {
        let suffix = if constant.bits == 64 { "ULL" } else { "u" };
        line(&mut out, 0, format_args!("#define {} {}{suffix}", constant.name, constant.value));
    }
    line(&mut out, 0, format_args!("#define SLACK {SLACK}"));
    let (head, rest) = include_str!("head.c").split_once("\nstatic inline").unwrap_or_default();
    out.push_str(head);
    out.push('\n');
    tables::lexical(program).iter().for_each(|table| array(&mut out, table));
    out.push_str("\nstatic inline");
    out.push_str(rest);
    match style {
        Style::Recursive | Style::Iterative => texts::tables(&flat, &mut out),
        Style::DirectThreaded => texts::draws(&flat, 1, &mut out),
        Style::ContextThreaded => {}
    }
    match style {
        Style::Recursive => recursive::functions(&flat, program, &mut out),
        Style::Iterative => iterative::functions(&flat, program, &mut out),
        Style::DirectThreaded => direct::functions(program, &Code::of(&flat), &mut out),
        Style::ContextThreaded => context::functions(program, &Code::of(&flat), &mut out),
    }
    out.push('\n');
    tables::grammar(program).iter().for_each(|table| array(&mut out, table));
    out.push_str(include_str!("exact.c"));
    out.push_str(include_str!("main.c"));
    out
}

/// A line of code.
fn line(out: &mut String, indent: usize, text: std::fmt::Arguments) {
    (0..indent).for_each(|_| out.push_str("    "));
    // A string takes all that is written to it.
    let _ = out.write_fmt(text);
    out.push('\n');
}

fn array(out: &mut String, table: &Array) {
    let Array { name, bits, values } = table;
    let _ = write!(out, "MAYBE const uint{bits}_t {name}[] = {{");
    for (at, value) in values.iter().enumerate() {
        let suffix = if *bits == 64 {
            "ULL"
        } else if *bits == 32 {
            "u"
        } else {
            ""
        };
        let _ = write!(out, "{}{value}{suffix},", if at % 16 == 0 { "\n    " } else { " " });
    }
    // An array has at least one element.
    out.push_str(if values.is_empty() { " 0 };\n" } else { "\n};\n" });
}

/// What a draw gives for the random bits in `random`.
fn index(draw: &Draw, id: usize) -> String {
    match draw.guide() {
        None => format!("even(random, {})", draw.count),
        Some(guide) if guide.lasts.len() == 2 => format!("(uint32_t)(random > {}u)", guide.lasts[0]),
        Some(guide) => {
            format!("guided(d{id}, random >> {}, d{id}_last, {}, random)", guide.shift, guide.rounds)
        }
    }
}

/// Bytes as a C string.
fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            // Three digits, so that none of the text can join them; no
            // trigraphs.
            b'?' | 0..=0x1F | 0x7F.. => {
                let _ = write!(out, "\\{byte:03o}");
            }
            _ => out.push(byte as char),
        }
    }
    out.push('"');
    out
}

/// A name as a remark.
fn remark(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-<>[]. ".contains(c) { c } else { '_' };
    name.chars().take(60).map(plain).collect()
}
