//! A database: YCSB's clients above a B-tree engine with a cache, a journal and copy-on-write checkpoints, modelled
//! after MongoDB 3.6 with WiredTiger. docs/models/btree.md has equations, sources, and what it leaves out.
//!
//! `clients.rs` runs operations, `pages.rs` reads and writes pages, `checkpoint.rs` and `journal.rs` make them durable;
//! the other files are parts that know nothing of each other.

mod cache;
mod checkpoint;
mod clients;
mod extents;
mod journal;
mod keys;
mod pages;
mod shape;
mod spec;
mod state;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hotband_machine::{Entropy, Op, SpecError, UntimedWrite};
use hotband_units::Instant;

use crate::Random;
use crate::app::{App, AppIo, AppStream, AppVolume, Ended};
use crate::btree::cache::Cache;
use crate::btree::extents::Extents;
use crate::btree::keys::Keys;
use crate::btree::shape::{DATA, FANOUT, INDEX, INTERNAL, Shape};
use crate::btree::state::{
    BTree, Checkpoint, Client, Counts, DATA_STREAM, Internal, Journal, LAID_OUT_AT_ONCE, Page, Timer, Transfer, What,
};
use crate::data::{Data, DataSpec};
use crate::stream::IoRequest;

use spec::Operation;

pub use spec::BTreeSpec;

impl BTreeSpec {
    /// The engine at work.
    ///
    /// # Errors
    /// Records that do not fit the volume, a cache that is too small for the clients.
    pub(crate) fn build(
        &self,
        volumes: &[AppVolume],
        data: Option<&DataSpec>,
        seed: u64,
    ) -> Result<Box<dyn App>, SpecError> {
        let data = data.map_or(Data::INCOMPRESSIBLE, |data| Data::new(data, Random::new(seed, "app.data")));
        Ok(Box::new(BTree::new(self.clone(), Shape::new(self, volumes)?, data, seed)))
    }
}

impl BTree {
    pub(crate) fn new(spec: BTreeSpec, shape: Shape, data: Data, seed: u64) -> Self {
        let mut reported = [u16::MAX; 5];
        let operations = (0..5).filter(|n| spec.shares[*n] > 0.0);
        operations.enumerate().for_each(|(index, operation)| reported[operation] = index as u16);
        let (index, leaves) = (shape.index_pages as u32, shape.data_pages as u32);
        let extent = |slot| Page { slot, since: 0, cached: cache::NONE };
        let internals = shape.index_pages.div_ceil(FANOUT) + shape.data_pages.div_ceil(FANOUT);
        let used = [shape.index_pages, shape.data_pages, internals];
        Self {
            keys: Keys::new(&spec, &shape, Random::new(seed, "app.keys")),
            cache: Cache::new(spec.cache),
            pages: (0..index).chain(0..leaves).map(extent).collect(),
            internals: (0..internals as u32).map(|slot| Internal { slot }).collect(),
            files: [INDEX, DATA, INTERNAL].map(|file| Extents::new(shape.areas[file], used[file])),
            dirty_pages: [0; 3],
            dirty_bytes: 0,
            writing_bytes: 0,
            evicting: 0,
            dirty_queue: VecDeque::new(),
            journal: Journal::new(shape.journal),
            checkpoint: Checkpoint::new(),
            clients: (0..spec.clients).map(|_| Client::default()).collect(),
            processors: BinaryHeap::new(),
            stalled: VecDeque::new(),
            timers: BinaryHeap::new(),
            sequence: 0,
            transfers: Vec::new(),
            free_transfers: Vec::new(),
            out: VecDeque::new(),
            ended: Vec::new(),
            counts: Counts::default(),
            reported,
            warm: Random::new(seed, "app.warm"),
            laid_out: [0; 3],
            data,
            now: Instant::ZERO,
            spec,
            shape,
        }
    }

    fn later(&mut self, at: Instant, timer: Timer) {
        self.timers.push(Reverse((at, self.sequence, timer)));
        self.sequence += 1;
    }

    /// A transfer without an I/O yet; [`Self::ask`] adds them.
    fn begin_transfer(&mut self, what: What) -> u32 {
        let transfer = Transfer { what, left: 0 };
        if let Some(index) = self.free_transfers.pop() {
            self.transfers[index as usize] = transfer;
            return index;
        }
        self.transfers.push(transfer);
        self.transfers.len() as u32 - 1
    }

    /// Asks for a range in I/Os of at most `largest_io`.
    fn ask(&mut self, token: u32, stream: u16, op: Op, mut offset: u64, mut len: u64) {
        // A trim has no data to be cut up.
        let most = if op == Op::Trim { 1 << 30 } else { self.spec.largest_io };
        let entropy = if op == Op::Write { self.data.draw() } else { Entropy::INCOMPRESSIBLE };
        loop {
            let piece = len.min(most);
            self.transfers[token as usize].left += 1;
            let request = IoRequest { op, offset, len: piece as u32, fua: false, entropy };
            self.out.push_back(AppIo { token, stream, request });
            (offset, len) = (offset + piece, len - piece);
            if len == 0 {
                return;
            }
        }
    }

