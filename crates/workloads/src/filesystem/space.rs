//! Free blocks, and their allocation to files: at the goal, else the best fit, else several extents.

use super::bits::Bits;
use super::geometry::{GROUP, Geometry};

/// Blocks of the longest extent (ee_len of ext4: 15 bits for blocks that are written).
pub const LONGEST_EXTENT: u32 = 32_768;

/// First block and number of blocks.
pub type Extent = (u32, u32);

/// The free blocks.
#[derive(Clone, Debug)]
pub struct Space {
    used: Bits,
    free: u32,
    /// Free blocks of each group.
    group_free: Vec<u32>,
    /// No free run within the group is longer than this.
    longest: Vec<u32>,
}

impl Space {
    /// A new file system: all but the metadata is free.
    pub fn new(geometry: &Geometry) -> Self {
        let groups = geometry.groups as usize;
        let mut space = Self {
            used: Bits::new(geometry.blocks()),
            free: geometry.blocks(),
            group_free: vec![GROUP; groups],
            longest: vec![GROUP; groups],
        };
        let journal = std::iter::once((geometry.journal, geometry.journal_len));
        geometry.fixed().chain(journal).for_each(|extent| space.take(extent));
        space
    }

    /// Free blocks.
    pub fn free_blocks(&self) -> u32 {
        self.free
    }

    /// Whether a block is in use.
    #[cfg(test)]
    pub fn is_used(&self, block: u32) -> bool {
        self.used.get(block)
    }

    /// Blocks in use.
    #[cfg(test)]
    pub fn used_blocks(&self) -> u32 {
        self.used.count(0, self.group_free.len() as u32 * GROUP)
    }

    fn by_group((start, len): Extent, mut each: impl FnMut(usize, u32)) {
        let (mut at, to) = (start, start + len);
        while at < to {
            let count = (GROUP - at % GROUP).min(to - at);
            each((at / GROUP) as usize, count);
            at += count;
        }
    }

    fn take(&mut self, extent: Extent) {
        debug_assert_eq!(self.used.count(extent.0, extent.1), 0, "taken twice");
        self.used.fill(extent.0, extent.1, true);
        self.free -= extent.1;
        Self::by_group(extent, |group, count| self.group_free[group] -= count);
    }

    /// Gives blocks back.
    pub fn release(&mut self, extent: Extent) {
        debug_assert_eq!(self.used.count(extent.0, extent.1), extent.1, "given back twice");
        self.used.fill(extent.0, extent.1, false);
        self.free += extent.1;
        Self::by_group(extent, |group, count| {
            self.group_free[group] += count;
            self.longest[group] = GROUP;
        });
    }

    /// Appends extents of `want` blocks in all, near `goal`; false, and nothing taken, if they are not free.
    pub fn allocate(&mut self, goal: u32, want: u32, out: &mut Vec<Extent>) -> bool {
        if want > self.free {
            return false;
        }
        let (mut goal, mut left) = (goal.min(self.group_free.len() as u32 * GROUP - 1), want);
        while left > 0 {
            let need = left.min(LONGEST_EXTENT);
            let at_goal = self.run_at(goal, need);
            let extent = if at_goal == need {
                (goal, need)
            } else {
                self.best_fit(goal / GROUP, need).unwrap_or_else(|| self.longest_run())
            };
            self.take(extent);
            out.push(extent);
            left -= extent.1;
            goal = (extent.0 + extent.1) % (self.group_free.len() as u32 * GROUP);
        }
        true
    }

    /// Free blocks from `at` on, at most `most`.
    fn run_at(&self, at: u32, most: u32) -> u32 {
        let to = (at + most).min(self.group_free.len() as u32 * GROUP);
        self.used.find(at, to, true) - at
    }

    /// The shortest free run of at least `need` blocks in the first group from `first` on that has one.
    fn best_fit(&mut self, first: u32, need: u32) -> Option<Extent> {
        let groups = self.group_free.len() as u32;
        for group in (first..groups).chain(0..first) {
            let index = group as usize;
            if self.longest[index] < need || self.group_free[index] < need {
                continue;
            }
            let (best, longest) = self.scan(group, need);
            if let Some(start) = best {
                return Some((start, need));
            }
            self.longest[index] = longest;
        }
        None
    }

