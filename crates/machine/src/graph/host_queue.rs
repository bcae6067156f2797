//! I/Os that wait in the host: operating systems keep a limited number of commands outstanding at a
//! device, and queue the others.
//!
//! First come, first served. Leaves out: sorting and merging of what waits.

use std::collections::VecDeque;

use hotband_units::Instant;

use crate::io::Io;

/// The queue of one volume.
#[derive(Clone, Debug)]
pub(crate) struct HostQueue {
    /// Most I/Os outstanding below the host.
    depth: u32,
    outstanding: u32,
    waiting: VecDeque<(Instant, Io)>,
}

impl HostQueue {
    pub fn new(depth: u32) -> Self {
        Self { depth, outstanding: 0, waiting: VecDeque::new() }
    }

    /// Whether an I/O that comes now may continue; it waits otherwise.
    pub fn admits(&mut self, now: Instant, io: Io) -> bool {
        let free = self.outstanding < self.depth;
        if free {
            self.outstanding += 1;
        } else {
            self.waiting.push_back((now, io));
        }
        free
    }

    /// An I/O was completed: the next one that may continue, and since when it waited.
    pub fn answered(&mut self) -> Option<(Instant, Io)> {
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.outstanding -= 1;
        }
        next
    }
}
