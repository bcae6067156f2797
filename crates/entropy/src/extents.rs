//! Data extents of a file, and the division of all data into items of work.

use std::fs::File;
use std::io;
use std::ops::Range;

use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use rustix::io::Errno;

use crate::walk::Regular;

/// Longest piece of a file that is read at a time, and least length of an item: a multiple of every chunk. Cutting
/// deflate's stream there, each part with the window before it, changes its length by less than 0.1 % (a test of
/// `compress.rs` says so); a sample of 1 GB is 3,800 of them.
pub const EXTENT: u64 = 256 * 1024;

/// Opens a file for reading: never through a symbolic link that took its place, and never waiting for a FIFO.
pub fn open_file(file: &Regular) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(open(&file.path, flags, Mode::empty())?.into())
}

/// Ranges of a file that hold data, one after another; what lies between them are holes.
#[derive(Debug)]
pub struct Ranges {
    /// The file, where its holes are requested.
    sparse: Option<File>,
    at: u64,
    end: u64,
}

impl Ranges {
    /// Ranges of `file`.
    ///
    /// One that cannot be opened, or whose file system does not tell holes, is data from its beginning to its end.
    pub fn new(file: &Regular) -> Self {
        let sparse = if file.allocated < file.size { open_file(file).ok() } else { None };
        Self { sparse, at: 0, end: file.size }
    }
}

impl Iterator for Ranges {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        if self.at >= self.end {
            return None;
        }
        let range = match &self.sparse {
            None => self.at..self.end,
            Some(file) => match seek(file, SeekFrom::Data(self.at)) {
                Ok(start) if start >= self.end => return None,
                Ok(start) => {
                    let end = seek(file, SeekFrom::Hole(start)).unwrap_or(self.end);
                    start..end.clamp(start + 1, self.end)
                }
                // "beyond the last data": what is left is a hole (lseek(2)).
                Err(Errno::NXIO) => return None,
                Err(_) => self.at..self.end,
            },
        };
        self.at = range.end;
        Some(range)
    }
}

/// Extents of a file: its data ranges, cut at multiples of [`EXTENT`].
#[derive(Debug)]
pub struct Extents {
    ranges: Ranges,
    left: Range<u64>,
}

impl Extents {
    /// Extents of `file`.
    pub fn new(file: &Regular) -> Self {
        Self { ranges: Ranges::new(file), left: 0..0 }
    }
}

impl Iterator for Extents {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        if self.left.is_empty() {
            self.left = self.ranges.next()?;
        }
        let start = self.left.start;
        self.left.start = self.left.end.min((start / EXTENT + 1) * EXTENT);
        Some(start..self.left.start)
    }
}

/// Packs extents into items of [`EXTENT`] bytes or more.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packer {
    filled: u64,
    /// Items that are full.
    items: u64,
}

impl Packer {
    /// Adds an extent; returns whether it was the last of its item.
    pub fn add(&mut self, len: u64) -> bool {
        self.filled += len;
        let full = self.filled >= EXTENT;
        if full {
            self.filled = 0;
            self.items += 1;
        }
        full
    }

    /// Items so far, the last one included that is not full.
    pub fn items(&self) -> u64 {
        self.items + u64::from(self.filled > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt};
    use std::path::Path;

    fn regular(path: &Path) -> Regular {
        let file_metadata = std::fs::metadata(path).unwrap();
        Regular { path: path.to_owned(), size: file_metadata.len(), allocated: file_metadata.blocks() * 512 }
    }

    #[test]
    fn extents_end_at_multiples() {
        let file = Regular { path: "none".into(), size: 2 * EXTENT + 5, allocated: u64::MAX };
        let extents: Vec<_> = Extents::new(&file).collect();
        assert_eq!(extents, [0..EXTENT, EXTENT..2 * EXTENT, 2 * EXTENT..2 * EXTENT + 5]);
        assert_eq!(Extents::new(&Regular { size: 0, ..file }).count(), 0);
    }

    #[test]
    fn holes_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        let file = File::create(&path).unwrap();
        file.set_len(10 << 20).unwrap();
        file.write_all_at(&[1; 8192], 1 << 20).unwrap();
        file.write_all_at(&[1; 4096], 5 << 20).unwrap();
        let extents: Vec<_> = Extents::new(&regular(&path)).collect();
        assert_eq!(extents, [1 << 20..(1 << 20) + 8192, 5 << 20..(5 << 20) + 4096]);
        file.set_len(0).unwrap();
        file.set_len(1 << 40).unwrap();
        assert_eq!(Extents::new(&regular(&path)).count(), 0, "a file that is one hole");
    }

    #[test]
    fn an_item_is_at_least_one_extent_and_less_than_two() {
        let mut packer = Packer::default();
        assert_eq!(packer.items(), 0);
        assert!(packer.add(EXTENT));
        assert!(!packer.add(EXTENT - 1));
        assert_eq!(packer.items(), 2);
        assert!(packer.add(EXTENT));
        assert_eq!(packer.items(), 2);
    }
}
