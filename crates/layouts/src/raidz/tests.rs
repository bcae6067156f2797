//! RAID-Z on drives that answer in any order, fail and are replaced: what is read is what was written there, everything is
//! answered once, and it costs what the published formula says.

use std::collections::BTreeMap;

use hotband_machine::{Entropy, Fault, LayoutSpec, MemberCommand, MemberRange, NodeRef, Op, Random, ServiceOut};
use hotband_machine::{Service, ServiceIo, Times};
use hotband_units::{Bytes, Instant, Span};
use proptest::prelude::*;

use super::spec::{RAIDZ, RaidZSpec};
use super::{For, Presence, RaidZ, build};
use crate::raidz::Geometry;

const KIB: u64 = 1024;

fn raidz(parities: u64, columns: u64, record: u64, (records, places): (u64, u64), kept: usize) -> RaidZ {
    let geometry = Geometry { columns, parities, sector: 4 * KIB };
    let kind = RAIDZ[parities as usize - 1];
    RaidZ::new(&RaidZSpec { kind, geometry, record, kept, filled: 0.5 }, records, places)
}

/// A command under way: when it ends, and whether its drive failed under it.
struct UnderWay {
    command: MemberCommand,
    failed: bool,
}

/// A RAID-Z on drives that take a random time, with which record every sector belongs to.
struct Rig {
    raidz: RaidZ,
    now: Instant,
    random: Random,
    /// By member and sector.
    sectors: Vec<BTreeMap<u64, u64>>,
    under_way: BTreeMap<(Instant, u64), UnderWay>,
    sent: Vec<MemberCommand>,
    asked: BTreeMap<u32, Instant>,
    answered: BTreeMap<u32, Option<Fault>>,
    out: ServiceOut,
}

impl Rig {
    fn new(raidz: RaidZ, seed: u64) -> Self {
        let mut rig = Self {
            sectors: vec![BTreeMap::new(); raidz.present.len()],
            raidz,
            now: Instant::ZERO,
            random: Random::new(seed, "drives"),
            under_way: BTreeMap::new(),
            sent: Vec::new(),
            asked: BTreeMap::new(),
            answered: BTreeMap::new(),
            out: ServiceOut::default(),
        };
        for record in 0..rig.raidz.records {
            for column in rig.raidz.columns_of(record) {
                rig.hold(column.member, column.offset, u64::from(column.len), record);
            }
        }
        rig
    }

    fn hold(&mut self, member: u16, offset: u64, len: u64, record: u64) {
        let sectors = offset / 4096..(offset + len) / 4096;
        self.sectors[usize::from(member)].extend(sectors.map(|sector| (sector, record)));
    }

    fn ask(&mut self, op: Op, offset: u64, len: u64) -> u32 {
        let token = self.asked.len() as u32;
        self.asked.insert(token, self.now);
        let (len, entropy) = (len as u32, Entropy::INCOMPRESSIBLE);
        self.raidz.submit(self.now, ServiceIo { token, op, offset, len, fua: false, version: 0, entropy });
        self.advance();
        token
    }

    fn advance(&mut self) {
        self.raidz.advance(self.now, &mut self.out);
        for command in std::mem::take(&mut self.out.commands) {
            let at = self.now + Span(1000 + self.random.below(100_000));
            let failed = self.raidz.present[usize::from(command.member)] == Presence::Gone;
            assert!(!failed, "nothing is asked of a member that is gone");
            if let (Op::Read, For::Record(record)) = (command.op, For::of(command.token)) {
                self.is_of(&command, record);
            }
            self.under_way.insert((at, self.sent.len() as u64), UnderWay { command, failed });
            self.sent.push(command);
        }
        for served in std::mem::take(&mut self.out.served) {
            let since = self.asked[&served.token];
            assert_eq!(served.times.total(), self.now.since(since), "the times add up");
            assert_eq!(self.answered.insert(served.token, served.fault), None, "an I/O is answered once");
        }
    }

