//! Does a replicated pool do what Ceph's daemons do, and at exactly the time that its parts add up to?

use crate::pool;
use crate::pool::{
    ANSWER, BLOCK, CLIENT, COMMIT, DISK, Disk, KIB, LATENCY, MIB, OBJECT, READ, REPLICA, Rig, WRITE, in_place, wire,
};
use hotband_machine::Op;
use proptest::prelude::*;

/// One daemon, one copy: what is left is the daemon itself.
const ALONE: &str = ", replicas = 1, placement_groups = 64, image = \"1 GiB\"";
const ONE_SHARD: (&str, &str) = ("op_shards", "1");
/// Bytes of log of a write of 4 KiB, with its data.
const LOGGED: u64 = 11_700 + 4096;

/// From the host to the point where the daemon has computed, and from the daemon back. Both ends check and copy.
fn read_without_disk(bytes: u64) -> u64 {
    CLIENT + wire(0) + READ + 2 * bytes.div_ceil(4096) * BLOCK + wire(bytes)
}

#[test]
fn a_read_takes_its_processors_wires_and_disk_and_not_a_nanosecond_more() {
    for bytes in [4096, 64 * KIB] {
        let mut rig = Rig::new(1, ALONE, &[]);
        let wanted = read_without_disk(bytes) + DISK.read;
        rig.ask(Op::Read, 0, bytes);
        rig.run_to(wanted - 1);
        assert!(rig.served.is_empty(), "not before");
        rig.run_to(wanted);
        let (_, served) = rig.served[0];
        assert_eq!(served.times.overhead.0, CLIENT + READ + 2 * bytes / 4096 * BLOCK);
        assert_eq!((served.times.link.0, served.times.transfer.0), (wire(0) + wire(bytes), DISK.read));
        assert_eq!(served.times.queue.0, 0);
        assert_eq!(rig.sent(0), [(Op::Read, 0, bytes as u32)]);
    }
}

#[test]
fn what_was_read_is_read_again_from_memory() {
    let mut rig = Rig::new(1, ALONE, &[]);
    rig.latency(Op::Read, 0, 8192);
    assert_eq!(rig.latency(Op::Read, 4096, 4096), read_without_disk(4096));
    assert_eq!(rig.commands.len(), 1, "no command to the disk");
    assert_eq!(rig.latency(Op::Read, 4096, 8192), read_without_disk(8192) + DISK.read, "half of it is not there");
    assert_eq!((rig.count("osd0", "reads"), rig.count("osd0", "memory_hits")), (3, 1));
}

#[test]
fn faster_cores_take_less_time_for_the_same_work() {
    let mut rig = Rig::new(1, &format!("{ALONE}, core_clock_mhz = 4000"), &[]);
    let cpu = (CLIENT + READ + 2 * BLOCK) / 2;
    assert_eq!(rig.latency(Op::Read, 0, 4096), cpu + wire(0) + DISK.read + wire(4096));
}

#[test]
fn metadata_that_does_not_fit_is_read_first() {
    let mut rig = Rig::new(1, ALONE, &[("metadata_cache", "\"0 B\"")]);
    assert_eq!(rig.latency(Op::Read, 0, 4096), read_without_disk(4096) + 2 * DISK.read);
    let sent = rig.sent(0);
    assert!(!in_place(sent[0].1) && in_place(sent[1].1), "first from the database, then the data: {sent:?}");
    assert_eq!(rig.count("osd0", "metadata_reads"), 1);
}

#[test]
fn blocks_are_read_whole() {
    let mut rig = Rig::new(1, ALONE, &[]);
    rig.latency(Op::Read, 4096 + 3584, 1024);
    assert_eq!(rig.sent(0), [(Op::Read, 4096, 8192)]);
}

#[test]
fn an_io_across_objects_is_cut_and_answered_when_its_last_piece_is() {
    let mut rig = Rig::new(1, ALONE, &[("op_shards", "64")]);
    // Objects in different shards are read side by side; the client's thread sends one piece after the other.
    let latency = rig.latency(Op::Read, OBJECT - 4096, 12 * KIB);
    assert_eq!(rig.sent(0), [(Op::Read, OBJECT - 4096, 4096), (Op::Read, OBJECT, 8192)]);
    assert_eq!(rig.served.len(), 1);
    assert_eq!(latency, CLIENT + read_without_disk(8192) + DISK.read);
}

