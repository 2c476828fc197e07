//! The board: the segment that a target of `wug cc` and the executor share.
//! `wug_runtime::abi` says what is on it.
//!
//! Layout: the head, then each region from a page on. A region of which a
//! target uses little costs little: pages that nobody touches do not exist.
//!
//! A board keeps its length, since a target that could shorten it would end
//! this process. For longer inputs or more ids there is another board, and
//! another warden that hands it to the target. Whatever a target writes on it
//! is foreign: counts are cut to the room that there is, and what is read is
//! checked where it is used. `fuzzing::board` shows that for any contents.

use super::error::Error;
use super::fork::Said;
use super::memory::Shared;
use super::target::Trace;
use std::mem::offset_of;
use std::os::fd::OwnedFd;
use wug_runtime::abi::{self, Board as Head, Event, Module, Region};

/// The number of the segment's descriptor in a target.
pub const DESCRIPTOR: i32 = 197;
/// That of the file that inputs are written to, which a fork server may do.
pub const INPUT_DESCRIPTOR: i32 = 196;

/// The shared segment.
#[derive(Debug)]
pub struct Board {
    file: OwnedFd,
    memory: Shared,
    regions: Regions,
}

#[derive(Clone, Copy, Debug, Default)]
struct Regions {
    map: Region,
    events: Region,
    pairs: Region,
    pair_order: Region,
    dictionary: Region,
    modules: Region,
    seen: Region,
    batch: Region,
    input: Region,
}

const PAGE: u64 = abi::MAP_PAGE as u64;
const IDS: u64 = 1 << 20;
const INPUT: u64 = 1 << 20;
/// The most ids that a target can have: many times those of the largest
/// programs. A target that claims more is refused, since what it claims is
/// memory and time of this process.
pub const MAX_IDS: u64 = 1 << 24;
/// Room for inputs that are run together.
const BATCH: u64 = 1 << 18;
const DICTIONARY: u64 = 1 << 16;
const MODULES: u64 = 256;
/// Lengths of inputs are words of 32 bits.
pub const MAX_INPUT: u64 = u32::MAX as u64 & !(PAGE - 1);

impl Board {
    /// A board with room for what a trace needs.
    pub fn new(trace: Option<Trace>) -> Result<Board, Error> {
        let mut regions = Regions::default();
        let trace = trace.unwrap_or(Trace { events: 0, pairs: 0 });
        regions.modules.capacity = round(MODULES * size_of::<Module>() as u64);
        regions.dictionary.capacity = DICTIONARY;
        regions.events.capacity = round(trace.events as u64 * size_of::<Event>() as u64);
        let pairs = if trace.pairs == 0 { 0 } else { (trace.pairs as u64).next_power_of_two().max(PAGE) };
        regions.pairs.capacity = pairs;
        regions.pair_order.capacity = round(pairs * 4);
        regions.map.capacity = IDS;
        regions.seen.capacity = IDS;
        regions.batch.capacity = BATCH;
        regions.input.capacity = INPUT;
        Self::lay_out(regions)
    }

    /// Another board with room for more ids.
    pub fn with_ids(&self, ids: u64) -> Result<Board, Error> {
        if ids > MAX_IDS {
            return Err(Error::TooManyIds { ids, limit: MAX_IDS });
        }
        let mut regions = self.regions;
        regions.map.capacity = round(ids.max(IDS) * 2);
        regions.seen.capacity = regions.map.capacity;
        Self::lay_out(regions)
    }

    /// Another board with room for an input of this length.
    pub fn with_input(&self, length: u64) -> Result<Board, Error> {
        if length > MAX_INPUT {
            return Err(Error::TooLong { length: length as usize, limit: MAX_INPUT as usize });
        }
        let mut regions = self.regions;
        regions.input.capacity = round(length.next_power_of_two()).min(MAX_INPUT);
        Self::lay_out(regions)
    }

    fn lay_out(mut regions: Regions) -> Result<Board, Error> {
        let mut end = round(size_of::<Head>() as u64);
        let all = [
            &mut regions.modules,
            &mut regions.dictionary,
            &mut regions.events,
            &mut regions.pairs,
            &mut regions.pair_order,
            &mut regions.map,
            &mut regions.seen,
            &mut regions.batch,
            &mut regions.input,
        ];
        for region in all {
            region.offset = end;
            end += region.capacity;
        }
        let (memory, file) = Shared::new(c"wug-board", end as usize)?;
        let board = Board { file, memory, regions };
        board.introduce();
        Ok(board)
    }