    /// All that a command reads is of the record, and on the member.
    fn is_of(&self, command: &MemberCommand, record: u64) {
        let sectors = command.offset / 4096..(command.offset + u64::from(command.len)) / 4096;
        let held = &self.sectors[usize::from(command.member)];
        for sector in sectors {
            assert_eq!(held.get(&sector), Some(&record), "member {} sector {sector}", command.member);
        }
    }

    /// To the next event; tells whether there was one.
    fn step(&mut self) -> bool {
        let next = self.under_way.keys().next().map(|(at, _)| *at).into_iter().chain(self.raidz.wake()).min();
        let Some(next) = next else { return false };
        self.now = next;
        if let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 == next) {
            let UnderWay { command, failed } = entry.remove();
            if command.op == Op::Write && !failed {
                self.written(&command);
            }
            let times = Times { transfer: Span(1000), ..Times::default() };
            self.raidz.answered(next, command.token, &times, failed.then_some(Fault::Gone));
        }
        self.advance();
        true
    }

    fn written(&mut self, command: &MemberCommand) {
        let (member, offset, len) = (command.member, command.offset, u64::from(command.len));
        match For::of(command.token) {
            For::Record(record) => self.hold(member, offset, len, record),
            For::Flush(_) => panic!("a flush writes nothing"),
            For::Resilver(_) => {
                // What the records that lie there have on the member.
                for record in 0..self.raidz.records {
                    for column in self.raidz.columns_of(self.raidz.places.of(record)) {
                        let (from, to) = (column.offset, column.offset + u64::from(column.len));
                        if column.member == member && from >= offset && to <= offset + len {
                            self.hold(member, from, to - from, record);
                        }
                    }
                }
            }
        }
    }

    fn drain(&mut self) {
        while self.step() {}
    }

    fn fail(&mut self, member: u16) {
        self.raidz.member_failed(self.now, member);
        self.sectors[usize::from(member)].clear();
        let ends: Vec<(Instant, u64)> =
            self.under_way.iter().filter(|(_, of)| of.command.member == member).map(|(key, _)| *key).collect();
        for key in ends {
            let mut of = self.under_way.remove(&key).expect("it was found just now");
            of.failed = true;
            self.under_way.insert((self.now, key.1), of);
        }
        self.advance();
    }

    fn count(&self, name: &str) -> u64 {
        let report = self.raidz.report();
        let mut all = report[0].counters.iter().chain(&report[0].at_end);
        all.find(|(have, _)| *have == name).expect("it is counted").1
    }

    fn sent_bytes(&self, op: Op) -> u64 {
        self.sent.iter().filter(|sent| sent.op == op).map(|sent| u64::from(sent.len)).sum()
    }
}

#[test]
fn a_read_touches_all_data_columns_of_its_record_and_no_parity() {
    let mut rig = Rig::new(raidz(2, 6, 128 * KIB, (100, 200), 0), 1);
    rig.ask(Op::Read, 5 * 128 * KIB + 8 * KIB, 4 * KIB);
    rig.drain();
    assert_eq!((rig.sent.len(), rig.sent_bytes(Op::Read)), (4, 128 * KIB));
    assert_eq!(rig.sent_bytes(Op::Write), 0);
}

#[test]
fn a_small_write_reads_the_record_and_writes_all_of_it_with_its_parity_elsewhere() {
    for (parities, columns) in [(1, 5), (2, 6), (3, 11), (1, 4)] {
        let mut rig = Rig::new(raidz(parities, columns, 128 * KIB, (100, 200), 0), 1);
        let geometry = rig.raidz.geometry;
        rig.ask(Op::Write, 3 * 128 * KIB, 4 * KIB);
        rig.drain();
        let parity = parities * 32_u64.div_ceil(columns - parities) * 4 * KIB;
        assert_eq!(rig.sent_bytes(Op::Read), 128 * KIB, "{geometry:?}");
        assert_eq!(rig.sent_bytes(Op::Write), 128 * KIB + parity, "{geometry:?}");
        assert_eq!((rig.count("data_bytes"), rig.count("parity_bytes")), (128 * KIB, parity), "{geometry:?}");
        assert_eq!(rig.raidz.places.of(3), 100, "the first place behind the last record");
        assert_eq!(rig.count("allocated_bytes"), 100 * geometry.allocated(128 * KIB));
    }
}

