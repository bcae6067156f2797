//! Does a controller's cache do for a RAID 5 what it is bought for, does it keep what it promised, and are mistakes named?

use crate::common::refused::{machine_is_refused, refused, says};
use crate::common::{Left, assert_near, closed, execute, random_4k, request, run, workload};
use hotband_engine::Request;
use serde_json::Value;

/// Five disks in RAID 5, and a controller before it.
fn raid(controller: &str) -> String {
    format!(
        "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 5\n\
         [layouts.raid]\nraid5 = {{ members = \"d*\", chunk = \"64 KiB\" }}\n{controller}"
    )
}

fn controller(options: &str) -> String {
    format!("[layouts.c]\ncontroller = {{ members = \"raid\"{options} }}\n")
}

fn part<'a>(left: &'a Left, id: &str) -> &'a Value {
    let parts = left.0["parts"].as_array().expect("a record has parts");
    &parts.iter().find(|part| part["id"] == id).expect("the part is there")["counters"]
}

/// Commands that members were sent: reads, and writes.
fn member_ios(left: &Left) -> (f64, f64) {
    (left.counter("reads"), left.counter("writes"))
}

#[test]
fn small_sequential_writes_become_full_stripes() {
    // 64 MiB in blocks of 4 KiB; the memory holds a quarter, so nearly all is written back within the run.
    let stream = "read_pct = 0\nrandom_pct = 0\nsize = \"4 KiB\"";
    let text = workload(stream, &closed(8), "", "ios = 16384");
    let bare = run(&raid(""), &text, &[]);
    let marks = ", cache = \"16 MiB\", dirty_low = \"10 %\", dirty_high = \"50 %\"";
    let cached = run(&raid(&controller(marks)), &text, &[]);
    let (reads, writes) = member_ios(&bare);
    assert!(reads > 16_000.0 && writes > 30_000.0, "old data and parity, a write of both: {reads}, {writes}");
    let (reads, writes) = member_ios(&cached);
    // A stripe of 256 KiB is five writes; the last ones are in memory still.
    assert_eq!(reads, 0.0, "a full stripe needs no read");
    assert!((5.0 * 200.0..=5.0 * 256.0).contains(&writes), "{writes}");
    let counters = part(&cached, "c.cache");
    assert_eq!(counters["full_stripes"], counters["destages"]);
    assert!(cached.iops() > 20.0 * bare.iops(), "{} and {}", cached.iops(), bare.iops());
}

#[test]
fn groups_with_parity_have_their_full_stripes() {
    let text = workload("read_pct = 0\nrandom_pct = 0\nsize = \"4 KiB\"", &closed(8), "", "ios = 16384");
    let marks = ", cache = \"16 MiB\", dirty_low = \"10 %\", dirty_high = \"50 %\"";
    for (kind, count, data) in [("raid50", 8, 3), ("raid60", 10, 3), ("raid50", 6, 2)] {
        let machine =
            raid(&controller(marks)).replace("raid5 =", &format!("{kind} =")).replace("= 5", &format!("= {count}"));
        let left = run(&machine, &text, &[]);
        let counters = part(&left, "c.cache");
        assert_eq!(member_ios(&left).0, 0.0, "{kind}: a full stripe of a group needs no read");
        assert_eq!(counters["full_stripes"], counters["destages"], "{kind}");
        let stripes = counters["destages"].as_f64().expect("it is counted");
        let bytes = counters["destaged_bytes"].as_f64().expect("it is counted");
        assert_eq!(bytes / stripes, f64::from(data) * 65_536.0, "{kind}: {count} disks in two groups");
    }
}

#[test]
fn random_writes_are_as_fast_as_memory_until_it_is_full_and_then_as_the_disks() {
    let range = "range = [\"0 B\", \"40 GB\"]";
    let stream = format!("{}\n{range}", random_4k(0));
    let marks = ", cache = \"64 MiB\", overhead = \"20 us\", rate = \"1 GB/s\"";
    // 8 of 64 MiB: what a write takes is the controller's own time.
    let burst = run(&raid(&controller(marks)), &workload(&stream, &closed(1), "", "ios = 2000"), &[]);
    assert_near("a burst", burst.summary("latency_mean_ns"), 24_096.0, 1e-6);
    // Full, it writes back by address: more than without it, but not for ever at memory's rate.
    let text = workload(&stream, &closed(16), "duration = \"30 s\"", "duration = \"60 s\"");
    let (bare, full) = (run(&raid(""), &text, &[]), run(&raid(&controller(marks)), &text, &[]));
    assert!((1.3..4.0).contains(&(full.iops() / bare.iops())), "{} and {}", full.iops(), bare.iops());
    let through = run(&raid(&controller(&format!("{marks}, battery = \"off\""))), &text, &[]);
    assert_near("write-through", through.iops(), bare.iops(), 0.05);
}