#[test]
fn a_flush_is_answered_at_once() {
    let mut rig = Rig::new(1, ALONE, &[]);
    assert_eq!(rig.latency(Op::Flush, 0, 0), 0);
    assert!(rig.commands.is_empty());
}

#[test]
fn a_client_has_so_many_pieces_under_way_and_holds_the_others_back() {
    let mut rig = Rig::new(1, ALONE, &[ONE_SHARD]);
    (0..1030).for_each(|n| {
        rig.ask(Op::Read, n * 64 * KIB, 4096);
    });
    rig.run_to(read_without_disk(4096) + DISK.read - 1);
    assert_eq!(rig.count("client_out", "bytes"), 1024 * 300);
    rig.drain();
    assert_eq!((rig.served.len(), rig.count("client_out", "bytes")), (1030, 1030 * 300));
}

#[test]
fn a_thread_that_waits_for_the_disk_holds_its_shard() {
    let mut rig = Rig::new(1, ALONE, &[ONE_SHARD]);
    rig.latency(Op::Read, 0, 4096);
    let miss = rig.ask(Op::Read, 5 * OBJECT, 4096);
    let hit = rig.ask(Op::Read, 0, 4096);
    rig.drain();
    assert_eq!(rig.latency_of(miss), read_without_disk(4096) + DISK.read);
    let behind = rig.latency_of(hit) - rig.latency_of(miss);
    assert_eq!(behind, READ + BLOCK, "the thread turns to it when the disk has answered the one before");
}

#[test]
fn other_shards_go_on_while_one_waits_for_the_disk() {
    let mut free = 0;
    for object in 1..32 {
        let mut rig = Rig::new(1, ALONE, &[("op_shards", "64")]);
        rig.latency(Op::Read, 0, 4096);
        rig.ask(Op::Read, object * OBJECT, 4096);
        let hit = rig.ask(Op::Read, 0, 4096);
        rig.drain();
        // Behind the other in the client's thread, and nowhere else.
        free += u32::from(rig.latency_of(hit) == CLIENT + read_without_disk(4096));
    }
    assert!((24..=31).contains(&free), "{free} of 31: 64 groups, so one in 64 objects shares the shard");
}

/// Members of the copies of object 0, the primary first: in the order in which they are asked to write.
fn copies(members: usize, options: &str) -> Vec<u16> {
    let mut rig = Rig::new(members, options, &[]);
    rig.latency(Op::Write, 0, 4096);
    let writes = rig.commands.iter().filter(|(_, sent)| sent.op == Op::Write);
    writes.map(|(_, sent)| sent.member).collect()
}

#[test]
fn a_write_is_answered_when_the_last_copy_is_durable() {
    let options = ", replicas = 3, placement_groups = 64, image = \"1 GiB\"";
    let copies = copies(5, options);
    assert_eq!(copies.len(), 3);
    for (slow, member) in copies.iter().enumerate() {
        let mut rig = Rig::new(5, options, &[]);
        rig.disks[usize::from(*member)] = Disk { flush: 40_000_000, ..DISK };
        let begun = CLIENT + wire(4096) + WRITE + BLOCK;
        let durable = |copy: usize| {
            let flush = if copy == slow { 40_000_000 } else { DISK.flush };
            let (there, back) = if copy == 0 { (0, 0) } else { (LATENCY + REPLICA + BLOCK, LATENCY + ANSWER) };
            begun + there + COMMIT + DISK.write + flush + back
        };
        let last = (0..3).map(durable).max().expect("three copies");
        let wanted = last + wire(0);
        rig.ask(Op::Write, 0, 4096);
        rig.run_to(wanted - 1);
        assert!(rig.served.is_empty(), "copy {slow} is not durable yet");
        rig.run_to(wanted);
        assert_eq!(rig.served.len(), 1, "copy {slow}");
        let times = rig.served[0].1.times;
        assert_eq!(times.transfer.0, DISK.write + 40_000_000, "the way that decided");
    }
}

