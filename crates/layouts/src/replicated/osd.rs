//! One object storage daemon: its queues, its memory, its log, its slice of a disk, and what it counts.

use std::collections::VecDeque;

use hotband_machine::{Counter, Times};

use super::memory::{Memory, Policy};
use super::params::{BLOCK, OsdParams};
use super::tables::Tables;

/// Alignment of BlueFS on its device, and of everything here that has a place of its own.
const GRAIN: u64 = 1 << 20;
/// Room for the log of file sizes, before the log proper [our estimate: BlueFS compacts it to a few MiB].
const BLUEFS_REGION: u64 = 16 << 20;

/// Use of the bytes of a member. Log and database lie in the middle of it ("put bluefs in the middle of the device in
/// case it is an HDD", `BlueStore::_open_db` of Ceph 12 to 14), objects before and, when that is full, behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    db_begin: u64,
    db_size: u64,
    wal_size: u64,
    object: u64,
    size: u64,
}

impl Slice {
    pub fn new(size: u64, object: u64, params: &OsdParams) -> Self {
        let db_size = ((size as f64 * params.db_share) as u64).max(4 * BLUEFS_REGION) / GRAIN * GRAIN;
        let db_begin = size.saturating_sub(db_size) / 2 / GRAIN * GRAIN;
        let wal_size = params.wal_region.min(db_size - 2 * BLUEFS_REGION);
        Self { db_begin, db_size, wal_size, object, size }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Objects that fit.
    pub fn objects(&self) -> u64 {
        let behind = self.size.saturating_sub(self.db_begin + self.db_size);
        self.db_begin / self.object + behind / self.object
    }

    /// First byte of the object in place `slot`.
    pub fn object_at(&self, slot: u32) -> u64 {
        let before = self.db_begin / self.object;
        match u64::from(slot).checked_sub(before) {
            None => u64::from(slot) * self.object,
            Some(behind) => self.db_begin + self.db_size + behind * self.object,
        }
    }

    /// Return the ring of the database's tables, behind the logs.
    pub fn tables(&self) -> Ring {
        let from = BLUEFS_REGION + self.wal_size;
        Ring { from: self.db_begin + from, size: self.db_size - from, at: 0 }
    }

    /// Place of an object's metadata in the database: anywhere behind the logs.
    pub fn metadata_at(&self, object: u32) -> u64 {
        let from = BLUEFS_REGION + self.wal_size;
        let blocks = ((self.db_size - from) / BLOCK).max(1);
        // Any mixing will do: tables of the database are sorted by a hash of the name.
        let mixed = u64::from(object).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        self.db_begin + from + mixed % blocks * BLOCK
    }
}

/// A ring on the disk that a log is written to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    from: u64,
    size: u64,
    at: u64,
}

impl Ring {
    /// Bytes that go into it before it begins again.
    pub fn size(&self) -> u64 {
        self.size / BLOCK * BLOCK
    }

    /// Take the offset of the next `len` bytes.
    pub fn take(&mut self, len: u64) -> u64 {
        if self.at + len > self.size {
            self.at = 0;
        }
        let at = self.from + self.at;
        self.at += len;
        at
    }
}

/// Stage of the committing thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Idle,
    /// Preparing the transaction.
    Preparing,
    /// Making data written in place durable, before its metadata is logged.
    DataFlush,
    LogWrite,
    LogFlush,
    /// The log of file sizes, where logs are not recycled.
    SizesWrite,
    SizesFlush,
}

/// A queue of operations, the thread that serves it, and its part of the memory: caches are divided between shards, so
/// that one whose groups are asked for more than others' forgets while others have room.
pub(super) struct Shard {
    pub waiting: VecDeque<u32>,
    pub busy: Option<u32>,
    pub recovery: RecoveryReads,
    pub data: Memory,
    /// Metadata of objects; none if that of every object fits and stays.
    pub onodes: Option<Memory>,
}

/// Operations that go before a read of a recovery that waits: Ceph's osd_client_op_priority, 63, over its
/// osd_recovery_op_priority, 3.
const OPS_BEFORE_RECOVERY: u32 = 21;

impl Shard {
    /// Whether its thread has nothing to do.
    pub fn is_free(&self) -> bool {
        self.busy.is_none() && !self.recovery.is_under_way
    }

    /// The read of a recovery whose turn it is, if it is not that of an operation.
    pub fn next_recovery_read(&mut self) -> Option<u32> {
        let recovery = &mut self.recovery;
        if recovery.waiting.is_empty() {
            return None;
        }
        if !self.waiting.is_empty() && recovery.passed < OPS_BEFORE_RECOVERY {
            recovery.passed += 1;
            return None;
        }
        (recovery.passed, recovery.is_under_way) = (0, true);
        self.busy = None;
        recovery.waiting.pop_front()
    }
}

/// Data that a shard's thread reads for a recovery, between operations.
#[derive(Default)]
pub(super) struct RecoveryReads {
    pub waiting: VecDeque<u32>,
    /// Whether the thread waits for the disk with a read of the recovery.
    pub is_under_way: bool,
    /// Number of operations that overtook the first waiting read.
    pub passed: u32,
}

