//! Did any result change? One line a run: IOPS, 99th percentile and maximum latency.
//!
//! Model parameters are still being settled. After a change that is meant, regenerate the snapshots with
//! `INSTA_UPDATE=always cargo test -p hotband-engine golden::` and look at their difference: lines of drives
//! or layouts that the change does not concern must stay as they were.

use crate::common::{
    closed, drives, execute, in_turn, largest_scale, on_units, product, random_4k, request, solid_state, workload,
};
use hotband_engine::Outcome;
use hotband_layouts::{CONTROLLER, KINDS, MD};
use hotband_units::Bytes;

/// "IOPS p99 max" of one run.
fn line(name: &str, machine: &str, workload: &str) -> String {
    let all = execute(request(machine, workload, &[])).record.summary.all;
    let (p99, most) = (all.latency_p99_ns.unwrap_or(0), all.latency_max_ns.unwrap_or(0));
    format!("{name:<28} {:>9.2} IOPS  p99 {p99:>10} ns  max {most:>10} ns\n", all.iops)
}

fn of_ios(stream: &str, depth: u32) -> String {
    workload(stream, &closed(depth), "ios = 200", "ios = 2000")
}

#[test]
fn drives_do_what_they_did() {
    let workloads = [
        ("randread qd1", of_ios(&random_4k(100), 1)),
        ("randread qd32", of_ios(&random_4k(100), 32)),
        ("randwrite qd4", of_ios(&random_4k(0), 4)),
        ("seqread 128k qd4", of_ios("read_pct = 100\nrandom_pct = 0\nsize = \"128 KiB\"", 4)),
    ];
    let mut text = String::new();
    for drive in drives() {
        text.extend([drive.as_str(), "\n"]);
        for (name, workload) in &workloads {
            text += &line(&format!("  {name}"), &drive, workload);
        }
    }
    insta::assert_snapshot!("drives", text);
}

#[test]
fn solid_state_drives_do_what_they_did() {
    let stream = |keys: &str| workload(keys, &closed(16), "ios = 1000", "ios = 20000");
    let workloads = [
        ("randread qd16", stream(&random_4k(100))),
        ("randwrite qd16", stream(&random_4k(0))),
        ("mix, flush, data 0.5", stream(&format!("{}\nflush_every = 64\ndata = 0.5", random_4k(50)))),
        ("trims qd16", stream(&format!("{}\ntrim_pct = 20", random_4k(30)))),
        ("seqwrite 128k", stream("read_pct = 0\nrandom_pct = 0\nsize = \"128 KiB\"").replace("20000", "4000")),
        ("seqread 16k qd16", stream("read_pct = 100\nrandom_pct = 0\nsize = \"16 KiB\"")),
    ];
    let mut text = String::new();
    for drive in solid_state() {
        text.extend([drive.as_str(), "\n"]);
        // One after the other on one drive, which is worn in once.
        let (scale, state) = small_and_written(&drive);
        let asked = |(number, (_, workload)): (usize, &(&str, String))| {
            let state = if number == 0 { state } else { "" };
            request(&drive, &format!("{state}\n{workload}"), &[("scale", &scale)])
        };
        let outcomes = in_turn(workloads.iter().enumerate().map(asked).collect());
        for ((name, _), Outcome { record, .. }) in workloads.iter().zip(outcomes) {
            let all = &record.summary.all;
            let left: serde_json::Value = serde_json::from_str(&record.to_json()).expect("a record is JSON");
            let smart = &left["smart"][0]["at_end"];
            let (iops, p99) = (all.iops, all.latency_p99_ns.unwrap_or(0));
            let (flash, relocated) = (&smart["flash_bytes"], &smart["relocated_bytes"]);
            let line = format!("  {name:<20} {iops:>9.2} IOPS  p99 {p99:>9} ns  flash {flash} relocated {relocated}\n");
            text.push_str(&line);
        }
    }
    insta::assert_snapshot!("solid_state", text);
}

/// Scale and precondition: large drives are as small as they can be, and the largest are not written at random.
fn small_and_written(drive: &str) -> (String, &'static str) {
    let product = product(drive);
    let capacity = product.assumptions.iter().find(|value| value.key == "capacity").expect("it has one");
    let worn = "[precondition]\nstate = \"preconditioned\"";
    match capacity.value.parse::<Bytes>().expect("a size").0 {
        0..1_000_000_000_000 => ("256".to_owned(), worn),
        1_000_000_000_000..10_000_000_000_000 => (largest_scale(&product), worn),
        _ => (largest_scale(&product), "[precondition]\nsequential = 1.0"),
    }
}

