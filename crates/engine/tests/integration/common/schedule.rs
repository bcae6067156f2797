//! A machine under a random schedule of I/Os, and everything that comes out of it.

use hotband_engine::assemble;
use hotband_machine::{Completion, Entropy, Io, Machine, MachineSpec, Op};
use hotband_units::Instant;
use proptest::prelude::*;

/// One I/O of a schedule. Small numbers, so that I/Os overlap, touch and repeat.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Time since the one before, in nanoseconds.
    pub gap: u64,
    pub op: Op,
    /// In blocks of 4 KiB.
    pub block: u64,
    pub blocks: u32,
    pub fua: bool,
}

fn asked(gap: BoxedStrategy<u64>, block: BoxedStrategy<u64>, fua: f64) -> impl Strategy<Value = Asked> {
    let op = prop_oneof![3 => Just(Op::Read), 4 => Just(Op::Write), 1 => Just(Op::Flush)];
    let blocks = prop_oneof![4 => 1_u32..4, 1 => 1_u32..100];
    (gap, op, block, blocks, prop::bool::weighted(fua)).prop_map(|(gap, op, block, blocks, fua)| {
        let (block, blocks) = if op == Op::Flush { (0, 0) } else { (block, blocks) };
        Asked { gap, op, block, blocks, fua: fua && op == Op::Write }
    })
}

/// Schedules over the whole drive with pauses, and crowded ones over a few blocks, where everything meets: dirty
/// data, forced writes, flushes and reads of the same place.
pub fn schedule() -> impl Strategy<Value = Vec<Asked>> {
    let gap = prop_oneof![3 => Just(0_u64), 3 => 0_u64..200_000, 2 => 0_u64..20_000_000, 1 => 0_u64..2_000_000_000];
    let block = prop_oneof![2 => 0_u64..16, 2 => 0_u64..400, 1 => 0_u64..10_000_000];
    let wide = prop::collection::vec(asked(gap.boxed(), block.boxed(), 0.1), 1..60);
    let gap = prop_oneof![Just(0_u64), 0_u64..200_000, 0_u64..5_000_000];
    let crowded = prop::collection::vec(asked(gap.boxed(), (0_u64..4).boxed(), 0.4), 1..30);
    prop_oneof![wide, crowded]
}

/// Builds the machine of a spec.
#[track_caller]
pub fn machine(text: &str) -> Machine {
    let spec = MachineSpec::read("machine.toml", text).expect("machines of the tests are valid");
    assemble(&spec, &crate::common::catalog(), &[], 1).unwrap_or_else(|error| panic!("{text}: {error}")).machine
}

/// Most wake-ups that one schedule may need: a machine that never comes to rest fails instead of hanging.
const MOST_WAKES: usize = 200_000;

/// A machine that is driven, with the contract checked at every step.
pub struct Driven {
    pub machine: Machine,
    pub completions: Vec<Completion>,
    now: Instant,
    wakes: usize,
    /// Steps of `advance` between two times; 1 for none in between.
    steps: u64,
}

impl Driven {
    pub fn new(machine: Machine, steps: u64) -> Self {
        Self { machine, completions: Vec::new(), now: Instant::ZERO, wakes: 0, steps }
    }

    /// Advances to `to`, which is at most the next wake-up.
    fn advance(&mut self, to: Instant) {
        let begin = self.now;
        for step in 1..=self.steps {
            let at = Instant(begin.0 + (to.0 - begin.0) / self.steps * step);
            self.advance_once(if step == self.steps { to } else { at });
        }
    }

    fn advance_once(&mut self, at: Instant) {
        let known = self.completions.len();
        self.machine.advance(at, &mut self.completions);
        for done in &self.completions[known..] {
            assert!(done.at <= at && done.at > self.now || done.at == at, "completed at {:?}, now {at:?}", done.at);
            assert!(done.at >= done.submitted, "{done:?}");
            assert_eq!(done.times.total(), done.at.since(done.submitted), "parts of the latency: {done:?}");
        }
        if let Some(wake) = self.machine.wake() {
            assert!(wake > at, "a wake-up at {wake:?} lies in the past after advancing to {at:?}");
        }
        self.now = at;
    }

    pub fn run_to(&mut self, to: Instant) {
        while let Some(wake) = self.machine.wake().filter(|wake| *wake <= to) {
            self.count_wake();
            self.advance(wake);
        }
        self.advance(to);
    }

    /// Runs until nothing is left to do.
    pub fn drain(&mut self) {
        while let Some(wake) = self.machine.wake() {
            self.count_wake();
            self.advance(wake);
        }
    }

    fn count_wake(&mut self) {
        self.wakes += 1;
        assert!(self.wakes < MOST_WAKES, "the machine does not come to rest");
    }

    /// Submits a schedule and drains.
    pub fn play(&mut self, schedule: &[Asked]) {
        let capacity = self.machine.volumes()[0].size / 4096;
        for (tag, asked) in schedule.iter().enumerate() {
            self.run_to(Instant(self.now.0 + asked.gap));
            let offset = asked.block % (capacity - u64::from(asked.blocks)) * 4096;
            let (op, len, fua) = (asked.op, asked.blocks * 4096, asked.fua);
            self.machine.submit(
                self.now,
                Io { tag: tag as u64, op, volume: 0, offset, len, fua, version: 0, entropy: Entropy::INCOMPRESSIBLE },
            );
            let wake = self.machine.wake().expect("an I/O that was submitted is due some time");
            assert!(wake >= self.now, "a wake-up at {wake:?} lies before {:?}", self.now);
        }
        self.drain();
    }

    /// Every tag of a schedule came back exactly once.
    pub fn assert_complete(&self, schedule: &[Asked]) {
        let mut tags: Vec<u64> = self.completions.iter().map(|done| done.tag).collect();
        tags.sort_unstable();
        assert_eq!(tags, (0..schedule.len() as u64).collect::<Vec<_>>());
        assert!(self.completions.iter().all(|done| done.fault.is_none()));
        assert!(self.completions.is_sorted_by_key(|done| done.at), "completions come in order of time");
    }

    /// A counter, summed over the drives.
    pub fn counter(&self, name: &str) -> u64 {
        let report = self.machine.report();
        let counters = report.iter().flat_map(|part| &part.counters);
        counters.filter(|(have, _)| *have == name).map(|(_, count)| count).sum()
    }

    /// A level, summed over the drives.
    pub fn level(&self, name: &str) -> u64 {
        let report = self.machine.report();
        let levels = report.iter().flat_map(|part| &part.at_end);
        levels.filter(|(have, _)| *have == name).map(|(_, level)| level).sum()
    }
}
