//! Parameters of a translation layer.

use super::wear::Endurance;

/// Bytes of a logical page.
pub const PAGE: u64 = 4096;
/// Bytes of a unit of space.
pub const UNIT: u64 = 16;
/// Units of a page that does not compress.
pub const PAGE_UNITS: u32 = (PAGE / UNIT) as u32;

/// Choice of a block for collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimPolicy {
    /// The block with the least valid data.
    Greedy,
    /// Like the above, among this many of the oldest blocks (Hu et al., SYSTOR 2009).
    WindowedGreedy(u32),
    /// The block with the highest (1 - u) / (2 u) x age, u its share of valid data (Rosenblum and Ousterhout 1992).
    CostBenefit,
}

/// Data that is written to separate blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separation {
    /// Nothing: host and relocated data share a block.
    None,
    /// Data of the host, and data that was relocated.
    Relocated,
    /// Like the above, and host data that was overwritten soon after it was written.
    HotCold,
}

/// A translation layer.
#[derive(Clone, Debug)]
pub struct FtlParams {
    /// Logical pages of 4 KiB.
    pub pages: u64,
    /// Blocks, without those held in reserve for bad ones.
    pub blocks: u32,
    /// Blocks held in reserve.
    pub spare_blocks: u32,
    /// Space of a block for data, in units.
    pub block_units: u32,
    /// Space of a flash page, in units.
    pub flash_page_units: u32,
    /// Size of one pass, in units.
    pub program_units: u32,
    /// Whether pages may be shorter than 4 KiB.
    pub compressed: bool,
    /// Whether pages are written again where they lie: nothing is collected.
    pub in_place: bool,
    /// A pseudo-SLC cache, if it has one.
    pub pslc: Option<PslcParams>,
    /// Choice of blocks for collection.
    pub victims: VictimPolicy,
    /// Separated data.
    pub separation: Separation,
    /// Collection in the foreground begins when no more blocks than this are free.
    pub free_low: u32,
    /// Collection in the background continues until this many blocks are free.
    pub free_high: u32,
    /// Pages that the write buffer holds before the oldest is placed.
    pub buffer_pages: usize,
    /// Cold data is moved once the erase counts of two blocks are this far apart.
    pub wear_gap: Option<u32>,
    /// Wear-out of blocks.
    pub endurance: Option<Endurance>,
}

/// Treatment of writes when the cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Writes go to the slow cells.
    Direct,
    /// Writes wait until older pages are folded.
    Fold,
}

/// A pseudo-SLC cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PslcParams {
    /// Pages that it always holds.
    pub fixed_pages: u64,
    /// Pages that it holds besides, at most.
    pub dynamic_pages: u64,
    /// Bits of a slow cell.
    pub bits: u64,
    /// Units of a pass.
    pub pass_units: u32,
    /// Behaviour when it is full.
    pub when_full: WhenFull,
}
