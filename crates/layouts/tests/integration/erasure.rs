//! Does an erasure-coded pool read, write and lose what k + m shards do, and at exactly the time that its parts add up to?

use crate::pool::{ANSWER, BLOCK, CLIENT, COMMIT, DISK, KIB, LATENCY, MIB, READ, REPLICA, Rig, WRITE, in_place, wire};
use hotband_machine::Op;

/// Six daemons on one host: from one to another there is only the wire's latency.
const CODED: &str = ", k = 4, m = 2, placement_groups = 64, image = \"1 GiB\"";

fn coded(options: &str) -> Rig {
    Rig::coded(6, &format!("{CODED}{options}"), &[])
}

/// Commands in place, by operation: bytes of each.
fn lens(rig: &Rig, op: Op) -> Vec<u32> {
    let sent = rig.commands.iter().filter(|(_, sent)| sent.op == op && in_place(sent.offset));
    sent.map(|(_, sent)| sent.len).collect()
}

/// From the primary to another daemon, which reads its unit, and back.
fn unit_read() -> u64 {
    LATENCY + REPLICA + BLOCK + DISK.read + LATENCY + ANSWER
}

#[test]
fn a_small_read_asks_k_shards_and_takes_the_last_of_them() {
    let mut rig = coded("");
    let wanted = CLIENT + wire(0) + READ + BLOCK + unit_read() + wire(4096) + BLOCK;
    rig.ask(Op::Read, 0, 4096);
    rig.run_to(wanted - 1);
    assert!(rig.served.is_empty(), "not before");
    rig.run_to(wanted);
    assert_eq!(rig.served.len(), 1);
    let link = rig.served[0].1.times.link.0;
    assert_eq!(
        link,
        wire(0) + 2 * LATENCY + wire(4096),
        "to the primary, from it to another and back, and to the client"
    );
    assert_eq!(lens(&rig, Op::Read), [4096; 4], "k shards, a unit each");
    let daemons: std::collections::BTreeSet<u16> = rig.commands.iter().map(|(_, sent)| sent.member).collect();
    assert_eq!(daemons.len(), 4, "each on a daemon of its own");
}

#[test]
fn with_reads_of_what_is_touched_a_small_read_asks_one_shard() {
    let mut rig = coded(", reads = \"touched\"");
    for unit in 0..4 {
        let before = rig.commands.len();
        rig.latency(Op::Read, unit * 4 * KIB, 4096);
        assert_eq!(rig.commands.len() - before, 1);
    }
    let before = rig.commands.len();
    rig.latency(Op::Read, 64 * KIB, 16 * KIB);
    assert_eq!(rig.commands.len() - before, 4, "a stripe");
}

#[test]
fn a_full_stripe_is_written_to_all_shards_without_reading() {
    let mut rig = coded("");
    // 16 KiB: four units of data and two of parity; below `prefer_deferred_size` it goes with the log.
    let wanted = CLIENT
        + wire(16 * KIB)
        + WRITE
        + 4 * BLOCK
        + LATENCY
        + REPLICA
        + BLOCK
        + COMMIT
        + DISK.write
        + DISK.flush
        + LATENCY
        + ANSWER
        + wire(0);
    assert_eq!(rig.latency(Op::Write, 0, 16 * KIB), wanted);
    assert_eq!(lens(&rig, Op::Read), [0_u32; 0]);
    assert_eq!(rig.commands.iter().filter(|(_, sent)| sent.op == Op::Write).count(), 6, "k + m logs");
}

#[test]
fn shards_as_long_as_the_limit_of_deferral_go_to_their_places_first() {
    // Four units of data: shards of 28 and of 32 KiB, the daemons' `prefer_deferred_size`.
    for (len, in_place) in [(112 * KIB, vec![]), (128 * KIB, vec![32 << 10; 6])] {
        let mut rig = coded("");
        rig.latency(Op::Write, 0, len);
        assert_eq!(lens(&rig, Op::Write), in_place, "{len}");
    }
}

#[test]
fn less_than_a_stripe_is_read_from_k_shards_before_it_is_written_to_all() {
    let mut rig = coded("");
    let wanted = CLIENT
        + wire(4096)
        + WRITE
        + BLOCK
        + unit_read()
        + LATENCY
        + REPLICA
        + BLOCK
        + COMMIT
        + DISK.write
        + DISK.flush
        + LATENCY
        + ANSWER
        + wire(0);
    assert_eq!(rig.latency(Op::Write, 4096, 4096), wanted);
    assert_eq!(lens(&rig, Op::Read), [4096; 4]);
    assert_eq!(rig.commands.iter().filter(|(_, sent)| sent.op == Op::Write).count(), 6);
}

