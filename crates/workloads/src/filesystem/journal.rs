//! The journal (JBD2, ordered mode): one transaction runs, one is committed, and what is committed keeps its place in
//! the log until its blocks are written in place.

use std::collections::{BTreeMap, VecDeque};

use hotband_units::Instant;

use super::geometry::Geometry;
use super::space::Extent;

/// Blocks that a descriptor block names: (4096 - 12) / 16 (journal_block_tag3_t of 16 bytes).
const TAGS: u32 = 254;

/// A set of changes that become durable together.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    /// Its number.
    pub number: u64,
    /// Metadata blocks that it changes.
    pub blocks: Vec<u32>,
    /// Blocks of files that it frees; they may be used again once it is durable.
    pub freed: Vec<Extent>,
    /// Time when its first change came.
    pub begun: Option<Instant>,
    /// Writes of data under way that must be durable before it.
    pub ordered: u32,
}

/// Stage of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Data that it refers to is being written.
    Data,
    /// Its blocks go into the log.
    Log,
    /// The drive makes them durable.
    Barrier,
    /// Its commit record goes into the log.
    Record,
}

/// A transaction in the log.
#[derive(Clone, Debug)]
struct Logged {
    number: u64,
    /// Number of log blocks of the transaction.
    taken: u32,
    /// Blocks that are not yet written in place.
    left: u32,
    blocks: Vec<u32>,
}

/// The journal.
#[derive(Clone, Debug)]
pub struct Journal {
    first: u32,
    len: u32,
    head: u32,
    taken: u32,
    /// Takes changes.
    pub running: Transaction,
    /// On its way into the log.
    pub committing: Option<(Transaction, Phase)>,
    /// Somebody waits for the running transaction.
    pub requested: bool,
    logged: VecDeque<Logged>,
    /// The newest logged transaction of each block that is not yet written in place.
    owners: BTreeMap<u32, u64>,
    /// Counts events that may allow the oldest transaction to be written in place.
    pub progress: u64,
    /// Transactions that are durable have numbers up to this.
    pub committed: u64,
}

impl Journal {
    /// An empty log. Its first block is the superblock of the journal.
    pub fn new(geometry: &Geometry) -> Self {
        Self {
            first: geometry.journal + 1,
            len: geometry.journal_len - 1,
            head: 0,
            taken: 0,
            running: Transaction { number: 1, ..Transaction::default() },
            committing: None,
            requested: false,
            logged: VecDeque::new(),
            owners: BTreeMap::new(),
            progress: 0,
            committed: 0,
        }
    }

    /// Blocks of the log that a transaction of this many blocks takes: descriptors, blocks, the commit record.
    fn needed(blocks: usize) -> u32 {
        let blocks = blocks as u32;
        blocks + blocks.div_ceil(TAGS) + 1
    }

    /// The largest transaction (j_max_transaction_buffers: a quarter of the log).
    pub fn largest(&self) -> usize {
        self.len as usize / 4
    }

    /// Whether the running transaction has something to commit.
    pub fn has_changes(&self) -> bool {
        !self.running.blocks.is_empty() || !self.running.freed.is_empty()
    }

    /// Whether changes must wait until the log has room again: an eighth of it is reserved for running operations.
    pub fn is_full(&self) -> bool {
        let committing = self.committing.as_ref().map_or(0, |(transaction, _)| Self::needed(transaction.blocks.len()));
        let open = Self::needed(self.running.blocks.len()) + committing;
        self.taken + open > self.len - self.len / 8
    }

    /// Whether the oldest transactions should be written in place to make room (3/8 of the log free; estimated: JBD2
    /// waits until a new transaction has no room, a quarter; range 1/4 to 1/2).
    pub fn is_pressed(&self) -> bool {
        self.len - self.taken < self.len * 3 / 8
    }

    /// Whether the running transaction fits into the log.
    pub fn fits(&self) -> bool {
        Self::needed(self.running.blocks.len()) <= self.len - self.taken
    }

    /// The running transaction is the committing one from now on.
    pub fn begin_commit(&mut self) {
        assert!(self.committing.is_none(), "one commit at a time");
        let next = Transaction { number: self.running.number + 1, ..Transaction::default() };
        let transaction = std::mem::replace(&mut self.running, next);
        self.requested = false;
        self.committing = Some((transaction, Phase::Data));
    }

