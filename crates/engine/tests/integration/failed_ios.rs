//! I/Os that fail: what of them is in the queue depth, in rates and in latencies.

use crate::common;
use hotband_engine::{Control, Means, RepairRequest, Request, Run, RunError};
use hotband_machine::{MemoryError, Stopped};
use serde_json::Value;

fn record(fail: &[&str]) -> Value {
    let text = common::workload(&common::random_4k(70), &common::closed(8), "", "duration = \"60 s\"");
    let fail = fail.iter().map(|one| (*one).to_owned()).collect();
    let repair = RepairRequest { fail, ..RepairRequest::default() };
    let asked = Request { repair, ..common::request("raid5:5xsavvio-10k1", &text, &[]) };
    serde_json::from_str(&common::execute(asked).record.to_json()).expect("a record is JSON")
}

/// Queue depth, and what rates and latencies make of it: of I/Os that were served, and of those that failed.
fn little(record: &Value) -> (f64, f64, f64) {
    let (summary, seconds) = (&record["summary"], record["duration_ns"].as_f64().unwrap() / 1e9);
    let number = |key: &str| summary[key].as_f64().unwrap_or_default();
    let served = number("iops") * number("latency_mean_ns") / 1e9;
    (number("queue_depth_mean"), served, number("errors") / seconds * number("error_latency_mean_ns") / 1e9)
}

#[test]
fn with_two_failures_those_served_and_those_failed_make_up_the_queue_depth() {
    let record = record(&["d0@5 s", "d1@10 s"]);
    let (depth, served, failed) = little(&record);
    assert!((depth - 8.0).abs() < 0.01, "a closed loop of eight: {depth}");
    assert!(failed > 0.01 * depth, "the case that needs a note: {failed} of {depth}");
    assert!(((served + failed) / depth - 1.0).abs() < 0.01, "{served} and {failed} of {depth}");
    let notes = record["notes"].as_array().unwrap();
    assert!(
        notes
            .iter()
            .any(|note| note.as_str().unwrap().contains("of the queue depth; rates and latencies exclude them")),
        "{notes:?}"
    );
}

#[test]
fn without_failures_nothing_is_said_of_them() {
    let record = record(&[]);
    let (depth, served, failed) = little(&record);
    assert!((served / depth - 1.0).abs() < 0.01 && failed == 0.0, "{served} of {depth}");
    assert!(record["summary"].get("error_latency_mean_ns").is_none());
}

#[test]
fn building_that_nobody_waits_for_ends() {
    let request = common::request(
        "replicated:4xmg06sca-10tb",
        &common::workload(&common::random_4k(0), &common::closed(1), "", "ios = 1"),
        &[],
    );
    let means = Means { look: &|| Err(Stopped), ..Means::default() };
    assert!(matches!(Run::new_within(&common::catalog(), request, &means), Err(RunError::Interrupted)));
}

#[test]
fn a_machine_that_does_not_fit_is_refused_before_it_is_built() {
    let text = common::workload(&common::random_4k(0), &common::closed(1), "", "ios = 1");
    let run = |memory| {
        let request = common::request("raid0:4xs4500-960", &text, &[]);
        Run::new_within(&common::catalog(), request, &Means { memory, ..Means::default() })
    };
    let needs = run(None).expect("memory without bounds").memory();
    assert!((3_500_000_000..5_000_000_000).contains(&needs.0), "four bytes for each of 4 x 234 M pages: {needs}");
    assert!(
        matches!(run(Some(1 << 30)), Err(RunError::Memory(MemoryError::TooLarge { needs, .. })) if needs.0 > 3_500_000_000)
    );
    run(Some(needs.0)).expect("it fits").execute(&Control::default()).expect("nothing stops it");
}

#[test]
fn a_drive_whose_map_does_not_fit_is_simulated_smaller_and_that_is_said() {
    let text = common::workload(&common::random_4k(0), &common::closed(1), "", "ios = 1");
    let notes = |drive: &str, memory, set: &[(&str, &str)]| {
        let request = common::request(drive, &text, set);
        let run = Run::new_within(&common::catalog(), request, &Means { memory, ..Means::default() });
        run.map(|run| run.execute(&Control::default()).expect("nothing stops it").record.to_json())
    };
    let said = |notes: Result<String, RunError>| {
        let notes = notes.expect("it fits");
        notes.split("scale ").nth(1).and_then(|rest| rest.split(" was chosen").next()).map(str::to_owned)
    };
    // 6.4 TB are 1,563 M pages: 6.25 GB, 3.13 GB at scale 2.
    assert_eq!(said(notes("9550-max-6400", Some(8_000_000_000), &[])), None);
    assert_eq!(said(notes("9550-max-6400", Some(4_000_000_000), &[])).as_deref(), Some("2"));
    let asked = notes("9550-max-6400", Some(2_000_000_000), &[("scale", "2")]);
    assert!(matches!(asked, Err(RunError::Memory(MemoryError::TooLarge { .. }))), "a scale that is asked for is kept");
    // 61.44 TB have more pages than a map has names.
    assert_eq!(said(notes("p5336-61440", Some(4_000_000_000), &[])).as_deref(), Some("16"));
}
