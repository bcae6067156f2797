//! Do the drives say how many commands wait in them, and only where that is asked for?

use crate::common::{catalog, closed, execute, random_4k, request, workload};
use hotband_engine::{Run, RunError, Text};
use serde_json::Value;

/// Four seconds of random reads, so many outstanding.
fn text(depth: u32, asked: &str) -> String {
    let reads = workload(&random_4k(100), &closed(depth), "duration = \"1 s\"", "duration = \"4 s\"");
    format!("{reads}[record]\nprobes = [{asked}]\n")
}

#[test]
fn what_a_loop_keeps_outstanding_waits_in_its_drive() {
    for drive in ["exos-15e900-512n", "s4500-960", "st14000nm0001"] {
        let outcome = execute(request(drive, &text(8, "\"waiting\""), &[]));
        let waiting = &outcome.tables["waiting"];
        assert_eq!(waiting.column::<u64>("time_ns"), [0, 1_000_000_000, 2_000_000_000, 3_000_000_000]);
        assert_eq!(waiting.column::<u64>("commands"), [8; 4], "{drive}");
        let record: Value = serde_json::from_str(&outcome.record.to_json()).unwrap();
        assert_eq!(record["waiting"][0]["commands_mean"], 8.0);
        assert_eq!(record["series"]["waiting_file"], "waiting.parquet");
    }
}

#[test]
fn an_array_has_a_row_a_drive_and_what_it_keeps_outstanding_in_all_of_them() {
    let outcome = execute(request("raid10:4xexos-15e900-512n", &text(16, "\"waiting\""), &[]));
    let waiting = &outcome.tables["waiting"];
    assert_eq!(waiting.len(), 4 * 4);
    let drives: Vec<&str> = waiting.column::<Text>("drive")[..4].iter().map(|name| &**name).collect();
    assert_eq!(drives, ["d0", "d1", "d2", "d3"]);
    for interval in waiting.column::<u64>("commands").chunks(4) {
        assert_eq!(interval.iter().sum::<u64>(), 16, "{interval:?}");
    }
}

#[test]
fn a_run_that_does_not_ask_leaves_the_same_but_for_it() {
    let left = |asked: &str| {
        let outcome = execute(request("raid1:2xexos-15e900-512n", &text(4, asked), &[]));
        let mut record: Value = serde_json::from_str(&outcome.record.to_json()).unwrap();
        record["spec"]["workload"].take();
        (record, outcome.tables)
    };
    let ((plain, few), (mut with, more)) = (left(""), left("\"waiting\""));
    assert!(few.get("waiting").is_none() && more.get("waiting").is_some());
    assert_eq!(few["series"], more["series"]);
    assert!(with.as_object_mut().unwrap().remove("waiting").is_some());
    with["series"].as_object_mut().unwrap().remove("waiting_file");
    assert_eq!(plain, with);
}

#[test]
fn a_probe_that_is_none_is_named() {
    let error = |asked: &str| match Run::new(&catalog(), request("savvio-10k1", &text(1, asked), &[])) {
        Err(RunError::Spec(error)) => (error.key, error.accepted),
        _ => panic!("accepted {asked}"),
    };
    let (key, accepted) = error("\"wating\"");
    assert_eq!(key, "record.probes");
    assert!(accepted.contains("waiting"), "{accepted}");
    assert!(error("3").1.contains("a list of names"));
}
