//! How much may be promoted into the flash, for the sake of its wear, and how much of that was used of late.

use hotband_units::{Instant, Rate, Span};

/// Promotions that were not needed are saved up for this long.
const BURST: Span = Span(1_000_000_000);
const MINUTE: Span = Span(60_000_000_000);
/// A cache is warm when a minute's promotions, less those that only replace what writes dropped, take less than this
/// part of the ration.
const WARM_PART: u64 = 4;

/// The ration of promotions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ration {
    /// Most bytes promoted in a second, over time.
    rate: Rate,
    /// A promotion may begin once this is in the past.
    next: Instant,
    /// Bytes promoted less those that writes dropped: in the minute that goes on and in the one before it.
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

    /// Whether a whole minute has promoted less than a quarter of the ration beyond what writes dropped.
    pub fn is_hardly_used(&self, now: Instant) -> bool {
        let last = if now < self.minute_ends {
            self.minute_before.max(self.minute)
        } else if now < self.minute_ends + MINUTE {
            self.minute
        } else {
            0
        };
        last <= (self.rate.0 * 60 / WARM_PART) as i64
    }
}
