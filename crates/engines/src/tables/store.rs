//! Symbols and tables, made when they are first met.
//!
//! In:  stack symbols as lists of items, and rows.
//! Out: their tables, in the flat arrays that the machine reads.
//!
//! What a table holds is a function of its symbol, its row and the program;
//! numbers of symbols depend on what was met before, but nothing that comes
//! out does. So tables can be thrown away when there are too many, and made
//! again.

use super::build::{Means, PUSHES, forms, groups};
use super::entry::{DRAWN, Emission, Emissions, Entry, SLOTS};
use super::expand::{Emit, Expander, Form};
use super::item::{HORIZON, Item, Row, What, normalise};
use super::plan::{LEAST_ROOM, Plan};
use super::shares::{REST, shares};
use hashbrown::HashMap;
use std::collections::HashSet;
use std::sync::Arc;
use wug_produce::program::Program;

/// Rows of a symbol.
pub const ROWS: usize = HORIZON as usize + 1;
/// The symbol below all others, where an input ends.
pub const END: u16 = 0;

/// Most entries of a table.
const MOST_ROOM: usize = 160;
/// Most forms that are drawn from at once: entries and the blocks of slots
/// before them are numbered by bytes.
const MOST_FORMS: usize = 176;
/// Parts of more forms.
const PARTS: usize = 64;

/// Draws after which nothing is left of a table: what rounding changes then
/// of a probability is below 2^-31.
const MOST_DRAWS: u16 = 8;

/// Beyond these numbers all tables are thrown away. Numbers of symbols have
/// 16 bits, and one table adds a few thousand at most.
const MOST_SYMBOLS: usize = 50_000;
/// Symbols that are taken over from another store at once, at most.
const MOST_ADOPTED: usize = 10_000;
/// Blocks of 16 bytes: entries, and slots before them.
const MOST_BLOCKS: usize = 1 << 18;
/// Blocks that one table takes at most.
const TABLE_BLOCKS: usize = 256;
const MOST_TUPLES: usize = 1 << 21;
/// Words of what is emitted: numbers have 16 bits, and one table adds a few
/// thousand at most.
const MOST_EMITTED: usize = 50_000;

/// A table: blocks with its slots, and behind them its entries. A slot holds
/// where its entry is, in blocks from the first slot on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its first block.
    pub first: *const Entry,
    /// Slots; 0 if the table was not made.
    pub slots: u64,
}

// SAFETY: what it points to is in the blocks of the store that it is of.
unsafe impl Send for Table {}

/// Where the table of a symbol and row is.
#[inline(always)]
pub fn table_at(symbol: u16, row: Row) -> usize {
    // Row by row: most steps are in the same one.
    usize::from(row) << 16 | usize::from(symbol)
}

/// Tables of all symbols and rows, none of them made. Memory is taken only
/// where one is.
fn no_tables() -> Vec<Table> {
    let layout = std::alloc::Layout::array::<Table>(ROWS << 16).expect("a few megabytes");
    // SAFETY: the layout is that of as many tables, and all bytes 0 are none.
    unsafe {
        let first = std::alloc::alloc_zeroed(layout).cast::<Table>();
        if first.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        Vec::from_raw_parts(first, ROWS << 16, ROWS << 16)
    }
}

/// No table.
const NONE: Table = Table { first: std::ptr::null(), slots: 0 };

/// All that was met.
#[derive(Debug)]
pub struct Store<'p> {
    pub program: &'p Program,
    pub expander: Expander,
    means: Means,
    plan: Arc<Plan>,
    /// What stands behind each input.
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
    /// Slots and entries of all tables. There is room for all from the
    /// beginning.
    pub blocks: Vec<Entry>,
    pub emissions: Emissions,
    /// Most blocks.
    most_blocks: usize,
}

impl<'p> Store<'p> {
    /// An empty one. The separator has at most [`TEXT`] bytes.
    pub fn new(program: &'p Program, separator: &[u8]) -> Store<'p> {
        Store::planned(program, separator, Arc::new(Plan::of(program)))
    }

    /// Its plan.
    pub fn plan(&self) -> Arc<Plan> {
        self.plan.clone()
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
            tables: no_tables(),
            blocks: Vec::with_capacity(MOST_BLOCKS + TABLE_BLOCKS),
            emissions: Emissions::default(),
            most_blocks: MOST_BLOCKS,
        };
        store.clear();
        store
    }

    /// With at most about this many blocks before all are thrown away.
    pub fn limit_blocks(&mut self, most: usize) {
        self.most_blocks = most.min(MOST_BLOCKS);
    }

    /// Throws everything away but [`END`] and the start. The greatest values
    /// stay: inputs on their way have seen them.
    fn clear(&mut self) {
        for row in 0..ROWS {
            self.tables[table_at(0, row as Row)..][..self.least.len()].fill(NONE);
        }
        self.numbers.clear();
        self.symbols.clear();
        self.least.clear();
        self.blocks.clear();
        self.emissions.clear();
        self.expander.sets.clear();
        self.growth.clear();
        // The end has no table.
        self.symbol(Box::new([]));
        let rule = self.program.grammar.start();
        self.symbol(Box::new([Item::flat(What::Body(self.program.grammar.rule(rule).body))]));
    }

    /// Puts a table down: for each slot the number of its entry, and these.
    fn place(&mut self, slots: &[u8], entries: &[Entry]) -> Table {
        let ahead = slots.len().div_ceil(SLOTS);
        assert!(ahead + entries.len() <= 256, "entries are numbered by bytes");
        assert!(self.blocks.len() + 256 <= self.blocks.capacity(), "blocks stay where they are");
        let first = self.blocks.as_ptr().wrapping_add(self.blocks.len());
        for part in slots.chunks(SLOTS) {
            self.blocks.push(Entry::of_slots(part.iter().map(|slot| slot + ahead as u8)));
        }
        self.blocks.extend_from_slice(entries);
        Table { first, slots: slots.len() as u64 }
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
        self.tables[table_at(symbol, row)].slots > 0
    }

