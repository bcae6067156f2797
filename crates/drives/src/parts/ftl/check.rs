//! Invariants of the translation layer, and recovery of the mapping after a power loss.

use super::Ftl;
use super::blocks::{Blocks, NONE, State};
use super::frontier::{FRONTIERS, Frontier};
use super::map::{DIRTY, UNMAPPED};
use super::victim::Collection;
use super::work::Placement;

/// A violated condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl Ftl {
    /// Counts everything afresh and compares: valid pages and units of every block, pages in use, free blocks.
    ///
    /// # Errors
    /// The first thing that does not add up.
    pub fn check(&self) -> Result<(), Broken> {
        let broken = |what: String| Err(Broken(what));
        if self.params.in_place {
            return Ok(());
        }
        let (live, valid) = self.count();
        for (number, block) in self.blocks.all.iter().enumerate() {
            if (block.live, block.valid) != (live[number], valid[number]) {
                return broken(format!(
                    "block {number} counts {} units in {} pages and holds {} in {}",
                    block.live, block.valid, live[number], valid[number]
                ));
            }
            if block.live > 0 && !matches!(block.state, State::Open | State::Closed | State::Victim) {
                return broken(format!("block {number} is {:?} and holds valid data", block.state));
            }
            let mut logged = self.blocks.logged(number as u32);
            logged.retain(|page| self.block_of_page(*page) == Some(number as u32));
            logged.sort_unstable();
            logged.dedup();
            if logged.len() != block.valid as usize {
                return broken(format!("block {number} knows {} of its {} valid pages", logged.len(), block.valid));
            }
        }
        let free = self.blocks.all.iter().filter(|block| block.state == State::Free).count();
        if free != self.free_blocks() as usize {
            return broken(format!("{free} blocks are free, {} are counted", self.free_blocks()));
        }
        let used = (0..self.map.pages()).filter(|page| self.map.get(*page) != UNMAPPED).count() as u64;
        if used != self.used_pages {
            return broken(format!("{used} pages hold data, {} are counted", self.used_pages));
        }
        self.pslc.as_ref().map_or(Ok(()), |pslc| pslc.check().map_err(Broken))
    }

    fn block_of_page(&self, page: u32) -> Option<u32> {
        let at = self.map.get(page) & !DIRTY;
        (at != UNMAPPED).then(|| self.map.block_of(at))
    }

    /// Valid units and pages of every block, from the map alone.
    fn count(&self) -> (Vec<u32>, Vec<u32>) {
        let count = self.blocks.all.len();
        let (mut live, mut valid) = (vec![0; count], vec![0; count]);
        for page in 0..self.map.pages() {
            if let Some(block) = self.block_of_page(page) {
                live[block as usize] += self.map.size(page);
                valid[block as usize] += 1;
            }
        }
        (live, valid)
    }

    /// Power comes back: the write buffer is empty, placements in `lost` never reached the flash (the newest last),
    /// open blocks are closed where they are, and everything that can be counted is counted afresh from the map.
    ///
    /// The drive holds back the erase of a block until what replaces its data is programmed, so what a lost placement
    /// replaced is still there.
    pub fn recover(&mut self, lost: &[Placement]) {
        for (page, _) in std::mem::take(&mut self.buffer) {
            self.map.set(page, self.map.get(page) & !DIRTY);
        }
        for placement in lost.iter().rev() {
            if self.map.get(placement.page) == placement.place {
                self.map.place(placement.page, placement.old, placement.old_units);
                self.put_back(placement.page);
            }
        }
        let block_units = self.params.block_units;
        let (live, valid) = self.count();
        let mut blocks = Blocks::restored(&self.blocks, &self.params, &live, &valid);
        for frontier in &self.frontiers {
            if frontier.block != NONE {
                self.counters.padding += u64::from(block_units - frontier.filled);
                blocks.close(frontier.block, self.clock, self.clock);
            }
        }
        if self.collection.victim != NONE {
            blocks.close(self.collection.victim, self.clock, self.clock);
        }
        self.collection = Collection::default();
        self.blocks = blocks;
        self.frontiers = [Frontier::nowhere(&self.params); FRONTIERS];
        self.used_pages = (0..self.map.pages()).filter(|page| self.map.get(*page) != UNMAPPED).count() as u64;
    }

    /// The log of the block that a page lies in names it again.
    fn put_back(&mut self, page: u32) {
        let Some(block) = self.block_of_page(page) else { return };
        self.blocks.write_out(block);
        let log = &mut self.blocks.logs[block as usize];
        if !log.contains(&page) {
            log.push(page);
            self.blocks.entries += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::ftl::pslc::tests::with_cache;
    use crate::parts::ftl::{PAGE_UNITS, PslcParams, Untimed, WhenFull};

    /// Written once over, and a part again; the last pages are in the pseudo-SLC cache.
    fn written() -> Ftl {
        let (pass_units, when_full) = (4, WhenFull::Fold);
        let mut ftl = with_cache(PslcParams { pass_units, fixed_pages: 10, dynamic_pages: 0, bits: 3, when_full });
        for page in (0..1000).chain(0..100) {
            ftl.write(page, PAGE_UNITS, &mut Untimed);
        }
        ftl
    }

    /// Damages a valid state and returns the violation that the check reports.
    fn said_of(damage: impl FnOnce(&mut Ftl)) -> String {
        let mut ftl = written();
        assert_eq!(ftl.check(), Ok(()));
        damage(&mut ftl);
        ftl.check().expect_err("it is damaged").0
    }

    #[test]
    fn whatever_does_not_add_up_is_noticed() {
        let in_use = |ftl: &Ftl| (0..40).find(|block| ftl.blocks.all[*block].valid > 0).expect("data is somewhere");
        let free = |ftl: &Ftl| (0..40).find(|block| ftl.blocks.all[*block].state == State::Free).expect("one is free");
        let counts = said_of(|ftl| {
            let block = in_use(ftl);
            ftl.blocks.all[block].live += 1;
        });
        assert!(counts.contains("counts") && counts.contains("holds"), "{counts}");
        let state = said_of(|ftl| {
            let block = in_use(ftl);
            ftl.blocks.all[block].state = State::Free;
        });
        assert!(state.contains("is Free and holds valid data"), "{state}");
        let log = said_of(|ftl| {
            let block = in_use(ftl);
            ftl.blocks.logs[block].clear();
        });
        assert!(log.contains("knows 0 of its"), "{log}");
        let blocks = said_of(|ftl| {
            let block = free(ftl);
            ftl.blocks.all[block].state = State::Closed;
        });
        assert!(blocks.contains("blocks are free"), "{blocks}");
        assert_eq!(said_of(|ftl| ftl.used_pages += 1), "1000 pages hold data, 1001 are counted");
    }
}
