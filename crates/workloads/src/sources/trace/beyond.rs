//! Placement of a trace's I/O on its volume, which may be smaller than what was recorded.

use super::file::TraceIo;
use super::spec::Beyond;

/// Mapping of the addresses of a stream to those of its volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    beyond: Beyond,
    /// Bytes of the volume, and of a logical block of its drives.
    size: u64,
    block: u64,
    /// End of the last I/O of the trace on this volume.
    end: u64,
}

impl Placement {
    /// For a volume of `size` bytes in blocks of `block`, of a trace that ends at `end` there.
    pub fn new(beyond: Beyond, size: u64, block: u64, end: u64) -> Self {
        Self { beyond, size, block: block.max(1), end }
    }

    /// First byte of an I/O on the volume. One that fits nowhere stays where it is, to be refused.
    pub fn offset(&self, io: &TraceIo) -> u64 {
        let fits = |end: Option<u64>| end.is_some_and(|end| end <= self.size);
        if self.end <= self.size || io.len > self.size {
            return io.offset;
        }
        let last = (self.size - io.len) / self.block * self.block;
        match self.beyond {
            Beyond::Refuse => io.offset,
            Beyond::Wrap if fits(io.offset.checked_add(io.len)) => io.offset,
            // One that would stand across the end of the volume is moved in front of it.
            Beyond::Wrap => (io.offset % self.size).min(last),
            Beyond::Scale => {
                let scaled = u128::from(io.offset) * u128::from(self.size) / u128::from(self.end);
                (scaled as u64 / self.block * self.block).min(last)
            }
        }
    }
}
