//! RAID-Z on drives that complete in any order, fail and are replaced: reads return what was written, everything is
//! completed once, and the cost matches the published formula.

use hotband_machine::{
    Fault, JobState, LayoutSpec, MemberCommand, MemberRange, NodeRef, Op, Random, Service, SpecError,
};
use hotband_units::{Bytes, Rate};
use proptest::prelude::*;

use super::rig::Rig;
use super::spec::{RAIDZ, RaidZSpec};
use super::{For, RaidZ, build};
use crate::raidz::Geometry;

const KIB: u64 = 1024;

fn raidz(parities: u64, columns: u64, record: u64, (records, places): (u64, u64), kept: usize) -> RaidZ {
    let geometry = Geometry { columns, parities, sector: 4 * KIB };
    let kind = RAIDZ[parities as usize - 1];
    RaidZ::new(&RaidZSpec { kind, geometry, record, kept, filled: 0.5 }, records, places)
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
    // What is in memory is not answered either.
    let token = rig.ask(Op::Read, 0, 4 * KIB);
    rig.drain();
    assert_eq!(rig.answered[&token], None);
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
        rig.replace(2, None);
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
    rig.replace(1, Some(Rate(10_000_000)));
    rig.drain();
    let (bytes, took) = (rig.count("resilvered_bytes") as f64, rig.count("resilver_ns") as f64 / 1e9);
    assert!((bytes / took / 10e6 - 1.0).abs() < 0.2, "{bytes} B in {took} s: one step of some is not waited for");
}

#[test]
fn a_forced_write_is_answered_when_the_log_points_to_its_record_and_the_members_are_flushed() {
    for (parities, columns) in [(1, 5), (2, 6), (3, 7)] {
        let mut rig = Rig::new(raidz(parities, columns, 128 * KIB, (100, 200), 0), 1);
        let token = rig.ask_for(Op::Write, 5 * 128 * KIB, 128 * KIB, true);
        rig.drain();
        assert_eq!(rig.answered[&token], None);
        let kind = |sent: &MemberCommand| match (sent.op, For::of(sent.token)) {
            (Op::Write, For::Record(5)) => 0_u64,
            (Op::Write, For::Log) => 1,
            (Op::Flush, For::Log) => 2,
            _ => 3,
        };
        let kinds: Vec<u64> = rig.sent.iter().map(kind).collect();
        // A sector of pointers with its parity, and a flush of every member.
        let count = |wanted: u64| kinds.iter().filter(|kind| **kind == wanted).count() as u64;
        assert!(kinds.is_sorted(), "{kinds:?}");
        assert_eq!([1, 2, 3].map(count), [1 + parities, columns, 0]);
        assert_eq!(rig.count("log_bytes"), (1 + parities) * 4 * KIB);
    }
}

#[test]
fn forced_writes_that_come_while_the_log_is_written_share_its_next_block() {
    let mut rig = Rig::new(raidz(1, 5, 128 * KIB, (100, 200), 0), 1);
    for record in 0..64 {
        rig.ask_for(Op::Write, record * 128 * KIB, 128 * KIB, true);
    }
    rig.drain();
    let flushes = rig.sent.iter().filter(|sent| sent.op == Op::Flush).count() / 5;
    assert!((2..16).contains(&flushes), "{flushes} blocks for 64 writes");
    // What begins at the end of the log's place goes on at its front, and not on records.
    for record in 0..96 {
        rig.ask_for(Op::Write, record * 128 * KIB, 128 * KIB, true);
        rig.drain();
    }
    assert!(rig.count("log_bytes") > 2 * rig.raidz.allocated, "round and round");
}

#[test]
fn without_too_many_members_the_log_gives_up() {
    let mut rig = Rig::new(raidz(1, 5, 128 * KIB, (100, 200), 0), 1);
    let tokens: Vec<u32> = (0..8).map(|record| rig.ask_for(Op::Write, record * 128 * KIB, 128 * KIB, true)).collect();
    while !rig.sent.iter().any(|sent| matches!(For::of(sent.token), For::Log)) {
        assert!(rig.step());
    }
    rig.fail(0);
    rig.fail(1);
    rig.drain();
    assert!(tokens.iter().all(|token| rig.answered[token] == Some(Fault::Gone)), "{:?}", rig.answered);
}

