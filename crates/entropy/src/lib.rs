//! Compressibility of real data: the measurement of `hotband entropy`.
//!
//! The data of a tree is read as one stream, the content of its files in the order of their names. The *archive*
//! ratio is that stream through deflate, as tgz and zip do; *chunk* ratios are pieces of 4 to 64 KiB of the files, each
//! compressed alone, as a drive does. Small trees are read whole, large ones by a random sample with its interval.
//!
//! Leaves out: the headers that tar and zip add; what a file system adds (metadata, unused ends of blocks);
//! holes of sparse files, which no drive stores.

mod ask;
mod compress;
mod control;
mod extents;
mod interval;
mod links;
mod measure;
mod mounts;
mod report;
mod sample;
mod source;
mod tally;
mod walk;

pub use ask::{Ask, AskError, CHUNKS, DEFAULT_SAMPLE, Sample};
pub use compress::{Compressor, Press};
pub use control::Control;
pub use extents::EXTENT;
pub use interval::{Pair, Sums, estimate};
pub use measure::{Effort, Measured, measure, measure_within};
pub use report::Report;
pub use sample::Plan;
pub use source::{Census, Skipped, Unreadable};
pub use tally::{BINS, ChunkTally, Tally};
pub use walk::{Found, Limits, Regular, Walk};
