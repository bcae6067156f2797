//! A degraded pool: a daemon is marked out, its copies are made anew elsewhere, beside the clients' I/O.

use hotband_machine::PartReport;
use hotband_units::Instant;

use super::Pool;

/// Recovery of a pool.
pub(super) struct Recovery {
    osd: usize,
    after: Vec<u16>,
}

impl Recovery {
    pub fn new(osd: usize, after: Vec<u16>) -> Self {
        Self { osd, after }
    }

    pub fn report(&self) -> PartReport {
        PartReport { id: "recovery".into(), kind: "recovery", counters: vec![], at_end: vec![] }
    }
}

impl Pool {
    pub(super) fn mark_out(&mut self, _now: Instant) {}
    pub(super) fn recover_more(&mut self, _now: Instant, _osd: usize) {}
    pub(super) fn recovery_goes_on(&mut self, _now: Instant, _slot: u32) {}
}
