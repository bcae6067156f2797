//! The range of a stream on its target.

/// The range of a stream on its target, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamBounds {
    /// First byte.
    pub from: u64,
    /// First byte beyond.
    pub to: u64,
}

/// Ends of ranges given as shares are rounded down to this, and begins of regions up, so that alignment survives.
pub(crate) const GRAIN: u64 = 4096;
