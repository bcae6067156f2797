//! Garbage collection, paced by what the host writes.
//!
//! When a victim with v units of valid data in a block of C is chosen, C - v units come free for it. Therefore
//! v / (C - v) units are relocated for every unit that the host writes, and the victim is empty just when the host has
//! used what it frees. No write waits for a whole block, and the pace depends on counts only, not on time.

use super::Ftl;
use super::blocks::{NONE, State};
use super::map::DIRTY;
use super::params::{PAGE_UNITS, VictimPolicy};
use super::work::{FlashWork, Origin};

/// Log entries collected together.
const BATCH: usize = 64;
/// Log entries whose map entries are loaded together, a multiple of the batch: more misses at once than one batch has.
const TOUCHED: usize = 4 * BATCH;
/// Free blocks that the host does not take: a victim may take one and a part before it gives its own back.
const RESERVE: u32 = 2;
/// Number of victims after which the wear of blocks is examined.
const LEVEL_EVERY: u64 = 64;

impl Ftl {
    /// Collects as much as `units` of host data ask for.
    #[inline]
    pub(super) fn collect_for(&mut self, units: u32, flash: &mut impl FlashWork) {
        if self.collection.victim == NONE {
            if self.blocks.free_count() > self.params.free_low {
                return;
            }
            self.choose_victim();
        }
        self.collection.due += f64::from(units) * self.collection.ratio;
        if self.collection.due > 0.0 {
            self.collect_due(flash);
        }
    }

    fn collect_due(&mut self, flash: &mut impl FlashWork) {
        while self.collection.due > 0.0 && !self.write_protected {
            if self.collection.victim == NONE {
                if self.blocks.free_count() <= self.params.free_low {
                    self.choose_victim();
                }
                self.collection.due = 0.0;
                return;
            }
            let moved = self.relocate_some(flash);
            self.collection.due -= f64::from(moved);
        }
    }

    /// The host is about to take a free block: it never takes those that relocation may need.
    #[cold]
    pub(super) fn make_room(&mut self, flash: &mut impl FlashWork) {
        while self.blocks.free_count() <= RESERVE {
            if self.collection.victim == NONE && !self.choose_victim() {
                return;
            }
            self.relocate_some(flash);
            if self.write_protected {
                return;
            }
        }
    }

    /// Relocates a batch, and more if that took a block of the reserve, until victims have given it back.
    fn relocate_some(&mut self, flash: &mut impl FlashWork) -> u32 {
        let mut moved = self.relocate_batch(flash);
        while self.blocks.free_count() < RESERVE && !self.write_protected {
            if self.collection.victim == NONE && !self.choose_victim() {
                break;
            }
            moved += self.relocate_batch(flash);
        }
        moved
    }

    /// Collects one batch while the drive is idle, until enough blocks are free; returns whether it did.
    pub fn collect_idle(&mut self, flash: &mut impl FlashWork) -> bool {
        if self.write_protected || self.collection.victim == NONE && self.blocks.free_count() >= self.params.free_high {
            return false;
        }
        if self.collection.victim == NONE && !self.choose_victim() {
            return false;
        }
        // A block that is nearly full of valid data gives back too little for what it costs in wear.
        let live = self.blocks.all[self.collection.victim as usize].live;
        if self.collection.cursor == 0 && f64::from(live) > 0.9 * f64::from(self.params.block_units) {
            return false;
        }
        let moved = self.relocate_some(flash);
        self.collection.due = (self.collection.due - f64::from(moved)).max(0.0);
        true
    }

    /// Chooses a victim; returns whether there is one.
    fn choose_victim(&mut self) -> bool {
        self.collection.victims += 1;
        let levelled = self.wear_victim();
        let policy = if self.blocks.free_count() > RESERVE { self.params.victims } else { VictimPolicy::Greedy };
        let Some(block) = levelled.or_else(|| self.blocks.victim(policy, self.clock)) else {
            return false;
        };
        self.counters.levelled += u64::from(levelled.is_some());
        self.blocks.begin_collection(block);
        let live = self.blocks.all[block as usize].live;
        self.collection.begin(block, live, self.params.block_units);
        true
    }

    /// A block that was erased much less often than others holds cold data: moving it lets the block be used.
    fn wear_victim(&self) -> Option<u32> {
        let gap = self.params.wear_gap?;
        if !self.collection.victims.is_multiple_of(LEVEL_EVERY) || self.blocks.free_count() <= RESERVE {
            return None;
        }
        let block = self.blocks.least_worn()?;
        (self.blocks.most_erases - self.blocks.all[block as usize].erases > gap).then_some(block)
    }

    /// Relocates the valid units among the next entries of the victim; returns their number.
    fn relocate_batch(&mut self, flash: &mut impl FlashWork) -> u32 {
        let victim = self.collection.victim;
        let cursor = self.collection.cursor;
        let mut pages = [0_u32; BATCH];
        let mut count = 0;
        let log = &self.blocks.logs[victim as usize];
        if cursor.is_multiple_of(TOUCHED) {
            self.map.touch(log[cursor..log.len().min(cursor + TOUCHED)].iter().copied());
        }
        let end = log.len().min(cursor + BATCH);
        for &page in &log[cursor..end] {
            pages[count] = page;
            count += usize::from(self.map.block_of(self.map.get(page) & !DIRTY) == victim);
        }
        let over = end == log.len();
        let frontier = &self.frontiers[self.frontier_of_relocated(victim)];
        let room = self.params.block_units - frontier.filled;
        if self.blocks.free_count() == 0 && room < count as u32 * PAGE_UNITS {
            // Too many blocks have worn out: there is nowhere to move the data to.
            self.write_protected = true;
            return 0;
        }
        let moved = self.relocate(&pages[..count], victim, flash);
        self.collection.cursor = end;
        if over || self.blocks.all[victim as usize].live == 0 {
            self.collection.victim = NONE;
            self.blocks.erase(victim);
            self.counters.erases += 1;
            flash.erase(victim);
            self.check_end_of_life();
        }
        moved
    }

    /// Moves pages away from the victim; returns the units moved.
    #[inline]
    fn relocate(&mut self, pages: &[u32], victim: u32, flash: &mut impl FlashWork) -> u32 {
        let which = self.frontier_of_relocated(victim);
        let born = self.blocks.all[victim as usize].born;
        let (mut moved, mut count) = (0, 0);
        for &page in pages {
            let entry = self.map.get(page);
            let (block, flash_page) = self.map.split(entry & !DIRTY);
            if block != victim {
                // The same page was written to the block twice, and is moved already.
                continue;
            }
            let is_read = flash_page == std::mem::replace(&mut self.collection.last_page, flash_page);
            if !is_read {
                flash.read(victim, flash_page);
            }
            let units = self.map.size(page);
            self.note_birth(which, units, born);
            self.append(which, page, units, Origin::Relocated(entry), flash);
            moved += units;
            count += 1;
        }
        self.blocks.remove_from_victim(victim, moved, count);
        self.counters.relocated += u64::from(moved);
        moved
    }

    /// Without enough blocks for the logical pages and for collection, the drive takes no more writes.
    fn check_end_of_life(&mut self) {
        if self.blocks.bad == 0 {
            return;
        }
        let good = self.blocks.all.iter().filter(|block| !matches!(block.state, State::Bad | State::Spare)).count();
        let needed = (self.params.pages * u64::from(PAGE_UNITS)).div_ceil(u64::from(self.params.block_units));
        self.write_protected |= (good as u64) < needed + u64::from(self.params.free_low) + 3;
    }
}

#[cfg(test)]
mod tests;
