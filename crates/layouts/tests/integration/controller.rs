//! Does a controller's memory answer when it should, is every write written back once, and does a read get the latest?

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hotband_layouts::controller::{Controller, ControllerSpec};
use hotband_machine::{
    Entropy, Fault, MachineSpec, MemberCommand, Op, Service, ServiceIo, ServiceOut, Times, Versions,
};
use hotband_units::{Instant, Span};
use proptest::prelude::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const SIZE: u64 = 1 << 30;
/// Five members with chunks of 64 KiB.
const STRIPE: u64 = 256 * KIB;
/// What the members take for anything.
const MEMBER: u64 = 5_000_000;

fn spec(options: &str) -> ControllerSpec {
    let text = format!("[drives.d]\nproduct = \"fake\"\n[layouts.c]\ncontroller = {{ members = \"d\"{options} }}\n");
    let spec = MachineSpec::read("machine.toml", &text).expect("machines of the tests are valid");
    ControllerSpec::read("machine.toml", &spec.layouts[0]).expect("controllers of the tests are valid")
}

/// A controller, its members, what they hold, and what hosts were promised: the number of the write of every sector.
struct Rig {
    controller: Controller,
    now: u64,
    commands: Vec<(u64, MemberCommand)>,
    /// Answers: token, when, how long it took.
    served: Vec<(u32, u64, u64)>,
    asked: BTreeMap<u32, (u64, Op, Range<u64>)>,
    /// Commands to the members, and of writes which write every sector is of.
    under_way: BTreeMap<(u64, usize), (MemberCommand, Versions)>,
    on_members: BTreeMap<u64, u64>,
    promised: BTreeMap<u64, u64>,
    out: ServiceOut,
}

fn sectors(range: &Range<u64>) -> Range<u64> {
    range.start / 512..range.end / 512
}

impl Rig {
    fn new(options: &str) -> Self {
        Self {
            controller: Controller::new(spec(options), SIZE, Some(STRIPE), 0),
            now: 0,
            commands: Vec::new(),
            served: Vec::new(),
            asked: BTreeMap::new(),
            under_way: BTreeMap::new(),
            on_members: BTreeMap::new(),
            promised: BTreeMap::new(),
            out: ServiceOut::default(),
        }
    }

    fn ask(&mut self, op: Op, offset: u64, len: u64) -> u32 {
        let token = self.asked.len() as u32;
        self.asked.insert(token, (self.now, op, offset..offset + len));
        let (version, entropy) = (if op == Op::Write { u64::from(token) + 1 } else { 0 }, Entropy::INCOMPRESSIBLE);
        let io = ServiceIo { token, op, offset, len: len as u32, fua: false, version, entropy };
        self.controller.submit(Instant(self.now), io);
        self.advance(self.now);
        token
    }

    fn advance(&mut self, at: u64) {
        self.now = at;
        self.controller.advance(Instant(at), &mut self.out);
        for command in std::mem::take(&mut self.out.commands) {
            let range = command.offset..command.offset + u64::from(command.len);
            assert!(range.end <= SIZE);
            if command.op == Op::Read {
                // What a host was promised and the members have not is in memory, and is not asked of them.
                for sector in sectors(&range) {
                    let (promised, there) = (self.promised.get(&sector), self.on_members.get(&sector));
                    assert!(promised <= there, "sector {sector}: {promised:?} promised, {there:?} there");
                }
            }
            let mut of = Versions::default();
            if command.op == Op::Write {
                // Whatever is written back is still held; what goes through is of one write.
                let kept: Vec<_> = self.controller.cut_power(Instant(at)).held(range.clone()).collect();
                of.set(range, command.version);
                for (part, version) in kept {
                    of.set(part, version);
                }
                assert!(of.iter().all(|(_, version)| version <= command.version));
            }
            self.under_way.insert((at + MEMBER, self.commands.len()), (command, of));
            self.commands.push((at, command));
        }
        for served in std::mem::take(&mut self.out.served) {
            let (since, op, range) = self.asked[&served.token].clone();
            assert_eq!((served.times.total(), served.fault), (Span(at - since), None), "{served:?}");
            if op == Op::Write {
                for sector in sectors(&range) {
                    let newest = self.promised.entry(sector).or_default();
                    *newest = (*newest).max(u64::from(served.token) + 1);
                }
            }
            self.served.push((served.token, at, at - since));
        }
    }

