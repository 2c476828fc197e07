//! Whole numbers as arguments, with messages that say what to write.

/// Reads a number of 64 bits.
pub fn wide(text: &str) -> Result<u64, String> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !plain {
        return Err("give a whole number, such as 10".to_string());
    }
    text.parse().map_err(|_| format!("the largest number is {}", u64::MAX))
}

/// Reads a number of 32 bits.
pub fn small(text: &str) -> Result<u32, String> {
    u32::try_from(wide(text)?).map_err(|_| format!("the largest number is {}", u32::MAX))
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
