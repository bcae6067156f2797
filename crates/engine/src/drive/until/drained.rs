//! Condition "drained": no I/O is outstanding, and no source issues more.

use super::AfterEvent;
use crate::drive::Driver;

pub struct Drained;

impl AfterEvent for Drained {
    fn is_met(&self, driver: &mut Driver) -> bool {
        driver.in_flight.is_empty() && driver.sources.next_time().is_none()
    }
}
