//! Condition "operations": an app has completed a number of operations.

use super::AfterEvent;
use crate::drive::Driver;

/// Counts from the beginning of the phase.
pub struct Operations {
    before: u64,
    asked: u64,
}

impl Operations {
    pub fn new(asked: u64, driver: &Driver) -> Self {
        Self { before: driver.operations(), asked }
    }
}

impl AfterEvent for Operations {
    fn is_met(&self, driver: &mut Driver) -> bool {
        driver.operations() - self.before >= self.asked
    }

    fn counted(&self, driver: &Driver) -> Option<(u64, u64)> {
        Some((driver.operations() - self.before, self.asked))
    }
}