    /// A transfer of one range.
    fn transfer(&mut self, what: What, stream: u16, op: Op, offset: u64, len: u64) {
        let token = self.begin_transfer(what);
        self.ask(token, stream, op, offset, len);
    }

    fn done(&mut self, what: What) {
        match what {
            What::Read { slot } => self.page_read(slot),
            What::Write { slot, place, evicts, checkpoint } => {
                self.evicting -= u32::from(evicts);
                self.checkpoint.under_way -= u32::from(checkpoint);
                self.page_written(slot, place);
            }
            What::Internal { index, place } => self.internal_written(index, place),
            What::Flush | What::Root | What::RootFlush => self.checkpoint_goes_on(what),
            What::Journal => self.journal_written(),
            What::JournalFlush => self.journal_durable(),
            What::Trim { file, slot, count } => self.trimmed(usize::from(file), slot, count),
        }
    }

    /// Fills the cache with pages that clients will request.
    fn warm_up(&mut self) {
        let mut keys = self.keys.clone_with(self.warm.clone());
        let smallest = self.shape.leaf_bytes.min(self.shape.index_bytes);
        let tries = 4 * self.spec.cache.div_ceil(smallest).min(self.pages.len() as u64);
        for _ in 0..tries {
            let record = keys.record();
            for page in [keys.index_page(record, 0), keys.data_page(record)] {
                let bytes = self.shape.bytes(page);
                if self.cache.used + bytes > self.cache.size {
                    return;
                }
                if self.pages[page as usize].cached == cache::NONE {
                    self.pages[page as usize].cached = self.cache.add(page, bytes, 0);
                }
            }
        }
    }
}

impl App for BTree {
    fn kind(&self) -> &'static str {
        "btree"
    }

    fn streams(&self) -> Vec<AppStream> {
        self.spec.streams()
    }

    fn operations(&self) -> Vec<&'static str> {
        let in_use = Operation::ALL.into_iter().filter(|operation| self.spec.shares[*operation as usize] > 0.0);
        in_use.map(Operation::name).collect()
    }

    fn requested_ops_per_s(&self) -> Option<f64> {
        None
    }

    fn lay_out(&mut self, most: usize, out: &mut Vec<(u16, UntimedWrite)>) {
        let used = [self.shape.index_pages, self.shape.data_pages, self.internals.len() as u64];
        let most = out.len() + most;
        for ((file, used), done) in self.files.iter().zip(used).zip(&mut self.laid_out) {
            let end = used * file.extent();
            // Data of several kinds: an extent has one.
            let at_once = if self.data.is_constant() { LAID_OUT_AT_ONCE } else { file.extent().min(LAID_OUT_AT_ONCE) };
            while *done < end && out.len() < most {
                let len = (end - *done).min(at_once);
                let (offset, len32) = (file.offset(0) + *done, len as u32);
                out.push((DATA_STREAM, UntimedWrite { offset, len: len32, entropy: self.data.draw(), trim: false }));
                *done += len;
            }
        }
    }

    fn lay_out_bytes(&self) -> u64 {
        let used = [self.shape.index_pages, self.shape.data_pages, self.internals.len() as u64];
        used.iter().zip(&self.files).map(|(used, file)| used * file.extent()).sum()
    }

    fn start(&mut self, now: Instant) {
        self.now = now;
        if self.spec.warm_cache {
            self.warm_up();
        }
        if self.spec.clients > self.spec.processors {
            self.processors = (0..self.spec.processors).map(|_| Reverse(now)).collect();
        }
        self.checkpoint_later();
        (0..self.spec.clients).for_each(|client| self.begin(client));
    }

    fn next_time(&self) -> Option<Instant> {
        self.timers.peek().map(|Reverse((at, _, _))| *at)
    }

    fn advance(&mut self, now: Instant) {
        self.now = now;
        while let Some(Reverse((_, _, timer))) = self.timers.peek().copied().filter(|Reverse((at, _, _))| *at <= now) {
            self.timers.pop();
            match timer {
                Timer::Client(client) => self.run(client),
                Timer::Commit => self.commit_due(),
                Timer::Checkpoint => self.checkpoint_due(),
            }
        }
    }

    fn next_io(&mut self) -> Option<AppIo> {
        self.out.pop_front()
    }

    fn completed(&mut self, now: Instant, token: u32) {
        self.now = now;
        let transfer = &mut self.transfers[token as usize];
        transfer.left -= 1;
        if transfer.left == 0 {
            let what = transfer.what;
            self.free_transfers.push(token);
            self.done(what);
        }
    }

    fn take_ended(&mut self, out: &mut Vec<Ended>) {
        out.append(&mut self.ended);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.counts;
        vec![
            ("cache_hits", counts.hits),
            ("cache_misses", counts.misses),
            ("cache_joined", counts.joined),
            ("pages_dropped", counts.dropped),
            ("pages_evicted", counts.evicted),
            ("pages_checkpointed", counts.checkpointed),
            ("internal_pages_written", counts.internal),
            ("checkpoints", counts.checkpoints),
            ("journal_records", self.journal.records),
            ("journal_bytes", self.journal.head),
            ("journal_commits", self.journal.commits),
            ("stalls", counts.stalls),
            ("refused_inserts", counts.refused_inserts),
            ("trimmed_bytes", counts.trimmed_bytes),
        ]
    }
}
