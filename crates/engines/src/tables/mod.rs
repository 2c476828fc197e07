//! Expansions as data: the fast engine.
//!
//! In:  a [`Program`].
//! Out: inputs with the distribution of the other engines, from a random
//!      stream of its own.
//!
//! One unpredictable branch per choice is what slows a producer down. Here a
//! choice is a number: for each stack symbol and depth a table lists what can
//! come of it, several choices ahead, and a draw picks an entry by its exact
//! probability (`build`, `shares`). An entry emits up to 28 bytes and pushes
//! up to four symbols, which takes the machine three stores and no branch
//! (`machine`, `entry`). Bytes of sets, such as digits, are drawn apart and
//! shuffled into place (`sets`). How many entries a table gets is planned
//! (`plan`): all that are drawn from often have to stay in the cache. Several
//! inputs are made at once (`lane`), so that the processor works on one while
//! it waits for memory in another; their random bits are made together
//! (`stream`).
//!
//! What comes out is a function of the program, the seed, the index and
//! [`FORMAT`]: not of the number of lanes or threads, the processor, or what
//! was made before. Where an input comes near a limit it is ended choice by
//! choice (`careful`). The bound on work counts steps of the machine.
//!
//! Rejected: several draws of bytes in one entry (more instructions than it
//! saves steps), tables that hold more than one row beyond the horizon and
//! longer stack symbols (they do not stay in the cache), and a round made part
//! by part for all lanes (what is kept in between costs more than is won).
//! Ends of inputs without a branch cost every step more than the branch costs
//! at an end, unless inputs are as short as ten steps.

mod build;
mod careful;
mod entry;
mod expand;
mod item;
mod lane;
mod machine;
mod parts;
mod plan;
mod sets;
mod shares;
mod store;
mod stream;

use entry::TEXT;
use lane::{Aside, Buffers, ROUNDS};
pub use plan::Plan;
use wug_produce::batch::Piece;
use wug_produce::program::Program;

use machine::{Lane, MOST_LANES, View};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use store::Store;

/// Changes when the same seed gives other inputs.
pub const FORMAT: u32 = 5;
/// Inputs that are made at once.
pub const LANES: usize = 4;
/// Bytes of a piece of work, roughly. Those under way should stay in the cache
/// beside the tables.
const PIECE: f64 = 12.0 * 1024.0;
/// Most inputs of a piece.
const MOST_INPUTS: u64 = 4096;
/// Pieces of each lane that may be ready before one that is not: more, and
/// lanes wait.
const AHEAD: usize = 64;
/// Unless they have so many bytes, and there are some.
const HELD: usize = 4 << 20;
const LEAST_AHEAD: usize = 4;

/// Makes the inputs of a program.
#[derive(Debug)]
pub struct Tables<'p> {
    store: Store<'p>,
    aside: Aside<'p>,
    lanes: Vec<Buffers>,
    portable: bool,
}

/// Why tables do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Inputs must be lexed again.
    Relexed,
    /// More levels than a stack element holds.
    Depth,
    /// The separator is longer than an entry.
    Separator,
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Misfit::Relexed => "its inputs are lexed again, which tables cannot do",
            Misfit::Depth => "tables hold at most 65,535 levels of depth",
            Misfit::Separator => "tables hold separators of at most 28 bytes",
        })
    }
}

impl std::error::Error for Misfit {}

