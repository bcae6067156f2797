//! The database of a daemon on its disk: what the log gathered in memory is written as a table now and then, and tables
//! are merged when there are several.
//!
//! Leaves out: levels beyond the first, and writes that are slowed down because tables come faster
//! than they can be merged.

use hotband_machine::Op;

use super::osd::{Ring, Slice};
use super::params::OsdParams;

/// A merge reads so much at once [Ceph 14: `compaction_readahead_size=2097152` in `bluestore_rocksdb_options`].
const READ: u64 = 2 << 20;
/// A table is written in such pieces [Ceph 14: `bluefs_min_flush_size` = 512 KiB].
const WRITE: u64 = 512 << 10;
/// Tables that are merged into the database [RocksDB: `level0_file_num_compaction_trigger` = 4].
const MERGED: u64 = 4;

/// Writes and reads of a daemon's database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tables {
    /// Bytes of the log since the last table.
    logged: u64,
    /// Tables that are not merged yet.
    waiting: u64,
    /// Bytes that are still to be read, and then written.
    to_read: u64,
    to_write: u64,
    /// Place of its reads and writes: tables lie one after the other.
    old: Ring,
    new: Ring,
    /// Whether it is at work.
    busy: bool,
    /// Bytes of the last piece.
    pub piece: u64,
}

impl Tables {
    /// Daemons have filled their image to different parts of a table, and to different numbers of them: spread evenly.
    pub fn new(osd: usize, slice: &Slice, params: &OsdParams) -> Self {
        let part = f64::from((osd as u32).reverse_bits()) / f64::from(u32::MAX);
        let logged = (params.write_buffer as f64 * part) as u64;
        let (old, new) = (slice.tables(), slice.tables());
        Self { logged, waiting: osd as u64 % MERGED, to_read: 0, to_write: 0, old, new, busy: false, piece: 0 }
    }

    /// Adds bytes to the log; returns whether the database has new work.
    pub fn logged(&mut self, bytes: u64, params: &OsdParams) -> bool {
        self.logged += bytes;
        if self.logged < params.write_buffer || self.to_read + self.to_write > 0 {
            return false;
        }
        let table = (self.logged as f64 * params.table_share) as u64;
        (self.logged, self.waiting, self.to_write) = (0, self.waiting + 1, table);
        if self.waiting >= MERGED {
            // The newest is merged as it is written.
            self.to_read = (MERGED - 1) * table + params.database;
            (self.waiting, self.to_write) = (0, table + params.database);
        }
        !self.busy
    }

    /// The next command: what and where.
    pub fn next(&mut self) -> Option<(Op, (u64, u32))> {
        let (op, left, piece, ring) = if self.to_read > 0 {
            (Op::Read, &mut self.to_read, READ, &mut self.old)
        } else {
            (Op::Write, &mut self.to_write, WRITE, &mut self.new)
        };
        self.busy = *left > 0;
        if !self.busy {
            return None;
        }
        *left = left.saturating_sub(piece);
        self.piece = piece;
        Some((op, (ring.take(piece), piece as u32)))
    }
}
