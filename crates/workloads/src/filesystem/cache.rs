//! The page cache: a byte of state for each block of the file system, a clock hand that evicts, and the queue of what
//! was made dirty, oldest first.

use std::collections::VecDeque;

use hotband_units::Instant;

/// The block is in memory.
pub const CACHED: u8 = 1;
/// Used since the clock hand passed.
const REFERENCED: u8 = 2;
/// Differs from the drive.
pub const DIRTY: u8 = 4;
/// On its way to the drive.
pub const WRITEBACK: u8 = 8;
/// Allocated in memory; the file on the drive does not know it yet.
pub const FRESH: u8 = 16;
/// Part of the running transaction.
pub const RUNNING: u8 = 32;
/// Part of the transaction that is being committed.
pub const COMMITTING: u8 = 64;
/// Metadata.
pub const META: u8 = 128;

/// Data that may not leave memory.
const PINNED: u8 = DIRTY | WRITEBACK | RUNNING | COMMITTING;

/// Blocks of a line.
const LINE: usize = 64;

/// Blocks that were made dirty together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soiled {
    /// When.
    pub at: Instant,
    /// First block.
    pub start: u32,
    /// Blocks.
    pub len: u32,
    /// File that they belong to; `u32::MAX` for metadata.
    pub file: u32,
}

/// Pages in memory.
#[derive(Clone, Debug)]
pub struct PageCache {
    state: Vec<u8>,
    /// Pages in memory of each line of blocks, so that the hand passes the empty ones quickly.
    lines: Vec<u8>,
    most: u64,
    cached: u64,
    dirty: u64,
    hand: usize,
    soiled: VecDeque<Soiled>,
    /// Pages evicted.
    pub evicted: u64,
}

impl PageCache {
    /// An empty cache of `most` pages before `blocks` blocks.
    pub fn new(blocks: u32, most: u64) -> Self {
        Self {
            state: vec![0; blocks as usize],
            lines: vec![0; blocks.div_ceil(LINE as u32) as usize],
            most: most.max(64),
            cached: 0,
            dirty: 0,
            hand: 0,
            soiled: VecDeque::new(),
            evicted: 0,
        }
    }

