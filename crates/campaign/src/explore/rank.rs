//! What is tried next.
//!
//! In:  offers, with what is known of the input they extend.
//! Out: the most promising one.
//!
//! First comes how often the parser had been in that state before: what
//! follows a new state is tried before more of the old. Among equals the
//! measure of the parser-directed fuzzer pFuzzer, as its released code has
//! it: the length of the input, the stack, the new pairs of blocks, the
//! length of what is added, the steps taken.
//!
//! Ranks change when a valid input covers more. Nothing is sorted anew then:
//! whatever comes to the top with an outdated rank goes back in its place.

use super::offers::Kind;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Most items that wait; beyond, the worse half is dropped.
const MOST: usize = 1 << 18;

/// Of the best, those that are known before they have their turn.
const SOON: usize = 3;
/// So many offers of an input that lead to nothing new make the rest of them
/// wait for those of others.
const TRIES: u32 = 8;
/// What a word that was compared is worth: it comes before the characters that
/// were compared in the same state.
const COMPARED: f32 = 2.0;

/// An offer that waits for its turn.
#[derive(Clone, Debug)]
pub struct Item {
    /// The input that it extends.
    pub node: u32,
    /// How many of its bytes stay.
    pub keep: u32,
    /// What follows.
    pub text: Box<[u8]>,
    /// Why.
    pub kind: Kind,
    /// Classes that it comes later.
    doubts: u32,
    rank: Rank,
}

/// Smaller is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank {
    /// How new the state is.
    pub class: u32,
    /// The measure among equals.
    pub cost: f32,
    /// Older first.
    order: u32,
}

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Rank) -> Ordering {
        let Rank { class, cost, order } = self;
        class.cmp(&other.class).then(cost.total_cmp(&other.cost)).then(order.cmp(&other.order))
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Item) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Item {}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Item) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Item {
    /// The best is the greatest, as heaps have it.
    fn cmp(&self, other: &Item) -> Ordering {
        other.rank.cmp(&self.rank)
    }
}

/// What a rank is made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct ItemMerits {
    /// How new the state is; see [`class`].
    pub class: u32,
    /// Whether nothing can follow, as it seems.
    pub dead: bool,
    /// Bytes of the input that would be tried; a token counts as one.
    pub length: usize,
    /// Whether only white space is added.
    pub blank: bool,
    /// Frames on the stack.
    pub depth: f32,
    /// Pairs of blocks on the way that no valid input has.
    pub fresh: usize,
    /// Steps from nothing.
    pub steps: u32,
    /// What was tried behind the input and led to nothing new.
    pub tries: u32,
    /// Whether it is a word that was compared.
    pub compared: bool,
}

impl ItemMerits {
    fn rank(&self, doubts: u32, order: u32) -> Rank {
        let doubt = if self.dead { 4.0 } else { 0.0 } + if self.blank { 3.0 } else { 0.0 };
        let cost = 2.0 * self.steps as f32 + self.length as f32 / 4.0 + self.depth / 2.0
            - (1.0 + self.fresh as f32).log2()
            + doubt
            - if self.compared { COMPARED } else { 0.0 };
        Rank { class: self.class + self.tries / TRIES + doubts, cost, order }
    }
}

/// How new a state is: 0 for one that is new by its few innermost calls, or by
/// what led there; 1 for one that is new by some more calls; 2 for one that is
/// new by all of them; then more, by how often it had been seen.
pub fn class(near: u32, nearby: u32, full: u32) -> u32 {
    match (near, nearby) {
        (0, _) => 0,
        (_, 0) => 1,
        _ => 2 + (full + 1).ilog2(),
    }
}

/// Offers that wait.
#[derive(Debug, Default)]
pub struct Queue {
    heap: BinaryHeap<Item>,
    order: u32,
}

impl Queue {
    /// Adds an offer.
    pub fn add(&mut self, node: u32, keep: usize, text: &[u8], kind: Kind, doubts: u32, merits: &ItemMerits) {
        self.order = self.order.wrapping_add(1);
        let rank = merits.rank(doubts, self.order);
        self.heap.push(Item { node, keep: keep as u32, text: text.into(), kind, doubts, rank });
        if self.heap.len() > MOST {
            let mut items = std::mem::take(&mut self.heap).into_vec();
            items.sort_unstable_by_key(|item| item.rank);
            items.truncate(MOST / 2);
            self.heap = items.into();
        }
    }

    /// The best by what is known now.
    pub fn next(&mut self, merits: impl Fn(&Item) -> ItemMerits) -> Option<Item> {
        loop {
            let mut item = self.heap.pop()?;
            let now = merits(&item).rank(item.doubts, item.rank.order);
            if now <= item.rank || self.heap.peek().is_none_or(|other| now <= other.rank) {
                item.rank = now;
                return Some(item);
            }
            item.rank = now;
            self.heap.push(item);
        }
    }

    /// Some of the best.
    pub fn soon(&self) -> impl Iterator<Item = &Item> {
        self.heap.iter().take(SOON)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.heap.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_states_come_first_then_short_inputs() {
        let mut queue = Queue::default();
        let merits =
            |seen, length| ItemMerits { class: class(seen, seen, seen), length, ..ItemMerits::default() };
        let all = [merits(5, 1), merits(0, 9), merits(0, 3), merits(1, 1)];
        for (node, merits) in all.iter().enumerate() {
            queue.add(node as u32, 0, b"x", Kind::Character, 0, merits);
        }
        let order: Vec<u32> =
            std::iter::from_fn(|| queue.next(|item| all[item.node as usize])).map(|item| item.node).collect();
        assert_eq!(order, [2, 1, 3, 0]);
    }

    /// Against sorting anew whenever ranks have changed.
    #[test]
    fn outdated_ranks_find_their_place() {
        let mut rng = wug_random::Rng::new(5, 0);
        for _ in 0..200 {
            let mut queue = Queue::default();
            let count = 1 + rng.below(40);
            let mut fresh: Vec<usize> = (0..count).map(|_| rng.below(30) as usize).collect();
            let merits = |fresh: usize, node: u32| ItemMerits {
                length: node as usize % 7,
                fresh,
                ..ItemMerits::default()
            };
            for node in 0..count {
                queue.add(node, 0, b"x", Kind::Set, 0, &merits(fresh[node as usize], node));
            }
            let mut left: Vec<u32> = (0..count).collect();
            while !left.is_empty() {
                // A valid input covered some of what was new: ranks get worse.
                for fresh in &mut fresh {
                    *fresh -= (*fresh).min(rng.below(3) as usize);
                }
                let rank = |node: u32| merits(fresh[node as usize], node).rank(0, node + 1);
                let best = *left.iter().min_by_key(|node| rank(**node)).expect("some are left");
                let item = queue.next(|item| merits(fresh[item.node as usize], item.node)).expect("the same");
                assert_eq!(item.node, best);
                left.retain(|node| *node != best);
            }
        }
    }
}
