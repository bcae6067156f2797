//! Reading ahead: of reads that follow one another, what comes next is in memory before it is asked for.
//!
//! Two reads that follow one another make a stream. From the third on the drive reads ahead of it, as far as was read of
//! it, a sense of all planes at a time and no more than a limit, in which other reads under way count. What a read
//! finds there comes without the flash, and without most of the controller's work; for what is on its way it waits.
//!
//! Leaves out: what is written or trimmed while it is held stays where it is; streams that go backwards; and the mapping
//! table, where it does not fit into memory, is not asked for what is read ahead.

mod params;
mod serve;
mod streams;

pub use params::ReadAheadParams;
pub(super) use params::read_read_ahead;
pub(super) use streams::Streams;
