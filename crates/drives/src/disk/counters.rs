//! Counters of a disk.

use hotband_machine::Counter;
use hotband_units::Span;

/// Counters since the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskCounters {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub busy: Span,
    /// Time that commands spent in the drive: over the duration it is the mean queue.
    pub command: Span,
    pub seeks: u64,
    pub seek: Span,
    pub rotation: Span,
    pub transfer: Span,
    pub media_reads: u64,
    pub media_writes: u64,
    pub cache_hits: u64,
    pub look_ahead_hits: u64,
    pub cached_writes: u64,
    pub bypassed_writes: u64,
    pub joined_writes: u64,
    pub destages: u64,
    pub destaged_bytes: u64,
    pub read_modify_writes: u64,
    pub verified_writes: u64,
    pub aged: u64,
    pub faults: u64,
}

impl DiskCounters {
    /// List the counters as (name, count), always in the same order.
    pub fn list(&self) -> Vec<Counter> {
        vec![
            ("reads", self.reads),
            ("writes", self.writes),
            ("flushes", self.flushes),
            ("read_bytes", self.read_bytes),
            ("written_bytes", self.written_bytes),
            ("busy_ns", self.busy.0),
            ("command_ns", self.command.0),
            ("seeks", self.seeks),
            ("seek_ns", self.seek.0),
            ("rotation_ns", self.rotation.0),
            ("transfer_ns", self.transfer.0),
            ("media_reads", self.media_reads),
            ("media_writes", self.media_writes),
            ("cache_hits", self.cache_hits),
            ("look_ahead_hits", self.look_ahead_hits),
            ("cached_writes", self.cached_writes),
            ("bypassed_writes", self.bypassed_writes),
            ("joined_writes", self.joined_writes),
            ("destages", self.destages),
            ("destaged_bytes", self.destaged_bytes),
            ("read_modify_writes", self.read_modify_writes),
            ("aged_picks", self.aged),
            ("faults", self.faults),
        ]
    }
}
