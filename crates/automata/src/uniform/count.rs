//! Numbers too large for a float: a mantissa and an exponent.

use std::ops::{Add, Mul};

/// A number of derivations: 53 bits of precision and as large as need be.
/// The mantissa is 0, or at least 1 and less than 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    mantissa: f64,
    exponent: i32,
}

impl Count {
    /// None.
    pub const ZERO: Count = Count { mantissa: 0.0, exponent: 0 };
    /// One.
    pub const ONE: Count = Count { mantissa: 1.0, exponent: 0 };

    /// Whether it is none.
    pub fn is_zero(self) -> bool {
        self.mantissa == 0.0
    }

    /// The logarithm to base 2; negative infinity for none.
    pub fn log2(self) -> f64 {
        self.mantissa.log2() + f64::from(self.exponent)
    }

    /// The number; infinity where a float cannot hold it.
    pub fn to_f64(self) -> f64 {
        self.mantissa * f64::from(self.exponent).exp2()
    }

    /// Its share of a total that it is a part of.
    pub fn share_of(self, total: Count) -> f64 {
        if total.is_zero() {
            0.0
        } else {
            self.mantissa / total.mantissa * power(self.exponent - total.exponent)
        }
    }

    /// A positive finite float with an exponent, in normal form.
    #[inline]
    fn normal(mantissa: f64, exponent: i32) -> Count {
        let bits = mantissa.to_bits();
        let own = (bits >> 52) as i32 - 1023;
        Count { mantissa: f64::from_bits(bits & !(0x7FF << 52) | 1023 << 52), exponent: exponent + own }
    }
}

/// A power of two; 0 where it is too small to matter beside 1.
#[inline]
fn power(exponent: i32) -> f64 {
    match exponent {
        ..-1000 => 0.0,
        -1000..=1000 => f64::from_bits(((1023 + exponent) as u64) << 52),
        _ => f64::INFINITY,
    }
}

impl From<u32> for Count {
    fn from(number: u32) -> Count {
        if number == 0 { Count::ZERO } else { Count::normal(f64::from(number), 0) }
    }
}

impl Mul for Count {
    type Output = Count;

    #[inline]
    fn mul(self, other: Count) -> Count {
        if self.is_zero() || other.is_zero() {
            return Count::ZERO;
        }
        Count::normal(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }
}

impl Add for Count {
    type Output = Count;

    #[inline]
    fn add(self, other: Count) -> Count {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let scaled = small.mantissa * power(small.exponent - large.exponent);
        Count::normal(large.mantissa + scaled, large.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_those_of_numbers() {
        wug_property::check(|u| {
            let (a, b): (u32, u32) = (u.arbitrary()?, u.arbitrary()?);
            let (x, y) = (Count::from(a), Count::from(b));
            assert_eq!((x + y).to_f64(), f64::from(a) + f64::from(b));
            assert_eq!((x * y).to_f64(), f64::from(a) * f64::from(b));
            Ok(())
        })
        .for_cases(800);
    }

    #[test]
    fn powers_go_far_beyond_floats() {
        let mut power = Count::ONE;
        for _ in 0..100_000 {
            power = power * Count::from(3);
        }
        assert!((power.log2() - 100_000.0 * 3f64.log2()).abs() < 1e-4);
        assert_eq!(power.share_of(power + power), 0.5);
    }
}
