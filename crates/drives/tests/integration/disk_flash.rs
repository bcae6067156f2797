//! When does the flash read cache answer, what does it take in, and what must never come from it?

use crate::common::{BLOCK, Bench, CACHE_OVERHEAD, MS, PORT, SECTOR_TIME, US, at_cylinder};
use hotband_machine::{Drive, Op, Warmth};
use hotband_units::Instant;

/// Flash of 64 KiB (4 blocks of 16 KiB, 32 sectors); two reads make a block hot. A 4 KiB read takes 100 us and 41 us
/// at 100 MB/s; a block is programmed in 1.6384 ms at 10 MB/s.
const FLASH: &str = "turboboost = \"on\"\nflash_size = \"64 KiB\"\nflash_block = \"16 KiB\"\nflash_region = \"16 KiB\"\n\
    flash_read_latency = \"100 us\"\nflash_read_rate = \"100 MB/s\"\nflash_lanes = 2\nflash_write_rate = \"10 MB/s\"\n\
    flash_promotion_rate = \"1 GB/s\"\nflash_hot_reads = 2\nflash_ranking = \"1 ms\"\nflash_ageing = \"10 min\"\nflash_largest = \"64 KiB\"\n\
    cache_segments = 0\nlook_ahead = \"0 B\"\n";
const READ: u64 = 100 * US + 40_960;
const PROGRAM: u64 = 1_638_400;
/// Sectors of a flash block.
const FLASH_BLOCK: u64 = 32;

fn bench(set: &str) -> Bench {
    let mut values: toml::Table = FLASH.parse().unwrap();
    values.extend(set.parse::<toml::Table>().unwrap());
    Bench::new(&values.to_string())
}

/// First sector of a flash block in `cylinder`.
fn block(cylinder: u64) -> u64 {
    at_cylinder(cylinder, 32).next_multiple_of(FLASH_BLOCK)
}

/// Reads the 4 KiB at `sector` twice, far apart in time, so that its block is taken in; returns when the second read
/// is done.
fn promote(bench: &mut Bench, sector: u64) -> u64 {
    for _ in 0..2 {
        let now = bench.now + 50 * MS;
        let read = bench.read(now, sector);
        bench.end_of(read);
    }
    bench.now
}

/// Whether a read of the block at `sector`, 50 ms from now, comes from flash.
fn is_hit(bench: &mut Bench, sector: u64) -> bool {
    let (now, hits) = (bench.now + 50 * MS, bench.count("flash_hits"));
    let read = bench.read(now, sector);
    bench.end_of(read);
    bench.count("flash_hits") > hits
}

#[test]
fn a_hit_takes_the_overhead_the_latency_the_flash_and_the_wire() {
    let mut bench = bench("");
    promote(&mut bench, block(1));
    let now = bench.now + 50 * MS;
    let hit = bench.read(now, block(1));
    bench.done_exactly_at(hit, now + CACHE_OVERHEAD + READ + PORT);
    let times = bench.done.last().unwrap().times;
    assert_eq!(
        (times.flash.0, times.overhead.0, times.link.0, times.total().0),
        (READ, CACHE_OVERHEAD, PORT, bench.now - now)
    );
}

#[test]
fn a_third_hit_waits_for_a_lane() {
    let mut bench = bench("");
    promote(&mut bench, block(1));
    let now = bench.now + 50 * MS;
    let hits = [8, 16, 24].map(|sector| bench.read(now, block(1) + sector));
    bench.done_exactly_at(hits[0], now + CACHE_OVERHEAD + READ + PORT);
    bench.done_exactly_at(hits[1], now + CACHE_OVERHEAD + READ + 2 * PORT);
    bench.done_exactly_at(hits[2], now + CACHE_OVERHEAD + 2 * READ + PORT);
    assert_eq!(bench.done.last().unwrap().times.queue.0, READ);
}