    /// What a target finds when it starts.
    pub fn introduce(&self) {
        let regions = &self.regions;
        self.memory.clear(0, size_of::<Head>());
        self.memory.write(offset_of!(Head, magic), abi::MAGIC);
        self.memory.write(offset_of!(Head, version), abi::ABI_VERSION);
        self.memory.write(offset_of!(Head, size), self.memory.length() as u64);
        self.memory.write(offset_of!(Head, map), regions.map);
        self.memory.write(offset_of!(Head, input), regions.input);
        self.memory.write(offset_of!(Head, events), regions.events);
        self.memory.write(offset_of!(Head, pairs), regions.pairs);
        self.memory.write(offset_of!(Head, pair_order), regions.pair_order);
        self.memory.write(offset_of!(Head, dictionary), regions.dictionary);
        self.memory.write(offset_of!(Head, modules), regions.modules);
        self.memory.write(offset_of!(Head, batch), regions.batch);
        self.memory.write(offset_of!(Head, seen), regions.seen);
    }

    /// For the target.
    pub fn file(&self) -> Result<OwnedFd, Error> {
        self.file.try_clone().map_err(Error::system("copy a descriptor"))
    }

    fn word(&self, at: usize) -> u32 {
        // SAFETY: every pattern is a number.
        unsafe { self.memory.read(at) }
    }

    /// What is wanted of the target.
    pub fn want(&self, wants: u32) {
        self.memory.write(offset_of!(Head, wants), wants);
    }

    /// What was said to be wanted.
    pub fn wants(&self) -> u32 {
        self.word(offset_of!(Head, wants))
    }

    /// Said once, before the target starts: where its fork server can write
    /// inputs, and which exit codes are crashes.
    pub fn tell(&self, input: Option<i32>, crash_codes: &[i32]) {
        self.memory.write(offset_of!(Head, input_fd), input.unwrap_or(0) as u32);
        let mut bits = [0u8; 32];
        for code in crash_codes.iter().filter_map(|code| u8::try_from(*code).ok()) {
            bits[usize::from(code / 8)] |= 1 << (code % 8);
        }
        self.memory.write(offset_of!(Head, crash_codes), bits);
    }

    /// Said once, before the target starts: where its fork server starts, and
    /// by which device and inode the input is known.
    pub fn tell_place(&self, site: u64, (device, inode): (u64, u64)) {
        self.memory.write(offset_of!(Head, fork_site), site);
        self.memory.write(offset_of!(Head, input_device), device);
        self.memory.write(offset_of!(Head, input_inode), inode);
    }

    /// What the target said of that place.
    pub fn place(&self) -> Said {
        Said {
            late: self.word(offset_of!(Head, late)),
            call: self.word(offset_of!(Head, late_call)),
            notes: self.word(offset_of!(Head, late_notes)),
        }
    }

    /// What the target has.
    pub fn features(&self) -> u32 {
        self.word(offset_of!(Head, features))
    }

    /// How many ids there are; at most the map's length.
    pub fn ids(&self) -> usize {
        u64::from(self.word(offset_of!(Head, map_used))).min(self.regions.map.capacity) as usize
    }

    /// How many ids the target asked for.
    pub fn ids_wanted(&self) -> u64 {
        self.word(offset_of!(Head, map_used)).into()
    }

    /// The child that runs, or ran last, by the target's own numbers.
    pub fn child(&self) -> i32 {
        self.word(offset_of!(Head, child_pid)) as i32
    }

    /// CPU time of the last run, if it was measured.
    pub fn cpu_nanos(&self) -> u64 {
        // SAFETY: every pattern is a number.
        unsafe { self.memory.read(offset_of!(Head, cpu_ns)) }
    }

    /// The run that is to be stopped.
    pub fn stop_run(&self, number: u32) {
        self.memory.write(offset_of!(Head, stop_run), number);
    }

    /// How long an input can be.
    pub fn input_capacity(&self) -> u64 {
        self.regions.input.capacity
    }

    /// Makes this the input of the next run.
    pub fn put_input(&self, input: &[u8]) {
        self.memory.put(self.regions.input.offset as usize, input);
        self.memory.write(offset_of!(Head, input_length), input.len() as u32);
    }

    /// How many bytes of inputs can be run together.
    pub fn batch_room(&self) -> usize {
        self.regions.batch.capacity as usize
    }

