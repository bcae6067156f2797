//! A source receives the time and completions, and returns I/Os.

use hotband_machine::{Op, PartReport};
use hotband_units::Instant;

use crate::phase::Phase;
use crate::stream::{IoRequest, Stream};

/// An I/O that a source requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceIo {
    /// Index of its stream.
    pub stream: u32,
    /// Token that is returned with the completion; only the source reads it.
    pub token: u32,
    /// The I/O itself.
    pub request: IoRequest,
}

/// An I/O that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Token of its [`SourceIo`].
    pub token: u32,
    /// Operation.
    pub op: Op,
    /// Its bytes.
    pub len: u32,
    /// Whether the I/O failed.
    pub failed: bool,
}

/// A phase begins.
#[derive(Clone, Copy)]
pub struct PhaseStart<'a> {
    /// When.
    pub now: Instant,
    /// The phase.
    pub phase: &'a Phase,
    /// Threads that it gives the loop of `[load]`, if that is closed.
    pub threads: Option<u32>,
    /// All streams of the run.
    pub streams: &'a [Stream],
}

/// Pace of a source among others in a phase without timing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// I/Os a second.
    Rate(f64),
    /// Number of I/Os that the source has outstanding.
    Outstanding(f64),
}

/// I/Os of a source in a phase without timing.
#[derive(Clone, Copy, Debug)]
pub struct Turns<'a> {
    /// Indices of its streams and their shares.
    pub streams: &'a [(usize, f64)],
    /// Its part among all sources.
    pub pace: Pace,
    /// Its threads, which take turns.
    pub threads: usize,
}

/// A source of I/Os.
///
/// Time given to it never goes backwards. After each call of `begin_phase`, `wake` and `completed` the driver takes
/// I/Os with `next_io` until there is none.
pub trait Source: Send {
    /// A phase begins; a source that it excludes stops issuing I/Os.
    fn begin_phase(&mut self, start: &PhaseStart);
    /// Time when it next does something by itself; `None` while it only waits for answers, or for another phase.
    fn next_time(&self) -> Option<Instant>;
    /// Wakes the source at its `next_time`.
    fn wake(&mut self, now: Instant);
    /// The next I/O that it requests now.
    fn next_io(&mut self, now: Instant, streams: &mut [Stream]) -> Option<SourceIo>;
    /// Completes one of the source's I/Os.
    fn completed(&mut self, now: Instant, answer: Answer);
    /// I/O it issues if nothing takes time; nothing of a source that needs time.
    fn turns(&self) -> Option<Turns<'_>> {
        None
    }
    /// Operations that have ended since the run began, of a source that has them.
    fn operations(&self) -> u64 {
        0
    }
    /// Whether the work that the source does once in this phase is done.
    fn is_done(&self) -> bool {
        true
    }
    /// Counters of a part of its own, such as a network.
    fn report(&self) -> Option<PartReport> {
        None
    }
}
