//! Traces of other tools: read into the one internal form (rows in order of issue, [`hotband_workloads::TraceFile`]),
//! and written from it.
//!
//! A format is a file in `formats/`: a [`Parser`] from lines to I/Os, and a line in its table. Shared code around the
//! formats: `input.rs` (gzip, zstd), `lines.rs`, `detect.rs` (which format is it?), `making.rs` (which I/Os are taken,
//! sorting by time of issue, rows). Memory does not grow with the trace.
//!
//! Leaves out: the I/O log as Parquet, which Python reads into the same [`Making`].

mod detect;
mod error;
mod formats;
pub mod fuzzing;
mod input;
mod io;
mod lines;
mod making;
mod numbers;
mod properties;
mod read;
mod sort;
mod streams;
mod write;

pub use detect::{format_of, known};
pub use error::TraceFileError;
pub use formats::{Format, Parser};
pub use io::{Io, Out, Wrong};
pub use making::Making;
pub use properties::{Asked, Properties, properties_of};
pub use read::{make_rows, properties_at};
pub use streams::{Names, Parts, Streams};
pub use write::{Losses, TARGETS, WriteError, write_trace};
