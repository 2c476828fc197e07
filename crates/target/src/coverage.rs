//! Work on maps of hit counts: one byte for each id.
//!
//! In:  the bytes of [`Observation::coverage`](super::Observation).
//! Out: classes of counts, ids that were hit, what is new.
//!
//! Loops go over eight bytes at a time where most are 0 and over whole
//! vectors where each byte needs work; the compiler makes the latter of
//! plain loops without branches. `tests` compare each with the obvious way.

/// The class of a count, as AFL has it: 0, 1, 2, 3, 4 to 7, 8 to 15, 16 to
/// 31, 32 to 127, 128 and more, each as a bit.
pub fn class(count: u8) -> u8 {
    match count {
        0..=2 => count,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        128.. => 128,
    }
}

/// Bytes that are looked at as one: mostly they are all 0.
const CHUNK: usize = 64;

/// Replaces counts by their classes.
pub fn classify(map: &mut [u8]) {
    let (chunks, rest) = map.as_chunks_mut::<CHUNK>();
    for chunk in chunks {
        if !is_zero(chunk) {
            classify_all(chunk);
        }
    }
    classify_all(rest);
}

fn classify_all(bytes: &mut [u8]) {
    for byte in bytes {
        // Comparisons in place of a table: vectors have no cheap look-up.
        let n = *byte;
        let at_least = |bound: u8, mask: u8| if n >= bound { mask } else { 0 };
        // Each step up replaces the bits of the class below.
        *byte = at_least(1, 1)
            ^ at_least(2, 1 ^ 2)
            ^ at_least(3, 2 ^ 4)
            ^ at_least(4, 4 ^ 8)
            ^ at_least(8, 8 ^ 16)
            ^ at_least(16, 16 ^ 32)
            ^ at_least(32, 32 ^ 64)
            ^ at_least(128, 64 ^ 128);
    }
}

fn is_zero(chunk: &[u8; CHUNK]) -> bool {
    let (words, _) = chunk.as_chunks::<8>();
    words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word)) == 0
}

/// How many ids were hit.
pub fn hit_count(map: &[u8]) -> usize {
    // Sums of up to 255 vectors fit into bytes.
    let sum = |part: &[u8]| part.iter().map(|byte| usize::from(*byte != 0)).sum::<usize>();
    map.chunks(255 * 32).map(sum).sum()
}

/// The ids that were hit, ascending.
pub fn hits(map: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let (words, rest) = map.as_chunks::<8>();
    let tail = words.len() * 8;
    let of_word = |(at, word): (usize, &[u8; 8])| {
        let mut bits = nonzero_bytes(u64::from_le_bytes(*word));
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let byte = bits.trailing_zeros() as usize / 8;
                bits &= bits - 1;
                at * 8 + byte
            })
        })
    };
    let words = words.iter().enumerate().filter(|(_, word)| **word != [0; 8]).flat_map(of_word);
    words.chain(rest.iter().enumerate().filter(|(_, byte)| **byte != 0).map(move |(at, _)| tail + at))
}

/// What is new in a classified map, compared with all that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Ids that were never hit before.
    pub ids: usize,
    /// Ids that were hit before, but never so often or so rarely.
    pub counts: usize,
}

impl News {
    /// Whether anything is new.
    pub fn any(self) -> bool {
        self.ids + self.counts > 0
    }
}

/// Whether counts, not classified yet, are of a class that was not seen. This
/// is asked of every run, and nearly always the answer is no.
pub fn has_news(counts: &[u8], seen: &[u8]) -> bool {
    let common = counts.len().min(seen.len());
    let (counts, beyond) = counts.split_at(common);
    let (chunks, rest) = counts.as_chunks::<CHUNK>();
    let (seen_chunks, seen_rest) = seen[..common].as_chunks::<CHUNK>();
    let new_chunk = |(chunk, seen): (&[u8; CHUNK], &[u8; CHUNK])| {
        if is_zero(chunk) {
            return false;
        }
        let mut classes = *chunk;
        classify_all(&mut classes);
        classes.iter().zip(seen).fold(0, |new, (class, seen)| new | class & !seen) != 0
    };
    chunks.iter().zip(seen_chunks).any(new_chunk)
        || rest.iter().zip(seen_rest).any(|(count, seen)| class(*count) & !seen != 0)
        || beyond.iter().any(|count| *count != 0)
}

/// Adds a classified map to all that was seen, which grows as the map does.
pub fn merge(map: &[u8], seen: &mut Vec<u8>) -> News {
    if seen.len() < map.len() {
        seen.resize(map.len(), 0);
    }
    let mut news = News::default();
    for at in hits(map) {
        let (new, old) = (map[at], seen[at]);
        if new & !old != 0 {
            if old == 0 {
                news.ids += 1
            } else {
                news.counts += 1
            }
            seen[at] = old | new;
        }
    }
    news
}

/// The highest bit of each byte that is not 0.
fn nonzero_bytes(word: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const LOW: u64 = !HIGH;
    ((word & LOW).wrapping_add(LOW) | word) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_counts_are_classified_as_the_table_says() {
        let mut map: Vec<u8> = (0..=255).collect();
        classify(&mut map);
        let expected: Vec<u8> = (0..=255).map(class).collect();
        assert_eq!(map, expected);
        assert_eq!(map[128..], [128; 128]);
    }

    /// Sparse bytes, as maps are.
    fn sparse(u: &mut arbitrary::Unstructured) -> arbitrary::Result<Vec<u8>> {
        let mut map = vec![0; u.int_in_range(0..=700)?];
        if !map.is_empty() {
            for _ in 0..u.int_in_range(0..=40)? {
                let at = u.int_in_range(0..=map.len() - 1)?;
                map[at] = u.arbitrary()?;
            }
        }
        Ok(map)
    }

    #[test]
    fn fast_ways_agree_with_slow_ones() {
        wug_property::check(|u| {
            let counts = sparse(u)?;
            let mut seen = sparse(u)?;
            let mut map = counts.clone();
            classify(&mut map);
            assert!(map.iter().zip(&counts).all(|(byte, count)| *byte == class(*count)));
            let hit: Vec<usize> = (0..map.len()).filter(|at| map[*at] != 0).collect();
            assert_eq!(hits(&map).collect::<Vec<_>>(), hit);
            assert_eq!(hit_count(&map), hit.len());
            let before = |at: usize| seen.get(at).copied().unwrap_or(0);
            let new: Vec<usize> = hit.iter().copied().filter(|at| map[*at] & !before(*at) != 0).collect();
            assert_eq!(has_news(&counts, &seen), !new.is_empty());
            let ids = new.iter().filter(|at| before(**at) == 0).count();
            let all: Vec<u8> = (0..map.len().max(seen.len()))
                .map(|at| before(at) | map.get(at).copied().unwrap_or(0))
                .collect();
            assert_eq!(merge(&map, &mut seen), News { ids, counts: new.len() - ids });
            assert_eq!(seen, all);
            assert!(!merge(&map, &mut seen).any() && !has_news(&counts, &seen));
            Ok(())
        })
        .for_cases(600);
    }
}
