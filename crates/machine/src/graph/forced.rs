//! Forced writes to drives that get no FUA.
//!
//! Linux sends SATA drives no FUA unless `libata.fua=1` is set. The block layer then sends a forced write as a write and,
//! once that is acknowledged, a FLUSH; to a drive without a volatile cache it sends the write alone (block/blk-flush.c,
//! Documentation/block/writeback_cache_control.rst).
//!
//! Leaves out: flushes that Linux merges while another one is under way, and that FLUSH CACHE EXT is not queued, so that
//! the drive is empty while it runs.

use hotband_units::Instant;

use crate::drive::{Command, Done, ENDS_FORCED_WRITE, FLUSH_FOLLOWS};
use crate::graph::Machine;
use crate::io::{Completion, Op, Times};

/// A forced write of which the flush is still to end.
pub(crate) struct ForcedWrite {
    drive: u32,
    /// The write, as the drive gets it.
    command: Command,
    /// Where the time of the write went, once it is acknowledged.
    written: Option<Times>,
}

impl Machine {
    /// Sends a command with FUA; most drives receive it unchanged.
    #[inline(never)]
    pub(crate) fn send_forced(&mut self, now: Instant, drive: u32, mut command: Command) {
        let receiver = &self.drives[drive as usize].drive;
        if command.op == Op::Write && receiver.forces_by_flush() {
            command.fua = false;
            if receiver.volatile() {
                command.token |= FLUSH_FOLLOWS;
                self.forced.push(ForcedWrite { drive, command, written: None });
            }
        }
        self.hand_over(now, drive, command);
    }

    /// The write of a forced write is acknowledged, or its flush is.
    #[inline(never)]
    pub(crate) fn forced_done(&mut self, at: Instant, drive: u32, done: Done, completions: &mut Vec<Completion>) {
        let token = done.token & !(FLUSH_FOLLOWS | ENDS_FORCED_WRITE);
        let is_write = done.token & FLUSH_FOLLOWS != 0;
        let is_this = |forced: &ForcedWrite| {
            let same = (forced.drive, forced.command.token) == (drive, token | FLUSH_FOLLOWS);
            same && forced.written.is_none() == is_write
        };
        let index = self.forced.iter().position(is_this).expect("a forced write is noted until its flush ends");
        if is_write && done.fault.is_none() {
            let forced = &mut self.forced[index];
            forced.written = Some(done.times);
            let flush = Command { token: token | ENDS_FORCED_WRITE, op: Op::Flush, len: 0, ..forced.command };
            return self.hand_over(at, drive, flush);
        }
        let written = self.forced.swap_remove(index).written.unwrap_or_default();
        self.leg_done(&Done { token, times: written.then(&done.times), ..done }, completions);
    }
}
