//! Parameters of a flash read cache.

use hotband_units::{Rate, Span};

/// Parameters of a flash read cache.
#[derive(Clone, Copy, Debug)]
pub struct FlashParams {
    /// Bytes of flash for data.
    pub size: u64,
    /// Sectors of a block: the unit of promotion.
    pub block_sectors: u64,
    /// Time to begin a read.
    pub read_latency: Span,
    /// Rate of a read after that.
    pub read_rate: Rate,
    /// Reads and programs served at once.
    pub lanes: usize,
    /// Rate at which a lane programs.
    pub write_rate: Rate,
    /// Most bytes promoted in a second, over time.
    pub promotion_rate: Rate,
    /// Sectors of a region: the unit in which reads are counted.
    pub region_sectors: u64,
    /// Fewest reads of a hot region.
    pub hot_reads: u8,
    /// Time between two rankings.
    pub ranking: Span,
    /// Time in which a count of reads is halved.
    pub ageing: Span,
    /// Longer reads are taken for streams, in sectors.
    pub largest_sectors: u64,
}
