//! A controller that now and then does something else than commands: its housekeeping.
//!
//! Tables are saved, temperatures read, sensors and capacitors tested; while it lasts, no command is begun. Stalls come
//! at random times, independently of one another.
//!
//! Leaves out: the work of a stall, which uses no flash, and completions that wait.

use hotband_machine::Random;
use hotband_units::{Instant, Span};

/// Duration and frequency of stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallParams {
    /// Time of a stall.
    pub time: Span,
    /// Mean time from the end of one to the next.
    pub interval: Span,
}

/// The stalls of one controller.
#[derive(Clone, Debug)]
pub struct Stalls {
    params: Option<StallParams>,
    /// When the next begins.
    next: Instant,
    /// When the latest ends.
    until: Instant,
    random: Random,
}

impl Stalls {
    /// The first comes as any other does.
    pub fn new(params: Option<StallParams>, random: Random) -> Self {
        let mut stalls = Self { params, next: Instant::NEVER, until: Instant::ZERO, random };
        if let Some(params) = params {
            stalls.next = Instant::ZERO + stalls.draw(params);
        }
        stalls
    }

    /// Time when a command is begun that could be at `at`; times given to it never go backwards.
    #[inline]
    pub fn begin(&mut self, at: Instant) -> Instant {
        if at < self.next { at } else { self.begin_after(at) }
    }

    /// The same for one of several cores, which all wait for the end of a stall.
    pub fn begin_on_core(&mut self, at: Instant) -> Instant {
        self.begin(at).max(self.until)
    }

    #[cold]
    fn begin_after(&mut self, at: Instant) -> Instant {
        let Some(params) = self.params else { return at };
        // Nobody noticed those that are over; the next of many is as good as the first.
        let far = Span(1000 * params.interval.0);
        if at.since(self.next) > far {
            self.next = Instant(at.0 - far.0);
        }
        while self.next <= at {
            let end = self.next + params.time;
            self.next = end + self.draw(params);
            if end > at {
                self.until = end;
                return end;
            }
        }
        at
    }

    fn draw(&mut self, params: StallParams) -> Span {
        Span((params.interval.0 as f64 * self.random.exponential()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: StallParams = StallParams { time: Span(1_000_000), interval: Span(100_000_000) };

    #[test]
    fn what_comes_in_a_stall_begins_at_its_end() {
        let mut stalls = Stalls::new(Some(PARAMS), Random::new(1, "test"));
        let first = stalls.next;
        assert_eq!(stalls.begin(Instant(first.0 - 1)), Instant(first.0 - 1));
        assert_eq!(stalls.begin(first), first + PARAMS.time, "at its first nanosecond");
        assert!(stalls.next >= first + PARAMS.time);
        let mut stalls = Stalls::new(Some(PARAMS), Random::new(1, "test"));
        let end = first + PARAMS.time;
        assert_eq!(stalls.begin(Instant(end.0 - 1)), end);
        let mut stalls = Stalls::new(Some(PARAMS), Random::new(1, "test"));
        assert_eq!(stalls.begin(end), end, "it is over");
    }

    #[test]
    fn a_stall_delays_every_core() {
        let mut stalls = Stalls::new(Some(PARAMS), Random::new(1, "test"));
        let first = stalls.next;
        for _ in 0..3 {
            assert_eq!(stalls.begin_on_core(first + Span(1)), first + PARAMS.time);
        }
    }

    #[test]
    fn they_take_their_share_of_the_time_however_seldom_somebody_asks() {
        for step in [100_000, 7_000_000, 900_000_000, 500_000_000_000] {
            let mut stalls = Stalls::new(Some(PARAMS), Random::new(2, "test"));
            let operations = if step > 1_000_000_000 { 20_000 } else { 300_000 };
            let delayed = (1..=operations).filter(|n| stalls.begin(Instant(n * step)) > Instant(n * step)).count();
            // 1 ms of 101 ms; where steps are shorter than a stall, only the first of those in it is asked here.
            let expected = operations as f64 * if step < PARAMS.time.0 { step as f64 / 101e6 } else { 1.0 / 101.0 };
            let error = (delayed as f64 - expected).abs();
            assert!(error < 4.0 * expected.sqrt(), "{step} ns: {delayed} where {expected} were expected");
        }
    }

    #[test]
    fn without_stalls_nothing_waits() {
        let mut stalls = Stalls::new(None, Random::new(1, "test"));
        assert_eq!(stalls.begin(Instant(u64::MAX - 1)), Instant(u64::MAX - 1));
    }
}
