//! The host's path to its drives: time of a core to submit an I/O and to handle its completion.
//!
//! A core does one thing at a time, first come, first served; an I/O is completed on the core that submitted it, as
//! with a queue pair and an interrupt vector for each core (NVMe). Leaves out: the application's own time, context
//! switches, several completions per interrupt (coalescing), interrupts that precede waiting work, memory of another
//! socket, and polling, which keeps a core busy when there is nothing to do. docs/models/layouts.md.

use std::collections::VecDeque;

use hotband_units::{Instant, Span};

use crate::drive::PartReport;
use crate::graph::slab::Slab;
use crate::io::{Fault, Io, Times};
use crate::spec::host::{HostSpec, Spread};

/// Work of a core for one I/O.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) io: Io,
    pub(super) core: u32,
    /// Time when the I/O came to the host.
    pub(super) submitted: Instant,
    /// Since when it waits for its core, or has it.
    pub(super) since: Instant,
    /// Its completion, once it has one; before that, the times in the host.
    pub(super) times: Times,
    pub(super) fault: Option<Fault>,
    pub(super) is_answered: bool,
}

/// A core with its queue of work, whose first entry is in progress.
#[derive(Clone, Debug, Default)]
struct Core {
    waiting: VecDeque<u32>,
    busy: Span,
    ios: u64,
}

/// The cores of a machine's host.
pub(crate) struct Host {
    spec: HostSpec,
    cores: Vec<Core>,
    /// I/Os so far.
    turn: u64,
    pub(super) work: Slab<Work>,
}

impl Host {
    pub fn new(spec: HostSpec) -> Self {
        Self { spec, cores: vec![Core::default(); spec.cores as usize], turn: 0, work: Slab::default() }
    }

    pub(super) fn core_of(&mut self, io: &Io) -> u32 {
        let turn = match self.spec.spread {
            Spread::InTurn => self.turn,
            Spread::ByVolume => u64::from(io.volume),
        };
        self.turn += 1;
        (turn % u64::from(self.spec.cores)) as u32
    }

    fn cost(&self, work: &Work) -> Span {
        if work.is_answered { self.spec.complete } else { self.spec.submit }
    }

    /// Work for its core; when it will be done, where the core has nothing else to do.
    pub(super) fn ask(&mut self, now: Instant, number: u32) -> Option<Instant> {
        let work = *self.work.get(number);
        let core = &mut self.cores[work.core as usize];
        core.waiting.push_back(number);
        let is_free = core.waiting.len() == 1;
        is_free.then(|| now + self.cost(&work))
    }

    /// Completes the core's current work; returns it, the next work and its end.
    pub(super) fn done(&mut self, now: Instant, core: u32) -> (u32, Option<Instant>) {
        let number = self.cores[core as usize].waiting.pop_front().expect("a core ends what it has begun");
        let mut work = *self.work.get(number);
        let cost = self.cost(&work);
        work.times.overhead += cost;
        work.times.queue += Span(now.since(work.since).0 - cost.0);
        *self.work.get(number) = work;
        let core = &mut self.cores[core as usize];
        core.busy += cost;
        core.ios += u64::from(work.is_answered);
        let next = core.waiting.front().copied();
        let next = next.map(|next| *self.work.get(next));
        (number, next.map(|next| now + self.cost(&next)))
    }

    /// Counters of the cores.
    pub fn report(&self) -> impl Iterator<Item = PartReport> {
        self.cores.iter().enumerate().map(|(number, core)| PartReport {
            id: format!("core{number}"),
            kind: "core",
            counters: vec![("busy_ns", core.busy.0), ("ios", core.ios)],
            at_end: Vec::new(),
        })
    }

    /// The host's own tag of an I/O.
    pub fn tag(&mut self, number: u32) -> u64 {
        self.work.get(number).io.tag
    }
}
