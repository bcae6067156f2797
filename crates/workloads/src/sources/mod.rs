//! Who asks for I/Os. A kind is a file: what text asks for, and the source that it becomes.

pub(crate) mod arrival;
pub(crate) mod arrivals;
pub(crate) mod bursts;
pub(crate) mod clients;
pub(crate) mod closed;
pub(crate) mod open;
pub(crate) mod shares;
pub(crate) mod source;
pub(crate) mod trace;
