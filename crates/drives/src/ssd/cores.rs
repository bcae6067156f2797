//! A controller with several cores: each serves a part of the addresses, so that commands on busy parts wait while
//! other cores are idle.
//!
//! All cores together begin as many commands a second as one with `command_interval` would; one of `n` takes `n` times as
//! long. Addresses are divided by a hash of the first page: random commands queue at random, sequential ones evenly.
//!
//! Leaves out: work that cores hand to one another, and firmware that moves addresses from busy cores to idle ones.

use std::collections::VecDeque;

use hotband_machine::{Command, Op};
use hotband_units::{Instant, Span};

use crate::parts::ftl::PAGE;
use crate::ssd::Ssd;
use crate::ssd::slot::Event;

/// 2^64 over the golden ratio: multiples of it are spread evenly, whatever their stride.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The cores of a controller.
#[derive(Debug)]
pub(super) struct Cores {
    all: Vec<Core>,
}

#[derive(Debug, Default)]
struct Core {
    /// Commands that it has not begun, with the times of their submission.
    waiting: VecDeque<(Command, Instant)>,
    free: Instant,
}

impl Cores {
    /// Several cores; none if the controller is to be treated as one.
    pub fn of(count: u32) -> Option<Box<Self>> {
        (count > 1).then(|| Box::new(Self { all: (0..count).map(|_| Core::default()).collect() }))
    }

    fn serves(&self, command: &Command) -> u32 {
        let spread = (command.offset / PAGE).wrapping_mul(GOLDEN) >> 32;
        ((spread * self.all.len() as u64) >> 32) as u32
    }
}

impl Ssd {
    /// A command waits for the core that serves its address.
    pub(super) fn queue_on_core(&mut self, now: Instant, command: Command, submitted: Instant) {
        let Some(cores) = &mut self.cores else { return };
        let number = cores.serves(&command);
        let core = &mut cores.all[number as usize];
        core.waiting.push_back((command, submitted));
        if core.waiting.len() > 1 {
            return;
        }
        let free = core.free;
        if free <= now {
            self.go_on_with_core(now, number);
        } else {
            self.push(free, Event::CoreFree(number));
        }
    }

    /// A core begins with its next command.
    pub(super) fn go_on_with_core(&mut self, at: Instant, number: u32) {
        let Some(cores) = &mut self.cores else { return };
        let count = cores.all.len() as u64;
        let core = &mut cores.all[number as usize];
        let Some((command, submitted)) = core.waiting.pop_front() else { return };
        let begun = self.stalls.begin(at);
        let writes = command.op == Op::Write;
        let interval = if writes { self.params.write_interval } else { self.params.command_interval };
        core.free = begun + Span(interval.0 * count);
        if !core.waiting.is_empty() {
            let free = core.free;
            self.push(free, Event::CoreFree(number));
        }
        self.begin(begun, command, submitted);
    }
}
