//! Known texts in an input by other ones.

use wug_random::Rng;

/// Where known texts occur in an input.
#[derive(Clone, Debug, Default)]
pub struct Occurrences {
    /// Place and length, by place.
    found: Vec<(u32, u32)>,
}

/// Occurrences that are kept.
const MOST: usize = 4096;

impl Occurrences {
    /// Looks for all strings, also at the very end of the input.
    pub fn of(input: &[u8], strings: &[Box<[u8]>]) -> Occurrences {
        let mut by_first: Vec<Vec<u32>> = vec![Vec::new(); 256];
        for (at, string) in strings.iter().enumerate() {
            if let Some(first) = string.first() {
                by_first[usize::from(*first)].push(at as u32);
            }
        }
        let mut found = Vec::new();
        for (at, byte) in input.iter().enumerate() {
            for string in &by_first[usize::from(*byte)] {
                let string = &strings[*string as usize];
                if input[at..].starts_with(string) && found.len() < MOST {
                    found.push((at as u32, string.len() as u32));
                }
            }
        }
        Occurrences { found }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Replaces some occurrence by `put`, or all of the same text; how many.
    pub fn replace(&self, input: &[u8], put: &[u8], all: bool, rng: &mut Rng, out: &mut Vec<u8>) -> u32 {
        out.clear();
        if self.found.is_empty() {
            out.extend_from_slice(input);
            return 0;
        }
        let (at, len) = self.found[rng.below(self.found.len() as u32) as usize];
        let (at, len) = (at as usize, len as usize);
        let text = &input[at..at + len];
        let (mut from, mut count) = (0, 0);
        while from < input.len() {
            let here = if all { input[from..].starts_with(text) } else { from == at };
            if here {
                out.extend_from_slice(put);
                from += len;
                count += 1;
            } else {
                out.push(input[from]);
                from += 1;
            }
        }
        count
    }
}
