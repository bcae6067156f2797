//! Counters of a flash read cache.

use hotband_machine::Counter;

/// Counters of a flash read cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlashCounters {
    /// Reads served from flash.
    pub hits: u64,
    /// Random reads not served from flash.
    pub misses: u64,
    /// Bytes of the reads served from flash.
    pub hit_bytes: u64,
    /// Bytes chosen for promotion.
    pub promoted_bytes: u64,
    /// Bytes programmed: the wear.
    pub written_bytes: u64,
    /// Blocks dropped for hotter ones.
    pub evictions: u64,
    /// Times that a write dropped pages of a block.
    pub invalidations: u64,
}

impl FlashCounters {
    /// List the counters as (name, count), always in the same order.
    pub fn list(&self) -> [Counter; 7] {
        [
            ("flash_hits", self.hits),
            ("flash_misses", self.misses),
            ("flash_hit_bytes", self.hit_bytes),
            ("flash_promoted_bytes", self.promoted_bytes),
            ("flash_written_bytes", self.written_bytes),
            ("flash_evictions", self.evictions),
            ("flash_invalidations", self.invalidations),
        ]
    }
}
