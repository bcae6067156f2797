//! Failures in whole runs: how long a rebuild takes, what is lost, what hosts get meanwhile.

use crate::common;
use crate::common::{catalog, closed, execute, one_in, random_4k, request, workload};
use hotband_engine::{RepairRequest, Request, Run, RunError, Text};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// So little load that it does not show.
fn idle(seconds: u32) -> String {
    let load = "open = { rate_iops = 0.001, arrival = \"fixed\" }";
    workload(&random_4k(100), load, "", &format!("duration = \"{seconds} s\""))
}

fn loaded(read_pct: u32, depth: u32, seconds: u32) -> String {
    workload(&random_4k(read_pct), &closed(depth), "duration = \"1 s\"", &format!("duration = \"{seconds} s\""))
}

fn failing(machine: &str, text: &str, set: &[(&str, &str)], fail: &[&str], spares: u32) -> Request {
    let fail = fail.iter().map(|text| (*text).to_owned()).collect();
    Request { repair: RepairRequest { fail, spares, ..RepairRequest::default() }, ..request(machine, text, set) }
}

#[track_caller]
fn record(request: Request) -> Value {
    serde_json::from_str(&execute(request).record.to_json()).expect("a record is JSON")
}

#[track_caller]
fn repair(request: Request) -> Value {
    record(request)["repair"].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number and not {value}"))
}

fn number_of(value: &Value, key: &str) -> f64 {
    number(&value[key])
}

/// Bytes and seconds of the one rebuild of a run.
#[track_caller]
fn rebuilt(repair: &Value) -> (u64, f64) {
    let rebuild = &repair["rebuilds"][0];
    assert_eq!(rebuild["state"], "done", "{rebuild}");
    let seconds = (number(&rebuild["ended_ns"]) - number(&rebuild["began_ns"])) / 1e9;
    (rebuild["bytes"].as_u64().unwrap(), seconds)
}

/// Figures of a state of the machine.
#[track_caller]
fn service<'a>(repair: &'a Value, phase: &str) -> &'a Value {
    let found = repair["service"].as_array().unwrap().iter().find(|service| service["phase"] == phase);
    found.unwrap_or_else(|| panic!("no {phase} in {}", repair["service"]))
}

/// Seconds in which one drive reads, or writes, so many bytes in commands of 1 MiB.
fn streamed(drive: &str, bytes: u64, read_pct: u32) -> f64 {
    let stream = format!("read_pct = {read_pct}\nrandom_pct = 0\nsize = \"1 MiB\"");
    let text = workload(&stream, &closed(4), "", &format!("ios = {}", bytes / MIB));
    let left = common::run(drive, &text, &[]);
    number(&left.0["duration_ns"]) / 1e9
}

#[test]
fn without_load_a_rebuild_takes_capacity_over_the_slower_of_media_and_limit() {
    let drive = "savvio-10k1";
    for layout in one_in(3, vec!["raid1:2x", "raid1:3x", "raid10:4x", "raid5:4x", "raid6:5x", "raid50:6x", "raid60:8x"])
    {
        let asked = failing(&format!("{layout}{drive}"), &idle(6000), &[], &["d1@1 s"], 1);
        let (bytes, seconds) = rebuilt(&repair(asked.clone()));
        let media = streamed(drive, bytes, 100).max(streamed(drive, bytes, 0));
        assert!((seconds / media - 1.0).abs() < 0.02, "{layout}: {seconds} s, the media {media} s");
        for (limit, rate) in [("20 MB/s", 20e6), ("35 MB/s", 35e6)] {
            let rebuild_rate = Some(limit.to_owned());
            let limited = Request { repair: RepairRequest { rebuild_rate, ..asked.repair.clone() }, ..asked.clone() };
            let (bytes, seconds) = rebuilt(&repair(limited));
            let expected = bytes as f64 / rate;
            assert!((seconds / expected - 1.0).abs() < 0.02, "{layout} at {limit}: {seconds} s, not {expected} s");
        }
    }
}

#[test]
fn a_fast_disk_is_rebuilt_at_the_rate_of_its_media() {
    // One actuator of an Exos 2X14 streams at 262 MB/s: few steps under way would starve it.
    let machine = "[drives.d]\nproduct = \"st14000nm0001\"\ncount = 2\n[layouts.m]\n\
                   raid1 = { members = \"d0.lun0, d1.lun0\", size = \"20 GiB\" }\n[volumes]\nv = { on = \"m\" }\n";
    let (bytes, seconds) = rebuilt(&repair(failing(machine, &idle(100), &[], &["d1@1 s"], 1)));
    let rate = bytes as f64 / seconds / 1e6;
    assert!((rate / 262.0 - 1.0).abs() < 0.02, "{rate} MB/s");
}

