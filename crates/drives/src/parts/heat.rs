//! How often each block is read: counts that fade, in a table of fixed size.
//!
//! A count-min sketch whose two counters lie in one cache line: a drive has no room to count every block of a disk,
//! and neither has the model. A count is never too low; blocks that share both counters make it too high.
//! The sketch is Cormode and Muthukrishnan's (Journal of Algorithms 55, 2005); ageing by halving is that of TinyLFU
//! (Einziger, Friedman and Manes, ACM Transactions on Storage 13, 2017).

/// Counters of a cache line.
const LINE: usize = 64;

/// Fading counts of reads by block.
#[derive(Clone, Debug)]
pub struct Heat {
    counts: Vec<u8>,
    lines: u64,
}

impl Heat {
    /// Counts for about `blocks` blocks at a time: four counters for each.
    pub fn new(blocks: usize) -> Self {
        let lines = (4 * blocks).next_power_of_two().max(LINE) / LINE;
        Self { counts: vec![0; lines * LINE], lines: lines as u64 }
    }

    /// Where the two counters of `block` are.
    #[inline]
    fn places(&self, block: u32) -> [usize; 2] {
        // The finalizer of SplitMix64: every bit of the block moves every bit of the hash.
        let mut hash = u64::from(block).wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 31;
        let line = (hash & (self.lines - 1)) as usize * LINE;
        let one = (hash >> 52) as usize % LINE;
        let two = (one + 1 + (hash >> 40) as usize % (LINE - 1)) % LINE;
        [line + one, line + two]
    }

    /// Counts a read of `block`; returns its count.
    #[inline]
    pub fn read(&mut self, block: u32) -> u8 {
        let [one, two] = self.places(block);
        let count = self.counts[one].min(self.counts[two]).saturating_add(1);
        for place in [one, two] {
            self.counts[place] = self.counts[place].max(count);
        }
        count
    }

    /// Halves every count.
    pub fn fade(&mut self) {
        for count in &mut self.counts {
            *count >>= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_count_is_never_too_low(blocks in proptest::collection::vec(0_u32..200, 1..400)) {
            let mut heat = Heat::new(100);
            let mut exact = [0_u8; 200];
            for block in blocks {
                let truth = &mut exact[block as usize];
                *truth = truth.saturating_add(1);
                prop_assert!(heat.read(block) >= *truth);
            }
        }
    }

    #[test]
    fn few_counts_are_too_high_at_the_intended_load() {
        let mut heat = Heat::new(10_000);
        let high = (0..10_000).filter(|block| heat.read(block * 977) > 1).count();
        assert!(high < 1_000, "{high} of 10,000 blocks read once look as if read twice");
    }

    #[test]
    fn counts_fade() {
        let mut heat = Heat::new(100);
        for _ in 0..8 {
            heat.read(7);
        }
        heat.fade();
        assert_eq!(heat.read(7), 5);
    }
}
