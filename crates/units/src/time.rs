//! Points in time and spans of time, in whole nanoseconds.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use crate::text::{UnitError, format_scaled, parse_scaled};

/// A point in virtual (or wall-clock) time: nanoseconds since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Instant {
    /// The beginning of a run.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// Time since `earlier`; zero if `earlier` is in fact later.
    #[inline]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// A length of zero.
    pub const ZERO: Self = Self(0);

    /// A span from seconds, rounded to the nanosecond. Negative or no number: zero; more than fits: the longest.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9).round().max(0.0) as u64)
    }

    /// A span from milliseconds, rounded to the nanosecond. Negative or no number: zero; more than fits: the longest.
    pub fn from_millis_f64(millis: f64) -> Self {
        Self::from_secs_f64(millis / 1e3)
    }

    /// This span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This span in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add<Span> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, |a, b| a + b)
    }
}

/// Accepted units of time, each with its length in nanoseconds.
const UNITS: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9), ("d", 86400e9)];

impl FromStr for Span {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_scaled(text, UNITS, "a time with its unit, such as \"4.16 ms\" (ns, us, ms, s, min, h, d)").map(Self)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format_scaled(f, self.0, &[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)])
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_later_is_no_time_ago() {
        assert_eq!((Instant(7).since(Instant(3)), Instant(3).since(Instant(7))), (Span(4), Span(0)));
        assert_eq!(Instant(7).since(Instant(7)), Span::ZERO);
    }

    #[test]
    fn seconds_and_milliseconds_are_rounded_to_the_nanosecond() {
        assert_eq!([1.5, 1.4e-9, 1.6e-9].map(Span::from_secs_f64), [1_500_000_000, 1, 2].map(Span));
        assert_eq!([4.16, 0.0, 1.6e-6].map(Span::from_millis_f64), [4_160_000, 0, 2].map(Span));
        assert_eq!([-1.0, f64::NAN, f64::NEG_INFINITY].map(Span::from_secs_f64), [Span::ZERO; 3]);
        let span = Span(2_500_000_000);
        assert!((span.as_secs_f64() - 2.5).abs() < 1e-12 && (span.as_millis_f64() - 2_500.0).abs() < 1e-9);
    }

    #[test]
    fn spans_are_added_and_no_less_than_nothing_is_left() {
        let (mut at, mut span) = (Instant(3), Span(5));
        at += Span(4);
        span += Span(6);
        assert_eq!((at, Instant(3) + Span(4), span, Span(5) + Span(6)), (Instant(7), Instant(7), Span(11), Span(11)));
        assert_eq!((Span(5) - Span(2), Span(2) - Span(5)), (Span(3), Span::ZERO));
        assert_eq!([1, 2, 3].map(Span).into_iter().sum::<Span>(), Span(6));
    }

    #[test]
    fn never_is_as_late_as_it_gets() {
        let mut never = Instant::NEVER;
        never += Span(1);
        assert_eq!((never, Instant::NEVER + Span(1)), (Instant::NEVER, Instant::NEVER));
    }
}