/// Hosts for `busy` seconds, then hardly any for `quiet`: a mirror whose rebuild is limited to 20 MB/s. Bytes rebuilt.
fn rebuilt_after(busy: u32, quiet: u32) -> f64 {
    let stream =
        |name: &str, load: &str| format!("[[streams]]\nname = \"{name}\"\nload = {{ {load} }}\n{}\n", random_4k(70));
    let phase = |name: &str, seconds: u32, streams: &str| {
        format!("[[phases]]\nname = \"{name}\"\nduration = \"{seconds} s\"\nmeasure = true\nstreams = [{streams}]\n")
    };
    let hardly = "open = { rate_iops = 0.001, arrival = \"fixed\" }";
    let text = [
        stream("hosts", &closed(8)),
        stream("few", hardly),
        phase("busy", busy, "\"hosts\", \"few\""),
        phase("quiet", quiet, "\"few\""),
    ];
    let asked = failing("raid1:2xsavvio-10k1", &text.concat(), &[], &["d1@1 s"], 1);
    let repair = RepairRequest { rebuild_rate: Some("20 MB/s".to_owned()), ..asked.repair.clone() };
    number(&self::repair(Request { repair, ..asked })["rebuilds"][0]["bytes"])
}

#[test]
fn a_limited_rebuild_does_not_exceed_its_limit_after_hosts_kept_it_busy() {
    let bytes: Vec<f64> = [1, 11, 21, 31].map(|quiet| rebuilt_after(60, quiet)).to_vec();
    assert!(bytes[0] < 0.8 * 59.0 * 20e6, "hosts keep it below its limit, else this shows nothing: {bytes:?}");
    for pair in bytes.windows(2) {
        let written = pair[1] - pair[0];
        assert!((0.95..=1.05).contains(&(written / 200e6)), "{written} bytes in 10 s: {bytes:?}");
    }
}

#[test]
fn pairs_that_share_no_drive_are_rebuilt_side_by_side() {
    let machine = |layout: &str| {
        format!(
            "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 4\n[layouts.data]\n{layout} = {{ members = \"d*\", size = \"2 GB\" }}\n"
        )
    };
    let run = |layout: &str, fail: &[&str], spares| repair(failing(&machine(layout), &idle(400), &[], fail, spares));
    let (_, alone) = rebuilt(&run("raid10", &["d1@1 s"], 1));
    let both = run("raid10", &["d1@1 s", "d3@1 s"], 2);
    for rebuild in both["rebuilds"].as_array().unwrap() {
        assert_eq!((&rebuild["state"], &rebuild["began_ns"]), (&"done".into(), &1_000_000_000_u64.into()), "{both}");
        let seconds = (number(&rebuild["ended_ns"]) - number(&rebuild["began_ns"])) / 1e9;
        assert!((seconds / alone - 1.0).abs() < 0.02, "{seconds} s beside the other, {alone} s alone");
    }
    assert_eq!(both["bytes_lost"], 0);
    // Two of the same stripes read the same members.
    let stripes = run("raid6", &["d1@1 s", "d3@1 s"], 2);
    assert_eq!(stripes["rebuilds"][0]["ended_ns"], stripes["rebuilds"][1]["began_ns"], "{stripes}");
}

#[test]
fn hosts_get_less_while_degraded_and_rebuilding_and_all_of_it_again_afterwards() {
    // Members of 2 GB, so that the rebuild ends in the run.
    let machine = "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 5\n[layouts.data]\nraid5 = { members = \"d*\", size = \"2 GB\" }\n";
    let rebuild_after = Some("60 s".to_owned());
    let asked = failing(machine, &loaded(100, 4, 600), &[], &["d2@60 s"], 1);
    let repair = repair(Request { repair: RepairRequest { rebuild_after, ..asked.repair.clone() }, ..asked });
    let iops = |phase| number(&service(&repair, phase)["iops"]);
    assert!(iops("degraded") < 0.9 * iops("before"), "{repair}");
    assert!(iops("rebuilding") < 0.9 * iops("degraded"), "{repair}");
    assert!((iops("after") / iops("before") - 1.0).abs() < 0.02, "{repair}");
    assert_eq!((&repair["bytes_lost"], &repair["io_errors"]), (&Value::from(0), &Value::from(0)));
    let total: f64 = repair["service"].as_array().unwrap().iter().map(|service| number(&service["duration_ns"])).sum();
    assert!((total - 600e9).abs() < 1.0, "every moment belongs to one state");
    assert!((number(&service(&repair, "degraded")["duration_ns"]) - 60e9).abs() < 1.0);
}

