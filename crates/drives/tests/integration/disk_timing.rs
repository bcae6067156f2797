//! When exactly is a command done? Not a nanosecond before, and not a nanosecond after.

use crate::common::{BLOCK, Bench, CACHE_OVERHEAD, MS, OVERHEAD, PORT, REVOLUTION, SECTOR_TIME, US, at_cylinder};
use hotband_machine::{Fault, Op};

/// When a command at cylinder 1, sector 0, begun from the outer edge soon after time 0, has passed the head: the
/// sector comes by at 14 ms modulo 6 ms.
const FIRST_PASS: u64 = 2 * MS + 8 * SECTOR_TIME;

#[test]
fn a_read_takes_overhead_seek_rotation_transfer_and_port() {
    let mut bench = Bench::new("");
    let read = bench.read(0, at_cylinder(1, 0));
    bench.done_exactly_at(read, FIRST_PASS + PORT);
    let times = bench.done[0].times;
    assert_eq!((times.queue.0, times.overhead.0, times.seek.0), (0, OVERHEAD, MS));
    assert_eq!(times.rotation.0, 2 * MS - OVERHEAD - MS);
    assert_eq!((times.transfer.0, times.link.0), (8 * SECTOR_TIME, PORT));
}

#[test]
fn a_sector_just_missed_costs_a_revolution() {
    // The head arrives at 1.1 ms; sector 850 of cylinder 1 comes by at 14 ms + 5.1 ms, modulo 6 ms: just then.
    let mut bench = Bench::new("");
    let met = bench.read(0, at_cylinder(1, 850));
    bench.done_exactly_at(met, OVERHEAD + MS + 8 * SECTOR_TIME + PORT);
    let mut bench = Bench::new("");
    let missed = bench.read(0, at_cylinder(1, 849));
    bench.done_exactly_at(missed, OVERHEAD + MS - SECTOR_TIME + REVOLUTION + 8 * SECTOR_TIME + PORT);
}

#[test]
fn a_full_stroke_and_a_head_switch_take_their_time() {
    // Cylinder 999 passes at 14 ms x 999 = 13,986 ms, a whole number of revolutions; the head is there after 8.1 ms.
    let mut bench = Bench::new("");
    let far = bench.read(0, at_cylinder(999, 0));
    bench.done_exactly_at(far, 2 * REVOLUTION + 8 * SECTOR_TIME + PORT);
    // The other track of cylinder 0 begins at 6.5 ms modulo 6 ms; the switch takes 0.5 ms after 0.1 ms overhead.
    let mut bench = Bench::new("");
    let other_head = bench.read(0, 1_000);
    bench.done_exactly_at(other_head, REVOLUTION + 500 * US + 8 * SECTOR_TIME + PORT);
}

#[test]
fn a_write_through_write_is_done_when_it_is_on_the_media() {
    let mut bench = Bench::new("");
    let write = bench.write(0, at_cylinder(1, 0));
    bench.done_exactly_at(write, FIRST_PASS);
    let times = bench.done[0].times;
    assert_eq!((times.overhead.0, times.link.0, times.seek.0), (OVERHEAD, PORT, 1_200 * US));
}

#[test]
fn a_cached_write_is_done_when_it_is_in_memory() {
    let mut bench = Bench::new("wce = \"on\"");
    let write = bench.write(0, at_cylinder(1, 0));
    bench.done_exactly_at(write, CACHE_OVERHEAD + PORT);
    assert_eq!(bench.count("cached_writes"), 1);
}

#[test]
fn a_forced_write_waits_for_the_media() {
    let mut bench = Bench::new("wce = \"on\"");
    let write = bench.submit(0, Op::Write, at_cylinder(1, 0), BLOCK, true);
    bench.done_exactly_at(write, FIRST_PASS);
}

#[test]
fn a_flush_waits_for_all_that_was_acknowledged_and_no_longer() {
    let mut bench = Bench::new("wce = \"on\"");
    bench.write(0, at_cylinder(1, 0));
    bench.write(0, at_cylinder(2, 100));
    let flush = bench.flush(US);
    bench.write(2 * US, at_cylinder(500, 0));
    // The second extent: cylinder 2 at 28 ms + 0.6 ms, modulo 6 ms.
    let second_pass = 4_600 * US + 8 * SECTOR_TIME;
    bench.done_exactly_at(flush, second_pass + CACHE_OVERHEAD);
    // The third, 500 cylinders on, is still on its way; a flush of nothing is answered at once.
    let now = bench.now;
    let third = bench.flush(now);
    assert!(bench.end_of(third) > now + 5 * MS);
    let now = bench.now;
    let nothing = bench.flush(now);
    bench.done_exactly_at(nothing, now + CACHE_OVERHEAD);
}

/// What a write costs more on a disk of 4 KiB sectors that shows 512 bytes.
fn extra_of_512e(sector: u64, count: u32) -> u64 {
    let took = |format: &str| {
        let mut bench = Bench::new(&format!("sector_format = \"{format}\""));
        let write = bench.submit(0, Op::Write, sector, count, false);
        bench.end_of(write)
    };
    took("512e") - took("512n")
}

#[test]
fn a_misaligned_write_costs_a_revolution_for_each_it_starts() {
    assert_eq!(extra_of_512e(at_cylinder(1, 0), 8), 0);
    assert_eq!(extra_of_512e(at_cylinder(1, 1), 8), REVOLUTION);
    assert_eq!(extra_of_512e(at_cylinder(1, 0), 7), REVOLUTION);
    assert_eq!(extra_of_512e(at_cylinder(1, 1), 999), REVOLUTION, "it turns 5.994 ms");
    assert_eq!(extra_of_512e(at_cylinder(1, 0), 1_001), 2 * REVOLUTION, "with the switch it turns 6.506 ms");
}

#[test]
fn what_cannot_be_served_is_refused_after_the_cache_overhead() {
    let cases = [
        ("4Kn", 1, 8, Fault::Misaligned),
        ("4Kn", 8, 7, Fault::Misaligned),
        ("512e", 0, 0, Fault::Misaligned),
        ("512n", 2_000_000, 8, Fault::OutOfRange),
        ("512n", 1_999_993, 8, Fault::OutOfRange),
    ];
    for (format, sector, count, fault) in cases {
        for op in [Op::Read, Op::Write] {
            let mut bench = Bench::new(&format!("sector_format = \"{format}\""));
            let token = bench.submit(0, op, sector, count, false);
            assert_eq!(bench.end_of(token), CACHE_OVERHEAD);
            assert_eq!((bench.done[0].fault, bench.done[0].bytes_back), (Some(fault), 0), "{format} {sector} {count}");
            assert_eq!(bench.count("faults"), 1);
        }
    }
    let mut bench = Bench::new("sector_format = \"4Kn\"");
    let aligned = bench.read(0, 1_999_992);
    bench.end_of(aligned);
    assert_eq!(bench.done[0].fault, None);
}

#[test]
fn a_command_beyond_the_tags_waits_for_one_to_come_back() {
    // The arm is free at FIRST_PASS, the tag one port time later: with two tags the far command is all it knows.
    for (tags, near_first) in [(2, false), (3, true)] {
        let mut bench = Bench::new(&format!("queue_tags = {tags}"));
        bench.read(0, at_cylinder(1, 0));
        let far = bench.read(0, at_cylinder(999, 0));
        let near = bench.read(0, at_cylinder(1, 500));
        let (far, near) = (bench.end_of(far), bench.end_of(near));
        assert_eq!(near < far, near_first, "{tags} tags: near {near}, far {far}");
    }
}
