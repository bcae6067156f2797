//! A bitmap with searches for runs.

/// A bit per block.
#[derive(Clone, Debug)]
pub struct Bits {
    words: Vec<u64>,
    len: u32,
}

impl Bits {
    /// `len` bits, all clear.
    pub fn new(len: u32) -> Self {
        Self { words: vec![0; len.div_ceil(64) as usize], len }
    }

    /// Whether a bit is set.
    #[cfg(test)]
    pub fn get(&self, at: u32) -> bool {
        self.words[(at >> 6) as usize] >> (at & 63) & 1 != 0
    }

    /// Sets or clears `len` bits, a word at a time.
    pub fn fill(&mut self, from: u32, len: u32, on: bool) {
        let (mut at, to) = (from, from + len);
        while at < to {
            let (bit, count) = (at & 63, (64 - (at & 63)).min(to - at));
            let mask = (u64::MAX >> (64 - count)) << bit;
            let word = &mut self.words[(at >> 6) as usize];
            *word = if on { *word | mask } else { *word & !mask };
            at += count;
        }
    }

    /// Bits that are set in a range.
    pub fn count(&self, from: u32, len: u32) -> u32 {
        let (mut at, to, mut sum) = (from, from + len, 0);
        while at < to {
            let (bit, count) = (at & 63, (64 - (at & 63)).min(to - at));
            sum += ((self.words[(at >> 6) as usize] >> bit) & (u64::MAX >> (64 - count))).count_ones();
            at += count;
        }
        sum
    }

    /// The first bit from `from` on, below `to`, that is `on`; `to` where there is none.
    pub fn find(&self, from: u32, to: u32, on: bool) -> u32 {
        let to = to.min(self.len);
        if from >= to {
            return to;
        }
        let flip = if on { 0 } else { u64::MAX };
        let mut index = (from >> 6) as usize;
        let mut word = (self.words[index] ^ flip) & (u64::MAX << (from & 63));
        while word == 0 {
            index += 1;
            if index as u32 * 64 >= to {
                return to;
            }
            word = self.words[index] ^ flip;
        }
        (index as u32 * 64 + word.trailing_zeros()).min(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fills_counts_and_searches_agree_with_a_list(
            fills in prop::collection::vec((0_u32..300, 0_u32..200, any::<bool>()), 1..20), from in 0_u32..300,
        ) {
            let (mut bits, mut list) = (Bits::new(300), vec![false; 300]);
            for (at, len, on) in fills {
                let len = len.min(300 - at);
                bits.fill(at, len, on);
                list[at as usize..(at + len) as usize].fill(on);
            }
            for on in [true, false] {
                let expected = (from..300).find(|at| list[*at as usize] == on).unwrap_or(300);
                prop_assert_eq!(bits.find(from, 300, on), expected);
            }
            prop_assert_eq!(bits.count(from, 300 - from) as usize, list[from as usize..].iter().filter(|b| **b).count());
            prop_assert!((0..300).all(|at| bits.get(at) == list[at as usize]));
        }
    }
}
