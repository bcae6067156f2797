//! Nothing is outstanding, and nobody asks any more.

use super::AfterEvent;
use crate::drive::Driver;

pub struct Drained;

impl AfterEvent for Drained {
    fn is_met(&self, driver: &mut Driver) -> bool {
        driver.in_flight.is_empty() && driver.sources.next_time().is_none()
    }
}