#[test]
fn every_shard_is_read_where_it_was_written() {
    let mut rig = Rig::coded(6, &CODED.replace("64", "8"), &[("data_cache", "\"4 KiB\"")]);
    let stripe = 256 * KIB;
    let places = |rig: &Rig, op: Op| {
        let sent = rig.commands.iter().filter(|(_, sent)| sent.op == op && in_place(sent.offset));
        sent.map(|(_, sent)| (sent.member, sent.offset)).collect::<std::collections::BTreeSet<_>>()
    };
    for object in 0..32 {
        rig.latency(Op::Write, object * 4 * MIB, stripe);
    }
    let written = places(&rig, Op::Write);
    assert_eq!(written.len(), 32 * 6, "six shards each, and no two in one place");
    for object in 0..32 {
        rig.latency(Op::Read, object * 4 * MIB, stripe);
    }
    let read = places(&rig, Op::Read);
    assert!(read.len() >= 32 * 3 && read.is_subset(&written), "{:?}", read.difference(&written).collect::<Vec<_>>());
}

#[test]
fn space_is_k_plus_m_over_k() {
    let rig = coded("");
    let objects: u64 = (0..6).map(|osd| rig.count(&format!("osd{osd}"), "objects")).sum();
    assert_eq!(objects, 6 * (1 << 30) / (4 << 20), "a shard of each object on each of six daemons");
    let whole = Rig::coded(6, ", k = 4, m = 2, placement_groups = 64", &[]);
    let copied = Rig::new(6, ", replicas = 3, placement_groups = 64", &[]);
    let ratio = whole.pool.capacity().0 as f64 / copied.pool.capacity().0 as f64;
    assert!((ratio / 2.0 - 1.0).abs() < 0.1, "4 of 6 instead of 1 of 3, groups uneven: {ratio}");
}

#[test]
fn without_m_daemons_everything_is_read_and_written_and_with_one_less_nothing() {
    for touched in ["", ", reads = \"touched\""] {
        let mut rig = coded(touched);
        for gone in [1, 4] {
            rig.fail(gone);
        }
        assert_eq!(rig.pool.lost(), 0);
        let before = rig.commands.len();
        for object in 0..40_u64 {
            rig.latency(Op::Read, object << 22, 4096);
            rig.latency(Op::Write, object << 22, 4096);
        }
        assert!(rig.commands[before..].iter().all(|(_, sent)| ![1, 4].contains(&sent.member)));
        rig.fail(2);
        assert_eq!(rig.pool.lost(), 1 << 30, "three of six: all groups have two too many missing");
    }
}

#[test]
fn a_daemon_that_goes_while_it_is_asked_is_replaced_by_another_shard() {
    for touched in ["", ", reads = \"touched\""] {
        for gone in 0..6 {
            let mut rig = coded(touched);
            for object in 0..20_u64 {
                rig.ask(Op::Read, object << 22, 16 * KIB);
                rig.ask(Op::Write, object << 22 | 4096, 4096);
            }
            rig.run_to(CLIENT * 10);
            rig.fail(gone);
            rig.drain();
            assert_eq!(rig.served.len(), 40, "all are answered, and without a fault");
        }
    }
}

#[test]
fn a_shard_that_is_gone_is_made_anew_of_k_others_and_one_that_is_not_is_copied() {
    for is_gone in [true, false] {
        let options = ", k = 2, m = 1, placement_groups = 16, image = \"256 MiB\"";
        let mut rig = Rig::coded(5, options, &[("recovery_sleep", "\"0 ms\"")]);
        let before = rig.count("osd1", "objects");
        rig.pool.expect_out(&[1], is_gone).expect("there is room");
        if is_gone {
            rig.pool.member_failed(rig.now, 1);
        } else {
            rig.pool.mark_out(rig.now, 1);
        }
        rig.run_to(0);
        rig.drain();
        let moved = rig.count("recovery", "objects_moved");
        assert!(moved >= before && before > 0 && rig.count("osd1", "objects") == 0);
        let (shard, copied) = (2 << 20, moved - if is_gone { before } else { 0 });
        assert_eq!(
            lens(&rig, Op::Read),
            vec![shard; (2 * (moved - copied) + copied) as usize],
            "k shards, or one, are read"
        );
        assert_eq!(lens(&rig, Op::Write), vec![shard; moved as usize], "and one is written");
    }
}
