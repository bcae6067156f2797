//! Angle of the platter at an absolute time.
//!
//! An angle is a whole number of 1/60,000,000,000 of a revolution. A minute has 60e9 ns and exactly `rpm`
//! revolutions, so `nanoseconds x rpm` is the turned angle in these units without any rounding: the phase of an
//! absolute time is exact for ever, where adding up a rounded period would drift by a second a year.

use hotband_units::{Instant, Rpm, Span};

use super::divisor::Divisor;

/// Angle units in one revolution.
pub const REVOLUTION: u64 = 60_000_000_000;

/// A spindle at constant speed. Spindles are not in step: each has the angle it happened to have at time zero.
///
/// Leaves out: speed variation (data sheets allow about 0.1 %) and spin-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    rpm: Divisor,
    /// Angle at time zero.
    phase: u64,
}

impl Rotation {
    /// A spindle of `rpm`, at angle zero when time is zero.
    pub fn new(rpm: Rpm) -> Self {
        Self { rpm: Divisor::new(u64::from(rpm.0)), phase: 0 }
    }

    /// The same spindle, at `phase` (in units, below [`REVOLUTION`]) when time is zero.
    pub fn with_phase(self, phase: u64) -> Self {
        Self { phase: phase % REVOLUTION, ..self }
    }

    /// Angle (in units, below [`REVOLUTION`]) that is under the head at `now`.
    #[inline]
    pub fn angle(&self, now: Instant) -> u64 {
        let angle = (now.0 % REVOLUTION) * self.rpm.value() % REVOLUTION + self.phase;
        if angle < REVOLUTION { angle } else { angle - REVOLUTION }
    }

    /// Angle turned in `span`, in units.
    #[inline]
    pub fn turned(&self, span: Span) -> u64 {
        span.0 * self.rpm.value()
    }

    /// Time to turn by `angle` units, rounded to the nearest nanosecond.
    #[inline]
    pub fn time_for(&self, angle: u64) -> Span {
        Span(self.rpm.divide(angle + self.rpm.value() / 2))
    }

    /// Time of one revolution.
    pub fn period(&self) -> Span {
        self.time_for(REVOLUTION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_is_exact_after_a_century() {
        let century = 100 * 365 * 86_400 * 1_000_000_000_u64;
        for rpm in [7_200_u32, 10_500, 15_000] {
            for now in [0, 1, 3_999_999, century, century + 1_234_567] {
                let exact = u128::from(now) * u128::from(rpm) % u128::from(REVOLUTION);
                assert_eq!(u128::from(Rotation::new(Rpm(rpm)).angle(Instant(now))), exact);
            }
        }
    }

    #[test]
    fn a_phase_turns_the_spindle() {
        let spindle = Rotation::new(Rpm(15_000)).with_phase(REVOLUTION - 1);
        assert_eq!(spindle.angle(Instant(0)), REVOLUTION - 1);
        assert_eq!(spindle.angle(Instant(1)), 14_999);
    }

    #[test]
    fn a_revolution_lasts_sixty_seconds_over_the_speed() {
        assert_eq!(Rotation::new(Rpm(15_000)).period(), Span(4_000_000));
        assert_eq!(Rotation::new(Rpm(7_200)).period(), Span(8_333_333));
    }
}
