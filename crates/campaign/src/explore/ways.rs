//! Valid inputs by the states that they passed through.

use super::closing::Stop;
use std::collections::HashMap;
use wug_random::Rng;

/// Inputs that are remembered.
const MOST: usize = 4096;

#[derive(Clone, Debug)]
struct Way {
    input: Box<[u8]>,
    stops: Vec<Stop>,
    /// What the input was made from.
    node: u32,
}

/// Valid inputs with their states.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    all: Vec<Way>,
    /// Inputs and places in them, by state.
    through: HashMap<u64, Vec<(u32, u32)>>,
}

impl Ways {
    /// Adds an input that was made from a node.
    pub fn add(&mut self, input: &[u8], stops: Vec<Stop>, node: u32) {
        if self.all.len() >= MOST {
            return;
        }
        let way = self.all.len() as u32;
        for stop in &stops {
            self.through.entry(stop.state.near).or_default().push((way, stop.at as u32));
        }
        self.all.push(Way { input: input.into(), stops, node });
    }

    /// The beginning of one and the rest of another that was in the same
    /// state: the node of the first, the whole, and where the rest begins.
    pub fn combine(&self, rng: &mut Rng) -> Option<(u32, Vec<u8>, usize)> {
        let any = |count: usize, rng: &mut Rng| (count > 0).then(|| rng.below(count as u32) as usize);
        let first = &self.all[any(self.all.len(), rng)?];
        let stop = first.stops[any(first.stops.len(), rng)?];
        let others = self.through.get(&stop.state.near)?;
        let (other, at) = others[any(others.len(), rng)?];
        let rest = &self.all[other as usize].input[at as usize..];
        Some((first.node, [&first.input[..stop.at], rest].concat(), stop.at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sight::State;
    use super::*;

    #[test]
    fn inputs_are_joined_where_they_were_in_the_same_state() {
        let stop = |at, near| Stop { at, state: State { near, ..State::default() } };
        let mut ways = Ways::default();
        assert!(ways.combine(&mut Rng::new(1, 1)).is_none());
        ways.add(b"a=1;", vec![stop(0, 1), stop(2, 2), stop(3, 3)], 5);
        ways.add(b"if(b)", vec![stop(0, 1), stop(3, 2), stop(4, 4)], 6);
        let mut rng = Rng::new(1, 0);
        let made: std::collections::BTreeSet<Vec<u8>> =
            (0..500).filter_map(|_| ways.combine(&mut rng)).map(|(_, input, _)| input).collect();
        let made: Vec<_> = made.iter().map(|input| String::from_utf8_lossy(input)).collect();
        assert_eq!(made, ["a=1;", "a=b)", "if(1;", "if(b)"]);
    }
}
