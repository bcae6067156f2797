//! Block I/O of the file system: reads into memory, write-back, commits.

use std::collections::VecDeque;

use hotband_machine::{Entropy, Op};
use hotband_units::Instant;

use super::cache::{CACHED, COMMITTING, DIRTY, FRESH, META, RUNNING, Soiled, WRITEBACK};
use super::files::NONE;
use super::geometry::{GROUP, Geometry};
use super::journal::Phase;
use super::space::Extent;
use super::spec::BLOCK;
use super::state::{Event, FileSystem};
use crate::app::AppIo;
use crate::stream::IoRequest;

/// Index of the stream of file data.
pub const DATA: u16 = 0;
/// Index of the stream of the journal.
pub const JOURNAL: u16 = 1;
/// Index of the stream of metadata in place.
pub const METADATA: u16 = 2;

/// Purpose of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Blocks come into memory.
    Read,
    /// Dirty blocks go to the drive; a transaction may have to wait for them.
    WriteBack {
        /// That transaction, or zero.
        ordered: u64,
        /// File, or none for metadata.
        file: u32,
        /// I/O without a task: it counts against the depth of the background.
        background: bool,
    },
    /// Descriptors and blocks of a transaction.
    Log,
    /// The flush before a commit record.
    Barrier,
    /// A commit record.
    Record,
    /// A flush that a task waits for.
    Flush,
    /// A trim for which no task waits.
    Trim,
}

/// An I/O under way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    purpose: Purpose,
    extent: Extent,
    task: u32,
}

/// I/Os under way.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    /// To be submitted.
    pub out: VecDeque<AppIo>,
    flights: Vec<Option<Flight>>,
    unused: Vec<u32>,
    /// Writes of the background.
    background: u32,
    /// Writes of the log.
    log: u32,
    /// Progress of the journal when its oldest transaction was last examined.
    looked: Option<u64>,
    /// Tasks that wait for an I/O of another task.
    also: Vec<(u32, u32)>,
}

impl Disk {
    fn submit(&mut self, purpose: Purpose, stream: u16, request: IoRequest, extent: Extent, task: u32) {
        let flight = Some(Flight { purpose, extent, task });
        let token = if let Some(token) = self.unused.pop() {
            self.flights[token as usize] = flight;
            token
        } else {
            self.flights.push(flight);
            self.flights.len() as u32 - 1
        };
        self.out.push_back(AppIo { token, stream, request });
    }

    fn land(&mut self, token: u32) -> Flight {
        self.unused.push(token);
        self.flights[token as usize].take().expect("an I/O is completed once")
    }

    /// The write-back that a block is part of.
    fn carrying(&self, block: u32) -> Option<u32> {
        let carries = |flight: &Flight| {
            let (start, len) = flight.extent;
            matches!(flight.purpose, Purpose::WriteBack { .. }) && block >= start && block - start < len
        };
        self.flights.iter().position(|flight| flight.as_ref().is_some_and(carries)).map(|token| token as u32)
    }
}

fn request(op: Op, (start, len): Extent, entropy: Entropy, fua: bool) -> IoRequest {
    IoRequest { op, offset: u64::from(start) * u64::from(BLOCK), len: len * BLOCK, fua, entropy }
}

impl FileSystem {
    fn largest(&self) -> u32 {
        self.spec.cache.max_io / BLOCK
    }

    /// Reads blocks that are not in memory; the task waits for each I/O.
    pub(super) fn read(&mut self, (start, len): Extent, index: u32) {
        let (mut at, to) = (start, start + len);
        while at < to {
            if self.cache.touch(at) {
                self.counters.hits += 1;
                at += 1;
                continue;
            }
            let end = (at..to.min(at + self.largest())).find(|block| self.cache.has(*block, CACHED));
            let extent = (at, end.unwrap_or(to.min(at + self.largest())) - at);
            self.counters.misses += u64::from(extent.1);
            let stream = if self.cache.has(at, META) { METADATA } else { DATA };
            self.disk.submit(
                Purpose::Read,
                stream,
                request(Op::Read, extent, Entropy::default(), false),
                extent,
                index,
            );
            self.tasks[index as usize].pending += 1;
            at += extent.1;
        }
    }

