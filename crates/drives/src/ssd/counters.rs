//! Command counters of a solid-state drive.

use hotband_machine::Carrier;
use hotband_units::Span;

/// Commands that were served, and time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SsdCounters {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub trims: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub trimmed_bytes: u64,
    pub buffer_hits: u64,
    pub unmapped_reads: u64,
    pub read_ahead_hits: u64,
    pub read_ahead_bytes: u64,
    pub faults: u64,
    pub stalls: u64,
    pub command: Span,
}

impl SsdCounters {
    /// Carries the counters that untimed writes change.
    pub fn carry_contents(&mut self, carrier: &mut Carrier) {
        for field in [&mut self.written_bytes, &mut self.trimmed_bytes, &mut self.faults] {
            carrier.number(field);
        }
    }
}
