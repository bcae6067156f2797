//! Counters of a translation layer.

/// Counters since the drive was new, in units of 16 bytes unless the name says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FtlCounters {
    /// Host data placed, after compression and packing.
    pub host: u64,
    /// Data relocated.
    pub relocated: u64,
    /// Space left empty at the end of passes and blocks.
    pub padding: u64,
    /// Programmed into the pseudo-SLC cache.
    pub cached: u64,
    /// Part of `relocated`: folded out of that cache.
    pub folded: u64,
    /// Passes programmed.
    pub passes: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Pages overwritten while they were in the write buffer.
    pub coalesced_pages: u64,
    /// Pages trimmed that held data.
    pub trimmed_pages: u64,
    /// Blocks collected to level wear.
    pub levelled: u64,
}
