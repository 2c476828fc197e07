//! The pushdown machine: pop a symbol, draw an entry of its table, emit and
//! push what the entry says. No branch depends on what is drawn.
//!
//! A step waits for four loads, one behind the other; so several inputs are
//! made at once, a step of each in turn, and the processor overlaps them.
//! Each lane has its own copy of the code: processors guess by the address
//! of an instruction which store a load waits for, and with one copy they
//! guess wrong.

pub use super::entry::STORE;
use super::entry::{Emission, Entry, TEXT};
use super::item::HORIZON;
use super::sets::MAX_TUPLE;
use super::store::{END, Store, Table, table_at};
use std::hint::select_unpredictable;

/// Most lanes.
pub const MOST_LANES: usize = 8;

/// What a stack element holds: a symbol, and below it the levels left.
pub fn element(symbol: u16, levels: u16) -> u32 {
    u32::from(symbol) << 16 | u32::from(levels)
}

/// Where an input ended, and the random state that the next begins with.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub end: *mut u8,
    pub state: u64,
}

/// An input that is being made.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// Behind the last byte.
    pub out: *mut u8,
    /// Behind the top of the stack.
    pub top: *mut u32,
    /// Of the random stream.
    pub state: u64,
    /// Where its end goes.
    pub mark: *mut Mark,
}

/// The tables, as the machine reads them.
#[derive(Clone, Copy, Debug)]
pub struct View {
    tables: *const Table,
    columns: *const u64,
    entries: *const Entry,
    emissions: *const Emission,
    tuples: *const [u8; MAX_TUPLE],
}

impl View {
    pub fn of(store: &Store) -> View {
        View {
            tables: store.tables.as_ptr(),
            columns: store.columns.as_ptr(),
            entries: store.entries.as_ptr(),
            emissions: store.emissions.as_ptr(),
            tuples: store.expander.sets.all.as_ptr(),
        }
    }
}

