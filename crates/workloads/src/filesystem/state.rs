//! State of a file system, and work in flight. The other files of the folder act on it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hotband_units::Instant;

use super::cache::PageCache;
use super::disk::Disk;
use super::files::Files;
use super::geometry::Geometry;
use super::journal::Journal;
use super::layout::Layout;
use super::space::{Extent, Space};
use super::spec::FileSystemSpec;
use super::task::{Process, Task};
use crate::app::Ended;
use crate::data::Data;

/// Timed events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A process's next operation is due.
    Due(u32),
    /// A task has had its processor time.
    Ready(u32),
    /// A transaction has been open for long enough.
    Commit(u64),
    /// Dirty pages are examined for their age.
    Expire,
}

/// Sums since the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub hits: u64,
    pub misses: u64,
    pub commits: u64,
    pub commit_blocks: u64,
    pub checkpoint_blocks: u64,
    pub writebacks: u64,
    pub writeback_blocks: u64,
    pub fsyncs: u64,
    pub trims: u64,
    pub waits: u64,
    pub no_space: u64,
    pub late: u64,
    pub service_ns: u64,
    pub operations: u64,
}

/// A file system at work.
pub struct FileSystem {
    pub spec: FileSystemSpec,
    pub data: Data,
    pub geometry: Geometry,
    pub space: Space,
    pub files: Files,
    pub cache: PageCache,
    pub journal: Journal,
    pub disk: Disk,
    pub layout: Layout,
    pub tasks: Vec<Task>,
    pub processes: Vec<Process>,
    pub events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    pub sequence: u64,
    /// Tasks that wait for a transaction.
    pub durable: Vec<(u64, u32)>,
    /// Tasks that wait until changes are possible.
    pub stalled: VecDeque<u32>,
    /// Data that became dirty before this time is written back.
    pub expired: Instant,
    /// Cumulative shares of the mix, and the number of each operation in records.
    pub mix: [f64; 13],
    pub numbers: [u16; 13],
    pub ended: Vec<Ended>,
    pub counters: Counters,
    /// Buffer for the extents of a step; empty between steps.
    pub scratch: Vec<Extent>,
}
