//! Bytes in memory, by blocks that were written.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::{Extent, Left, Place, Store};

/// Bytes of a block.
const BLOCK: u64 = 64 << 10;
/// Locks, so that threads seldom wait for one another.
const SHARDS: usize = 64;

/// Blocks by address space and number.
type Blocks = HashMap<(u32, u64), Box<[u8]>>;

/// Bytes in memory; gone with the process.
pub struct Memory {
    shards: Vec<Mutex<Blocks>>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl Memory {
    /// Calls `each` for every block of a range: its shard, number, the bytes within it, and those of the range.
    fn blocks(
        &self,
        place: Place,
        len: u64,
        mut each: impl FnMut(
            &mut HashMap<(u32, u64), Box<[u8]>>,
            (u32, u64),
            std::ops::Range<usize>,
            std::ops::Range<usize>,
        ),
    ) {
        let mut done = 0;
        while done < len {
            let at = place.offset + done;
            let (block, within) = (at / BLOCK, at % BLOCK);
            let here = (BLOCK - within).min(len - done);
            let mut shard = self.shards[block as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner);
            let of_block = within as usize..(within + here) as usize;
            each(&mut shard, (place.space, block), of_block, done as usize..(done + here) as usize);
            done += here;
        }
    }
}

impl Store for Memory {
    fn read(&self, place: Place, buffer: &mut [u8]) -> io::Result<()> {
        self.blocks(place, buffer.len() as u64, |shard, key, of_block, of_range| match shard.get(&key) {
            Some(block) => buffer[of_range].copy_from_slice(&block[of_block]),
            None => buffer[of_range].fill(0),
        });
        Ok(())
    }

    fn write(&self, place: Place, data: &[u8]) -> io::Result<u64> {
        self.blocks(place, data.len() as u64, |shard, key, of_block, of_range| {
            let block = shard.entry(key).or_insert_with(|| vec![0; BLOCK as usize].into_boxed_slice());
            block[of_block].copy_from_slice(&data[of_range]);
        });
        Ok(0)
    }

    fn zero(&self, place: Place, len: u64) -> io::Result<u64> {
        self.blocks(place, len, |shard, key, of_block, _| {
            if of_block.len() as u64 == BLOCK {
                shard.remove(&key);
            } else if let Some(block) = shard.get_mut(&key) {
                block[of_block].fill(0);
            }
        });
        Ok(0)
    }

    fn extents(&self, place: Place, len: u64) -> io::Result<Vec<Extent>> {
        let mut all: Vec<Extent> = Vec::new();
        self.blocks(place, len, |shard, key, of_block, _| {
            let (here, is_hole) = (of_block.len() as u64, !shard.contains_key(&key));
            match all.last_mut().filter(|last| last.is_hole == is_hole) {
                Some(last) => last.len += here,
                None => all.push(Extent { len: here, is_hole }),
            }
        });
        Ok(all)
    }

    fn power_off(&self, _: &[Left]) -> io::Result<()> {
        Err(io::Error::other("a store that keeps no history"))
    }
}
