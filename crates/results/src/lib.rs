//! Large logs of other tools, summed while they are read: memory does not grow with the length of the log.
//!
//! Leaves out: everything that is small enough for Python (documents, tables). Nothing in a log is executed, followed or
//! fetched; a log that is not what it says is a [`LogError`] with its line.

mod error;
mod fio_bucket;
mod fio_hist;
mod fio_log;
pub mod fuzzing;
mod hdr;
mod lines;
pub mod pieces;
mod seconds;

pub use error::LogError;
pub use fio_bucket::{BUCKETS, bucket_of, value_of};
pub use fio_hist::{HistogramLog, HistogramRow, read_histogram_log};
pub use fio_log::{Direction, FioLog, Samples, read_fio_log};
pub use hdr::{HdrInterval, HdrLog, HdrTag, read_hdr_log};
pub use seconds::Row;
