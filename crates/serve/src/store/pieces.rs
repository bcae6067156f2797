//! Ranges by blocks of 64 KiB, each behind a lock: a reader of a sector gets it as before or after a write, never half
//! of each, as with drives.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes of a block. Also the unit in which a copy is made of a base image: the clusters of qcow2 are as large
/// (docs/interop/qcow2.txt of qemu), of which a TiB has 2 MiB of bits, and copying one takes about 10 us.
pub const BLOCK: u64 = 64 << 10;
/// Locks, so that threads seldom wait for one another.
const LOCKS: u64 = 64;
/// Neighbours behind the same lock: their bits are in one byte of a bitmap.
const TOGETHER: u64 = 8;

/// Part of a range in one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Number of the block.
    pub block: u64,
    /// First byte in the address space.
    pub offset: u64,
    /// Bytes of the block.
    pub of_block: Range<usize>,
    /// Bytes of the range.
    pub of_range: Range<usize>,
}

impl Piece {
    /// Bytes.
    pub fn len(&self) -> u64 {
        self.of_range.len() as u64
    }
}

/// The pieces of a range, in order.
pub fn pieces(offset: u64, len: u64) -> impl Iterator<Item = Piece> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done;
        let (block, within) = (at / BLOCK, at % BLOCK);
        let here = (BLOCK - within).min(len - done);
        let of_range = done as usize..(done + here) as usize;
        done += here;
        let of_block = within as usize..(within + here) as usize;
        (here > 0).then_some(Piece { block, offset: at, of_block, of_range })
    })
}

/// Values behind the locks.
#[derive(Debug)]
pub struct Locks<T>(Vec<RwLock<T>>);

impl<T: Default> Default for Locks<T> {
    fn default() -> Self {
        Self((0..LOCKS).map(|_| RwLock::default()).collect())
    }
}

impl<T> Locks<T> {
    fn of(&self, block: u64) -> &RwLock<T> {
        &self.0[(block / TOGETHER % LOCKS) as usize]
    }

    /// Lock a block for reading, shared with other readers.
    pub fn read(&self, block: u64) -> RwLockReadGuard<'_, T> {
        self.of(block).read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Alone with a block.
    pub fn write(&self, block: u64) -> RwLockWriteGuard<'_, T> {
        self.of(block).write().unwrap_or_else(PoisonError::into_inner)
    }
}
