//! Emitted Rust: a function for each function of the flattened program, all of
//! it safe code. A limit that is passed is a `None` that every caller hands
//! on.
//!
//! The native stack holds at most [`FRAMES`] calls, counted in the upper half
//! of `left`; deeper inputs go the exact way.

use super::tables::{self, Array};
use crate::flat::{Block, Budget, Draw, Flat, Function, Op};
use std::fmt::Write;
use wug_produce::Program;

/// Calls on the native stack.
const FRAMES: u32 = 1000;

/// The whole file.
pub(super) fn file(program: &Program) -> String {
    let flat = Flat::of(program);
    let mut out = String::from("//! A producer of inputs, made from a grammar by wug.\n");
    // What a grammar does not use is there all the same.
    out.push_str("#![allow(dead_code, unreachable_code, unused_variables)]\n\n");
    for constant in tables::constants(program) {
        // In C, a table and a number may have one name in two cases.
        let name = if constant.name == "POOL" { "POOL_SIZE" } else { constant.name };
        let _ = writeln!(out, "const {name}: u{} = {};", constant.bits, constant.value);
    }
    let _ = writeln!(out, "const FRAMES: u64 = {FRAMES};");
    out.push_str(include_str!("rust/head.rs"));
    let budget = Budget::of(&flat);
    let mut writer = Writer { flat: &flat, budget: &budget, out: &mut out };
    for (id, function) in flat.functions.iter().enumerate() {
        writer.function(id, function);
    }
    out.push('\n');
    texts(&flat, &mut out);
    let tables = tables::lexical(program).into_iter().chain(tables::grammar(program));
    tables.for_each(|table| array(&mut out, &table));
    out.push_str(include_str!("rust/exact.rs"));
    out
}

fn array(out: &mut String, table: &Array) {
    let Array { name, bits, values } = table;
    numbers(out, &name.to_uppercase(), &format!("u{bits}"), values.iter().map(u64::to_string));
}

fn numbers(out: &mut String, name: &str, kind: &str, values: impl Iterator<Item = String>) {
    let values: Vec<String> = values.collect();
    let _ = write!(out, "static {name}: [{kind}; {}] = [", values.len());
    for row in values.chunks(16) {
        let _ = write!(out, "\n    {},", row.join(", "));
    }
    out.push_str("\n];\n");
}

/// Tables of texts, and those of uneven draws.
fn texts(flat: &Flat, out: &mut String) {
    for (id, draw) in flat.draws.iter().enumerate() {
        if let Some(guide) = draw.guide() {
            numbers(out, &format!("D{id}"), "u32", guide.begins.iter().map(u32::to_string));
            numbers(out, &format!("D{id}_LAST"), "u32", guide.lasts.iter().map(u32::to_string));
        }
    }
    for (id, table) in flat.tables.iter().enumerate() {
        numbers(out, &format!("T{id}"), "&[u8]", table.texts.iter().map(|text| quoted(text)));
    }
}

fn quoted(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}

fn index(draw: &Draw, id: usize) -> String {
    match draw.guide() {
        None => format!("s.even({})", draw.count),
        Some(guide) => format!("s.uneven(&D{id}, {}, &D{id}_LAST, {})", guide.shift, guide.rounds),
    }
}

struct Writer<'a> {
    flat: &'a Flat,
    budget: &'a Budget,
    out: &'a mut String,
}

impl Writer<'_> {
    fn line(&mut self, indent: usize, text: std::fmt::Arguments) {
        (0..indent).for_each(|_| self.out.push_str("    "));
        let _ = writeln!(self.out, "{text}");
    }

    fn function(&mut self, id: usize, function: &Function) {
        let what = if function.closed { ", closed" } else { "" };
        let name: String =
            function.name.chars().take(60).map(|c| if c.is_control() { '_' } else { c }).collect();
        self.line(0, format_args!("\n// {name}{what}"));
        let unlimited = function.limit.is_none();
        let left = if unlimited { "left" } else { "mut left" };
        self.line(0, format_args!("fn f{id}(s: &mut Fast, {left}: u64) -> Option<()> {{"));
        self.line(1, format_args!("left.checked_sub(1 << 32)?;"));
        match self.budget.call(self.flat, &function.block) {
            0 => {}
            work => self.line(1, format_args!("s.spend({work})?;")),
        }
        if let Some(limit) = function.limit {
            self.line(1, format_args!("left = (left >> 32 << 32) + (left & 0xFFFF_FFFF).min({limit});"));
        }
        self.block(&function.block, 1);
        self.line(1, format_args!("Some(())"));
        self.line(0, format_args!("}}"));
    }

    fn block(&mut self, block: &Block, indent: usize) {
        block.ops.iter().for_each(|op| self.op(op, indent));
    }

    fn op(&mut self, op: &Op, indent: usize) {
        match op {
            Op::Text(text) => self.line(indent, format_args!("s.put({})?;", quoted(text))),
            Op::Pick(table) => {
                let draw = self.flat.tables[*table].draw;
                let index = index(&self.flat.draws[draw], draw);
                self.line(indent, format_args!("let at = {index};"));
                self.line(indent, format_args!("s.put(T{table}[at])?;"));
            }
            Op::Class(class) => self.line(indent, format_args!("s.class({})?;", class.index())),
            Op::Choose { draw, arms } => {
                self.line(indent, format_args!("match {} {{", index(&self.flat.draws[*draw], *draw)));
                for (at, arm) in arms.iter().enumerate() {
                    match at + 1 == arms.len() {
                        true => self.line(indent + 1, format_args!("_ => {{")),
                        false => self.line(indent + 1, format_args!("{at} => {{")),
                    }
                    self.block(arm, indent + 2);
                    self.line(indent + 1, format_args!("}}"));
                }
                self.line(indent, format_args!("}}"));
            }
            Op::Repeat { min, choices, block } => {
                let work = self.budget.round(self.flat, block);
                self.line(indent, format_args!("for _ in 0..s.rounds({min}, {choices}, {work})? {{"));
                self.block(block, indent + 1);
                self.line(indent, format_args!("}}"));
            }
            Op::Guard { above, free, closed } => {
                self.line(indent, format_args!("if left as u32 > {above} {{"));
                self.block(free, indent + 1);
                self.line(indent, format_args!("}} else {{"));
                self.block(closed, indent + 1);
                self.line(indent, format_args!("}}"));
            }
            Op::Call { function, down } => {
                self.line(indent, format_args!("f{function}(s, left - (1 << 32) - {down})?;"));
            }
            Op::Bail => self.line(indent, format_args!("return None;")),
        }
    }
}
