//! What does the disk's memory change: look-ahead, hits, coalescing, and what must never come from it?

use crate::common::{BLOCK, Bench, CACHE_OVERHEAD, MS, OVERHEAD, PORT, REVOLUTION, SECTOR_TIME, US, at_cylinder};
use hotband_machine::{Drive, Op};
use hotband_units::Instant;

/// When the first read of these tests (cylinder 1, sector 0, at time 0) is at the host.
const FIRST_DONE: u64 = 2 * MS + 8 * SECTOR_TIME + PORT;
/// When the read after it (sector 8) has passed the head: it just missed its sector and waits a revolution.
const SECOND_PASS: u64 = 2 * MS + 16 * SECTOR_TIME + REVOLUTION;

/// Look-ahead that ends within the cylinder.
const SHORT: &str = "look_ahead = \"256 KiB\"";

/// A disk that has read two neighbours and reads ahead from sector 16 of cylinder 1 since [`SECOND_PASS`].
fn reading_ahead(set: &str) -> Bench {
    let mut bench = Bench::new(set);
    let first = bench.read(0, at_cylinder(1, 0));
    bench.done_exactly_at(first, FIRST_DONE);
    let second = bench.read(FIRST_DONE, at_cylinder(1, 8));
    bench.done_exactly_at(second, SECOND_PASS + PORT);
    bench
}

#[test]
fn a_sequential_reader_gets_the_media_rate_without_a_miss() {
    let mut bench = reading_ahead("");
    for n in 1..=200 {
        let now = bench.now;
        let read = bench.read(now, at_cylinder(1, 8 + 8 * n));
        bench.done_exactly_at(read, SECOND_PASS + n * 8 * SECTOR_TIME + if n >= 124 { 500 * US } else { 0 } + PORT);
    }
    assert_eq!((bench.count("media_reads"), bench.count("look_ahead_hits")), (2, 200));
}

/// A read that goes on where one ended, and with it one of eight sectors after a gap, which is `gap` long.
fn reading_over(gap: u64, set: &str) -> (Bench, u64) {
    let mut bench = Bench::new(set);
    let first = bench.read(0, at_cylinder(1, 0));
    bench.done_exactly_at(first, FIRST_DONE);
    let next = bench.read(FIRST_DONE, at_cylinder(1, 8));
    let beyond = bench.read(FIRST_DONE, at_cylinder(1, 16 + gap));
    bench.done_exactly_at(next, SECOND_PASS + PORT);
    let passes = SECOND_PASS + (gap + 8) * SECTOR_TIME;
    bench.done_exactly_at(beyond, passes + PORT);
    (bench, passes)
}

#[test]
fn a_stream_goes_on_over_a_gap_where_two_reads_wait() {
    let (mut bench, passes) = reading_over(24, "");
    for n in 1..=20 {
        let now = bench.now;
        let read = bench.read(now, at_cylinder(1, 40 + 8 * n));
        bench.done_exactly_at(read, passes + n * 8 * SECTOR_TIME + PORT);
    }
    let (mut bench, _) = reading_over(24, SHORT);
    assert!(is_hit(&mut bench, at_cylinder(1, 24)), "the gap passed under the head, into memory");
}

#[test]
fn what_lies_a_turn_on_is_no_gap() {
    // A track and its skew are 6.5 ms of 6: sector 1,000 begins on the next track, and 900 lie between.
    for (gap, over) in [(900, true), (1_000, false)] {
        let mut bench = Bench::new("");
        let first = bench.read(0, at_cylinder(1, 0));
        bench.end_of(first);
        let now = bench.now;
        let (next, beyond) = (bench.read(now, at_cylinder(1, 8)), bench.read(now, at_cylinder(1, 16 + gap)));
        bench.end_of(next);
        bench.end_of(beyond);
        let (now, media_reads) = (bench.now + US, bench.count("media_reads"));
        let between = bench.read(now, at_cylinder(1, 500));
        bench.end_of(between);
        assert_eq!(bench.count("media_reads") == media_reads, over, "{gap}");
    }
}

