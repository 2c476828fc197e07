//! A hash of bytes that is the same in every run: quick, not safe from
//! people who look for collisions.

/// Hashes bytes.
pub fn hash(bytes: &[u8]) -> u64 {
    const A: u64 = 0xA076_1D64_78BD_642F;
    const B: u64 = 0xE703_7ED1_A0B4_28DB;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        (product >> 64) as u64 ^ product as u64
    };
    let (chunks, rest) = bytes.as_chunks::<16>();
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let mut state = A;
    for chunk in chunks {
        state = fold(word(&chunk[..8]) ^ state, word(&chunk[8..]) ^ B);
    }
    let (low, high) = rest.split_at(rest.len().min(8));
    fold(fold(word(low) ^ state, word(high) ^ B) ^ bytes.len() as u64, A)
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn close_texts_are_far_apart() {
        let mut seen = std::collections::HashSet::new();
        for len in 0..64 {
            for at in 0..len {
                for bit in 0..8 {
                    let mut text = vec![0u8; len];
                    text[at] = 1 << bit;
                    assert!(seen.insert(hash(&text)), "{len} {at} {bit}");
                }
            }
            assert!(seen.insert(hash(&vec![0; len])));
        }
    }
}