#[test]
fn layouts_do_what_they_did() {
    let mut text = String::new();
    for kind in KINDS.into_iter().filter(|kind| ![CONTROLLER, MD].contains(kind)) {
        let members = match kind {
            "single" => 1,
            "raid60" => 8,
            _ => 6,
        };
        let machine = format!("{kind}:{members}xexos-15e900-512n");
        text += &line(&machine, &machine, &of_ios(&random_4k(70), 16));
    }
    insta::assert_snapshot!("layouts", text);
}

#[test]
fn what_stands_before_a_layout_does_what_it_did() {
    let raid = "[drives.d]\nproduct = \"exos-15e900-512n\"\ncount = 6\n[layouts.r]\nraid5 = { members = \"d0..d4\" }\n";
    let mut text = String::new();
    for (name, before) in [
        ("controller", "[layouts.a]\ncontroller = { members = \"r\", cache = \"16 MiB\", dirty_low = \"10 %\" }\n"),
        ("controller without battery", "[layouts.a]\ncontroller = { members = \"r\", battery = \"off\" }\n"),
        ("md", "[layouts.a]\nmd = { members = \"r\" }\n"),
        ("md with journal", "[layouts.a]\nmd = { members = \"r, d5\", journal = \"write-through\" }\n"),
        ("md written back", "[layouts.a]\nmd = { members = \"r, d5\", journal = \"write-back\" }\n"),
        ("md buffered", "[layouts.a]\nmd = { members = \"r\", writes = \"buffered\" }\n"),
        ("host", "[host]\ncores = 2\npath = \"libaio\"\n"),
    ] {
        let volume = if name == "host" { "r" } else { "a" };
        let machine = format!("{raid}{before}[volumes]\nv = {{ on = \"{volume}\" }}\n");
        for (what, read_pct, random_pct) in [("mix", 70, 100), ("sequential writes", 0, 0)] {
            let stream = format!("read_pct = {read_pct}\nrandom_pct = {random_pct}\nsize = \"4 KiB\"");
            text += &line(&format!("{name} {what}"), &machine, &of_ios(&stream, 16));
        }
    }
    insta::assert_snapshot!("before-layouts", text);
}

#[test]
fn two_actuators_do_what_they_did() {
    let of = |read: u32, size: &str, random: u32| {
        let stream = format!("read_pct = {read}\nrandom_pct = {random}\nsize = \"{size}\"");
        on_units(&[(0, 16), (1, 16)], &stream, "ios = 200", "ios = 4000")
    };
    let machine = "[drives.d]\nproduct = \"st14000nm0001\"\n";
    let mut text = String::new();
    for (name, workload) in [
        ("randread 4k", of(100, "4 KiB", 100)),
        ("randwrite 4k", of(0, "4 KiB", 100)),
        ("mix 16k", of(50, "16 KiB", 100)),
        ("seqread 256k", of(100, "256 KiB", 0)),
        ("seqwrite 256k", of(0, "256 KiB", 0)),
    ] {
        text += &line(name, machine, &workload);
    }
    insta::assert_snapshot!("actuators", text);
}

#[test]
fn caches_do_what_they_did() {
    let hot = "read_pct = 90\nrandom_pct = 100\nsize = \"4 KiB\"\nrange = [\"0 GB\", \"1 GB\"]";
    let warmed = workload(hot, &closed(16), "duration = \"8 min\"", "duration = \"20 s\"");
    let mixed = of_ios(&random_4k(50), 16);
    let mut text = String::new();
    for (name, workload, set) in [
        ("awc on, mix", &mixed, &[("awc", "on")][..]),
        ("awc off, mix", &mixed, &[("awc", "off")]),
        ("rcd, wce off, mix", &mixed, &[("awc", "off"), ("wce", "off"), ("rcd", "on")]),
        ("4Kn, mix", &mixed, &[("sector_format", "4Kn")]),
        ("turboboost, warm", &warmed, &[]),
        ("turboboost off", &warmed, &[("turboboost", "off")]),
    ] {
        let record = execute(request("exos-15e900-512e", workload, set)).record;
        let all = &record.summary.all;
        let left: serde_json::Value = serde_json::from_str(&record.to_json()).expect("a record is JSON");
        let counters = &left["parts"][0]["counters"];
        let line = format!(
            "{name:<20} {:>9.2} IOPS  p99 {:>10} ns  destages {:>6}  flash hits {}\n",
            all.iops,
            all.latency_p99_ns.unwrap_or(0),
            counters["destages"],
            counters["flash_hits"]
        );
        text += &line;
    }
    insta::assert_snapshot!("caches", text);
}

