//! Whose turn it is: which entry, and which mutator.
//!
//! | file | what |
//! | --- | --- |
//! | `bandit` | mutators, by what they yield for what they cost |
//! | `entries` | entries of the corpus, by rarity, speed, size and depth |

mod bandit;
mod entries;

pub use bandit::{Arm, Bandit};
pub use entries::{Merits, Turns};
