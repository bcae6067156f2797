//! Admission of writes to a buffer: the time to acknowledge a write, and the wait for room in a full buffer.
//!
//! Firmware acknowledges writes one at a time between other tasks, so that equal writes take different times. A full
//! buffer is emptied a stripe at a time: its dies are programmed together, and the room of all of them becomes free at
//! once. Therefore writes that arrive faster than flash programs them are admitted in bursts, and a write between two
//! bursts waits for at most one program time. A write fills of a stripe what the controller, or flash, takes for it.

use hotband_machine::Random;
use hotband_units::{Instant, Rate, Span};

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
    /// Time from one to the next, which all writes of a stripe take together.
    pub time: Span,
    /// Controller time of a write.
    pub interval: Span,
    /// Rate at which flash programs the data of a stripe.
    pub rate: Rate,
}

impl Stripe {
    /// Time in which a write of `bytes` fills its part of a stripe.
    #[inline]
    fn time_of(&self, bytes: u64) -> Span {
        self.interval.max(self.rate.time_for(bytes))
    }
}

/// The admission of one drive's writes.
#[derive(Clone, Debug)]
pub struct Admission {
    params: AdmissionParams,
    /// When the last stripe became free, and how much of its time its writes take already.
    begins: Instant,
    taken: Span,
    random: Random,
}

impl Admission {
    /// An empty buffer.
    pub fn new(params: AdmissionParams, random: Random) -> Self {
        Self { params, begins: Instant::ZERO, taken: Span::ZERO, random }
    }

    /// Time when a write of `bytes` that arrives at `now` is in the buffer; times given to it never go backwards.
    #[inline]
    pub fn admit(&mut self, now: Instant, bytes: u64) -> Instant {
        let Some(stripe) = self.params.stripe else { return now };
        // What a large write takes beyond its stripe, it takes of those behind.
        if self.taken >= stripe.time {
            let full = self.taken.0 / stripe.time.0;
            self.begins += Span(full * stripe.time.0);
            self.taken = Span(self.taken.0 % stripe.time.0);
        }
        if now >= self.begins + stripe.time {
            (self.begins, self.taken) = (now, Span::ZERO);
        }
        self.taken += stripe.time_of(bytes);
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

    const STRIPE: Stripe = Stripe { time: Span(400), interval: Span(100), rate: Rate(40_960_000_000) };

    fn admission(spread: f64, stripe: Option<Stripe>) -> Admission {
        Admission::new(AdmissionParams { spread, stripe }, Random::new(1, "test"))
    }

    fn admit(admission: &mut Admission, bytes: u64, times: impl IntoIterator<Item = u64>) -> Vec<u64> {
        times.into_iter().map(|at| admission.admit(Instant(at), bytes).0).collect()
    }

    #[test]
    fn a_stripe_is_admitted_at_once_and_the_next_write_waits_for_another() {
        let times = [0, 10, 20, 30, 40, 50, 399, 399, 399];
        let mut full = admission(0.0, Some(STRIPE));
        assert_eq!(admit(&mut full, 4096, times), [0, 10, 20, 30, 400, 400, 400, 400, 800]);
    }

    #[test]
    fn a_write_takes_of_a_stripe_what_flash_takes_for_its_bytes() {
        // 8,192 B take 200 ns of flash, more than the controller; 81,920 B take five stripes.
        let mut full = admission(0.0, Some(STRIPE));
        assert_eq!(admit(&mut full, 8192, [0, 1, 2, 3, 4]), [0, 1, 400, 400, 800]);
        let mut full = admission(0.0, Some(STRIPE));
        assert_eq!(admit(&mut full, 81_920, [0, 1, 2100]), [0, 2000, 4000]);
        assert_eq!(admit(&mut full, 4096, [9000, 9001]), [9000, 9001]);
    }

    #[test]
    fn writes_slower_than_flash_never_wait() {
        let times = || (0..1000).map(|n| n * 101);
        assert_eq!(admit(&mut admission(0.0, Some(STRIPE)), 4096, times()), times().collect::<Vec<_>>());
        assert_eq!(admit(&mut admission(0.0, None), 4096, [5, 5, 5]), [5, 5, 5]);
    }

    #[test]
    fn in_the_long_run_they_are_admitted_at_the_interval_of_the_drive() {
        for (bytes, each) in [(4096_u64, 2990_u64), (65_536, 32_768)] {
            let stripe = Stripe { time: Span(1_300_000), interval: Span(2_990), rate: Rate(2_000_000_000) };
            let mut full = admission(0.0, Some(stripe));
            let last = (0..100_000).map(|_| full.admit(Instant::ZERO, bytes).0).max().expect("admitted");
            let expected: u64 = 100_000 * each;
            assert!(expected.abs_diff(last) < 1_300_000 + each, "{bytes} B: {last} of {expected}");
        }
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
