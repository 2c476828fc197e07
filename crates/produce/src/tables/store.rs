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
use super::entry::{Emission, Entry, TEXT};
use super::expand::{Emit, Expander, Form};
use super::item::{HORIZON, Item, Row, What, normalise};
use super::plan::Plan;
use crate::program::Program;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Rows of a symbol.
pub const ROWS: usize = HORIZON as usize + 1;
/// The symbol below all others: its entry ends an input and begins the next.
pub const END: u16 = 0;

/// Most entries of a table.
const MOST_ROOM: usize = 1024;

/// Beyond these numbers all tables are thrown away. Numbers of symbols have
/// 16 bits, and one table adds a few thousand at most.
const MOST_SYMBOLS: usize = 50_000;
/// Entries of 24 bytes, with their columns.
const MOST_ENTRIES: usize = 1 << 18;
const MOST_TUPLES: usize = 1 << 21;
/// Numbers of emissions have 16 bits.
const MOST_EMISSIONS: usize = 60_000;

/// A table: its first column and entry, and how many it has; none if it was
/// not made.
pub type Table = [u32; 2];

/// Where the table of a symbol and row is.
#[inline(always)]
pub fn table_at(symbol: u16, row: Row) -> usize {
    // Row by row: most steps are in the same one.
    usize::from(row) << 16 | usize::from(symbol)
}

/// All that was met.
#[derive(Debug)]
pub struct Store<'p> {
    pub program: &'p Program,
    pub expander: Expander,
    means: Means,
    plan: Arc<Plan>,
    /// What the entry of [`END`] emits.
    pub separator: Box<[u8]>,
    numbers: HashMap<Box<[Item]>, u16>,
    symbols: Vec<Box<[Item]>>,
    /// Least bytes of each symbol, and the greatest of them.
    least: Vec<u64>,
    pub most_least: u64,
    /// What an entry of each table can add at most to the bytes emitted and
    /// the least length of what is open, by table; and the greatest of them.
    growth: HashMap<usize, u64>,
    pub most_growth: u64,
    /// For each symbol and row.
    pub tables: Vec<Table>,
    /// Of each entry, [`alias::Column`] as one number: the threshold above the
    /// other entry.
    pub columns: Vec<u64>,
    pub entries: Vec<Entry>,
    pub emissions: Vec<Emission>,
    emission_numbers: HashMap<Emission, u16>,
    /// Most entries.
    pub most_entries: usize,
}

