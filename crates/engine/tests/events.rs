//! Events of a run: is every form the same event, does each do what it says, is what is not supported refused by name?

mod common;

use common::{catalog, closed, execute, random_4k, request, workload};
use hotband_engine::{EVENT_ROWS, EVENTS, On, RepairRequest, Request, Run, supported};
use serde_json::Value;

fn text(read_pct: u32, more: &str) -> String {
    workload(&random_4k(read_pct), &closed(4), "", "duration = \"4 s\"") + more
}

fn with(machine: &str, text: &str, events: &[&str]) -> Request {
    let events = events.iter().map(|event| (*event).to_owned()).collect();
    Request { events, ..request(machine, text, &[]) }
}

#[track_caller]
fn record(request: Request) -> Value {
    serde_json::from_str(&execute(request).record.to_json()).expect("a record is JSON")
}

#[track_caller]
fn refused(request: Request) -> String {
    Run::new(&catalog(), request).err().expect("a mistake").to_string()
}

/// A machine of one layout.
fn machine(product: &str, count: u32, layout: &str, more: &str) -> String {
    format!("[drives.d]\nproduct = \"{product}\"\ncount = {count}\n[layouts.data]\n{layout}\n{more}")
}

#[test]
fn a_failure_is_the_same_in_every_form() {
    let mirror = |more: &str| machine("savvio-10k1", 2, "raid1 = { members = \"d*\" }", more);
    let short = RepairRequest { fail: vec!["d1@1 s".to_owned()], ..RepairRequest::default() };
    let short = record(Request { repair: short, ..request(&mirror(""), &text(70, ""), &[]) });
    let line = record(with(&mirror(""), &text(70, ""), &["at 1 s: fail d1"]));
    assert_eq!(short, line, "records keep the short form");
    let table = "\n[[events]]\nat = \"1 s\"\nfail = \"d1\"\n";
    let of_workload = record(request(&mirror(""), &text(70, table), &[]));
    let of_machine = record(request(&mirror(table), &text(70, ""), &[]));
    for other in [of_workload, of_machine] {
        for key in ["summary", "repair"] {
            assert_eq!(other[key], short[key]);
        }
    }
    assert_eq!(short["repair"]["failures"][0]["at_ns"], 1_000_000_000_u64);
}

#[test]
fn a_loss_of_power_is_the_same_in_every_form() {
    let volatile = "[drives.d]\nproduct = \"ent-15k\"\nset = { wce = \"on\" }\n";
    let line = record(with(volatile, &text(0, ""), &["at 2 s: power-off"]));
    let table = record(request(volatile, &text(0, "\n[[events]]\nat = \"2 s\"\npower-off = true\n"), &[]));
    let short = record(request(volatile, &text(0, "\n[power_loss]\nat = \"2 s\"\n"), &[]));
    assert!(line["power_loss"]["lost_bytes"].as_u64().unwrap() > 0, "{}", line["power_loss"]);
    assert_eq!(line["power_loss"], table["power_loss"]);
    assert_eq!(line["power_loss"], short["power_loss"]);
}

#[test]
fn a_mirror_that_lost_a_drive_loses_more_with_the_power() {
    let mirror = "[drives.d]\nproduct = \"ent-15k\"\ncount = 2\nset = { wce = \"on\" }\n\
                  [layouts.data]\nraid1 = { members = \"d*\" }\n";
    let both = record(with(mirror, &text(0, ""), &["at 1 s: fail d1", "at 3 s: power-off"]));
    assert_eq!(both["repair"]["failures"].as_array().map(Vec::len), Some(1));
    assert!(both["power_loss"]["lost_bytes"].as_u64().unwrap() > 0);
    assert_eq!(both["duration_ns"], 3_000_000_000_u64);
}

#[test]
fn a_cache_that_is_switched_off_slows_writes() {
    let one = "[drives.d0]\nproduct = \"ent-15k\"\nset = { wce = \"on\" }\n";
    let on = record(request(one, &text(0, ""), &[]));
    let line = record(with(one, &text(0, ""), &["at 1 s: set d0.wce=off"]));
    let more = "\n[[events]]\nat = \"1 s\"\npart = \"d0\"\nset = { wce = \"off\" }\n";
    assert_eq!(record(request(one, &text(0, more), &[]))["summary"], line["summary"]);
    assert_eq!(line["spec"]["events"][0], "at 1 s: set d0.wce=off");
    let iops = |record: &Value| record["summary"]["iops"].as_f64().unwrap();
    assert!(iops(&line) < 0.9 * iops(&on), "{} {}", iops(&line), iops(&on));
}

