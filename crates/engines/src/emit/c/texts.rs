//! Tables of ready texts, laid out so that one is copied without a branch
//! where that is possible.

use super::{index, line, quoted};
use crate::flat::{Flat, Table};
use std::fmt::Write;

/// Rows of a table; the last byte of a row is the length of its text.
const ROWS: [usize; 3] = [8, 16, 32];

enum Layout {
    /// Texts of one length, one behind the other.
    Same(usize),
    /// Rows of one length.
    Rows(usize),
    /// One behind the other, with where they begin.
    Loose,
}

fn layout(table: &Table) -> Layout {
    let longest = table.longest();
    if longest <= 16 && table.texts.iter().all(|text| text.len() == longest) {
        return Layout::Same(longest);
    }
    match ROWS.iter().find(|&&row| longest < row) {
        Some(&row) => Layout::Rows(row),
        None => Layout::Loose,
    }
}

/// Writes the tables of uneven draws among more than `few`.
pub(super) fn draws(flat: &Flat, few: usize, out: &mut String) {
    for (id, draw) in flat.draws.iter().enumerate() {
        if let Some(guide) = draw.guide().filter(|guide| guide.lasts.len() > few) {
            numbers(out, &format!("d{id}"), &guide.begins);
            numbers(out, &format!("d{id}_last"), &guide.lasts);
        }
    }
}

/// Writes all tables.
pub(super) fn tables(flat: &Flat, out: &mut String) {
    draws(flat, 2, out);
    for (id, table) in flat.tables.iter().enumerate() {
        match layout(table) {
            Layout::Same(0) => {}
            Layout::Same(1) => {
                let bytes: Vec<u8> = table.texts.iter().flatten().copied().collect();
                line(out, 0, format_args!("MAYBE const unsigned char t{id}[] = {};", quoted(&bytes)));
            }
            Layout::Same(row) => rows(table, id, row, out),
            Layout::Rows(row) => rows(table, id, row, out),
            Layout::Loose => {
                line(out, 0, format_args!("MAYBE const unsigned char t{id}[] ="));
                for text in &table.texts {
                    line(out, 1, format_args!("{}", quoted(text)));
                }
                line(out, 1, format_args!(";"));
                let mut firsts = vec![0];
                for text in &table.texts {
                    firsts.push(firsts[firsts.len() - 1] + text.len());
                }
                let firsts: Vec<String> = firsts.iter().map(usize::to_string).collect();
                let firsts = firsts.join(", ");
                line(out, 0, format_args!("MAYBE const uint32_t t{id}_first[] = {{ {firsts} }};"));
            }
        }
    }
}

fn numbers(out: &mut String, name: &str, values: &[u32]) {
    let terms: Vec<String> = values.iter().map(|value| format!("{value}u")).collect();
    line(out, 0, format_args!("MAYBE const uint32_t {name}[] = {{ {} }};", terms.join(", ")));
}

fn rows(table: &Table, id: usize, row: usize, out: &mut String) {
    line(out, 0, format_args!("MAYBE const unsigned char t{id}[][{row}] = {{"));
    for text in &table.texts {
        let mut bytes = text.clone();
        if bytes.len() < row {
            bytes.resize(row - 1, 0);
            bytes.push(text.len() as u8);
        }
        let mut cells = String::new();
        for byte in bytes {
            let _ = write!(cells, "{byte}, ");
        }
        line(out, 1, format_args!("{{ {cells}}},"));
    }
    line(out, 0, format_args!("}};"));
}

/// Copies a text that `random` chooses to `out`.
pub(super) fn pick(flat: &Flat, id: usize, indent: usize, out: &mut String) {
    let table = &flat.tables[id];
    let index = index(&flat.draws[table.draw], table.draw);
    match layout(table) {
        // Only the draw counts.
        Layout::Same(0) => {}
        Layout::Same(1) => line(out, indent, format_args!("*out++ = t{id}[{index}];")),
        Layout::Same(row) => {
            line(out, indent, format_args!("memcpy(out, t{id}[{index}], {row});"));
            line(out, indent, format_args!("out += {row};"));
        }
        Layout::Rows(row) => {
            line(out, indent, format_args!("row = t{id}[{index}];"));
            line(out, indent, format_args!("memcpy(out, row, {row});"));
            line(out, indent, format_args!("out += row[{}];", row - 1));
        }
        Layout::Loose => {
            line(out, indent, format_args!("at = {index};"));
            line(out, indent, format_args!("length = t{id}_first[at + 1] - t{id}_first[at];"));
            line(out, indent, format_args!("memcpy(out, t{id} + t{id}_first[at], length);"));
            line(out, indent, format_args!("out += length;"));
        }
    }
}
