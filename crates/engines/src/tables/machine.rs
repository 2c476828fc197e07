//! The pushdown machine: pop a symbol, draw an entry of its table, emit and
//! push what the entry says. No branch depends on what is drawn, but for the
//! one at the end of an input.
//!
//! A step waits for four loads, one behind the other; so several inputs are
//! made at once, a step of each in turn, and the processor overlaps them.
//! Each lane has its own copy of the code: processors guess by the address
//! of an instruction which store a load waits for, and with one copy they
//! guess wrong.
//!
//! There are two stacks at a fixed distance: one of elements, and one that
//! says where the table of each element is, which vectors work out for all
//! that is pushed at once.

pub use super::entry::STORE;
use super::entry::{DRAWN, Entry, HEAD, Places, Record, TEXT, fill};
use super::item::HORIZON;
use super::sets::Tuple;
use super::store::{END, Store, Table, table_at};
use super::stream::Stream;

/// Most lanes.
pub const MOST_LANES: usize = 8;

/// Elements from an element to where the place of its table is. Not a
/// multiple of a page: else both would compete for the same cache lines.
pub const APART: usize = (1 << 18) + 272;

/// What a stack element holds: a symbol, and below it the levels left.
pub fn element(symbol: u16, levels: u16) -> u32 {
    u32::from(symbol) << 16 | u32::from(levels)
}

/// Where the table of an element is, in bytes from the first.
pub fn place(element: u32) -> u32 {
    let table = table_at((element >> 16) as u16, (element as u16).min(HORIZON));
    (table as u32) << TABLE_SHIFT
}

/// Bytes of a table's beginning as a power of 2.
const TABLE_SHIFT: u32 = size_of::<Table>().trailing_zeros();

/// Where an input ended, and the random stream that the next begins with.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub end: *mut u8,
    pub stream: Stream,
}

/// An input that is being made.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// Behind the last byte.
    pub out: *mut u8,
    /// Behind the top of the stack.
    pub top: *mut u32,
    /// Its random bits.
    pub stream: Stream,
    /// Where its end goes.
    pub mark: *mut Mark,
}

/// The tables, as the machine reads them.
#[derive(Clone, Copy, Debug)]
pub struct View {
    tables: *const Table,
    emissions: *const u64,
    /// What inputs begin with, and where its table is.
    start: u32,
    start_place: u32,
    /// What they end with, and its length.
    separator: [u8; TEXT],
    separator_len: usize,
}

impl View {
    pub fn of(store: &Store) -> View {
        let start = element(store.start(), store.levels());
        let mut separator = [0; TEXT];
        separator[..store.separator.len()].copy_from_slice(&store.separator);
        View {
            tables: store.tables.as_ptr(),
            emissions: store.emissions.as_ptr(),
            start,
            start_place: place(start),
            separator,
            separator_len: store.separator.len(),
        }
    }
}

/// Makes `rounds` steps in each of `K` lanes. Ends early at a symbol without
/// a table and gives its lane; that step is not made.
///
/// # Safety
/// Each lane has room for `STORE` bytes behind `out`, `PUSHES` elements
/// behind `top` and again [`APART`] from it, and one mark, all times
/// `rounds + 1`; each stack has an element of symbol 0 at its bottom, and
/// the place of each element's table is `APART` from it. The store that the
/// view is of was not changed since.
pub unsafe fn run<const K: usize>(view: &View, lanes: &mut [Lane; K], rounds: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2") {
        // SAFETY: the features are there; the rest is the caller's.
        return unsafe { run_avx2(view, lanes, rounds) };
    }
    // SAFETY: the caller's.
    unsafe { run_portable(view, lanes, rounds) }
}

