//! A base image that is only read: what was written since lies in another file, and a bit a block says which has it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use super::pieces::BLOCK;

/// The base, and which blocks do not show it any more.
#[derive(Debug)]
pub struct Overlay {
    base: File,
    base_size: u64,
    bitmap: File,
    /// Bits as in the file. A writer of a byte has exclusive access to its blocks.
    bits: Vec<AtomicU8>,
}

impl Overlay {
    /// Over `base` of `base_size` bytes, with the bits of `size` bytes in the file `bitmap`, which is made if it is
    /// not there: blocks of which it has no bits show the base.
    pub fn open(base: File, base_size: u64, bitmap: &Path, size: u64) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(bitmap)?;
        let bytes = size.div_ceil(BLOCK).div_ceil(8);
        let mut bits = vec![0; bytes as usize];
        let present = file.metadata()?.len().min(bytes) as usize;
        file.read_exact_at(&mut bits[..present], 0)?;
        file.set_len(bytes)?;
        Ok(Self { base, base_size, bitmap: file, bits: bits.into_iter().map(AtomicU8::new).collect() })
    }

    /// Whether a block is in the other file.
    pub fn has(&self, block: u64) -> bool {
        self.bits[(block / 8) as usize].load(Ordering::Acquire) & (1 << (block % 8)) != 0
    }

    /// A block is in the other file from now on, also after this process: it is there already, and the caller is alone
    /// with it and its neighbours of the same byte.
    pub fn set(&self, block: u64) -> io::Result<()> {
        let byte = &self.bits[(block / 8) as usize];
        let with = byte.load(Ordering::Acquire) | (1 << (block % 8));
        self.bitmap.write_all_at(&[with], block / 8)?;
        byte.store(with, Ordering::Release);
        Ok(())
    }

    /// Whether a byte is one of the base.
    pub fn covers(&self, offset: u64) -> bool {
        offset < self.base_size
    }

    /// Bytes of the base; zeros beyond its end.
    pub fn read_base(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let present = self.base_size.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let (of_base, beyond) = buffer.split_at_mut(present);
        beyond.fill(0);
        self.base.read_exact_at(of_base, offset)
    }
}
