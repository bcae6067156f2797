//! Sources of I/Os. Each kind is a file, with its spec and the source made from it.

pub(crate) mod arrival;
pub(crate) mod arrivals;
pub(crate) mod arriving;
pub(crate) mod bounded;
pub(crate) mod bursts;
pub(crate) mod clients;
pub(crate) mod closed;
pub(crate) mod open;
pub(crate) mod shares;
pub(crate) mod source;
pub(crate) mod trace;
