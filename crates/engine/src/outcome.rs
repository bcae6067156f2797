//! The result of a run.

use crate::probes::table::Tables;
use crate::record::Record;

/// The result of a run.
pub struct Outcome {
    /// The record.
    pub record: Record,
    /// Its series, and other tables.
    pub tables: Tables,
    /// I/Os simulated, warm-up included.
    pub ios: u64,
}
