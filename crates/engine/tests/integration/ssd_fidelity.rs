//! Do the solid-state drives of the catalog do what their data sheets say?
//!
//! References are in the catalog, each with its source. At 1/256 of the size write amplification is that of the whole
//! drive within 2 % (`ssd_state.rs` of the drives' tests). `--nocapture` prints the table of `docs/models/ssd.md`.

use crate::common::{closed, in_turn, largest_scale, one_in, product, random_4k, request, run, solid_state, workload};

const DRIVES: [&str; 3] = ["s4500-960", "5200-eco-960", "nytro-1351-960"];

/// A reference value of the catalog: bytes or I/Os a second, or nanoseconds.
fn reference(drive: &str, key: &str) -> Option<f64> {
    let key = format!("reference.{key}");
    let text = product(drive).assumptions.into_iter().find(|value| value.key == key)?.value;
    let (number, unit) = text.split_once(' ').expect("a number and its unit");
    let factor = match unit {
        "MB/s" => 1e6,
        "us" => 1e3,
        "IOPS" => 1.0,
        _ => panic!("{key}: unit {unit}"),
    };
    Some(number.parse::<f64>().expect("a number") * factor)
}

/// One measurement on a worn-in drive: what the summary says under `key`.
fn measure(drive: &str, state: &str, stream: &str, depth: u32, (warm_up, time): (&str, &str), key: &str) -> f64 {
    let text = format!("{state}\n{}", workload(stream, &closed(depth), warm_up, time));
    run(drive, &text, &[("scale", "256")]).summary(key)
}

#[track_caller]
fn check(drive: &str, what: &str, found: f64, wanted: f64, share: f64) {
    let error = found / wanted - 1.0;
    println!("{drive:<16} {what:<28} {found:>13.1} {wanted:>13.1} {:+6.1} %", error * 100.0);
    assert!(error.abs() <= share, "{drive}, {what}: {found} where {wanted} was expected (within {share})");
}

#[test]
fn sequential_bandwidth_is_that_of_the_data_sheet() {
    for drive in DRIVES {
        for (read_pct, key) in [(100, "sequential_read"), (0, "sequential_write")] {
            let stream = format!("read_pct = {read_pct}\nrandom_pct = 0\nsize = \"128 KiB\"");
            let time = ("duration = \"1 s\"", "duration = \"4 s\"");
            let state = "[precondition]\nsequential = 1.0";
            let found = measure(drive, state, &stream, 32, time, "bandwidth_bytes_per_s");
            check(drive, key, found, reference(drive, key).expect("it is in the catalog"), 0.05);
        }
    }
}

#[test]
fn latency_of_one_io_at_a_time_is_that_of_the_data_sheet_or_of_the_class() {
    for drive in DRIVES {
        // physics.md, section 2: drives of the class, where the data sheet says nothing.
        for (read_pct, key, range) in [(100, "latency_read_qd1", 110e3..=170e3), (0, "latency_write_qd1", 35e3..=52e3)]
        {
            let state = "[precondition]\nstate = \"preconditioned\"";
            let found = measure(drive, state, &random_4k(read_pct), 1, ("", "ios = 5000"), "latency_mean_ns");
            if let Some(wanted) = reference(drive, key) {
                check(drive, key, found, wanted, 0.15);
                continue;
            }
            println!("{drive:<16} {key:<28} {found:>13.1} {range:?}");
            let (least, most) = (range.start() * 0.95, range.end() * 1.05);
            assert!((least..=most).contains(&found), "{drive}, {key}: {found}, expected {range:?}");
        }
    }
}

#[test]
fn reads_in_a_row_are_no_slower_than_random_ones() {
    for drive in one_in(4, solid_state()) {
        let scale = largest_scale(&product(&drive));
        let stream = |random_pct| format!("read_pct = 100\nrandom_pct = {random_pct}\nsize = \"4 KiB\"");
        for depth in [1, 4, 32] {
            let of = |random_pct, state| {
                let load = workload(&stream(random_pct), &closed(depth), "ios = 1000", "ios = 10000");
                request(&drive, &format!("{state}\n{load}"), &[("scale", &scale)])
            };
            let outcomes = in_turn(vec![of(100, "[precondition]\nsequential = 1.0"), of(0, "")]);
            let [random, in_a_row] = [0, 1].map(|number| outcomes[number].record.summary.all.iops);
            println!("{drive:<20} {depth:>4} {random:>11.0} random {in_a_row:>11.0} in a row");
            // Flash pages are of three kinds, and reads in a row meet as many of each.
            assert!(in_a_row > 0.97 * random, "{drive}, depth {depth}: {in_a_row} in a row, {random} at random");
        }
    }
}

#[test]
fn a_read_that_was_read_ahead_takes_what_was_measured() {
    // Memblaze, PBlaze7 7940 (PCIe 5.0): 4 KiB one at a time in a row 5.96 us, and 56.95 us without reading ahead.
    let found = |ahead: &str| {
        let text =
            workload("read_pct = 100\nrandom_pct = 0\nsize = \"4 KiB\"", &closed(1), "ios = 1000", "ios = 10000");
        let text = format!("[precondition]\nsequential = 1.0\n{text}");
        run("ps1010-7680", &text, &[("scale", "256"), ("read_ahead", ahead)]).summary("latency_mean_ns")
    };
    check("ps1010-7680", "latency in a row", found("1 MiB"), 5_960.0, 0.15);
    check("ps1010-7680", "without reading ahead", found("0 B"), 56_950.0, 0.20);
}

#[test]
fn random_reads_at_depth_32_are_those_of_the_data_sheet() {
    for drive in DRIVES {
        let state = "[precondition]\nstate = \"preconditioned\"";
        let found = measure(drive, state, &random_4k(100), 32, ("ios = 1000", "ios = 50000"), "iops");
        check(drive, "random_read_qd32", found, reference(drive, "random_read_qd32").expect("in the catalog"), 0.15);
    }
}

#[test]
fn steady_random_writes_are_those_of_the_data_sheet() {
    for drive in DRIVES {
        let state = "[precondition]\nstate = \"preconditioned\"";
        let time = ("duration = \"2 s\"", "duration = \"10 s\"");
        let found = measure(drive, state, &random_4k(0), 32, time, "iops");
        let wanted = reference(drive, "random_write_steady").expect("in the catalog");
        check(drive, "random_write_steady", found, wanted, 0.2);
    }
}

#[test]
fn data_that_compresses_is_written_faster_where_the_drive_compresses() {
    let steady = |drive: &str, data: &str| {
        let state = format!("data = {data}\n[precondition]\nstate = \"preconditioned\"");
        measure(drive, &state, &random_4k(0), 32, ("duration = \"1 s\"", "duration = \"4 s\""), "iops")
    };
    let (whole, half) = (steady("nytro-1351-960", "1.0"), steady("nytro-1351-960", "0.5"));
    assert!(half > 1.3 * whole, "{whole} and {half}");
    let (whole, half) = (steady("nytro-1351-960-plain", "1.0"), steady("nytro-1351-960-plain", "0.5"));
    assert!((half / whole - 1.0).abs() < 0.01, "the what-if without compression: {whole} and {half}");
}
