//! Mutators by what they yield for what they cost.
//!
//! In:  for each application of a mutator its cost, and what came of it.
//! Out: which one to apply next.
//!
//! A mutator is drawn with a probability in proportion to its rate to the power
//! of 1.5 (with its square, mutators that find little were hardly tried): gain by
//! cost, where old ones count less and less. Finds, not
//! applications, make evidence old: where finds are rare, a window of
//! applications holds too few of them to tell mutators apart. What is little
//! known is taken to be as good as all are on average, and every mutator keeps
//! a floor, since what yields nothing now may do so later. A strict choice of
//! the best (as by UCB) was rejected: mutators help each other, and the best
//! one alone finds less than all together.

use wug_random::Rng;

/// Share of draws that all mutators have equally.
const FLOOR: f64 = 0.2;
/// Gain of all together after which what came before counts half.
const HALF_LIFE: f64 = 400.0;
/// Applications without a find after which rates are worked out anew.
const RATING: u32 = 256;
/// How much evidence the average of all stands for, in mean applications.
const DOUBT: f64 = 200.0;

/// What is known of a mutator.
#[derive(Clone, Debug, Default)]
pub struct Arm {
    /// Its name.
    pub name: &'static str,
    /// Times that it was applied, in all.
    pub tries: u64,
    /// Inputs that came of it and were kept, in all.
    pub finds: u64,
    /// Cost, in all.
    pub cost: f64,
    recent_gain: f64,
    recent_cost: f64,
    recent_tries: f64,
    rate: f64,
    weight: f64,
}

impl Arm {
    /// Finds by cost, recent ones first.
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

/// Chooses mutators.
#[derive(Clone, Debug)]
pub struct Bandit {
    arms: Vec<Arm>,
    since_rating: u32,
    uniform: bool,
}

impl Bandit {
    /// For mutators of these names. With `uniform`, all are equally likely
    /// at all times: to compare with.
    pub fn new(names: impl IntoIterator<Item = &'static str>, uniform: bool) -> Bandit {
        let arm = |name| Arm { name, rate: 1.0, weight: 1.0, ..Arm::default() };
        Bandit { arms: names.into_iter().map(arm).collect(), since_rating: 0, uniform }
    }

    /// All of them.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    /// Draws one of those that `usable` allows; none if it allows none.
    pub fn draw(&self, usable: impl Fn(usize) -> bool, rng: &mut Rng) -> Option<usize> {
        let (mut count, mut total) = (0, 0.0);
        for (at, arm) in self.arms.iter().enumerate() {
            if usable(at) {
                count += 1;
                total += arm.weight;
            }
        }
        if count == 0 {
            return None;
        }
        let uniform = 1.0 / f64::from(count);
        let floor = if self.uniform || total <= 0.0 { 1.0 } else { FLOOR };
        let mut drawn = f64::from(rng.bits()) / 2f64.powi(32);
        let mut last = None;
        for (at, arm) in self.arms.iter().enumerate() {
            if usable(at) {
                last = Some(at);
                let share = if floor >= 1.0 { 0.0 } else { arm.weight / total };
                drawn -= floor * uniform + (1.0 - floor) * share;
                if drawn < 0.0 {
                    break;
                }
            }
        }
        last
    }

    /// Learns what an application cost, and what was gained.
    pub fn learn(&mut self, at: usize, cost: f64, gain: f64) {
        let arm = &mut self.arms[at];
        arm.tries += 1;
        arm.cost += cost;
        arm.recent_cost += cost;
        arm.recent_tries += 1.0;
        if gain > 0.0 {
            arm.finds += 1;
            arm.recent_gain += gain;
        }
        self.since_rating += 1;
        // Rates move slowly: they are worked out anew now and then.
        if gain > 0.0 || self.since_rating >= RATING {
            self.since_rating = 0;
            self.rate();
        }
    }

    fn rate(&mut self) {
        let sum = |value: fn(&Arm) -> f64| self.arms.iter().map(value).sum::<f64>();
        let (gain, cost, tries) =
            (sum(|arm| arm.recent_gain), sum(|arm| arm.recent_cost), sum(|arm| arm.recent_tries));
        let (average, doubt) = (gain / cost.max(1e-9), DOUBT * cost / tries.max(1.0));
        for arm in &mut self.arms {
            arm.rate = (arm.recent_gain + average * doubt) / (arm.recent_cost + doubt).max(1e-9);
            arm.weight = arm.rate * arm.rate.sqrt();
            if gain >= 2.0 * HALF_LIFE {
                arm.recent_gain /= 2.0;
                arm.recent_cost /= 2.0;
                arm.recent_tries /= 2.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each of three mutators is drawn, when they yield so much.
    fn shares(yields: [f64; 3], uniform: bool) -> [f64; 3] {
        let mut bandit = Bandit::new(["a", "b", "c"], uniform);
        let rng = &mut Rng::new(1, 2);
        let mut drawn = [0.0; 3];
        for round in 0..40_000 {
            let at = bandit.draw(|_| true, rng).unwrap();
            if round >= 20_000 {
                drawn[at] += 1.0 / 20_000.0;
            }
            let found = f64::from(rng.bits()) / 2f64.powi(32) < yields[at];
            bandit.learn(at, 1.0, f64::from(u8::from(found)));
        }
        drawn
    }

    #[test]
    fn what_yields_more_is_drawn_more() {
        let drawn = shares([0.001, 0.02, 0.0], false);
        assert!(drawn[1] > 0.8 && drawn[0] < 0.15, "{drawn:?}");
        // The floor holds for what yields nothing.
        assert!(drawn[2] > 0.05, "{drawn:?}");
    }

    #[test]
    fn without_evidence_all_are_equal() {
        for drawn in [shares([0.0; 3], false), shares([0.001, 0.02, 0.0], true)] {
            assert!(drawn.iter().all(|share| (share - 1.0 / 3.0).abs() < 0.02), "{drawn:?}");
        }
    }

    #[test]
    fn cost_counts() {
        let mut bandit = Bandit::new(["cheap", "dear"], false);
        for _ in 0..1000 {
            bandit.learn(0, 1.0, 0.1);
            bandit.learn(1, 20.0, 0.1);
        }
        assert!(bandit.arms()[0].rate() > 3.0 * bandit.arms()[1].rate());
    }

    #[test]
    fn only_what_is_usable_is_drawn() {
        let bandit = Bandit::new(["a", "b"], false);
        let rng = &mut Rng::new(1, 2);
        assert!((0..100).all(|_| bandit.draw(|at| at == 1, rng) == Some(1)));
        assert_eq!(bandit.draw(|_| false, rng), None);
    }
}
