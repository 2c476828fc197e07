//! Sets of bytes or characters, as sorted ranges.
//!
//! A class is one node however many members it has: `.` holds 1,112,064
//! characters in two ranges.

/// What the members of a class are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Bytes, 0 to 255; each is itself in the output.
    Byte,
    /// Unicode scalar values; each is its UTF-8 encoding in the output.
    Char,
}

/// A set of bytes or characters. Canonical: ranges are sorted, apart, and
/// hold no surrogates; a class of bytes below 128 counts as characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class {
    unit: Unit,
    ranges: Box<[(u32, u32)]>,
    count: u32,
}

const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

impl Class {
    /// The class of the given ranges, ends included.
    pub fn new(unit: Unit, ranges: impl IntoIterator<Item = (u32, u32)>) -> Class {
        let top = match unit {
            Unit::Byte => 0xFF,
            Unit::Char => 0x10FFFF,
        };
        let mut all: Vec<(u32, u32)> = Vec::new();
        for (low, high) in ranges {
            let high = high.min(top);
            if low > high {
                continue;
            }
            if unit == Unit::Byte || high < SURROGATES.0 || low > SURROGATES.1 {
                all.push((low, high));
                continue;
            }
            if low < SURROGATES.0 {
                all.push((low, SURROGATES.0 - 1));
            }
            if high > SURROGATES.1 {
                all.push((SURROGATES.1 + 1, high));
            }
        }
        all.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(all.len());
        for (low, high) in all {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        let ascii = merged.last().is_none_or(|&(_, high)| high < 0x80);
        Class {
            unit: if ascii { Unit::Char } else { unit },
            count: merged.iter().map(|&(low, high)| high - low + 1).sum(),
            ranges: merged.into(),
        }
    }

    /// All characters.
    pub fn any_char() -> Class {
        Class::new(Unit::Char, [(0, 0x10FFFF)])
    }

    /// What the members are.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Sorted ranges, ends included.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// How many members there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether there is no member: such a class derives nothing.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The member with `index` smaller ones. Out of range gives the last.
    pub fn member(&self, mut index: u32) -> u32 {
        for &(low, high) in &self.ranges[..] {
            let size = high - low + 1;
            if index < size {
                return low + index;
            }
            index -= size;
        }
        self.ranges.last().map_or(0, |&(_, high)| high)
    }

    /// Whether `value` is a member.
    pub fn contains(&self, value: u32) -> bool {
        let at = self.ranges.partition_point(|&(low, _)| low <= value);
        at > 0 && value <= self.ranges[at - 1].1
    }

    /// How many members are smaller than the member `value`; none if it is
    /// not one.
    pub fn index(&self, value: u32) -> Option<u32> {
        let at = self.ranges.partition_point(|&(low, _)| low <= value).checked_sub(1)?;
        let (low, high) = self.ranges[at];
        let before: u32 = self.ranges[..at].iter().map(|&(low, high)| high - low + 1).sum();
        (value <= high).then(|| before + value - low)
    }

    /// Appends the bytes of the member with `index` smaller ones.
    pub fn emit(&self, index: u32, out: &mut Vec<u8>) {
        let value = self.member(index);
        self.emit_value(value, out);
    }

    /// Appends the bytes of `value`.
    pub fn emit_value(&self, value: u32, out: &mut Vec<u8>) {
        match (self.unit, char::from_u32(value)) {
            (Unit::Char, Some(c)) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            _ => out.push(value as u8),
        }
    }

    /// Bytes of the member `value`.
    pub fn len_of(&self, value: u32) -> u32 {
        match self.unit {
            Unit::Byte => 1,
            Unit::Char => char::from_u32(value).map_or(1, |c| c.len_utf8() as u32),
        }
    }

    /// Fewest bytes of a member; members come in order of length, so it is
    /// that of the first.
    pub fn min_len(&self) -> u32 {
        self.ranges.first().map_or(0, |&(low, _)| self.len_of(low))
    }

    /// Most bytes of a member.
    pub fn max_len(&self) -> u32 {
        self.ranges.last().map_or(0, |&(_, high)| self.len_of(high))
    }

    /// Mean bytes of a member, all equally likely.
    pub fn mean_len(&self) -> f64 {
        if self.unit == Unit::Byte || self.max_len() == 1 {
            return 1.0;
        }
        let mut total = 0u64;
        for &(low, high) in &self.ranges[..] {
            for (from, to, len) in
                [(0, 0x7F, 1), (0x80, 0x7FF, 2), (0x800, 0xFFFF, 3), (0x10000, 0x10FFFF, 4)]
            {
                let (from, to) = (low.max(from), high.min(to));
                if from <= to {
                    total += u64::from(to - from + 1) * len;
                }
            }
        }
        total as f64 / f64::from(self.count.max(1))
    }

    /// All members of the unit that are not in this class.
    pub fn complement(&self, unit: Unit) -> Class {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(low, high) in &self.ranges[..] {
            if low > next {
                ranges.push((next, low - 1));
            }
            next = high + 1;
        }
        ranges.push((next, u32::MAX));
        Class::new(unit, ranges)
    }

    /// Members of both. The units must agree, or one be ASCII.
    pub fn union(&self, other: &Class) -> Option<Class> {
        let unit = self.common_unit(other)?;
        Some(Class::new(unit, self.ranges.iter().chain(&other.ranges[..]).copied()))
    }

    /// Members of this that `other` lacks.
    pub fn difference(&self, other: &Class) -> Option<Class> {
        let unit = self.common_unit(other)?;
        let keep = other.complement(unit);
        let mut ranges = Vec::new();
        let (mut i, mut j) = (0, 0);
        while i < self.ranges.len() && j < keep.ranges.len() {
            let (a, b) = (self.ranges[i], keep.ranges[j]);
            let (low, high) = (a.0.max(b.0), a.1.min(b.1));
            if low <= high {
                ranges.push((low, high));
            }
            if a.1 < b.1 {
                i += 1;
            } else {
                j += 1;
            }
        }
        Some(Class::new(unit, ranges))
    }

    /// The unit in which both can be written, if there is one.
    fn common_unit(&self, other: &Class) -> Option<Unit> {
        let ascii = |c: &Class| c.ranges.last().is_none_or(|&(_, high)| high < 0x80);
        match (self.unit, other.unit) {
            (a, b) if a == b => Some(a),
            (_, b) if ascii(self) => Some(b),
            (a, _) if ascii(other) => Some(a),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_classes_stay_compact_and_skip_surrogates() {
        let any = Class::any_char();
        assert_eq!(any.ranges(), &[(0, 0xD7FF), (0xE000, 0x10FFFF)]);
        assert_eq!(any.count(), 1_112_064);
        assert_eq!(any.member(0xD800), 0xE000);
    }

    #[test]
    fn difference_and_complement_agree_with_membership() {
        wug_property::check(|u| {
            let class = |u: &mut arbitrary::Unstructured| -> arbitrary::Result<Class> {
                let n = u.int_in_range(0..=4)?;
                let mut ranges = Vec::new();
                for _ in 0..n {
                    let low = u.int_in_range(0..=40u32)?;
                    ranges.push((low, low + u.int_in_range(0..=9u32)?));
                }
                Ok(Class::new(Unit::Char, ranges))
            };
            let (a, b) = (class(u)?, class(u)?);
            let difference = a.difference(&b).unwrap();
            let union = a.union(&b).unwrap();
            let complement = a.complement(Unit::Char);
            for v in 0..60 {
                assert_eq!(difference.contains(v), a.contains(v) && !b.contains(v));
                assert_eq!(union.contains(v), a.contains(v) || b.contains(v));
                assert_eq!(complement.contains(v), !a.contains(v));
            }
            let members: Vec<u32> = (0..a.count()).map(|i| a.member(i)).collect();
            assert_eq!(members, (0..60).filter(|&v| a.contains(v)).collect::<Vec<_>>());
            for v in 0..60 {
                assert_eq!(a.index(v), members.iter().position(|&m| m == v).map(|i| i as u32));
            }
            Ok(())
        })
        .for_cases(600);
    }
}
