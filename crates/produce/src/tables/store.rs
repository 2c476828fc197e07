//! Symbols and tables, made when they are first met.
//!
//! In:  stack symbols as lists of items, and rows.
//! Out: their tables, in the flat arrays that the machine reads.
//!
//! What a table holds is a function of its symbol, its row and the program;
//! numbers of symbols depend on what was met before, but nothing that comes
//! out does. So tables can be thrown away when there are too many, and made
//! again.

use super::alias;
use super::build::{Means, PUSHES, forms, groups};
use super::expand::{Emit, Expander, Form, TEXT};
use super::item::{HORIZON, Item, Row, What, normalise};
use super::sets::Tuples;
use super::visits::Visits;
use crate::program::Program;
use std::collections::{HashMap, HashSet};

/// Rows of a symbol.
pub const ROWS: usize = HORIZON as usize + 1;
/// The symbol below all others: its entry ends an input and begins the next.
pub const END: u16 = 0;

/// Entries of the table of a symbol that every choice comes by. Others get
/// less by the square root of their share: what comes by seldom is met in
/// many tables, and a table's use grows with the logarithm of its size.
const ROOM: f64 = 150.0;
/// Entries that a table may have in any case, and at most.
const LEAST_ROOM: usize = 4;
const MOST_ROOM: usize = 1024;

/// Beyond these numbers all tables are thrown away. Numbers of symbols have
/// 16 bits, and one table adds a few thousand at most.
const MOST_SYMBOLS: usize = 50_000;
/// Entries of 72 bytes, with their columns.
const MOST_ENTRIES: usize = 1 << 18;
const MOST_WORDS: usize = 1 << 21;

/// An entry: one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What is emitted.
    pub text: [u8; TEXT],
    /// Where the bytes of a tuple go: for each place the byte of the tuple,
    /// or 128.
    pub places: [u8; TEXT],
    /// Levels and symbols to push, as what is subtracted from (levels,
    /// 65,535): leftmost last.
    pub pushes: [u16; 2 * PUSHES],
    /// The table of tuples that is drawn from.
    pub tuples: Tuples,
    /// How many bytes are emitted.
    pub len: u8,
    /// How many symbols are pushed.
    pub height: u8,
}

impl Default for Entry {
    fn default() -> Entry {
        Entry {
            text: [0; TEXT],
            places: [128; TEXT],
            pushes: [0; 2 * PUSHES],
            tuples: Tuples::default(),
            len: 0,
            height: 0,
        }
    }
}

/// One column of a table, as [`alias::Column`], with numbers of entries.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub threshold: u32,
    pub other: u32,
}

/// All that was met.
#[derive(Debug)]
pub struct Store<'p> {
    pub program: &'p Program,
    pub expander: Expander,
    means: Means,
    visits: Visits,
    /// What the entry of [`END`] emits.
    pub separator: Box<[u8]>,
    numbers: HashMap<Box<[Item]>, u16>,
    symbols: Vec<Box<[Item]>>,
    /// Least bytes of each symbol, and the greatest of them.
    least: Vec<u64>,
    pub most_least: u64,
    /// What an entry of each table can add at most to the bytes emitted and
    /// the least length of what is open, by table; and the greatest of them.
    growth: Vec<u64>,
    pub most_growth: u64,
    /// For each symbol and row the first entry and, in the upper half, how
    /// many; 0 if there is no table.
    pub tables: Vec<u64>,
    pub columns: Vec<Column>,
    pub entries: Vec<Entry>,
    /// Most entries.
    pub most_entries: usize,
}

