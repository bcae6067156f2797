//! Values that disks measured I/O by I/O showed to be needed: reading ahead after any read, four overheads, wire and media
//! at once, reading from the middle, and a drive that weighs only some of what waits.

use crate::common::{Bench, CACHE_OVERHEAD, MS, OVERHEAD, PORT, REVOLUTION, SECTOR_TIME, US, at_cylinder, read_params};
use hotband_machine::Op;

/// When a read at cylinder 1, sector 0, at time 0 has passed the head.
const FIRST_PASS: u64 = 2 * MS + 8 * SECTOR_TIME;
const ALWAYS: &str = "read_ahead = \"always\"\nlook_ahead = \"256 KiB\"";

#[test]
fn a_drive_that_always_reads_ahead_has_what_follows_any_read() {
    let mut bench = Bench::new(ALWAYS);
    let first = bench.read(0, at_cylinder(1, 0));
    let now = bench.end_of(first);
    let second = bench.read(now, at_cylinder(1, 8));
    bench.done_exactly_at(second, FIRST_PASS + 8 * SECTOR_TIME + PORT);
    let mut bench = Bench::new(ALWAYS);
    bench.read(0, at_cylinder(1, 0));
    // 512 sectors take 3 ms: long done.
    let later = bench.read(20 * MS, at_cylinder(1, 500));
    bench.done_exactly_at(later, 20 * MS + CACHE_OVERHEAD + PORT);
    assert_eq!(bench.count("media_reads"), 1);
}

#[test]
fn a_drive_that_always_reads_ahead_leaves_a_random_reader_what_it_had() {
    let ends = |set| {
        let mut bench = Bench::new(set);
        let mut now = 0;
        for n in 0..50_u64 {
            let read = bench.read(now, at_cylinder(n * 379 % 990, n * 7 % 900));
            now = bench.end_of(read);
        }
        now
    };
    let (always, streams) = (ends(ALWAYS), ends("look_ahead = \"256 KiB\""));
    assert!(always.abs_diff(streams) * 100 < streams, "{always} {streams}: beyond the track the head has moved on");
}

#[test]
fn a_drive_that_never_reads_ahead_misses_its_sector_each_time() {
    let mut bench = Bench::new("read_ahead = \"off\"");
    let mut now = 0;
    for n in 0..4 {
        let read = bench.read(now, at_cylinder(1, 8 * n));
        now = bench.end_of(read);
        assert_eq!(now, FIRST_PASS + n * (REVOLUTION + 8 * SECTOR_TIME) + PORT);
    }
}

#[test]
fn each_of_four_overheads_is_its_own() {
    let set = "wce = \"on\"\ncache_overhead_write = \"0.05 ms\"";
    let mut bench = Bench::new(set);
    let write = bench.write(0, at_cylinder(1, 0));
    bench.done_exactly_at(write, 50 * US + PORT);
    let hit = bench.read(100 * US, at_cylinder(1, 0));
    bench.done_exactly_at(hit, 100 * US + CACHE_OVERHEAD + PORT);
    // 0.8 ms of the controller and a seek of 1.2 ms: the sector at 2 ms has just passed.
    let mut bench = Bench::new("command_overhead_write = \"0.8 ms\"");
    let write = bench.write(0, at_cylinder(1, 0));
    bench.done_exactly_at(write, FIRST_PASS + REVOLUTION);
    assert_eq!(bench.done[0].times.overhead.0, 800 * US);
    let mut bench = Bench::new("command_overhead_write = \"0.8 ms\"");
    let read = bench.read(0, at_cylinder(1, 0));
    bench.done_exactly_at(read, FIRST_PASS + PORT);
    assert_eq!(bench.done[0].times.overhead.0, OVERHEAD);
}