#[test]
fn what_lies_further_than_the_look_ahead_is_no_gap() {
    let (mut bench, passes) = reading_over(72, "look_ahead = \"32 KiB\"");
    let now = bench.now;
    let read = bench.read(now, at_cylinder(1, 96));
    bench.done_exactly_at(read, passes + REVOLUTION + 8 * SECTOR_TIME + PORT);
    assert!(!is_hit(&mut bench, at_cylinder(1, 40)));
}

#[test]
fn without_look_ahead_every_sequential_read_misses_its_sector() {
    let mut bench = reading_ahead("look_ahead = \"0 B\"");
    let now = bench.now;
    let third = bench.read(now, at_cylinder(1, 16));
    bench.done_exactly_at(third, SECOND_PASS + REVOLUTION + 8 * SECTOR_TIME + PORT);
}

#[test]
fn a_random_read_ends_look_ahead_at_once() {
    let mut bench = reading_ahead(SHORT);
    let asked = SECOND_PASS + 300 * US;
    let random = bench.read(asked, at_cylinder(2, 0));
    // Cylinder 2 comes by at 28 ms modulo 6 ms; the arm, still in cylinder 1, leaves it after the overhead.
    let passes = 4 * MS + REVOLUTION;
    assert!(asked + OVERHEAD + MS < passes, "the arm gets there in time only if it leaves at once");
    bench.done_exactly_at(random, passes + 8 * SECTOR_TIME + PORT);
}

#[test]
fn what_was_read_ahead_before_it_ended_is_served_from_memory() {
    let mut bench = reading_ahead(SHORT);
    let random = bench.read(SECOND_PASS + 300 * US, at_cylinder(2, 0));
    let now = bench.end_of(random);
    // 50 sectors went by in 300 us: 16 to 66.
    let hit = bench.read(now, at_cylinder(1, 56));
    bench.done_exactly_at(hit, now + CACHE_OVERHEAD + PORT);
    let mut bench = reading_ahead(SHORT);
    let random = bench.read(SECOND_PASS + 300 * US, at_cylinder(2, 0));
    bench.end_of(random);
    assert!(!is_hit(&mut bench, at_cylinder(1, 64)));
}

#[test]
fn look_ahead_stops_at_its_limit_however_long_the_reader_pauses() {
    let mut bench = reading_ahead("look_ahead = \"64 KiB\"");
    // 128 sectors ahead take 0.768 ms. After a second's pause the reader goes on as fast as it can for 4 MiB.
    let (begin, blocks) = (1_000 * MS, 1_024);
    let mut now = begin;
    for n in 0..blocks {
        let read = bench.read(now, at_cylinder(1, 16 + 8 * n));
        now = bench.end_of(read);
    }
    let media_time = (blocks * 8 - 128) * SECTOR_TIME;
    assert!(now - begin > media_time, "{} ns for {media_time} ns of media", now - begin);
}

#[test]
fn a_segment_holds_no_more_than_its_size_while_a_stream_runs() {
    // 8 MiB in 8 segments: 1 MiB each. After 3 MiB of one stream its beginning is long gone.
    let mut bench = reading_ahead("");
    let mut now = bench.now;
    for n in 0..768 {
        let read = bench.read(now, at_cylinder(1, 16 + 8 * n));
        now = bench.end_of(read);
    }
    let media_reads = bench.count("media_reads");
    let old = bench.read(now, at_cylinder(1, 16));
    bench.end_of(old);
    assert_eq!(bench.count("media_reads"), media_reads + 1);
}

/// Whether a read of the block at `sector` now comes from memory.
fn is_hit(bench: &mut Bench, sector: u64) -> bool {
    let (now, media_reads) = (bench.now + 50 * MS, bench.count("media_reads"));
    let read = bench.read(now, sector);
    bench.end_of(read);
    bench.count("media_reads") == media_reads
}

