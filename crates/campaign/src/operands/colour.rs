//! A copy of an input with other bytes that takes the same way.

use std::collections::BinaryHeap;
use wug_random::Rng;

/// Replaces as many bytes as it can by others of their kind, while `same`
/// says that the program does the same; after `runs` questions it stops.
///
/// The largest part that was not tried comes first; what cannot be replaced
/// as a whole is halved. Punctuation and white space stay: structure hangs on
/// them, so that most tries would be in vain.
pub fn coloured<E>(
    input: &[u8],
    runs: usize,
    rng: &mut Rng,
    mut same: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Vec<u8>, E> {
    let mut copy = input.to_vec();
    let mut candidate = Vec::with_capacity(input.len());
    let mut parts = BinaryHeap::from([(input.len(), 0usize)]);
    let mut left = runs;
    while let Some((len, at)) = parts.pop().filter(|(len, _)| left > 0 && *len > 0) {
        candidate.clear();
        candidate.extend_from_slice(&copy);
        candidate[at..at + len].iter_mut().for_each(|byte| *byte = other(*byte, rng));
        if candidate == copy {
            continue;
        }
        left -= 1;
        if same(&candidate)? {
            std::mem::swap(&mut copy, &mut candidate);
        } else if len > 1 {
            let half = len / 2;
            parts.extend([(half, at), (len - half, at + half)]);
        }
    }
    Ok(copy)
}

/// Another byte of the same kind.
fn other(byte: u8, rng: &mut Rng) -> u8 {
    let mut among = |first: u8, count: u8| {
        let step = 1 + rng.below(u32::from(count) - 1) as u8;
        first + (byte - first + step) % count
    };
    match byte {
        // A leading 0 would make a shorter number.
        b'1'..=b'9' => among(b'1', 9),
        b'a'..=b'z' => among(b'a', 26),
        b'A'..=b'Z' => among(b'A', 26),
        b'0' | b' '..=b'~' | b'\t' | b'\n' | b'\r' => byte,
        0..=0x1f | 0x7f.. => 0x80 + (rng.below(0x7f) as u8 + 1 + (byte & 0x7f)) % 0x80,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_stays_and_the_rest_changes() {
        let rng = &mut Rng::new(1, 2);
        let input = b"let value = 1234 + other; // a comment that nobody reads";
        let keeps = |copy: &[u8]| copy.starts_with(b"let ") && copy.len() == input.len();
        let mut runs = 0;
        let copy = coloured(input, 1000, rng, |copy| {
            runs += 1;
            Ok::<bool, ()>(keeps(copy))
        });
        let copy = copy.unwrap();
        assert!(keeps(&copy) && runs < 30, "{runs}");
        for (at, (old, new)) in input.iter().zip(&copy).enumerate() {
            let stays = at < 4 || *old == b'0' || !old.is_ascii_alphanumeric();
            assert_eq!(stays, old == new, "{at}: {} {}", *old as char, *new as char);
            assert_eq!(old.is_ascii_digit(), new.is_ascii_digit());
        }
        let none = coloured(input, 0, rng, |_| Ok::<bool, ()>(true)).unwrap();
        assert_eq!(none, input);
    }
}