#[test]
fn until_a_drive_fails_a_mirror_answers_as_one_that_never_fails() {
    let healthy = common::run("raid1:2xsavvio-10k1", &loaded(100, 8, 30), &[]);
    let repair = repair(failing("raid1:2xsavvio-10k1", &loaded(100, 8, 60), &[], &["d0@30 s"], 0));
    let before = service(&repair, "before");
    for key in ["count", "latency_mean_ns", "latency_p99_ns"] {
        assert_eq!(before[key], healthy.0["summary"][key], "{key}");
    }
}

#[test]
fn without_redundancy_what_lay_on_the_drive_is_lost_and_the_rest_goes_on() {
    let repair = repair(failing("raid0:4xsavvio-10k1", &loaded(70, 4, 30), &[], &["d1@10 s"], 1));
    let rows = 73_400_000_000_u64 / 65_536;
    assert_eq!(repair["bytes_lost"], rows * 65_536);
    assert_eq!(repair["rebuilds"].as_array().unwrap().len(), 0, "there is nothing to rebuild it from");
    let degraded = service(&repair, "degraded");
    let (well, errors) = (number(&degraded["count"]), number(&degraded["errors"]));
    let share = errors / (well + errors);
    assert!((share - 0.25).abs() < 0.04, "a quarter of the addresses: {share}");
}

#[test]
fn a_drive_alone_that_fails_answers_nothing_any_more() {
    let repair = repair(failing("savvio-10k1", &loaded(50, 2, 20), &[], &["d0@10 s"], 1));
    assert_eq!(repair["bytes_lost"], 73_400_000_000_u64);
    assert_eq!(service(&repair, "degraded")["count"], 0);
    assert!(number(&repair["io_errors"]) > 1000.0);
}

#[test]
fn a_second_failure_loses_what_was_not_rebuilt() {
    let machine = "raid5:3xsavvio-10k1";
    let repair = repair(failing(machine, &loaded(70, 2, 400), &[], &["d0@10 s", "d1@200 s"], 2));
    let rebuild = &repair["rebuilds"][0];
    assert_eq!(rebuild["state"], "stopped");
    let rest = number(&rebuild["of_bytes"]) - number(&rebuild["bytes"]);
    // Both chunks of a third of the stripes are data, one of the others.
    let expected = rest * 4.0 / 3.0;
    assert!((number(&repair["bytes_lost"]) - expected).abs() < 4.0 * 65_536.0, "{repair}, not {expected}");
    assert!(number(&repair["io_errors"]) > 0.0 && number(&service(&repair, "rebuilding")["count"]) > 1000.0);
    let second = &repair["rebuilds"][1];
    assert!(number(&second["bytes"]) <= number(&rebuild["bytes"]), "no more than there is to rebuild from");
}

#[test]
fn raid_6_bears_two_failures_and_mirrors_of_three_too() {
    for machine in ["raid6:5xsavvio-10k1", "raid1:3xsavvio-10k1"] {
        let repair = repair(failing(machine, &idle(6000), &[], &["d0@10 s", "d1@200 s"], 2));
        let states: Vec<&Value> =
            repair["rebuilds"].as_array().unwrap().iter().map(|rebuild| &rebuild["state"]).collect();
        assert_eq!(states, ["done", "done"], "{machine}");
        assert_eq!(repair["bytes_lost"], 0, "{machine}");
    }
}

