//! Events of a run: is every form the same event, does each do what it says, is what is not supported refused by name?

use crate::common::{catalog, closed, execute, random_4k, request, workload};
use hotband_engine::{Control, EVENT_ROWS, EVENTS, On, RepairRequest, Request, Run, supported};
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
fn a_daemon_that_goes_out_costs_readers_no_more_than_one_that_fails() {
    // Twelve hosts of two disks, three copies. The daemon leads a group in 24, and every other daemon gets copies.
    let options = "hosts = 12, failure_domain = \"host\", placement_groups = 1024, image = \"200 GiB\"";
    let pool = machine("mg06sca-10tb", 24, &format!("replicated = {{ members = \"d*\", {options} }}"), "");
    let text = workload(&random_4k(100), &closed(32), "", "duration = \"20 s\"");
    let iops = |events: &[&str]| record(with(&pool, &text, events))["summary"]["iops"].as_f64().expect("a rate");
    let (whole, failed, out) = (iops(&[]), iops(&["at 0 s: fail d3"]), iops(&["at 0 s: osd-out data.3"]));
    assert!(out > 0.97 * failed, "whole {whole:.0}, failed {failed:.0}, out {out:.0}");
}

#[test]
fn a_drive_under_a_pool_fails_and_its_daemons_go_out() {
    let options = "replicas = 2, osds_per_drive = 2, hosts = 4, failure_domain = \"host\", image = \"1 GiB\"";
    let pool = |set: &str| {
        machine(
            "mg06sca-10tb",
            4,
            &format!("replicated = {{ members = \"d*\", {options}, osd_set = {{ {set} }} }}"),
            "",
        )
    };
    let fails = ["at 1 s: fail d1"];
    let long = workload(&random_4k(70), &closed(4), "", "duration = \"120 s\"");
    let record = record(with(&pool("recovery_sleep = \"0 s\""), &long, &fails));
    assert_eq!(states(&record), ["before", "rebuilding", "after"]);
    assert_eq!((&record["repair"]["bytes_lost"], &record["repair"]["io_errors"]), (&0.into(), &0.into()));
    let objects = |osd: usize| {
        let parts = record["parts"].as_array().expect("parts");
        let is = |part: &&Value| part["id"].as_str().is_some_and(|id| id.ends_with(&format!("osd{osd}")));
        parts.iter().find(is).expect("the daemon")["at_end"]["objects"].as_u64().expect("a count")
    };
    assert_eq!((objects(2), objects(3)), (0, 0), "both daemons of the drive");
    assert_eq!((0..8).map(objects).sum::<u64>(), 2 * 256, "two copies of every object");
}

#[test]
fn a_pool_of_as_many_drives_as_copies_stays_degraded() {
    let pool = machine("mg06sca-10tb", 3, "replicated = { members = \"d*\", image = \"1 GiB\" }", "");
    let record = record(with(&pool, &text(70, ""), &["at 1 s: fail d0"]));
    assert_eq!(states(&record), ["before", "degraded"]);
    assert_eq!((&record["repair"]["bytes_lost"], &record["repair"]["io_errors"]), (&0.into(), &0.into()));
}

#[test]
fn a_pool_without_copies_loses_what_was_on_the_drive() {
    let pool = machine("mg06sca-10tb", 2, "replicated = { members = \"d*\", replicas = 1, image = \"1 GiB\" }", "");
    let record = record(with(&pool, &text(70, ""), &["at 1 s: fail d0"]));
    let lost = record["repair"]["bytes_lost"].as_u64().expect("a count");
    assert!(lost > 0 && lost < 1 << 30 && lost.is_multiple_of(4 << 20), "{lost}");
    assert!(record["repair"]["io_errors"].as_u64().expect("a count") > 0);
}

