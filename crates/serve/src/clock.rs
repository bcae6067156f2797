//! The clock of the wall as the machine's time.

use std::time::{Duration, Instant as WallInstant};

use hotband_units::{Instant, Span};

/// Time since serving began, as the machine counts it.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    began: WallInstant,
    /// Machine time at that moment.
    at: Instant,
}

impl WallClock {
    /// The machine's time is `at` now.
    pub fn start(at: Instant) -> Self {
        Self { began: WallInstant::now(), at }
    }

    /// The machine's time.
    #[inline]
    pub fn now(&self) -> Instant {
        self.at + Span(self.began.elapsed().as_nanos() as u64)
    }

    /// Return the time until `at`; none if it has passed.
    #[inline]
    pub fn until(&self, at: Instant) -> Option<Duration> {
        let now = self.now();
        (at > now).then(|| Duration::from_nanos(at.since(now).0))
    }
}
