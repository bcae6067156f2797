//! What a disk does besides commands: verified writes of a new drive, the background scan, reads that are tried again.

use crate::common::{Bench, CACHE_OVERHEAD, MS, OVERHEAD, PORT, REVOLUTION, SECTOR_TIME, US, at_cylinder, read_params};

/// When the first read of these tests (cylinder 1, sector 0, at time 0) is at the host.
const FIRST_DONE: u64 = 2 * MS + 8 * SECTOR_TIME + PORT;

#[test]
fn a_write_where_the_first_scan_has_not_come_by_is_read_back_a_revolution_later() {
    for (scanned, cylinder, verified) in [("0 %", 1, 1), ("50 %", 1, 0), ("50 %", 600, 1), ("100 %", 999, 0)] {
        let ended = |set: &str| {
            let mut bench = Bench::new(set);
            let write = bench.write(0, at_cylinder(cylinder, 0));
            (bench.end_of(write), bench)
        };
        let (plain, _) = ended("");
        let (end, bench) = ended(&format!("media_scanned = \"{scanned}\""));
        assert_eq!(end - plain, verified * REVOLUTION, "{scanned}, cylinder {cylinder}");
        assert_eq!(bench.disk_count("verified_writes").unwrap_or(0), verified, "{scanned}, cylinder {cylinder}");
    }
}

#[test]
fn a_cached_write_is_read_back_after_it_was_written_back() {
    let mut bench = Bench::new("wce = \"on\"\nmedia_scanned = \"0 %\"");
    let write = bench.write(0, at_cylinder(1, 0));
    bench.done_exactly_at(write, CACHE_OVERHEAD + PORT);
    let flush = bench.flush(30 * US);
    // On the media when cylinder 1 has passed, 2 ms modulo a revolution, and read when it comes by again.
    bench.done_exactly_at(flush, 2 * MS + 8 * SECTOR_TIME + REVOLUTION + CACHE_OVERHEAD);
}

#[test]
fn what_is_to_be_read_back_waits_until_it_suits_the_arm() {
    let ended = |scanned: &str| {
        let mut bench = Bench::new(&format!("wce = \"on\"\nmedia_scanned = \"{scanned}\""));
        for n in 0..40_u64 {
            bench.write(n, at_cylinder(n * 389 % 1000, n * 97 % 900));
        }
        let flush = bench.flush(US);
        (bench.end_of(flush), bench.disk_count("verified_writes").unwrap_or(0), bench.count("destages"))
    };
    let ((plain, ..), (verified, count, destages)) = (ended("100 %"), ended("0 %"));
    assert_eq!((count, destages), (40, 80));
    // A second visit to each, in the order that suits, costs as much as the first: half the rate, as the manual says.
    let ratio = verified as f64 / plain as f64;
    assert!((1.6..2.4).contains(&ratio), "{plain} ns, then {verified} ns");
}

#[test]
fn a_write_over_what_is_to_be_read_back_is_written_again() {
    let mut bench = Bench::new("wce = \"on\"\nmedia_scanned = \"0 %\"");
    let first = bench.write(0, at_cylinder(1, 0));
    bench.end_of(first);
    // The first is on the media at 2.05 ms, and would be read back at 8.05 ms.
    let second = bench.write(4 * MS, at_cylinder(1, 0));
    bench.end_of(second);
    let flush = bench.flush(5 * MS);
    bench.end_of(flush);
    assert_eq!((bench.count("media_writes"), bench.count("cached_writes")), (2, 2));
}

const SCAN: &str = "scan_idle = \"500 ms\"\nscan_burst = \"800 ms\"\nscan_pause = \"100 ms\"\nscan_delay = \"1 ms\"\n";

/// A disk with a scan that has answered a read at [`FIRST_DONE`], and nothing since.
fn resting() -> Bench {
    let mut bench = Bench::new(SCAN);
    let first = bench.read(0, at_cylinder(1, 0));
    bench.done_exactly_at(first, FIRST_DONE);
    bench
}

#[test]
fn a_command_waits_until_the_scan_lets_go_and_finds_the_arm_where_it_was() {
    let mut bench = resting();
    // 300 ms into the first burst: cylinder 21 (14 ms each). Cylinder 22 passes at 308 ms, 2 ms modulo a revolution.
    let asked = FIRST_DONE + 800 * MS;
    let read = bench.read(asked, at_cylinder(22, 0));
    bench.done_exactly_at(read, 806 * MS + 8 * SECTOR_TIME + PORT);
    let times = bench.done[1].times;
    assert_eq!((times.queue.0, times.seek.0, times.overhead.0), (MS - OVERHEAD, MS, OVERHEAD));
    assert_eq!(bench.count("interrupted_scans"), 1);
}

#[test]
fn a_command_in_a_pause_waits_for_nothing_but_the_arm_is_away() {
    let mut bench = resting();
    // Between the first burst and the second: 800 ms were scanned, cylinder 57.
    let read = bench.read(FIRST_DONE + 1_350 * MS, at_cylinder(58, 0));
    bench.end_of(read);
    assert_eq!((bench.done[1].times.queue.0, bench.done[1].times.seek.0), (0, MS));
    assert_eq!(bench.count("interrupted_scans"), 0);
}

#[test]
fn before_its_time_there_is_no_scan() {
    let mut bench = resting();
    let read = bench.read(FIRST_DONE + 500 * MS - 1, at_cylinder(2, 0));
    bench.end_of(read);
    assert_eq!((bench.done[1].times.queue.0, bench.done[1].times.seek.0), (0, MS), "from cylinder 1 to 2");
}

#[test]
fn a_scan_goes_round_the_media_however_long_the_drive_rests() {
    let mut bench = resting();
    let read = bench.read(FIRST_DONE + 200 * 86_400_000 * MS, at_cylinder(500, 0));
    bench.end_of(read);
    assert!(bench.count("interrupted_scans") <= 1);
}

#[test]
fn a_read_that_is_tried_again_takes_its_time_and_no_other_does() {
    let read_all = |set: &str| {
        let mut bench = Bench::new(set);
        for n in 0..400 {
            let read = bench.read(n * 1_000 * MS, at_cylinder(n * 37 % 1000, 0));
            bench.end_of(read);
        }
        bench
    };
    let (plain, tried) = (read_all(""), read_all("recovered_error_bits = 1e6\nrecovery_time = \"100 ms\""));
    let longer: Vec<u64> =
        plain.done.iter().zip(&tried.done).map(|(a, b)| b.at.0 - a.at.0).filter(|t| *t > 0).collect();
    // 13 million bits: 13 errors, give or take four standard deviations.
    assert!((1..=28).contains(&longer.len()) && longer.iter().all(|time| time % (100 * MS) == 0), "{longer:?}");
    assert_eq!(longer.iter().sum::<u64>(), tried.disk_count("recovered_reads").expect("counted") * 100 * MS);
}

#[test]
fn values_that_cannot_be_are_refused_by_name() {
    for (set, key) in [
        ("media_scanned = \"101 %\"", "media_scanned"),
        ("scan_idle = \"1 s\"", "scan_burst"),
        ("scan_idle = \"1 s\"\nscan_burst = \"0 s\"\nscan_pause = \"1 s\"\nscan_delay = \"1 ms\"", "scan_burst"),
        ("recovered_error_bits = 1e11", "recovery_time"),
        ("recovered_error_bits = 1\nrecovery_time = \"1 ms\"", "recovered_error_bits"),
    ] {
        let error = read_params(set).expect_err(set).to_string();
        assert!(error.contains(key), "{set}: {error}");
    }
}
