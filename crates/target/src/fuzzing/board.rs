//! The reader of boards: maps, batches, rings of events, pairs, modules and
//! dictionaries that a target has written.
//!
//! A board is first filled as a traced build fills it, then changed field by
//! field; it is written through its descriptor, as a target could.

use super::Draw;
use crate::Trace;
use crate::board::Board;
use crate::coverage;
use crate::fork::{ForkAt, Place};
use std::fs::File;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::Path;
use wug_runtime::abi::{self, Board as Head, Event, Module};

/// Events and pairs that the board has room for.
const TRACE: Trace = Trace { events: 64, pairs: 4096 };
/// Changes to one board.
const EDITS: usize = 64;

/// Fills a board as the bytes say, reads all of it, and hands the events and
/// pairs over to those who use them.
pub fn check(bytes: &[u8], use_events: impl Fn(&[Event], &[u32])) {
    let mut draw = Draw(bytes);
    let board = Board::new(Some(TRACE)).expect("memory for a board");
    let target = File::from(board.file().expect("a descriptor"));
    let length = target.metadata().expect("a length").len();
    fill(&target, &mut draw);
    for _ in 0..EDITS {
        if draw.is_over() {
            break;
        }
        edit(&target, &mut draw);
    }
    // Whatever a target does, the board is as long as it was.
    assert!(target.set_len(0).is_err() && target.set_len(length + 1).is_err());
    read(&board, &target, use_events);
}

/// What a traced build leaves.
fn fill(target: &File, draw: &mut Draw<'_>) {
    let head = offset_of!(Head, event_count);
    let counts = [draw.below(80) as u32, draw.below(40) as u32, 9];
    for (at, count) in counts.into_iter().enumerate() {
        put(target, (head + 4 * at) as u64, &count.to_ne_bytes());
    }
    put(target, offset_of!(Head, map_used) as u64, &4096u32.to_ne_bytes());
    put(target, offset_of!(Head, module_count) as u64, &1u32.to_ne_bytes());
    put(target, offset_of!(Head, dictionary_used) as u64, &6u32.to_ne_bytes());
    put(target, region(target, offset_of!(Head, dictionary)), b"\x02if\x02do");
    let modules = region(target, offset_of!(Head, modules));
    put(target, modules.wrapping_add(offset_of!(Module, ready) as u64), &1u32.to_ne_bytes());
    for slot in 0..16 {
        event(target, slot, draw);
    }
    for slot in 0..16u64 {
        let pair = draw.number() as u32;
        put(target, region(target, offset_of!(Head, pair_order)).wrapping_add(slot * 4), &pair.to_ne_bytes());
    }
}

/// An event of some kind, whose texts are of the input or near it.
fn event(target: &File, slot: u64, draw: &mut Draw<'_>) {
    let at = region(target, offset_of!(Head, events)).wrapping_add(slot * size_of::<Event>() as u64);
    let kind = draw.byte() % 10;
    let sizes = [1, 2, 4, 8, 0, 3, 16, 255];
    let head = [kind, sizes[draw.below(8)], draw.byte() % 4, draw.byte() % 30];
    put(target, at, &head);
    put(target, at.wrapping_add(offset_of!(Event, site) as u64), &(draw.byte() as u32 % 4).to_ne_bytes());
    for field in [offset_of!(Event, a), offset_of!(Event, b)] {
        let value = if draw.byte().is_multiple_of(2) { u64::from(b'x') } else { draw.number() };
        put(target, at.wrapping_add(field as u64), &value.to_ne_bytes());
    }
    let texts: [&[u8]; 4] = [b"xyz", b"while", b"\0", &[b'x'; abi::TEXT_MAX]];
    let of = at.wrapping_add(offset_of!(Event, of) as u64);
    put(target, of, texts[draw.below(4)]);
    put(target, of.wrapping_add(abi::TEXT_MAX as u64), texts[draw.below(4)]);
}