impl<'p> Tables<'p> {
    /// For a program, with `separator` behind each input.
    pub fn new(program: &'p Program, separator: &[u8]) -> Result<Tables<'p>, Misfit> {
        if let Some(misfit) = Tables::misfit(program, separator) {
            return Err(misfit);
        }
        Ok(Tables::of(Store::new(program, separator)))
    }

    fn of(store: Store<'p>) -> Tables<'p> {
        Tables { store, aside: Aside::default(), lanes: Vec::new(), portable: false }.with_lanes(LANES)
    }

    /// How much room each table gets, which takes a trial run to find out.
    pub fn plan(&self) -> Arc<Plan> {
        self.store.plan()
    }

    /// As [`Tables::new`], with a plan that tables of the same program made.
    pub fn planned(program: &'p Program, separator: &[u8], plan: Arc<Plan>) -> Result<Tables<'p>, Misfit> {
        match Tables::misfit(program, separator) {
            Some(misfit) => Err(misfit),
            None => Ok(Tables::of(Store::planned(program, separator, plan))),
        }
    }

    /// Why there are no tables for a program and a separator, if so.
    pub fn misfit(program: &Program, separator: &[u8]) -> Option<Misfit> {
        if program.relex.is_some() {
            Some(Misfit::Relexed)
        } else if program.options.max_depth > u32::from(u16::MAX) {
            Some(Misfit::Depth)
        } else {
            (separator.len() > TEXT).then_some(Misfit::Separator)
        }
    }

    /// With 1 to 8 inputs at once. What comes out is the same.
    pub fn with_lanes(mut self, lanes: usize) -> Tables<'p> {
        self.lanes = (0..lanes.clamp(1, MOST_LANES)).map(Buffers::new).collect();
        self
    }

    /// Without instructions that not every processor has. What comes out is
    /// the same.
    pub fn portable(mut self) -> Tables<'p> {
        self.portable = true;
        self
    }

    /// With at most about this many entries (16 bytes each, and 16 slots count as
    /// one; 262,144 if not said otherwise) before all are thrown away and made
    /// again. What comes out is the same.
    pub fn with_entries(mut self, most: usize) -> Tables<'p> {
        self.store.limit_blocks(most);
        self
    }

    /// Entries and symbols that were made so far.
    pub fn figures(&self) -> (usize, usize) {
        (self.store.blocks.len(), self.store.symbols())
    }

    /// How many inputs go into one piece of work.
    pub fn piece_inputs(&self) -> u64 {
        let mean = self.store.program.expected_length().max(1.0);
        ((PIECE / mean) as u64).clamp(1, MOST_INPUTS)
    }

    /// Appends input `index` of `seed`, without separator.
    pub fn one(&mut self, seed: u64, index: u64, out: &mut Vec<u8>) {
        let mut pieces = self.pieces(seed, std::iter::once(index..index.saturating_add(1)));
        if let Some(piece) = pieces.next() {
            out.extend(piece.inputs().flat_map(|(_, input)| input));
        }
    }

    /// Makes the inputs of all `work`, piece by piece, in this order.
    pub fn pieces<W: Iterator<Item = Range<u64>>>(&mut self, seed: u64, work: W) -> Pieces<'_, 'p, W> {
        for lane in &mut self.lanes {
            lane.busy = false;
        }
        let numbers = vec![0; self.lanes.len()];
        let most_looks = (self.store.program.max_steps() / ROUNDS as u64).saturating_sub(100).max(1);
        let (ready, spare) = (VecDeque::new(), Vec::new());
        Pieces { tables: self, seed, work, ready, held: 0, first: 0, numbers, spare, most_looks }
    }
}

/// Pieces of work that are under way.
#[derive(Debug)]
pub struct Pieces<'t, 'p, W> {
    tables: &'t mut Tables<'p>,
    seed: u64,
    work: W,
    /// Pieces from number `first` on, once they are ready.
    ready: VecDeque<Option<Piece>>,
    first: u64,
    /// Bytes of those that are.
    held: usize,
    /// The piece of each lane.
    numbers: Vec<u64>,
    spare: Vec<Piece>,
    /// Looks after which the bound on work may be near.
    most_looks: u64,
}

impl<W: Iterator<Item = Range<u64>>> Pieces<'_, '_, W> {
    /// Gives a piece back whose bytes are no longer needed.
    pub fn recycle(&mut self, piece: Piece) {
        self.spare.push(piece);
    }

