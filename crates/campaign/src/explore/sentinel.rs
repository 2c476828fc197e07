//! Bytes that are appended to see what the parser expects.
//!
//! A sentinel is a byte that occurs nowhere else in the input. An operand of
//! a comparison that equals it can only be that byte: no other means is
//! needed to know which byte of the input a comparison looked at.
//!
//! The first class is that of bytes that hardly a language has a use for, so
//! that the parser tries all that it expects before it gives up. Small numbers
//! come last: programs number tokens and states with them. The other classes
//! lead the parser on: into words, numbers, space.

use wug_random::Rng;

/// Classes of sentinels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// What no language expects.
    Control,
    /// Leads into words.
    Letter,
    /// Leads into numbers.
    Digit,
    /// Leads into operators.
    Punctuation,
    /// Ends words and is skipped.
    Space,
    /// Part of a character of several bytes.
    High,
}

impl Class {
    /// Its bytes, those first that are hardly ever part of a language.
    fn bytes(self) -> &'static [u8] {
        match self {
            Class::Control => {
                b"\x7f\xf8\xf9\xfa\xfb\xfc\x1f\x1e\x1d\x1c\x1a\x19\x18\x17\x16\x15\x14\x13\x12\x11\x10"
            }
            Class::Letter => b"qzjxkvwygbpmhducloaersintfQZJXKVWYGBPMHDUCLOAERSINTF",
            Class::Digit => b"8976354210",
            Class::Punctuation => b"`@$?~^|&%#!'<>=+-*/\\:;.,_\"(){}[]",
            Class::Space => b"\n\t \r\x0b\x0c",
            Class::High => &HIGH,
        }
    }
}

const HIGH: [u8; 128] = {
    let mut bytes = [0; 128];
    let mut i = 0;
    while i < 128 {
        // Leading bytes of two first, then the rest.
        bytes[i] = 0x80 + ((i as u8 + 0x43) & 0x7f);
        i += 1;
    }
    bytes
};

/// A byte of a class that the input does not have: the first, or for letters,
/// digits and punctuation one of the first.
pub fn sentinel(input: &[u8], class: Class, rng: &mut Rng) -> Option<u8> {
    let mut used = [false; 256];
    for byte in input {
        used[usize::from(*byte)] = true;
    }
    let mut free = class.bytes().iter().copied().filter(|byte| !used[usize::from(*byte)]);
    match class {
        // Any byte will do where none of these is left; an input of less than
        // 256 bytes has one.
        Class::Control => free.next().or_else(|| (0..=255).find(|byte| !used[usize::from(*byte)])),
        Class::Space | Class::High => free.next(),
        _ => {
            let first: Vec<u8> = free.take(4).collect();
            (!first.is_empty()).then(|| first[rng.below(first.len() as u32) as usize])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentinel_is_of_its_class_and_not_in_the_input() {
        let mut rng = Rng::new(1, 0);
        let classes =
            [Class::Control, Class::Letter, Class::Digit, Class::Punctuation, Class::Space, Class::High];
        for class in classes {
            // All bytes of the class but one are in the input: that one is left.
            let all = class.bytes();
            for (at, left) in all.iter().enumerate() {
                let input: Vec<u8> =
                    all.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, byte)| *byte).collect();
                assert_eq!(sentinel(&input, class, &mut rng), Some(*left));
            }
            let any = (class == Class::Control).then_some(0);
            assert_eq!(sentinel(all, class, &mut rng), any);
        }
        let every: Vec<u8> = (0..=255).collect();
        assert_eq!(sentinel(&every, Class::Control, &mut rng), None);
        assert_eq!(sentinel(&every[..255], Class::Control, &mut rng), Some(255));
        let high: std::collections::BTreeSet<u8> = HIGH.into_iter().collect();
        assert!(high.len() == 128 && high.iter().all(|byte| *byte >= 0x80));
    }
}
