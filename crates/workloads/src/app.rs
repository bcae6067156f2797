//! An engine above the volumes, such as a database or a file system: it turns operations into block I/O.
//!
//! An app is a state machine in virtual time. The engine passes it the time and completions; it returns the I/Os to
//! submit now, and the operations that have ended.

use hotband_machine::UntimedWrite;
use hotband_units::Instant;

use crate::stream::IoRequest;

/// A kind of block I/O of an app; recorded as a stream of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppStream {
    /// Name in records ("data", "journal").
    pub name: String,
    /// Volume it addresses; the only one by default.
    pub volume: Option<String>,
}

/// Place where a stream of an app lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppVolume {
    /// Number of the target; streams with the same one share its bytes.
    pub target: u16,
    /// Its bytes.
    pub capacity: u64,
    /// Logical block of the drives.
    pub block: u64,
}

/// A block I/O that an app requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppIo {
    /// Given back when it is completed; the engine does not read it.
    pub token: u32,
    /// Index in [`App::streams`].
    pub stream: u16,
    /// The I/O itself.
    pub request: IoRequest,
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Index in [`App::operations`].
    pub operation: u16,
    /// When it was requested: for an open loop its scheduled time, so that waiting for its turn counts.
    pub began: Instant,
    /// Time when the operation completed for its caller.
    pub ended: Instant,
}

/// An engine above the volumes.
///
/// Time given to it never goes backwards. After each call of `start`, `advance` and `completed` the engine takes
/// I/Os with `next_io` until there is none, and then ended operations.
pub trait App: Send {
    /// Name of the kind ("btree").
    fn kind(&self) -> &'static str;
    /// Its kinds of block I/O.
    fn streams(&self) -> Vec<AppStream>;
    /// Names of its operations ("read", "update").
    fn operations(&self) -> Vec<&'static str>;
    /// Operations a second that are requested; none for a closed loop.
    fn requested_ops_per_s(&self) -> Option<f64>;
    /// Appends at most `most` writes that put the app's files in place before it starts, each with the index of
    /// its stream; appends none once all are there. Called before `start`.
    fn lay_out(&mut self, most: usize, out: &mut Vec<(u16, UntimedWrite)>);
    /// Bytes that `lay_out` writes in all, for progress; zero if that is not known.
    fn lay_out_bytes(&self) -> u64 {
        0
    }
    /// Its clients begin.
    fn start(&mut self, now: Instant);
    /// Time when it next does something by itself; `None` while it only waits for completions.
    fn next_time(&self) -> Option<Instant>;
    /// Performs the work due by `now`.
    fn advance(&mut self, now: Instant);
    /// The next I/O that it wants to submit now.
    fn next_io(&mut self) -> Option<AppIo>;
    /// The I/O with this token is done.
    fn completed(&mut self, now: Instant, token: u32);
    /// Hands over the operations that have ended since the last call.
    fn take_ended(&mut self, out: &mut Vec<Ended>);
    /// Counters since the beginning, always the same names in the same order ("cache_hits", "checkpoints").
    fn counters(&self) -> Vec<(&'static str, u64)>;
}