/// Lets everything that the disk has to do be done.
fn settle(bench: &mut Bench) {
    while let Some(at) = bench.disk.wake() {
        bench.run_to(at.0);
    }
}

#[test]
fn with_rcd_only_what_was_read_ahead_comes_from_memory() {
    let mut bench = reading_ahead("rcd = \"on\"");
    let now = bench.now + 10 * MS;
    let ahead = bench.read(now, at_cylinder(1, 16));
    bench.done_exactly_at(ahead, now + CACHE_OVERHEAD + PORT);
    assert!(!is_hit(&mut bench, at_cylinder(1, 16)), "read by the host before");
    let mut bench = Bench::new("rcd = \"on\"");
    let read = bench.read(0, at_cylinder(1, 0));
    bench.end_of(read);
    assert!(!is_hit(&mut bench, at_cylinder(1, 0)));
}

#[test]
fn what_was_read_is_read_again_from_memory() {
    let mut bench = Bench::new("");
    let read = bench.read(0, at_cylinder(1, 0));
    bench.end_of(read);
    assert!(is_hit(&mut bench, at_cylinder(1, 0)));
    assert!(!is_hit(&mut bench, at_cylinder(1, 8)));
}

#[test]
fn a_block_that_was_written_is_not_served_from_an_old_segment() {
    for cache in ["off", "on"] {
        for fua in [false, true] {
            let mut bench = Bench::new(&format!("wce = \"{cache}\""));
            let read = bench.read(0, at_cylinder(1, 0));
            let now = bench.end_of(read);
            bench.submit(now, Op::Write, at_cylinder(1, 4), BLOCK, fua);
            settle(&mut bench);
            assert!(!is_hit(&mut bench, at_cylinder(1, 0)), "cache {cache}, fua {fua}");
        }
    }
}

#[test]
fn a_block_that_was_written_is_not_served_from_look_ahead() {
    for cache in ["off", "on"] {
        let mut bench = reading_ahead(&format!("wce = \"{cache}\""));
        // Sectors 16 to 49 have gone by when the write of 24 to 32 comes.
        bench.write(SECOND_PASS + 200 * US, at_cylinder(1, 24));
        settle(&mut bench);
        assert!(!is_hit(&mut bench, at_cylinder(1, 24)), "cache {cache}");
    }
}

#[test]
fn a_read_under_way_while_its_block_is_written_leaves_nothing_old_in_memory() {
    for (cache, fua) in [("off", false), ("on", false), ("on", true)] {
        let mut bench = Bench::new(&format!("wce = \"{cache}\""));
        bench.read(0, at_cylinder(1, 0));
        bench.submit(US, Op::Write, at_cylinder(1, 0), BLOCK, fua);
        settle(&mut bench);
        assert!(!is_hit(&mut bench, at_cylinder(1, 0)), "cache {cache}, fua {fua}");
    }
}

#[test]
fn a_write_that_waits_in_the_queue_makes_old_what_is_read_before_it() {
    let mut bench = Bench::new("");
    bench.read(0, at_cylinder(1, 0));
    let write = bench.write(US, at_cylinder(999, 496));
    // The read begins 8 sectors before the write: it comes by first, and the write waits for the next revolution.
    let read = bench.submit(2 * US, Op::Read, at_cylinder(999, 488), 2 * BLOCK, false);
    let (write, read) = (bench.end_of(write), bench.end_of(read));
    assert!(read < write, "this test needs the read to go first");
    assert!(!is_hit(&mut bench, at_cylinder(999, 496)));
}

#[test]
fn what_memory_answers_does_not_wait_for_the_read_under_way() {
    let mut bench = Bench::new("wce = \"on\"");
    let read = bench.read(0, at_cylinder(1, 0));
    let writes = [bench.write(US, at_cylinder(500, 0)), bench.write(US, at_cylinder(600, 0))];
    bench.done_exactly_at(writes[0], US + CACHE_OVERHEAD + PORT);
    bench.done_exactly_at(writes[1], US + CACHE_OVERHEAD + 2 * PORT);
    let flush = bench.flush(100 * US);
    // What does not fit before the read's transfer goes after it.
    let late = bench.write(FIRST_DONE - PORT - CACHE_OVERHEAD - US, at_cylinder(700, 0));
    bench.done_exactly_at(read, FIRST_DONE);
    bench.done_exactly_at(late, FIRST_DONE + PORT);
    bench.end_of(flush);
}

