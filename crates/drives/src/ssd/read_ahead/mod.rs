//! Reading ahead: of reads that follow one another, what comes next is in memory before it is asked for.
//!
//! Two reads that follow one another make a stream. From the third on the drive reads ahead of it, as far as it has come
//! since the second, a sense of all planes at a time and no more than a limit; the read that asks for such data goes without the flash, and without most
//! of the controller's work, or waits for what is on its way. A read that is longer than the limit belongs to no stream.
//!
//! Leaves out: what is written or trimmed while it is held stays where it is; streams that go backwards or leave gaps; and the
//! mapping table, where it does not fit into memory, is not asked for what is read ahead.

mod params;
mod serve;
mod streams;

pub use params::ReadAheadParams;
pub(super) use params::read_read_ahead;
pub(super) use streams::Streams;
