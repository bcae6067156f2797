//! The flash caches of all drives are warm.

use hotband_units::{Instant, Span};

use super::Calm;
use crate::drive::Driver;

/// A phase always lasts this long, so that caches that are empty because nothing was asked yet do not end it.
const LEAST: Span = Span(60_000_000_000);
/// Time between two checks: a check reads every drive.
const EVERY: Span = Span(1_000_000_000);

/// Looks whether the machine is warm, at most once a simulated second.
pub struct Warm {
    next: Instant,
}

impl Calm for Warm {
    fn over(&mut self, calm: Instant, driver: &mut Driver) -> Option<Instant> {
        self.look(calm, |now| driver.machine.drives().is_warm(now))
    }
}

impl Warm {
    /// Return the condition for a phase that begins at `begin`.
    pub fn new(begin: Instant) -> Self {
        Self { next: begin + LEAST }
    }

    /// The time of the look that is due before `until`, up to which nothing happens, if it finds the machine warm.
    fn look(&mut self, until: Instant, is_warm: impl FnOnce(Instant) -> bool) -> Option<Instant> {
        if self.next >= until {
            return None;
        }
        let look = self.next;
        self.next = (look + EVERY).max(until);
        is_warm(look).then_some(look)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn nobody_looks_in_the_first_minute_nor_twice_a_second() {
        let mut watch = Warm::new(Instant(5 * SECOND));
        let mut looks = Vec::new();
        // Something happens every 0.3 s, from 5 s to 70 s.
        for tenth in (50..700).step_by(3) {
            let over = watch.look(Instant(tenth * SECOND / 10), |at| {
                looks.push(at);
                false
            });
            assert_eq!(over, None);
        }
        assert_eq!(looks[0], Instant(65 * SECOND));
        assert!(looks.len() >= 4 && looks.windows(2).all(|pair| pair[1].since(pair[0]).0 >= SECOND), "{looks:?}");
    }

    #[test]
    fn the_phase_ends_when_a_look_finds_the_machine_warm() {
        let mut watch = Warm::new(Instant(5 * SECOND));
        assert_eq!(watch.look(Instant(65 * SECOND), |_| true), None, "not before the minute is over");
        assert_eq!(watch.look(Instant(65 * SECOND + 1), |_| true), Some(Instant(65 * SECOND)));
    }
}