#[test]
fn a_block_answers_once_it_is_programmed_and_not_before() {
    // The host's read ends with the 8th sector of the block; the arm reads on to its end.
    let taken_in = |bench: &mut Bench| promote(bench, block(1)) - PORT + 24 * SECTOR_TIME + PROGRAM;
    let mut early = bench("");
    let ready = taken_in(&mut early);
    early.read(ready - 1, block(1) + 24);
    assert_eq!((early.count("flash_hits"), early.count("flash_written_bytes")), (0, 16_384));
    let mut late = bench("");
    let ready = taken_in(&mut late);
    late.read(ready, block(1) + 24);
    assert_eq!(late.count("flash_hits"), 1);
}

#[test]
fn the_host_does_not_wait_for_the_rest_of_a_block() {
    let mut bench = bench("");
    let read = bench.read(0, block(1));
    let alone = bench.end_of(read);
    // The same read a number of revolutions later takes as long, though the arm now reads the whole block.
    let second = bench.read(120 * MS, block(1));
    let again = bench.end_of(second) - 120 * MS;
    assert!(again <= alone, "{again} after {alone}");
    assert_eq!(bench.count("flash_promoted_bytes"), 16_384);
}

#[test]
fn a_write_drops_its_pages_at_once_and_no_others() {
    for wce in ["off", "on"] {
        let mut bench = bench(&format!("wce = \"{wce}\""));
        promote(&mut bench, block(1));
        let now = bench.now + 50 * MS;
        bench.submit(now, Op::Write, block(1), 8, false);
        bench.read(now, block(1) + 8);
        assert_eq!((bench.count("flash_invalidations"), bench.count("flash_hits")), (1, 1), "wce {wce}");
        bench.read(now, block(1));
        assert_eq!(bench.count("flash_hits"), 1, "the write is not on the media yet");
    }
}

#[test]
fn what_is_written_takes_the_place_of_what_it_dropped() {
    let mut bench = bench("wce = \"on\"");
    promote(&mut bench, block(1));
    let now = bench.now + 50 * MS;
    // The first page in part, the second whole.
    bench.submit(now, Op::Write, block(1) + 4, 12, false);
    bench.run_to(now + 100 * MS);
    assert_eq!(bench.count("flash_written_bytes"), 16_384 + 4096);
    assert!(is_hit(&mut bench, block(1) + 8));
    assert!(!is_hit(&mut bench, block(1)));
    // That read brought the page back, alone.
    assert!(is_hit(&mut bench, block(1)));
    assert_eq!(bench.count("flash_written_bytes"), 16_384 + 2 * 4096);
}

#[test]
fn what_no_read_brought_in_no_write_brings_in() {
    let mut bench = bench("wce = \"on\"");
    for n in 0..4 {
        bench.submit(50 * n * MS, Op::Write, block(1), 32, false);
    }
    bench.run_to(400 * MS);
    assert_eq!(bench.count("flash_written_bytes"), 0);
}

#[test]
fn what_is_written_as_often_as_it_is_read_stays_out() {
    let mut bench = bench("wce = \"on\"");
    for _ in 0..6 {
        let now = bench.now + 50 * MS;
        let read = bench.read(now, block(1));
        let done = bench.end_of(read);
        bench.submit(done + 50 * MS, Op::Write, block(1), 8, false);
        bench.run_to(done + 100 * MS);
    }
    assert_eq!(bench.count("flash_promoted_bytes"), 0);
}

#[test]
fn a_page_written_while_its_read_is_under_way_is_taken_from_the_write() {
    let mut bench = bench("wce = \"on\"");
    let first = bench.read(0, block(1));
    let now = bench.end_of(first) + 50 * MS;
    bench.read(now, block(1));
    bench.submit(now + 10 * US, Op::Write, block(1) + 16, 8, false);
    while bench.count("flash_written_bytes") == 0 {
        let now = bench.now;
        bench.run_to(now + 10 * US);
    }
    assert_eq!(bench.count("flash_written_bytes"), 3 * 4096, "the pages that the read brings");
    bench.run_to(now + 100 * MS);
    assert_eq!(bench.count("flash_written_bytes"), 4 * 4096);
}

