//! Division by a number that is known long before it is used.

/// A divisor and its reciprocal: on the way of every I/O a multiplication takes the place of a division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    value: u64,
    /// 2^64 / value, rounded up.
    reciprocal: u64,
    /// Numbers below this are divided exactly by the reciprocal.
    exact_below: u64,
}

impl Divisor {
    /// A divisor above zero.
    pub fn new(value: u64) -> Self {
        // The reciprocal is too large by less than value / 2^64, so the quotient of n is exact where
        // n * value < 2^64 (Granlund & Montgomery, PLDI 1994, theorem 4.2). That of 1 would be 2^64: divided for real.
        let exact_below = if value == 1 { 0 } else { u64::MAX / value };
        Self { value, reciprocal: (u64::MAX / value).wrapping_add(1), exact_below }
    }

    /// The divisor.
    #[inline]
    pub fn value(self) -> u64 {
        self.value
    }

    /// `number / self`, rounded down.
    #[inline]
    pub fn divide(self, number: u64) -> u64 {
        if number < self.exact_below {
            return ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u64;
        }
        number / self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quotients_are_exact(value in 1_u64..1 << 40, number in any::<u64>(), shift in 0_u32..64) {
            for number in [number >> shift, value, value - 1, (number >> shift) / value * value] {
                prop_assert_eq!(Divisor::new(value).divide(number), number / value);
                prop_assert_eq!(Divisor::new(value).divide(number.saturating_sub(1)), number.saturating_sub(1) / value);
            }
        }

        #[test]
        fn small_divisors_and_the_ends_of_the_fast_range_are_exact(value in 1_u64..5_000) {
            let divisor = Divisor::new(value);
            for number in [0, 1, divisor.exact_below.saturating_sub(1), divisor.exact_below, u64::MAX] {
                prop_assert_eq!(divisor.divide(number), number / value);
                prop_assert_eq!(divisor.divide(number / value * value), number / value);
            }
        }
    }
}
