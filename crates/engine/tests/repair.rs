//! Failures in whole runs: how long a rebuild takes, what is lost, what hosts get meanwhile.

mod common;

use common::{catalog, closed, execute, random_4k, request, workload};
use hotband_engine::{Control, RepairRequest, Request, Run, RunError};
use serde_json::Value;

const MIB: u64 = 1 << 20;

fn idle(seconds: u32) -> String {
    let load = "open = { rate_iops = 0.001, arrival = \"fixed\" }";
    workload(&random_4k(100), load, "", &format!("duration = \"{seconds} s\""))
}

fn failing(machine: &str, text: &str, set: &[(&str, &str)], fail: &[&str], spares: u32) -> Request {
    let fail = fail.iter().map(|text| (*text).to_owned()).collect();
    Request { repair: RepairRequest { fail, spares, ..RepairRequest::default() }, ..request(machine, text, set) }
}

#[track_caller]
fn record(request: Request) -> Value {
    serde_json::from_str(&execute(request).record.to_json()).expect("a record is JSON")
}

/// Seconds of the one rebuild of a run.
#[track_caller]
fn rebuild_seconds(record: &Value) -> f64 {
    let rebuild = &record["repair"]["rebuilds"][0];
    assert_eq!(rebuild["state"], "done", "{rebuild}");
    (rebuild["ended_ns"].as_f64().unwrap() - rebuild["began_ns"].as_f64().unwrap()) / 1e9
}

/// Seconds in which one drive reads or writes all of itself in commands of 1 MiB.
fn whole_drive(drive: &str, read_pct: u32) -> f64 {
    let stream = format!("read_pct = {read_pct}\nrandom_pct = 0\nsize = \"1 MiB\"");
    let left = common::run(drive, &workload(&stream, &closed(4), "", "ios = 4000"), &[("span", "100%")]);
    left.0["duration_ns"].as_f64().unwrap() / 1e9 
}

#[test]
fn explore() {
    for (machine, spare) in [("raid1:2xsavvio-10k1", 1), ("raid5:5xsavvio-10k1", 1), ("raid6:6xsavvio-10k1", 1), ("raid10:4xent-15k",1), ("raid1:2x5200-eco-960", 1)] {
        let r = record(failing(machine, &idle(6000), &[], &["drive1@0 s"], spare));
        println!("{machine} {:.1} s {} lat {}", rebuild_seconds(&r), r["repair"]["rebuilds"][0]["mean_bytes_per_s"], r["summary"]["latency_mean_ns"]);
        let text = workload(&random_4k(70), &closed(1), "", "duration = \"120 s\"");
        let r = record(failing(machine, &text, &[], &["drive1@20 s"], spare));
        for s in r["repair"]["service"].as_array().unwrap() { println!("   {} {:.1} mean {:.1} p99 {:.1}", s["phase"], s["iops"].as_f64().unwrap(), s["latency_mean_ns"].as_f64().unwrap()/1e6, s["latency_p99_ns"].as_f64().unwrap()/1e6); }
        println!("   rebuild {:.1} MB/s", r["repair"]["rebuilds"][0]["mean_bytes_per_s"].as_f64().unwrap()/1e6);
    }
}
