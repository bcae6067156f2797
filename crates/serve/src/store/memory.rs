//! Bytes in memory, by blocks that were written.

use std::collections::HashMap;
use std::io;

use super::contract::{Extent, Place, Store, join};
use super::pieces::{BLOCK, Locks, pieces};

/// Blocks by address space and number.
type Blocks = HashMap<(u32, u64), Box<[u8]>>;

/// Bytes in memory; gone with the process.
#[derive(Debug, Default)]
pub struct Memory(Locks<Blocks>);

impl Store for Memory {
    fn read(&self, address: Place, buffer: &mut [u8]) -> io::Result<()> {
        for piece in pieces(address.offset, buffer.len() as u64) {
            match self.0.read(piece.block).get(&(address.space, piece.block)) {
                Some(block) => buffer[piece.of_range].copy_from_slice(&block[piece.of_block]),
                None => buffer[piece.of_range].fill(0),
            }
        }
        Ok(())
    }

    fn write(&self, address: Place, data: &[u8]) -> io::Result<u64> {
        for piece in pieces(address.offset, data.len() as u64) {
            let mut blocks = self.0.write(piece.block);
            let block = blocks.entry((address.space, piece.block));
            let block = block.or_insert_with(|| vec![0; BLOCK as usize].into_boxed_slice());
            block[piece.of_block].copy_from_slice(&data[piece.of_range]);
        }
        Ok(0)
    }

    fn zero(&self, address: Place, len: u64) -> io::Result<u64> {
        for piece in pieces(address.offset, len) {
            let (mut blocks, key) = (self.0.write(piece.block), (address.space, piece.block));
            if piece.len() == BLOCK {
                blocks.remove(&key);
            } else if let Some(block) = blocks.get_mut(&key) {
                block[piece.of_block].fill(0);
            }
        }
        Ok(0)
    }

    fn extents(&self, address: Place, len: u64) -> io::Result<Vec<Extent>> {
        let mut all = Vec::new();
        for piece in pieces(address.offset, len) {
            let is_hole = !self.0.read(piece.block).contains_key(&(address.space, piece.block));
            join(&mut all, Extent { len: piece.len(), is_hole });
        }
        Ok(all)
    }
}
