//! Logs of blocks that hold many small pages: entries of pages that moved on are dropped, so that memory stays bounded.

use super::Ftl;
use super::blocks::State;
use super::map::DIRTY;

impl Ftl {
    /// Keeps the logs of compressed drives below one and a half times the logical pages: the blocks whose logs are
    /// the most out of date are gone through, until an eighth of the pages is made room for.
    pub(super) fn keep_logs_short(&mut self) {
        let most = self.params.pages + self.params.pages / 2;
        if !self.params.compressed || self.blocks.entries <= most {
            return;
        }
        let stale =
            |block: &u32| self.blocks.logs[*block as usize].len() - self.blocks.all[*block as usize].valid as usize;
        let closed = |block: &u32| self.blocks.all[*block as usize].state == State::Closed;
        let mut order: Vec<u32> = (0..self.blocks.all.len() as u32).filter(closed).collect();
        order.sort_by_key(|block| (std::cmp::Reverse(stale(block)), *block));
        for block in order {
            if self.blocks.entries <= most - self.params.pages / 8 {
                break;
            }
            self.compact(block);
        }
    }

    fn compact(&mut self, block: u32) {
        let log = &mut self.blocks.logs[block as usize];
        let before = log.len();
        log.retain(|page| self.map.block_of(self.map.get(*page) & !DIRTY) == block);
        log.shrink_to_fit();
        self.blocks.entries -= (before - log.len()) as u64;
    }
}