    /// Changes a metadata block as a part of the running transaction.
    pub(super) fn change(&mut self, now: Instant, block: u32) {
        self.cache.insert(block);
        if self.cache.has(block, RUNNING) {
            return;
        }
        self.cache.set(block, RUNNING | META);
        self.journal.running.blocks.push(block);
        self.open_transaction(now);
    }

    /// The running transaction has a change: its time runs.
    pub(super) fn open_transaction(&mut self, now: Instant) {
        if self.journal.running.begun.is_none() {
            self.journal.running.begun = Some(now);
            let number = self.journal.running.number;
            self.schedule(now + self.spec.commit_interval, Event::Commit(number));
        }
    }

    /// Changes bitmaps and descriptors of the groups of some blocks.
    pub(super) fn change_bitmaps(&mut self, now: Instant, (start, len): Extent) {
        for group in start / GROUP..=(start + len - 1) / GROUP {
            self.change(now, self.geometry.block_bitmap(group));
            self.change(now, Geometry::descriptor(group));
        }
    }

    /// Whether a dirty block may go to the drive now.
    fn may_go(&self, block: u32) -> bool {
        self.cache.state(block) & (DIRTY | WRITEBACK | RUNNING | COMMITTING) == DIRTY
    }

    /// The run of blocks that goes to the drive with `block`: neighbours of the same kind, and for blocks that their
    /// file on the drive does not know yet, neighbours of that file within `within`.
    fn run_around(&self, block: u32, (from, len): Extent) -> Extent {
        let state = self.cache.state(block);
        let fresh = state & FRESH != 0;
        let same = |other: u32| self.may_go(other) && (self.cache.state(other) ^ state) & (FRESH | META) == 0;
        let (low, high) = if fresh { (from, from + len) } else { (0, self.geometry.blocks()) };
        let (mut start, mut end, most) = (block, block + 1, self.largest());
        while end < high && end - start < most && same(end) {
            end += 1;
        }
        while start > low && end - start < most && same(start - 1) {
            start -= 1;
        }
        (start, end - start)
    }

    /// Sends a run of dirty blocks to the drive.
    fn send(&mut self, now: Instant, extent: Extent, file: u32, index: u32) {
        let metadata = self.cache.has(extent.0, META);
        let mut ordered = 0;
        if self.cache.has(extent.0, FRESH) {
            // Delayed allocation: the file learns of its blocks now, in a transaction that waits for the data.
            self.change(now, self.geometry.inode_block(self.files.inode(file)));
            self.change_bitmaps(now, extent);
            self.journal.running.ordered += 1;
            ordered = self.journal.running.number;
        }
        (extent.0..extent.0 + extent.1).for_each(|block| self.cache.write_back(block));
        self.counters.writebacks += 1;
        self.counters.writeback_blocks += u64::from(extent.1);
        self.counters.checkpoint_blocks += if metadata { u64::from(extent.1) } else { 0 };
        let background = index == NONE;
        self.disk.background += u32::from(background);
        let purpose = Purpose::WriteBack { ordered, file, background };
        let (stream, entropy) = if metadata { (METADATA, self.spec.metadata) } else { (DATA, self.data.draw()) };
        self.disk.submit(purpose, stream, request(Op::Write, extent, entropy, false), extent, index);
    }

    /// Write-back of the background: old pages, excess pages, and those the journal waits for.
    pub(super) fn write_back(&mut self, now: Instant) {
        let background = (self.cache.most() as f64 * self.spec.cache.background) as u64;
        while self.disk.background < self.spec.cache.depth {
            let too_much = self.cache.dirty() > background;
            let Some(oldest) = self.cache.oldest() else { break };
            if !too_much && oldest.at > self.expired {
                break;
            }
            if oldest.file != NONE && self.journal.is_full() {
                self.journal.requested = true;
                break;
            }
            let soiled = self.cache.take_oldest().expect("it was just seen");
            self.send_oldest(now, soiled);
        }
        if self.journal.is_pressed() && self.disk.looked != Some(self.journal.progress) {
            self.checkpoint(now);
        }
    }