#[test]
fn raidz_lives_without_its_parities_and_is_resilvered() {
    for (kind, fails) in
        [("raidz1:4x", &["d0@10 s"][..]), ("raidz2:5x", &["d0@10 s", "d1@20 s"]), ("raidz3:6x", &["d5@10 s"])]
    {
        let machine = format!(
            "[drives.d]\nproduct = \"savvio-10k1\"\ncount = {}\n[layouts.z]\n{} = {{ members = \"d*\", size = \"200 MB\" }}\n",
            &kind[7..8],
            &kind[..6]
        );
        let outcome = execute(failing(&machine, &loaded(50, 4, 120), &[], fails, fails.len() as u32));
        let left: Value = serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON");
        let repair = &left["repair"];
        assert_eq!(
            (&repair["bytes_lost"], &repair["io_errors"]),
            (&Value::from(0), &Value::from(0)),
            "{kind}: {repair}"
        );
        let last = repair["service"].as_array().unwrap().last().expect("there is a last").clone();
        assert_eq!(last["phase"], "after", "{kind}: {repair}");
        let rebuilds = repair["rebuilds"].as_array().unwrap();
        assert_eq!(rebuilds.len(), fails.len(), "{kind}");
        for (number, (rebuild, fail)) in rebuilds.iter().zip(fails).enumerate() {
            let drive = fail.split('@').next().unwrap();
            let spare = format!("spare{}", number + 1);
            assert_eq!((&rebuild["drive"], &rebuild["spare"]), (&drive.into(), &spare.into()), "{kind}");
            assert_eq!((&rebuild["state"], &rebuild["layout"]), (&"done".into(), &"z".into()), "{kind}");
            // Members of 200 MB are filled to 80 %. Hosts rewrite records meanwhile: in places that it has yet to come to,
            // or, from front again, in those that it has passed.
            let bytes = number_of(rebuild, "bytes");
            assert_eq!(bytes, number_of(rebuild, "of_bytes"), "{kind}");
            assert!((0.75..1.25).contains(&(bytes / 160e6)), "{kind}: {bytes}");
        }
    }
}

#[test]
fn a_limited_resilver_takes_its_bytes_over_the_rate_and_one_that_does_not_end_says_how_far_it_is() {
    let machine = "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 5\n[layouts.z]\n\
                   raidz1 = { members = \"d*\", size = \"1 GB\" }\n";
    let limited = |seconds| {
        let asked = failing(machine, &idle(seconds), &[], &["d2@1 s"], 1);
        let rebuild_rate = Some("10 MB/s".to_owned());
        record(Request { repair: RepairRequest { rebuild_rate, ..asked.repair.clone() }, ..asked })
    };
    let (bytes, seconds) = rebuilt(&limited(200)["repair"]);
    let (expected, written) = (bytes as f64 / 10e6, bytes as f64);
    assert!((written / 800e6 - 1.0).abs() < 0.02, "{written}");
    assert!((seconds / expected - 1.0).abs() < 0.03, "{seconds} s, not {expected} s");
    let left = limited(41);
    let rebuild = &left["repair"]["rebuilds"][0];
    assert_eq!((&rebuild["state"], &rebuild["rate_limit_bytes_per_s"]), (&"running".into(), &10_000_000_u64.into()));
    let share = number_of(rebuild, "bytes") / number_of(rebuild, "of_bytes");
    assert!((share - 0.5).abs() < 0.02, "{share} after half of the time");
    let notes = left["notes"].as_array().unwrap();
    let is_told = |note: &Value| note.as_str().is_some_and(|note| note.contains("before the rebuild of d2 of \"z\""));
    assert!(notes.iter().any(is_told), "{notes:?}");
}

#[test]
fn another_spare_is_taken_when_one_fails() {
    let asked = failing("raid1:2xsavvio-10k1", &idle(4000), &[], &["d0@10 s", "spare1@300 s"], 2);
    let repair = repair(asked);
    let rebuilds = repair["rebuilds"].as_array().unwrap();
    assert_eq!((&rebuilds[0]["state"], &rebuilds[1]["state"]), (&"spare failed".into(), &"done".into()));
    assert_eq!((&rebuilds[1]["drive"], &rebuilds[1]["spare"]), (&"spare1".into(), &"spare2".into()));
    assert_eq!(repair["bytes_lost"], 0);
}