#[test]
fn between_hosts_a_copy_crosses_the_card_of_its_primary() {
    let one = ", replicas = 2, placement_groups = 64, image = \"1 GiB\"";
    let two = format!("{one}, hosts = 2, failure_domain = \"host\"");
    let begun = CLIENT + wire(4096) + WRITE + BLOCK;
    let after = REPLICA + BLOCK + COMMIT + DISK.write + DISK.flush + ANSWER + wire(0);
    assert_eq!(Rig::new(2, one, &[]).latency(Op::Write, 0, 4096), begun + LATENCY + after + LATENCY);
    assert_eq!(Rig::new(2, &two, &[]).latency(Op::Write, 0, 4096), begun + wire(4096) + after + wire(0));
}

#[test]
fn a_commit_is_two_steps_and_four_where_logs_are_not_recycled() {
    let (write, flush) = (Op::Write, Op::Flush);
    for (recycling, steps) in [("\"on\"", vec![write, flush]), ("\"off\"", vec![write, flush, write, flush])] {
        let mut rig = Rig::new(1, ALONE, &[("log_recycling", recycling)]);
        let latency = rig.latency(Op::Write, 0, 4096);
        assert_eq!(rig.ops_of(0), steps);
        let disk = steps.len() as u64 / 2 * (DISK.write + DISK.flush);
        assert_eq!(latency, CLIENT + wire(4096) + WRITE + BLOCK + COMMIT + disk + wire(0));
        let sizes: Vec<u32> = rig.sent(0).iter().filter(|sent| sent.0 == write).map(|sent| sent.2).collect();
        let (log, file_sizes) = (LOGGED.next_multiple_of(4096) as u32, 9400_u32.next_multiple_of(4096));
        assert_eq!(sizes, [log, file_sizes][..steps.len() / 2]);
        assert!(rig.sent(0).iter().all(|(op, offset, _)| *op == flush || !in_place(*offset)));
    }
}

#[test]
fn writes_that_come_during_a_commit_share_the_next() {
    let mut rig = Rig::new(1, ALONE, &[]);
    rig.ask(Op::Write, 0, 4096);
    rig.run_to(CLIENT + wire(4096) + WRITE + BLOCK + COMMIT);
    assert_eq!(rig.commands.len(), 1, "the first commit has begun");
    (1..6).for_each(|n| {
        rig.ask(Op::Write, n * 4096, 4096);
    });
    rig.drain();
    let log: Vec<u64> =
        rig.sent(0).iter().filter(|sent| sent.0 == Op::Write).map(|(_, _, len)| u64::from(*len)).collect();
    assert_eq!(log, [LOGGED.next_multiple_of(4096), (5 * LOGGED).next_multiple_of(4096)]);
    let last: Vec<u64> = rig.served[1..].iter().map(|(at, _)| at - rig.served[1].0).collect();
    // Durable at once; their answers leave one after the other.
    assert_eq!(last, (0..5).map(|n| n * 240).collect::<Vec<_>>());
    assert_eq!((rig.count("osd0", "commits"), rig.count("osd0", "committed")), (2, 6));
}

#[test]
fn what_comes_for_the_client_at_once_is_taken_one_after_the_other() {
    let mut rig = Rig::new(1, ALONE, &[("cpu_block", "\"1 ms\""), ("cpu_client", "\"0 ms\"")]);
    // Two objects of which daemon and disk take equal care: the client's one thread needs 64 ms for each.
    let asked = [0, OBJECT].map(|at| rig.ask(Op::Read, at, 256 * KIB));
    rig.drain();
    let ends = asked.map(|token| rig.latency_of(token));
    assert_eq!(ends[0].abs_diff(ends[1]), 64_000_000);
}

/// A daemon whose database writes a table of half a MiB for every MiB of the log.
const TABLES: [(&str, &str); 5] = [
    ("wal_bytes", "\"12 KiB\""),
    ("write_buffer", "\"1 MiB\""),
    ("table_share", "\"50 %\""),
    ("database", "\"4 MiB\""),
    ("table_rate", "\"100 MB/s\""),
];

/// Where and what the database of the only daemon read and wrote while so many small writes were answered.
fn tables_after(writes: u64) -> (Rig, Vec<(u64, Op, u64)>) {
    let mut rig = Rig::new(1, ALONE, &TABLES);
    (0..writes).for_each(|n| {
        rig.latency(Op::Write, n * 64 * KIB, 4096);
    });
    let is_table = |len: u32| u64::from(len) == 512 * KIB || u64::from(len) == 2 * MIB;
    let tables = rig.commands.iter().filter(|(_, sent)| is_table(sent.len) && !in_place(sent.offset));
    let tables = tables.map(|(at, sent)| (*at, sent.op, sent.offset)).collect();
    (rig, tables)
}

