//! The way of an I/O through the host's cores, and through the queue of its volume.

use hotband_units::Instant;

use crate::graph::Machine;
use crate::graph::executor::End;
use crate::graph::host::{Host, Work};
use crate::graph::host_queue::HostQueue;
use crate::graph::origin::{Access, Origin};
use crate::graph::queue::Class;
use crate::io::{Completion, Io, Times};
use crate::repair::agenda::Due;

impl Machine {
    /// Takes an I/O if the host has cores or limits outstanding I/Os. Out of line: others do not pay for it.
    #[inline(never)]
    pub(crate) fn submit_by_host(&mut self, now: Instant, io: Io) {
        let Some(host) = &mut self.host else {
            if self.admits(now, io) {
                self.leave_host(now, io, now);
            }
            return;
        };
        let core = host.core_of(&io);
        let (times, fault) = (Times::default(), None);
        let work = Work { io, core, submitted: now, since: now, times, fault, is_answered: false };
        let number = host.work.add(work);
        self.ask_core(now, number);
    }

    fn admits(&mut self, now: Instant, io: Io) -> bool {
        self.host_queues[usize::from(io.volume)].as_mut().is_none_or(|queue| queue.admits(now, io))
    }

    fn cores(&mut self) -> &mut Host {
        self.host.as_mut().expect("only a host with cores has work for them")
    }

    fn ask_core(&mut self, now: Instant, number: u32) {
        let host = self.cores();
        let core = host.work.get(number).core;
        if let Some(at) = host.ask(now, number) {
            self.post(Class::Usual, at, Due::Core(core));
        }
    }

    /// A core has finished: the I/O goes to the drives, or to its requester.
    pub(crate) fn run_core(&mut self, at: Instant, core: u32, completions: &mut Vec<Completion>) {
        let host = self.cores();
        let (number, next) = host.done(at, core);
        let work = *host.work.get(number);
        if work.is_answered {
            host.work.take(number);
        }
        if let Some(next) = next {
            self.post(Class::Usual, next, Due::Core(core));
        }
        let Work { io, submitted, times, fault, .. } = work;
        if work.is_answered {
            return completions.push(Completion { tag: io.tag, submitted, at, times, fault });
        }
        let io = Io { tag: u64::from(number), ..io };
        if self.admits(at, io) {
            self.leave_core(at, io, at);
        }
    }

    /// Starts an I/O that a core has submitted, and which has waited for the volume's queue since `since`.
    fn leave_core(&mut self, now: Instant, io: Io, since: Instant) {
        let Io { tag, op, volume, offset, len, fua, version, entropy } = io;
        let on = &self.volumes[usize::from(volume)];
        let (node, offset) = (on.node, on.from + offset);
        self.cores().work.get(tag as u32).times.queue += now.since(since);
        let id = self.requests.take(Origin::Core { work: tag as u32 });
        self.route(now, id, node, Access { op, offset, len, fua, version, entropy });
    }

    /// The drives have completed an I/O: its core handles the completion, and the next one that waits for the
    /// volume's queue continues.
    #[inline(never)]
    pub(crate) fn answer_core(&mut self, at: Instant, number: u32, (times, fault): End) {
        let work = self.cores().work.get(number);
        work.times = work.times.then(&times);
        (work.fault, work.since, work.is_answered) = (fault, at, true);
        let volume = work.io.volume;
        self.ask_core(at, number);
        let queue = self.host_queues[usize::from(volume)].as_mut();
        if let Some((since, io)) = queue.and_then(HostQueue::answered) {
            self.leave_core(at, io, since);
        }
    }
}
