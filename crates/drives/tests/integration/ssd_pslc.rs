//! Does a pseudo-SLC cache take writes at its own rate until it is full, and give what it took to the slow cells?

use crate::common::ssd::{Bench, MS, PAGE, PAGES, US, WRITE_OVERHEAD};
use hotband_machine::{Drive, Op};
use hotband_units::Instant;

/// Cells of three bits; the cache is programmed at 400 MB/s, the slow cells at 100 MB/s.
const CELLS: &str = "program_pass = \"48 KiB\"\nblock = \"192 KiB\"\nprogram_time = \"1.2 ms\"\nprogram_rate = \"100 MB/s\"\n\
    pslc_program_rate = \"400 MB/s\"\npslc_program_time = \"100 us\"\npslc_read_time = \"20 us\"\nlink_rate = \"10 GB/s\"\n\
    idle_delay = \"1 ms\"\n";

fn with_cache(fixed: &str, dynamic: &str, when_full: &str) -> Bench {
    Bench::new(&format!("{CELLS}pslc_static = \"{fixed}\"\npslc_dynamic = \"{dynamic}\"\npslc_full = \"{when_full}\""))
}

/// Writes 64 KiB one after the other, eight at a time, and returns the rate in MB/s.
fn fill(bench: &mut Bench, from: u64, pages: u64) -> f64 {
    let began = bench.now;
    for first in (from..from + pages).step_by(128) {
        let last =
            (first..(first + 128).min(from + pages)).step_by(16).map(|page| bench.write(bench.now, page, 16)).last();
        while !bench.done.iter().any(|done| Some(done.token) == last) {
            let next = bench.ssd.wake().expect("a write is under way").0;
            bench.run_to(next);
        }
    }
    (pages * PAGE) as f64 / (bench.now - began) as f64 * 1e3
}

fn rest(bench: &mut Bench) {
    while let Some(Instant(next)) = bench.ssd.wake() {
        bench.run_to(next);
    }
}

#[test]
fn writes_are_fast_until_the_cache_is_full_and_slow_then() {
    let mut bench = with_cache("8 MiB", "0 B", "direct");
    let before = fill(&mut bench, 0, 1_904);
    let after = fill(&mut bench, 2_200, 4_000);
    assert!((380.0..440.0).contains(&before), "{before} MB/s into the cache");
    assert!((95.0..110.0).contains(&after), "{after} MB/s past it");
    assert_eq!(bench.level("pslc_bytes"), 8 << 20);
}

#[test]
fn where_everything_goes_through_the_cache_writes_wait_for_folding() {
    let mut bench = with_cache("8 MiB", "0 B", "fold");
    fill(&mut bench, 0, 2_200);
    let after = fill(&mut bench, 2_200, 4_000);
    // Every byte is programmed twice, 2.5 ns and 10 ns.
    assert!((70.0..90.0).contains(&after), "{after} MB/s");
}

#[test]
fn left_alone_the_cache_is_folded_and_takes_writes_again() {
    let mut bench = with_cache("8 MiB", "0 B", "direct");
    fill(&mut bench, 0, 1_904);
    rest(&mut bench);
    assert_eq!((bench.level("pslc_bytes"), bench.count("folded_bytes")), (0, 1_904 * PAGE));
    let smart = bench.smart();
    assert_eq!((smart.stored_bytes, smart.relocated_bytes), (1_904 * PAGE, 1_904 * PAGE), "written twice");
    let flash = smart.flash_bytes + bench.ssd.ftl().open_units() * 16;
    assert_eq!(flash, smart.stored_bytes + smart.relocated_bytes + smart.metadata_bytes);
    let again = fill(&mut bench, 4_000, 1_904);
    assert!((380.0..440.0).contains(&again), "{again} MB/s");
    bench.ssd.ftl().check().expect("the map is whole");
}

#[test]
fn what_is_written_again_in_the_cache_is_folded_once() {
    let mut bench = with_cache("8 MiB", "0 B", "direct");
    for _ in 0..3 {
        fill(&mut bench, 0, 512);
    }
    rest(&mut bench);
    assert!(bench.count("folded_bytes") <= 1_024 * PAGE, "{}", bench.count("folded_bytes"));
    assert_eq!(bench.ssd.ftl().used_pages(), 512);
    bench.ssd.ftl().check().expect("the map is whole");
}

#[test]
fn the_dynamic_part_is_what_one_bit_a_cell_leaves_of_the_unused_drive() {
    let mut bench = with_cache("1 MiB", "1 GiB", "direct");
    assert_eq!(bench.level("pslc_size"), (1 << 20) + PAGES / 3 * PAGE);
    fill(&mut bench, 0, 6_000);
    rest(&mut bench);
    assert_eq!(bench.level("pslc_size"), (1 << 20) + (PAGES - 6_000) / 3 * PAGE);
}

#[test]
fn a_page_of_the_cache_is_read_in_its_own_time() {
    let mut bench = with_cache("8 MiB", "0 B", "direct");
    fill(&mut bench, 0, 512);
    let at = bench.now;
    let (cached, unwritten) = (bench.read(at, 0), bench.read(at, 9_000));
    bench.run_to(at + WRITE_OVERHEAD + 5 * MS);
    let flash = bench.done_of(cached).times.flash.0;
    assert_eq!((flash, bench.done_of(unwritten).times.flash.0), (20 * US, 0));
}

#[test]
fn a_volatile_drive_keeps_what_it_flushed_into_the_cache() {
    let mut bench = Bench::new(&format!(
        "{CELLS}plp = \"off\"\npslc_static = \"8 MiB\"\npslc_dynamic = \"0 B\"\npslc_full = \"direct\""
    ));
    bench.ssd.keep_account();
    fill(&mut bench, 0, 512);
    let flush = bench.submit(bench.now, Op::Flush, 0, 0, false);
    let mut left = 1_000;
    while !bench.done.iter().any(|done| done.token == flush) && left > 0 {
        let next = bench.ssd.wake().expect("the flush is under way").0;
        bench.run_to(next);
        left -= 1;
    }
    let held: u64 = bench.ssd.cut_power(Instant(bench.now)).iter().map(|(range, _)| range.end - range.start).sum();
    assert_eq!(held, 512 * PAGE);
}