#[test]
fn whole_records_are_written_without_reading_and_so_are_those_in_memory() {
    let mut rig = Rig::new(raidz(1, 5, 128 * KIB, (100, 200), 4), 1);
    rig.ask(Op::Write, 7 * 128 * KIB, 256 * KIB);
    rig.drain();
    assert_eq!((rig.sent_bytes(Op::Read), rig.count("records_written")), (0, 2));
    rig.ask(Op::Write, 7 * 128 * KIB + 4 * KIB, 4 * KIB);
    rig.ask(Op::Read, 8 * 128 * KIB, 16 * KIB);
    rig.drain();
    assert_eq!((rig.sent_bytes(Op::Read), rig.count("records_written")), (0, 3));
    assert_eq!(rig.count("records_in_memory"), 1);
}

#[test]
fn writes_to_a_record_that_is_being_written_go_with_the_next_write_of_it() {
    let mut rig = Rig::new(raidz(1, 5, 128 * KIB, (100, 200), 0), 1);
    for n in 0..8 {
        rig.ask(Op::Write, n * 4 * KIB, 4 * KIB);
    }
    rig.drain();
    assert_eq!((rig.count("records_read"), rig.count("records_written")), (1, 1), "all came while it was read");
    rig.ask(Op::Write, 0, 128 * KIB);
    for n in 0..8 {
        rig.ask(Op::Write, n * 4 * KIB, 4 * KIB);
    }
    rig.drain();
    assert_eq!((rig.count("records_read"), rig.count("records_written")), (1, 3), "seven with the second write");
}

#[test]
fn a_read_without_a_member_reads_as_many_columns_with_parity() {
    for gone in 0..6 {
        let mut rig = Rig::new(raidz(2, 6, 128 * KIB, (100, 200), 0), 1);
        rig.fail(gone);
        for record in 0..12 {
            let before = rig.sent.len();
            rig.ask(Op::Read, record * 128 * KIB, 128 * KIB);
            rig.drain();
            assert_eq!(rig.sent.len() - before, 4, "as many as have data");
        }
        assert!(rig.answered.values().all(Option::is_none));
        assert_eq!(rig.raidz.lost(), 0);
    }
}

#[test]
fn beyond_its_parities_it_is_suspended() {
    let mut rig = Rig::new(raidz(1, 5, 128 * KIB, (100, 200), 4), 1);
    rig.fail(0);
    assert!(rig.raidz.can_replace(0));
    rig.fail(1);
    assert!(!rig.raidz.can_replace(0) && !rig.raidz.is_recovering());
    assert_eq!(rig.raidz.lost(), rig.raidz.capacity().0);
    for op in [Op::Read, Op::Write] {
        let token = rig.ask(op, 0, 4 * KIB);
        rig.drain();
        assert_eq!(rig.answered[&token], Some(Fault::Gone));
    }
}

#[test]
fn a_spare_is_written_what_the_member_had_of_records_and_no_more() {
    for (parities, columns) in [(1, 5), (2, 6), (3, 7)] {
        let mut rig = Rig::new(raidz(parities, columns, 128 * KIB, (100, 200), 0), 1);
        let of_member: u64 = (0..100)
            .flat_map(|record| rig.raidz.columns_of(record))
            .filter(|column| column.member == 2)
            .map(|column| u64::from(column.len))
            .sum();
        rig.fail(2);
        rig.raidz.member_replaced(rig.now, 2, None);
        rig.advance();
        assert!(rig.raidz.is_recovering() && !rig.raidz.is_whole());
        rig.drain();
        assert!(!rig.raidz.is_recovering() && rig.raidz.is_whole());
        // Joined over what is padding between two records.
        let written = rig.count("resilvered_bytes");
        let padding = rig.raidz.geometry.allocated(128 * KIB) * 100 / columns - of_member;
        assert!((of_member..=of_member + padding + 4096).contains(&written), "{written} for {of_member}");
        for record in 0..100 {
            rig.ask(Op::Read, record * 128 * KIB, 4 * KIB);
        }
        rig.drain();
    }
}

