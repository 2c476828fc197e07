//! Body of a fuzz target for those who use what a traced build logs.
//!
//! In:  any bytes, which tell how a valid board is changed.
//! Out: nothing: no panic, and bounds that hold.

use crate::explore;
use crate::operands::{Operands, TracedRun};
use wug_runtime::abi::Event;

/// Reads a board that the bytes fill, and uses its events in all ways.
pub fn check(bytes: &[u8]) {
    wug_target::fuzzing::board::check(bytes, use_events);
}

/// All who look at events.
fn use_events(events: &[Event], pairs: &[u32]) {
    let (input, copy) = (b"x(xyz) while 7 xx", b"y(abc) while 8 zz");
    let half = events.len() / 2;
    let mut operands = Operands::default();
    for (first, second) in [(events, events), (&events[..half], &events[half..])] {
        let first = TracedRun { input, events: first };
        let mut changed = Vec::new();
        for change in operands.changes(first, TracedRun { input: copy, events: second }) {
            change.apply(input, &mut changed);
        }
    }
    assert!(Operands::texts(events).iter().all(|text| !text.is_empty()));
    explore::use_events(events, pairs, input);
}
