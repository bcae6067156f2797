//! Arrival times of the I/Os of an open loop.

use hotband_units::{Instant, Span};

use crate::Random;

/// Spacing of an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Evenly spaced.
    Fixed,
    /// Independent, exponential gaps.
    Poisson,
}

/// The clock of an open loop. Fixed arrivals are computed from their number, not by adding up a rounded gap.
#[derive(Clone, Debug)]
pub struct ArrivalClock {
    rate: f64,
    arrival: Arrival,
    random: Random,
    start: Instant,
    count: u64,
    next: Instant,
}

impl ArrivalClock {
    /// A clock that starts at `start`.
    pub fn new(rate: f64, arrival: Arrival, random: Random, start: Instant) -> Self {
        let mut clock = Self { rate, arrival, random, start, count: 0, next: start };
        clock.step();
        clock
    }

    /// Time when the next I/O arrives.
    #[inline]
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Advances to the next I/O.
    pub fn step(&mut self) {
        self.count += 1;
        self.next = match self.arrival {
            Arrival::Fixed => self.start + Span::from_secs_f64(self.count as f64 / self.rate),
            Arrival::Poisson => self.next + Span::from_secs_f64(self.random.exponential() / self.rate),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_arrivals_do_not_drift() {
        let mut clock = ArrivalClock::new(3.0, Arrival::Fixed, Random::new(1, "a"), Instant(0));
        for _ in 0..2_999_999 {
            clock.step();
        }
        assert_eq!(clock.next(), Instant(1_000_000_000_000_000));
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread() {
        let mut clock = ArrivalClock::new(1000.0, Arrival::Poisson, Random::new(1, "a"), Instant(0));
        let (mut last, mut gaps) = (Instant(0), Vec::new());
        for _ in 0..100_000 {
            gaps.push(clock.next().since(last).as_secs_f64());
            last = clock.next();
            clock.step();
        }
        let mean = gaps.iter().sum::<f64>() / 1e5;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean * 1000.0 - 1.0).abs() < 0.015, "{mean}");
        assert!((variance / (mean * mean) - 1.0).abs() < 0.05, "exponential gaps have a squared spread of 1");
    }
}
