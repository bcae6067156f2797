//! The intent log (ZIL): writes that are to be on media before they are completed (force unit access).
//!
//! Their records are written as all are; then a block of the log that points to them; then the members' volatile caches
//! are flushed, and all writes that the block points to are completed. OpenZFS does this with writes of more than
//! `zfs_immediate_write_sz` (32 KiB, zfs(4)) and with `logbias=throughput` (zfsprops(7)). Records that arrive while a
//! block is being written go into the next one, as `zil_commit` gathers it.
//!
//! Leaves out: smaller writes whose data lies in the block itself, which OpenZFS completes before their records are
//! written; several blocks under way; a drive for the log (SLOG).

use std::collections::VecDeque;

use hotband_machine::Times;

use super::columns::{Column, Geometry};

/// Bytes of a pointer to a record: `lr_write_t` with its block pointer (zil.h). The links between blocks take
/// as much (`zil_chain_t`).
const POINTER: u64 = 192;

/// State common to all members.
pub(super) enum Over {
    /// The block is written: flushes are next.
    Written,
    /// The members are flushed: the records of the block are on media.
    Flushed,
}

/// The block being written, and the writes that wait for the next.
pub(super) struct Log {
    geometry: Geometry,
    /// First byte of its place, of all members together, and bytes of it: blocks go round and round in it.
    begin: u64,
    room: u64,
    next: u64,
    /// Most pointers of a block: it is no larger than a record.
    most: u64,
    /// I/Os whose records are written, and how many these are.
    waiting: VecDeque<(u32, u32)>,
    /// I/Os that the block under way points to.
    pointed_to: Vec<u32>,
    /// Outstanding commands to members: of the block, or flushes after it.
    left: usize,
    is_flushing: bool,
    /// Times of the block, and of the command that was completed last.
    times: Times,
    last: Times,
}

impl Log {
    /// The log of records of `record` bytes, in a place of its own.
    pub fn new(geometry: Geometry, record: u64, place: u64) -> Self {
        let room = geometry.allocated(record);
        Self {
            geometry,
            begin: place * room,
            room,
            next: 0,
            most: (record / POINTER).saturating_sub(1).max(1),
            waiting: VecDeque::new(),
            pointed_to: Vec::new(),
            left: 0,
            is_flushing: false,
            times: Times::default(),
            last: Times::default(),
        }
    }

    /// An I/O waits for the next block.
    pub fn add(&mut self, io: u32, records: u32) {
        self.waiting.push_back((io, records));
    }

    pub fn is_under_way(&self) -> bool {
        self.left > 0
    }

    /// Begins a block with as many of the waiting pointers as fit, and returns where it is written. An I/O with more
    /// pointers fills a block alone.
    pub fn begin_block(&mut self) -> Vec<Column> {
        let mut pointers = 0;
        while let Some((io, records)) = self.waiting.front() {
            let more = pointers + u64::from(*records);
            if more > self.most && pointers > 0 {
                break;
            }
            pointers = more.min(self.most);
            self.pointed_to.push(*io);
            self.waiting.pop_front();
        }
        (self.is_flushing, self.times) = (false, Times::default());
        if pointers == 0 {
            return Vec::new();
        }
        let len = ((1 + pointers) * POINTER).next_multiple_of(self.geometry.sector);
        let size = self.geometry.allocated(len);
        let at = if self.next + size > self.room { 0 } else { self.next };
        self.next = at + size;
        self.geometry.columns(self.begin + at, len)
    }

    /// Sets the number of commands sent for the block, or of flushes.
    pub fn sent(&mut self, commands: usize) {
        self.left = commands;
    }

    /// Completes a command; returns the finished part with the last one.
    pub fn answered(&mut self, times: &Times) -> Option<Over> {
        self.left -= 1;
        self.last = *times;
        if self.left > 0 {
            return None;
        }
        self.times = self.times.then(&self.last);
        if std::mem::replace(&mut self.is_flushing, true) {
            return Some(Over::Flushed);
        }
        Some(Over::Written)
    }

    /// The I/Os that the block points to are to be completed.
    pub fn take_block(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.pointed_to)
    }

    /// All I/Os in it, which cannot be logged.
    pub fn give_up(&mut self) -> Vec<u32> {
        let mut all = self.take_block();
        all.extend(self.waiting.drain(..).map(|(io, _)| io));
        all
    }

    /// Return the times of the block and its flushes.
    pub fn times(&self) -> Times {
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTOR: u64 = 4096;
    const GEOMETRY: Geometry = Geometry { columns: 5, parities: 1, sector: SECTOR };

    /// Bytes of the log's place that the next block takes, with its parity, and the I/Os that it points to.
    fn block(log: &mut Log) -> (u64, Vec<u32>) {
        let before = log.next;
        log.begin_block();
        (log.next - before, log.take_block())
    }

    #[test]
    fn twenty_pointers_fit_into_a_sector_with_what_ties_it_to_the_next() {
        for (pointers, sectors) in [(1, 1), (20, 1), (21, 2), (41, 2), (42, 3)] {
            let mut log = Log::new(GEOMETRY, 128 << 10, 0);
            (0..pointers).for_each(|io| log.add(io, 1));
            assert_eq!(block(&mut log), (GEOMETRY.allocated(sectors * SECTOR), (0..pointers).collect()), "{pointers}");
            assert_eq!((block(&mut log), log.is_under_way()), ((0, vec![]), false), "nothing waits");
        }
    }

    #[test]
    fn a_block_is_no_larger_than_a_record_and_what_needs_more_has_one_alone() {
        let mut log = Log::new(GEOMETRY, SECTOR, 0);
        for (io, records) in [(0, 12), (1, 8), (2, 1), (3, 50), (4, 1)] {
            log.add(io, records);
        }
        for ios in [vec![0, 1], vec![2], vec![3], vec![4]] {
            log.next = 0;
            assert_eq!(block(&mut log), (GEOMETRY.allocated(SECTOR), ios));
        }
    }
}