/// Makes `rounds` steps in each of `K` lanes. Ends early at a symbol without
/// a table and gives its lane; that step is not made.
///
/// # Safety
/// Each lane has room for `STORE` bytes behind `out`, `PUSHES` elements
/// behind `top` and one mark, all times `rounds + 1`; each stack has an
/// element of symbol 0 at its bottom. The store that the view is of was not
/// changed since.
pub unsafe fn run<const K: usize>(view: View, lanes: &mut [Lane; K], rounds: usize) -> Option<usize> {
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
    view: View,
    lanes: &mut [Lane; K],
    rounds: usize,
) -> Option<usize> {
    // SAFETY: the caller's.
    unsafe { steps::<K, Portable>(view, lanes, rounds) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
unsafe fn run_avx2<const K: usize>(view: View, lanes: &mut [Lane; K], rounds: usize) -> Option<usize> {
    // SAFETY: the caller's.
    unsafe { steps::<K, Vectors>(view, lanes, rounds) }
}

/// The parts of a step that processors differ in.
trait Emit {
    /// Stores what is emitted, with the drawn bytes in their places.
    unsafe fn emit(out: *mut u8, emission: *const Emission, tuple: *const [u8; MAX_TUPLE]);
    /// Stores what an entry pushes in place of the element at `top`.
    unsafe fn push(top: *mut u32, entry: *const Entry);
}

/// What a step emits. It is written by the next one: by then all of it was
/// loaded, and nothing has to wait.
#[derive(Clone, Copy)]
struct Pending {
    emission: *const Emission,
    random: u64,
}

#[inline(always)]
unsafe fn steps<const K: usize, E: Emit>(view: View, lanes: &mut [Lane; K], rounds: usize) -> Option<usize> {
    const { assert!(K <= MOST_LANES) }
    let mut own = *lanes;
    let mut pending = [Pending { emission: view.emissions, random: 0 }; K];
    let mut without = None;
    macro_rules! step_each {
        ($($lane:literal)*) => {
            $(if $lane < K {
                // SAFETY: the caller's.
                if !unsafe { step::<E>(view, &mut own[$lane], &mut pending[$lane]) } {
                    without = Some($lane);
                    break;
                }
            })*
        };
    }
    for _ in 0..rounds {
        step_each!(0 1 2 3 4 5 6 7);
    }
    for (lane, pending) in own.iter_mut().zip(pending) {
        // SAFETY: the caller's.
        unsafe { emit::<E>(view, lane, pending) };
    }
    *lanes = own;
    without
}

/// Writes what a step emits.
#[inline(always)]
unsafe fn emit<E: Emit>(view: View, lane: &mut Lane, pending: Pending) {
    // SAFETY: as for `step`.
    unsafe {
        let Pending { emission, random } = pending;
        E::emit(lane.out, emission, view.tuples.add((*emission).pick(random)));
        lane.out = lane.out.add(usize::from((*emission).len));
    }
}

/// One step of one lane; `false` if there is no table, and nothing done but
/// what was pending.
#[inline(always)]
unsafe fn step<E: Emit>(view: View, lane: &mut Lane, pending: &mut Pending) -> bool {
    // SAFETY: room as the caller promises. Numbers on the stack are those of
    // symbols; a table's columns, entries, emissions and tuples
    // lie within their arrays.
    unsafe {
        let top = lane.top.sub(1);
        let [levels, symbol] = top.cast::<[u16; 2]>().read();
        let row = levels.min(HORIZON);
        let [first, count] = *view.tables.add(table_at(symbol, row));
        if count == 0 {
            return false;
        }
        emit::<E>(view, lane, *pending);
        let (state, random) = next(lane.state);
        // An input ends where the bottom is popped; else the mark is kept
        // and written again.
        let end = symbol == END;
        (*lane.mark).end = lane.out;
        lane.mark = lane.mark.add(usize::from(end));
        lane.state = select_unpredictable(end, (*lane.mark).state, state);

        let drawn = u128::from(random) * u128::from(count);
        let own = first + (drawn >> 64) as u32;
        let column = *view.columns.add(own as usize);
        let entry = select_unpredictable(drawn as u64 > column, column as u32, own);
        let entry = view.entries.add(entry as usize);
        let emission = view.emissions.add(usize::from((*entry).emission));
        *pending = Pending { emission, random };
        E::push(top, entry);
        lane.top = top.add(usize::from((*entry).height));
    }
    true
}

/// The next state, and 64 bits of it: the generator of [`crate::rng`].
#[inline(always)]
fn next(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(crate::rng::STEP);
    let product = u128::from(state) * u128::from(state ^ crate::rng::FOLD);
    (state, (product >> 64) as u64 ^ product as u64)
}

/// Plain code.
struct Portable;

impl Emit for Portable {
    #[inline(always)]
    unsafe fn emit(out: *mut u8, emission: *const Emission, tuple: *const [u8; MAX_TUPLE]) {
        // SAFETY: there is room for all bytes.
        unsafe {
            let mut text = (*emission).text;
            if (*emission).tuples.count > 0 {
                text = (*emission).with(*tuple);
            }
            out.cast::<[u8; TEXT]>().write_unaligned(text);
        }
    }

    #[inline(always)]
    unsafe fn push(top: *mut u32, entry: *const Entry) {
        // SAFETY: there is room for all pushes.
        unsafe {
            let element = *top;
            for (at, &[less, low, high]) in (*entry).pushes.iter().enumerate() {
                let levels = (element as u16).saturating_sub(less.into());
                let symbol = u16::MAX - u16::from_le_bytes([low, high]);
                *top.add(at) = self::element(symbol, levels);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
struct Vectors;

#[cfg(target_arch = "x86_64")]
impl Emit for Vectors {
    #[inline(always)]
    unsafe fn emit(out: *mut u8, emission: *const Emission, tuple: *const [u8; MAX_TUPLE]) {
        use std::arch::x86_64::*;
        // SAFETY: as for `Portable`; the processor was asked.
        unsafe {
            // With what stands behind the text: it is written over.
            let text = _mm256_load_si256(emission.cast());
            let places = _mm_load_si128((*emission).places.as_ptr().cast());
            let drawn = _mm_shuffle_epi8(_mm_loadu_si32(tuple.cast()), places);
            _mm256_storeu_si256(out.cast(), _mm256_or_si256(text, _mm256_zextsi128_si256(drawn)));
        }
    }

    #[inline(always)]
    unsafe fn push(top: *mut u32, entry: *const Entry) {
        use std::arch::x86_64::*;
        // SAFETY: as for `Portable`.
        unsafe {
            let from =
                _mm_or_si128(_mm_set1_epi32(top.cast::<i32>().read()), _mm_set1_epi32(0xffff_0000u32 as i32));
            // Three bytes become levels and a symbol of 16 bits each.
            let spread = _mm_setr_epi8(0, -1, 1, 2, 3, -1, 4, 5, 6, -1, 7, 8, 9, -1, 10, 11);
            let less = _mm_shuffle_epi8(_mm_load_si128(entry.cast()), spread);
            _mm_storeu_si128(top.cast(), _mm_subs_epu16(from, less));
        }
    }
}