#[test]
fn every_kind_of_stream_does_what_it_did() {
    let head = "size = \"8 KiB\"\nrange = [\"0 %\", \"20 %\"]";
    let streams = [
        ("zipf", "read_pct = 50\nrandom_pct = 100\noffsets = { zipf = { exponent = 0.99 } }"),
        ("hotspot", "read_pct = 50\nrandom_pct = 100\noffsets = { hotspot = { data = \"10 %\", ios = \"90 %\" } }"),
        ("stride", "read_pct = 100\nrandom_pct = 100\noffsets = { stride = \"1 MiB\" }"),
        ("coin", "read_pct = 50\nrandom_pct = 30\nrandom_mode = \"coin\""),
        ("run", "read_pct = 50\nrandom_pct = 30\nrandom_mode = \"run\""),
        ("flush", "read_pct = 0\nrandom_pct = 100\nflush_every = 4"),
        ("fua", "read_pct = 50\nrandom_pct = 100\nfua = true"),
    ];
    let loads = [("closed", closed(8)), ("open", "open = { rate_iops = 150, arrival = \"poisson\" }".to_owned())];
    let mut text = String::new();
    for (name, stream) in streams {
        for (load_name, load) in &loads {
            let workload = workload(&format!("{stream}\n{head}"), load, "", "duration = \"5 s\"");
            text += &line(&format!("{name} {load_name}"), "exos-15e900-512e", &workload);
        }
    }
    insta::assert_snapshot!("streams", text);
}

/// Files over a network, transactions with lazy writes, and desktops that boot once.
const SCRIPTS: &str = "
[network]
rate = \"1 Gb/s\"
efficiency = \"94 %\"
carries = [\"pages\"]
[[streams]]
name = \"files\"
read_pct = 100
size = \"256 KiB\"
range = [\"50 %\", \"100 %\"]
files = { count = 10000, smallest = \"15 KB\", largest = \"4 MB\", mean = \"1.67 MB\", hot = \"18 %\", hot_requests = \"80 %\", layout = \"mixed\" }
[[streams]]
name = \"disk\"
read_pct = 70
random_pct = 40
random_mode = \"coin\"
size = \"8 KiB\"
per_client = \"10 GB\"
[[streams]]
name = \"lazy\"
read_pct = 0
random_pct = 100
size = \"8 KiB\"
fua = true
[[scripts]]
name = \"pages\"
clients = 5
repeat = true
[[scripts.steps]]
name = \"page\"
stream = \"files\"
files = 1
depth = 2
[[scripts]]
name = \"transactions\"
clients = 8
repeat = true
think = \"1 ms\"
[[scripts.steps]]
name = \"read\"
stream = \"disk\"
ios = [5, 15]
cpu_exponential = \"0.2 ms\"
[[scripts.steps]]
name = \"lazy\"
stream = \"lazy\"
ios = 2
detached = true
[[scripts]]
name = \"boot\"
clients = 3
repeat = false
start_every = \"1 s\"
[[scripts.steps]]
name = \"a\"
stream = \"disk\"
ios = 100
[[scripts.steps]]
name = \"b\"
stream = \"disk\"
ios = 100
depth = 4
before = \"0.5 s\"
[[phases]]
duration = \"60 s\"
measure = true
";

#[test]
fn scripts_do_what_they_did() {
    let json = execute(request("raid10:4xexos-15e900-512n", SCRIPTS, &[])).record.to_json();
    let record: serde_json::Value = serde_json::from_str(&json).expect("a record is JSON");
    let mut text = line("all", "raid10:4xexos-15e900-512n", SCRIPTS);
    for script in record["scripts"].as_array().expect("the workload has scripts") {
        let figures =
            ["completed", "duration_mean_ns", "duration_p99_ns", "last_end_ns"].map(|key| script[key].to_string());
        text.extend([&script["name"].to_string(), " ", &figures.join(" "), "\n"]);
    }
    insta::assert_snapshot!("scripts", text);
}
