//! How much room each table gets: as much as it is worth.
//!
//! In:  a program.
//! Out: for each stack symbol and row that trial runs came by, the number of
//!      entries that its table may have.
//!
//! A table of n entries settles about log n bits with each draw, so among
//! tables that are drawn from with frequency f the steps are fewest where n
//! is proportional to f. How often a table is drawn from depends on what the
//! others hold; so the first run is with small tables, and each further run
//! with those that the one before suggests. The runs draw from a fixed
//! stream: a plan is a pure function of grammar, options and
//! [`FORMAT`](super::FORMAT).

use super::item::{HORIZON, Item, Row};
use super::machine::element;
use super::sets::Sets;
use super::store::{ROWS, Store};
use super::stream::Stream;
use hashbrown::HashMap;
use wug_produce::program::Program;

/// Entries of all tables that the trial came by.
const ROOM: f64 = 3000.0;
/// Entries that a table may have in any case.
pub const LEAST_ROOM: usize = 4;
/// Trial runs.
const RUNS: usize = 3;
/// Steps of a run, at most.
const STEPS: u32 = 20_000;
/// Inputs of a run, at most.
const INPUTS: u64 = 5_000;
/// Tables that are made in a run, at most: where there are so many, none is
/// worth much room.
const TABLES: u32 = 2_000;

/// Room for tables.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    rooms: HashMap<Box<[Item]>, [u32; ROWS]>,
    /// Gives the sets in `rooms` their numbers.
    pub sets: Sets,
}

impl Plan {
    /// Tries a program out.
    pub fn of(program: &Program) -> Plan {
        (0..RUNS).fold(Plan::default(), |plan, _| plan.tried(program))
    }

    /// How many entries a table may have.
    pub fn room(&self, items: &[Item], row: Row) -> usize {
        let room = self.rooms.get(items).map_or(0, |rooms| rooms[usize::from(row)]);
        LEAST_ROOM.max(room as usize)
    }

    /// The plan that running this one suggests.
    fn tried(self, program: &Program) -> Plan {
        let mut store = Store::planned(program, &[], self.into());
        let mut visits: Vec<[u32; ROWS]> = Vec::new();
        let (mut steps, mut tables) = (0, 0);
        let mut stack = Vec::new();
        'run: for index in 0..INPUTS {
            let mut stream = Stream::new(0, index);
            stack.push(element(store.start(), store.levels()));
            while let Some(top) = stack.pop() {
                let (symbol, row) = ((top >> 16) as u16, (top as u16).min(HORIZON));
                if !store.is_made(symbol, row) {
                    if tables == TABLES || !store.has_room() {
                        break 'run;
                    }
                    store.build(symbol, row);
                    tables += 1;
                }
                let (entry, _) = store.draw(symbol, row, stream.next());
                let levels = |less| (top as u16).saturating_sub(less);
                stack.extend(entry.pushed().map(|(symbol, less)| element(symbol, levels(less))));
                visits.resize(visits.len().max(usize::from(symbol) + 1), [0; ROWS]);
                visits[usize::from(symbol)][usize::from(row)] += 1;
                steps += 1;
                if steps == STEPS {
                    break 'run;
                }
            }
        }
        let share = ROOM / f64::from(steps.max(1));
        let rooms = visits.iter().enumerate().map(|(symbol, visits)| {
            (store.items(symbol as u16).into(), visits.map(|visits| (f64::from(visits) * share) as u32))
        });
        Plan { rooms: rooms.collect(), sets: std::mem::take(&mut store.expander.sets).numbered() }
    }
}