/// Changes a field that a target may write, or one that it may not.
fn edit(target: &File, draw: &mut Draw<'_>) {
    let word = draw.number();
    match draw.byte() % 4 {
        // Any word of the head: regions and magic as well.
        0 => put(target, draw.below(size_of::<Head>() / 4) as u64 * 4, &(word as u32).to_ne_bytes()),
        1 => {
            const FIELDS: [usize; 12] = [
                offset_of!(Head, features),
                offset_of!(Head, map_used),
                offset_of!(Head, module_count),
                offset_of!(Head, dictionary_used),
                offset_of!(Head, child_pid),
                offset_of!(Head, cpu_ns),
                offset_of!(Head, event_count),
                offset_of!(Head, pair_count),
                offset_of!(Head, max_depth),
                offset_of!(Head, batch_at),
                offset_of!(Head, batch_count),
                offset_of!(Head, wants),
            ];
            put(target, FIELDS[draw.below(FIELDS.len())] as u64, &(word as u32).to_ne_bytes());
        }
        2 => event(target, draw.below(TRACE.events) as u64, draw),
        _ => {
            const REGIONS: [usize; 6] = [
                offset_of!(Head, events),
                offset_of!(Head, pair_order),
                offset_of!(Head, dictionary),
                offset_of!(Head, modules),
                offset_of!(Head, map),
                offset_of!(Head, pairs),
            ];
            let at = REGIONS[draw.below(REGIONS.len())];
            put(target, region(target, at).wrapping_add(draw.below(4096) as u64), &word.to_ne_bytes());
        }
    }
}

/// Where a region begins, as a target sees it; it may have been forged.
fn region(target: &File, field: usize) -> u64 {
    let mut offset = [0; 8];
    target.read_exact_at(&mut offset, field as u64).expect("a head");
    u64::from_ne_bytes(offset)
}

/// Where the file ends, nothing is written.
fn put(target: &File, at: u64, bytes: &[u8]) {
    let end = target.metadata().map_or(0, |about| about.len());
    if at.checked_add(bytes.len() as u64).is_some_and(|last| last <= end) {
        target.write_all_at(bytes, at).expect("a write");
    }
}

fn read(board: &Board, target: &File, use_events: impl Fn(&[Event], &[u32])) {
    let mut map = vec![1; 3];
    board.take_map(&mut map);
    assert!(map.len() <= 1 << 20);
    let counts = map.clone();
    coverage::classify(&mut map);
    let mut seen = vec![0; 10];
    coverage::merge(&map, &mut seen);
    assert!(!coverage::has_news(&counts, &seen));
    board.put_batch(b"\x01\0\0\0x\0\0\0", 1, &seen);
    let _ = (board.batch_at(), board.child(), board.cpu_nanos(), board.depth(), board.features());
    // Whatever it says of its place is a line.
    for failed in [false, true] {
        let Ok(mut place) = Place::new(&ForkAt::Input, true, Path::new("")) else { continue };
        match failed {
            true => place.failed(board.place()),
            false => place.started(board.place(), true, &[]),
        }
        assert!(!place.point.to_string().contains('\n'));
    }
    board.end_batch();
    let ids = board.ids_wanted();
    // Only what is close to what is there is worth its memory here.
    if !(1 << 21..=1 << 24).contains(&ids) {
        assert_eq!(board.with_ids(ids).is_err(), ids > 1 << 24);
    }
    let dictionary = board.dictionary();
    assert!(dictionary.iter().map(Vec::len).sum::<usize>() <= 1 << 16);
    assert!(board.modules().len() <= 1024);
    let (mut events, mut pairs) = (Vec::new(), Vec::new());
    board.take_events(&mut events);
    board.take_pairs(&mut pairs);
    assert!(events.len() <= TRACE.events.next_multiple_of(64) && pairs.len() <= 4096);
    board.clear_logs(&pairs);
    use_events(&events, &pairs);
    board.introduce();
    assert_eq!(region(target, offset_of!(Head, size)), target.metadata().expect("a length").len());
}
