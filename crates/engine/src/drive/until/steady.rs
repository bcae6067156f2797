//! Rounds that are steady: the probe of them knows.

use hotband_units::Instant;

use super::Calm;
use crate::drive::Driver;

pub struct Steady;

impl Calm for Steady {
    fn over(&mut self, calm: Instant, driver: &mut Driver) -> Option<Instant> {
        driver.probes.steady_at(calm)
    }
}
