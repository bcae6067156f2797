//! Shared links at work: data of writes crosses them before the drive gets its command, data of reads after.

use hotband_units::Instant;

use crate::drive::{Command, Done};
use crate::graph::Machine;
use crate::graph::link::Transfer;
use crate::io::{Completion, Op};

impl Machine {
    /// Sends a command to a drive.
    #[inline]
    pub(crate) fn send(&mut self, now: Instant, drive: u32, command: Command) {
        if command.fua {
            return self.send_forced(now, drive, command);
        }
        self.hand_over(now, drive, command);
    }

    /// Hands a command to a drive; the data of a write first crosses the shared link, if there is one.
    #[inline]
    pub(crate) fn hand_over(&mut self, now: Instant, drive: u32, command: Command) {
        match self.drives[drive as usize].link {
            Some(link) if command.op == Op::Write => {
                let at = self.links[link].transfer(now, u64::from(command.len));
                self.push_transfer(at, Transfer::Inbound { drive, command });
            }
            _ => {
                self.drives[drive as usize].drive.submit(now, command);
                self.arm(drive);
            }
        }
    }

    /// Lets the data of a read travel to the host.
    #[inline(never)]
    pub(crate) fn send_back(&mut self, now: Instant, link: usize, done: Done) {
        let at = self.links[link].transfer(now, u64::from(done.bytes_back));
        self.push_transfer(at, Transfer::Outbound { done, ready: now });
    }

    pub(crate) fn end_transfer(&mut self, at: Instant, number: u32, completions: &mut Vec<Completion>) {
        match self.transfers.take(number) {
            Transfer::Inbound { drive, command } => {
                self.drives[drive as usize].drive.submit(at, command);
                self.arm(drive);
            }
            Transfer::Outbound { mut done, ready } => {
                done.times.link += at.since(ready);
                done.at = at;
                self.leg_done(&done, completions);
            }
        }
    }
}