#[test]
fn the_database_writes_a_table_when_the_log_has_filled_its_memory() {
    // 16 KiB of log each: 64 make a MiB, of which half a MiB remains.
    assert!(tables_after(63).1.is_empty());
    let (rig, tables) = tables_after(64 * 3);
    assert_eq!(tables.iter().map(|(_, op, _)| *op).collect::<Vec<_>>(), [Op::Write; 3]);
    assert_eq!([1, 2].map(|n| tables[n].2 - tables[n - 1].2), [512 * KIB; 2], "one behind the other");
    assert_eq!(rig.count("osd0", "table_bytes_written"), 3 * 512 * KIB);
}

#[test]
fn the_fourth_table_is_merged_a_command_at_a_time_with_computing_between() {
    let (rig, tables) = tables_after(64 * 4);
    // Three tables and the database are read, the fourth and the database written.
    let merge = &tables[3..];
    assert_eq!(merge.iter().filter(|(_, op, _)| *op == Op::Read).count(), 3, "5.5 MiB in pieces of 2 MiB");
    assert_eq!(merge.iter().filter(|(_, op, _)| *op == Op::Write).count(), 9, "4.5 MiB in pieces of 512 KiB");
    let gap = merge[1].0 - merge[0].0;
    assert_eq!(gap, DISK.read + 20_971_520, "2 MiB at 100 MB/s");
    assert_eq!(rig.count("osd0", "table_bytes_read"), 6 * MIB);
}

#[test]
fn a_commit_does_not_lap_its_log() {
    let mut rig = Rig::new(1, ALONE, &[("wal_region", "\"32 MiB\""), ("wal_bytes", "\"1 MiB\"")]);
    (0..100).for_each(|n| {
        rig.ask(Op::Write, n * 64 * KIB, 4096);
    });
    rig.drain();
    assert_eq!(rig.served.len(), 100);
    let log = rig.commands.iter().filter(|(_, sent)| sent.op == Op::Write && !in_place(sent.offset));
    let (from, to) = log.clone().fold((u64::MAX, 0), |(from, to), (_, sent)| {
        (from.min(sent.offset), to.max(sent.offset + u64::from(sent.len)))
    });
    assert!(to - from <= 32 * MIB && to - from > 16 * MIB, "{from} to {to}");
    assert_eq!(rig.count("osd0", "committed"), 100);
}

#[test]
fn deferred_writes_go_to_their_places_when_there_are_64_in_order_of_address_and_joined() {
    let mut rig = Rig::new(1, ALONE, &[]);
    // Two runs of 16 blocks and 32 blocks apart, asked for in a mixed order.
    let block = |n: u64| match n {
        0..16 => n,
        16..32 => 100 + n,
        _ => 10 * n,
    };
    let mixed: Vec<u64> = (0..64).map(|n| block(n * 37 % 64)).collect();
    for place in &mixed[..63] {
        rig.latency(Op::Write, place * 4096, 4096);
    }
    let is_placed = |(op, offset, _): &(Op, u64, u32)| *op == Op::Write && in_place(*offset);
    assert!(!rig.sent(0).iter().any(is_placed), "63 wait");
    assert_eq!(rig.count("osd0", "deferred"), 63);
    rig.latency(Op::Write, mixed[63] * 4096, 4096);
    let placed: Vec<(u64, u32)> =
        rig.sent(0).iter().filter(|sent| is_placed(sent)).map(|s| (s.1 / 4096, s.2)).collect();
    let mut wanted = vec![(0, 65_536), (116, 65_536)];
    wanted.extend((32..64).map(|n| (10 * n, 4096)));
    assert_eq!(placed, wanted);
    assert_eq!((rig.count("osd0", "deferred"), rig.count("osd0", "deferred_batches")), (0, 1));
}