#[test]
fn what_is_in_the_write_cache_is_read_from_there() {
    let mut bench = Bench::new("wce = \"on\"");
    let write = bench.write(0, at_cylinder(500, 0));
    bench.done_exactly_at(write, CACHE_OVERHEAD + PORT);
    let now = bench.now;
    let read = bench.read(now, at_cylinder(500, 0));
    bench.done_exactly_at(read, now + CACHE_OVERHEAD + PORT);
}

#[test]
fn neighbours_in_the_write_cache_reach_the_media_in_one_go() {
    let mut bench = Bench::new("wce = \"on\"");
    // The arm is busy with a read until FIRST_DONE: both writes are in memory by then.
    bench.read(0, at_cylinder(1, 0));
    bench.write(US, at_cylinder(3, 8));
    bench.write(2 * US, at_cylinder(3, 0));
    let flush = bench.flush(3 * US);
    // Cylinder 3 comes by at 42 ms, a whole number of revolutions; 16 sectors pass.
    bench.done_exactly_at(flush, REVOLUTION + 16 * SECTOR_TIME + CACHE_OVERHEAD);
    let counted = ["destages", "destaged_bytes", "joined_writes"].map(|name| bench.count(name));
    assert_eq!(counted, [1, 8_192, 1]);
}

#[test]
fn the_wait_of_a_flush_for_the_arm_is_time_on_the_media_and_that_for_a_tag_is_not() {
    let mut bench = Bench::new("wce = \"on\"\nqueue_tags = 1");
    let write = bench.write(0, at_cylinder(3, 0));
    // It gets the tag of the write.
    let flush = bench.flush(US);
    let flushed = bench.end_of(flush);
    let nothing = bench.flush(flushed + MS);
    bench.end_of(nothing);
    let of = |token: u64| *bench.done.iter().find(|done| done.token == token).expect("it is done");
    let (tagged, parts) = (of(write).at.0, [flush, nothing].map(|token| of(token).times));
    assert_eq!(parts.map(|times| times.transfer.0), [flushed - CACHE_OVERHEAD - tagged, 0]);
    assert_eq!(parts.map(|times| times.queue.0), [tagged - US, 0]);
    assert_eq!(parts.map(|times| times.overhead.0), [CACHE_OVERHEAD; 2]);
}

#[test]
fn a_full_write_cache_holds_writes_back_until_an_extent_has_landed() {
    let mut bench = Bench::new("wce = \"on\"\nwrite_cache_extents = 1");
    bench.write(0, at_cylinder(1, 0));
    let held_back = bench.write(US, at_cylinder(2, 0));
    bench.done_exactly_at(held_back, 2 * MS + 8 * SECTOR_TIME + CACHE_OVERHEAD + PORT);
}

#[test]
fn a_forced_write_over_dirty_data_neither_loses_a_flush_nor_a_write_that_waits_for_room() {
    let mut bench = Bench::new("wce = \"on\"\nwrite_cache_extents = 1");
    bench.read(0, at_cylinder(1, 0));
    bench.write(US, at_cylinder(500, 0));
    let flush = bench.flush(2 * US);
    let held_back = bench.write(3 * US, at_cylinder(800, 0));
    let forced = bench.submit(4 * US, Op::Write, at_cylinder(500, 0), BLOCK, true);
    let (flush, forced, held_back) = (bench.end_of(flush), bench.end_of(forced), bench.end_of(held_back));
    assert!(
        flush >= forced.min(held_back),
        "the acknowledged data is not on the media before one of the two writes is"
    );
    settle(&mut bench);
    assert_eq!(bench.count("cached_writes"), 2);
}

