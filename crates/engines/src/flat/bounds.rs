//! What a block can come to, from above: work and bytes between two looks at
//! the limits.

use super::{Block, Flat, Op};
use wug_grammar::count;

/// A repetition without calls of at most this many bytes needs no look at the
/// limits between its rounds.
const SHORT: u64 = 1024;

/// What is charged for a block, calls and rounds apart, out of
/// [`wug_produce::Program::max_steps`]: its most draws or steps on any way, a draw
/// counted as four steps. At least 1, so that calls come to an end.
pub(crate) fn charge(block: &Block) -> u64 {
    let (draws, steps) = work(block);
    (draws * 4).max(steps).max(1)
}

/// Draws and steps.
fn work(block: &Block) -> (u64, u64) {
    let mut sum = (0, u64::from(block.steps));
    let mut add = |draws, steps| sum = (sum.0 + draws, sum.1 + steps);
    for op in &block.ops {
        match op {
            Op::Pick(_) | Op::Class(_) => add(1, 0),
            Op::Choose { arms, .. } => {
                let most = most(arms.iter());
                add(1 + most.0, most.1);
            }
            Op::Guard { free, closed, .. } => {
                let most = most([free, closed].into_iter());
                add(most.0, most.1);
            }
            Op::Repeat { choices, .. } => add(u64::from(*choices > 1), 0),
            Op::Text(_) | Op::Call { .. } | Op::Bail => {}
        }
    }
    sum
}

fn most<'a>(blocks: impl Iterator<Item = &'a Block>) -> (u64, u64) {
    blocks.map(work).fold((0, 0), |a, b| (a.0.max(b.0), a.1.max(b.1)))
}

/// Work that a byte of output pays for: half of what
/// [`wug_produce::Program::max_steps`] allows for each byte of the cap. The other
/// half is there to be spent by functions that emit too little.
pub(crate) const PAID_BY_A_BYTE: i64 = 32;

/// The least surplus of bytes over work on any way through a block: without
/// a call, and with one; `None` if there is no such way.
#[derive(Clone, Copy)]
struct Surplus {
    quiet: Option<i64>,
    calling: Option<i64>,
}

/// What calls and rounds must spend.
pub(crate) struct Budget {
    /// For each function, less what it costs where it calls nothing.
    quiet: Vec<i64>,
}

impl Budget {
    /// Works it out.
    pub fn of(flat: &Flat) -> Budget {
        let quiet = |f: &super::Function| surplus(flat, &f.block, 0, &[]).quiet.unwrap_or(0);
        Budget { quiet: flat.functions.iter().map(quiet).collect() }
    }

    /// What a call must spend: nothing, if on every way with a call the bytes
    /// it emits pay for its work. A call that comes to an end without another
    /// one is paid for by its caller.
    pub fn call(&self, flat: &Flat, block: &Block) -> u64 {
        let paid = surplus(flat, block, PAID_BY_A_BYTE, &self.quiet).calling.is_none_or(|s| s >= 0);
        if paid { 0 } else { surplus(flat, block, 0, &self.quiet).least().unsigned_abs() }
    }

    /// What a round of a repetition must spend: nothing, if its bytes pay.
    pub fn round(&self, flat: &Flat, block: &Block) -> u64 {
        let paid = surplus(flat, block, PAID_BY_A_BYTE, &self.quiet).least() >= 0;
        if paid { 0 } else { surplus(flat, block, 0, &self.quiet).least().unsigned_abs() }
    }
}

impl Surplus {
    fn least(self) -> i64 {
        self.quiet.into_iter().chain(self.calling).min().unwrap_or(0)
    }
}

/// With `rate` for a byte; a call costs what `quiet` says of the function.
fn surplus(flat: &Flat, block: &Block, rate: i64, quiet: &[i64]) -> Surplus {
    let mut sum = Surplus { quiet: Some(-i64::from(block.steps)), calling: None };
    for op in &block.ops {
        let plain = |s| Surplus { quiet: Some(s), calling: None };
        let bytes = |n: usize| rate.saturating_mul(n as i64);
        let own = match op {
            Op::Text(text) => plain(bytes(text.len())),
            Op::Pick(table) => plain(bytes(flat.tables[*table].shortest()) - 4),
            Op::Class(_) => plain(bytes(1) - 4),
            Op::Choose { arms, .. } => {
                let arms = arms.iter().map(|arm| surplus(flat, arm, rate, quiet));
                let least = arms.reduce(least_of).unwrap_or(plain(0));
                Surplus { quiet: least.quiet.map(|s| s - 4), calling: least.calling.map(|s| s - 4) }
            }
            Op::Guard { free, closed, .. } => {
                least_of(surplus(flat, free, rate, quiet), surplus(flat, closed, rate, quiet))
            }
            // Rounds pay or spend for themselves.
            Op::Repeat { .. } => plain(-4),
            Op::Call { function, .. } => {
                Surplus { quiet: None, calling: Some(quiet.get(*function).copied().unwrap_or(0)) }
            }
            Op::Bail => plain(0),
        };
        let add = |a: Option<i64>, b: Option<i64>| Some(a?.saturating_add(b?));
        let least = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).min();
        sum = Surplus {
            quiet: add(sum.quiet, own.quiet),
            calling: least(add(sum.calling, least(own.quiet, own.calling)), add(sum.quiet, own.calling)),
        };
    }
    sum
}

