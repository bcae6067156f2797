//! A controller with several cores: each serves a part of the addresses, so that commands on busy parts wait while
//! other cores are idle.
//!
//! All cores together begin as many commands a second as one with `command_interval` would; one of `n` takes `n` times as
//! long. Addresses are divided by a hash of the first page. Reads that continue a stream, whose data the drive reads
//! ahead in order of arrival, and flushes, which have no address, go to the core that is free first.
//!
//! Leaves out: work that cores hand to one another, and firmware that moves addresses from busy cores to idle ones.

use std::collections::VecDeque;

use hotband_machine::{Command, Op};
use hotband_units::{Instant, Span};

use crate::parts::ftl::PAGE;
use crate::ssd::Ssd;
use crate::ssd::slot::{Event, Slot};

/// 2^64 over the golden ratio: its first multiples are spread evenly.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// Pages whose cores follow from their number among them; those of the next such run are shifted at random.
const RUN: u64 = 64;

/// The cores of a controller.
#[derive(Debug)]
pub(super) struct Cores {
    all: Vec<Core>,
}

#[derive(Debug, Default)]
struct Core {
    /// Commands that it has not begun, with the times of their submission. While there are any, an event is due.
    waiting: VecDeque<(Command, Instant)>,
    free: Instant,
}

impl Cores {
    /// Several cores; none if the controller is to be treated as one.
    pub fn of(count: u32) -> Option<Box<Self>> {
        (count > 1).then(|| Box::new(Self { all: (0..count).map(|_| Core::default()).collect() }))
    }

    /// The core that serves a page. Neighbours are spread evenly, and strides longer than a run at random.
    fn serves(&self, page: u64) -> usize {
        let mut shift = (page / RUN).wrapping_mul(GOLDEN);
        shift ^= shift >> 32;
        shift = shift.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        shift ^= shift >> 29;
        let spread = (page % RUN).wrapping_mul(GOLDEN).wrapping_add(shift) >> 32;
        ((spread * self.all.len() as u64) >> 32) as usize
    }

    fn first_free(&self) -> usize {
        let cores = self.all.iter().enumerate();
        cores.min_by_key(|(_, core)| core.free).map_or(0, |(number, _)| number)
    }
}

impl Ssd {
    /// A command arrives at a controller with several cores.
    #[inline(never)]
    pub(super) fn queue_on_core(&mut self, now: Instant, command: Command, submitted: Instant) {
        if command.op == Op::Flush {
            let begun = self.occupy_first_free(now, &command);
            return self.begin(begun, command, submitted);
        }
        if command.op == Op::Read && self.fault_of(&command).is_none() {
            self.reading += u64::from(command.len);
            if let Some(stream) = self.follow(&command) {
                let begun = self.occupy_first_free(now, &command);
                let index = self.take_slot(Slot::new(begun, command, submitted));
                return self.accept_read(index, Some(stream));
            }
        }
        let Some(cores) = &mut self.cores else { return };
        let number = cores.serves(command.offset / PAGE);
        let core = &mut cores.all[number];
        core.waiting.push_back((command, submitted));
        if core.waiting.len() > 1 {
            return;
        }
        let free = core.free;
        if free <= now {
            self.go_on_with_core(now, number as u32);
        } else {
            self.push(free, Event::CoreFree(number as u32));
        }
    }

    /// A core begins with its next command, unless a stream occupied it in the meantime.
    #[inline(never)]
    pub(super) fn go_on_with_core(&mut self, at: Instant, number: u32) {
        let Some(cores) = &mut self.cores else { return };
        let core = &mut cores.all[number as usize];
        if core.free > at {
            let free = core.free;
            return self.push(free, Event::CoreFree(number));
        }
        let Some((command, submitted)) = core.waiting.pop_front() else { return };
        let has_more = !core.waiting.is_empty();
        let begun = self.occupy(number as usize, at, &command);
        if has_more {
            let free = self.cores.as_ref().map_or(begun, |cores| cores.all[number as usize].free);
            self.push(free, Event::CoreFree(number));
        }
        if command.op == Op::Read && self.fault_of(&command).is_none() {
            let index = self.take_slot(Slot::new(begun, command, submitted));
            return self.accept_read(index, None);
        }
        self.begin(begun, command, submitted);
    }

    /// Occupies the core that is free first; returns when it begins.
    fn occupy_first_free(&mut self, now: Instant, command: &Command) -> Instant {
        let Some(cores) = &self.cores else { return now };
        let number = cores.first_free();
        let at = now.max(cores.all[number].free);
        self.occupy(number, at, command)
    }

    fn occupy(&mut self, number: usize, at: Instant, command: &Command) -> Instant {
        let begun = self.stalls.begin_on_core(at);
        let writes = command.op == Op::Write;
        let interval = if writes { self.params.write_interval } else { self.params.command_interval };
        if let Some(cores) = &mut self.cores {
            cores.all[number].free = begun + Span(interval.0 * cores.all.len() as u64);
        }
        begun
    }
}
