//! Bytes that are not kept: for tests of speed that are to need no memory for them.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::contract::{Extent, Place, Store};
use super::pieces::{Locks, pieces};

/// Bytes of which one checksum is kept: of a block of most file systems and databases. A TiB that was written has so
/// about 8 GB of them.
const SUMMED: u64 = 4096;

/// Checksums of the last written data, by address space and block.
type Sums = HashMap<(u32, u64), u32>;

/// Keeps nothing, and reads zeros. It keeps checksums of the newest data, to report that zeros read back
/// are not the data written.
#[derive(Debug, Default)]
pub struct Nothing {
    sums: Locks<Sums>,
    wrong: AtomicU64,
}

/// The blocks of a range: number, and which of its bytes.
fn blocks(offset: u64, len: u64) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let end = offset + len;
    (offset / SUMMED..end.div_ceil(SUMMED)).map(move |block| {
        let (from, to) = ((block * SUMMED).max(offset), ((block + 1) * SUMMED).min(end));
        (block, (from - offset) as usize..(to - offset) as usize)
    })
}

impl Nothing {
    /// CRC-32 of what was written to a block of 4 KiB last; of a part of one, together with the checksum that it had.
    /// None if it is zeros, as far as known.
    pub fn checksum(&self, address: Place) -> Option<u32> {
        let lock = pieces(address.offset, 1).next()?.block;
        self.sums.read(lock).get(&(address.space, address.offset / SUMMED)).copied()
    }

    /// Blocks that were read as zeros although something else was written to them.
    pub fn wrong_reads(&self) -> u64 {
        self.wrong.load(Ordering::Relaxed)
    }
}

impl Store for Nothing {
    fn read(&self, address: Place, buffer: &mut [u8]) -> io::Result<()> {
        buffer.fill(0);
        for piece in pieces(address.offset, buffer.len() as u64) {
            let sums = self.sums.read(piece.block);
            let is_wrong = |block: u64| sums.contains_key(&(address.space, block));
            let wrong = blocks(piece.offset, piece.len()).filter(|(block, _)| is_wrong(*block)).count();
            if wrong > 0 {
                self.wrong.fetch_add(wrong as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn write(&self, address: Place, data: &[u8]) -> io::Result<u64> {
        for piece in pieces(address.offset, data.len() as u64) {
            let mut sums = self.sums.write(piece.block);
            let data = &data[piece.of_range.clone()];
            for (block, range) in blocks(piece.offset, piece.len()) {
                let (key, data) = ((address.space, block), &data[range]);
                let before = if data.len() as u64 == SUMMED { None } else { sums.get(&key) };
                let mut sum = crc32fast::Hasher::new_with_initial(before.copied().unwrap_or(0));
                sum.update(data);
                sums.insert(key, sum.finalize());
            }
        }
        Ok(0)
    }

    fn zero(&self, address: Place, len: u64) -> io::Result<u64> {
        for piece in pieces(address.offset, len) {
            let mut sums = self.sums.write(piece.block);
            for (block, range) in blocks(piece.offset, piece.len()) {
                let key = (address.space, block);
                if range.len() as u64 == SUMMED {
                    sums.remove(&key);
                } else if let Some(sum) = sums.get_mut(&key) {
                    let mut with = crc32fast::Hasher::new_with_initial(*sum);
                    with.update(&vec![0; range.len()]);
                    *sum = with.finalize();
                }
            }
        }
        Ok(0)
    }

    fn remarks(&self) -> Vec<String> {
        let wrong = self.wrong_reads();
        let note = (wrong > 0).then(|| {
            format!(
                "{wrong} blocks of 4 KiB were read as zeros although other data had been written: no data was stored"
            )
        });
        note.into_iter().collect()
    }

    fn extents(&self, _: Place, len: u64) -> io::Result<Vec<Extent>> {
        Ok(vec![Extent { len, is_hole: true }])
    }
}
