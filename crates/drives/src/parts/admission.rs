//! Admission of writes to a buffer: the time to acknowledge a write, and the wait for room in a full buffer.
//!
//! Firmware acknowledges writes one at a time between other tasks, so that equal writes take different times. A full
//! buffer is emptied a stripe at a time: its dies are programmed together, and the room of all of them becomes free at
//! once. Therefore writes that arrive faster than flash programs them are admitted in bursts, and a write between two
//! bursts waits for at most one program time.
//!
//! Leaves out: sizes of writes, which share a stripe by number.

use hotband_machine::Random;
use hotband_units::{Instant, Span};

/// Values of the admission of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AdmissionParams {
    /// Standard deviation of the logarithm of the time to acknowledge a write, whose mean it does not change.
    pub spread: f64,
    /// The stripe that becomes free at once, if writes can come faster than that.
    pub stripe: Option<Stripe>,
}

/// Room in the buffer that becomes free at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    /// Writes that it holds.
    pub writes: u64,
    /// Time from one to the next.
    pub time: Span,
}

impl Stripe {
    /// The stripe that is programmed in about this time, such that writes are admitted at `interval` in the long run.
    /// None if commands do not come faster than that.
    pub fn new(program: Span, interval: Span, command: Span) -> Option<Self> {
        let writes = program.0.checked_div(interval.0)?;
        (writes > 0 && command < interval).then_some(Self { writes, time: Span(writes * interval.0) })
    }
}

/// The admission of one drive's writes.
#[derive(Clone, Debug)]
pub struct Admission {
    params: AdmissionParams,
    /// When the last stripe became free, and how many writes it holds already.
    begins: Instant,
    admitted: u64,
    random: Random,
}

impl Admission {
    /// An empty buffer.
    pub fn new(params: AdmissionParams, random: Random) -> Self {
        Self { params, begins: Instant::ZERO, admitted: 0, random }
    }

    /// Time when a write that arrives at `now` is in the buffer; times given to it never go backwards.
    #[inline]
    pub fn admit(&mut self, now: Instant) -> Instant {
        let Some(stripe) = self.params.stripe else { return now };
        if now >= self.begins + stripe.time {
            (self.begins, self.admitted) = (now, 0);
        } else if self.admitted == stripe.writes {
            (self.begins, self.admitted) = (self.begins + stripe.time, 0);
        }
        self.admitted += 1;
        now.max(self.begins)
    }

    /// Time to acknowledge a write whose mean is `mean`: lognormal.
    #[inline]
    pub fn acknowledged(&mut self, mean: Span) -> Span {
        let spread = self.params.spread;
        if spread == 0.0 {
            return mean;
        }
        Span((mean.0 as f64 * libm::exp(spread * self.random.normal() - spread * spread / 2.0)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRIPE: Stripe = Stripe { writes: 4, time: Span(400) };

    fn admission(spread: f64, stripe: Option<Stripe>) -> Admission {
        Admission::new(AdmissionParams { spread, stripe }, Random::new(1, "test"))
    }

    fn admit(admission: &mut Admission, times: impl IntoIterator<Item = u64>) -> Vec<u64> {
        times.into_iter().map(|at| admission.admit(Instant(at)).0).collect()
    }

    #[test]
    fn a_stripe_is_admitted_at_once_and_the_next_write_waits_for_another() {
        let mut full = admission(0.0, Some(STRIPE));
        assert_eq!(admit(&mut full, [0, 10, 20, 30, 40, 50, 399, 399, 399]), [0, 10, 20, 30, 400, 400, 400, 400, 800]);
    }

    #[test]
    fn writes_slower_than_flash_never_wait() {
        let times = || (0..1000).map(|n| n * 101);
        assert_eq!(admit(&mut admission(0.0, Some(STRIPE)), times()), times().collect::<Vec<_>>());
        assert_eq!(admit(&mut admission(0.0, None), [5, 5, 5]), [5, 5, 5]);
    }

    #[test]
    fn in_the_long_run_they_are_admitted_at_the_interval_of_the_drive() {
        let stripe = Stripe::new(Span(1_300_000), Span(2_990), Span(2_000)).expect("commands come faster");
        let mut full = admission(0.0, Some(stripe));
        let last = (0..100 * stripe.writes).map(|_| full.admit(Instant::ZERO).0).max();
        assert_eq!(last, Some(99 * stripe.writes * 2_990));
        assert_eq!(Stripe::new(Span(1_300_000), Span(2_990), Span(2_990)), None);
        assert_eq!(Stripe::new(Span(1_000), Span(2_990), Span(100)), None);
    }

    #[test]
    fn times_to_acknowledge_have_the_mean_and_the_spread_of_the_drive() {
        let mut drawn = admission(0.4, None);
        let mut times: Vec<f64> = (0..100_000).map(|_| drawn.acknowledged(Span(10_000)).0 as f64).collect();
        let mean = times.iter().sum::<f64>() / 1e5;
        assert!((mean / 10_000.0 - 1.0).abs() < 0.005, "{mean}");
        times.sort_by(f64::total_cmp);
        let ratio = times[99_000] / times[50_000];
        assert!((ratio / libm::exp(2.326 * 0.4) - 1.0).abs() < 0.03, "p99 over p50 is {ratio}");
        assert_eq!(admission(0.0, None).acknowledged(Span(7)), Span(7));
    }
}
