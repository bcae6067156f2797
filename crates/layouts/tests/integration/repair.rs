//! Does any layout ever answer with old data, or lose more than its redundancy allows? Random loads and failures on
//! drives that answer in any order, with the data beside the machine.

mod code;
mod drive;
mod store;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::layout_spec;
use code::Code;
use drive::Erratic;
use hotband_layouts::build;
use hotband_machine::{
    Completion, Drive, Entropy, Event, Expected, Io, Machine, MachineParts, MemberRange, NodeRef, Op, Part, Random,
    RepairSpec, Role, Volume, What,
};
use hotband_units::{Instant, Rate, Span};
use proptest::prelude::*;
use store::{Shape, Shared, Store, UNIT, Watching};

const CHUNK: u64 = 16 * 1024;
/// Of a member: some steps of a rebuild.
const SIZE: u64 = 6 << 20;

/// Layout, members, and how many of them may be missing at once wherever they are.
#[derive(Clone, Copy, Debug)]
struct Kind(&'static str, usize, usize);

const KINDS: [Kind; 9] = [
    Kind("raid1", 2, 1),
    Kind("raid1", 3, 2),
    Kind("raid10", 4, 1),
    Kind("raid5", 3, 1),
    Kind("raid5", 5, 1),
    Kind("raid6", 4, 2),
    Kind("raid6", 6, 2),
    Kind("raid50", 6, 1),
    Kind("raid60", 8, 2),
];

fn shape(Kind(kind, members, parities): Kind) -> Shape {
    let options = if kind == "raid1" { String::new() } else { format!("chunk = \"{CHUNK} B\"") };
    let spec = layout_spec::spec(kind, members, &options);
    let layout = build("test", &spec, &vec![SIZE; members]).expect("the test's layouts are right");
    let groups = if ["raid50", "raid60"].contains(&kind) { 2 } else { 1 };
    let is_parity = ["raid5", "raid6", "raid50", "raid60"].contains(&kind);
    let code = is_parity.then_some(Code { data: members / groups - parities, parities });
    Shape { layout, members, groups, code, chunk: CHUNK }
}

/// A machine of the kind with spares behind it, and the data beside it.
fn machine(kind: Kind, spec: Failures, spares: usize, seed: u64) -> (Machine, Shared) {
    let of_machine = shape(kind).layout;
    let capacity = of_machine.capacity().0;
    let store = Arc::new(Mutex::new(Store::new(shape(kind), SIZE, spares)));
    let count = kind.1 + spares;
    let drive = |index| -> (String, Box<dyn Drive>) {
        (format!("d{index}"), Box::new(Erratic::new(store.clone(), index, SIZE, seed)))
    };
    let members = (0..kind.1 as u32).map(|drive| MemberRange { node: NodeRef::Drive(drive), from: 0, size: SIZE });
    let parts = MachineParts {
        drives: (0..count).map(drive).collect(),
        links: Vec::new(),
        link_of: vec![None; count],
        layouts: vec![("data".to_owned(), Role::Planner(of_machine), members.collect())],
        forces: vec![false],
        volumes: vec![Volume {
            name: "data".to_owned(),
            node: NodeRef::Layout(0),
            from: 0,
            size: capacity,
            queue: None,
        }],
        host: None,
    };
    let mut machine = Machine::new(parts);
    let spares = (kind.1 as u32..count as u32).collect();
    machine
        .expect(Expected {
            repair: Some(RepairSpec { spares, ..spec.repair }),
            watch: Some(Box::new(Watching(store.clone()))),
            ..Expected::default()
        })
        .expect("no daemon goes out");
    for (drive, at) in spec.failures {
        let event = Event { at: Instant::ZERO + at, part: Part::Drive(drive), what: What::Fail };
        machine.events().schedule(event).expect("failures are expected");
    }
    (machine, store)
}

/// A write, from when to when.
#[derive(Clone, Copy, Debug)]
struct Written {
    version: u64,
    submitted: Instant,
    /// None while it is not acknowledged, or if it failed.
    acknowledged: Option<Instant>,
}

/// A host that knows what it may find.
struct Host {
    machine: Machine,
    store: Shared,
    now: Instant,
    random: Random,
    /// By symbol.
    written: BTreeMap<u64, Vec<Written>>,
    asked: BTreeMap<u64, Io>,
    tags: u64,
    faults: usize,
    /// Bytes that reads of the last round did not get.
    unread: u64,
}

impl Host {
    fn new((machine, store): (Machine, Shared), seed: u64) -> Self {
        Self {
            machine,
            store,
            now: Instant::ZERO,
            random: Random::new(seed, "host"),
            written: BTreeMap::new(),
            asked: BTreeMap::new(),
            tags: 0,
            faults: 0,
            unread: 0,
        }
    }

    fn submit(&mut self, op: Op, offset: u64, len: u32) {
        self.tags += 1;
        let io = Io { tag: self.tags, op, volume: 0, offset, len, fua: false, version: 0, entropy: Entropy::default() };
        if op == Op::Write {
            self.store.lock().unwrap().versions.insert(io.tag, io.tag);
            for symbol in symbols(&io) {
                let write = Written { version: io.tag, submitted: self.now, acknowledged: None };
                self.written.entry(symbol).or_default().push(write);
            }
        }
        self.asked.insert(io.tag, io);
        self.machine.submit(self.now, io);
    }

    /// Something random, up to three chunks long.
    fn submit_random(&mut self) {
        let units = self.machine.volumes()[0].size / UNIT;
        let most = if self.random.bits().is_multiple_of(4) { 12 } else { 3 };
        let len = 1 + self.random.below(most);
        let offset = self.random.below(units - len) * UNIT;
        let op = if self.random.bits().is_multiple_of(2) { Op::Read } else { Op::Write };
        self.submit(op, offset, (len * UNIT) as u32);
    }

    /// To the next event; tells whether there was one.
    fn step(&mut self) -> bool {
        let Some(next) = self.machine.wake() else { return false };
        assert!(next >= self.now, "time does not go back");
        self.now = next;
        let mut done = Vec::new();
        self.machine.advance(next, &mut done);
        for done in &done {
            self.complete(done);
        }
        true
    }

    fn complete(&mut self, done: &Completion) {
        let io = self.asked.remove(&done.tag).expect("an I/O is answered once");
        assert_eq!(done.times.total(), done.at.since(done.submitted), "the times add up");
        let values = self.store.lock().unwrap().found.remove(&done.tag);
        if done.fault.is_some() {
            self.faults += 1;
            self.unread += u64::from(io.len);
        } else if io.op == Op::Write {
            for symbol in symbols(&io) {
                let writes = self.written.get_mut(&symbol).expect("it was noted");
                let write = writes.iter_mut().find(|write| write.version == done.tag);
                write.expect("it was noted").acknowledged = Some(done.at);
            }
        } else if io.op == Op::Read {
            let values = values.expect("a read that is answered has found something");
            assert_eq!(values.len() as u64, u64::from(io.len) / UNIT);
            for (symbol, value) in symbols(&io).zip(values) {
                self.check(symbol, value, done);
            }
        }
    }

    /// `value` is the last that was acknowledged when the read was submitted, or of a write that may have come after it.
    fn check(&self, symbol: u64, value: u64, read: &Completion) {
        let writes = self.written.get(&symbol).map_or(&[] as &[Written], Vec::as_slice);
        let over = |submitted: Instant| {
            let mut others = writes.iter();
            others.any(|other| other.submitted > submitted && other.acknowledged.is_some_and(|at| at < read.submitted))
        };
        let is_old = if let Some(write) = writes.iter().find(|write| write.version == value) {
            write.acknowledged.is_some_and(over)
        } else {
            assert_eq!(value, 0, "symbol {symbol}: what nobody wrote");
            writes.iter().any(|write| write.acknowledged.is_some_and(|at| at < read.submitted))
        };
        assert!(!is_old, "symbol {symbol} at {}: {value} is old, of {writes:?}", read.at);
    }

    /// Keeps `depth` I/Os going until `end`, and lets all of them be answered. Now and then it pauses for some events: a
    /// rebuild has several steps under way only while nobody asks.
    fn load(&mut self, depth: usize, end: Instant) {
        while self.now < end {
            if self.random.below(40) == 0 {
                self.drain();
                let events = self.random.below(12);
                for _ in 0..events {
                    self.step();
                }
            }
            while self.asked.len() < depth {
                self.submit_random();
            }
            assert!(self.step(), "something is under way");
        }
        self.drain();
    }

    fn drain(&mut self) {
        while !self.asked.is_empty() {
            assert!(self.step(), "what was asked is answered");
        }
    }

    /// Lets everything end that goes on by itself.
    fn rest(&mut self) {
        while self.step() {}
    }

    /// Reads everything; returns the bytes that are not there.
    fn read_all(&mut self) -> u64 {
        self.unread = 0;
        for offset in (0..self.machine.volumes()[0].size).step_by(UNIT as usize) {
            self.submit(Op::Read, offset, UNIT as u32);
            self.drain();
        }
        self.unread
    }
}

fn symbols(io: &Io) -> impl Iterator<Item = u64> + use<> {
    io.offset / UNIT..(io.offset + u64::from(io.len)) / UNIT
}

/// Drives that fail, and when; what follows.
#[derive(Clone, Debug)]
struct Failures {
    failures: Vec<(u32, Span)>,
    repair: RepairSpec,
}

/// Failures as a test draws them: which drive (of members and spares), and after how many microseconds.
fn spec(kind: Kind, spares: usize, failures: &[(usize, u64)], limit: Option<u64>, wait: u64) -> Failures {
    let mut planned: Vec<(u32, Span)> = Vec::new();
    for (drive, micros) in failures {
        let drive = (drive % (kind.1 + spares)) as u32;
        if planned.iter().all(|(have, _)| *have != drive) {
            planned.push((drive, Span(micros * 1000)));
        }
    }
    let rate_limit = limit.map(Rate);
    let repair = RepairSpec { rate_limit, spare_after: Span(wait * 1000), ..RepairSpec::default() };
    Failures { failures: planned, repair }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn nobody_reads_old_data_and_redundancy_is_kept(
        kind in 0..KINDS.len(), spares in 0_usize..3, seed in any::<u64>(), depth in 1_usize..24,
        failures in proptest::collection::vec((0_usize..11, 0_u64..60_000), 1..4),
        limit in proptest::option::of(Just(200_000_000_u64)), wait in prop_oneof![Just(0_u64), 1_u64..20_000],
    ) {
        let kind = KINDS[kind];
        let spec = spec(kind, spares, &failures, limit, wait);
        let mut host = Host::new(machine(kind, spec.clone(), spares, seed), seed);
        host.load(depth, Instant(80_000_000));
        host.rest();
        let unread = host.read_all();
        let report = host.machine.repair().expect("failures were to come").report();
        prop_assert_eq!(unread, report.bytes_lost, "what is lost cannot be read, and nothing else");
        let of_members = spec.failures.iter().filter(|(drive, _)| (*drive as usize) < kind.1).count();
        // A spare that fails while it is written leaves its member missing all along: it adds nothing.
        if of_members <= kind.2 && spec.failures.len() == of_members {
            prop_assert_eq!((host.faults, report.bytes_lost), (0, 0), "within its redundancy");
        }
        let states: Vec<_> = report.rebuilds.iter().map(|rebuild| rebuild.state).collect();
        let is_whole = host.machine.repair().map(hotband_machine::RepairView::level) == Some(hotband_machine::ServiceLevel::After);
        let store = host.store.lock().unwrap();
        prop_assert!(!is_whole || store.unbuilt.is_empty());
        if is_whole {
            prop_assert_eq!(store.check(), Ok(()), "after {:?}", states);
        }
    }
}

#[test]
fn every_layout_is_whole_again_after_a_rebuild_under_load() {
    for kind in KINDS {
        for seed in 0..4 {
            let failures: Vec<(usize, u64)> =
                (0..kind.2).map(|n| (n + seed as usize % 2, 5_000 + 4_000 * n as u64)).collect();
            let mut host = Host::new(machine(kind, spec(kind, 2, &failures, None, 0), 2, seed), seed);
            host.load(16, Instant(60_000_000));
            host.rest();
            assert_eq!((host.faults, host.read_all()), (0, 0), "{kind:?}");
            let store = host.store.lock().unwrap();
            assert_eq!((store.rebuilt, store.check()), (kind.2, Ok(())), "{kind:?}");
        }
    }
}

#[test]
fn two_groups_are_rebuilt_side_by_side_under_load() {
    let kinds = [KINDS[2], KINDS[7], KINDS[8]];
    for (kind, seed) in kinds.into_iter().flat_map(|kind| (0..4).map(move |seed| (kind, seed))) {
        let spec = spec(kind, 2, &[(1, 5_000), (kind.1 - 1, 5_000)], None, 0);
        let mut host = Host::new(machine(kind, spec, 2, seed), seed);
        host.load(16, Instant(60_000_000));
        host.rest();
        assert_eq!((host.faults, host.read_all()), (0, 0), "seed {seed}");
        let report = host.machine.repair().expect("failures were to come").report();
        let began: Vec<_> = report.rebuilds.iter().map(|rebuild| rebuild.began).collect();
        assert_eq!(began, [Some(Instant(5_000_000)); 2], "seed {seed}");
        let store = host.store.lock().unwrap();
        assert_eq!((store.rebuilt, store.check()), (2, Ok(())), "seed {seed}");
    }
}
