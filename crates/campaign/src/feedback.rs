//! What runs have reached so far, and what is new in one.
//!
//! In:  hit counts of a run.
//! Out: whether they are worth keeping, and what of them is new.
//!
//! An edge whose count differs from run to run of one input tells nothing:
//! it is taken for seen in every way ([`Feedback::distrust`]), until it was the
//! same in all runs of several other inputs ([`Feedback::vouch`]). Each time
//! that it differs again, this takes twice as many.

use std::collections::BTreeMap;
use wug_target::coverage::{self, News};

/// Classes of hit counts that were seen, by id.
#[derive(Clone, Debug, Default)]
pub struct Feedback {
    seen: Vec<u8>,
    flaky: Vec<u32>,
    /// What is known of those that are, or were.
    doubts: BTreeMap<u32, Doubt>,
    /// Ids that were hit.
    edges: usize,
}

/// What is known of an id whose count differed.
#[derive(Clone, Copy, Debug)]
struct Doubt {
    /// Classes that are sure.
    seen: u8,
    /// Inputs in a row whose runs agreed about it, and how many it takes.
    agreed: u32,
    needed: u32,
}

/// Inputs whose runs have to agree about an id before it is trusted again, the
/// first time: true instability against what a busy machine does once.
const AGREED: u32 = 8;

/// Classes of one id that were not seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct New {
    /// The id.
    pub id: u32,
    /// The classes, as bits.
    pub classes: u8,
}

impl Feedback {
    /// Whether counts, as a run left them, hold anything new.
    #[inline]
    pub fn has_news(&self, counts: &[u8]) -> bool {
        coverage::has_news(counts, &self.seen)
    }

    /// What is new in classified counts, in order of ids.
    pub fn news(&self, classes: &[u8]) -> Vec<New> {
        let seen = |id: usize| self.seen.get(id).copied().unwrap_or(0);
        coverage::hits(classes)
            .map(|id| New { id: id as u32, classes: classes[id] & !seen(id) })
            .filter(|new| new.classes != 0)
            .collect()
    }

    /// Takes classified counts for seen.
    pub fn add(&mut self, classes: &[u8]) -> News {
        let news = coverage::merge(classes, &mut self.seen);
        self.edges += news.ids;
        news
    }

    /// Whether an id was never hit.
    pub fn is_new_id(&self, id: u32) -> bool {
        self.seen.get(id as usize).copied().unwrap_or(0) == 0
    }

    /// From now on nothing about this id is news.
    pub fn distrust(&mut self, id: u32) {
        let at = id as usize;
        if self.seen.len() <= at {
            self.seen.resize(at + 1, 0);
        }
        if self.seen[at] == 0 {
            self.edges += 1;
        }
        let seen = std::mem::replace(&mut self.seen[at], u8::MAX);
        let doubt = self.doubts.entry(id).or_insert(Doubt { seen: 0, agreed: 0, needed: AGREED / 2 });
        doubt.agreed = 0;
        if let Err(place) = self.flaky.binary_search(&id) {
            self.flaky.insert(place, id);
            doubt.seen |= seen;
            doubt.needed = doubt.needed.saturating_mul(2);
        }
    }

    /// All runs of an input agreed about these classified counts but for some
    /// ids: what they hit is trusted again if that happens often enough.
    pub fn vouch(&mut self, classes: &[u8], differing: &[u32]) {
        let Feedback { seen, flaky, doubts, .. } = self;
        flaky.retain(|id| {
            let class = classes.get(*id as usize).copied().unwrap_or(0);
            let Some(doubt) = doubts.get_mut(id).filter(|_| class != 0 && !differing.contains(id)) else {
                return true;
            };
            doubt.seen |= class;
            doubt.agreed += 1;
            if doubt.agreed < doubt.needed {
                return true;
            }
            seen[*id as usize] = doubt.seen;
            false
        });
    }

    /// Ids that were hit at some time.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// The same with those that the target hits before its runs begin.
    pub fn edges_with(&self, setup: &[u8]) -> usize {
        self.edges + coverage::hits(setup).filter(|id| self.is_new_id(*id as u32)).count()
    }

    /// Ids whose counts differ from run to run, in order.
    pub fn flaky(&self) -> &[u32] {
        &self.flaky
    }

    /// A byte for each id: the classes that were seen.
    pub fn seen(&self) -> &[u8] {
        &self.seen
    }
}

/// Whether classified counts hold all of `wanted`.
pub fn reaches(classes: &[u8], wanted: &[New]) -> bool {
    wanted.iter().all(|new| classes.get(new.id as usize).is_some_and(|class| class & new.classes != 0))
}

/// As [`reaches`], for counts as a run left them.
pub fn counts_reach(counts: &[u8], wanted: &[New]) -> bool {
    wanted.iter().all(|new| {
        counts.get(new.id as usize).is_some_and(|count| coverage::class(*count) & new.classes != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_is_what_was_not_seen() {
        let mut feedback = Feedback::default();
        assert!(!feedback.has_news(&[0, 0, 0]));
        assert_eq!(feedback.news(&[0, 1, 4]), [New { id: 1, classes: 1 }, New { id: 2, classes: 4 }]);
        feedback.add(&[0, 1, 4]);
        assert_eq!(feedback.edges(), 2);
        assert!(!feedback.has_news(&[0, 1, 3]));
        assert!(feedback.has_news(&[0, 2, 3]));
        assert_eq!(feedback.news(&[0, 2, 4]), [New { id: 1, classes: 2 }]);
    }

    #[test]
    fn what_differs_from_run_to_run_is_no_news() {
        let mut feedback = Feedback::default();
        feedback.add(&[1, 0, 0]);
        feedback.distrust(2);
        feedback.distrust(0);
        feedback.distrust(0);
        assert!(!feedback.has_news(&[200, 0, 7]) && feedback.has_news(&[0, 1, 0]));
        assert_eq!((feedback.edges(), feedback.flaky()), (2, &[0, 2][..]));
    }

    #[test]
    fn what_is_the_same_for_long_is_trusted_again() {
        let mut feedback = Feedback::default();
        feedback.add(&[1, 2]);
        feedback.distrust(1);
        for round in 0..AGREED {
            assert_eq!(feedback.flaky(), [1], "{round}");
            // Neither what is not hit nor what differs is vouched for.
            feedback.vouch(&[1, 0], &[]);
            feedback.vouch(&[1, 2], &[1]);
            feedback.vouch(&[1, 8], &[]);
        }
        assert_eq!((feedback.flaky(), feedback.seen(), feedback.edges()), (&[][..], &[1, 10][..], 2));
        assert!(feedback.has_news(&[0, 1]) && !feedback.has_news(&[0, 2]));
        // The second time takes longer, and a difference in between begins anew.
        feedback.distrust(1);
        for _ in 0..2 * AGREED - 1 {
            feedback.vouch(&[1, 2], &[]);
        }
        feedback.distrust(1);
        feedback.vouch(&[1, 2], &[]);
        assert_eq!(feedback.flaky(), [1]);
    }

    #[test]
    fn one_wanted_class_is_enough_and_all_ids_are() {
        let wanted = [New { id: 0, classes: 1 }, New { id: 2, classes: 8 }];
        assert!(counts_reach(&[1, 0, 5], &wanted) && reaches(&[1, 0, 8], &wanted));
        assert!(!counts_reach(&[2, 0, 5], &wanted) && !counts_reach(&[1], &wanted));
    }
}