fn lost(options: &str, drives: &str) -> u64 {
    let machine = raid(&controller(options)).replace("product = \"savvio-10k1\"", drives);
    let stream = format!("{}\nrange = [\"0 B\", \"1 GB\"]", random_4k(0));
    let text = workload(&stream, &closed(8), "", "duration = \"6 s\"");
    let cut = Request { power_loss: Some("5 s".to_owned()), ..request(&machine, &text, &[]) };
    let record: Value = serde_json::from_str(&execute(cut).record.to_json()).expect("a record is JSON");
    assert!(
        record["power_loss"]["acknowledged_writes"].as_u64().expect("it was cut") > 500,
        "{}",
        record["power_loss"]
    );
    record["power_loss"]["lost_bytes"].as_u64().expect("it was cut")
}

#[test]
fn nothing_that_protected_memory_acknowledged_is_lost_with_power() {
    let safe = "product = \"savvio-10k1\"\nset = { wce = \"off\" }";
    let volatile = "product = \"savvio-10k1\"\nset = { wce = \"on\" }";
    assert_eq!(lost(", cache = \"64 MiB\"", safe), 0);
    assert_eq!(lost(", cache = \"16 MiB\", dirty_low = \"0 %\", dirty_high = \"10 %\"", safe), 0);
    assert_eq!(lost(", battery = \"off\"", safe), 0, "nothing dirty is held");
    // What was handed to disks that forget is beyond a battery.
    assert!(lost(", cache = \"16 MiB\", dirty_low = \"0 %\", dirty_high = \"10 %\"", volatile) > 0);
}

#[test]
fn a_drive_may_fail_below_a_controller() {
    let text = workload(&random_4k(50), &closed(4), "", "duration = \"20 s\"");
    let mut asked = request(&raid(&controller("")), &text, &[]);
    asked.repair.fail = vec!["d1@5 s".to_owned()];
    asked.repair.spares = 1;
    let record: Value = serde_json::from_str(&execute(asked).record.to_json()).expect("a record is JSON");
    assert_eq!((&record["repair"]["bytes_lost"], &record["repair"]["io_errors"]), (&Value::from(0), &Value::from(0)));
    assert_eq!(record["repair"]["rebuilds"][0]["spare"], "spare1");
    let mut asked = request(&raid(&controller("")), &text, &[]);
    asked.repair.fail = vec!["d1@5 s".to_owned(), "d2@6 s".to_owned()];
    let record: Value = serde_json::from_str(&execute(asked).record.to_json()).expect("a record is JSON");
    assert!(record["repair"]["bytes_lost"].as_u64() > Some(0), "{}", record["repair"]);
}

#[test]
fn preconditioning_reaches_the_drives_below() {
    let text = workload(&random_4k(0), &closed(1), "", "ios = 100");
    let text = format!("precondition = {{ sequential = 1 }}\n{text}");
    let machine =
        "[drives.d]\nproduct = \"s4500-960\"\nset = { scale = 512 }\n[layouts.c]\ncontroller = { members = \"d\" }\n";
    let record = run(machine, &text, &[]);
    let written = record.0["smart"][0]["at_begin"]["host_bytes"].as_u64().expect("the drive wears");
    assert!(written > 1_800_000_000, "{written}");
}

#[test]
fn mistakes_name_their_key() {
    for (options, wanted) in [
        (", cache = \"1 MiB\"", ["layouts.c.controller.cache", "16 MiB to 1 TiB"]),
        (", battery = \"dead\"", ["layouts.c.controller.battery", "off, on"]),
        (", battery = true", ["layouts.c.controller.battery", "\"true\", expected one of off, on"]),
        (", dirty_low = \"60 %\", dirty_high = \"50 %\"", ["layouts.c.controller.dirty_low", "less than dirty_high"]),
        (", dirty_high = \"99 %\"", ["layouts.c.controller.dirty_high", "0 % to 95 %"]),
        (", read_ahead = \"5 KiB\"", ["layouts.c.controller.read_ahead", "multiple of 4 KiB"]),
        (", flush_every = \"0 s\"", ["layouts.c.controller.flush_every", "1 ms to"]),
        (", destages = 0", ["layouts.c.controller.destages", "1 to 4096"]),
        (", rate = \"0 B/s\"", ["layouts.c.controller.rate", "above zero"]),
        (", force_writes = true", ["layouts.c.controller.force_writes", "the layout behind the controller"]),
        (", batery = \"on\"", ["layouts.c.controller.batery", "did you mean \"battery\""]),
    ] {
        machine_is_refused(&raid(&controller(options)), &wanted);
    }
    machine_is_refused(
        &raid("").replace("raid5", "controller").replace(", chunk = \"64 KiB\"", ""),
        &["layouts.raid.controller.members", "exactly 1 member"],
    );
    let trims = workload(&format!("{}\ntrim_pct = 10", random_4k(0)), &closed(1), "", "ios = 1");
    says(&refused(request(&raid(&controller("")), &trims, &[])), &["trim"]);
}