#[test]
fn a_daemon_is_marked_out_and_its_copies_move() {
    let pool = machine("mg06sca-10tb", 4, "replicated = { members = \"d*\", replicas = 2, image = \"1 GiB\" }", "");
    let whole = record(request(&pool, &text(70, ""), &[]));
    let out = record(with(&pool, &text(70, ""), &["at 1 s: osd-out data.1"]));
    let written = |record: &Value| record["parts"].to_string();
    assert_ne!(written(&whole), written(&out), "recovery reads and writes beside the clients");
    assert!(refused(with(&pool, &text(70, ""), &["at 1 s: osd-out data.4"])).contains("data.0 to data.3"));
    assert!(refused(with(&pool, &text(70, ""), &["at 1 s: osd-out other.1"])).contains("data"));
}

#[test]
fn an_error_names_the_cell_and_what_is_supported_there() {
    let pool = "replicated:4xmg06sca-10tb";
    let cases = [
        (
            pool,
            vec!["at 1 s: fail d0"],
            "events[0]: found \"at 1 s: fail d0\", fail is not supported with layout replicated",
        ),
        (pool, vec!["at 1 s: fail d0"], "supported there: osd-out, set"),
        (pool, vec!["at 1 s: power-off"], "power-off is not supported with layout replicated"),
        ("raid1:2xent-15k", vec!["at 1 s: osd-out data.1"], "osd-out is not supported with layout raid1"),
        ("ent-15k", vec!["at 1 s: osd-out data.1"], "a single drive"),
        (
            "raid5:3xent-15k",
            vec!["at 1 s: fail d0", "at 2 s: power-off"],
            "fail+power-off is not supported with layout raid5",
        ),
        ("s4500-960", vec!["at 1 s: set d0.wce=off"], "set is not supported with drive kind ssd"),
        ("ent-15k", vec!["at 1 s: set d0.rpm=1"], "wce"),
        ("ent-15k", vec!["at 1 s: fail d7"], "d0"),
        ("ent-15k", vec!["at 9 s: fail d0"], "at most the measured"),
        ("ent-15k", vec!["at 1 s: power-off", "at 2 s: power-off"], "events[1]"),
        ("ent-15k", vec!["at soon: fail d0"], "a time"),
        ("ent-15k", vec!["in 1 s: fail d0"], "at TIME: fail DRIVE"),
    ];
    for (machine, events, said) in cases {
        let error = refused(with(machine, &text(70, ""), &events));
        assert!(error.contains(said), "{events:?}: {error}");
    }
}

#[test]
fn mistakes_in_tables_are_named() {
    let cases = [
        ("at = \"1 s\"", "events[0]: expected one of fail"),
        ("fail = \"d0\"", "events[0].at: missing"),
        ("at = \"1 s\"\nfail = \"d0\"\npower-off = true", "expected one of fail"),
        ("at = \"1 s\"\nfail = \"d9\"", "events[0].fail: found \"d9\""),
        ("at = \"1 s\"\nset = { wce = \"off\" }", "events[0].part: missing"),
        ("at = \"1 s\"\npart = \"d0\"\nset = { wce = \"x\" }", "events[0].set.wce"),
        ("at = \"1 s\"\npower-off = false", "events[0].power-off"),
        ("at = \"1 s\"\nfail = \"d0\"\nwhen = 1", "events[0].when"),
    ];
    for (keys, said) in cases {
        let error = refused(request("ent-15k", &text(70, &format!("\n[[events]]\n{keys}\n")), &[]));
        assert!(error.contains(said), "{keys}: {error}");
    }
}

#[test]
fn no_event_happens_in_a_sequence() {
    let run = |events: &[&str]| Run::new(&catalog(), with("ent-15k", &text(70, ""), events)).expect("valid");
    for event in ["at 1 s: fail d0", "at 1 s: power-off", "at 1 s: set d0.wce=off"] {
        for (before, after) in [(run(&[event]), run(&[])), (run(&[]), run(&[event]))] {
            let error = after.check_follows(&before).expect_err("an event").to_string();
            assert!(error.contains("a sequence") && error.contains("supported there: nothing"), "{error}");
        }
    }
}

#[test]
fn the_table_has_every_kind_of_layout_and_an_event_that_works_on_each() {
    for kind in hotband_layouts::KINDS {
        assert!(EVENT_ROWS.contains(&On::Layout(kind)), "{kind} is missing");
    }
    for on in EVENT_ROWS.into_iter().filter(|on| matches!(on, On::Layout(_) | On::Drive(_))) {
        assert!(EVENTS.into_iter().any(|event| supported(event, on).is_ok()), "{on:?}");
    }
}
