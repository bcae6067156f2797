//! Work of a process in flight: an operation as a list of steps.

use hotband_units::Instant;

use super::spec::Operation;
use crate::Random;
use crate::sources::arrival::ArrivalClock;

/// A part of an operation. Steps that wait for I/O continue when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bring blocks into memory.
    Read {
        /// First block.
        block: u32,
        /// Blocks.
        len: u32,
    },
    /// Wait for the I/Os of this task.
    Join,
    /// Wait until dirty pages, the journal and free space allow for changes.
    Gate {
        /// Blocks that are wanted.
        blocks: u32,
    },
    /// Change files and memory.
    Apply,
    /// Write the dirty pages of a part of the file.
    SyncData {
        /// First page.
        page: u32,
        /// Pages.
        pages: u32,
    },
    /// Makes the metadata of the file durable, with the drive's cached writes.
    SyncLog,
    /// The operation completes for its caller.
    End,
    /// Work of the process before the next operation.
    Tidy,
}

/// An operation under way.
#[derive(Clone, Debug)]
pub struct Task {
    /// Process that issued the task.
    pub process: u32,
    /// Operation.
    pub operation: Operation,
    /// Time when it was due.
    pub due: Instant,
    /// When it began.
    pub began: Instant,
    /// File, or made directory.
    pub file: u32,
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub len: u32,
    /// Work to do.
    pub steps: Vec<Step>,
    /// Index of the next step.
    pub at: usize,
    /// I/Os under way.
    pub pending: u32,
}

/// A process: its clock, and its next operation.
#[derive(Clone, Debug)]
pub struct Process {
    /// Time when its operations are due.
    pub clock: ArrivalClock,
    /// Its randomness.
    pub random: Random,
    /// Tasks that have nothing to do.
    pub idle: Vec<u32>,
    /// Its clock waits for an idle task.
    pub late: bool,
    /// Where its last sequential read ended: file and byte.
    pub read_at: (u32, u32),
    /// Place where its last sequential write ended.
    pub write_at: (u32, u32),
}