#[test]
fn streams_and_large_reads_are_not_taken_in() {
    let mut streams = Bench::new(&FLASH.replace("cache_segments = 0", "cache_segments = 4"));
    for _ in 0..3 {
        for n in 0..64 {
            let now = streams.now;
            let read = streams.read(now, at_cylinder(3, 8 * n));
            streams.end_of(read);
        }
        // Pushes the stream out of memory: four segments.
        for n in 0..4 {
            let now = streams.now;
            let read = streams.read(now, at_cylinder(40 + n, 0));
            streams.end_of(read);
        }
    }
    assert!(streams.count("flash_misses") <= 3 * 5, "a stream counts once: {}", streams.count("flash_misses"));
    let mut large = bench("");
    for _ in 0..4 {
        let now = large.now + 50 * MS;
        let read = large.submit(now, Op::Read, at_cylinder(1, 0), 129, false);
        large.end_of(read);
    }
    assert_eq!((large.count("flash_promoted_bytes"), large.count("flash_misses")), (0, 0));
}

#[test]
fn promotion_is_rationed() {
    // 16,384 bytes a second: one block, and one more saved up in the first second.
    let mut bench = bench("flash_promotion_rate = \"16384 B/s\"\nflash_size = \"64 MiB\"\nflash_hot_reads = 1");
    for n in 0..200 {
        let now = bench.now + 50 * MS;
        let read = bench.read(now, block(n));
        bench.end_of(read);
    }
    let seconds = bench.now / 1_000_000_000;
    let blocks = bench.count("flash_promoted_bytes") / 16_384;
    assert!((seconds..=seconds + 2).contains(&blocks), "{blocks} blocks in {seconds} s");
}

#[test]
fn a_full_flash_gives_up_its_coldest_block() {
    let mut bench = bench("");
    let blocks: Vec<u64> = (1..=4).map(block).collect();
    for block in &blocks {
        promote(&mut bench, *block);
    }
    for hot in [0, 1, 3, 0, 1, 3] {
        assert!(is_hit(&mut bench, blocks[hot]));
    }
    for _ in 0..4 {
        is_hit(&mut bench, block(9));
    }
    assert_eq!(bench.count("flash_evictions"), 1);
    let held: Vec<bool> = blocks.iter().map(|block| is_hit(&mut bench, *block)).collect();
    assert_eq!(held, [true, true, false, true]);
    assert_eq!(bench.disk.caches(Instant(bench.now)).unwrap().flash_used_bytes, 4 * 16_384);
}

#[test]
fn a_block_that_is_no_hotter_than_what_is_held_stays_out() {
    let mut bench = bench("flash_size = \"16 KiB\"");
    promote(&mut bench, block(1));
    for _ in 0..6 {
        assert!(is_hit(&mut bench, block(1)));
    }
    promote(&mut bench, block(2));
    assert_eq!(bench.count("flash_evictions"), 0);
    assert!(is_hit(&mut bench, block(1)));
}

#[test]
fn cold_warming_and_warm_are_told_apart() {
    let mut bench = bench(
        "flash_promotion_rate = \"1092 B/s\"\nflash_block = \"64 KiB\"\nflash_region = \"64 KiB\"\nflash_size = \"1 MiB\"",
    );
    let warmth = |bench: &Bench| bench.disk.caches(Instant(bench.now)).unwrap().warmth.unwrap();
    assert_eq!(warmth(&bench), Warmth::Cold);
    // 1,092 B/s are one block of 64 KiB a minute: while one is taken in every minute the flash is warming.
    for n in 0..4 {
        bench.run_to(n * 60_000 * MS + MS);
        let done = promote(&mut bench, block(n));
        bench.run_to(done + MS);
        assert_eq!(warmth(&bench), Warmth::Warming, "minute {n}");
    }
    for n in 4..7 {
        bench.run_to(n * 60_000 * MS + MS);
        is_hit(&mut bench, block(0));
    }
    assert_eq!(warmth(&bench), Warmth::Warm);
}

#[test]
fn switched_off_it_is_not_there() {
    let mut bench = bench("turboboost = \"off\"");
    promote(&mut bench, block(1));
    assert!(bench.disk.counters().iter().all(|(name, _)| !name.starts_with("flash")));
    assert!(bench.disk.caches(Instant(0)).is_none());
    assert_eq!(u64::from(BLOCK) * 4, FLASH_BLOCK);
}