impl<'p> Store<'p> {
    /// An empty one. The separator has at most [`TEXT`] bytes.
    pub fn new(program: &'p Program, separator: &[u8]) -> Store<'p> {
        let mut store = Store {
            program,
            expander: Expander::new(program),
            means: Means::of(program),
            visits: Visits::of(program),
            separator: separator.into(),
            numbers: HashMap::new(),
            symbols: Vec::new(),
            least: Vec::new(),
            most_least: 0,
            growth: Vec::new(),
            most_growth: 0,
            tables: Vec::new(),
            columns: Vec::new(),
            entries: Vec::new(),
            most_entries: MOST_ENTRIES,
        };
        store.clear();
        store
    }

    /// Throws everything away but [`END`] and the start. The greatest values
    /// stay: inputs on their way have seen them.
    fn clear(&mut self) {
        self.numbers.clear();
        self.symbols.clear();
        self.least.clear();
        self.tables.clear();
        self.columns.clear();
        self.entries.clear();
        self.expander.sets.clear();
        self.growth.clear();
        let end = self.symbol(Box::new([]));
        let rule = self.program.grammar.start();
        let start = self.symbol(Box::new([Item::flat(What::Body(self.program.grammar.rule(rule).body))]));
        let mut entry = Entry { len: self.separator.len() as u8, height: 2, ..Entry::default() };
        entry.text[..self.separator.len()].copy_from_slice(&self.separator);
        entry.pushes[..4].copy_from_slice(&[0, u16::MAX - end, 0, u16::MAX - start]);
        self.tables[..ROWS].fill(1 << 32);
        self.columns.push(Column { threshold: u32::MAX, other: 0 });
        self.entries.push(entry);
    }

    /// The start symbol.
    pub fn start(&self) -> u16 {
        END + 1
    }

    /// Levels at the start; at most 65,535, as the caller made sure.
    pub fn levels(&self) -> u16 {
        let limit = self.program.grammar.rule(self.program.grammar.start()).depth_limit;
        self.program.options.max_depth.min(limit.unwrap_or(u32::MAX)) as u16
    }

    /// The items of a symbol.
    pub fn items(&self, symbol: u16) -> &[Item] {
        &self.symbols[usize::from(symbol)]
    }

    /// Least bytes of a symbol.
    pub fn least(&self, symbol: u16) -> u64 {
        self.least[usize::from(symbol)]
    }

    /// What the table of a symbol can add at most; see `growth`.
    pub fn growth(&self, symbol: u16, row: Row) -> u64 {
        self.growth[usize::from(symbol) * ROWS + usize::from(row)]
    }

    /// Least bytes of all that an entry pushes.
    pub fn pushed(&self, entry: &Entry) -> u64 {
        let pushes = entry.pushes.chunks_exact(2).take(entry.height.into());
        pushes.fold(0, |sum, push| sum.saturating_add(self.least(u16::MAX - push[1])))
    }

    fn symbol(&mut self, items: Box<[Item]>) -> u16 {
        if let Some(&number) = self.numbers.get(&items) {
            return number;
        }
        let number = self.symbols.len() as u16;
        let least =
            items.iter().fold(0u64, |sum, item| sum.saturating_add(self.expander.least(self.program, item)));
        self.least.push(least);
        self.most_least = self.most_least.max(least);
        self.numbers.insert(items.clone(), number);
        self.symbols.push(items);
        self.tables.extend([0; ROWS]);
        self.growth.extend([0; ROWS]);
        number
    }

    /// Whether there is room for another table.
    pub fn has_room(&self) -> bool {
        self.symbols.len() < MOST_SYMBOLS
            && self.entries.len() < self.most_entries
            && self.expander.sets.words.len() < MOST_WORDS
    }

    /// Throws all tables away; `stacks` get the new numbers of the symbols
    /// on them. `None`, and nothing done, if those alone are too many.
    pub fn start_over(&mut self, stacks: &mut [&mut [u32]]) -> Option<()> {
        let distinct: HashSet<u32> = stacks.iter().flat_map(|stack| stack.iter().map(|e| e >> 16)).collect();
        if distinct.len() > MOST_SYMBOLS / 2 {
            return None;
        }
        let old = std::mem::take(&mut self.symbols);
        self.clear();
        for element in stacks.iter_mut().flat_map(|stack| stack.iter_mut()) {
            let items = &old[(*element >> 16) as usize];
            let symbol = if items.is_empty() { END } else { self.symbol(items.clone()) };
            *element = u32::from(symbol) << 16 | (*element & 0xffff);
        }
        Some(())
    }

    /// How many entries a table may have.
    fn room(&self, items: &[Item], row: Row) -> usize {
        let shares = items.iter().filter_map(|item| {
            let (What::Body(body) | What::Times(body, _)) = item.what else { return None };
            let row = if row == HORIZON { row } else { row.saturating_sub(item.delta) };
            Some(self.visits.share(body, row))
        });
        let rarest = shares.reduce(f64::min).unwrap_or(0.0);
        ((rarest.sqrt() * ROOM) as usize).clamp(LEAST_ROOM, MOST_ROOM)
    }

    /// Makes the table of a symbol.
    pub fn build(&mut self, symbol: u16, row: Row) {
        let items = self.symbols[usize::from(symbol)].clone();
        let room = self.room(&items, row);
        let forms = forms(&mut self.expander, self.program, &self.means, &items, row, room);
        let first = self.entries.len() as u32;
        let weights: Vec<f64> = forms.iter().map(|form| form.probability).collect();
        for column in alias::columns(&weights) {
            self.columns.push(Column { threshold: column.threshold, other: first + column.other });
        }
        let mut most = 0;
        for form in &forms {
            let entry = self.entry(form, row);
            most = most.max(self.pushed(&entry).saturating_add(entry.len.into()));
            self.entries.push(entry);
        }
        let table = usize::from(symbol) * ROWS + usize::from(row);
        self.tables[table] = u64::from(first) | (forms.len() as u64) << 32;
        self.growth[table] = most.saturating_sub(self.least(symbol));
        self.most_growth = self.most_growth.max(self.growth[table]);
    }

    fn entry(&mut self, form: &Form, row: Row) -> Entry {
        let mut entry = Entry { len: form.emit.len() as u8, ..Entry::default() };
        let mut drawn: Vec<(u32, usize)> = Vec::new();
        for (place, emit) in form.emit.iter().enumerate() {
            match *emit {
                Emit::Byte(byte) => entry.text[place] = byte,
                Emit::Of(set) => drawn.push((set, place)),
            }
        }
        if !drawn.is_empty() {
            let sets = &mut self.expander.sets;
            // By members: numbers depend on what was met before.
            drawn.sort_by(|a, b| sets.members(a.0).cmp(sets.members(b.0)).then(a.1.cmp(&b.1)));
            let numbers: Vec<u32> = drawn.iter().map(|d| d.0).collect();
            entry.tuples = sets.tuples(&numbers);
            for (byte, (_, place)) in drawn.iter().enumerate() {
                entry.places[*place] = byte as u8;
            }
        }
        let mut parts = groups(&self.means, |item| self.expander.depends(item), &form.rest);
        if parts.len() > PUSHES {
            let end = parts[PUSHES - 1].end;
            parts.truncate(PUSHES - 1);
            parts.push(0..end);
        }
        entry.height = parts.len() as u8;
        for (at, part) in parts.into_iter().rev().enumerate() {
            let mut items: Vec<Item> = form.rest[part].iter().rev().copied().collect();
            let less = normalise(&mut items, |item| self.expander.depends(item), row);
            let symbol = self.symbol(items.into());
            entry.pushes[2 * at] = less;
            entry.pushes[2 * at + 1] = u16::MAX - symbol;
        }
        entry
    }
}