#[test]
fn an_error_names_the_cell_and_what_is_supported_there() {
    let pool = "replicated:4xmg06sca-10tb";
    let cases = [
        (
            pool,
            vec!["at 1 s: power-off"],
            "events[0]: found \"at 1 s: power-off\", power-off is not supported with layout replicated",
        ),
        (pool, vec!["at 1 s: power-off"], "supported there: fail, osd-out, set"),
        (pool, vec!["at 1 s: fail d9"], "d3"),
        (pool, vec!["at 9 s: fail d0"], "at most the measured"),
        (pool, vec!["at 1 s: fail d0", "at 2 s: fail d0"], "d0 fails twice"),
        (pool, vec!["at 1 s: fail d0", "at 2 s: fail d1", "at 3 s: fail d2"], "events[1]"),
        (pool, vec!["at 1 s: fail d0", "at 2 s: osd-out data.1"], "osd0 of the pool will be out already"),
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

/// What one of several runs is asked for: events of the request, and more of its workload.
type Asked<'a> = (&'a [&'a str], &'a str);

/// Records of runs that follow each other: events of the request, and what the workload has besides its stream.
fn in_turn(machine: &str, asked: &[Asked]) -> Result<Vec<Value>, String> {
    texts_in_turn(machine, &asked.iter().map(|(events, more)| (*events, text(0, more))).collect::<Vec<_>>())
}

/// The same of whole workloads.
fn texts_in_turn(machine: &str, asked: &[(&[&str], String)]) -> Result<Vec<Value>, String> {
    let last = asked.len() - 1;
    let run = |(place, (events, text)): (usize, &(&[&str], String))| {
        let request = with(machine, text, events);
        let request = Request { follows: place > 0, is_followed: place < last, ..request };
        Run::new(&catalog(), request).map_err(|error| error.to_string())
    };
    let mut runs = asked.iter().enumerate().map(run).collect::<Result<Vec<_>, _>>()?;
    let (first, others) = runs.split_first_mut().expect("at least one");
    others.iter_mut().try_for_each(|other| other.follow(first)).map_err(|error| error.to_string())?;
    first.check_times().map_err(|error| error.to_string())?;
    let mut kept = None;
    let execute = |run: Run| {
        let (outcome, left) = run.execute_after(kept.take(), &Control::default()).expect("nothing stops it");
        kept = Some(left);
        serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON")
    };
    Ok(runs.into_iter().map(execute).collect())
}

/// States of the machine in a record, in their order.
fn states(record: &Value) -> Vec<&str> {
    let service = record["repair"]["service"].as_array().expect("a record of failures");
    service.iter().map(|one| one["phase"].as_str().expect("a name")).collect()
}

const MIRROR: &str = "raid1:2xent-15k";
const FAIL: &str = "\n[[events]]\nat = \"1 s\"\nfail = \"d1\"\n";

#[test]
fn a_drive_that_failed_in_the_first_run_is_failed_in_the_second() {
    let records = in_turn(MIRROR, &[(&["at 1 s: fail d1"], ""), (&[], "")]).expect("valid");
    assert_eq!(states(&records[0]), ["before", "degraded"]);
    assert_eq!(states(&records[1]), ["degraded"]);
    assert!(records[1]["notes"].to_string().contains("d1 failed in an earlier run"), "{}", records[1]["notes"]);
    assert_eq!(records[0]["repair"]["failures"][0]["at_ns"], 1_000_000_000_u64);
}

#[test]
fn an_event_of_a_workload_counts_from_its_own_measured_time() {
    let records = in_turn(MIRROR, &[(&[], ""), (&[], FAIL), (&[], "")]).expect("valid");
    assert_eq!(
        [0, 1, 2].map(|run| states(&records[run])),
        [vec!["before"], vec!["before", "degraded"], vec!["degraded"]]
    );
    assert_eq!(records[1]["repair"]["failures"][0]["at_ns"], 1_000_000_000_u64);
}

#[test]
fn other_events_count_from_the_first_run_and_may_come_in_a_later_one() {
    let records = in_turn(MIRROR, &[(&["at 6 s: fail d1"], ""), (&[], "")]).expect("valid");
    assert_eq!((states(&records[0]), states(&records[1])), (vec!["before"], vec!["before", "degraded"]));
    assert_eq!(records[1]["repair"]["failures"][0]["at_ns"], 2_000_000_000_u64, "of 4 s each");
    let error = in_turn(MIRROR, &[(&["at 9 s: fail d1"], ""), (&[], "")]).expect_err("after the end");
    assert!(error.contains("at most the measured time of all runs together") && error.contains("8 s"), "{error}");
}

/// A run whose length is known when it is over.
fn of_500_ios(more: &str) -> String {
    workload(&random_4k(70), &closed(4), "", "ios = 500") + more
}

#[test]
fn what_a_run_of_unknown_length_does_not_reach_happens_in_the_next() {
    let plain = texts_in_turn(MIRROR, &[(&[], of_500_ios("")), (&[], text(0, ""))]).expect("valid");
    let first = plain[0]["duration_ns"].as_u64().expect("a time");
    let at = format!("at {} ms: fail d1", (first + 2_500_000_000) / 1_000_000);
    let records = texts_in_turn(MIRROR, &[(&[&at], of_500_ios("")), (&[], text(0, ""))]).expect("valid");
    assert_eq!((states(&records[0]), states(&records[1])), (vec!["before"], vec!["before", "degraded"]));
    assert!(!records[0]["notes"].to_string().contains("the run ended before"), "{}", records[0]["notes"]);
    let failed = records[1]["repair"]["failures"][0]["at_ns"].as_u64().expect("a time");
    assert!(failed.abs_diff(2_500_000_000) < 1_000_000, "{failed}: time goes on from the end of the first");
}

#[test]
fn events_that_no_run_reaches_are_named() {
    let late = "\n[[events]]\nat = \"90 s\"\nfail = \"d1\"\n";
    let asked: [(&[&str], String); 2] = [(&["at 99 s: set d0.wce=off"], of_500_ios(late)), (&[], of_500_ios(""))];
    let records = texts_in_turn(MIRROR, &asked).expect("valid");
    let [first, last] = [0, 1].map(|run| records[run]["notes"].to_string());
    assert!(first.contains("the run ended before 1 of its events: fail d1"), "its workload's is its own: {first}");
    assert!(last.contains("the run ended before 1 of its events: set d0.wce=off"), "{last}");
    let pool = machine("mg06sca-10tb", 4, "replicated = { members = \"d*\", replicas = 2, image = \"1 GiB\" }", "");
    let record = record(with(&pool, &of_500_ios(""), &["at 99 s: osd-out data.1"]));
    assert!(record["notes"].to_string().contains("1 of its events: osd-out data.1"), "{}", record["notes"]);
}

#[test]
fn an_event_of_the_machine_happens_once_in_a_sequence() {
    let mirror = machine("ent-15k", 2, "raid1 = { members = \"d*\" }", FAIL);
    let records = in_turn(&mirror, &[(&[], ""), (&[], "")]).expect("valid");
    assert_eq!((states(&records[0]), states(&records[1])), (vec!["before", "degraded"], vec!["degraded"]));
}

#[test]
fn a_value_that_changed_stays_changed_in_the_next_run() {
    let one = "[drives.d0]\nproduct = \"ent-15k\"\nset = { wce = \"on\" }\n";
    let records = |events: &[&str]| in_turn(one, &[(events, ""), (&[], "")]).expect("valid");
    let (on, off) = (records(&[]), records(&["at 3 s: set d0.wce=off"]));
    let iops = |records: &[Value]| records[1]["summary"]["iops"].as_f64().expect("a rate");
    assert!(iops(&off) < 0.9 * iops(&on), "{} {}", iops(&off), iops(&on));
    // The record says how the caches were set when its run began.
    let said = |record: &Value| {
        let drive = &record["drive_state"]["drives"][0];
        (drive["write_cache"].as_str().expect("a word").to_owned(), drive["write_cache_bytes"].as_u64().expect("bytes"))
    };
    assert_eq!(said(&off[0]), said(&on[1]));
    assert_eq!((said(&off[0]).0.as_str(), said(&off[1])), ("volatile", ("off".to_owned(), 0)));
    // A drive of a mirror, which can fail, with a cache that outlives power, on two actuators.
    let disk = "[drives.d]\nproduct = \"st14000nm0001\"\ncount = 2\nset = { awc = \"on\", wce = \"on\", exposes = \"one\" }\n\
                [layouts.m]\nraid1 = { members = \"d*\" }\n";
    let off = in_turn(disk, &[(&["at 1 s: set d1.awc=off", "at 2 s: fail d0"], ""), (&[], "")]).expect("valid");
    assert_eq!(off[0]["drive_state"]["drives"].as_array().map(Vec::len), Some(1));
    let drives = off[1]["drive_state"]["drives"].as_array().expect("drives");
    let kinds: Vec<&str> = drives.iter().map(|drive| drive["write_cache"].as_str().expect("a word")).collect();
    assert_eq!(kinds, ["protected", "volatile"]);
}

#[test]
fn a_daemon_that_went_out_in_the_first_run_is_out_in_the_second() {
    let pool = machine("mg06sca-10tb", 4, "replicated = { members = \"d*\", replicas = 2, image = \"1 GiB\" }", "");
    let objects = |record: &Value| {
        let parts = record["parts"].as_array().expect("parts");
        let osd = parts.iter().find(|part| part["id"].as_str().is_some_and(|id| id.ends_with("osd1"))).expect("osd1");
        osd["at_end"]["objects"].as_u64().expect("a count")
    };
    let out = "\n[[events]]\nat = \"1 s\"\nosd-out = \"data.1\"\n";
    let records = in_turn(&pool, &[(&[], ""), (&[], out), (&[], "")]).expect("valid");
    let held = [0, 1, 2].map(|run| objects(&records[run]));
    assert!(held[0] > held[1] && held[1] >= held[2], "{held:?}");
}

#[test]
fn what_does_not_go_together_in_a_sequence_is_refused() {
    let pool = "replicated:4xmg06sca-10tb";
    let power: &[&str] = &["at 1 s: power-off"];
    let cases: [(&str, [Asked; 2], &str); 6] = [
        (MIRROR, [(power, ""), (&[], "")], "power-off is not supported with a sequence"),
        (MIRROR, [(&[], ""), (power, "")], "supported there: fail, osd-out, set"),
        (MIRROR, [(&["at 2 s: fail d1"], ""), (&[], FAIL)], "d1 fails twice"),
        (MIRROR, [(&[], "\n[[events]]\nat = \"5 s\"\nfail = \"d1\"\n"), (&[], "")], "at most the measured 4 s"),
        (pool, [(&["at 1 s: osd-out data.0"], ""), (&[], FAIL)], "osd0 of the pool will be out already"),
        (pool, [(&["at 1 s: fail d0"], ""), (&[], FAIL)], "osd0 of the pool will be out already"),
    ];
    for (machine, runs, said) in cases {
        let error = in_turn(machine, &runs).expect_err("a mistake");
        assert!(error.contains(said) && !error.contains('\n'), "{runs:?}: {error}");
    }
}

#[test]
fn spares_are_of_the_first_run() {
    let spares = RepairRequest { spares: 1, ..RepairRequest::default() };
    let run = |request| Run::new(&catalog(), request).expect("valid");
    let follower = Request { repair: spares, follows: true, ..request(MIRROR, &text(0, FAIL), &[]) };
    let mut first = run(Request { is_followed: true, ..request(MIRROR, &text(0, ""), &[]) });
    let error = run(follower).follow(&mut first).expect_err("spares").to_string();
    assert!(error.contains("repair.spares") && error.contains("the first run of a sequence"), "{error}");
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
