//! Do shingled disks behave as was published of them? Skylight (Aghayev & Desnoyers, FAST 2015) measured drive-managed
//! disks of Seagate's with their write cache off; its figures are recalled, not re-read, and are ranges here.

use crate::common::{Left, assert_near, closed, random_4k, run, workload};

const DISK: &str = "st8000as0002";
const OFF: (&str, &str) = ("wce", "off");

fn mean_ms(left: &Left) -> f64 {
    left.summary("latency_mean_ns") / 1e6
}

#[test]
fn a_random_write_takes_tens_of_milliseconds_while_the_media_cache_has_room() {
    // Published: a synchronous write of 4 KiB takes tens of milliseconds, wherever it goes. The model: about two
    // revolutions of 10 ms, and no seek, with which a disk without shingles needs less than a revolution more.
    let text = workload(&random_4k(0), &closed(1), "ios = 100", "ios = 2000");
    let left = run(DISK, &text, &[OFF]);
    assert!((10.0..=40.0).contains(&mean_ms(&left)), "{} ms", mean_ms(&left));
    assert!(left.counter("seeks") < 20.0, "the arm stays at the media cache");
}

#[test]
fn throughput_falls_from_hundreds_to_a_few_writes_a_second_when_the_map_is_full() {
    // Published: the burst ends when the map is full (250,000 extents, far before the space is), and then about a band
    // a second is cleaned. All of the map is filled here.
    let text = |warm_up: &str, measure: &str| workload(&random_4k(0), &closed(31), warm_up, measure);
    let burst = run(DISK, &text("ios = 1000", "ios = 50000"), &[OFF]);
    assert!(burst.iops() > 100.0, "{}", burst.iops());
    assert_eq!(burst.counter("bands_cleaned"), 0.0);
    let full = run(DISK, &text("ios = 251000", "duration = \"200 s\""), &[OFF]);
    assert!((0.6..=10.0).contains(&full.iops()), "{}", full.iops());
    let bands_a_second = full.counter("bands_cleaned") / 200.0;
    // Published: 0.6 to 1.6 s a band; the mean of the model has to lie there.
    assert!((0.6..=1.6).contains(&(1.0 / bands_a_second)), "{} s a band", 1.0 / bands_a_second);
    // Little's law holds through it.
    assert_near("outstanding", full.iops() * mean_ms(&full) / 1e3, 31.0, 0.1);
}

/// Mean latency, in milliseconds, of bursts of 1,000 writes into a map of 1,200.
fn bursts(every: &str) -> f64 {
    let load = format!("bursts = {{ ios = 1000, every = \"{every}\" }}");
    let text = workload(&random_4k(0), &load, "", "ios = 5000");
    mean_ms(&run(DISK, &text, &[OFF, ("smr_cache_extents", "1200")]))
}

#[test]
fn a_rest_long_enough_to_clean_gives_the_burst_back() {
    // Cleaning a band takes about a second: 1,000 of them are cleaned in half an hour, and not in a minute.
    let (rested, not) = (bursts("30 min"), bursts("1 min"));
    assert!(rested < 2_000.0, "{rested} ms");
    assert!(not > 50.0 * rested, "{not} ms after a minute, {rested} ms after half an hour");
}

#[test]
fn a_sequential_writer_does_not_notice_the_shingles() {
    let text = workload(
        "read_pct = 0\nrandom_pct = 0\nsize = \"256 KiB\"",
        &closed(4),
        "duration = \"2 s\"",
        "duration = \"20 s\"",
    );
    for name in [DISK, "st8000as0022"] {
        let shingled = run(name, &text, &[]).summary("bandwidth_bytes_per_s");
        let plain = run(name, &text, &[("smr", "off")]).summary("bandwidth_bytes_per_s");
        assert_near(name, shingled, plain, 0.02);
    }
}

#[test]
fn random_reads_of_what_was_not_written_are_those_of_an_ordinary_disk() {
    let text = workload(&random_4k(100), &closed(8), "ios = 200", "ios = 10000");
    let [shingled, plain] = [&[][..], &[("smr", "off")]].map(|set| run(DISK, &text, set).iops());
    // 25 GB at the outer edge are 0.3 % of the surface; 10,000 services have a standard error of 0.5 %.
    assert_near("reads a second", shingled, plain, 0.02);
}
