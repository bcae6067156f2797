//! Does a parallel bus limit what its drives deliver together, and does the host keep what it may not send yet?

use crate::common;
use crate::common::{assert_near, closed, request, run, workload};
use hotband_engine::Run;

const MB: f64 = 1e6;

/// `count` drives in a stripe, on one bus or each on its own port.
fn stripe(product: &str, count: usize, bus: bool) -> String {
    let bus = if bus { "[links.u320]\nkind = \"scsi\"\n" } else { "" };
    let last = count - 1;
    let layout = format!("[layouts.a]\nraid0 = {{ members = \"d0..d{last}\", chunk = \"256 KiB\" }}\n");
    format!("[drives.d]\nproduct = \"{product}\"\ncount = {count}\n{bus}{layout}")
}

fn bandwidth(machine: &str, stream: &str, depth: u32) -> f64 {
    let text = workload(stream, &closed(depth), "duration = \"1 s\"", "duration = \"10 s\"");
    run(machine, &text, &[]).summary("bandwidth_bytes_per_s") / MB
}

const READ: &str = "read_pct = 100\nrandom_pct = 0\nsize = \"1 MiB\"";

#[test]
fn drives_share_the_bus_and_stop_at_what_it_carries() {
    // Outer rate 96 MB/s each. Legs of 256 KiB cross in 25 us + 1.06 ms: 241 MB/s.
    let limit = 262_144.0 / (25e-6 + 262_144.0 / 246.4e6) / MB;
    for (count, expected) in [(2, 2.0 * 96.0), (3, limit), (5, limit)] {
        assert_near(
            &format!("{count} drives"),
            bandwidth(&stripe("cheetah-15k4", count, true), READ, 16),
            expected,
            0.03,
        );
    }
    assert_near("without a bus", bandwidth(&stripe("cheetah-15k4", 5, false), READ, 32), 5.0 * 96.0, 0.05);
}

#[test]
fn two_drives_saturate_a_bus_that_one_does_not() {
    // 64 KiB that lie in the drive's memory, read again and again: nothing but the firmware and the bus.
    let cached = "read_pct = 100\nrandom_pct = 100\nsize = \"64 KiB\"\nrange = [\"0 KiB\", \"64 KiB\"]";
    let drives = |count: usize| {
        let stream = |n| format!("[[streams]]\nname = \"s{n}\"\nvolume = \"v{n}\"\n{cached}\n{}\n", of_its_own());
        let volume = |n| format!("v{n} = {{ on = \"d{n}\" }}\n");
        let (streams, volumes): (String, String) = (0..count).map(|n| (stream(n), volume(n))).unzip();
        let machine = format!(
            "[drives.d]\nproduct = \"savvio-10k1\"\ncount = {count}\n[links.u]\nkind = \"scsi\"\n[volumes]\n{volumes}"
        );
        let phases = "[[phases]]\nduration = \"1 s\"\n[[phases]]\nduration = \"4 s\"\nmeasure = true\n";
        run(&machine, &format!("{streams}{phases}"), &[]).summary("bandwidth_bytes_per_s") / MB
    };
    let (one, two, three) = (drives(1), drives(2), drives(3));
    assert!(one < 190.0, "one drive waits for its own firmware: {one}");
    assert!((210.0..240.0).contains(&two), "what was measured of such a bus: {two}");
    assert_near("it is full", three, two, 0.02);
}

fn of_its_own() -> &'static str {
    "load = { closed = { threads = 1, depth = 1 } }"
}

#[test]
fn the_bus_is_the_port_and_is_charged_once() {
    let drive = |bus: &str| format!("[drives.d]\nproduct = \"savvio-10k1\"\n{bus}");
    let text = workload(
        "read_pct = 100\nrandom_pct = 100\nsize = \"64 KiB\"\nrange = [\"0 KiB\", \"64 KiB\"]",
        &closed(1),
        "ios = 10",
        "ios = 1000",
    );
    let latency = |bus: &str| run(&drive(bus), &text, &[]).summary("latency_mean_ns") / 1e3;
    // Firmware 100 us; 64 KiB at 246.4 MB/s are 266 us, with 25 us a command. Its own port: 205 us at 320 MB/s.
    assert_near("on the bus", latency("[links.u]\nkind = \"scsi\"\n"), 100.0 + 266.0 + 25.0, 0.01);
    assert_near("its own port", latency(""), 100.0 + 204.8, 0.01);
}

#[test]
fn what_the_host_may_not_send_waits_there() {
    let machine =
        |queue: &str| format!("[drives.d]\nproduct = \"savvio-10k1\"\n[volumes]\nv = {{ on = \"d\"{queue} }}\n");
    let random = "read_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"";
    let at = |queue: &str, depth: u32| {
        run(&machine(queue), &workload(random, &closed(depth), "ios = 500", "ios = 20000"), &[])
    };
    let (kept, deep, shallow) = (at(", queue = 8", 64), at("", 64), at("", 8));
    assert_near("the drive sees eight", kept.iops(), shallow.iops(), 0.02);
    assert!(deep.iops() > 1.5 * kept.iops(), "without a limit it sorts more");
    // Little's law holds where the user stands: 64 outstanding, most of them in the host.
    let latency = kept.summary("latency_mean_ns") / 1e9;
    assert_near("I/Os outstanding", latency * kept.iops(), 64.0, 0.01);
    let times = kept.0["summary"]["times_mean_ns"].as_object().expect("I/Os were completed");
    let parts: f64 = times.values().filter_map(serde_json::Value::as_f64).sum();
    assert_near("the parts add up", parts / 1e9, latency, 1e-6);
    let refused = |queue: &str| {
        let made = request(&machine(queue), &workload(random, &closed(1), "ios = 1", "ios = 1"), &[]);
        Run::new(&common::catalog(), made).err().expect("this is a mistake").to_string()
    };
    assert!(refused(", queue = 0").contains("volumes.v"), "{}", refused(", queue = 0"));
}
