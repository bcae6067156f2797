//! Does md's stripe cache save a RAID 5 its reads, does its journal cost what it writes, and are mistakes named?

use crate::common::refused::machine_is_refused;
use crate::common::{Left, assert_near, closed, execute, random_4k, request, run, workload};
use hotband_engine::Request;
use serde_json::Value;

/// Five disks in RAID 5, another one, and what stands before them.
fn array(before: &str) -> String {
    format!(
        "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 6\nset = {{ wce = \"off\" }}\n\
         [layouts.raid]\nraid5 = {{ members = \"d0..d4\", chunk = \"16 KiB\" }}\n{before}"
    )
}

fn on_raid() -> String {
    array("[volumes]\nv = { on = \"raid\" }\n")
}

fn md(options: &str) -> String {
    array(&format!("[layouts.md]\nmd = {{ members = \"raid\"{options} }}\n[volumes]\nv = {{ on = \"md\" }}\n"))
}

const JOURNAL: &str = ", d5\", journal = \"write-through";

fn with_journal() -> String {
    md("").replace("members = \"raid", &format!("members = \"raid{JOURNAL}"))
}

fn counter(left: &Left, name: &str) -> u64 {
    let parts = left.0["parts"].as_array().expect("a record has parts");
    let part = parts.iter().find(|part| part["id"] == "md.stripes").expect("the array is there");
    part["counters"][name].as_u64().expect("it is counted")
}

#[test]
fn sequential_writes_that_wait_together_are_full_stripes() {
    // 64 writes of 4 KiB outstanding are four stripes of 64 KiB.
    let text = workload("read_pct = 0\nrandom_pct = 0\nsize = \"4 KiB\"", &closed(64), "", "ios = 4096");
    let (bare, merged) = (run(&on_raid(), &text, &[]), run(&md(""), &text, &[]));
    let per_write = |left: &Left| (left.counter("reads") / 4096.0, left.counter("writes") / 4096.0);
    let (reads, writes) = per_write(&bare);
    assert!(reads > 0.5 && writes > 1.5, "old data and parity, a write of both: {reads}, {writes}");
    let (reads, writes) = per_write(&merged);
    assert!(reads < 0.1 && writes < 0.6, "merged: {reads}, {writes}");
    assert!(counter(&merged, "full_stripes") > 100, "of 256: {}", counter(&merged, "full_stripes"));
    assert!(merged.iops() > 2.0 * bare.iops(), "{} and {}", merged.iops(), bare.iops());
}

#[test]
fn a_write_at_a_time_is_as_without_it_and_reads_always_are() {
    for (read_pct, depth) in [(0, 1), (100, 8)] {
        let text = workload(&random_4k(read_pct), &closed(depth), "", "ios = 500");
        let (bare, cached) = (run(&on_raid(), &text, &[]), run(&md(""), &text, &[]));
        assert_eq!(bare.0["summary"], cached.0["summary"], "{read_pct} % reads");
    }
}

#[test]
fn a_journal_costs_a_write_of_data_parity_and_a_block_of_its_own() {
    let text = workload(&random_4k(0), &closed(1), "", "ios = 500");
    let (bare, journal) = (run(&md(""), &text, &[]), run(&with_journal(), &text, &[]));
    assert_near("three pages each", counter(&journal, "journal_bytes") as f64, 500.0 * 3.0 * 4096.0, 0.01);
    let more = journal.summary("latency_mean_ns") - bare.summary("latency_mean_ns");
    // The journal is written one record after the other with pauses between: up to a turn of 6 ms, and its command.
    assert!((1e6..8e6).contains(&more), "{more}");
}

#[test]
fn nothing_acknowledged_is_lost_with_power_and_a_member_may_fail() {
    let text = workload(&random_4k(0), &closed(16), "", "duration = \"6 s\"");
    for machine in [md(""), with_journal()] {
        let cut = Request { power_loss: Some("5 s".to_owned()), ..request(&machine, &text, &[]) };
        let record: Value = serde_json::from_str(&execute(cut).record.to_json()).expect("a record is JSON");
        assert_eq!(record["power_loss"]["lost_bytes"], 0, "{machine}");
        assert!(record["power_loss"]["acknowledged_writes"].as_u64() > Some(100), "{}", record["power_loss"]);
        let mut asked = request(&machine, &text, &[]);
        asked.repair.fail = vec!["d1@2 s".to_owned()];
        let record: Value = serde_json::from_str(&execute(asked).record.to_json()).expect("a record is JSON");
        assert_eq!((&record["repair"]["bytes_lost"], &record["repair"]["io_errors"]), (&0.into(), &0.into()));
    }
    // An array whose journal has failed takes no writes.
    let mut asked = request(&with_journal(), &text, &[]);
    asked.repair.fail = vec!["d5@2 s".to_owned()];
    let record: Value = serde_json::from_str(&execute(asked).record.to_json()).expect("a record is JSON");
    assert!(record["repair"]["io_errors"].as_u64() > Some(0), "{}", record["repair"]);
}

#[test]
fn mistakes_name_their_key() {
    for (options, wanted) in [
        (", stripe_cache = 16", ["layouts.md.md.stripe_cache", "17 to 32768"]),
        (", journal = \"write-back\"", ["layouts.md.md.journal", "none, write-through"]),
        (", journal = \"write-through\"", ["layouts.md.md.members", "expected 2 members"]),
        (", size = \"1 GB\"", ["layouts.md.md.members", "whole stripes"]),
        (", force_writes = true", ["layouts.md.md.force_writes", "the layout below"]),
        (", stripes = 256", ["layouts.md.md.stripes", "unknown key"]),
    ] {
        machine_is_refused(&md(options), &wanted);
    }
    machine_is_refused(&md("").replace("raid5", "raid0"), &["layouts.md.md.members", "expected a raid5 or raid6"]);
    let two = md("").replace("members = \"raid\"", "members = \"raid, d5\"");
    machine_is_refused(&two, &["layouts.md.md.members", "expected 1 member"]);
}
