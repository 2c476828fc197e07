//! Entries of the corpus by rarity, speed, size and depth.
//!
//! In:  for each entry what it reaches and what a run of it costs.
//! Out: whose turn it is.
//!
//! An entry's weight is its share in what the corpus reaches (each edge
//! counts one, divided among the entries that reach it), times factors for
//! what is cheap, small and far from the seeds, and divided by the root of
//! the turns that it had without a find. What costs a thousand times as much
//! as usual has a thousandth of the turns, and shorter ones (`turn`): it gets
//! the time that it is worth. Entries are drawn by weight; a strict
//! order (as AFL's favoured first) would starve those whose edges are common
//! but whose structure is not.
//!
//! An edge that more than a thousand entries reach tells hardly one from the
//! other, and lists of all edges are most of a corpus' memory and of the time
//! to weigh it. So an entry forgets which of these it reaches, and lists grow
//! with the target, not with the campaign.

use wug_random::Rng;

/// What an entry is weighed by.
#[derive(Clone, Debug, Default)]
pub struct Merits {
    /// Edges that it reaches, in order; those that most entries reach are
    /// only counted.
    pub edges: Box<[u32]>,
    /// See there.
    pub common: u32,
    /// Its length in bytes.
    pub size: usize,
    /// Cost of a run, in microseconds; 1 where campaigns are to repeat.
    pub cost: f64,
    /// Its distance from a seed.
    pub depth: u32,
    /// Whether the grammar derives it.
    pub valid: bool,
    /// Turns that it had since something last came of it.
    pub idle: u32,
    /// Turns that it had.
    pub turns: u32,
}

/// Inputs beyond this are picked less often.
const LARGE: usize = 2048;
/// Edges with more holders are common.
const COMMON: u32 = 1024;
/// Draws between two weighings.
const WEIGHED_EVERY: u32 = 64;

/// No entry is worth more than so many times one of usual cost by its speed:
/// of two that take nothing to speak of, neither is the better.
const FAST: f64 = 4.0;

/// Draws entries.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    merits: Vec<Merits>,
    /// In how many entries each edge occurs.
    holders: Vec<u32>,
    /// Sums of weights of the entries that parse, and of the others.
    sums: [Vec<(f64, u32)>; 2],
    /// Draws since all were weighed, and the median cost of then.
    stale: u32,
    usual_cost: f64,
}

impl Turns {
    /// Adds the next entry.
    pub fn add(&mut self, merits: Merits) {
        for edge in &merits.edges {
            let at = *edge as usize;
            if self.holders.len() <= at {
                self.holders.resize(at + 1, 0);
            }
            self.holders[at] += 1;
        }
        self.merits.push(merits);
        self.forget_common(self.merits.len() - 1);
        // It can be drawn at once; what it means for the others can wait.
        match self.merits.len() {
            1 => self.weigh(),
            count => self.put(count - 1),
        }
    }

    /// What a run of an entry usually costs.
    pub fn usual_cost(&self) -> f64 {
        self.usual_cost
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.merits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.merits.is_empty()
    }

    /// The merits of an entry.
    pub fn merits(&self, at: usize) -> &Merits {
        &self.merits[at]
    }

    /// Draws an entry; of those that do not parse with probability `invalid`
    /// at most.
    pub fn draw(&mut self, invalid: f64, rng: &mut Rng) -> Option<usize> {
        self.stale += 1;
        if self.stale > WEIGHED_EVERY {
            self.weigh();
        }
        let total = |sums: &[(f64, u32)]| sums.last().map_or(0.0, |last| last.0);
        let (valid, other) = (total(&self.sums[0]), total(&self.sums[1]));
        let drawn = f64::from(rng.bits()) / 2f64.powi(32);
        let share = if valid > 0.0 { (other / (valid + other)).min(invalid) } else { 1.0 };
        let sums = &self.sums[usize::from(drawn < share)];
        let drawn = f64::from(rng.bits()) / 2f64.powi(32) * total(sums);
        let place = sums.partition_point(|(sum, _)| *sum <= drawn);
        let at = sums.get(place).or(sums.last())?.1 as usize;
        self.merits[at].turns += 1;
        self.merits[at].idle += 1;
        Some(at)
    }

    /// Notes that something came of an entry.
    pub fn found(&mut self, at: usize) {
        self.merits[at].idle = 0;
    }

    fn weigh(&mut self) {
        self.stale = 0;
        // Not the mean: one entry that takes a second would make all others
        // look alike.
        let mut costs: Vec<f64> = self.merits.iter().map(|merits| merits.cost).collect();
        let middle = costs.len() / 2;
        if middle < costs.len() {
            self.usual_cost = *costs.select_nth_unstable_by(middle, f64::total_cmp).1;
        }
        self.sums.iter_mut().for_each(Vec::clear);
        for at in 0..self.merits.len() {
            self.forget_common(at);
            self.put(at);
        }
    }

