//! One sparse file that holds the bytes of an address space, alone or over a base image.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, SeekFrom};
use rustix::io::Errno;

use super::contract::{Extent, join};
use super::overlay::Overlay;
use super::pieces::{BLOCK, Locks, Piece, pieces};

/// Image of the bytes of an address space.
#[derive(Debug)]
pub struct Image {
    file: File,
    size: u64,
    overlay: Option<Overlay>,
    locks: Locks<()>,
}

impl Image {
    /// Return an image in `file`, which has `size` bytes.
    pub fn new(file: File, size: u64, overlay: Option<Overlay>) -> Self {
        Self { file, size, overlay, locks: Locks::default() }
    }

    /// The base image that is still to be seen in a block.
    fn base(&self, block: u64) -> Option<&Overlay> {
        self.overlay.as_ref().filter(|overlay| !overlay.has(block))
    }

    /// Fills `buffer`.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        for piece in pieces(offset, buffer.len() as u64) {
            let _beside = self.locks.read(piece.block);
            let part = &mut buffer[piece.of_range];
            match self.base(piece.block) {
                Some(overlay) => overlay.read_base(piece.offset, part)?,
                None => self.file.read_exact_at(part, piece.offset)?,
            }
        }
        Ok(())
    }

    /// Keeps `data`: the page cache of the kernel has it when this returns, which outlives this process. The kernel
    /// copies page by page and looks only between two of them whether the process is killed (mm/filemap.c:
    /// generic_perform_write; fs/iomap/buffered-io.c: iomap_write_iter), so that no sector has a part of it.
    pub fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        for piece in pieces(offset, data.len() as u64) {
            let _alone = self.locks.write(piece.block);
            let part = &data[piece.of_range.clone()];
            match self.base(piece.block) {
                Some(overlay) => self.copy_up(overlay, &piece, part)?,
                None => self.file.write_all_at(part, piece.offset)?,
            }
        }
        Ok(())
    }

    /// Copies a block from the base with `part` in it. If killed in between, the base remains visible.
    fn copy_up(&self, overlay: &Overlay, piece: &Piece, part: &[u8]) -> io::Result<()> {
        let start = piece.block * BLOCK;
        let mut whole = vec![0; BLOCK.min(self.size - start) as usize];
        if part.len() < whole.len() {
            overlay.read_base(start, &mut whole)?;
        }
        whole[piece.of_block.clone()].copy_from_slice(part);
        self.file.write_all_at(&whole, start)?;
        overlay.set(piece.block)
    }

    /// Like the above, with zeros, which are not stored.
    pub fn zero(&self, offset: u64, len: u64) -> io::Result<()> {
        if self.overlay.is_none() {
            return self.punch(offset, len);
        }
        for piece in pieces(offset, len) {
            let _alone = self.locks.write(piece.block);
            match self.base(piece.block) {
                Some(overlay) if piece.len() == BLOCK => {
                    self.punch(piece.offset, BLOCK)?;
                    overlay.set(piece.block)?;
                }
                Some(overlay) => self.copy_up(overlay, &piece, &vec![0; piece.len() as usize])?,
                None => self.punch(piece.offset, piece.len())?,
            }
        }
        Ok(())
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::fs::fallocate(&self.file, flags, offset, len) {
            // A file system without holes.
            Err(Errno::OPNOTSUPP) => {
                let zeros = vec![0; BLOCK as usize];
                pieces(offset, len).try_for_each(|piece| self.file.write_all_at(&zeros[piece.of_block], piece.offset))
            }
            outcome => Ok(outcome?),
        }
    }

    /// Return the stored extents of a range.
    pub fn extents(&self, offset: u64, len: u64) -> io::Result<Vec<Extent>> {
        let mut all = Vec::new();
        let Some(overlay) = &self.overlay else {
            self.own_extents(offset, len, &mut all)?;
            return Ok(all);
        };
        for piece in pieces(offset, len) {
            if overlay.has(piece.block) {
                self.own_extents(piece.offset, piece.len(), &mut all)?;
            } else {
                join(&mut all, Extent { len: piece.len(), is_hole: !overlay.covers(piece.offset) });
            }
        }
        Ok(all)
    }

    fn own_extents(&self, offset: u64, len: u64, all: &mut Vec<Extent>) -> io::Result<()> {
        let (mut at, end) = (offset, offset + len);
        // lseek(2): ENXIO where there is no more data up to the end of the file.
        let seek = |to: SeekFrom| match rustix::fs::seek(&self.file, to) {
            Err(Errno::NXIO) => Ok(end),
            outcome => outcome.map(|position| position.min(end)),
        };
        while at < end {
            let data = seek(SeekFrom::Data(at))?;
            join(all, Extent { len: data - at, is_hole: true });
            at = if data < end { seek(SeekFrom::Hole(data))? } else { end };
            join(all, Extent { len: at - data, is_hole: false });
        }
        Ok(())
    }
}
