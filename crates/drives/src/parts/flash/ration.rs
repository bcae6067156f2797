//! Limit on promotions into flash, which bounds its wear, and the share of it that was used recently.

use hotband_units::{Instant, Rate, Span};

/// Promotions that were not needed are saved up for this long.
const BURST: Span = Span(1_000_000_000);
const MINUTE: Span = Span(60_000_000_000);
/// A cache is warm when a minute's promotions, less those that only replace what writes dropped, take no more than this
/// part of the ration, and no more than that part of what it holds: a slow load needs little of the ration.
const WARM_PART: u64 = 4;
const WARM_PART_OF_HELD: u64 = 10;

/// The ration of promotions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ration {
    /// Most bytes promoted in a second, over time.
    rate: Rate,
    /// A promotion may begin once this is in the past.
    next: Instant,
    /// Bytes promoted less those that writes dropped: in the current minute and in the previous one.
    minute_ends: Instant,
    minute: i64,
    minute_before: i64,
}

impl Ration {
    /// Nothing is promoted yet.
    pub fn new(rate: Rate) -> Self {
        Self { rate, next: Instant::ZERO, minute_ends: Instant(MINUTE.0), minute: 0, minute_before: 0 }
    }

    /// Ends minutes.
    #[inline]
    pub fn keep_time(&mut self, now: Instant) {
        while now >= self.minute_ends {
            (self.minute_before, self.minute) = (self.minute, 0);
            self.minute_ends += MINUTE;
        }
    }

    /// Whether a block may be promoted.
    #[inline]
    pub fn lets_in(&self, now: Instant) -> bool {
        self.next <= now
    }

    /// `bytes` are chosen for promotion.
    pub fn promoted(&mut self, now: Instant, bytes: u64) {
        let earliest = Instant(now.0.saturating_sub(BURST.0));
        self.next = self.next.max(earliest) + self.rate.time_for(bytes);
        self.minute += bytes as i64;
    }

    /// A write drops `bytes`.
    #[inline]
    pub fn dropped(&mut self, bytes: u64) {
        self.minute -= bytes as i64;
    }

    /// Whether a whole minute has promoted no more than a quarter of the ration, and a tenth of the `held` bytes,
    /// beyond what writes dropped.
    pub fn is_hardly_used(&self, now: Instant, held: u64) -> bool {
        let last = if now < self.minute_ends {
            self.minute_before.max(self.minute)
        } else if now < self.minute_ends + MINUTE {
            self.minute
        } else {
            0
        };
        last <= (self.rate.0 * 60 / WARM_PART).min(held / WARM_PART_OF_HELD) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    /// A quarter of the bytes that 1 MB/s transfers in a minute.
    const QUARTER: u64 = 15_000_000;
    /// Held bytes of which a tenth exceeds `QUARTER`.
    const HELD: u64 = 160_000_000;

    fn ration() -> Ration {
        Ration::new(Rate(1_000_000))
    }

    #[test]
    fn what_was_not_needed_is_saved_up_for_a_second() {
        let mut ration = ration();
        assert!(ration.lets_in(Instant(0)));
        // Half a second's worth, of the second before; then a second and a half more.
        ration.promoted(Instant(10 * SECOND), 500_000);
        assert!(ration.lets_in(Instant(10 * SECOND)));
        ration.promoted(Instant(10 * SECOND), 1_500_000);
        assert!(!ration.lets_in(Instant(11 * SECOND - 1)) && ration.lets_in(Instant(11 * SECOND)));
    }

    #[test]
    fn it_is_hardly_used_when_a_minute_takes_no_more_than_a_quarter_beyond_what_writes_dropped() {
        let mut ration = ration();
        assert!(ration.is_hardly_used(Instant(0), HELD));
        ration.promoted(Instant(0), QUARTER + 1);
        assert!(!ration.is_hardly_used(Instant(1), HELD));
        ration.dropped(1);
        assert!(ration.is_hardly_used(Instant(1), HELD));
    }

    #[test]
    fn a_cache_that_holds_little_fills_by_a_tenth_of_it() {
        let mut ration = ration();
        ration.promoted(Instant(0), 1_000);
        let hardly = [0, 9_999, 10_000].map(|held| ration.is_hardly_used(Instant(1), held));
        assert_eq!(hardly, [false, false, true]);
        ration.dropped(1_000);
        assert!(ration.is_hardly_used(Instant(1), 0));
    }

    #[test]
    fn this_minute_and_the_one_before_count_whether_or_not_anybody_looked() {
        let minute = |number: u64| Instant(number * MINUTE.0);
        let before = |number: u64| Instant(number * MINUTE.0 - 1);
        let mut ration = ration();
        ration.promoted(Instant(0), QUARTER + 1);
        let seen = |ration: &Ration| [minute(1), before(2), minute(2)].map(|now| ration.is_hardly_used(now, HELD));
        assert_eq!(seen(&ration), [false, false, true]);
        ration.keep_time(minute(1));
        assert_eq!(seen(&ration), [false, false, true]);
        ration.keep_time(before(2));
        assert!(!ration.is_hardly_used(before(2), HELD));
        ration.keep_time(minute(2));
        assert!(ration.is_hardly_used(minute(2), HELD));
    }
}