    /// Sends the first run of the oldest dirty blocks, and puts the others back.
    fn send_oldest(&mut self, now: Instant, soiled: Soiled) {
        let (mut at, to) = (soiled.start, soiled.start + soiled.len);
        while at < to {
            let known = !self.cache.has(at, FRESH) || self.files.owns(soiled.file, at);
            if self.may_go(at) && known {
                let run = self.run_around(at, (at, to - at));
                self.send(now, run, soiled.file, NONE);
                at = (run.0 + run.1).max(at + 1);
                break;
            }
            at += 1;
        }
        if at < to {
            self.cache.put_back(Soiled { start: at, len: to - at, ..soiled });
        }
    }

    /// Writes blocks of the oldest transaction in the log in place.
    fn checkpoint(&mut self, now: Instant) {
        self.disk.looked = Some(self.journal.progress);
        let blocks = self.journal.oldest();
        // With no room for the running transaction, the copies in the log are what is written.
        let stuck = self.journal.committing.is_none() && !self.journal.fits();
        let waits = DIRTY | WRITEBACK;
        for block in &blocks {
            if stuck && self.cache.state(*block) & waits == DIRTY {
                self.send(now, (*block, 1), NONE, NONE);
            } else if self.may_go(*block) {
                let run = self.run_around(*block, (*block, 1));
                self.send(now, run, NONE, NONE);
            }
        }
        // What is part of the running transaction can be written in place once that is durable.
        self.journal.requested |= blocks.iter().any(|block| self.cache.has(*block, RUNNING));
    }

    /// Sends the dirty blocks of a file that a task syncs. False if it must first wait for a write-back.
    pub(super) fn sync(&mut self, now: Instant, extents: &[Extent], index: u32) -> bool {
        let (file, before) = (self.tasks[index as usize].file, self.tasks[index as usize].pending);
        let blocks = || extents.iter().flat_map(|(start, len)| *start..start + len);
        let mut last = NONE;
        for block in blocks().filter(|block| self.cache.has(*block, WRITEBACK)) {
            let token = self.disk.carrying(block).expect("a block is written back by an I/O");
            if token != last {
                self.disk.also.push((token, index));
                self.tasks[index as usize].pending += 1;
                last = token;
            }
        }
        if self.tasks[index as usize].pending > before {
            return false;
        }
        for extent in extents {
            let mut at = extent.0;
            while at < extent.0 + extent.1 {
                if self.may_go(at) {
                    let run = self.run_around(at, (at, extent.0 + extent.1 - at));
                    self.send(now, run, file, index);
                    self.tasks[index as usize].pending += 1;
                    at = run.0 + run.1;
                } else {
                    at += 1;
                }
            }
        }
        true
    }

    /// Flushes the drive for a task.
    pub(super) fn flush(&mut self, index: u32) {
        self.disk.submit(Purpose::Flush, DATA, request(Op::Flush, (0, 0), Entropy::default(), false), (0, 0), index);
        self.tasks[index as usize].pending += 1;
    }

    /// Begins a commit where one is wanted and none is under way.
    pub(super) fn commit(&mut self, now: Instant) {
        let wanted = self.journal.requested || self.journal.running.blocks.len() >= self.journal.largest();
        if !wanted || self.journal.committing.is_some() {
            return;
        }
        if !self.journal.has_changes() {
            self.journal.requested = false;
            return;
        }
        if !self.journal.fits() {
            self.disk.looked = None;
            return;
        }
        self.journal.begin_commit();
        let (transaction, _) = self.journal.committing.as_ref().expect("it has just begun");
        for block in &transaction.blocks {
            self.cache.clear(*block, RUNNING);
            self.cache.set(*block, COMMITTING);
        }
        if transaction.ordered == 0 {
            self.log(now);
        }
    }

    /// The blocks of the committing transaction go into the log.
    fn log(&mut self, now: Instant) {
        for (start, len) in self.journal.log() {
            let (mut at, to) = (start, start + len);
            while at < to {
                let extent = (at, self.largest().min(to - at));
                let write = request(Op::Write, extent, self.spec.metadata, false);
                self.disk.submit(Purpose::Log, JOURNAL, write, extent, NONE);
                self.disk.log += 1;
                at += extent.1;
            }
        }
        self.go_to(Phase::Log);
        if self.disk.log == 0 {
            self.record(now);
        }
    }

    fn go_to(&mut self, phase: Phase) {
        self.journal.committing.as_mut().expect("a commit is under way").1 = phase;
    }

