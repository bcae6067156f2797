//! So many I/Os, or operations of an app.

use super::AfterEvent;
use crate::drive::Driver;

/// Counts from the beginning of the phase.
pub struct Count {
    of: fn(&Driver) -> u64,
    before: u64,
    asked: u64,
}

impl Count {
    pub fn ios(asked: u64, driver: &Driver) -> Self {
        Self { of: |driver| driver.ios, before: driver.ios, asked }
    }

    pub fn operations(asked: u64, driver: &Driver) -> Self {
        Self { of: |driver| driver.operations(), before: driver.operations(), asked }
    }
}

impl AfterEvent for Count {
    fn is_met(&self, driver: &mut Driver) -> bool {
        (self.of)(driver) - self.before >= self.asked
    }

    fn counted(&self, driver: &Driver) -> Option<(u64, u64)> {
        Some(((self.of)(driver) - self.before, self.asked))
    }
}
