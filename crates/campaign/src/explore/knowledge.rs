//! Knowledge: what a search has learned of the language and of the parser.

use super::closing::Closing;
use super::covered::{Covered, Deed};
use super::demand::Asked;
use super::ends::{CLOSING, ENDS};
use super::inside::Inner;
use super::nodes::Node;
use super::nuls::Nuls;
use super::offers::Wanted;
use super::rejects::Rejects;
use super::tokens::Codes;
use super::ways::Ways;
use super::words::{Words, is_wordlike};
use std::collections::{HashMap, HashSet};

/// What is known.
#[derive(Default)]
pub struct Knowledge {
    /// What valid inputs do.
    pub covered: Covered,
    pub rejects: Rejects,
    pub closing: Closing,
    pub words: Words,
    /// Texts that may be words.
    pub doubtful: Vec<Vec<u8>>,
    pub ways: Ways,
    pub codes: Codes,
    pub inner: Inner,
    pub nuls: Nuls,
    /// Deeds of nodes that no valid input had done, and how often it was
    /// tried to make a valid input of such a node.
    attempts: HashMap<Deed, u8>,
    /// What was wanted before, and the same by the few innermost calls.
    wanted: HashSet<Deed>,
    asked: HashSet<u64>,
}

impl Knowledge {
    /// With texts of the program, some of which may be words.
    pub fn new(texts: Vec<Vec<u8>>) -> Knowledge {
        let doubtful = texts.into_iter().filter(|text| is_wordlike(text)).collect();
        Knowledge { doubtful, ..Knowledge::default() }
    }

    /// How much a node does that no valid input did yet.
    pub fn pending(&self, node: &Node) -> usize {
        node.fresh.iter().filter(|deed| !self.covered.has(**deed)).count()
    }

    /// Whether something was wanted at any time.
    pub fn was_wanted(&self, deed: Deed) -> bool {
        self.wanted.contains(&deed)
    }

    /// 0 if no valid input made a comparison hold and it is wanted for the
    /// first time after these calls; 1 if not. Lexers are called from
    /// everywhere: of their places the first time counts alone.
    pub fn is_known(&mut self, wanted: Wanted, asked: Asked) -> u32 {
        let (ever, here) = (self.wanted.insert(wanted.deed), self.asked.insert(wanted.here));
        let first = if asked == Asked::Here { here } else { ever };
        u32::from(!first || self.covered.has(wanted.deed))
    }

    /// Whether an input did something for the first time, be it valid or not.
    pub fn is_first(&mut self, fresh: &[Deed]) -> bool {
        let mut first = false;
        for deed in fresh {
            first |= !self.attempts.contains_key(deed);
            self.attempts.entry(*deed).or_default();
        }
        first
    }

    /// How many executions it is worth to make a valid input of a node: less
    /// and less, the more often that was tried for what is new about it.
    pub fn worth_of_closing(&mut self, node: &Node) -> u64 {
        if node.dead {
            return 0;
        }
        let mut worth = if node.class < 2 { CLOSING } else { 0 };
        for deed in node.fresh.iter().filter(|deed| !self.covered.has(**deed)) {
            let attempts = self.attempts.entry(*deed).or_default();
            worth = worth.max(CLOSING / (1 + u64::from(*attempts)));
            *attempts = attempts.saturating_add(1);
        }
        if worth > ENDS as u64 { worth } else { 0 }
    }
}
