//! Reading ahead: the next data of sequential reads is in memory before it is requested.
//!
//! Two reads that follow one another make a stream. From the third on the drive reads ahead of it, as far as it was
//! read, one sense of all planes at a time and at most a limit, which includes other reads in progress. Data that a
//! read finds there comes without the flash, and without most of the controller's work; the read
//! waits for data that is on its way.
//!
//! Leaves out: held data stays although it is written or trimmed; streams that go backwards; and the
//! mapping table, if it does not fit into memory, is not consulted for read-ahead.

mod params;
mod serve;
mod streams;

pub use params::ReadAheadParams;
pub(super) use params::read_read_ahead;
pub(super) use streams::Streams;
