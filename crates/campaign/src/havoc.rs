//! Changes to bytes, without regard to structure.
//!
//! In:  an input, perhaps another one, tokens, random bits.
//! Out: another input.

use wug_random::Rng;

/// Tokens are no longer than this.
const LONGEST_TOKEN: usize = 128;
/// Most tokens that are kept.
const MOST_TOKENS: usize = 4096;
/// Digits of a number.
const LONGEST_NUMBER: usize = 20;
/// Most changes to one input.
const MOST_CHANGES: u32 = 5;

/// Values at the edges of types.
const EDGES: [i64; 20] = [
    0,
    1,
    -1,
    16,
    32,
    64,
    100,
    127,
    -128,
    255,
    256,
    512,
    1000,
    1024,
    4096,
    32767,
    -32768,
    65535,
    2147483647,
    -2147483648,
];

/// Changes bytes.
#[derive(Clone, Debug, Default)]
pub struct Havoc {
    tokens: Vec<Box<[u8]>>,
}

impl Havoc {
    /// Adds a token; whether it was new and is kept.
    pub fn add_token(&mut self, token: &[u8]) -> bool {
        let fits = !token.is_empty() && token.len() <= LONGEST_TOKEN && self.tokens.len() < MOST_TOKENS;
        let new = fits && !self.tokens.iter().any(|known| **known == *token);
        if new {
            self.tokens.push(token.into());
        }
        new
    }

    /// The tokens.
    pub fn tokens(&self) -> &[Box<[u8]>] {
        &self.tokens
    }

    /// Puts a token into the input, or in the place of some bytes.
    pub fn token(&self, input: &mut Vec<u8>, rng: &mut Rng, longest: usize) -> Option<()> {
        let token = self.some_token(rng)?;
        let at = rng.below(input.len() as u32 + 1) as usize;
        let end = match rng.below(3) {
            0 => at,
            1 => (at + token.len()).min(input.len()),
            // In the place of a word.
            _ => at + input[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count(),
        };
        if input.len() - (end - at) + token.len() > longest {
            return None;
        }
        input.splice(at..end, token.iter().copied());
        Some(())
    }

    /// Changes an input in some places; how many.
    pub fn bytes(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng, longest: usize) -> u32 {
        let changes = 1 << rng.below(MOST_CHANGES);
        for _ in 0..changes {
            self.change(input, other, rng, longest);
        }
        changes
    }

    fn some_token(&self, rng: &mut Rng) -> Option<&[u8]> {
        (!self.tokens.is_empty()).then(|| &*self.tokens[rng.below(self.tokens.len() as u32) as usize])
    }

    fn change(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng, longest: usize) {
        let len = input.len();
        if len == 0 {
            input.push(rng.bits() as u8);
            return;
        }
        let at = rng.below(len as u32) as usize;
        let room = longest.saturating_sub(len);
        match rng.below(14) {
            0 => input[at] ^= 1 << rng.below(8),
            1 => input[at] = rng.bits() as u8,
            2 => input[at] = input[at].wrapping_add(1 + rng.below(35) as u8),
            3 => input[at] = input[at].wrapping_sub(1 + rng.below(35) as u8),
            4 => {
                put_number(input, at, rng, |old, rng| old.wrapping_add_signed(i64::from(rng.below(71)) - 35))
            }
            5 => {
                let edge = EDGES[rng.below(EDGES.len() as u32) as usize];
                put_number(input, at, rng, |_, _| edge as u64);
            }
            6 => {
                let end = at + block(len - at, rng);
                input.drain(at..end);
            }
            7 => {
                // A block again, somewhere.
                let size = block(len - at, rng).min(room);
                let copy = input[at..at + size].to_vec();
                let to = rng.below(len as u32 + 1) as usize;
                input.splice(to..to, copy);
            }
            8 => {
                // A block over another.
                let size = block(len - at, rng);
                let to = rng.below((len - size + 1) as u32) as usize;
                input.copy_within(at..at + size, to);
            }
            9 => {
                // The same byte many times.
                let size = block(len.max(16), rng).min(room);
                let byte = if rng.below(2) == 0 { input[at] } else { rng.bits() as u8 };
                input.splice(at..at, std::iter::repeat_n(byte, size));
            }
            10 if room >= LONGEST_NUMBER => decimal(input, at, rng),
            11 if !other.is_empty() => {
                let from = rng.below(other.len() as u32) as usize;
                let size = block(other.len() - from, rng).min(room);
                input.splice(at..at, other[from..from + size].iter().copied());
            }
            12 if !other.is_empty() => {
                let from = rng.below(other.len() as u32) as usize;
                let size = block(other.len() - from, rng).min(len - at);
                input[at..at + size].copy_from_slice(&other[from..from + size]);
            }
            _ => {
                if self.token(input, rng, longest).is_none() {
                    input[at] = rng.bits() as u8;
                }
            }
        }
    }
}

/// The length of a block: small ones more often.
fn block(most: usize, rng: &mut Rng) -> usize {
    let bound = [8, 32, 128, 1024][rng.below(4) as usize].min(most.max(1));
    (1 + rng.below(bound as u32) as usize).min(most)
}

/// Replaces a number of 1, 2, 4 or 8 bytes, in either order.
fn put_number(input: &mut [u8], at: usize, rng: &mut Rng, new: impl Fn(u64, &mut Rng) -> u64) {
    let width = 1 << rng.below(4);
    let Some(bytes) = input.get_mut(at..at + width) else { return };
    let swap = rng.below(2) == 0;
    let mut word = [0; 8];
    word[..width].copy_from_slice(bytes);
    if swap {
        word[..width].reverse();
    }
    word = new(u64::from_le_bytes(word), rng).to_le_bytes();
    if swap {
        word[..width].reverse();
    }
    bytes.copy_from_slice(&word[..width]);
}

/// Replaces a number written in digits.
fn decimal(input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let Some(from) = input[at..].iter().position(digit).map(|n| at + n) else { return };
    let end = from + input[from..].iter().take_while(|byte| digit(byte)).count().min(18);
    let old = input[from..end].iter().fold(0u64, |sum, byte| sum * 10 + u64::from(byte - b'0'));
    let new = match rng.below(4) {
        0 => old.wrapping_add_signed(i64::from(rng.below(21)) - 10),
        1 => EDGES[rng.below(EDGES.len() as u32) as usize].unsigned_abs(),
        2 => u64::from(rng.bits()) << 32 | u64::from(rng.bits()),
        _ => old.wrapping_mul(2 + u64::from(rng.below(9))),
    };
    input.splice(from..end, new.to_string().into_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_can_be_changed_and_lengths_are_kept() {
        let mut havoc = Havoc::default();
        assert!(havoc.add_token(b"while") && !havoc.add_token(b"while") && !havoc.add_token(b""));
        let rng = &mut Rng::new(5, 6);
        let (mut changed, mut with_token) = (0, 0);
        for round in 0..20_000usize {
            let before: Vec<u8> = (0..round % 70).map(|i| b"x = 1234567; "[i % 13]).collect();
            let mut input = before.clone();
            havoc.bytes(&mut input, b"other input", rng, 80);
            assert!(input.len() <= 80, "{}", input.len());
            changed += usize::from(input != before);
            with_token += usize::from(input.windows(5).any(|part| part == b"while"));
        }
        assert!(changed > 19_000 && with_token > 500, "{changed} {with_token}");
    }
}
