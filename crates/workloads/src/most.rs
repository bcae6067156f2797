//! The most that a workload may ask for: more is a slip of the pen.

/// A series keeps a row an interval.
pub const MOST_INTERVALS: u64 = 10_000_000;
/// Largest I/O.
pub(crate) const MOST_SIZE: u32 = 64 << 20;
/// Most threads, depth, and threads x depth.
pub(crate) const MOST_OUTSTANDING: u32 = 65_536;