/// The turns of the daemons whose slices are on one disk: which of them commits, and which wait for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    pub holder: Option<u32>,
    pub waiting: VecDeque<u32>,
}

/// A deferred write: where its data belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Deferred {
    pub offset: u64,
    pub len: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OsdCounters {
    pub reads: u64,
    pub memory_hits: u64,
    pub metadata_reads: u64,
    pub writes: u64,
    pub commits: u64,
    pub committed: u64,
    pub log_bytes: u64,
    pub deferred_batches: u64,
    pub deferred_writes: u64,
    pub cpu_ns: u64,
    pub recovered: u64,
    pub tables_written: u64,
    pub tables_read: u64,
}

impl OsdCounters {
    pub fn list(&self) -> Vec<Counter> {
        vec![
            ("reads", self.reads),
            ("memory_hits", self.memory_hits),
            ("metadata_reads", self.metadata_reads),
            ("writes", self.writes),
            ("commits", self.commits),
            ("committed", self.committed),
            ("log_bytes", self.log_bytes),
            ("deferred_batches", self.deferred_batches),
            ("deferred_writes", self.deferred_writes),
            ("cpu_ns", self.cpu_ns),
            ("recovered_objects", self.recovered),
            ("table_bytes_written", self.tables_written),
            ("table_bytes_read", self.tables_read),
        ]
    }
}

/// A daemon on one member.
pub(super) struct Osd {
    pub shards: Vec<Shard>,
    pub slice: Slice,
    pub wal: Ring,
    pub sizes: Ring,
    pub tables: Tables,
    pub stage: Stage,
    /// Transactions that wait for the committing thread, and those it commits.
    pub queued: Vec<u32>,
    pub committing: Vec<u32>,
    /// Breakdown of the disk time of the commit under way.
    pub commit_times: Times,
    pub deferred: Vec<Deferred>,
    /// In-place writes under way.
    pub placing: u32,
    pub host: u16,
    /// The member that its slice is on.
    pub disk: u16,
    /// Whether the disk has a volatile write cache, so that the host flushes it.
    pub flushed: bool,
    pub counters: OsdCounters,
}

impl Osd {
    /// Daemon `number` on a slice of `size` bytes, with objects of `object`. `seen` is how many objects the groups of
    /// each shard have.
    pub fn new(
        number: usize,
        (size, object): (u64, u64),
        (host, disk): (u16, u16),
        seen: &[usize],
        params: &OsdParams,
    ) -> Self {
        let onodes = params.onodes / params.shards;
        let shard = |seen: &usize| Shard {
            waiting: VecDeque::new(),
            busy: None,
            recovery: RecoveryReads::default(),
            data: Memory::new(params.data_blocks / params.shards, params.policy),
            onodes: (onodes < *seen).then(|| Memory::new(onodes, Policy::Lru)),
        };
        let slice = Slice::new(size, object, params);
        let sizes = Ring { from: slice.db_begin, size: BLUEFS_REGION, at: 0 };
        let wal = Ring { from: slice.db_begin + BLUEFS_REGION, size: slice.wal_size, at: 0 };
        Self {
            shards: seen.iter().map(shard).collect(),
            tables: Tables::new(number, &slice, params),
            slice,
            wal,
            sizes,
            stage: Stage::Idle,
            queued: Vec::new(),
            committing: Vec::new(),
            commit_times: Times::default(),
            deferred: Vec::new(),
            placing: 0,
            host,
            disk,
            flushed: true,
            counters: OsdCounters::default(),
        }
    }
}

/// Joins writes that continue each other, in order of address.
pub(super) fn joined(mut writes: Vec<Deferred>, longest: u32) -> Vec<Deferred> {
    writes.sort_unstable();
    let mut joined: Vec<Deferred> = Vec::with_capacity(writes.len());
    for write in writes {
        match joined.last_mut() {
            Some(last) if last.offset + u64::from(last.len) >= write.offset + u64::from(write.len) => {}
            Some(last) if last.offset + u64::from(last.len) == write.offset && last.len + write.len <= longest => {
                last.len += write.len;
            }
            _ => joined.push(write),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_lie_before_the_database_and_then_behind_it() {
        let slice = Slice { db_begin: 10 << 20, db_size: 4 << 20, wal_size: 1 << 20, object: 4 << 20, size: 30 << 20 };
        assert_eq!((0..3).map(|slot| slice.object_at(slot) >> 20).collect::<Vec<_>>(), [0, 4, 14]);
        assert_eq!(slice.objects(), 2 + 4);
    }

    #[test]
    fn a_ring_begins_again_where_the_next_record_does_not_fit() {
        let mut ring = Ring { from: 100, size: 10, at: 0 };
        assert_eq!([ring.take(4), ring.take(4), ring.take(4)], [100, 104, 100]);
    }

    #[test]
    fn neighbours_are_written_in_one_go() {
        let write = |offset, len| Deferred { offset, len };
        let all = vec![write(8192, 4096), write(0, 4096), write(4096, 4096), write(4096, 4096), write(65536, 4096)];
        assert_eq!(joined(all, 12_288), [write(0, 12_288), write(65_536, 4096)]);
        assert_eq!(joined(vec![write(0, 8192), write(8192, 8192)], 12_288).len(), 2, "up to a length");
    }
}