    /// The log is written: its targets are made durable, then the commit record is written through.
    fn record(&mut self, _now: Instant) {
        let (_, phase) = self.journal.committing.as_ref().expect("a commit is under way");
        if *phase == Phase::Log && self.spec.barrier {
            let flush = request(Op::Flush, (0, 0), Entropy::default(), false);
            self.disk.submit(Purpose::Barrier, JOURNAL, flush, (0, 0), NONE);
            self.go_to(Phase::Barrier);
            return;
        }
        let extent = (self.journal.record(), 1);
        let write = request(Op::Write, extent, self.spec.metadata, self.spec.barrier);
        self.disk.submit(Purpose::Record, JOURNAL, write, extent, NONE);
        self.go_to(Phase::Record);
    }

    /// Ends a durable transaction: its blocks may be written in place, its freed blocks may be used.
    fn end_commit(&mut self, now: Instant) {
        let transaction = self.journal.end_commit(|block| self.cache.has(block, META));
        self.counters.commits += 1;
        self.counters.commit_blocks += transaction.blocks.len() as u64;
        let mut blocks = transaction.blocks;
        blocks.sort_unstable();
        for run in blocks.chunk_by(|a, b| a + 1 == *b) {
            self.cache.queue(Soiled { at: now, start: run[0], len: run.len() as u32, file: NONE });
        }
        for block in blocks {
            self.cache.clear(block, COMMITTING);
            if self.cache.has(block, META) {
                self.cache.soil(block);
            }
        }
        for extent in transaction.freed {
            self.space.release(extent);
            if self.spec.trim {
                self.counters.trims += 1;
                let trim = request(Op::Trim, extent, Entropy::default(), false);
                self.disk.submit(Purpose::Trim, DATA, trim, extent, NONE);
            }
        }
        let committed = self.journal.committed;
        let mut waiting = std::mem::take(&mut self.durable);
        let ready = waiting.extract_if(.., |(number, _)| *number <= committed).collect::<Vec<_>>();
        self.durable = waiting;
        for (_, index) in ready {
            self.run(now, index);
        }
    }

    /// An I/O is done.
    pub(super) fn end_io(&mut self, now: Instant, token: u32) {
        let Flight { purpose, extent, task } = self.disk.land(token);
        match purpose {
            Purpose::Read => (extent.0..extent.0 + extent.1).for_each(|block| self.cache.insert(block)),
            Purpose::WriteBack { ordered, file, background } => {
                self.disk.background -= u32::from(background);
                self.end_write_back(now, extent, file);
                self.end_ordered(now, ordered);
            }
            Purpose::Log => {
                self.disk.log -= 1;
                if self.disk.log == 0 {
                    self.record(now);
                }
            }
            Purpose::Barrier => self.record(now),
            Purpose::Record => self.end_commit(now),
            Purpose::Flush | Purpose::Trim => {}
        }
        if task != NONE {
            self.end_wait(now, task);
        }
        if !self.disk.also.is_empty() {
            let also: Vec<(u32, u32)> = self.disk.also.extract_if(.., |(waited, _)| *waited == token).collect();
            for (_, index) in also {
                self.end_wait(now, index);
            }
        }
    }

    fn end_wait(&mut self, now: Instant, index: u32) {
        let task = &mut self.tasks[index as usize];
        task.pending -= 1;
        if task.pending == 0 {
            self.run(now, index);
        }
    }

    fn end_write_back(&mut self, now: Instant, (start, len): Extent, file: u32) {
        for block in start..start + len {
            self.cache.clear(block, WRITEBACK);
            if self.cache.has(block, DIRTY) {
                // Made dirty again meanwhile; what was queued for it then found it on its way.
                self.cache.queue(Soiled { at: now, start: block, len: 1, file });
                self.journal.progress += 1;
            } else if self.cache.has(block, META) {
                self.journal.checkpointed(block);
            }
        }
    }

    /// A transaction has one write of data less to wait for.
    fn end_ordered(&mut self, now: Instant, number: u64) {
        if number == self.journal.running.number {
            self.journal.running.ordered -= 1;
            return;
        }
        let Some((transaction, _)) = &mut self.journal.committing else { return };
        if transaction.number == number {
            transaction.ordered -= 1;
            if transaction.ordered == 0 {
                self.log(now);
            }
        }
    }
}
