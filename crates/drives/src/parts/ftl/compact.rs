//! Logs of blocks that hold many small pages: entries of pages that moved on are dropped, so that memory stays bounded.

use super::map::DIRTY;
use super::{Ftl, NONE};

impl Ftl {
    /// Keeps the logs of compressed drives below five quarters of the logical pages.
    pub(super) fn keep_logs_short(&mut self) {
        if !self.params.compressed {
            return;
        }
        let most = self.params.pages / 4 * 5 + u64::from(self.params.block_units);
        if self.blocks.entries <= most {
            return;
        }
        for block in 0..self.blocks.all.len() as u32 {
            self.compact(block);
        }
    }

    fn compact(&mut self, block: u32) {
        let valid = self.blocks.all[block as usize].valid as usize;
        let log = &mut self.blocks.logs[block as usize];
        if self.collection.is_victim(block) || log.len() <= valid + valid / 8 {
            return;
        }
        let before = log.len();
        log.retain(|page| self.map.block_of(self.map.get(*page) & !DIRTY) == block);
        log.shrink_to(log.len());
        self.blocks.entries -= (before - log.len()) as u64;
    }
}

impl super::collect::Collection {
    fn is_victim(&self, block: u32) -> bool {
        block != NONE && self.victim_block() == block
    }
}