    /// Makes these the inputs of the next run, which stops at what is not in
    /// `seen`.
    pub fn put_batch(&self, inputs: &[u8], count: u32, seen: &[u8]) {
        self.memory.put(self.regions.batch.offset as usize, inputs);
        let ids = self.ids();
        let known = &seen[..seen.len().min(ids)];
        let at = self.regions.seen.offset as usize;
        self.memory.put(at, known);
        self.memory.clear(at + known.len(), ids - known.len());
        self.memory.write(offset_of!(Head, batch_at), 0u32);
        self.memory.write(offset_of!(Head, batch_count), count);
    }

    /// The input of a batch that is run, or was the last.
    pub fn batch_at(&self) -> u32 {
        self.word(offset_of!(Head, batch_at))
    }

    /// The next run has one input.
    pub fn end_batch(&self) {
        self.memory.write(offset_of!(Head, batch_count), 0u32);
        self.memory.write(offset_of!(Head, batch_at), 0u32);
    }

    /// Copies the counts of all ids out and sets them to 0 for the next run.
    pub fn take_map(&self, to: &mut Vec<u8>) {
        let ids = self.ids();
        let at = self.regions.map.offset as usize;
        to.resize(ids, 0);
        self.memory.copy(at, to);
        self.memory.clear(at, ids);
    }

    /// What the runtime wrote of a crash, if there was one, for the last time.
    pub fn take_crash(&self) -> Option<abi::Crash> {
        let at = offset_of!(Head, crash);
        if self.word(at + offset_of!(abi::Crash, signal)) == 0 {
            return None;
        }
        // SAFETY: every pattern of bytes is a record.
        let crash: abi::Crash = unsafe { self.memory.read(at) };
        self.memory.write(at + offset_of!(abi::Crash, signal), 0u32);
        Some(crash)
    }

    /// Empties the logs for the next run.
    pub fn clear_logs(&self, pairs: &[u32]) {
        for pair in pairs {
            let at = u64::from(*pair);
            if at < self.regions.pairs.capacity {
                self.memory.write((self.regions.pairs.offset + at) as usize, 0u8);
            }
        }
        self.memory.write(offset_of!(Head, event_count), 0u32);
        self.memory.write(offset_of!(Head, pair_count), 0u32);
        self.memory.write(offset_of!(Head, max_depth), 0u32);
    }

    /// Copies the events of the last run out, oldest first; how many there
    /// were in all.
    pub fn take_events(&self, to: &mut Vec<Event>) -> usize {
        to.clear();
        let count = self.word(offset_of!(Head, event_count)) as usize;
        let room = self.regions.events.capacity as usize / size_of::<Event>();
        let kept = count.min(room);
        for i in count - kept..count {
            let at = self.regions.events.offset as usize + i % room * size_of::<Event>();
            // SAFETY: every pattern of bytes is an event; it is checked where
            // it is used.
            let event: Event = unsafe { self.memory.read(at) };
            if event.kind != 0 {
                to.push(event);
            }
        }
        count
    }

    /// Copies the pairs of blocks of the last run out, in order.
    pub fn take_pairs(&self, to: &mut Vec<u32>) {
        let count = self.word(offset_of!(Head, pair_count)) as u64;
        let kept = count.min(self.regions.pair_order.capacity / 4) as usize;
        to.clear();
        let at = self.regions.pair_order.offset as usize;
        to.extend((0..kept).map(|i| self.word(at + i * 4)));
    }

    /// The deepest stack of the last run, in frames.
    pub fn depth(&self) -> u32 {
        self.word(offset_of!(Head, max_depth))
    }

    /// Constants of the program.
    pub fn dictionary(&self) -> Vec<Vec<u8>> {
        let used = u64::from(self.word(offset_of!(Head, dictionary_used)));
        let mut bytes = vec![0; used.min(self.regions.dictionary.capacity) as usize];
        self.memory.copy(self.regions.dictionary.offset as usize, &mut bytes);
        let mut rest = bytes.as_slice();
        let mut out = Vec::new();
        while let Some((&length, tail)) = rest.split_first() {
            let Some((entry, tail)) = tail.split_at_checked(length.into()) else { break };
            out.push(entry.to_vec());
            rest = tail;
        }
        out
    }

    /// The instrumented parts of the program.
    pub fn modules(&self) -> Vec<Module> {
        let count = self.word(offset_of!(Head, module_count)) as usize;
        let room = self.regions.modules.capacity as usize / size_of::<Module>();
        let at = self.regions.modules.offset as usize;
        let module = |i: usize| {
            // SAFETY: every pattern of bytes is a module.
            unsafe { self.memory.read::<Module>(at + i * size_of::<Module>()) }
        };
        (0..count.min(room)).map(module).filter(|module| module.ready == 1).collect()
    }
}

fn round(length: u64) -> u64 {
    length.div_ceil(PAGE) * PAGE
}
