//! What does memory that survives power loss change: acknowledgement, flushes, forced writes, bypass, draining?

use crate::common::{Bench, CACHE_OVERHEAD, MS, PORT, US, at_cylinder};
use hotband_machine::{Drive, Op};
use proptest::prelude::*;

const AWC: &str =
    "awc = \"on\"\nawc_extents = 4\nawc_size = \"1 MiB\"\nawc_bypass = \"64 KiB\"\nawc_drain = \"100 %\"\n";

fn bench(set: &str) -> Bench {
    let mut values: toml::Table = AWC.parse().unwrap();
    values.extend(set.parse::<toml::Table>().unwrap());
    Bench::new(&values.to_string())
}

#[test]
fn writes_flushes_and_forced_writes_are_acknowledged_from_memory() {
    let mut bench = bench("");
    let write = bench.write(0, at_cylinder(50, 0));
    bench.done_exactly_at(write, CACHE_OVERHEAD + PORT);
    let forced = bench.submit(30 * US, Op::Write, at_cylinder(60, 0), 8, true);
    bench.done_exactly_at(forced, 30 * US + CACHE_OVERHEAD + PORT);
    let flush = bench.flush(70 * US);
    bench.done_exactly_at(flush, 70 * US + CACHE_OVERHEAD);
    assert_eq!(bench.disk.levels()[0].1, 1, "one is on its way to the media, one waits");
}

#[test]
fn the_switch_goes_before_wce_and_off_leaves_wce() {
    for (awc, wce, cached) in [("on", "off", 1), ("on", "on", 1), ("off", "on", 1), ("off", "off", 0)] {
        let mut bench = bench(&format!("awc = \"{awc}\"\nwce = \"{wce}\""));
        let write = bench.write(0, at_cylinder(50, 0));
        bench.end_of(write);
        assert_eq!(bench.count("cached_writes"), cached, "awc {awc}, wce {wce}");
    }
}

#[test]
fn a_full_cache_throttles_to_the_media() {
    let mut bench = bench("");
    let writes: Vec<u64> = (0..6).map(|n| bench.write(0, at_cylinder(40 + 10 * n, 0))).collect();
    // The first is on its way to the media at once, so that four wait; the sixth needs a place.
    let acknowledged = |bench: &Bench| bench.done.len();
    bench.run_to(MS);
    assert_eq!(acknowledged(&bench), 4, "one on its way, three waiting: four places");
    let fifth = bench.end_of(writes[4]);
    assert!(bench.count("destages") >= 1 && fifth > 2 * MS, "it waited for a destage: {fifth}");
}

#[test]
fn a_write_that_finds_no_room_is_queued_with_the_others_where_that_is_so() {
    let ends = |full: &str| {
        let mut bench = bench(&format!("awc_full = \"{full}\""));
        for n in 0..4 {
            bench.write(0, at_cylinder(40 + 10 * n, 0));
        }
        let (far, near) = (bench.write(US, at_cylinder(999, 0)), bench.write(2 * US, at_cylinder(80, 0)));
        (bench.end_of(far), bench.end_of(near))
    };
    let ((first, second), (far, near)) = (ends("wait"), ends("queue"));
    assert!(first < second, "room comes in order of arrival: {first} {second}");
    assert!(near < far, "the media is reached in order of positions: {near} {far}");
}

#[test]
fn a_write_is_not_taken_in_before_an_older_one_of_its_place_that_is_queued() {
    let mut bench = bench("awc_full = \"queue\"");
    for n in 0..4 {
        bench.write(0, at_cylinder(40 + 10 * n, 0));
    }
    let older = bench.write(US, at_cylinder(999, 0));
    // The first has landed and left its place; the arm is on its way to the other end of the disk.
    let mut now = 0;
    while bench.count("media_writes") < 2 {
        now = bench.disk.wake().expect("much is waiting").0;
        bench.run_to(now);
    }
    let (newer, other) = (bench.write(now, at_cylinder(999, 0)), bench.write(now, at_cylinder(300, 0)));
    bench.run_to(now + MS / 2);
    assert_eq!([older, newer, other].map(|write| bench.is_done(write)), [false, false, true]);
}

