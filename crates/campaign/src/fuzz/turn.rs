//! How long the turn of an entry is.
//!
//! In:  what a run of the entry costs, and what one usually costs.
//! Out: how many inputs are made of it, and for how long.
//!
//! Where campaigns are to repeat, cost is counted in executions, and all turns
//! are alike. Else a turn is as long as it is worth in time: an entry that
//! takes a second has one run and not 128.

use std::time::Duration;

/// Inputs made in a turn of an entry. GRIMOIRE makes 512 to 1,024; with 768,
/// three campaigns on expat without a grammar reached 1,365 to 1,614 edges in
/// 250,000 executions, with 128 they reached 1,577 to 1,621.
const INPUTS: usize = 128;
/// An entry has its whole turn unless it costs more than so many times what is
/// usual: its structure may be worth it.
const DEARER: f64 = 8.0;
/// A turn is never shorter, since a switch costs something, and never longer,
/// since others wait: imports, statistics, other stages. Microseconds.
const SHORTEST: f64 = 20_000.0;
const LONGEST: f64 = 1_000_000.0;

/// The length of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    /// Inputs that are made at most.
    pub inputs: usize,
    /// It ends when it took this long.
    pub time: Option<Duration>,
}

impl Turn {
    /// Of an entry, by the cost of a run in microseconds; none where cost is
    /// counted in executions.
    pub fn new(cost: Option<f64>, usual: f64) -> Turn {
        let Some(cost) = cost else { return Turn { inputs: INPUTS, time: None } };
        let micros = (usual * INPUTS as f64 * DEARER).clamp(SHORTEST, LONGEST);
        let inputs = (micros / cost.max(1e-3)) as usize;
        Turn { inputs: inputs.clamp(1, INPUTS), time: Some(Duration::from_micros(micros as u64)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_as_long_as_it_is_worth_in_time() {
        let inputs = |cost: f64, usual: f64| Turn::new(Some(cost), usual).inputs;
        assert_eq!(inputs(100.0, 100.0), INPUTS);
        assert_eq!(inputs(700.0, 100.0), INPUTS);
        assert_eq!(inputs(800_000.0, 100.0), 1);
        assert_eq!(inputs(8_000.0, 100.0), 12);
        // Where all are slow, a turn takes a second.
        assert_eq!(inputs(100_000.0, 100_000.0), 10);
        assert_eq!(Turn::new(Some(1.0), f64::MAX).time, Some(Duration::from_secs(1)));
    }

    #[test]
    fn where_campaigns_repeat_all_turns_are_alike() {
        assert_eq!(Turn::new(None, 1e9), Turn { inputs: INPUTS, time: None });
    }
}