    /// The entry that 64 random bits pick from a table that was made, and as
    /// many for what it emits: what is left of the bits when a slot is picked.
    pub fn draw(&self, symbol: u16, row: Row, random: u64) -> (Entry, u64) {
        let Table { first, slots } = self.tables[table_at(symbol, row)];
        // SAFETY: it points into the blocks.
        let first = unsafe { first.offset_from(self.blocks.as_ptr()) } as usize;
        let drawn = u128::from(random) * u128::from(slots);
        let slot = (drawn >> 64) as usize;
        let entry = self.blocks[first + slot / SLOTS].slot(slot % SLOTS);
        (self.blocks[first + usize::from(entry)], drawn as u64)
    }

    /// Whether there is room for another table.
    pub fn has_room(&self) -> bool {
        self.symbols.len() < MOST_SYMBOLS
            && self.blocks.len() < self.most_blocks
            && self.emissions.len() < MOST_EMITTED
            && self.expander.sets.tuple_count() < MOST_TUPLES
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

    /// A stack of another store of the same program, in the numbers of this
    /// one; `None` if it has too many symbols. Tables may be thrown away.
    pub fn adopt(&mut self, other: &Store, stack: &[u32]) -> Option<Vec<u32>> {
        let distinct: HashSet<u32> = stack.iter().map(|e| e >> 16).collect();
        if distinct.len() > MOST_ADOPTED {
            return None;
        }
        if !self.has_room() {
            self.start_over(&mut [])?;
        }
        let numbers: HashMap<u32, u16> = distinct
            .into_iter()
            .map(|symbol| {
                let mut items: Box<[Item]> = other.items(symbol as u16).into();
                for item in &mut items {
                    if let What::Set(set) = &mut item.what {
                        *set = self.expander.sets.number(other.expander.sets.members(*set));
                    }
                }
                (symbol, self.symbol(items))
            })
            .collect();
        Some(stack.iter().map(|e| u32::from(numbers[&(e >> 16)]) << 16 | (e & 0xffff)).collect())
    }

    /// Makes the table of a symbol.
    pub fn build(&mut self, symbol: u16, row: Row) {
        let all = self.symbols[usize::from(symbol)].clone();
        let (part, draws, items) = match &*all {
            [Item { what: What::Rest { part, draws }, .. }, items @ ..] => (*part, *draws, items),
            items => (0, 0, items),
        };
        let room = self.plan.room(items, row).min(MOST_ROOM);
        let forms = forms(&mut self.expander, self.program, &self.means, items, row, room);
        // Too many are drawn in parts.
        let step = if forms.len() > MOST_FORMS { forms.len().div_ceil(PARTS) } else { forms.len().max(1) };
        let divided = forms.len() > step && part == 0;
        let forms = match part.checked_sub(1) {
            Some(part) => forms.chunks(step).nth(part.into()).unwrap_or(&forms),
            None => &forms[..],
        };
        let weight = |forms: &[Form]| forms.iter().map(|form| form.probability).sum();
        let weights = forms.chunks(if divided { step } else { 1 }).map(weight).collect();
        let first = shares(weights, room > LEAST_ROOM, false);
        let shared = (1..=draws).fold(first, |left, draw| shares(left.rest, false, draw == MOST_DRAWS));
        let mut entries = Vec::new();
        let mut numbers: HashMap<u16, u8> = HashMap::new();
        let mut slots = Vec::with_capacity(shared.slots.len());
        for slot in shared.slots {
            slots.push(*numbers.entry(slot).or_insert_with(|| {
                entries.push(match slot {
                    REST => self.again(items, What::Rest { part, draws: draws + 1 }, row),
                    one if divided => self.again(items, What::Rest { part: one + 1, draws: 0 }, row),
                    one => self.entry(&forms[usize::from(one)], row),
                });
                (entries.len() - 1) as u8
            }));
        }
        let most = forms.iter().map(|form| {
            let open = form.rest.iter().map(|item| self.expander.least(self.program, item));
            open.fold(form.emit.len() as u64, u64::saturating_add)
        });
        let growth = most.max().unwrap_or(0).saturating_sub(self.least(symbol));
        self.tables[table_at(symbol, row)] = self.place(&slots, &entries);
        self.growth.insert(table_at(symbol, row), growth);
        self.most_growth = self.most_growth.max(growth);
    }

    /// An entry that draws again, from what a table left or from a part of it.
    fn again(&mut self, items: &[Item], what: What, row: Row) -> Entry {
        let rest = std::iter::once(Item::flat(what)).chain(items.iter().copied());
        let symbol = self.symbol(rest.collect());
        let mut entry = Entry::default();
        entry.set_push(0, symbol, 0, row);
        entry
    }

    fn entry(&mut self, form: &Form, row: Row) -> Entry {
        let mut emission =
            Emission { text: vec![0; form.emit.len()], places: [128; DRAWN], ..Emission::default() };
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
        let emission = self.emissions.number(emission);
        let mut entry = Entry { emission, rise: parts.len() as i8 - 1, ..Entry::default() };
        for (at, part) in parts.into_iter().rev().enumerate() {
            let mut items: Vec<Item> = form.rest[part].iter().rev().copied().collect();
            let less = normalise(&mut items, |item| self.expander.depends(item), row);
            let symbol = self.symbol(items.into());
            entry.set_push(at, symbol, less, row);
        }
        entry
    }
}