#[test]
fn every_spare_is_a_rebuild_and_says_how_far_it_is() {
    let mut rig = Rig::new(raidz(3, 7, 128 * KIB, (400, 500), 0), 1);
    let of_member = rig.raidz.geometry.allocated(128 * KIB) * 400 / 7;
    let states = |rig: &Rig| rig.raidz.rebuilds().iter().map(|rebuild| rebuild.state).collect::<Vec<_>>();
    for member in 0..3 {
        rig.fail(member);
    }
    for member in 0..3 {
        rig.replace(member, None);
    }
    assert_eq!(states(&rig), [JobState::Running, JobState::Waiting, JobState::Waiting]);
    assert!(rig.raidz.rebuilds().iter().all(|rebuild| (rebuild.bytes, rebuild.of_bytes) == (0, of_member)));
    while rig.raidz.rebuilds()[0].bytes == 0 {
        assert!(rig.step());
    }
    rig.fail(1);
    rig.drain();
    assert_eq!(states(&rig), [JobState::Done, JobState::SpareFailed, JobState::Done]);
    let all = rig.raidz.rebuilds();
    assert!(all[2].began == all[0].ended && all[2].ended == Some(rig.now), "one after the other: {all:?}");
    for rebuild in [all[0], all[2]] {
        assert_eq!(rebuild.bytes, rebuild.of_bytes);
        assert!((rebuild.bytes as f64 / of_member as f64 - 1.0).abs() < 0.05, "{} of {of_member}", rebuild.bytes);
    }
    assert_eq!(rig.count("resilvered_bytes"), all[0].bytes + all[2].bytes);
    rig.replace(1, None);
    for member in 3..6 {
        rig.fail(member);
    }
    assert_eq!(states(&rig)[3], JobState::Stopped, "too few members are left");
}

#[test]
fn what_is_being_written_when_a_spare_comes_is_resilvered_when_it_is_written() {
    let record = 32 * KIB;
    let mut rig = Rig::new(raidz(1, 6, record, (1, 3), 0), 1);
    rig.ask(Op::Write, 0, record);
    rig.drain();
    assert_eq!(rig.raidz.places.of(0), 1, "so that the next is written to place 0");
    rig.fail(1);
    rig.ask(Op::Write, 0, record);
    rig.replace(1, None);
    rig.drain();
    assert_eq!((rig.raidz.places.of(0), rig.raidz.is_whole()), (0, true));
    // The rig looks whether what is read is there.
    rig.ask(Op::Read, 0, record);
    rig.drain();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn reads_find_their_records_whatever_fails(
        parities in 1_u64..4, more in 1_u64..6, record in 0..3_usize, seed in any::<u64>(), depth in 1_usize..16,
        kept in 0_usize..8, fails in 0_usize..4, replaced in any::<bool>(), forced_pct in 0_u64..=100,
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
                rig.ask_for(op, offset, len, random.below(100) < forced_pct);
            }
            prop_assert!(rig.step());
            let turn = round / 50;
            if round % 50 == 10 && turn < fails {
                rig.fail(turn as u16);
            }
            if round % 50 == 40 && turn < fails && replaced {
                prop_assert!(rig.raidz.can_replace(turn as u16));
                rig.replace(turn as u16, None);
            }
        }
        rig.drain();
        prop_assert_eq!(rig.answered.len(), rig.asked.len(), "everything is answered");
        prop_assert!(rig.answered.values().all(Option::is_none), "within its parities");
        prop_assert_eq!(rig.raidz.is_whole(), fails == 0 || replaced);
        for rebuild in rig.raidz.rebuilds() {
            prop_assert_eq!((rebuild.state, rebuild.bytes), (JobState::Done, rebuild.of_bytes));
        }
        rig.ask(Op::Flush, 0, 0);
        for record in 0..60 {
            rig.ask(Op::Read, record * rig.raidz.record, 4 * KIB);
            rig.drain();
        }
        prop_assert!(rig.raidz.busy.is_empty() && rig.raidz.resilver.freed().is_empty());
    }
}

fn made(kind: &str, members: u32, options: &str, size: u64) -> Result<Box<dyn Service>, SpecError> {
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
    build("m.toml", &spec, &ranges)
}

#[test]
fn the_share_that_is_filled_is_its_capacity() {
    let capacity = |options: &str| {
        made("raidz2", 6, options, 1 << 30).map_err(|error| error.to_string()).expect("it can be built").capacity().0
    };
    let all = capacity("filled = \"80 %\"") as f64 / 0.8;
    assert_eq!(capacity("sector = \"4 KiB\""), capacity("filled = \"80 %\""));
    for (text, share) in [("\"50 %\"", 0.5), ("25", 0.25), ("\"99 %\"", 0.99)] {
        assert!((capacity(&format!("filled = {text}")) as f64 / all / share - 1.0).abs() < 1e-3, "{text}");
    }
}

#[test]
fn mistakes_are_named() {
    let error = |kind: &str, members: u32, options: &str, size: u64| {
        made(kind, members, options, size).err().expect("this is a mistake").to_string()
    };
    let (few, gib) = ("sector = \"4 KiB\"", 1 << 30);
    assert!(error("raidz1", 1, few, gib).contains("raidz1 needs at least 2 drives"));
    assert!(error("raidz3", 3, few, gib).contains("raidz3 needs at least 4 drives"));
    assert!(error("raidz1", 4, "record = \"100 KiB\"", gib).contains("a power of two from"));
    assert!(error("raidz1", 4, "record = \"2 KiB\"", gib).contains("a power of two from"));
    assert!(error("raidz1", 4, "chunk = \"64 KiB\"", gib).contains("unknown key"));
    assert!(error("raidz1", 4, "filled = \"100 %\"", gib).contains("100 %"));
    assert!(error("raidz1", 4, "filled = 0.8", gib).contains("filled"));
    assert!(error("raidz1", 4, "", gib).contains("force_writes"));
    assert!(error("raidz1", 4, few, 8 * KIB).contains("a free place"));
}