    fn next(&self) -> Option<u64> {
        let member = self.under_way.first_key_value().map(|((at, _), _)| *at);
        member.into_iter().chain(self.controller.wake().map(|at| at.0)).min()
    }

    fn run_to(&mut self, to: u64) {
        while let Some(at) = self.next().filter(|at| *at <= to) {
            if let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 == at) {
                let (command, of) = entry.remove();
                for (range, version) in of.iter() {
                    sectors(&range).for_each(|sector| {
                        self.on_members.insert(sector, version);
                    });
                }
                let times = Times { transfer: Span(MEMBER), ..Times::default() };
                self.controller.answered(Instant(at), command.token, &times, None);
            }
            self.advance(at);
        }
        self.advance(to);
    }

    fn drain(&mut self) {
        while let Some(at) = self.next() {
            self.run_to(at);
        }
    }

    /// Asks and tells how long it took.
    fn latency(&mut self, op: Op, offset: u64, len: u64) -> u64 {
        let token = self.ask(op, offset, len);
        self.run_to(self.now + 100_000_000);
        self.latency_of(token)
    }

    #[track_caller]
    fn latency_of(&self, token: u32) -> u64 {
        self.served.iter().find(|served| served.0 == token).expect("it was answered").2
    }

    fn count(&self, name: &str) -> u64 {
        let part = &self.controller.report()[0];
        let mut all = part.counters.iter().chain(&part.at_end);
        all.find(|(have, _)| *have == name).expect("the controller has the counter").1
    }

    fn sent(&self) -> Vec<(Op, u64, u32)> {
        self.commands.iter().map(|(_, sent)| (sent.op, sent.offset, sent.len)).collect()
    }
}

/// 20 us of its processor, and 4 KiB at 1 GB/s.
const TIMES: &str = ", overhead = \"20 us\", rate = \"1 GB/s\"";
const HIT: u64 = 20_000 + 4096;

#[test]
fn protected_memory_answers_writes_and_what_it_holds_and_the_members_the_rest() {
    let mut rig = Rig::new(TIMES);
    assert_eq!(rig.latency(Op::Write, MIB, 4096), HIT);
    assert_eq!(rig.latency(Op::Read, MIB, 4096), HIT);
    assert_eq!(rig.latency(Op::Flush, 0, 0), 20_000);
    assert_eq!(rig.sent(), [], "nothing is written back for 4 s");
    assert_eq!(rig.latency(Op::Read, 8 * MIB, 4096), MEMBER + HIT);
    assert_eq!(rig.latency(Op::Read, 8 * MIB, 4096), HIT, "it was kept");
    // Half of it is held: only the other half is asked for.
    assert_eq!(rig.latency(Op::Read, MIB, 8192), MEMBER + 20_000 + 8192);
    assert_eq!(rig.sent()[1..], [(Op::Read, MIB + 4096, 4096)]);
    assert_eq!((rig.count("reads"), rig.count("read_hits"), rig.count("cached_writes")), (4, 2, 1));
}

#[test]
fn answers_come_to_the_nanosecond_and_one_after_the_other_over_the_bus() {
    let mut rig = Rig::new(TIMES);
    let (one, two) = (rig.ask(Op::Write, 0, 4096), rig.ask(Op::Write, MIB, 4096));
    rig.run_to(HIT - 1);
    assert!(rig.served.is_empty());
    rig.run_to(HIT);
    assert_eq!(rig.latency_of(one), HIT);
    rig.run_to(HIT + 4096);
    assert_eq!(rig.latency_of(two), HIT + 4096);
}

#[test]
fn without_a_battery_the_members_answer_writes_and_nothing_is_dirty() {
    let mut rig = Rig::new(&format!("{TIMES}, battery = \"off\""));
    assert_eq!(rig.latency(Op::Write, MIB, 4096), MEMBER + HIT);
    assert_eq!(rig.latency(Op::Flush, 0, 0), MEMBER + 20_000);
    let token = rig.ask(Op::Write, 2 * MIB, 4096);
    assert_eq!((rig.count("dirty_bytes"), rig.count("cached_writes")), (0, 0));
    assert_eq!(rig.controller.cut_power(Instant(rig.now)).iter().count(), 0);
    rig.drain();
    assert_eq!(rig.latency_of(token), MEMBER + HIT);
    // A read that overtakes a write brings what was there before, which is not kept.
    rig.ask(Op::Read, 3 * MIB, 4096);
    rig.ask(Op::Write, 3 * MIB, 4096);
    rig.ask(Op::Read, 3 * MIB, 4096);
    rig.drain();
    assert_eq!(rig.latency(Op::Read, 3 * MIB, 4096), MEMBER + HIT);
}

