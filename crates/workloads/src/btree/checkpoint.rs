//! Checkpoints: every dirty page is written to a new place, then the internal pages above, then the root.

use hotband_machine::Op;

use crate::btree::cache::flag;
use crate::btree::extents::Extents;
use crate::btree::shape::{GRAIN, INTERNAL};
use crate::btree::state::{BTree, DATA_STREAM, Stage, Timer, What};

impl BTree {
    /// The next checkpoint is due so long from now.
    pub(super) fn checkpoint_later(&mut self) {
        self.checkpoint.due = self.now + self.spec.checkpoint_every;
        self.later(self.checkpoint.due, Timer::Checkpoint);
    }

    pub(super) fn checkpoint_due(&mut self) {
        // A checkpoint that began before it was due sets the time anew when it is complete.
        if self.checkpoint.stage != Stage::Idle || self.now < self.checkpoint.due {
            return;
        }
        if self.journal.head == self.journal.tail {
            // Nothing changed: the last one is as good.
            self.checkpoint_later();
            return;
        }
        self.checkpoint.wanted = true;
        self.begin_checkpoint_if_wanted();
    }

    pub(super) fn begin_checkpoint_if_wanted(&mut self) {
        let long = self.journal.head - self.checkpoint.journal >= self.spec.checkpoint_journal;
        if self.checkpoint.stage != Stage::Idle || !(self.checkpoint.wanted || long) {
            return;
        }
        self.checkpoint.wanted = false;
        self.checkpoint.stage = Stage::Leaves;
        self.checkpoint.journal = self.journal.head;
        // Writes under way are part of it: it waits for them.
        for transfer in &mut self.transfers {
            if let What::Write { checkpoint, .. } = &mut transfer.what
                && transfer.left > 0
                && !*checkpoint
            {
                *checkpoint = true;
                self.checkpoint.under_way += 1;
            }
        }
        let slots = self.cache.slots.iter_mut().enumerate();
        let mut list: Vec<u32> = Vec::new();
        for (index, slot) in slots.filter(|(_, slot)| slot.flags & flag::DIRTY != 0) {
            slot.flags |= flag::CHECKPOINT;
            list.push(index as u32);
        }
        // In the order of the tree, the first one last.
        list.sort_unstable_by_key(|slot| std::cmp::Reverse(self.cache.slots[*slot as usize].page));
        self.checkpoint.list = list;
        self.pump_checkpoint();
    }

    /// Writes what may be written now, and continues to the next stage where all is.
    pub(super) fn pump_checkpoint(&mut self) {
        while self.checkpoint.under_way < self.spec.write_depth && self.checkpoint.stage == Stage::Leaves {
            let Some(slot) = self.checkpoint.list.pop() else { break };
            match self.cache.slots[slot as usize].flags {
                flags if flags & flag::CHECKPOINT == 0 => {}
                flags if flags & flag::WRITING != 0 => {
                    self.cache.set(slot, flag::HELD);
                    self.checkpoint.held += 1;
                }
                _ => self.write(slot, true),
            }
        }
        if self.checkpoint.stage == Stage::Leaves && self.has_written_all() {
            self.checkpoint.stage = Stage::Internals;
            self.checkpoint.settled += 1;
            self.files.iter_mut().for_each(Extents::settle);
            self.checkpoint.list = self.checkpoint.take_changed();
        }
        while self.checkpoint.under_way < self.spec.write_depth && self.checkpoint.stage == Stage::Internals {
            let Some(index) = self.checkpoint.list.pop() else { break };
            let extent = self.files[INTERNAL].allocate().expect("an internal page has at most two extents");
            self.checkpoint.under_way += 1;
            self.counts.internal += 1;
            let offset = self.files[INTERNAL].offset(extent);
            self.transfer(What::Internal { index, place: extent }, DATA_STREAM, Op::Write, offset, GRAIN);
        }
        if self.checkpoint.stage == Stage::Internals && self.has_written_all() {
            self.checkpoint.stage = Stage::Root;
            // Internal pages that it replaced are none of its own.
            self.files[INTERNAL].settle();
            self.transfer(What::Flush, DATA_STREAM, Op::Flush, 0, 0);
        }
    }

    fn has_written_all(&self) -> bool {
        self.checkpoint.list.is_empty() && self.checkpoint.under_way == 0 && self.checkpoint.held == 0
    }

    /// Takes the next step of a checkpoint: when the pages are durable, it writes the root; when that is written,
    /// it makes the root durable; then the checkpoint is complete.
    pub(super) fn checkpoint_goes_on(&mut self, what: What) {
        match what {
            What::Flush => self.transfer(What::Root, DATA_STREAM, Op::Write, self.shape.root, GRAIN),
            What::Root => self.transfer(What::RootFlush, DATA_STREAM, Op::Flush, 0, 0),
            _ => self.complete_checkpoint(),
        }
    }

    fn complete_checkpoint(&mut self) {
        self.counts.checkpoints += 1;
        self.checkpoint.stage = Stage::Idle;
        self.checkpoint.wanted = false;
        self.journal.tail = self.checkpoint.journal;
        for file in 0..self.files.len() {
            let leaving = self.files[file].take_leaving();
            if !self.spec.trim {
                for slot in leaving {
                    self.files[file].release(slot);
                }
                continue;
            }
            let runs = leaving.chunk_by(|page, next| page + 1 == *next);
            self.checkpoint.trims.extend(runs.map(|run| (file as u8, run[0], run.len() as u32)));
        }
        self.pump_trims();
        self.checkpoint_later();
        self.wake_stalled();
        self.relieve();
    }

    fn pump_trims(&mut self) {
        while self.checkpoint.trimming < self.spec.write_depth {
            let Some((file, slot, count)) = self.checkpoint.trims.pop() else { return };
            self.checkpoint.trimming += 1;
            let extents = &self.files[usize::from(file)];
            let (offset, len) = (extents.offset(slot), u64::from(count) * extents.extent());
            self.counts.trimmed_bytes += len;
            self.transfer(What::Trim { file, slot, count }, DATA_STREAM, Op::Trim, offset, len);
        }
    }

    /// Trimmed extents are free now, and not earlier: a write to them would have raced with the trim.
    pub(super) fn trimmed(&mut self, file: usize, slot: u32, count: u32) {
        (slot..slot + count).for_each(|slot| self.files[file].release(slot));
        self.checkpoint.trimming -= 1;
        self.pump_trims();
        self.wake_stalled();
    }

    /// Extents that wait for their trim.
    #[cfg(test)]
    pub fn trims(&self) -> &[(u8, u32, u32)] {
        &self.checkpoint.trims
    }
}