    /// The start of the shortest run of at least `need`, and the length of the longest one.
    fn scan(&self, group: u32, need: u32) -> (Option<u32>, u32) {
        let (mut at, to) = (group * GROUP, (group + 1) * GROUP);
        let (mut best, mut best_len, mut longest) = (None, u32::MAX, 0);
        loop {
            let start = self.used.find(at, to, false);
            if start == to {
                return (best, longest);
            }
            at = self.used.find(start, to, true);
            let len = at - start;
            longest = longest.max(len);
            if len == need {
                return (Some(start), longest);
            }
            if len > need && len < best_len {
                (best, best_len) = (Some(start), len);
            }
        }
    }

    /// The longest run of any group, for a file that must be broken up.
    fn longest_run(&mut self) -> Extent {
        let mut best = (0, 0);
        for group in 0..self.group_free.len() {
            if self.longest[group].min(self.group_free[group]) <= best.1 {
                continue;
            }
            let (_, longest) = self.scan(group as u32, GROUP);
            self.longest[group] = longest;
            if longest > best.1 {
                let (start, _) = self.scan(group as u32, longest);
                best = (start.expect("a run of this length was just seen"), longest);
            }
        }
        assert!(best.1 > 0, "a block is free: the caller compared what it wants with what is free");
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn space() -> (Geometry, Space) {
        let geometry = Geometry::new(3 * u64::from(GROUP) * 4096, 65_536, None).expect("it fits");
        (geometry, Space::new(&geometry))
    }

    proptest! {
        #[test]
        fn no_block_is_given_twice_and_free_and_used_add_up(
            steps in prop::collection::vec((any::<bool>(), 0_u32..90_000, 1_u32..20_000), 1..60),
        ) {
            let (geometry, mut space) = space();
            let mut owned = vec![false; geometry.blocks() as usize];
            let mut files: Vec<Vec<Extent>> = Vec::new();
            for (create, goal, want) in steps {
                if create {
                    let (free, mut out) = (space.free_blocks(), Vec::new());
                    let got = space.allocate(goal, want, &mut out);
                    prop_assert_eq!(got, want <= free, "it is given whenever enough blocks are free");
                    prop_assert_eq!(out.iter().map(|extent| extent.1).sum::<u32>(), if got { want } else { 0 });
                    for block in out.iter().flat_map(|(start, len)| *start..start + len) {
                        prop_assert!(!std::mem::replace(&mut owned[block as usize], true), "{} twice", block);
                    }
                    files.push(out);
                } else if !files.is_empty() {
                    for extent in files.swap_remove(goal as usize % files.len()) {
                        owned[extent.0 as usize..(extent.0 + extent.1) as usize].fill(false);
                        space.release(extent);
                    }
                }
                prop_assert_eq!(space.free_blocks() + space.used_blocks(), geometry.blocks());
            }
        }
    }

    #[test]
    fn the_goal_comes_first_then_the_best_fit_then_pieces() {
        let (_, mut space) = space();
        let mut out = Vec::new();
        let first = space.used.find(2 * GROUP, 3 * GROUP, false);
        assert!(space.allocate(first, 100, &mut out));
        assert_eq!(out, [(first, 100)], "at the goal");
        space.release((first + 10, 20));
        space.release((first + 50, 5));
        out.clear();
        assert!(space.allocate(first, 5, &mut out));
        assert_eq!(out, [(first + 50, 5)], "the goal is taken: the run that is no longer than needed");
        out.clear();
        let all = space.free_blocks();
        assert!(space.allocate(first, all, &mut out));
        assert!(out.len() > 3 && out.contains(&(first + 10, 20)), "the last free blocks in pieces: {out:?}");
        assert!(!space.allocate(first, 1, &mut out), "full");
    }
}