#[test]
fn a_limit_spreads_the_steps_of_resilvering() {
    let mut rig = Rig::new(raidz(1, 5, 128 * KIB, (400, 500), 0), 1);
    rig.fail(1);
    rig.raidz.member_replaced(rig.now, 1, Some(hotband_units::Rate(10_000_000)));
    rig.advance();
    rig.drain();
    let (bytes, took) = (rig.count("resilvered_bytes") as f64, rig.count("resilver_ns") as f64 / 1e9);
    assert!((bytes / took / 10e6 - 1.0).abs() < 0.2, "{bytes} B in {took} s: one step of some is not waited for");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn reads_find_their_records_whatever_fails(
        parities in 1_u64..4, more in 1_u64..6, record in 0..3_usize, seed in any::<u64>(), depth in 1_usize..16,
        kept in 0_usize..8, fails in 0_usize..4, replaced in any::<bool>(),
    ) {
        let (columns, record) = (parities + more, [4 * KIB, 32 * KIB, 128 * KIB][record]);
        let mut rig = Rig::new(raidz(parities, columns, record, (60, 75), kept), seed);
        let mut random = Random::new(seed, "host");
        let capacity = 60 * record;
        let fails = fails.min(parities as usize);
        for round in 0..400 {
            while rig.asked.len() - rig.answered.len() < depth {
                let len = 4 * KIB * (1 + random.below(2 * record / (4 * KIB)));
                let offset = random.below((capacity - len) / (4 * KIB) + 1) * 4 * KIB;
                let op = if random.below(2) == 0 { Op::Read } else { Op::Write };
                rig.ask(op, offset, len);
            }
            prop_assert!(rig.step());
            let turn = round / 50;
            if round % 50 == 10 && turn < fails {
                rig.fail(turn as u16);
            }
            if round % 50 == 40 && turn < fails && replaced {
                prop_assert!(rig.raidz.can_replace(turn as u16));
                rig.raidz.member_replaced(rig.now, turn as u16, None);
                rig.advance();
            }
        }
        rig.drain();
        prop_assert_eq!(rig.answered.len(), rig.asked.len(), "everything is answered");
        prop_assert!(rig.answered.values().all(Option::is_none), "within its parities");
        prop_assert_eq!(rig.raidz.is_whole(), fails == 0 || replaced);
        rig.ask(Op::Flush, 0, 0);
        for record in 0..60 {
            rig.ask(Op::Read, record * rig.raidz.record, 4 * KIB);
            rig.drain();
        }
        prop_assert!(rig.raidz.busy.is_empty() && rig.raidz.resilver.freed().is_empty());
    }
}

#[test]
fn mistakes_are_named() {
    let error = |kind: &str, members: u32, options: &str, size: u64| {
        let spec = LayoutSpec {
            name: "data".into(),
            kind: kind.into(),
            members: (0..members).map(|drive| NodeRef::Drive(drive).into()).collect(),
            from: Bytes(0),
            size: None,
            force_writes: options.is_empty(),
            options: options.parse().expect("test options are TOML"),
            key: "layouts.data".into(),
        };
        let range = |drive| MemberRange { node: NodeRef::Drive(drive), from: 0, size };
        let ranges: Vec<MemberRange> = (0..members).map(range).collect();
        build("m.toml", &spec, &ranges).err().expect("this is a mistake").to_string()
    };
    let (few, gib) = ("sector = \"4 KiB\"", 1 << 30);
    assert!(error("raidz1", 1, few, gib).contains("raidz1 needs at least 2 drives"));
    assert!(error("raidz3", 3, few, gib).contains("raidz3 needs at least 4 drives"));
    assert!(error("raidz1", 4, "record = \"100 KiB\"", gib).contains("a power of two from"));
    assert!(error("raidz1", 4, "record = \"2 KiB\"", gib).contains("a power of two from"));
    assert!(error("raidz1", 4, "chunk = \"64 KiB\"", gib).contains("unknown key"));
    assert!(error("raidz1", 4, "filled = \"100 %\"", gib).contains("where nothing is"));
    assert!(error("raidz1", 4, "", gib).contains("force_writes"));
    assert!(error("raidz1", 4, few, 8 * KIB).contains("a free place"));
}