#[test]
fn a_read_crosses_a_slow_wire_while_it_is_read() {
    // 409.6 us on the wire, 48 us on the media: it begins with the first sector.
    let slow = |overlap: &str| format!("port_rate = \"10 MB/s\"\nread_overlap = \"{overlap}\"");
    for (overlap, at) in [("off", FIRST_PASS + 409_600), ("on", 2 * MS + SECTOR_TIME + 409_600)] {
        let mut bench = Bench::new(&slow(overlap));
        let read = bench.read(0, at_cylinder(1, 0));
        bench.done_exactly_at(read, at);
    }
    // On a fast one only the last sector is left when it was read.
    let mut bench = Bench::new("read_overlap = \"on\"");
    let read = bench.read(0, at_cylinder(1, 0));
    bench.done_exactly_at(read, FIRST_PASS + 512);
}

#[test]
fn what_is_read_ahead_crosses_the_wire_as_it_comes() {
    let mut bench = Bench::new(&format!("{ALWAYS}\nread_overlap = \"on\""));
    let first = bench.read(0, at_cylinder(1, 0));
    let now = bench.end_of(first);
    let second = bench.read(now, at_cylinder(1, 8));
    bench.done_exactly_at(second, FIRST_PASS + 8 * SECTOR_TIME + 512);
}

#[test]
fn a_write_crosses_a_slow_wire_while_the_arm_seeks() {
    // 2.048 ms on the wire. One after the other the head is there at 3.35 ms; together the wire is done with all but
    // what is written meanwhile at 2 ms, when the sector comes by.
    let slow = |rate: &str, overlap: &str| format!("port_rate = \"{rate}\"\nwrite_overlap = \"{overlap}\"");
    let cases = [("2 MB/s", "off", REVOLUTION), ("2 MB/s", "on", 0), ("1.9 MB/s", "on", REVOLUTION)];
    for (rate, overlap, more) in cases {
        let mut bench = Bench::new(&slow(rate, overlap));
        let write = bench.write(0, at_cylinder(1, 0));
        bench.done_exactly_at(write, FIRST_PASS + more);
    }
}

#[test]
fn a_drive_without_latency_begins_in_the_middle() {
    // The head comes down at 1.1 ms on sector 850 of 700 to 1,000: a revolution later it has all of them.
    let count = 300;
    let port = u64::from(count) * 512;
    for (zero, at) in [("off", 2 * MS + 700 * SECTOR_TIME + 300 * SECTOR_TIME), ("on", 1_100 * US + REVOLUTION)] {
        let mut bench = Bench::new(&format!("zero_latency = \"{zero}\""));
        let read = bench.submit(0, Op::Read, at_cylinder(1, 700), count, false);
        bench.done_exactly_at(read, at + port);
    }
}

#[test]
fn a_drive_without_latency_keeps_what_passed_before() {
    // It waits for sector 900 from sector 850 on.
    let hits = |zero: &str, sector| {
        let mut bench = Bench::new(&format!("zero_latency = \"{zero}\""));
        let read = bench.read(0, at_cylinder(1, 900));
        let now = bench.end_of(read);
        let behind = bench.read(now, at_cylinder(1, sector));
        bench.end_of(behind) == now + CACHE_OVERHEAD + PORT
    };
    assert!(hits("on", 856) && hits("on", 892));
    assert!(!hits("on", 840) && !hits("off", 892));
}

