//! The pushdown machine: pop a symbol, draw an entry of its table, emit and
//! push what the entry says. No branch depends on what is drawn.
//!
//! A step waits for four loads, one behind the other; so several inputs are
//! made at once, a step of each in turn, and the processor overlaps them.
//! Each lane has its own copy of the code: processors guess by the address
//! of an instruction which store a load waits for, and with one copy they
//! guess wrong.

use super::build::PUSHES;
use super::item::HORIZON;
use super::store::{Column, Entry, ROWS, Store};
use std::hint::select_unpredictable;

/// Bytes that a step may write.
pub const STORE: usize = 16;
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
    tables: *const u64,
    columns: *const Column,
    entries: *const Entry,
    words: *const u32,
}

impl View {
    pub fn of(store: &Store) -> View {
        View {
            tables: store.tables.as_ptr(),
            columns: store.columns.as_ptr(),
            entries: store.entries.as_ptr(),
            words: store.expander.sets.words.as_ptr(),
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
    /// Stores what an entry emits, with the drawn bytes in their places.
    unsafe fn emit(out: *mut u8, entry: *const Entry, drawn: u32);
    /// Stores what it pushes in place of `element`.
    unsafe fn push(top: *mut u32, entry: *const Entry, element: u32);
}

#[inline(always)]
unsafe fn steps<const K: usize, E: Emit>(view: View, lanes: &mut [Lane; K], rounds: usize) -> Option<usize> {
    const { assert!(K <= MOST_LANES) }
    let mut own = *lanes;
    macro_rules! step_each {
        ($($lane:literal)*) => {
            $(if $lane < K {
                // SAFETY: the caller's.
                if !unsafe { step::<E>(view, &mut own[$lane]) } {
                    *lanes = own;
                    return Some($lane);
                }
            })*
        };
    }
    for _ in 0..rounds {
        step_each!(0 1 2 3 4 5 6 7);
    }
    *lanes = own;
    None
}

/// One step of one lane; `false`, and nothing done, if there is no table.
#[inline(always)]
unsafe fn step<E: Emit>(view: View, lane: &mut Lane) -> bool {
    // SAFETY: room as the caller promises. Numbers on the stack are those of
    // symbols; a table's columns, entries and words lie within their arrays.
    unsafe {
        let top = lane.top.sub(1);
        let element = *top;
        let row = (element & 0xffff).min(u32::from(HORIZON));
        let table = *view.tables.add((element >> 16) as usize * ROWS + row as usize);
        if table == 0 {
            return false;
        }
        let (state, choice) = next(lane.state);
        let (state, bytes) = next(state);
        // An input ends where the bottom is popped; else the mark is kept
        // and written again.
        let end = element < 0x1_0000;
        (*lane.mark).end = lane.out;
        lane.mark = lane.mark.add(usize::from(end));
        lane.state = select_unpredictable(end, (*lane.mark).state, state);

        let drawn = u128::from(choice) * u128::from(table >> 32);
        let own = (table & 0xffff_ffff) + (drawn >> 64) as u64;
        let column = view.columns.add(own as usize);
        let above = (drawn as u64 >> 32) as u32 > (*column).threshold;
        let entry = select_unpredictable(above, u64::from((*column).other), own);
        let entry = view.entries.add(entry as usize);

        let tuple = (u128::from(bytes) * u128::from((*entry).tuples.count)) >> 64;
        let tuple = *view.words.add((*entry).tuples.base as usize + tuple as usize);
        E::emit(lane.out, entry, tuple);
        lane.out = lane.out.add(usize::from((*entry).len));
        E::push(top, entry, element);
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
    unsafe fn emit(out: *mut u8, entry: *const Entry, drawn: u32) {
        let drawn = drawn.to_le_bytes();
        // SAFETY: there is room for 16 bytes.
        unsafe {
            let mut text = (*entry).text;
            if (*entry).tuples.count != 0 {
                for (byte, place) in text.iter_mut().zip((*entry).places) {
                    *byte |= drawn.get(usize::from(place)).copied().unwrap_or(0);
                }
            }
            out.cast::<[u8; STORE]>().write_unaligned(text);
        }
    }

    #[inline(always)]
    unsafe fn push(top: *mut u32, entry: *const Entry, element: u32) {
        // SAFETY: there is room for all pushes.
        unsafe {
            for (at, push) in (*entry).pushes.chunks_exact(2).take(PUSHES).enumerate() {
                let levels = (element as u16).saturating_sub(push[0]);
                *top.add(at) = u32::from(u16::MAX - push[1]) << 16 | u32::from(levels);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
struct Vectors;

#[cfg(target_arch = "x86_64")]
impl Emit for Vectors {
    #[inline(always)]
    unsafe fn emit(out: *mut u8, entry: *const Entry, drawn: u32) {
        use std::arch::x86_64::*;
        // SAFETY: as for `Portable`; the processor was asked.
        unsafe {
            let text = _mm_load_si128((*entry).text.as_ptr().cast());
            let places = _mm_load_si128((*entry).places.as_ptr().cast());
            let drawn = _mm_shuffle_epi8(_mm_cvtsi32_si128(drawn as i32), places);
            _mm_storeu_si128(out.cast(), _mm_or_si128(text, drawn));
        }
    }

    #[inline(always)]
    unsafe fn push(top: *mut u32, entry: *const Entry, element: u32) {
        use std::arch::x86_64::*;
        // SAFETY: as for `Portable`.
        unsafe {
            let from = _mm_set1_epi32((0xffff_0000 | element) as i32);
            let less = _mm_load_si128((*entry).pushes.as_ptr().cast());
            _mm_storeu_si128(top.cast(), _mm_subs_epu16(from, less));
        }
    }
}