/// As [`run`], by plain code for any processor.
///
/// # Safety
/// As for [`run`].
pub unsafe fn run_portable<const K: usize>(
    view: &View,
    lanes: &mut [Lane; K],
    rounds: usize,
) -> Option<usize> {
    // SAFETY: the caller's.
    unsafe { steps::<K, Portable>(view, lanes, rounds) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
unsafe fn run_avx2<const K: usize>(view: &View, lanes: &mut [Lane; K], rounds: usize) -> Option<usize> {
    // SAFETY: the caller's.
    unsafe { steps::<K, Vectors>(view, lanes, rounds) }
}

/// The parts of a step that processors differ in.
trait Processor {
    /// 64 random bits for each lane.
    unsafe fn draw<const K: usize>(streams: &mut Streams<K>) -> [u64; K];
    /// Stores what is emitted, with the drawn bytes in their places.
    unsafe fn emit(out: *mut u8, text: *const u8, places: *const u8, tuple: *const Tuple);
    /// Stores what an entry pushes in place of the element at `top`.
    unsafe fn push(top: *mut u32, entry: *const Entry);
}

/// The random streams of all lanes.
#[derive(Clone, Copy)]
struct Streams<const K: usize> {
    low: [u64; K],
    high: [u64; K],
}

impl<const K: usize> Streams<K> {
    #[inline(always)]
    fn set(&mut self, lane: usize, stream: Stream) {
        (self.low[lane], self.high[lane]) = (stream.low, stream.high);
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> Stream {
        Stream { low: self.low[lane], high: self.high[lane] }
    }

    #[inline(always)]
    fn next(&mut self, lane: usize) -> u64 {
        let mut stream = self.get(lane);
        let random = stream.next();
        self.set(lane, stream);
        random
    }
}

/// What a step emits. It is written by the next one: by then all of it was
/// loaded, and nothing has to wait.
#[derive(Clone, Copy)]
struct Pending {
    emission: usize,
    random: u64,
}

const NOTHING: Pending = Pending { emission: 0, random: 0 };

#[inline(always)]
unsafe fn steps<const K: usize, P: Processor>(
    view: &View,
    lanes: &mut [Lane; K],
    rounds: usize,
) -> Option<usize> {
    const { assert!(K <= MOST_LANES) }
    let mut own = *lanes;
    let mut streams = Streams { low: [0; K], high: [0; K] };
    for (k, lane) in own.iter().enumerate() {
        streams.set(k, lane.stream);
    }
    let mut pending = [NOTHING; K];
    let mut without = None;
    for _ in 0..rounds {
        let before = streams;
        // SAFETY: the caller saw to the processor.
        let random = unsafe { P::draw(&mut streams) };
        macro_rules! step_each {
            ($($lane:literal)*) => {
                $(if $lane < K {
                    // SAFETY: the caller's.
                    match unsafe { step::<P>(view, &mut own[$lane], &mut pending[$lane], random[$lane]) } {
                        Step::Made => {}
                        Step::Ended => streams.set($lane, own[$lane].stream),
                        Step::Missing => {
                            without = Some($lane);
                            for k in $lane..K {
                                streams.set(k, before.get(k));
                            }
                            break;
                        }
                    }
                })*
            };
        }
        step_each!(0 1 2 3 4 5 6 7);
    }
    for (k, lane) in own.iter_mut().enumerate() {
        // SAFETY: the caller's.
        unsafe { emit::<P>(view, lane, pending[k]) };
        lane.stream = streams.get(k);
    }
    *lanes = own;
    without
}

/// Writes what a step emits.
#[inline(always)]
unsafe fn emit<P: Processor>(view: &View, lane: &mut Lane, pending: Pending) {
    // SAFETY: as for `step`.
    unsafe {
        let record = view.emissions.add(pending.emission).cast::<Record>();
        let places = view.emissions.add((*record).places.into()).cast::<Places>();
        let tuple = (*record).pick(&*places, pending.random);
        P::emit(lane.out, record.cast::<u8>().add(HEAD), places.cast(), tuple);
        lane.out = lane.out.add(usize::from((*record).len));
    }
}

/// What became of a step.
enum Step {
    Made,
    /// An input has ended, and the next begins, with another stream.
    Ended,
    /// There is no table; nothing was done.
    Missing,
}

/// One step of one lane.
#[inline(always)]
unsafe fn step<P: Processor>(view: &View, lane: &mut Lane, pending: &mut Pending, random: u64) -> Step {
    // SAFETY: room as the caller promises. Numbers on the stack are those of
    // symbols; a table's slots and entries, and records, lie within their
    // arrays.
    unsafe {
        let top = lane.top.sub(1);
        let place = top.add(APART).read();
        let table = view.tables.byte_add(place as usize);
        let slots = (*table).slots;
        if slots == 0 {
            return unlikely::<P>(view, lane, pending, top.read());
        }
        emit::<P>(view, lane, *pending);
        let drawn = u128::from(random) * u128::from(slots);
        let first = (*table).first;
        let slot = *first.cast::<u8>().add((drawn >> 64) as usize);
        let entry = first.add(slot.into());
        P::push(top, entry);
        lane.top = lane.top.offset((*entry).rise.into());
        *pending = Pending { emission: (*entry).emission.into(), random: drawn as u64 };
    }
    Step::Made
}

/// A step where there is no table: an input has ended, or the table has to be
/// made.
#[inline(always)]
unsafe fn unlikely<P: Processor>(view: &View, lane: &mut Lane, pending: &mut Pending, element: u32) -> Step {
    if element >> 16 != u32::from(END) {
        return Step::Missing;
    }
    // SAFETY: as for `step`. The end stays on the stack, and the start comes
    // above it.
    unsafe {
        emit::<P>(view, lane, *pending);
        *pending = NOTHING;
        (*lane.mark).end = lane.out;
        lane.mark = lane.mark.add(1);
        lane.stream = (*lane.mark).stream;
        lane.out.cast::<[u8; TEXT]>().write_unaligned(view.separator);
        lane.out = lane.out.add(view.separator_len);
        lane.top.write(view.start);
        lane.top.add(APART).write(view.start_place);
        lane.top = lane.top.add(1);
    }
    Step::Ended
}

/// Plain code.
struct Portable;

impl Processor for Portable {
    #[inline(always)]
    unsafe fn draw<const K: usize>(streams: &mut Streams<K>) -> [u64; K] {
        std::array::from_fn(|k| streams.next(k))
    }

    #[inline(always)]
    unsafe fn emit(out: *mut u8, text: *const u8, places: *const u8, tuple: *const Tuple) {
        // SAFETY: there is room for all bytes, and behind each record.
        unsafe {
            let mut text = text.cast::<[u8; TEXT]>().read_unaligned();
            fill(&mut text, &places.cast::<[u8; DRAWN]>().read_unaligned(), *tuple);
            out.cast::<[u8; TEXT]>().write_unaligned(text);
        }
    }

    #[inline(always)]
    unsafe fn push(top: *mut u32, entry: *const Entry) {
        // SAFETY: there is room for all pushes.
        unsafe {
            let levels = *top as u16;
            for (at, (symbol, less)) in (*entry).symbols.into_iter().zip((*entry).less).enumerate() {
                let element = element(symbol, levels.saturating_sub(less.into()));
                *top.add(at) = element;
                *top.add(at + APART) = place(element);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
struct Vectors;

#[cfg(target_arch = "x86_64")]
impl Processor for Vectors {
    #[inline(always)]
    unsafe fn draw<const K: usize>(streams: &mut Streams<K>) -> [u64; K] {
        use std::arch::x86_64::*;
        let mut random = [0; K];
        let mut at = 0;
        // SAFETY: the arrays have as many words; the processor was asked.
        unsafe {
            while at + 4 <= K {
                let (low_at, high_at) = (streams.low.as_mut_ptr().add(at), streams.high.as_mut_ptr().add(at));
                let (low, high) = (_mm256_loadu_si256(low_at.cast()), _mm256_loadu_si256(high_at.cast()));
                _mm256_storeu_si256(random.as_mut_ptr().add(at).cast(), _mm256_add_epi64(low, high));
                let both = _mm256_xor_si256(low, high);
                let turned = _mm256_or_si256(_mm256_slli_epi64::<24>(low), _mm256_srli_epi64::<40>(low));
                let low = _mm256_xor_si256(_mm256_xor_si256(turned, both), _mm256_slli_epi64::<16>(both));
                let high = _mm256_or_si256(_mm256_slli_epi64::<37>(both), _mm256_srli_epi64::<27>(both));
                _mm256_storeu_si256(low_at.cast(), low);
                _mm256_storeu_si256(high_at.cast(), high);
                at += 4;
            }
        }
        for (k, random) in random.iter_mut().enumerate().skip(at) {
            *random = streams.next(k);
        }
        random
    }

    #[inline(always)]
    unsafe fn emit(out: *mut u8, text: *const u8, places: *const u8, tuple: *const Tuple) {
        use std::arch::x86_64::*;
        // SAFETY: as for `Portable`; the processor was asked.
        unsafe {
            // With what stands behind the text: it is written over.
            let text = _mm256_loadu_si256(text.cast());
            let drawn = _mm_shuffle_epi8(_mm_loadu_si32(tuple.cast()), _mm_loadu_si128(places.cast()));
            _mm256_storeu_si256(out.cast(), _mm256_or_si256(text, _mm256_zextsi128_si256(drawn)));
        }
    }

    #[inline(always)]
    unsafe fn push(top: *mut u32, entry: *const Entry) {
        use std::arch::x86_64::*;
        // SAFETY: as for `Portable`.
        unsafe {
            let levels = _mm_set1_epi16(top.cast::<i16>().read());
            let less = _mm_cvtepu8_epi16(_mm_loadu_si64((*entry).less.as_ptr().cast()));
            let symbols = _mm_load_si128(entry.cast());
            let levels = _mm_subs_epu16(levels, less);
            _mm_storeu_si128(top.cast(), _mm_unpacklo_epi16(levels, symbols));
            let rows = _mm_min_epu16(levels, _mm_set1_epi16(HORIZON as i16));
            let tables = _mm_unpacklo_epi16(symbols, rows);
            let places = _mm_slli_epi32::<{ TABLE_SHIFT as i32 }>(tables);
            _mm_storeu_si128(top.add(APART).cast(), places);
        }
    }
}