    /// Gives each idle lane the next piece of work, unless it is far ahead.
    fn employ(&mut self) {
        for at in 0..self.tables.lanes.len() {
            let ahead = self.ready.len() / self.tables.lanes.len();
            let far = ahead >= AHEAD || (ahead >= LEAST_AHEAD && self.held >= HELD);
            if self.tables.lanes[at].busy || far {
                continue;
            }
            let Some(indices) = self.work.next() else { return };
            self.numbers[at] = self.first + self.ready.len() as u64;
            self.ready.push_back(None);
            let piece = self.spare.pop().unwrap_or_default();
            self.tables.lanes[at].begin(&self.tables.store, piece, self.seed, indices);
        }
    }

    /// Does what a lane is in need of.
    fn look_after(&mut self, at: usize) {
        let Tables { store, aside, lanes, .. } = &mut *self.tables;
        if lanes[at].busy
            && !lanes[at].goes_on(&lanes[at].lane, self.most_looks)
            && let Some(piece) = lanes[at].tend(store, aside)
        {
            let place = (self.numbers[at] - self.first) as usize;
            self.held += piece.bytes().len();
            self.ready[place] = Some(piece);
        }
    }

    /// Rounds of all lanes that have work, until one is in need of something.
    fn work(&mut self) {
        let (mut busy, mut count) = ([0; MOST_LANES], 0);
        for (at, _) in self.tables.lanes.iter().enumerate().filter(|(_, lane)| lane.busy) {
            busy[count] = at;
            count += 1;
        }
        match count {
            1 => self.run::<1>(&busy),
            2 => self.run::<2>(&busy),
            3 => self.run::<3>(&busy),
            4 => self.run::<4>(&busy),
            5 => self.run::<5>(&busy),
            6 => self.run::<6>(&busy),
            7 => self.run::<7>(&busy),
            _ => self.run::<8>(&busy),
        }
    }

    /// Rounds of these.
    fn run<const K: usize>(&mut self, at: &[usize; MOST_LANES]) {
        let Tables { store, lanes: buffers, portable, .. } = &mut *self.tables;
        let mut lanes: [Lane; K] = std::array::from_fn(|k| buffers[at[k]].lane);
        let view = View::of(store);
        let missing = loop {
            // SAFETY: `look_after` saw to the room of each lane before, or it
            // goes on with what it has, and each stack has the end at its
            // bottom.
            let missing = unsafe {
                match portable {
                    false => machine::run(&view, &mut lanes, ROUNDS),
                    true => machine::run_portable(&view, &mut lanes, ROUNDS),
                }
            };
            let mut all_go_on = missing.is_none();
            for (k, lane) in lanes.iter().enumerate() {
                let buffers = &mut buffers[at[k]];
                buffers.looks += 1;
                all_go_on &= buffers.goes_on(lane, self.most_looks);
            }
            if !all_go_on {
                break missing;
            }
        };
        for (k, lane) in lanes.iter().enumerate() {
            buffers[at[k]].lane = *lane;
        }
        if let Some(k) = missing {
            self.build(at[k]);
        }
        for &at in &at[..K] {
            self.look_after(at);
        }
    }

    /// Makes the table that a lane is in need of.
    fn build(&mut self, at: usize) {
        let Tables { store, aside, lanes, .. } = &mut *self.tables;
        if !store.has_room() {
            let busy = lanes.iter_mut().filter(|lane| lane.busy);
            let mut stacks: Vec<&mut [u32]> = busy.map(|lane| lane.stack()).collect();
            let kept = store.start_over(&mut stacks);
            if kept.is_none() {
                store.start_over(&mut []);
            }
            for lane in lanes.iter_mut().filter(|lane| lane.busy) {
                match kept {
                    Some(()) => lane.changed(),
                    None => lane.give_up(store, aside),
                }
            }
        }
        let most = (store.most_least, store.most_growth);
        if let Some(&element) = lanes[at].stack().last() {
            let row = (element as u16).min(item::HORIZON);
            store.build((element >> 16) as u16, row);
        }
        if (store.most_least, store.most_growth) != most {
            // The limits of all lanes were for shorter symbols.
            for lane in lanes.iter_mut().filter(|lane| lane.busy) {
                lane.doubt();
            }
        }
    }
}