fn least_of(a: Surplus, b: Surplus) -> Surplus {
    let least = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).min();
    Surplus { quiet: least(a.quiet, b.quiet), calling: least(a.calling, b.calling) }
}

/// The most functions that call one another without using up a level, one
/// below the other; `None` if that has no bound.
pub(crate) fn frames(flat: &Flat) -> Option<u64> {
    let calls: Vec<Vec<usize>> = flat
        .functions
        .iter()
        .map(|f| {
            let mut called = Vec::new();
            level_calls(flat, &f.block, &mut called);
            called.sort_unstable();
            called.dedup();
            called
        })
        .collect();
    // Depth first; 0 is not seen, 1 is open, else one more than the depth.
    let mut depth = vec![0u64; calls.len()];
    let mut stack = Vec::new();
    for root in 0..calls.len() {
        if depth[root] == 0 {
            depth[root] = 1;
            stack.push((root, 0));
        }
        while let Some(top) = stack.last_mut() {
            let (function, next) = *top;
            top.1 += 1;
            match calls[function].get(next) {
                Some(&called) if depth[called] == 0 => {
                    depth[called] = 1;
                    stack.push((called, 0));
                }
                Some(&called) if depth[called] == 1 => return None,
                Some(_) => {}
                None => {
                    depth[function] = 2 + calls[function].iter().map(|&c| depth[c] - 1).max().unwrap_or(0);
                    stack.pop();
                }
            }
        }
    }
    depth.iter().map(|d| d - 1).max()
}

/// The functions that a block calls without using up a level.
fn level_calls(flat: &Flat, block: &Block, called: &mut Vec<usize>) {
    for op in &block.ops {
        match op {
            Op::Call { function, down } if *down == 0 || flat.functions[*function].closed => {
                called.push(*function);
            }
            Op::Choose { arms, .. } => arms.iter().for_each(|arm| level_calls(flat, arm, called)),
            Op::Repeat { block, .. } => level_calls(flat, block, called),
            Op::Guard { free, closed, .. } => {
                level_calls(flat, free, called);
                level_calls(flat, closed, called);
            }
            _ => {}
        }
    }
}

/// What operations can come to until the limits are looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Most bytes that they emit before that.
    pub bytes: u64,
    /// Whether there is a look in them: behind a call, or in a long repetition.
    pub looks: bool,
}

/// How far operations reach.
pub(crate) fn reach(flat: &Flat, ops: &[Op]) -> Reach {
    let mut sum = Reach { bytes: 0, looks: false };
    for op in ops {
        let own = reach_of(flat, op);
        sum = Reach { bytes: sum.bytes.saturating_add(own.bytes), looks: own.looks };
        if own.looks {
            break;
        }
    }
    sum
}

/// How far one operation reaches.
pub(crate) fn reach_of(flat: &Flat, op: &Op) -> Reach {
    let plain = |bytes| Reach { bytes, looks: false };
    let either = |a: Reach, b: Reach| Reach { bytes: a.bytes.max(b.bytes), looks: a.looks | b.looks };
    match op {
        Op::Text(text) => plain(text.len() as u64),
        Op::Pick(table) => plain(flat.tables[*table].longest() as u64),
        Op::Class(_) => plain(4),
        Op::Choose { arms, .. } => arms.iter().map(|arm| reach(flat, &arm.ops)).fold(plain(0), either),
        Op::Guard { free, closed, .. } => either(reach(flat, &free.ops), reach(flat, &closed.ops)),
        Op::Repeat { min, choices, block } => {
            let round = reach(flat, &block.ops);
            let bytes = (u64::from(*min) + u64::from(*choices) - 1).saturating_mul(round.bytes);
            match round.looks || bytes > SHORT {
                true => Reach { bytes: 0, looks: true },
                false => plain(bytes),
            }
        }
        Op::Call { .. } | Op::Bail => Reach { bytes: 0, looks: true },
    }
}

/// How often a repetition comes beyond its least, given 32 random bits.
pub(crate) fn extra(bits: u32, choices: u32) -> u32 {
    count::extra(bits, 0, Some(choices - 1))
}