    /// Counts the common edges of an entry, and forgets which they are.
    fn forget_common(&mut self, at: usize) {
        let Turns { merits, holders, .. } = self;
        let is_rare = |edge: &u32| holders[*edge as usize] <= COMMON;
        let merits = &mut merits[at];
        let rare = merits.edges.iter().filter(|edge| is_rare(edge)).count();
        if rare < merits.edges.len() {
            merits.common += (merits.edges.len() - rare) as u32;
            merits.edges = merits.edges.iter().copied().filter(is_rare).collect();
        }
    }

    /// Puts the weight of an entry behind the others.
    fn put(&mut self, at: usize) {
        let merits = &self.merits[at];
        let weight = self.weight(merits);
        let sums = &mut self.sums[usize::from(!merits.valid)];
        let before = sums.last().map_or(0.0, |last| last.0);
        sums.push((before + weight, at as u32));
    }

    fn weight(&self, merits: &Merits) -> f64 {
        let rare = merits.edges.iter().map(|edge| 1.0 / f64::from(self.holders[*edge as usize]));
        let rarity = rare.sum::<f64>() + f64::from(merits.common) / self.merits.len() as f64;
        let speed = (self.usual_cost / merits.cost.max(1e-3)).min(FAST);
        let size = (LARGE as f64 / merits.size.max(1) as f64).min(1.0);
        let depth = 1.0 + f64::from(merits.depth.min(32)) / 16.0;
        let news = if merits.turns == 0 { 4.0 } else { 1.0 };
        (rarity.sqrt() + 0.05) * speed * size * depth * news / f64::from(1 + merits.idle).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merits(edges: &[u32]) -> Merits {
        Merits { edges: edges.into(), size: 10, cost: 1.0, valid: true, ..Merits::default() }
    }

    fn shares(entries: Vec<Merits>, invalid: f64) -> Vec<f64> {
        let mut turns = Turns::default();
        let count = entries.len();
        entries.into_iter().for_each(|entry| turns.add(entry));
        let rng = &mut Rng::new(1, 2);
        let mut drawn = vec![0.0; count];
        for _ in 0..5000 {
            drawn[turns.draw(invalid, rng).unwrap()] += 1.0 / 5000.0;
        }
        drawn
    }

    #[test]
    fn what_all_reach_is_counted_only() {
        let mut turns = Turns::default();
        let count = COMMON + 100;
        for entry in 0..count {
            turns.add(merits(&[0, 1, 2 + entry % 2, 10 + entry]));
        }
        turns.weigh();
        for entry in 0..count {
            let Merits { edges, common, .. } = turns.merits(entry as usize);
            assert_eq!((&edges[..], *common), (&[2 + entry % 2, 10 + entry][..], 2));
        }
        // An entry's weight is nearly the same as with all edges.
        let exact = (1.0 + 2.0 / f64::from(count / 2) + 2.0 / f64::from(count)).sqrt();
        let weight = turns.weight(turns.merits(0)) / 4.0 - 0.05;
        assert!((weight / exact - 1.0).abs() < 0.01, "{weight} {exact}");
    }

    #[test]
    fn rare_edges_are_worth_a_turn() {
        let mut entries: Vec<Merits> = (0..10).map(|_| merits(&[1, 2, 3])).collect();
        entries.push(merits(&[1, 2, 3, 4, 5, 6]));
        let drawn = shares(entries, 1.0);
        assert!(drawn[10] > 1.5 * drawn[0], "{drawn:?}");
        assert!(drawn.iter().all(|share| *share > 0.01), "{drawn:?}");
    }

    #[test]
    fn what_does_not_parse_has_a_bounded_share() {
        let mut entries: Vec<Merits> = (0..2).map(|_| merits(&[1, 2])).collect();
        entries.extend((0..100).map(|i| Merits { valid: false, ..merits(&[i + 10]) }));
        let drawn = shares(entries.clone(), 0.2);
        let invalid: f64 = drawn[2..].iter().sum();
        assert!((0.15..0.25).contains(&invalid), "{invalid}");
        // Where nothing parses, nothing is held back.
        assert!(shares(entries.split_off(2), 0.0).iter().all(|share| *share > 0.0));
    }

    #[test]
    fn no_cost_is_too_high_to_matter() {
        let entries = |cost| vec![merits(&[1]), merits(&[1]), Merits { cost, ..merits(&[1]) }];
        let slow = |cost| {
            let mut turns = Turns::default();
            entries(cost).into_iter().for_each(|entry| turns.add(entry));
            turns.weigh();
            turns.weight(turns.merits(2)) / turns.weight(turns.merits(0))
        };
        for cost in [2.0, 100.0, 1e5] {
            assert!((slow(cost) * cost - 1.0).abs() < 1e-9, "{cost}: {}", slow(cost));
        }
    }

    #[test]
    fn large_and_slow_entries_wait_longer() {
        let drawn = shares(
            vec![merits(&[1]), Merits { size: 65536, ..merits(&[1]) }, Merits { cost: 50.0, ..merits(&[1]) }],
            1.0,
        );
        assert!(drawn[0] > 2.0 * drawn[1] && drawn[0] > 2.0 * drawn[2], "{drawn:?}");
        assert!(drawn[1] > 0.0 && drawn[2] > 0.0, "{drawn:?}");
    }
}
