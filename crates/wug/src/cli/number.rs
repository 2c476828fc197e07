//! Whole numbers as arguments, with messages that say what to write.

/// Reads a number of 64 bits.
pub fn wide(text: &str) -> Result<u64, String> {
    whole(text, u64::MAX)
}

/// Reads a number of 32 bits.
pub fn small(text: &str) -> Result<u32, String> {
    whole(text, u64::from(u32::MAX)).map(|number| number as u32)
}

fn whole(text: &str, largest: u64) -> Result<u64, String> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !plain {
        return Err("give a whole number, such as 10".to_string());
    }
    let number = text.parse().ok().filter(|&number: &u64| number <= largest);
    number.ok_or_else(|| format!("the largest number is {largest}"))
}

/// 64 bits from the system's own source, by way of the hash map's keys.
pub fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::{small, wide};

    #[test]
    fn only_digits_are_numbers() {
        assert_eq!(wide("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(small("4294967295"), Ok(u32::MAX));
        for wrong in ["", "ten", "-1", "+1", "1.5", "0x10", "18446744073709551616"] {
            assert!(wide(wrong).is_err(), "{wrong}");
        }
        assert!(small("4294967296").is_err());
    }
}
