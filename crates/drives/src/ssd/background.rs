//! Background work of an idle solid-state drive.

use hotband_units::Instant;

use crate::ssd::Ssd;
use crate::ssd::work::Timed;

impl Ssd {
    pub(super) fn has_background_work(&self) -> bool {
        !self.rested
            && (self.ftl.buffered() > 0 || self.ftl.cached() > 0 || self.ftl.free_blocks() < self.params.ftl.free_high)
    }

    /// The drive is idle: the buffer is emptied, and blocks are collected, a little at a time.
    pub(super) fn work_in_background(&mut self, now: Instant) {
        self.idle_at = Instant::NEVER;
        if !self.nand.is_idle() {
            self.idle_at = now + self.params.nand.program;
            return;
        }
        let before = self.work.issued();
        let mut flash =
            Timed { nand: &mut self.nand, queue: &mut self.work, account: self.account.as_deref_mut(), now };
        let mut busy = true;
        while busy && flash.queue.issued() < before + u64::from(self.params.nand.dies) {
            busy = self.ftl.buffered() > 0 || self.ftl.cached() > 0;
            self.ftl.place_oldest(&mut flash);
            self.ftl.fold_oldest(&mut flash);
            busy = busy || self.ftl.collect_idle(&mut flash);
        }
        flash.flush_reads();
        self.rested = !busy;
        if busy {
            self.idle_at = now + self.params.nand.program;
        }
    }
}
