//! Does a drive without DRAM behave as its host's memory lets it: fast over what that maps, slow over the whole?

use crate::common::{Left, assert_near, closed, product, random_4k, run, solid_state, workload};

const DRIVE: &str = "980-1tb";
/// 15.6 GB, of whose table of 3.8 MiB the host holds 1 MiB: 256 of 3,727 pages; the controller 4.
const SCALE: (&str, &str) = ("scale", "64");
const HELD: f64 = 260.0 / 3_727.0;
/// Room for all of the table of a terabyte.
const DRAM: (&str, &str) = ("map_memory", "2 GiB");
/// Nothing that makes single commands slow: look-ups are what is measured.
const STEADY: [(&str, &str); 4] =
    [("page_time_spread", "0 %"), ("retry_share", "0 %"), ("scan_share", "0 %"), ("stall_time", "0 s")];
const NOTHING_LENT: (&str, &str) = ("hmb_size", "0 B");

/// A stream over a part of the drive, which was written once.
fn measured(stream: &str, range: &str, depth: u32, set: &[(&str, &str)]) -> Left {
    let stream = format!("{stream}\nrange = [\"0 %\", \"{range}\"]");
    let load = workload(&stream, &closed(depth), "ios = 20000", "ios = 40000");
    let set: Vec<(&str, &str)> = set.iter().copied().chain(STEADY).chain([SCALE]).collect();
    run(DRIVE, &format!("[precondition]\nsequential = 1.0\n{load}"), &set)
}

fn reads(range: &str, depth: u32, set: &[(&str, &str)]) -> Left {
    measured(&random_4k(100), range, depth, set)
}

/// Microseconds.
fn latency(left: &Left) -> f64 {
    left.summary("latency_mean_ns") / 1e3
}

#[test]
fn one_read_at_a_time_costs_what_its_look_up_does() {
    let all_held = latency(&reads("100 %", 1, &[DRAM]));
    // A round trip, where it is not one of the controller's four pages.
    let (small, host) = (reads("5 %", 1, &[]), 1.5);
    assert!(small.counter("map_misses") < 400.0, "read once each: {}", small.counter("map_misses"));
    assert_near("within the host's memory", latency(&small), all_held + host, 0.02);
    // A page of the table in the fast cells, 25 us, and across the channel, 3.4 us. Every page that misses is as likely.
    let table = 25.0 + 4096.0 / 1200.0;
    let whole = latency(&reads("100 %", 1, &[]));
    assert_near("over the whole drive", whole, all_held + (1.0 - HELD) * table + HELD * host, 0.02);
    let alone = latency(&reads("100 %", 1, &[NOTHING_LENT]));
    assert_near("with nothing lent", alone, all_held + table, 0.02);
    assert_near("nothing lent, within 5 %", latency(&reads("5 %", 1, &[NOTHING_LENT])), alone, 0.02);
}

#[test]
fn look_ups_that_miss_take_the_dies_from_reads_of_data() {
    // 256 outstanding: the controller's 500,000 a second where the table is held, the dies' time where it is not.
    let [held, small, whole] =
        [("100 %", &[DRAM][..]), ("5 %", &[]), ("100 %", &[])].map(|(range, set)| reads(range, 256, set).iops());
    assert_near("within the host's memory", small, held, 0.03);
    assert!((0.5..0.95).contains(&(whole / held)), "{whole} over the whole drive, {held} with all of the table held");
}

#[test]
fn sequential_reads_hardly_notice() {
    let stream = "read_pct = 100\nrandom_pct = 0\nsize = \"128 KiB\"";
    let [held, lent, alone] = [&[DRAM][..], &[], &[NOTHING_LENT]]
        .map(|set| measured(stream, "100 %", 32, set).summary("bandwidth_bytes_per_s"));
    assert_near("with the host's memory", lent, held, 0.04);
    assert_near("with nothing lent", alone, held, 0.04);
}

#[test]
fn random_writes_over_the_whole_drive_write_the_table_too() {
    let amplification = |set: &[(&str, &str)]| {
        let left = measured(&random_4k(0), "100 %", 32, set);
        (left.counter("flash_bytes") / left.counter("written_bytes"), left)
    };
    let (held, _) = amplification(&[DRAM]);
    let (lent, left) = amplification(&[]);
    // A changed page leaves memory for every one that is brought, but for what memory still holds.
    let misses = left.counter("map_misses") * 4096.0;
    assert_near("what leaves is what comes", left.counter("map_written_bytes"), misses, 0.05);
    let table = left.counter("map_written_bytes") / left.counter("written_bytes");
    assert!(table > 0.8, "{table} bytes of table for each of the host");
    assert_near("flash bytes a host byte", lent, held + table, 0.05);
}

#[test]
fn drives_with_dram_hold_their_whole_table() {
    for drive in solid_state().into_iter().filter(|drive| drive != DRIVE) {
        assert!(["map_memory", "hmb_size"].iter().all(|key| !product(&drive).has(key)), "{drive}");
    }
    let load = workload(&random_4k(100), &closed(1), "", "ios = 100");
    let left = run("pm9a3-3840", &load, &[("scale", "64")]);
    assert!(left.0["parts"][0]["counters"].get("map_misses").is_none(), "nothing is looked up on flash");
}