#[test]
fn large_writes_go_to_their_place_before_the_log() {
    for (len, deferred) in [(32 * KIB - 4096, true), (32 * KIB, false)] {
        let mut rig = Rig::new(1, ALONE, &[]);
        let latency = rig.latency(Op::Write, MIB, len);
        let cpu = WRITE + len / 4096 * BLOCK;
        let log = (11_700 + if deferred { len } else { 0 }).next_multiple_of(4096) as u32;
        let sent: Vec<(Op, u32)> = rig.sent(0).iter().map(|sent| (sent.0, sent.2)).collect();
        let mut steps = vec![(Op::Write, log), (Op::Flush, 0)];
        let mut disk = DISK.write + DISK.flush;
        if !deferred {
            steps.splice(0..0, [(Op::Write, len as u32), (Op::Flush, 0)]);
            disk *= 2;
            assert_eq!(rig.sent(0)[0].1, MIB, "in place");
        }
        assert_eq!(sent, steps);
        assert_eq!(latency, CLIENT + wire(len) + cpu + disk + COMMIT + wire(0));
    }
}

#[test]
fn a_write_makes_what_was_read_stale() {
    let mut rig = Rig::new(1, ALONE, &[]);
    rig.latency(Op::Read, 0, 8192);
    rig.latency(Op::Write, 4096, 512);
    let before = rig.commands.len();
    rig.latency(Op::Read, 0, 4096);
    assert_eq!(rig.sent(before), [], "the block beside it is still there");
    rig.latency(Op::Read, 4096, 4096);
    assert_eq!(rig.sent(before), [(Op::Read, 4096, 4096)]);
}

/// Two daemons on one disk, both with a copy: the log commands of each, in order of time.
fn two_on_one_disk(scheduler: &str) -> Vec<(u64, u16, Op)> {
    let options = ", replicas = 2, osds_per_drive = 2, placement_groups = 64, image = \"1 GiB\"";
    let mut rig = Rig::new(1, options, &[("io_scheduler", scheduler)]);
    rig.latency(Op::Write, 0, 4096);
    rig.commands.iter().map(|(at, sent)| (*at, sent.member, sent.op)).collect()
}

#[test]
fn a_scheduler_that_anticipates_lets_one_daemon_commit_at_a_time() {
    let primary = CLIENT + wire(4096) + WRITE + BLOCK + COMMIT;
    let replica = primary + LATENCY + REPLICA + BLOCK;
    let both = |second: u64| {
        let first = [(primary, Op::Write), (primary + DISK.write, Op::Flush)].map(|(at, op)| (at, 0, op));
        let second = [(second, Op::Write), (second + DISK.write, Op::Flush)].map(|(at, op)| (at, 1, op));
        let mut all = [first, second].concat();
        all.sort_by_key(|(at, ..)| *at);
        all
    };
    // The primary may be either of the two.
    let named = |sent: Vec<(u64, u16, Op)>| {
        let first = sent[0].1;
        sent.into_iter().map(|(at, member, op)| (at, u16::from(member != first), op)).collect::<Vec<_>>()
    };
    assert_eq!(named(two_on_one_disk("\"none\"")), both(replica));
    assert_eq!(named(two_on_one_disk("\"anticipatory\"")), both(primary + DISK.write + DISK.flush));
}

/// Commands to the disk in each of five scans of 150 blocks through a memory of 100.
fn scans(policy: &str) -> Vec<usize> {
    let mut rig = Rig::new(1, ALONE, &[ONE_SHARD, ("data_cache", "\"400 KiB\""), ("data_cache_policy", policy)]);
    let mut scan = |_| {
        let before = rig.commands.len();
        (0..150).for_each(|n| {
            rig.latency(Op::Read, n * 4096, 4096);
        });
        rig.commands.len() - before
    };
    (0..5).map(&mut scan).collect()
}

#[test]
fn two_queues_keep_something_of_a_scan_and_an_lru_nothing() {
    assert_eq!(scans("\"lru\""), [150; 5]);
    let two = scans("\"2q\"");
    assert_eq!(two[0], 150);
    assert!(two[1..].iter().all(|misses| *misses < 150), "{two:?}");
}

