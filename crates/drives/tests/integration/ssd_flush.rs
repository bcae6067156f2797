//! What does a flush cost, and what a forced write, by what the drive says of its cache and does on a flush?

use crate::common::ssd::{Bench, INTERVAL, MS, PAGE, PROGRAM, US, WIRE, WRITE_OVERHEAD};
use hotband_machine::{Drive, Op};

/// A write of one page that meets no wait.
const WRITTEN: u64 = WRITE_OVERHEAD + WIRE;
/// A page of the map's changes is on flash after this.
const SAVED: u64 = 500 * US;
const JOURNAL: &str = "journal_time = \"500 us\"\njournal_entries = 1000\n";

/// Time of a write, of a flush 100 us after its begin, and of another flush after that.
fn write_and_flushes(set: &str) -> [u64; 3] {
    let mut bench = Bench::new(&format!("{JOURNAL}{set}"));
    let write = bench.write(0, 0, 1);
    let written = bench.end_of(write);
    let from = written.max(100 * US);
    let flush = bench.flush(from);
    let flushed = bench.end_of(flush);
    let nothing = bench.flush(flushed + MS);
    [written, flushed - from, bench.end_of(nothing) - flushed - MS]
}

#[test]
fn a_drive_that_says_it_has_no_volatile_cache_gets_no_flush() {
    for set in ["", "wce = \"off\"", "wce = \"off\"\nflush = \"write-out\""] {
        assert_eq!(write_and_flushes(set), [WRITTEN, 0, 0], "{set}");
        assert!(!Bench::new(set).ssd.volatile(), "{set}");
    }
}

#[test]
fn a_protected_buffer_counts_as_durable_where_the_firmware_says_so() {
    let set = "wce = \"on\"\nflush = \"durable\"";
    assert_eq!(write_and_flushes(set), [WRITTEN, WRITE_OVERHEAD, WRITE_OVERHEAD]);
    assert!(Bench::new(set).ssd.volatile(), "hosts flush it");
}

#[test]
fn written_out_it_takes_a_pass_and_a_page_of_the_map_once() {
    let expected = [WRITTEN, WRITE_OVERHEAD + PROGRAM + SAVED, WRITE_OVERHEAD];
    assert_eq!(write_and_flushes("wce = \"on\"\nflush = \"write-out\""), expected);
    // A buffer that nothing protects has no choice.
    assert_eq!(write_and_flushes("plp = \"off\""), expected);
    assert_eq!(write_and_flushes("plp = \"off\"\nflush = \"durable\""), expected);
}

#[test]
fn the_wait_of_a_flush_for_flash_is_time_on_the_media() {
    let mut bench = Bench::new(&format!("{JOURNAL}plp = \"off\""));
    bench.write(0, 0, 1);
    let flush = bench.flush(100 * US);
    let flushed = bench.end_of(flush);
    let nothing = bench.flush(flushed + MS);
    bench.end_of(nothing);
    let parts = [flush, nothing].map(|token| bench.done_of(token).times);
    assert_eq!(parts.map(|times| times.transfer.0), [PROGRAM + SAVED, 0]);
    assert_eq!(parts.map(|times| times.overhead.0), [WRITE_OVERHEAD; 2]);
}

#[test]
fn a_flush_that_finds_the_map_on_its_way_waits_for_that_alone() {
    let mut bench = Bench::new(&format!("{JOURNAL}plp = \"off\""));
    bench.write(0, 0, 1);
    let first = bench.flush(100 * US);
    let saved = 100 * US + WRITE_OVERHEAD + PROGRAM + SAVED;
    bench.run_to(saved - 100 * US);
    let second = bench.flush(saved - 100 * US);
    bench.done_exactly_at(first, saved);
    bench.done_exactly_at(second, saved);
}

#[test]
fn without_cache_and_protection_every_write_waits_for_flash() {
    let [write, flush, _] = write_and_flushes("plp = \"off\"\nwce = \"off\"");
    assert_eq!((write, flush), (INTERVAL + WIRE + PROGRAM + SAVED, 0));
}

#[test]
fn forced_writes_of_a_protected_buffer_cost_what_others_do() {
    for set in ["wce = \"on\"\nflush = \"write-out\"", "wce = \"off\""] {
        let mut bench = Bench::new(set);
        let write = bench.submit(0, Op::Write, 0, PAGE, true);
        bench.done_exactly_at(write, WRITTEN);
    }
}

#[test]
fn the_file_says_how_hosts_force_a_write() {
    let by_flush = |set: &str| Bench::new(set).ssd.forces_by_flush();
    assert_eq!(["", "forced_writes = \"fua\"", "forced_writes = \"flush\""].map(by_flush), [false, false, true]);
}

#[test]
fn the_write_that_fills_the_page_of_the_map_waits_for_it() {
    let mut bench = Bench::new("journal_time = \"500 us\"\njournal_entries = 3");
    for n in 1..=7 {
        let write = bench.write(n * MS, n, 1);
        let waits = if n % 3 == 0 { SAVED } else { 0 };
        bench.done_exactly_at(write, n * MS + WRITTEN + waits);
    }
}

#[test]
fn a_flush_begins_a_new_page_of_the_map() {
    let mut bench = Bench::new("plp = \"off\"\njournal_time = \"500 us\"\njournal_entries = 3");
    for n in [1, 2] {
        bench.write(n * MS, n, 1);
    }
    let flush = bench.flush(3 * MS);
    bench.end_of(flush);
    for n in 10..=12 {
        let write = bench.write(n * MS, n, 1);
        bench.done_exactly_at(write, n * MS + WRITTEN + if n == 12 { SAVED } else { 0 });
    }
}

#[test]
fn flushes_that_come_during_one_are_one_after_it() {
    let mut bench = Bench::new(&format!("{JOURNAL}plp = \"off\""));
    bench.write(0, 0, 1);
    let first = bench.flush(100 * US);
    bench.write(200 * US, 1, 1);
    let second = bench.flush(300 * US);
    bench.write(400 * US, 2, 1);
    let third = bench.flush(500 * US);
    let ended = 100 * US + WRITE_OVERHEAD + PROGRAM + SAVED;
    bench.done_exactly_at(first, ended);
    for flush in [second, third] {
        bench.done_exactly_at(flush, ended + PROGRAM + SAVED);
    }
    assert_eq!(bench.count("flushes"), 3);
}

#[test]
fn forced_writes_that_come_during_one_are_one_group_after_it() {
    let mut bench = Bench::new(&format!("{JOURNAL}plp = \"off\""));
    let [first, second, third] = [0, 100, 200].map(|at| bench.submit(at * US, Op::Write, at * PAGE, PAGE, true));
    let ended = INTERVAL + WIRE + PROGRAM + SAVED;
    bench.done_exactly_at(first, ended);
    for write in [second, third] {
        bench.done_exactly_at(write, ended + PROGRAM + SAVED);
    }
}