#[test]
fn sequential_readers_are_read_ahead_of() {
    let mut rig = Rig::new(&format!("{TIMES}, read_ahead = \"64 KiB\""));
    assert_eq!(rig.latency(Op::Read, 0, 4096), MEMBER + HIT);
    assert_eq!(rig.latency(Op::Read, 4096, 4096), MEMBER + HIT, "the second read in a row");
    assert_eq!(rig.sent()[1..], [(Op::Read, 4096, 4096), (Op::Read, 8192, 65_536)]);
    assert_eq!(rig.latency(Op::Read, 8192, 4096), HIT);
    let mut off = Rig::new(&format!("{TIMES}, read_ahead = \"off\""));
    for block in 0..3 {
        assert_eq!(off.latency(Op::Read, 4096 * block, 4096), MEMBER + HIT);
    }
    assert_eq!(off.count("read_ahead_bytes"), 0);
}

#[test]
fn who_asks_for_what_is_on_its_way_waits_for_that_and_asks_for_nothing() {
    let mut rig = Rig::new(TIMES);
    let one = rig.ask(Op::Read, 0, 4096);
    rig.run_to(1_000_000);
    let two = rig.ask(Op::Read, 0, 4096);
    rig.drain();
    assert_eq!(rig.commands.len(), 1);
    assert_eq!(rig.latency_of(one), MEMBER + HIT);
    assert_eq!(rig.latency_of(two), MEMBER + HIT + 4096 - 1_000_000, "and its data crosses after the other's");
}

#[test]
fn what_is_dirty_is_written_back_after_a_while_by_address() {
    let mut rig = Rig::new(TIMES);
    for offset in [9 * MIB, MIB, 5 * MIB] {
        rig.ask(Op::Write, offset, 4096);
    }
    rig.run_to(3_999_999_999);
    assert_eq!((rig.sent(), rig.count("dirty_bytes")), (vec![], 3 * 4096));
    rig.run_to(4_000_000_000);
    assert_eq!(rig.sent(), [(Op::Write, MIB, 4096), (Op::Write, 5 * MIB, 4096), (Op::Write, 9 * MIB, 4096)]);
    rig.drain();
    assert_eq!((rig.count("dirty_bytes"), rig.controller.wake()), (0, None), "it comes to rest");
}

#[test]
fn what_the_members_refuse_to_take_back_is_counted_and_no_longer_dirty() {
    let mut rig = Rig::new(TIMES);
    for offset in [MIB, 5 * MIB, 9 * MIB] {
        rig.ask(Op::Write, offset, 4096);
    }
    rig.run_to(4_000_000_000);
    let faults = [Some(Fault::Gone), None, Some(Fault::Gone)];
    for (fault, (command, _)) in faults.into_iter().zip(std::mem::take(&mut rig.under_way).into_values()) {
        rig.controller.answered(Instant(rig.now), command.token, &Times::default(), fault);
    }
    assert_eq!((rig.count("destage_faults"), rig.count("destages"), rig.count("dirty_bytes")), (2, 3, 0));
    assert_eq!(rig.controller.dropped(), 2 * 4096);
}

#[test]
fn above_the_low_mark_it_writes_back_full_stripes_first_and_above_the_high_mark_writes_wait() {
    let marks = ", cache = \"16 MiB\", dirty_low = \"25 %\", dirty_high = \"50 %\", destages = 1";
    let mut rig = Rig::new(&format!("{TIMES}{marks}"));
    // A quarter of the memory in single blocks, then a full stripe beyond them.
    for stripe in 0..15 {
        rig.ask(Op::Write, stripe * STRIPE, STRIPE - 4096);
    }
    assert_eq!(rig.sent(), []);
    rig.ask(Op::Write, 100 * STRIPE, STRIPE);
    rig.ask(Op::Write, 200 * STRIPE, 64 * KIB);
    assert_eq!(rig.sent(), [(Op::Write, 100 * STRIPE, STRIPE as u32)]);
    let mut last = 0;
    for stripe in 300..320 {
        last = rig.ask(Op::Write, stripe * STRIPE, STRIPE);
    }
    assert!(rig.count("dirty_bytes") <= 8 * MIB && rig.count("waited_writes") > 0);
    rig.drain();
    assert!(rig.latency_of(last) > MEMBER, "it waited for room");
    // What is written back is dirty again or new: 20 stripes in whole, and that before them.
    assert_eq!((rig.count("full_stripes"), rig.count("destages") > 21), (21, true));
    assert!(rig.latency(Op::Write, 0, 4096) < MEMBER);
}