#[test]
fn sectors_that_cannot_be_read_come_at_the_stated_rate_and_cost_what_redundancy_leaves() {
    // 587 Gbit are read of each of the other members.
    let set = [("unrecoverable_error_bits", "1e10")];
    for (machine, sources, lost_each) in
        [("raid1:2x", 1.0, 512.0), ("raid5:4x", 3.0, 512.0 * 1.5), ("raid6:5x", 4.0, 0.0), ("raid1:3x", 1.0, 0.0)]
    {
        let machine = format!("{machine}savvio-10k1");
        let repair = repair(failing(&machine, &idle(2000), &set, &["d0@1 s"], 1));
        let (bytes, _) = rebuilt(&repair);
        let expected = bytes as f64 * 8.0 / 1e10 * sources;
        let errors = number(&repair["sector_errors"]);
        assert!((errors - expected).abs() < 4.0 * expected.sqrt(), "{machine}: {errors} and not {expected}");
        let (lost, cost) = (number(&repair["bytes_lost"]), errors * lost_each);
        // Of RAID 5 with four members one chunk of four is parity: of two chunks 1.5 are data.
        assert!((lost - cost).abs() <= 4.0 * 512.0 * errors.sqrt(), "{machine}: {lost} and not {cost}");
        let repaired = number(&repair["rebuilds"][0]["repaired_sectors"]);
        assert!((repaired - if lost_each > 0.0 { 0.0 } else { errors }).abs() < 0.5, "{machine}");
    }
}

#[test]
fn layouts_that_share_a_drive_are_rebuilt_one_after_the_other() {
    let machine = r#"
        [drives.d]
        product = "savvio-10k1"
        count = 4
        [layouts.log]
        raid1 = { members = "d0..d1", size = "1 GB" }
        [layouts.data]
        raid5 = { members = "d0..d3", from = "2 GB", size = "2 GB" }
        [layouts.scratch]
        raid0 = { members = "d0..d1", from = "5 GB", size = "1 GB" }
        [volumes]
        data = { on = "data" }
        log = { on = "log" }
        scratch = { on = "scratch" }
    "#;
    let text = idle(200).replacen("[[streams]]", "[[streams]]\nvolume = \"data\"", 1);
    let repair = repair(failing(machine, &text, &[], &["d0@1 s"], 1));
    let rebuilds = repair["rebuilds"].as_array().unwrap();
    assert_eq!((&rebuilds[0]["layout"], &rebuilds[1]["layout"]), (&"log".into(), &"data".into()));
    assert_eq!((&rebuilds[0]["state"], &rebuilds[1]["state"]), (&"done".into(), &"done".into()));
    assert_eq!(rebuilds[0]["ended_ns"], rebuilds[1]["began_ns"]);
    assert_eq!(repair["bytes_lost"], 1_000_000_000 / 65_536 * 65_536, "the stripe's share of the drive");
}

#[test]
fn layouts_on_layouts_survive_what_the_one_or_the_other_bears() {
    let machine = |below: &str, above: &str| {
        format!(
            "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 4\n[layouts.a]\n{below} = {{ members = \"d0..d1\", size = \"1 GB\" }}\n\
             [layouts.b]\n{below} = {{ members = \"d2..d3\", size = \"1 GB\" }}\n[layouts.data]\n{above} = {{ members = \"a, b\" }}\n"
        )
    };
    // A stripe of mirrors: the mirror is rebuilt. A mirror of stripes: the other stripe answers, nothing is rebuilt.
    for (below, above, rebuilds) in [("raid1", "raid0", 1), ("raid0", "raid1", 0)] {
        let repair = repair(failing(&machine(below, above), &loaded(50, 8, 300), &[], &["d1@10 s"], 1));
        assert_eq!(repair["rebuilds"].as_array().unwrap().len(), rebuilds, "{above} of {below}");
        assert_eq!((&repair["bytes_lost"], &repair["io_errors"]), (&0.into(), &0.into()), "{above} of {below}");
        if rebuilds > 0 {
            rebuilt(&repair);
        }
    }
    let both = failing(&machine("raid1", "raid0"), &loaded(50, 8, 60), &[], &["d0@10 s", "d1@20 s"], 0);
    let repair = repair(both);
    assert_eq!(repair["bytes_lost"], 1_000_000_000 / 65_536 * 65_536_u64);
    assert!(number(&repair["io_errors"]) > 0.0);
}