impl<W: Iterator<Item = Range<u64>>> Iterator for Pieces<'_, '_, W> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            self.employ();
            match self.ready.front_mut() {
                None => return None,
                Some(Some(piece)) => {
                    self.first += 1;
                    self.held -= piece.bytes().len();
                    return self.ready.pop_front().flatten();
                }
                Some(None) => self.work(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wug_produce::program::Options;

    #[test]
    fn lanes_run_ahead_of_a_late_piece_but_hold_no_more_than_some_megabytes() {
        const LENGTH: usize = 100_000;
        let text = format!("s = ('a' | 'b'){{{LENGTH}}} ;");
        let loaded = wug_grammar::load::load_text("g.wug", &text, wug_grammar::Notation::Wug);
        let grammar = loaded.unwrap_or_else(|e| panic!("{e}")).grammar;
        let program = Program::new(&grammar, Options::default()).unwrap();
        let mut tables = Tables::new(&program, b"").unwrap();
        let lanes = tables.lanes.len();
        // The first is as long as many others.
        let work = std::iter::once(0..100).chain((100..).map(|index| index..index + 1));
        let mut pieces = tables.pieces(1, work);
        assert_eq!(pieces.next().unwrap().len(), 100);
        let ahead = pieces.held;
        assert!(ahead > lanes * LEAST_AHEAD * LENGTH, "{ahead}");
        assert!(ahead <= HELD + lanes * LENGTH, "{ahead}");
        let held = pieces.ready.iter().flatten().map(|piece| piece.bytes().len());
        assert_eq!(held.sum::<usize>(), ahead);
    }

    /// A grammar of long inputs, half of which pass the limit, with sets of
    /// bytes, repetitions and rules that are drawn in parts.
    const DEEP: &str = "s = e (';' e)* ; e = t '+' e | t '*' e | t ; t = '(' e ')' | 'f' '(' e ',' e ')' \
                        | [a-z]{1,4} | [0-9]+ | s ;";

    fn deep(max_size: u64) -> Program {
        let loaded = wug_grammar::load::load_text("g.wug", DEEP, wug_grammar::Notation::Wug);
        let grammar = loaded.unwrap_or_else(|e| panic!("{e}")).grammar;
        Program::new(&grammar, Options { max_depth: 40, max_size, ..Options::default() }).unwrap()
    }

    #[test]
    fn what_passes_the_limit_is_as_if_made_with_care_from_its_beginning() {
        for max_size in [1_000, 5_000, 20_000, 100_000] {
            let program = deep(max_size);
            let mut tables = Tables::new(&program, b"\n").unwrap();
            let mut own = Store::new(&program, b"");
            let mut limited = 0;
            let pieces: Vec<Piece> =
                tables.pieces(7, std::iter::once(0..40).chain([40..60, 60..61])).collect();
            let mut count = 0;
            for (index, input) in pieces.iter().flat_map(Piece::inputs) {
                let (mut expected, mut scratch) = (Vec::new(), Default::default());
                let stream = stream::Stream::new(7, index);
                assert!(careful::Careful::new(&mut own, stream).run(&mut expected, 0, &mut scratch));
                assert!(input == expected, "{max_size} {index}");
                limited += usize::from(input.len() as u64 > max_size - 100);
                count += 1;
            }
            assert!(count == 61 && limited > 10, "{count} {limited}");
        }
    }

    #[test]
    fn only_the_last_part_of_what_passes_the_limit_is_made_with_care() {
        let program = deep(100_000);
        let mut tables = Tables::new(&program, b"\n").unwrap();
        let bytes: usize = tables.pieces(7, std::iter::once(0..100)).map(|piece| piece.bytes().len()).sum();
        let with_care = tables.aside.bytes;
        assert!(bytes > 2_000_000 && with_care > 0 && with_care * 8 < bytes as u64, "{with_care} of {bytes}");
    }
}