#[test]
fn a_dirty_sector_takes_the_room_that_a_line_takes_at_least() {
    let marks = ", cache = \"16 MiB\", dirty_low = \"25 %\", dirty_high = \"50 %\", destages = 1";
    let mut rig = Rig::new(&format!("{TIMES}{marks}"));
    for line in 0..1024 {
        rig.ask(Op::Write, line * 64 * KIB, 512);
    }
    assert_eq!((rig.sent(), rig.count("dirty_bytes")), (vec![], 512 * KIB));
    rig.ask(Op::Write, 1024 * 64 * KIB, 512);
    assert_eq!(rig.sent().len() as u64, STRIPE / (64 * KIB), "all lines of a stripe go");
}

#[test]
fn protected_content_survives_the_loss_of_power() {
    let mut rig = Rig::new(TIMES);
    rig.ask(Op::Write, MIB, 8192);
    rig.ask(Op::Write, MIB, 4096);
    let kept: Vec<_> = rig.controller.cut_power(Instant(1)).iter().collect();
    assert_eq!(kept, [(MIB..MIB + 4096, 2), (MIB + 4096..MIB + 8192, 1)]);
    // On its way to the members it is still held; with them it is theirs.
    rig.run_to(4_000_000_001);
    assert_eq!(rig.controller.cut_power(Instant(rig.now)).iter().count(), 2);
    rig.drain();
    assert_eq!(rig.controller.cut_power(Instant(rig.now)).iter().count(), 0);
    assert_eq!(rig.on_members.values().copied().max(), Some(2));
}

/// Gap, whether a write, first and number of 4 KiB blocks.
fn schedule() -> impl Strategy<Value = Vec<(u64, bool, u64, u64)>> {
    let gap = prop_oneof![3 => Just(0_u64), 3 => 0_u64..20_000_000, 1 => 0_u64..3_000_000_000];
    let block = prop_oneof![2 => 0_u64..100, 1 => 0_u64..20_000];
    let len = prop_oneof![3 => 1_u64..10, 1 => 1_u64..700];
    prop::collection::vec((gap, prop::bool::weighted(0.6), block, len), 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_acknowledged_write_is_written_back_once_and_reads_get_the_latest(
        asked in schedule(), small in any::<bool>(), battery in any::<bool>(),
    ) {
        // Small memory with low marks, in which nearly everything waits, and large.
        let size = if small { ", cache = \"16 MiB\", dirty_low = \"2 %\", dirty_high = \"10 %\", destages = 2" } else { "" };
        let battery = if battery { "" } else { ", battery = \"off\"" };
        let mut rig = Rig::new(&format!("{TIMES}{size}{battery}"));
        let mut written = BTreeSet::new();
        let mut all = 0;
        for (gap, is_write, block, blocks) in asked {
            rig.run_to(rig.now + gap);
            let op = if is_write { Op::Write } else { Op::Read };
            rig.ask(op, block * 4096, blocks * 4096);
            if is_write {
                written.extend(block..block + blocks);
                all += blocks;
            }
            // Whatever was promised is on the members or survives in memory, at any time.
            let kept = rig.controller.cut_power(Instant(rig.now));
            for (sector, promised) in &rig.promised {
                let there = rig.on_members.get(sector).copied().unwrap_or(0);
                let held = kept.held(sector * 512..sector * 512 + 512).map(|(_, version)| version).max().unwrap_or(0);
                prop_assert!(there.max(held) >= *promised, "sector {sector}: {promised} promised, {there}, {held}");
            }
        }
        rig.drain();
        prop_assert_eq!(rig.served.len(), rig.asked.len());
        prop_assert_eq!(&rig.on_members, &rig.promised);
        let sent: u64 = rig.commands.iter().filter(|(_, sent)| sent.op == Op::Write).map(|(_, s)| u64::from(s.len)).sum();
        let distinct = written.len() as u64;
        // A block written twice is written back once or twice, as there was time between them or not.
        prop_assert!((distinct..=all).contains(&(sent / 4096)), "{sent} of {distinct} to {all}");
        prop_assert_eq!((rig.count("dirty_bytes"), rig.controller.wake()), (0, None));
    }
}
