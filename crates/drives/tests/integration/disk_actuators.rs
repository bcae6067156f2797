//! What do the actuators of one disk share, and what has each to itself?

use crate::common::{Bench, CACHE_OVERHEAD, MS, OVERHEAD, PORT, SECTOR_TIME, US, at_cylinder, read_params};
use hotband_drives::MultiActuatorDisk;
use hotband_machine::{Done, Drive, Fault, Op};
use hotband_units::Instant;
use proptest::prelude::*;

/// The bench's disk twice: the first sector of the second actuator.
const SHARE: u64 = 2_000_000;
const LUNS: &str = "actuators = 2\nexposes = \"luns\"\nheads = 4\ncapacity = \"2048000000 B\"\n";
const ONE: &str = "actuators = 2\nexposes = \"one\"\nheads = 4\ncapacity = \"2048000000 B\"\n";
const AWC: &str =
    "awc = \"on\"\nawc_extents = 4\nawc_size = \"1 MiB\"\nawc_bypass = \"64 KiB\"\nawc_drain = \"100 %\"\n";
/// A link that takes no time: what is left is what each actuator does.
const NO_LINK: &str = "port_rate = \"1000000000 GB/s\"\n";
/// When a read at sector 0 of cylinder 1, begun soon after time 0, has passed the head.
const FIRST_PASS: u64 = 2 * MS + 8 * SECTOR_TIME;

fn dual(set: &str) -> Bench<MultiActuatorDisk> {
    Bench::of(MultiActuatorDisk::new(&read_params(set).expect("tests set accepted values")))
}

/// A command of a random schedule: time since the one before, what, where (in blocks of 4 KiB), how many.
type Asked = (u64, Op, u64, u32);

fn schedule() -> impl Strategy<Value = Vec<Asked>> {
    let gap = prop_oneof![Just(0_u64), 0_u64..300_000, 0_u64..30_000_000];
    let op = prop_oneof![3 => Just(Op::Read), 3 => Just(Op::Write), 1 => Just(Op::Flush)];
    let block = prop_oneof![0_u64..40, 0_u64..240_000];
    prop::collection::vec((gap, op, block, 1_u32..20), 1..60)
}

fn submit<D: Drive>(bench: &mut Bench<D>, now: u64, asked: &Asked, share: u64) -> u64 {
    match *asked {
        (_, Op::Flush, ..) => bench.flush_at(now, share),
        (_, op, block, count) => bench.submit(now, op, share + block * 8, count * 8, false),
    }
}