impl<'p> Store<'p> {
    /// An empty one. The separator has at most [`TEXT`] bytes.
    pub fn new(program: &'p Program, separator: &[u8]) -> Store<'p> {
        let plan = program.plan.get_or_init(|| Arc::new(Plan::of(program)));
        Store::planned(program, separator, plan.clone())
    }

    /// As [`Store::new`], with a plan.
    pub fn planned(program: &'p Program, separator: &[u8], plan: Arc<Plan>) -> Store<'p> {
        let mut store = Store {
            program,
            expander: Expander::new(program, plan.sets.clone()),
            means: Means::of(program),
            plan,
            separator: separator.into(),
            numbers: HashMap::new(),
            symbols: Vec::new(),
            least: Vec::new(),
            most_least: 0,
            growth: HashMap::new(),
            most_growth: 0,
            tables: vec![[0; 2]; ROWS << 16],
            columns: Vec::new(),
            entries: Vec::new(),
            emissions: Vec::new(),
            emission_numbers: HashMap::new(),
            most_entries: MOST_ENTRIES,
        };
        store.clear();
        store
    }

    /// Throws everything away but [`END`] and the start. The greatest values
    /// stay: inputs on their way have seen them.
    fn clear(&mut self) {
        let made = self.least.len();
        self.numbers.clear();
        self.symbols.clear();
        self.least.clear();
        for row in 0..ROWS {
            self.tables[row << 16..][..made].fill([0; 2]);
        }
        self.columns.clear();
        self.entries.clear();
        self.emissions.clear();
        self.emission_numbers.clear();
        // The first is nothing.
        self.emission(Emission::default());
        self.expander.sets.clear();
        self.growth.clear();
        let end = self.symbol(Box::new([]));
        let rule = self.program.grammar.start();
        let start = self.symbol(Box::new([Item::flat(What::Body(self.program.grammar.rule(rule).body))]));
        let mut emission = Emission { len: self.separator.len() as u8, ..Emission::default() };
        emission.text[..self.separator.len()].copy_from_slice(&self.separator);
        let emission = self.emission(emission);
        let mut entry = Entry { height: 2, emission, ..Entry::default() };
        entry.set_push(0, end, 0, 0);
        entry.set_push(1, start, 0, 0);
        for row in 0..ROWS {
            self.tables[table_at(END, row as Row)] = [0, 1];
        }
        self.columns.push(u64::MAX);
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

    /// How many symbols there are.
    pub fn symbols(&self) -> usize {
        self.symbols.len()
    }

    /// Least bytes of a symbol.
    pub fn least(&self, symbol: u16) -> u64 {
        self.least[usize::from(symbol)]
    }

    /// What the table of a symbol can add at most; see `growth`.
    pub fn growth(&self, symbol: u16, row: Row) -> u64 {
        self.growth.get(&table_at(symbol, row)).copied().unwrap_or(0)
    }

    /// Least bytes of all that an entry pushes.
    pub fn pushed(&self, entry: &Entry) -> u64 {
        entry.pushed().fold(0, |sum, (symbol, _)| sum.saturating_add(self.least(symbol)))
    }

    /// The number of an emission.
    fn emission(&mut self, emission: Emission) -> u16 {
        let next = self.emissions.len() as u16;
        let number = *self.emission_numbers.entry(emission).or_insert(next);
        if number == next {
            self.emissions.push(emission);
        }
        number
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
        number
    }

    /// Whether a table was made.
    pub fn is_made(&self, symbol: u16, row: Row) -> bool {
        self.tables[table_at(symbol, row)][1] > 0
    }

    /// The entry that 64 random bits pick from a table that was made: the
    /// upper half picks a column, and whether it is its own entry.
    pub fn draw(&self, symbol: u16, row: Row, random: u64) -> Entry {
        let [first, count] = self.tables[table_at(symbol, row)];
        let drawn = u128::from(random) * u128::from(count);
        let own = first + (drawn >> 64) as u32;
        let column = self.columns[own as usize];
        let entry = if drawn as u64 > column { column as u32 } else { own };
        self.entries[entry as usize]
    }

    /// The bytes that an entry emits, and how many: drawn ones by the lower
    /// half of the random bits.
    pub fn emitted(&self, entry: &Entry, random: u64) -> ([u8; TEXT], usize) {
        let emission = &self.emissions[usize::from(entry.emission)];
        let tuple = self.expander.sets.all[emission.pick(random)];
        (emission.with(tuple), emission.len.into())
    }

    /// Whether there is room for another table.
    pub fn has_room(&self) -> bool {
        self.symbols.len() < MOST_SYMBOLS
            && self.entries.len() < self.most_entries
            && self.emissions.len() < MOST_EMISSIONS
            && self.expander.sets.all.len() < MOST_TUPLES
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

    /// Makes the table of a symbol.
    pub fn build(&mut self, symbol: u16, row: Row) {
        let items = self.symbols[usize::from(symbol)].clone();
        let room = self.plan.room(&items, row).min(MOST_ROOM);
        let forms = forms(&mut self.expander, self.program, &self.means, &items, row, room);
        let first = self.entries.len() as u32;
        let weights: Vec<f64> = forms.iter().map(|form| form.probability).collect();
        for column in alias::columns(&weights) {
            self.columns.push(u64::from(column.threshold) << 32 | u64::from(first + column.other));
        }
        let mut most = 0;
        for form in &forms {
            let entry = self.entry(form, row);
            most = most.max(self.pushed(&entry).saturating_add(form.emit.len() as u64));
            self.entries.push(entry);
        }
        let table = table_at(symbol, row);
        self.tables[table] = [first, forms.len() as u32];
        let growth = most.saturating_sub(self.least(symbol));
        self.growth.insert(table, growth);
        self.most_growth = self.most_growth.max(growth);
    }

    fn entry(&mut self, form: &Form, row: Row) -> Entry {
        let mut emission = Emission { len: form.emit.len() as u8, ..Emission::default() };
        let mut drawn: Vec<(u32, usize)> = Vec::new();
        for (place, emit) in form.emit.iter().enumerate() {
            match *emit {
                Emit::Byte(byte) => emission.text[place] = byte,
                Emit::Of(set) => drawn.push((set, place)),
            }
        }
        if !drawn.is_empty() {
            let sets = &mut self.expander.sets;
            // By members: numbers depend on what was met before.
            drawn.sort_by(|a, b| sets.members(a.0).cmp(sets.members(b.0)).then(a.1.cmp(&b.1)));
            let numbers: Vec<u32> = drawn.iter().map(|d| d.0).collect();
            emission.tuples = sets.tuples(&numbers);
            for (byte, (_, place)) in drawn.iter().enumerate() {
                emission.places[*place] = byte as u8;
            }
        }
        let mut parts = groups(&self.means, |item| self.expander.depends(item), &form.rest);
        if parts.len() > PUSHES {
            let end = parts[PUSHES - 1].end;
            parts.truncate(PUSHES - 1);
            parts.push(0..end);
        }
        let emission = self.emission(emission);
        let mut entry = Entry { emission, height: parts.len() as u8, ..Entry::default() };
        for (at, part) in parts.into_iter().rev().enumerate() {
            let mut items: Vec<Item> = form.rest[part].iter().rev().copied().collect();
            let less = normalise(&mut items, |item| self.expander.depends(item), row);
            let symbol = self.symbol(items.into());
            entry.set_push(at, symbol, less, row);
        }
        entry
    }
}