#[test]
fn a_drive_weighs_no_more_than_its_window() {
    let order = |window: &str| {
        let mut bench = Bench::new(window);
        bench.read(0, at_cylinder(500, 0));
        let near_last: Vec<u64> = [900, 699, 510].map(|cylinder| bench.read(US, at_cylinder(cylinder, 0))).into();
        for token in &near_last {
            bench.end_of(*token);
        }
        let mut done: Vec<(u64, u64)> = bench.done.iter().map(|done| (done.at.0, done.token)).collect();
        done.sort_unstable();
        done[1..].iter().map(|(_, token)| near_last.iter().position(|have| have == token).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(order("")[0], 2);
    assert_eq!(order("reorder_window = 1"), [0, 1, 2]);
    assert_ne!(order("reorder_window = 2")[0], 2);
}

#[test]
fn a_drive_that_weighs_waits_serves_a_far_command_sooner() {
    let served_before_the_far_one = |weight: &str| {
        let mut bench = Bench::new(weight);
        bench.read(0, at_cylinder(500, 0));
        let far = bench.read(US, at_cylinder(990, 0));
        let near: Vec<u64> = (1..20).map(|n| bench.read(n * MS, at_cylinder(500 + n, n * 40))).collect();
        for token in near {
            bench.end_of(token);
        }
        let end = bench.end_of(far);
        bench.done.iter().filter(|done| done.at.0 < end).count()
    };
    let (never, weighed) = (served_before_the_far_one(""), served_before_the_far_one("age_weight = \"100 %\""));
    assert!(weighed * 2 < never, "{weighed} and {never}");
    assert_eq!(served_before_the_far_one("age_weight = \"0 %\""), never);
}

#[test]
fn a_write_cache_writes_out_no_further_than_its_window() {
    let destaged_first = |window: &str| {
        let mut bench = Bench::new(&format!("wce = \"on\"\n{window}"));
        let busy = bench.read(0, at_cylinder(500, 0));
        for cylinder in [900, 699, 510] {
            bench.write(US, at_cylinder(cylinder, 0));
        }
        let now = bench.end_of(busy);
        bench.run_to(now + 30 * MS);
        bench.count("seek_ns")
    };
    assert!(destaged_first("destage_window = 1") > destaged_first(""), "the far one goes first");
}

#[test]
fn a_write_cache_is_written_in_the_order_that_the_drive_states() {
    let destaged = |order: &str| {
        let mut bench = Bench::new(&format!("wce = \"on\"\n{order}"));
        let busy = bench.read(0, at_cylinder(500, 0));
        for n in 0..20 {
            bench.write(US, at_cylinder(500 + 7 * n % 40, 37 * n));
        }
        let now = bench.end_of(busy);
        bench.run_to(now + 40 * MS);
        bench.count("destages")
    };
    let (positioning, address) = (destaged(""), destaged("destage_order = \"clook\""));
    assert_eq!(destaged("destage_order = \"positioning\""), positioning);
    // Positioning chooses by rotation, the others do not.
    let arrival = destaged("destage_order = \"fcfs\"");
    assert!(positioning > address.max(arrival) && address != arrival, "{positioning}, {address}, {arrival}");
}

#[test]
fn values_that_cannot_be_are_refused() {
    for (set, key) in [
        ("read_ahead = \"sometimes\"", "read_ahead"),
        ("command_overhead_write = \"2 s\"", "command_overhead_write"),
        ("cache_overhead_write = \"2 s\"", "cache_overhead_write"),
        ("seek_knee = \"1 %\"", "seek_knee"),
        ("seek_knee = \"95 %\"", "seek_knee"),
        ("reorder_window = 0", "reorder_window"),
        ("destage_window = 70000", "destage_window"),
        ("destage_order = \"random\"", "destage_order"),
        ("age_weight = \"101 %\"", "age_weight"),
        ("age_weight = \"1 %\"\nqueue_order = \"fcfs\"", "age_weight"),
        ("zero_latency = 1", "zero_latency"),
        ("seek_curve = \"1: 1 ms\"", "seek_curve"),
        ("seek_curve = \"2: 1 ms, 10: 2 ms\"", "seek_curve"),
        ("seek_curve = \"1: 1 ms, 10\"", "seek_curve"),
        ("seek_curve = \"1: 1 ms, 10: 2 ms, 10: 3 ms\"", "seek_curve"),
        ("seek_curve = \"1: 1 ms, 10: 2 s\"", "seek_curve"),
        ("seek_curve_cylinders = 100", "seek_curve_cylinders"),
        ("seek_curve = \"1: 1 ms, 10: 2 ms\"\nseek_curve_cylinders = 10", "seek_curve_cylinders"),
    ] {
        let error = read_params(set).expect_err(set);
        assert!(error.key.ends_with(key), "{set}: {error}");
    }
    assert!(read_params("seek_curve = \"1: 1 ms, 10: 2 ms\"\nseek_curve_cylinders = 11").is_ok());
}
