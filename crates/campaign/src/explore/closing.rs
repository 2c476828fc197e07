//! How open constructs were closed before.
//!
//! In:  valid inputs, with the states that the parser was in on the way.
//! Out: for a state, what may come next on the shortest way to a valid input.
//!
//! What is learned of a state by its innermost calls holds wherever such a
//! construct stands, and leads on step by step; what is learned of a state by
//! all its calls is the whole rest of an input.

use super::sight::State;
use std::collections::HashMap;

/// A state on the way of an input.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Bytes of the input before it.
    pub at: usize,
    /// The parser's state there.
    pub state: State,
}

/// Ends of inputs that are remembered.
const ENDS: usize = 64;
/// Ways on that are remembered of a state.
const STEPS: usize = 6;

/// How open constructs were closed before.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    steps: HashMap<u64, Vec<Step>>,
    rests: HashMap<u64, Vec<u8>>,
    ends: Vec<(Vec<u8>, u32)>,
}

#[derive(Clone, Debug)]
struct Step {
    text: Vec<u8>,
    /// Bytes from here to the end of the input it was learned from.
    left: usize,
}

impl Closing {
    /// Learns from a valid input; its stops in order. States for which a new
    /// way on was learned.
    pub fn learn(&mut self, input: &[u8], stops: &[Stop]) -> Vec<u64> {
        let mut news = Vec::new();
        for (i, stop) in stops.iter().enumerate() {
            let to = stops.get(i + 1).map_or(input.len(), |next| next.at);
            let rest = &input[stop.at..];
            if rest.is_empty() || to <= stop.at {
                continue;
            }
            let text = &input[stop.at..to];
            let State { bare, near, nearby, full } = stop.state;
            self.step(nearby, text, rest.len());
            self.step(bare, text, rest.len());
            if self.step(near, text, rest.len()) {
                news.push(near);
            }
            if self.rests.get(&full).is_none_or(|known| rest.len() < known.len()) {
                self.rests.insert(full, rest.to_vec());
            }
            if i + 1 == stops.len() {
                self.end(text);
            }
        }
        news
    }

    /// Whether it is new, and among the shortest.
    fn step(&mut self, state: u64, text: &[u8], left: usize) -> bool {
        let steps = self.steps.entry(state).or_default();
        let known = steps.iter_mut().find(|step| step.text == text);
        let new = known.is_none();
        match known {
            Some(step) => step.left = step.left.min(left),
            None => steps.push(Step { text: text.to_vec(), left }),
        }
        steps.sort_by_key(|step| step.left);
        steps.truncate(STEPS);
        new && steps.iter().any(|step| step.text == text)
    }

    fn end(&mut self, text: &[u8]) {
        match self.ends.iter().position(|(known, _)| known == text) {
            Some(at) => self.ends[at].1 += 1,
            None if self.ends.len() < ENDS => self.ends.push((text.to_vec(), 1)),
            None => {}
        }
        self.ends.sort_by_key(|(text, count)| (std::cmp::Reverse(*count), text.len()));
    }

    /// What came next in such a construct, the shortest way first; what was
    /// learned in the closest state comes before the rest.
    pub fn steps(&self, state: State) -> Vec<Vec<u8>> {
        let known =
            [state.nearby, state.near, state.bare].map(|state| self.steps.get(&state).into_iter().flatten());
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for step in known.into_iter().flatten() {
            if !texts.contains(&step.text) {
                texts.push(step.text.clone());
            }
        }
        texts
    }

    /// What was left of a valid input in this very state.
    pub fn rest(&self, state: State) -> Option<&[u8]> {
        self.rests.get(&state.full).map(|rest| &rest[..])
    }

    /// What inputs ended with most often.
    pub fn ends(&self, most: usize) -> Vec<Vec<u8>> {
        self.ends.iter().take(most).map(|(text, _)| text.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_is_kept() {
        let mut closing = Closing::default();
        let state = |near, full| State { bare: near + 200, near, nearby: near + 100, full };
        let stop = |at, near, full| Stop { at, state: state(near, full) };
        closing.learn(b"f(a,b)", &[stop(0, 1, 1), stop(2, 2, 20), stop(3, 3, 30), stop(5, 3, 30)]);
        assert_eq!(closing.steps(state(3, 0)), [&b")"[..], b",b"]);
        assert_eq!(closing.rest(state(2, 20)), Some(&b"a,b)"[..]));
        closing.learn(b"f(x)", &[stop(0, 1, 1), stop(2, 2, 20), stop(3, 3, 30)]);
        assert_eq!(closing.steps(state(2, 0)), [b"x", b"a"]);
        assert_eq!(closing.rest(state(2, 20)), Some(&b"x)"[..]));
        assert_eq!((closing.steps(state(9, 9)).len(), closing.rest(state(9, 9))), (0, None));
        assert_eq!(closing.ends(1), [b")"]);
    }
}