    /// Takes room for descriptors and blocks of the committing transaction; where they go.
    pub fn log(&mut self) -> Vec<Extent> {
        let (transaction, _) = self.committing.as_ref().expect("a commit is under way");
        let blocks = Self::needed(transaction.blocks.len()) - 1;
        self.advance(blocks)
    }

    /// Place where the commit record goes.
    pub fn record(&mut self) -> u32 {
        self.advance(1)[0].0
    }

    fn advance(&mut self, blocks: u32) -> Vec<Extent> {
        assert!(blocks <= self.len - self.taken, "the caller looked whether it fits");
        let first = blocks.min(self.len - self.head);
        let mut extents = vec![(self.first + self.head, first)];
        if blocks > first {
            extents.push((self.first, blocks - first));
        }
        self.head = (self.head + blocks) % self.len;
        self.taken += blocks;
        extents
    }

    /// The commit is durable. Its blocks count as not yet written in place, those that are still metadata.
    pub fn end_commit(&mut self, is_metadata: impl Fn(u32) -> bool) -> Transaction {
        let (transaction, _) = self.committing.take().expect("a commit is under way");
        let blocks: Vec<u32> = transaction.blocks.iter().copied().filter(|block| is_metadata(*block)).collect();
        self.committed = transaction.number;
        self.progress += 1;
        let (number, taken, left) = (transaction.number, Self::needed(transaction.blocks.len()), blocks.len() as u32);
        self.logged.push_back(Logged { number, taken, left, blocks: blocks.clone() });
        for block in blocks {
            if let Some(older) = self.owners.insert(block, number) {
                self.settle(older);
            }
        }
        self.trim();
        transaction
    }

    /// A block was written in place, or is not metadata any more.
    pub fn checkpointed(&mut self, block: u32) {
        if let Some(number) = self.owners.remove(&block) {
            self.settle(number);
            self.trim();
        }
    }

    fn settle(&mut self, number: u64) {
        let front = self.logged.front().expect("owners are logged").number;
        self.logged[(number - front) as usize].left -= 1;
    }

    fn trim(&mut self) {
        while self.logged.front().is_some_and(|logged| logged.left == 0) {
            self.taken -= self.logged.pop_front().expect("there is one").taken;
            self.progress += 1;
        }
    }

    /// The blocks of the oldest transaction in the log that still have to be written in place, in order.
    pub fn oldest(&self) -> Vec<u32> {
        let Some(oldest) = self.logged.front() else { return Vec::new() };
        let is_owned = |block: &u32| self.owners.get(block) == Some(&oldest.number);
        let mut blocks: Vec<u32> = oldest.blocks.iter().copied().filter(is_owned).collect();
        blocks.sort_unstable();
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        Journal::new(&Geometry::new(1 << 30, 16_384, Some(1 << 20)).expect("it fits"))
    }

    fn commit(journal: &mut Journal, blocks: &[u32]) -> Vec<Extent> {
        journal.running.blocks = blocks.to_vec();
        journal.begin_commit();
        let extents = journal.log();
        journal.record();
        journal.end_commit(|_| true);
        extents
    }

    #[test]
    fn room_comes_back_in_the_order_of_the_log() {
        let mut journal = journal();
        commit(&mut journal, &[1, 2]);
        commit(&mut journal, &[2, 3]);
        assert_eq!(journal.taken, 8, "a descriptor, two blocks and a record each");
        assert_eq!(journal.oldest(), [1], "2 is newer in the second");
        journal.checkpointed(3);
        journal.checkpointed(2);
        assert_eq!(journal.taken, 8, "the second is done, and still behind the first");
        journal.checkpointed(1);
        assert_eq!((journal.taken, journal.oldest()), (0, Vec::new()));
    }

    #[test]
    fn the_log_goes_round_without_overwriting_what_is_not_in_place() {
        let mut journal = journal();
        let mut live: VecDeque<(Vec<u32>, Vec<Extent>)> = VecDeque::new();
        for round in 0..400_u32 {
            let blocks: Vec<u32> = (0..40).map(|n| 10_000 + round % 7 * 40 + n).collect();
            let extents = commit(&mut journal, &blocks);
            live.retain(|(older, _)| older != &blocks);
            let hits = |a: &Extent, b: &Extent| a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
            for (_, others) in &live {
                assert!(!others.iter().any(|other| extents.iter().any(|extent| hits(extent, other))), "{round}");
            }
            live.push_back((blocks, extents));
            if live.len() > 4 {
                let (blocks, _) = live.pop_front().expect("there are five");
                for block in blocks {
                    journal.checkpointed(block);
                }
            }
        }
    }
}
