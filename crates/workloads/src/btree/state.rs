//! State of the engine: pages, journal, checkpoint, clients, and work in flight. The other files of the folder act on
//! it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hotband_units::Instant;

use crate::Random;
use crate::app::{AppIo, Ended};
use crate::btree::cache::{self, Cache};
use crate::btree::extents::Extents;
use crate::btree::keys::Keys;
use crate::btree::shape::{GRAIN, Shape};
use crate::btree::spec::{BTreeSpec, Operation};
use crate::data::Data;

/// Index of the streams.
pub const DATA_STREAM: u16 = 0;
pub const JOURNAL_STREAM: u16 = 1;
/// Bytes of a write with which files are laid out.
pub const LAID_OUT_AT_ONCE: u64 = 1 << 20;

/// Future events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A client has had its time of a processor.
    Client(u32),
    /// The journal is written.
    Commit,
    /// A checkpoint begins.
    Checkpoint,
}

/// Purpose of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A page is read into this slot of the cache.
    Read {
        slot: u32,
    },
    /// The page in this slot of the cache is written to this extent; `evicts`: an eviction thread does it;
    /// `checkpoint`: the running one waits for it.
    Write {
        slot: u32,
        place: u32,
        evicts: bool,
        checkpoint: bool,
    },
    /// An internal page is written to this extent.
    Internal {
        index: u32,
        place: u32,
    },
    /// The checkpoint makes its pages durable, then writes its root, then makes that durable.
    Flush,
    Root,
    RootFlush,
    /// The journal is written, then made durable.
    Journal,
    JournalFlush,
    /// Trims a number of extents of a file, from this one on.
    Trim {
        file: u8,
        slot: u32,
        count: u32,
    },
}

/// I/Os that together do one thing.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub what: What,
    /// I/Os under way.
    pub left: u32,
}

/// Counts since the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub hits: u64,
    pub misses: u64,
    pub joined: u64,
    pub dropped: u64,
    pub evicted: u64,
    pub checkpointed: u64,
    pub internal: u64,
    pub checkpoints: u64,
    pub stalls: u64,
    pub refused_inserts: u64,
    pub trimmed_bytes: u64,
}

/// The engine at work.
pub struct BTree {
    pub spec: BTreeSpec,
    pub shape: Shape,
    pub now: Instant,
    pub keys: Keys,
    pub cache: Cache,
    pub pages: Vec<Page>,
    pub internals: Vec<Internal>,
    /// Files of the index, the data and the internal pages.
    pub files: [Extents; 3],
    /// Pages of each file that are dirty and not being written.
    pub dirty_pages: [u64; 3],
    /// Bytes of pages that are dirty or being written; and of the latter, and how many of these eviction threads write.
    pub dirty_bytes: u64,
    pub writing_bytes: u64,
    pub evicting: u32,
    /// Slots of dirty pages, the one that became dirty first in front.
    pub dirty_queue: VecDeque<u32>,
    pub journal: Journal,
    pub checkpoint: Checkpoint,
    pub clients: Vec<Client>,
    /// When each processor is free, where clients share them.
    pub processors: BinaryHeap<Reverse<Instant>>,
    /// Clients whose change waits for room.
    pub stalled: VecDeque<u32>,
    pub timers: BinaryHeap<Reverse<(Instant, u64, Timer)>>,
    pub sequence: u64,
    pub transfers: Vec<Transfer>,
    pub free_transfers: Vec<u32>,
    pub out: VecDeque<AppIo>,
    pub ended: Vec<Ended>,
    pub counts: Counts,
    /// Index in the record of each operation of [`Operation::ALL`].
    pub reported: [u16; 5],
    pub warm: Random,
    /// Extents laid out so far, by file.
    pub laid_out: [u64; 3],
    pub data: Data,
}

/// Location of a leaf page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its extent, if it was ever written.
    pub slot: u32,
    /// Number of checkpoints that had fixed their extents when it was written.
    pub since: u32,
    /// Its place in the cache, if it is cached.
    pub cached: u32,
}

/// An internal page: always in memory.
#[derive(Clone, Copy, Debug)]
pub struct Internal {
    pub slot: u32,
}