#[test]
fn slices_of_a_member_are_daemons_of_their_own_with_memory_of_their_own() {
    let mut rig = Rig::new(2, ", replicas = 1, osds_per_drive = 2, placement_groups = 64, image = \"1 GiB\"", &[]);
    (0..256).for_each(|object| {
        rig.latency(Op::Read, object * OBJECT, 4096);
    });
    let of = |osd: usize| (rig.count(&format!("osd{osd}"), "objects"), rig.count(&format!("osd{osd}"), "reads"));
    let all: Vec<(u64, u64)> = (0..4).map(of).collect();
    assert!(all.iter().all(|(objects, reads)| objects == reads && *objects > 16), "{all:?}");
    assert_eq!(all.iter().map(|(objects, _)| objects).sum::<u64>(), 256);
    let members: Vec<u16> = rig.commands.iter().map(|(_, sent)| sent.member).collect();
    assert_eq!(
        (0..4).map(|osd| members.iter().filter(|have| **have == osd).count() as u64).collect::<Vec<_>>(),
        all.iter().map(|(objects, _)| *objects).collect::<Vec<_>>()
    );
}

#[test]
fn a_member_has_objects_by_its_weight_and_its_daemons_the_same_each() {
    let objects = |options: &str| {
        let options = format!(
            ", replicas = 1, osds_per_drive = 2, placement_groups = 4096, object = \"1 MiB\", image = \"4 GiB\"{options}"
        );
        let mut rig = Rig::new(2, &options, &[]);
        (0..4096).for_each(|object| {
            rig.latency(Op::Read, object * MIB, 4096);
        });
        (0..4).map(|osd| rig.count(&format!("osd{osd}"), "objects")).collect::<Vec<_>>()
    };
    // Three standard deviations of so many draws are 80 and 83.
    for (options, expected) in [("", [1024.0; 4]), (", weights = [3, 1]", [1536.0, 1536.0, 512.0, 512.0])] {
        let found = objects(options);
        let fits = found.iter().zip(expected).all(|(found, expected)| (*found as f64 - expected).abs() < 100.0);
        assert!(fits, "{options}: {found:?}");
    }
}

fn io() -> impl Strategy<Value = (u64, Op, u64, u64)> {
    let gap = prop_oneof![3 => Just(0_u64), 2 => 0_u64..3_000_000, 1 => 0_u64..100_000_000];
    let op = prop_oneof![4 => Just(Op::Read), 4 => Just(Op::Write), 1 => Just(Op::Flush)];
    let offset = prop_oneof![0_u64..64, 8180_u64..8200, 0_u64..100_000].prop_map(|sector| sector * 512);
    let len = prop_oneof![3 => 1_u64..17, 1 => 1_u64..300].prop_map(|sectors| sectors * 512);
    (gap, op, offset, len).prop_map(|(gap, op, offset, len)| (gap, op, offset, if op == Op::Flush { 0 } else { len }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The rig compares the parts of every latency with the latency.
    #[test]
    fn every_io_is_answered_once_and_its_times_add_up(
        ios in prop::collection::vec(io(), 1..120), varied in any::<bool>(), out in any::<bool>(),
    ) {
        let out = if out { ", out = { osd = 1, at = \"5 ms\" }" } else { "" };
        let options = format!(
            ", replicas = 3, osds_per_drive = 2, placement_groups = 32, image = \"64 MiB\"{out}"
        );
        let spread = if varied { "\"50 %\"" } else { "\"0 %\"" };
        let set = [("cpu_spread", spread), ("data_cache", "\"256 KiB\""), ("log_recycling", "\"off\""),
            ("metadata_cache", "\"64 KiB\""), ("deferred_batch_ops", "4"), ("recovery_sleep", "\"1 ms\"")];
        let mut rig = Rig::new(4, &options, &set);
        for (gap, op, offset, len) in &ios {
            rig.run_to(rig.now.0 + gap);
            rig.ask(*op, *offset, *len);
        }
        rig.drain();
        let mut tokens: Vec<u32> = rig.served.iter().map(|(_, served)| served.token).collect();
        tokens.sort_unstable();
        prop_assert_eq!(tokens, (0..ios.len() as u32).collect::<Vec<_>>());
        let end = pool::MEMBER / 2;
        prop_assert!(rig.commands.iter().all(|(_, sent)| sent.offset + u64::from(sent.len) <= end), "inside its slice");
        prop_assert!(rig.commands.iter().all(|(_, sent)| sent.offset % 4096 == 0 && sent.len % 4096 == 0));
    }
}
