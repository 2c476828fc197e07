//! What a run on an input with a tail of sentinels shows.
//!
//! In:  an observation.
//! Out: how far the parser came, in which state it looked at the tail, and
//!      what it expected there.
//!
//! A *state* is the set of all places that compared the sentinel, each with
//! the calls that led there. Parsers written by hand keep their state on the
//! stack: where the same calls look at the next byte, the same may follow. We
//! tell states apart in four ways: by no calls, so that an expression is an
//! expression wherever it stands, by the few innermost calls, by some more,
//! since lexers have calls of their own, and by all of them.

use super::demand::{Asked, Demands};
use super::offers::Probed;
use std::collections::HashSet;
use wug_random::hash;
use wug_runtime::abi::{self, Event};
use wug_target::{Observation, Verdict};

/// The parser's state, told by more and more calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// By none: only the places themselves.
    pub bare: u64,
    /// By the few innermost calls.
    pub near: u64,
    /// By some more.
    pub nearby: u64,
    /// By all calls.
    pub full: u64,
}

/// What a run showed.
#[derive(Clone, Debug)]
pub struct Sight {
    /// How it ended.
    pub verdict: Verdict,
    /// Whether the parser compared the tail with anything.
    pub touched: bool,
    /// In which state the tail was looked at.
    pub state: State,
    /// How many events came before the first look at the tail.
    pub first: usize,
    /// How many pairs of blocks came before the first look at the tail.
    pub reached: usize,
    /// Frames on the stack, on average, at the last two looks.
    pub depth: f32,
    /// Comparisons, whether of the tail or not.
    pub compared: usize,
    /// Places that looked at the tail, told by the few innermost calls.
    pub places: HashSet<u64>,
    /// The event that looked at the tail last.
    pub last: Option<usize>,
}

impl Sight {
    /// Reads the log of a run.
    pub fn of(seen: &Observation<'_>, probed: Probed<'_>, demands: &Demands) -> Sight {
        let mut places: [HashSet<u64>; 4] = Default::default();
        let mut depths = [None; 2];
        let (mut reached, mut first) = (None, None);
        let mut aliases = Vec::new();
        let (mut compared, mut last) = (0, None);
        for (at, event) in seen.events.iter().enumerate() {
            compared += usize::from(event.kind != abi::EVENT_END);
            if !probed.touches(event, &mut aliases) || demands.asked(event) == Asked::Reading {
                continue;
            }
            reached.get_or_insert(event.pairs as usize);
            first.get_or_insert(at);
            last = Some(at);
            depths = [depths[1], Some(f32::from(event.depth))];
            let contexts = [u32::from(event.near[0]), u32::from(event.near[1]), event.context, 0];
            for (level, context) in contexts.into_iter().enumerate() {
                places[level].insert(place(event, context, level as u8));
            }
        }
        let depths: Vec<f32> = depths.into_iter().flatten().collect();
        Sight {
            verdict: seen.verdict,
            touched: !places[0].is_empty(),
            state: State {
                bare: together(&places[3]),
                near: together(&places[0]),
                nearby: together(&places[1]),
                full: together(&places[2]),
            },
            first: first.unwrap_or(seen.events.len()),
            reached: reached.unwrap_or(seen.pairs.len()).min(seen.pairs.len()),
            depth: depths.iter().sum::<f32>() / depths.len().max(1) as f32,
            compared,
            places: std::mem::take(&mut places[0]),
            last,
        }
    }
}

/// The same place is another one at each level.
pub fn place(event: &Event, context: u32, level: u8) -> u64 {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&event.site.to_le_bytes());
    bytes[4..8].copy_from_slice(&context.to_le_bytes());
    bytes[8..10].copy_from_slice(&event.module.to_le_bytes());
    bytes[10] = level;
    hash(&bytes)
}

/// A hash of a set, whatever the order.
fn together(places: &HashSet<u64>) -> u64 {
    places.iter().fold(places.len() as u64, |sum, place| sum.wrapping_add(*place))
}
