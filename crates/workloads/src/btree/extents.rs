//! Extents of one size in a file: which are free, and which are kept for the last checkpoint.
//!
//! As in WiredTiger's block manager, an extent that the last completed checkpoint refers to is not used again before
//! the next one is complete; one that no checkpoint refers to is free at once. The first free one is used
//! (`block_allocation=best`: the smallest that fits, and all have the same size).

use crate::btree::shape::Area;

/// The extents of a file.
#[derive(Clone, Debug)]
pub struct Extents {
    area: Area,
    /// A bit per extent, set if it is free.
    free: Vec<u64>,
    /// A bit per word of `free`, set if the word has any.
    words: Vec<u64>,
    /// Every word of `words` before this one is zero.
    first: usize,
    /// Number of free ones.
    pub count: u64,
    /// Extents retained until the next checkpoint to settle its references is complete.
    kept: Vec<u32>,
    /// Kept until the running checkpoint is complete.
    leaving: Vec<u32>,
}

impl Extents {
    /// A file whose first `used` extents are used.
    pub fn new(area: Area, used: u64) -> Self {
        let words = (area.slots as usize).div_ceil(64);
        let mut extents = Self {
            area,
            free: vec![0; words],
            words: vec![0; words.div_ceil(64)],
            first: 0,
            count: 0,
            kept: Vec::new(),
            leaving: Vec::new(),
        };
        (used..area.slots).for_each(|slot| extents.release(slot as u32));
        extents.first = 0;
        extents
    }

    /// First byte of an extent on the volume.
    pub fn offset(&self, slot: u32) -> u64 {
        self.area.from + u64::from(slot) * self.area.extent
    }

    /// Bytes of an extent.
    pub fn extent(&self) -> u64 {
        self.area.extent
    }

    /// Takes the first free extent.
    pub fn allocate(&mut self) -> Option<u32> {
        while *self.words.get(self.first)? == 0 {
            self.first += 1;
        }
        let word = self.first * 64 + self.words[self.first].trailing_zeros() as usize;
        let slot = word * 64 + self.free[word].trailing_zeros() as usize;
        self.free[word] &= self.free[word] - 1;
        if self.free[word] == 0 {
            self.words[self.first] &= self.words[self.first] - 1;
        }
        self.count -= 1;
        Some(slot as u32)
    }

    /// Gives an extent back.
    pub fn release(&mut self, slot: u32) {
        let word = slot as usize / 64;
        debug_assert!(self.free[word] & (1 << (slot % 64)) == 0, "an extent is given back once");
        self.free[word] |= 1 << (slot % 64);
        self.words[word / 64] |= 1 << (word % 64);
        self.first = self.first.min(word / 64);
        self.count += 1;
    }

    /// Gives an extent back once the next checkpoint to settle is complete.
    pub fn keep(&mut self, slot: u32) {
        self.kept.push(slot);
    }

    /// Notes that the running checkpoint refers to none of the extents kept so far: they are free when it completes.
    pub fn settle(&mut self) {
        self.leaving.append(&mut self.kept);
    }

    /// Ends the running checkpoint; returns the extents that it does not refer to, in order, to be freed.
    pub fn take_leaving(&mut self) -> Vec<u32> {
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.sort_unstable();
        leaving
    }

    /// Whether an extent is free.
    #[cfg(test)]
    pub fn is_free(&self, slot: u32) -> bool {
        self.free[slot as usize / 64] & (1 << (slot % 64)) != 0
    }

    /// The extents retained until the running or the next checkpoint is complete.
    #[cfg(test)]
    pub fn kept(&self) -> impl Iterator<Item = u32> {
        self.kept.iter().chain(&self.leaving).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_extent_is_taken_and_kept_ones_come_back_in_order() {
        let mut extents = Extents::new(Area { from: 4096, extent: 8192, slots: 10_000 }, 9_000);
        assert_eq!((extents.count, extents.allocate(), extents.allocate()), (1000, Some(9000), Some(9001)));
        extents.release(17);
        extents.keep(5);
        extents.keep(3);
        assert_eq!((extents.allocate(), extents.allocate()), (Some(17), Some(9002)), "what is kept is not free");
        assert_eq!(extents.take_leaving(), []);
        extents.settle();
        extents.keep(4);
        assert_eq!(extents.take_leaving(), [3, 5]);
        assert_eq!(extents.offset(2), 4096 + 2 * 8192);
        let rest = std::iter::from_fn(|| extents.allocate()).count();
        assert_eq!((rest, extents.count), (997, 0));
    }
}
