//! Options of a campaign.

use super::Clock;
use std::time::Duration;

/// What a campaign is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The seed of all random choices.
    pub seed: u64,
    /// The same seed is to give the same campaign: cost is counted in
    /// executions, not in time.
    pub repeatable: bool,
    /// Ends after so many executions, those of earlier runs not counted.
    pub max_execs: Option<u64>,
    /// Ends after this time, that of earlier runs not counted.
    pub max_time: Option<Duration>,
    /// Ends with the first crash.
    pub until_crash: bool,
    /// Largest share of turns for entries that the grammar does not derive,
    /// and of inputs that leave the language among those made of the others.
    pub invalid: f64,
    /// Inputs generated to start with, without seeds.
    pub generated: usize,
    /// No input is longer than this many bytes.
    pub max_size: usize,
    /// All mutators are equally likely at all times.
    pub uniform: bool,
    /// Which structural mutators are used.
    pub mutators: Mutators,
    /// An input that exceeds its time limit is run again with at least this
    /// much before it counts as a hang.
    pub hang_timeout: Option<Duration>,
    /// The time limit stays as it is. Else it follows the target, and what is
    /// given is the longest that it may be.
    pub fixed_timeout: bool,
    /// Whether new entries are trimmed.
    pub trim: bool,
    /// Whether structure is learned from new entries.
    pub generalise: bool,
    /// With `generalise`, also look for words that have to be the same.
    pub links: bool,
    /// Without coverage, for targets that are not instrumented. Nothing is
    /// kept then but what the campaign starts with and crashes.
    pub plain: bool,
    /// The clock: another one for tests.
    pub clock: Clock,
}

/// Structural mutators by how much they change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mutators {
    /// All of them.
    #[default]
    Both,
    /// Without those that change everything from some point on.
    Spot,
    /// Gramatron's, and no others: those that change everything from some point
    /// on, or repeat a recursion. All that they make is in the language.
    Aggressive,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 0,
            repeatable: false,
            max_execs: None,
            max_time: None,
            until_crash: false,
            invalid: 0.2,
            generated: 100,
            max_size: 1 << 20,
            uniform: false,
            mutators: Mutators::Both,
            hang_timeout: None,
            fixed_timeout: false,
            trim: true,
            generalise: false,
            links: true,
            plain: false,
            clock: Clock::default(),
        }
    }
}
