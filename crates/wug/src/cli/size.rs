//! Sizes as people write them: `64`, `16K`, `1M`, `2G`.

/// Reads a size; K, M and G are powers of 1,024.
pub fn parse(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| "write a size as 4096, 64K, 16M or 1G".to_string())?;
    number.checked_mul(1 << shift).ok_or_else(|| "this size is too large".to_string())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn suffixes_are_powers_of_1024() {
        assert_eq!(parse("17"), Ok(17));
        assert_eq!(parse("16K"), Ok(16 << 10));
        assert_eq!(parse("1m"), Ok(1 << 20));
        assert_eq!(parse("2G"), Ok(2 << 30));
        assert!(parse("1T").is_err());
        assert!(parse("K").is_err());
        assert!(parse("99999999999G").is_err());
    }
}
