//! Stages: what a campaign does beside mutating entries, each with state and
//! a budget of its own.
//!
//! | file | what | when |
//! | --- | --- | --- |
//! | `calibrate` | tells edges that differ from run to run | before an entry is kept |
//! | `recheck` | runs the input in a build with a sanitizer | before an entry is kept |
//! | `trim` | makes the input smaller | before an entry is kept |
//! | `generalise` | learns structure from entries | between turns |
//! | `explore` | searches valid inputs by the traced build | between turns, when nothing is found |

pub(super) mod calibrate;
pub(super) mod explore;
pub(super) mod generalise;
pub(super) mod recheck;
pub(super) mod trim;