/// Plays a schedule on the actuator whose first sector is `share`.
fn play<D: Drive>(bench: &mut Bench<D>, asked: &[Asked], share: u64) -> Vec<Done> {
    let mut now = 0;
    bench.disk.keep_account();
    for asked in asked {
        now += asked.0;
        submit(bench, now, asked, share);
    }
    bench.run_to(now + 20 * MS);
    bench.done.clone()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_actuator_alone_is_a_disk_of_half_the_surfaces(asked in schedule()) {
        // Of several answers that a stream books for later, a port of one arm lets an earlier one pass the last only.
        let no_streams = "look_ahead = \"0 B\"\n";
        for set in ["", "wce = \"on\"\n", "wce = \"on\"\nwrite_cache_extents = 2\ncache_segments = 2\n", AWC] {
            let set = format!("{set}{no_streams}");
            let mut single = Bench::new(&format!("{set}{NO_LINK}"));
            let expected = play(&mut single, &asked, 0);
            let held = single.disk.cut_power(Instant(single.now));
            for share in [0, SHARE] {
                let mut bench = dual(&format!("{LUNS}{set}{NO_LINK}"));
                prop_assert_eq!(&play(&mut bench, &asked, share), &expected, "{}", set);
                let (single, both) = (single.disk.counters(), bench.disk.counters());
                prop_assert_eq!(&both[..single.len()], &single[..]);
                let busy = [both[single.len()].1, both[single.len() + 1].1];
                prop_assert_eq!(busy[usize::from(share == 0)], 0, "the other actuator rests");
                let moved = bench.disk.cut_power(Instant(bench.now));
                let back = |at: u64| at - share * 512;
                let moved: Vec<_> = moved.iter().map(|(at, version)| (back(at.start)..back(at.end), version)).collect();
                prop_assert_eq!(moved, held.iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn together_each_does_what_it_does_alone_where_nothing_is_shared(asked in schedule(), other in schedule()) {
        // Neither link nor memory: no segments, written through.
        let set = format!("{NO_LINK}cache_segments = 0\n");
        let mut all: Vec<(u64, bool, Asked)> = Vec::new();
        for (second, asked) in [(false, &asked), (true, &other)] {
            all.extend(asked.iter().scan(0, |now, asked| { *now += asked.0; Some((*now, second, *asked)) }));
        }
        all.sort_by_key(|(now, ..)| *now);
        let mut both = dual(&format!("{LUNS}{set}"));
        let mut alone = [Bench::new(&set), Bench::new(&set)];
        let mut expected = Vec::new();
        for (now, second, asked) in &all {
            let token = submit(&mut both, *now, asked, if *second { SHARE } else { 0 });
            expected.push((token, *second, submit(&mut alone[usize::from(*second)], *now, asked, 0)));
        }
        for (token, second, of_one) in expected {
            prop_assert_eq!(both.end_of(token), alone[usize::from(second)].end_of(of_one));
        }
    }
}

/// When sequential reads that come every half millisecond are done.
fn stream_of<D: Drive>(mut bench: Bench<D>, share: u64) -> Vec<u64> {
    let reads: Vec<u64> = (0..300).map(|n| bench.submit(n * MS / 2, Op::Read, share + n * 32, 32, false)).collect();
    reads.into_iter().map(|read| bench.end_of(read)).collect()
}

#[test]
fn a_stream_of_an_actuator_alone_is_that_of_a_disk() {
    let single = stream_of(Bench::new(""), 0);
    assert_eq!([0, SHARE].map(|share| stream_of(dual(LUNS), share)), [single.clone(), single]);
}

#[test]
fn both_turn_with_one_spindle_and_share_one_link() {
    let mut bench = dual(LUNS);
    let first = bench.read(0, at_cylinder(1, 0));
    let second = bench.read(0, SHARE + at_cylinder(1, 0));
    // The same sector of both passes at the same time; the second waits until the link is free.
    bench.done_exactly_at(first, FIRST_PASS + PORT);
    bench.done_exactly_at(second, FIRST_PASS + 2 * PORT);
    assert_eq!(bench.done[1].times.link.0, 2 * PORT);
}

#[test]
fn data_of_writes_to_the_media_crosses_the_same_link() {
    let mut bench = dual(&format!("{LUNS}port_rate = \"4096 kB/s\"\n"));
    // 4 KiB take 1 ms: the second write is decoded 1 ms later, and misses its sector by half a millisecond.
    let first = bench.write(0, at_cylinder(1, 100));
    let second = bench.write(0, SHARE + at_cylinder(1, 100));
    let pass = 2 * MS + 108 * SECTOR_TIME;
    bench.done_exactly_at(first, pass);
    bench.done_exactly_at(second, pass + 6 * MS);
    let link: Vec<u64> = bench.done.iter().map(|done| done.times.link.0).collect();
    assert_eq!((link, OVERHEAD), (vec![MS, 2 * MS], 100 * US));
}

/// Bytes a second of two sequential readers of 64 KiB, one a share, each with `depth` commands outstanding.
fn two_streams(bench: Bench<MultiActuatorDisk>, depth: usize) -> f64 {
    two_streams_of(Op::Read, bench, depth)
}

fn two_streams_of(op: Op, mut bench: Bench<MultiActuatorDisk>, depth: usize) -> f64 {
    let mut next = [0_u64, SHARE];
    let mut outstanding: Vec<(u64, usize)> = Vec::new();
    let mut bytes = 0;
    while bench.now < 2_000 * MS {
        for (stream, next) in next.iter_mut().enumerate() {
            while outstanding.iter().filter(|(_, of)| *of == stream).count() < depth {
                outstanding.push((bench.submit(bench.now, op, *next, 128, false), stream));
                *next += 128;
            }
        }
        let at = bench.disk.wake().expect("much is outstanding");
        bench.run_to(at.0);
        let before = outstanding.len();
        outstanding.retain(|(token, _)| !bench.is_done(*token));
        bench.done.clear();
        bytes += 65_536 * (before - outstanding.len());
    }
    bytes as f64 / (bench.now as f64 / 1e9)
}

#[test]
fn two_streams_run_at_twice_the_rate_of_one_until_the_link_is_full() {
    // One surface gives 73.14 MB/s. The beginning, and what is outstanding at the end, are below 1 % of 2 s.
    for (port, wanted) in [("1 GB/s", 146.3e6), ("200 MB/s", 146.3e6), ("100 MB/s", 100e6)] {
        let rate = two_streams(dual(&format!("{LUNS}port_rate = \"{port}\"\n")), 4);
        assert!((rate / wanted - 1.0).abs() < 0.02, "{port}: {rate}");
    }
}

#[test]
fn a_flush_waits_for_the_dirty_data_of_its_unit_alone() {
    let mut bench = dual(&format!("{LUNS}wce = \"on\"\n"));
    bench.write(0, at_cylinder(1, 0));
    // This one is the second that its arm writes, far away.
    bench.write(0, SHARE + at_cylinder(1, 0));
    bench.write(0, SHARE + at_cylinder(999, 0));
    let (second, first) = (bench.flush_at(US, SHARE), bench.flush(US));
    bench.done_exactly_at(first, FIRST_PASS + CACHE_OVERHEAD);
    assert!(bench.end_of(second) > FIRST_PASS + 8 * MS, "a full stroke more");
    // Nothing is left of either: a flush is answered at once, whatever the other has.
    let now = 100 * MS;
    bench.write(now, at_cylinder(500, 0));
    let clean = bench.flush_at(now + 30 * US, SHARE + at_cylinder(999, 0));
    bench.done_exactly_at(clean, now + 30 * US + CACHE_OVERHEAD);
}

#[test]
fn a_flush_of_one_address_space_waits_for_both_actuators() {
    let mut bench = dual(&format!("{ONE}wce = \"on\"\n"));
    bench.write(0, at_cylinder(1, 0));
    bench.write(0, SHARE + at_cylinder(1, 0));
    bench.write(0, SHARE + at_cylinder(999, 0));
    let flush = bench.flush(US);
    assert!(bench.end_of(flush) > FIRST_PASS + 8 * MS);
    assert_eq!(bench.done.iter().filter(|done| done.token == flush).count(), 1);
    assert_eq!(bench.disk.levels(), [("write_cache_extents", 0), ("write_cache_bytes", 0)]);
}

#[test]
fn a_command_over_the_boundary_is_done_when_both_parts_are() {
    // The second actuator's part is the first to pass (its cylinder 0); the first's is at the inner edge.
    let mut bench = dual(ONE);
    let both = bench.submit(0, Op::Read, SHARE - 8, 16, false);
    let mut alone = dual(ONE);
    let last = alone.submit(0, Op::Read, SHARE - 8, 8, false);
    let (both, last) = (bench.end_of(both), alone.end_of(last));
    assert_eq!(both, last);
    assert_eq!((bench.done.len(), bench.done[0].bytes_back, bench.done[0].times.total().0), (1, 16 * 512, both));
    let beyond = bench.submit(both, Op::Read, 2 * SHARE - 8, 16, false);
    bench.end_of(beyond);
    assert_eq!(bench.done[1].fault, Some(Fault::OutOfRange));
}

#[test]
fn the_room_of_the_write_cache_is_shared_and_given_in_order_of_arrival() {
    let mut bench = dual(&format!("{LUNS}{AWC}"));
    let first: Vec<u64> = (0..4).map(|n| bench.write(0, at_cylinder(40 + 10 * n, 0))).collect();
    let other = bench.write(US, SHARE + at_cylinder(5, 0));
    let late: Vec<u64> = (0..4).map(|n| bench.write(2 * US, at_cylinder(400 + 10 * n, 0))).collect();
    bench.run_to(MS);
    assert!(first.iter().all(|write| bench.is_done(*write)) && bench.done.len() == 4, "four places");
    let other = bench.end_of(other);
    let destages = bench.count("destages");
    // The first that landed made room for the write of the other actuator, which came first.
    assert!(!bench.is_done(late[0]), "late");
    assert_eq!(destages, 3, "begun by {other}: one has landed, the next, and the other actuator's own");
    for write in late {
        bench.end_of(write);
    }
}

#[test]
fn arms_that_take_turns_move_to_write_one_after_the_other_and_read_beside_it() {
    let ends = |arms: &str, op: Op| {
        let mut bench = dual(&format!("{LUNS}{NO_LINK}arms_write = \"{arms}\"\n"));
        let first = [5, 9].map(|cylinder| bench.write(0, at_cylinder(cylinder, 0)));
        let other = bench.submit(US, op, SHARE + at_cylinder(5, 0), 8, false);
        (first.map(|write| bench.end_of(write)), bench.end_of(other))
    };
    let (together, in_turn) = (ends("together", Op::Write), ends("in turn", Op::Write));
    assert!(together.1 <= together.0[0] + MS, "{together:?}");
    assert_eq!(in_turn.0[0], together.0[0]);
    assert!(in_turn.1 > in_turn.0[0] + MS, "it moves when the first has written: {in_turn:?}");
    assert!(in_turn.0[1] > in_turn.1 + MS, "the one that waited is next: {in_turn:?}");
    assert_eq!(ends("together", Op::Read), ends("in turn", Op::Read));
}

#[test]
fn a_read_after_a_write_holds_no_other_arm_back() {
    let end_of_write = |arms: &str| {
        let mut bench = dual(&format!("{LUNS}{NO_LINK}arms_write = \"{arms}\"\n"));
        let first = bench.write(0, at_cylinder(5, 0));
        let rested = bench.end_of(first) + 30 * MS;
        bench.submit(rested, Op::Read, at_cylinder(900, 0), 8, false);
        let write = bench.submit(rested + US, Op::Write, SHARE + at_cylinder(5, 0), 8, false);
        bench.end_of(write)
    };
    assert_eq!(end_of_write("in turn"), end_of_write("together"));
}

#[test]
fn arms_that_take_turns_stream_beside_each_other() {
    let streamed = |arms: &str| two_streams_of(Op::Write, dual(&format!("{LUNS}arms_write = \"{arms}\"\n")), 4);
    let (together, in_turn) = (streamed("together"), streamed("in turn"));
    // They wait for each other where both go on to the next cylinder.
    assert!(in_turn > 0.95 * together, "{together} {in_turn}");
}

#[test]
fn one_arm_takes_no_turns() {
    let refused = read_params("arms_write = \"in turn\"").expect_err("there is nobody to take turns with");
    assert!(refused.to_string().contains("expected \"together\""), "{refused}");
}

#[test]
fn an_arm_that_is_always_asked_to_read_makes_room_for_a_write_of_the_other() {
    let mut bench = dual(&format!("{LUNS}wce = \"on\"\nwrite_cache_extents = 2\ncache_segments = 0\n"));
    let far = |n: u64| at_cylinder(n * 389 % 1_000, 0);
    // Its arm reads and has two reads waiting, always; so its two writes stay in the cache.
    let mut reads: Vec<u64> = (0..3).map(|n| bench.read(0, far(n))).collect();
    bench.write(MS, at_cylinder(300, 0));
    bench.write(MS, at_cylinder(600, 0));
    let other = bench.write(2 * MS, SHARE);
    for n in 3..60 {
        let at = bench.disk.wake().expect("reads are outstanding");
        bench.run_to(at.0);
        reads.retain(|read| !bench.is_done(*read));
        while reads.len() < 3 {
            reads.push(bench.read(bench.now, far(n)));
        }
    }
    assert!(bench.is_done(other), "by {} ns", bench.now);
    assert!(bench.count("destages") >= 1);
}

#[test]
fn random_reads_of_one_actuator_do_not_take_the_segment_that_the_other_streams_into() {
    let sequential = |random: bool| {
        let mut bench = dual(&format!("{LUNS}cache_segments = 2\n"));
        let (mut next, mut now, mut far) = (0, 0, 7);
        for _ in 0..400 {
            let read = bench.submit(now, Op::Read, next, 16, false);
            next += 16;
            far = (far * 48_271 + 11) % 999_983;
            let other = random.then(|| bench.read(now, SHARE + far / 8 * 8));
            now = bench.end_of(read);
            if let Some(other) = other {
                now = bench.end_of(other).max(now);
            }
        }
        bench.count("look_ahead_hits") + bench.count("cache_hits")
    };
    let (alone, disturbed) = (sequential(false), sequential(true));
    // Waiting for the other's random reads the stream is always ahead: all but the first two reads hit.
    assert!(alone >= 398 && disturbed >= 398, "{alone} {disturbed}");
}

#[test]
fn after_a_loss_of_power_each_unit_holds_what_its_own_flush_promised() {
    let mut bench = dual(&format!("{LUNS}wce = \"on\"\n"));
    bench.disk.keep_account();
    bench.write(0, at_cylinder(999, 0));
    bench.write(0, SHARE + at_cylinder(1, 0));
    let flush = bench.flush_at(US, SHARE);
    let cut = bench.end_of(flush);
    let held: Vec<_> = bench.disk.cut_power(Instant(cut)).iter().collect();
    let at = (SHARE + at_cylinder(1, 0)) * 512;
    assert_eq!(held, [(at..at + 4096, 2)]);
}

#[test]
fn impossible_actuators_are_refused() {
    for (set, key) in [
        ("actuators = 5", "actuators"),
        ("actuators = 2", "exposes"),
        ("actuators = 2\nexposes = \"all\"", "exposes"),
        ("actuators = 2\nexposes = \"one\"\nheads = 3", "heads"),
        ("actuators = 2\nexposes = \"one\"\ncapacity = \"1024000512 B\"", "capacity"),
        ("actuators = 2\nexposes = \"one\"\ncache_segments = 1", "cache_segments"),
        ("power_idle = \"7 W\"", "power_active"),
        ("power_idle = \"7 W\"\npower_active = \"6 W\"", "power_active"),
    ] {
        let error = read_params(set).expect_err(set);
        assert!(error.key.ends_with(key), "{set}: {error}");
    }
}
