//! A token bucket: it limits the mean rate per second, and the burst after a rest.
//!
//! Works as the generic cell rate algorithm does (ITU-T I.371, virtual scheduling): one instant, at which the bucket
//! would be full again. No drift, whatever the rate.

use hotband_units::Instant;

/// A limit of I/Os or of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    /// Nanoseconds that one token takes to come, in 2^-32: a byte at 100 GB/s takes a hundredth of a nanosecond.
    per_token: u128,
    /// Nanoseconds in which an empty bucket fills.
    depth: u64,
    /// When it is full again, in 2^-32 nanoseconds.
    full_at: u128,
}

impl Bucket {
    /// A full bucket, to which tokens come at `rate` a second. It is open while no more than `burst` are missing.
    pub fn new(rate: u64, burst: u64) -> Self {
        let per_token = (1_000_000_000_u128 << 32) / u128::from(rate.max(1));
        let depth = ((u128::from(burst) * per_token) >> 32).min(u128::from(u64::MAX / 4)) as u64;
        Self { per_token, depth, full_at: 0 }
    }

    /// Time from which tokens may be taken.
    pub fn open_at(&self) -> Instant {
        let full = (self.full_at >> 32) as u64;
        Instant(full.saturating_sub(self.depth))
    }

    /// Takes tokens at `now`, at or after `open_at`. A command larger than the remaining tokens goes at once;
    /// the next waits for it.
    pub fn take(&mut self, now: Instant, tokens: u64) {
        let now = u128::from(now.0) << 32;
        self.full_at = self.full_at.max(now) + u128::from(tokens) * self.per_token;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_goes_at_once_and_then_one_comes_after_the_other() {
        let mut bucket = Bucket::new(1_000, 3);
        let mut at = Vec::new();
        let mut now = Instant::ZERO;
        for _ in 0..6 {
            now = now.max(bucket.open_at());
            bucket.take(now, 1);
            at.push(now.0);
        }
        assert_eq!(at, [0, 0, 0, 0, 1_000_000, 2_000_000], "one that makes it miss three, and the three");
    }

    #[test]
    fn a_rest_fills_it_and_no_more_than_that() {
        let mut bucket = Bucket::new(1_000, 2);
        bucket.take(Instant::ZERO, 5);
        assert_eq!(bucket.open_at(), Instant(3_000_000));
        let later = Instant(1_000_000_000);
        bucket.take(later, 2);
        assert_eq!(bucket.open_at(), later, "no more than two are missing");
        bucket.take(later, 1);
        assert_eq!(bucket.open_at(), Instant(later.0 + 1_000_000));
    }

    #[test]
    fn the_rate_is_kept_over_a_day() {
        let mut bucket = Bucket::new(3, 1);
        let mut now = Instant::ZERO;
        for _ in 0..3 * 86_400 + 2 {
            now = now.max(bucket.open_at());
            bucket.take(now, 1);
        }
        let day = 86_400_000_000_000_u64;
        assert!(now.0.abs_diff(day) <= 1, "{} ns", now.0);
    }
}