#[test]
fn a_command_is_not_starved_beyond_the_age_bound() {
    // Four near reads are always there: shortest seek first never goes to the far one by itself.
    let waited = |age_bound: &str| {
        let mut bench = Bench::new(&format!("queue_order = \"sstf\"\nage_bound = \"{age_bound}\"\ncache_segments = 0"));
        let mut near: Vec<u64> = (0..4).map(|n| bench.read(0, at_cylinder(n, 0))).collect();
        let far = bench.read(0, at_cylinder(900, 0));
        let mut asked = 4;
        while bench.now < 500 * MS && !bench.done.iter().any(|done| done.token == far) {
            let at = bench.disk.wake().expect("reads are always waiting").0;
            bench.run_to(at);
            for token in &mut near {
                if bench.done.iter().any(|done| done.token == *token) {
                    asked += 1;
                    *token = bench.read(at, at_cylinder(asked % 4, 37 * asked % 900));
                }
            }
        }
        bench.now
    };
    assert!(waited("10 s") >= 500 * MS, "without the bound it waits for ever");
    let bound = 50 * MS;
    // One command that is under way, and its own: at most a full stroke, a revolution and 8 sectors each.
    let two_services = 2 * (8 * MS + REVOLUTION + 8 * SECTOR_TIME) + OVERHEAD + PORT;
    let waited = waited("50 ms");
    assert!(waited > bound && waited <= bound + two_services, "{waited} ns");
}

#[test]
fn a_write_cache_that_is_switched_off_is_written_first_and_then_writes_go_to_the_media() {
    let mut bench = Bench::new("wce = \"on\"");
    let cached = bench.write(0, at_cylinder(1, 0));
    bench.done_exactly_at(cached, CACHE_OVERHEAD + PORT);
    bench.disk.set(Instant(bench.now), "wce", "off").expect("this disk has the switch");
    let waits = bench.write(bench.now, at_cylinder(2, 0));
    // The first extent lands; the write that waited follows it to the media and is not answered from memory.
    assert!(bench.end_of(waits) > 2 * MS, "it was answered from a cache that was to be off");
    let counted = ["cached_writes", "destages"].map(|name| bench.count(name));
    assert_eq!(counted, [1, 1]);
    assert_eq!(bench.disk.levels(), []);
    let begins = bench.now;
    let through = bench.write(begins, at_cylinder(3, 0));
    assert!(bench.end_of(through) - begins > CACHE_OVERHEAD + PORT);
}

#[test]
fn a_write_cache_that_is_switched_on_answers_the_next_write() {
    let mut bench = Bench::new("wce = \"off\"");
    bench.disk.set(Instant(0), "wce", "on").expect("this disk has the switch");
    let write = bench.write(0, at_cylinder(1, 0));
    bench.done_exactly_at(write, CACHE_OVERHEAD + PORT);
}

#[test]
fn a_switch_that_stands_so_already_changes_nothing() {
    let mut bench = Bench::new("wce = \"on\"");
    let first = bench.write(0, at_cylinder(1, 0));
    bench.done_exactly_at(first, CACHE_OVERHEAD + PORT);
    bench.disk.set(Instant(bench.now), "wce", "on").expect("this disk has the switch");
    let begins = bench.now;
    let second = bench.write(begins, at_cylinder(2, 0));
    bench.done_exactly_at(second, begins + CACHE_OVERHEAD + PORT);
}

#[test]
fn a_disk_takes_no_other_value_while_it_runs() {
    let bench = Bench::new("wce = \"off\"");
    assert_eq!(bench.disk.settings(), ["wce"]);
    for (key, value, accepted) in
        [("wce", "yes", "\"on\" or \"off\""), ("awc", "on", "expected one of wce"), ("rpm", "7200 rpm", "wce")]
    {
        let error = bench.disk.check_set(key, value).unwrap_err();
        assert!(error.accepted.contains(accepted), "{error}");
    }
}