    /// Flags of a block.
    #[inline]
    pub fn state(&self, block: u32) -> u8 {
        self.state[block as usize]
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub fn has(&self, block: u32, flags: u8) -> bool {
        self.state[block as usize] & flags != 0
    }

    /// Sets flags that no count depends on.
    pub fn set(&mut self, block: u32, flags: u8) {
        debug_assert_eq!(flags & (CACHED | DIRTY), 0);
        self.state[block as usize] |= flags;
    }

    /// Clears flags that no count depends on.
    pub fn clear(&mut self, block: u32, flags: u8) {
        debug_assert_eq!(flags & (CACHED | DIRTY), 0);
        self.state[block as usize] &= !flags;
    }

    /// Whether a block is in memory; if so it is used now.
    #[inline]
    pub fn touch(&mut self, block: u32) -> bool {
        let state = &mut self.state[block as usize];
        let cached = *state & CACHED != 0;
        *state |= if cached { REFERENCED } else { 0 };
        cached
    }

    /// Brings a block into memory.
    pub fn insert(&mut self, block: u32) {
        let state = &mut self.state[block as usize];
        if *state & CACHED == 0 {
            *state |= CACHED;
            self.cached += 1;
            self.lines[block as usize / LINE] += 1;
            while self.cached > self.most && self.evict(block as usize) {}
        }
    }

    /// Makes a block dirty; whether it was clean.
    pub fn soil(&mut self, block: u32) -> bool {
        self.insert(block);
        let state = &mut self.state[block as usize];
        let clean = *state & DIRTY == 0;
        *state |= DIRTY | REFERENCED;
        self.dirty += u64::from(clean);
        clean
    }

    /// Queues blocks for write-back.
    pub fn queue(&mut self, soiled: Soiled) {
        self.soiled.push_back(soiled);
    }

    /// Marks a block as being written to the drive.
    pub fn write_back(&mut self, block: u32) {
        let state = &mut self.state[block as usize];
        debug_assert!(*state & DIRTY != 0);
        *state = *state & !(DIRTY | FRESH) | WRITEBACK;
        self.dirty -= 1;
    }

    /// Throws a block away: its file does not need it any more.
    pub fn forget(&mut self, block: u32) {
        let state = &mut self.state[block as usize];
        self.cached -= u64::from(*state & CACHED != 0);
        self.lines[block as usize / LINE] -= *state & CACHED;
        self.dirty -= u64::from(*state & DIRTY != 0);
        *state &= !(CACHED | REFERENCED | DIRTY | FRESH);
    }

    /// Dirty pages.
    pub fn dirty(&self) -> u64 {
        self.dirty
    }

    /// Pages that it holds at most, unless more may not leave it.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Oldest dirty data.
    pub fn oldest(&self) -> Option<&Soiled> {
        self.soiled.front()
    }

    /// Oldest dirty data, taken off the queue, or its remainder put back.
    pub fn take_oldest(&mut self) -> Option<Soiled> {
        self.soiled.pop_front()
    }

    /// Puts the rest of the oldest back.
    pub fn put_back(&mut self, rest: Soiled) {
        self.soiled.push_front(rest);
    }

    /// Second chance, in the order of the blocks: the first clean page, other than `keep`, that was not used since the
    /// hand passed. False if there is none.
    fn evict(&mut self, keep: usize) -> bool {
        let mut rounds = 0;
        while rounds < 3 {
            let at = self.next_line();
            if at >= self.state.len() {
                (self.hand, rounds) = (0, rounds + 1);
                continue;
            }
            self.hand = at + 1;
            let state = &mut self.state[at];
            if *state & CACHED == 0 || *state & PINNED != 0 || at == keep {
                continue;
            }
            if *state & REFERENCED != 0 {
                *state &= !REFERENCED;
                continue;
            }
            *state &= !CACHED;
            self.cached -= 1;
            self.lines[at / LINE] -= 1;
            self.evicted += 1;
            return true;
        }
        false
    }

    /// Position where the hand continues: here, or at the next line that has a page in memory.
    fn next_line(&self) -> usize {
        if !self.hand.is_multiple_of(LINE) {
            return self.hand;
        }
        let mut line = self.hand / LINE;
        while let Some(eight) = self.lines.get(line..line + 8) {
            let word = u64::from_le_bytes(eight.try_into().expect("eight lines"));
            if word != 0 {
                return (line + word.trailing_zeros() as usize / 8) * LINE;
            }
            line += 8;
        }
        while self.lines.get(line) == Some(&0) {
            line += 1;
        }
        line * LINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_used_page_gets_a_second_chance_and_a_dirty_one_stays() {
        let mut cache = PageCache::new(1000, 64);
        (0..64).for_each(|block| cache.insert(block));
        assert!(cache.touch(0) && !cache.touch(100));
        assert!(cache.soil(1) && !cache.soil(1), "clean the first time");
        cache.insert(100);
        assert!(cache.touch(0) && cache.touch(1) && !cache.touch(2), "2 is the first that was not used");
        assert_eq!((cache.cached, cache.dirty(), cache.evicted), (64, 1, 1));
        cache.write_back(1);
        assert!(cache.has(1, WRITEBACK) && cache.dirty() == 0);
    }

    proptest! {
        #[test]
        fn counts_are_those_of_the_flags(steps in prop::collection::vec((0_u8..4, 0_u32..300), 1..600)) {
            let mut cache = PageCache::new(300, 64);
            for (step, block) in steps {
                let bound = 64 + cache.dirty();
                match step {
                    0 => {
                        cache.insert(block);
                        prop_assert!(cache.cached <= bound + 1, "only what is dirty may be too many");
                    }
                    1 => { cache.soil(block); }
                    2 => cache.forget(block),
                    _ if cache.has(block, DIRTY) => {
                        cache.write_back(block);
                        cache.clear(block, WRITEBACK);
                    }
                    _ => {}
                }
                let lines: u64 = cache.lines.iter().map(|line| u64::from(*line)).sum();
                prop_assert_eq!(cache.cached, lines);
                let count = |flag| (0..300).filter(|block| cache.has(*block, flag)).count() as u64;
                prop_assert_eq!((cache.cached, cache.dirty()), (count(CACHED), count(DIRTY)));
            }
        }
    }
}
