//! A trace: recorded I/Os, issued again.
//!
//! `[trace]` of a workload states which file and when its I/Os are issued ([`TraceSpec`]). The reader of the format
//! makes rows of the file ([`TraceFile`], the one internal form), in order of issue. [`Replay`] requests them; if
//! each waits for an earlier completion, [`Links`] determines which. Nothing here grows with the trace.
//!
//! Leaves out: how well the data of a write compresses, which no trace records (`data` of the workload states it), and
//! I/Os that were not completed when the recording ended.

mod beyond;
mod check;
mod file;
mod links;
mod replay;
mod select;
mod spec;

pub use beyond::Placement;
pub use check::{Placed, TraceTarget};
pub use file::{TraceError, TraceFile, TraceHead, TraceIo, TraceRows, TraceStream};
pub use links::{Link, Links};
pub use replay::{Replay, ReplayIo, Replayed};
pub use select::Selection;
pub use spec::{Beyond, Issue, TraceSpec};