#[test]
fn large_sequential_writes_go_past_it_and_others_do_not() {
    let mut bench = bench("");
    let small = bench.submit(0, Op::Write, at_cylinder(5, 0), 8, false);
    bench.end_of(small);
    let large_random = bench.submit(100 * MS, Op::Write, at_cylinder(9, 0), 128, false);
    bench.end_of(large_random);
    assert_eq!(bench.count("bypassed_writes"), 0);
    let large_sequential = bench.submit(200 * MS, Op::Write, at_cylinder(9, 128), 128, false);
    bench.end_of(large_sequential);
    let small_sequential = bench.submit(300 * MS, Op::Write, at_cylinder(9, 256), 8, false);
    bench.end_of(small_sequential);
    assert_eq!((bench.count("bypassed_writes"), bench.count("cached_writes")), (1, 3));
}

#[test]
fn nothing_goes_past_it_where_the_host_has_the_write_cache_on() {
    let late = |wce: &str| {
        let mut bench = bench(&format!("wce = \"{wce}\""));
        let first = bench.submit(0, Op::Write, at_cylinder(9, 0), 128, false);
        bench.end_of(first);
        let second = bench.submit(100 * MS, Op::Write, at_cylinder(9, 128), 128, false);
        bench.end_of(second) - 100 * MS
    };
    assert!(late("on") < MS, "from memory: {}", late("on"));
    assert!(late("off") > MS, "from the media: {}", late("off"));
}

#[test]
fn eight_sequential_writers_are_told_apart() {
    let mut bench = bench("awc_extents = 64");
    let mut now = 0;
    for n in 0..4_u64 {
        for writer in 0..8_u64 {
            let write = bench.submit(now, Op::Write, at_cylinder(10 * writer, 128 * n), 128, false);
            now = bench.end_of(write) + 50 * MS;
            bench.run_to(now);
        }
    }
    assert_eq!(bench.count("bypassed_writes"), 3 * 8, "all but the first of each");
}

#[test]
fn above_its_mark_it_is_drained_alongside_reads() {
    // Reads are always waiting; only a cache above its mark is drained.
    let destaged = |drain: &str| {
        let mut bench = bench(&format!("awc_extents = 16\nawc_drain = \"{drain}\""));
        for n in 0..8 {
            bench.write(0, at_cylinder(100 + n, 0));
        }
        for n in 0..40 {
            bench.read(0, at_cylinder(300 + n, 0));
        }
        bench.run_to(60 * MS);
        bench.count("destages")
    };
    assert!(destaged("100 %") <= 1, "one may go before the reads arrive");
    assert!(destaged("25 %") >= 4);
}

#[test]
fn left_alone_it_drains_to_empty() {
    let mut bench = bench("");
    for n in 0..4 {
        bench.write(n * 10, at_cylinder(40 + 10 * n, 0));
    }
    while let Some(at) = bench.disk.wake() {
        bench.run_to(at.0);
    }
    assert_eq!((bench.count("destages"), bench.disk.levels()[0]), (4, ("write_cache_extents", 0)));
}

proptest! {
    #[test]
    fn every_sector_that_was_written_reaches_the_media_and_the_cache_is_never_overfull(
        writes in proptest::collection::vec((0_u64..600, 1_u32..200, 0_u64..4_000), 1..60),
    ) {
        let mut bench = bench("awc_extents = 6");
        let (mut now, mut sectors) = (0, std::collections::BTreeSet::new());
        for (first, count, pause) in writes {
            now += pause * US;
            bench.submit(now, Op::Write, first, count, false);
            sectors.extend(first..first + u64::from(count));
            prop_assert!(bench.disk.levels()[0].1 <= 6);
        }
        while let Some(at) = bench.disk.wake() {
            bench.run_to(at.0);
        }
        let media = bench.count("destaged_bytes") / 512;
        let direct = bench.count("media_writes") - bench.count("destages");
        prop_assert!(media + direct * 200 >= sectors.len() as u64);
        prop_assert_eq!(bench.disk.levels(), vec![("write_cache_extents", 0), ("write_cache_bytes", 0)]);
    }
}