/// Next step of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Look its key up.
    Index,
    /// Look at its record.
    Data,
    /// Change its record, whose page it has seen.
    Change,
    /// The awaited data is durable.
    Answer,
}

/// A client and its operation.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    pub operation: Operation,
    pub began: Instant,
    pub record: u64,
    /// Records of a scan that it has seen, and is to see.
    pub seen: u32,
    pub wanted: u32,
    pub step: Step,
    /// Whether it comes back from waiting for a page: that is not asked for twice.
    pub waited: bool,
    /// Whether its change waited for room.
    pub stalled: bool,
    /// The next client that waits for the same page.
    pub next_waiter: u32,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            operation: Operation::Read,
            began: Instant::ZERO,
            record: 0,
            seen: 0,
            wanted: 1,
            step: Step::Index,
            waited: false,
            stalled: false,
            next_waiter: cache::NONE,
        }
    }
}

/// Work of the running checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// No checkpoint is running.
    #[default]
    Idle,
    /// Leaf pages are written.
    Leaves,
    /// Internal pages are written.
    Internals,
    /// The pages are made durable, and the root is written.
    Root,
}

/// The running checkpoint, or the next one.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    pub stage: Stage,
    /// Whether a checkpoint begins as soon as none runs: room is short, or the journal is long.
    pub wanted: bool,
    /// Slots of the cache, or internal pages, that are still to be written, the next one last.
    pub list: Vec<u32>,
    /// Its writes under way.
    pub under_way: u32,
    /// Pages it can only write once a write of theirs that is under way has ended.
    pub held: u32,
    /// Internal pages above pages that were written since they were, a bit for each.
    pub changed: Vec<u64>,
    /// Checkpoints, the running one included, that have settled which extents they refer to: all leaf pages of theirs
    /// are written.
    pub settled: u32,
    /// Time when the next one is due.
    pub due: Instant,
    /// Contents of the journal when it began.
    pub journal: u64,
    /// Extents to be trimmed: file, first, how many; and trims under way.
    pub trims: Vec<(u8, u32, u32)>,
    pub trimming: u32,
}

impl Checkpoint {
    /// Return the state without a running checkpoint; the initial files count as a first one.
    pub fn new() -> Self {
        Self { settled: 1, ..Self::default() }
    }

    /// A page below an internal page is somewhere else now.
    pub fn change_parent(&mut self, parent: usize) {
        if self.changed.len() <= parent / 64 {
            self.changed.resize(parent / 64 + 1, 0);
        }
        self.changed[parent / 64] |= 1 << (parent % 64);
    }

    /// Internal pages that changed, the first one last; from now on none did.
    pub fn take_changed(&mut self) -> Vec<u32> {
        let mut all = Vec::new();
        for (index, word) in self.changed.iter_mut().enumerate().rev() {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                let bit = bits.ilog2();
                bits &= !(1 << bit);
                all.push(index as u32 * 64 + bit);
            }
        }
        all
    }
}

/// A circular file. Positions count all bytes since the beginning.
#[derive(Clone, Debug)]
pub struct Journal {
    pub from: u64,
    pub size: u64,
    /// End of the records, end of the durable ones, and beginning of the part that recovery would read.
    pub head: u64,
    pub durable: u64,
    pub tail: u64,
    /// End of the current write.
    pub writing: Option<u64>,
    /// Whether the time of the next commit is set.
    pub due: bool,
    /// Clients that wait, each until the journal is durable up to a position.
    pub waiting: VecDeque<(u64, u32)>,
    pub records: u64,
    pub commits: u64,
}

impl Journal {
    pub fn new((from, size): (u64, u64)) -> Self {
        let waiting = VecDeque::new();
        Self { from, size, head: 0, durable: 0, tail: 0, writing: None, due: false, waiting, records: 0, commits: 0 }
    }

    /// Whether this many more bytes can be written outside the part that recovery would read.
    pub fn holds(&self, bytes: u64) -> bool {
        let (begin, end) = whole(self.tail, self.head + bytes);
        end - begin <= self.size
    }
}

/// Round a range down and up to the engine's unit of writing.
pub fn whole(from: u64, to: u64) -> (u64, u64) {
    (from / GRAIN * GRAIN, to.next_multiple_of(GRAIN))
}