#[test]
fn drives_behind_a_link_and_logical_units_fail_like_others() {
    let linked = "[drives.d]\nproduct = \"exos-15e900-512n\"\ncount = 4\n[links.sas]\nlanes = 1\nrate = \"100 MB/s\"\ncarries = \"d*\"\n\
                  [layouts.data]\nraid10 = { members = \"d*\", size = \"1 GB\" }\n";
    let units = "[drives.d]\nproduct = \"st14000nm0001\"\ncount = 2\n[layouts.data]\nraid1 = { members = \"d*.lun1\", size = \"1 GB\" }\n";
    for machine in [linked, units] {
        let repair = repair(failing(machine, &loaded(50, 16, 120), &[], &["d1@5 s"], 1));
        assert_eq!(
            rebuilt(&repair).0,
            1_000_000_000 / 65_536 * 65_536 + if machine == units { 1_000_000_000 % 65_536 } else { 0 }
        );
        assert_eq!((&repair["bytes_lost"], &repair["io_errors"]), (&0.into(), &0.into()));
    }
}

#[test]
fn the_same_seed_gives_the_same_record() {
    let set = [("unrecoverable_error_bits", "1e11")];
    let run = |seed| {
        let asked = failing("raid5:4xsavvio-10k1", &loaded(60, 8, 60), &set, &["d1@10 s", "d2@30 s"], 2);
        execute(Request { seed, ..asked }).record.to_json()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_run_that_is_over_before_a_failure_says_so() {
    // How long a number of I/Os takes is known when they are done.
    let text = workload(&random_4k(100), &closed(4), "", "ios = 500");
    let record = record(failing("raid1:2xsavvio-10k1", &text, &[], &["d1@100 s"], 0));
    assert_eq!(record["repair"]["failures"].as_array().unwrap().len(), 0);
    let notes = record["notes"].to_string();
    assert!(notes.contains("the run ended before 1 of its events: fail d1"), "{notes}");
}

fn notes(machine: &str, text: &str, fail: &[&str], spares: u32) -> String {
    record(failing(machine, text, &[], fail, spares))["notes"].to_string()
}

#[test]
fn a_spare_that_cannot_help_is_no_secret() {
    let drives =
        "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 2\n[drives.e]\nproduct = \"exos-15e900-512n\"\ncount = 2\n";
    let mixed = format!(
        "{drives}[layouts.a]\nraid1 = {{ members = \"d*\" }}\n[layouts.b]\nraid1 = {{ members = \"e*\" }}\n\
         [layouts.data]\nconcat = {{ members = \"a, b\" }}\n"
    );
    let cases: [(&str, &[&str], u32, &str); 4] = [
        ("raid0:4xsavvio-10k1", &["d1@1 s"], 1, "no spare replaced d1: no layout on it"),
        ("savvio-10k1", &["d0@1 s"], 1, "no spare replaced d0: no layout on it"),
        ("raid6:4xsavvio-10k1", &["d0@1 s", "d1@2 s"], 1, "no spare replaced d1: no spare is left"),
        (&mixed, &["d1@1 s", "e0@2 s"], 2, "no spare replaced e0: the remaining spares are smaller"),
    ];
    for (machine, fail, spares, expected) in cases {
        let notes = notes(machine, &idle(10), fail, spares);
        assert!(notes.contains(expected), "{machine}: {notes}");
    }
    assert!(!notes("raid0:4xsavvio-10k1", &idle(10), &["d1@1 s"], 0).contains("no spare"), "none was asked for");
    assert!(!notes("raid1:2xsavvio-10k1", &idle(10), &["spare1@1 s", "d1@2 s"], 2).contains("no spare"));
}

#[test]
fn a_fresh_ssd_and_a_rebuilt_spare_are_told_apart() {
    let text = idle(10);
    let told = |text: &str, machine: &str, set: &[(&str, &str)]| {
        let notes = record(failing(machine, text, set, &["d0@1 s"], 1))["notes"].to_string();
        notes.contains("not preconditioned")
    };
    let worn = format!("[precondition]\nsequential = 0.01\n{text}");
    assert!(told(&text, "raid1:2xs4500-960", &[("scale", "512")]));
    assert!(!told(&worn, "raid1:2xs4500-960", &[("scale", "512")]));
    assert!(!told(&text, "raid1:2xsavvio-10k1", &[]));
}

#[test]
fn the_order_in_which_failures_are_asked_for_does_not_matter() {
    let machine = "raid1:2xsavvio-10k1";
    let run = |fail: &[&str]| repair(failing(machine, &idle(30), &[], fail, 2));
    let first = run(&["d1@1 s", "spare1@3 s"]);
    assert_eq!(first["rebuilds"][0]["state"], "spare failed");
    assert_eq!(run(&["spare1@3 s", "d1@1 s"]), first);
}

#[test]
fn what_two_volumes_have_in_common_is_lost_once() {
    let machine = "[drives.d]\nproduct = \"savvio-10k1\"\n[volumes]\n\
                   a = { on = \"d\", size = \"10 GB\" }\nb = { on = \"d\", from = \"5 GB\", size = \"10 GB\" }\n\
                   c = { on = \"d\", from = \"6 GB\", size = \"1 GB\" }\nd = { on = \"d\", from = \"20 GB\", size = \"1 GB\" }\n";
    let text = idle(10).replacen("[[streams]]", "[[streams]]\nvolume = \"a\"", 1);
    let lost = repair(failing(machine, &text, &[], &["d@1 s"], 0))["bytes_lost"].clone();
    assert_eq!(lost, 16_000_000_000_u64);
}

#[test]
fn a_drive_that_has_failed_draws_nothing() {
    // It fails within an interval of the series.
    let outcome = execute(failing("raid1:2xmg06sca-10tb", &idle(60), &[], &["d1@20500 ms"], 0));
    let record: Value = serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON");
    let idle_w = number(&record["parts"][1]["power"]["idle_w"]);
    let near = |joules: f64, seconds: f64| assert!((joules / (idle_w * seconds) - 1.0).abs() < 2e-3, "{joules}");
    near(number(&record["parts"][0]["power"]["energy_j"]), 60.0);
    near(number(&record["parts"][1]["power"]["energy_j"]), 20.5);
    near(number(&record["energy"]["energy_j"]), 80.5);
    let of = &outcome.tables["power"];
    let rows = of.column::<u64>("time_ns").iter().zip(of.column::<f64>("power_w"));
    let rows = of.column::<Text>("drive").iter().zip(rows).filter(|(drive, _)| &***drive == "d1");
    let after: Vec<f64> =
        rows.filter(|(_, (time, _))| **time >= 21_000_000_000).map(|(_, (_, watts))| *watts).collect();
    assert!(after.len() > 30 && after.iter().all(|watts| *watts == 0.0), "{after:?}");
}

#[test]
fn mistakes_are_named() {
    let asked = |fail: &[&str], spares| failing("raid1:2xsavvio-10k1", &idle(60), &[], fail, spares);
    let with = |rate: &str| RepairRequest { rebuild_rate: Some(rate.into()), ..asked(&["d0@1 s"], 1).repair };
    let after = |time: &str| RepairRequest { rebuild_after: Some(time.into()), ..asked(&["d0@1 s"], 1).repair };
    let one = asked(&["d0@1 s"], 1);
    let pool = failing("replicated:6xmg06sca-10tb", &idle(60), &[], &["d0@1 s", "d1@2 s"], 0);
    let cases = [
        (asked(&["d0"], 0), "DRIVE@TIME"),
        (asked(&["d0@soon"], 0), "a time"),
        (asked(&["d7@1 s"], 0), "d0, d1"),
        (asked(&["drive7@1 s"], 0), "d0, d1"),
        (asked(&["d0@1 s", "drive0@2 s"], 0), "each drive once"),
        (asked(&["d0@61 s"], 0), "at most the measured"),
        (asked(&["spare1@1 s"], 0), "d0, d1"),
        (asked(&["spare1@1 s"], 1), "one of the machine to fail too"),
        (asked(&["d0@99999999999 d"], 1), "out of range"),
        (Request { repair: after("99999999999 d"), ..asked(&["d0@1 s"], 1) }, "out of range"),
        (Request { repair: after("5"), ..asked(&["d0@1 s"], 1) }, "a time with its unit"),
        (asked(&[], 1), "name one with its time"),
        (asked(&["d0@1 s"], 65), "at most 64"),
        (Request { repair: with("fast"), ..one.clone() }, "a rate"),
        (Request { repair: with("1 B/s"), ..one.clone() }, "1 kB/s"),
        (Request { power_loss: Some("2 s".into()), ..one }, "does not follow what a rebuild copies"),
        (pool, "a pool recovers once"),
    ];
    for (asked, accepted) in cases {
        let what = format!("{:?}", asked.repair);
        match Run::new(&catalog(), asked) {
            Err(RunError::Spec(error)) => assert!(error.to_string().contains(accepted), "{what}: {error}"),
            Err(other) => panic!("{what}: {other}"),
            Ok(_) => panic!("{what}: accepted"),
        }
    }
}
