//! Does an app get its files, its volumes and its turn, and does the record say what it did?

use crate::common;
use crate::common::{Left, assert_near, catalog, execute, request, run};
use hotband_engine::{Control, Request, Run, RunError};
use hotband_machine::SpecError;
use serde_json::Value;

const DISK: &str = "exos-15e900-512n";
const ARRAY: &str = "raid0:4xexos-15e900-512n";
const PHASES: &str =
    "[[phases]]\nname = \"warm\"\nduration = \"2 s\"\n[[phases]]\nduration = \"20 s\"\nmeasure = true\n";

/// A small database, so that everything happens within seconds.
fn app(keys: &str) -> String {
    format!(
        "[app]\nkind = \"btree\"\nrecords = 100000\noperations = {{ read = 1, update = 1 }}\nclients = 8\ncache = \"16 MB\"\n\
         checkpoint_every = \"3 s\"\ncheckpoint_journal = \"16 MiB\"\n{keys}\n"
    )
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is a number"))
}

fn operations(app: &Value) -> &Vec<Value> {
    app["operations"].as_array().expect("an app has operations")
}

fn sum(app: &Value, key: &str) -> f64 {
    operations(app).iter().map(|operation| number(&operation[key])).sum()
}

/// Of a stream: count and bytes of a direction.
fn io(left: &Left, stream: &str, direction: &str) -> (f64, f64) {
    let streams = left.0["streams"].as_array().expect("a record has streams");
    let found = streams.iter().find(|one| one["name"] == stream).unwrap_or_else(|| panic!("no stream {stream}"));
    (number(&found[direction]["count"]), number(&found[direction]["bytes"]))
}

#[test]
fn operations_and_their_block_io_are_both_recorded() {
    let left = run(ARRAY, &(app("") + PHASES), &[]);
    let app = &left.0["app"];
    let counter = |name: &str| number(&app["counters"][name]);
    let names: Vec<&Value> = operations(app).iter().map(|operation| &operation["name"]).collect();
    assert_eq!(names, ["read", "update"]);
    assert!(app["requested_ops_per_s"].is_null() && left.0["concurrency"].is_null());
    assert_near("rate", number(&app["achieved_ops_per_s"]), sum(app, "count") / 20.0, 1e-9);
    assert_near("rate by kind", number(&app["achieved_ops_per_s"]), sum(app, "ops_per_s"), 1e-9);
    // Pages that were being read when the measured time began or ended: one a client.
    assert!((io(&left, "data", "read").0 - counter("cache_misses")).abs() <= 8.0);
    assert!(counter("checkpoints") >= 3.0);
    let written = counter("pages_evicted")
        + counter("pages_checkpointed")
        + counter("internal_pages_written")
        + counter("checkpoints");
    // Writes under way at the ends of the measured time: eviction threads, clients, and a checkpoint's 32.
    assert!((io(&left, "data", "write").0 - written).abs() <= 44.0, "{written}");
    assert_near("journal", counter("journal_records"), number(&operations(app)[1]["count"]), 0.01);
    assert!(io(&left, "journal", "write").1 >= counter("journal_bytes") && io(&left, "journal", "read").0 == 0.0);
    // Two pages an operation, whoever waited for whom.
    let asked = counter("cache_hits") + counter("cache_misses") + counter("cache_joined");
    assert_near("pages", asked, 2.0 * sum(app, "count"), 0.01);
}

#[test]
fn clients_are_the_rate_of_operations_times_their_latency() {
    for keys in ["", "acknowledge = \"journal\"", "cpu = \"3 ms\"\nprocessors = 2"] {
        let left = run(ARRAY, &(app(keys) + PHASES), &[]);
        let app = &left.0["app"];
        let busy: f64 =
            operations(app).iter().map(|one| number(&one["ops_per_s"]) * number(&one["latency_mean_ns"]) / 1e9).sum();
        // Operations cut by the ends of the measured time: one a client, of a thousand each and more.
        assert!(sum(app, "count") > 8_000.0);
        assert_near(keys, busy, 8.0, 0.005);
    }
}

#[test]
fn steps_have_operations_of_their_own_that_add_up() {
    let steps = "[[phases]]\nname = \"one\"\nduration = \"4 s\"\nmeasure = true\n[[phases]]\nname = \"two\"\noperations = 3000\nmeasure = true\n";
    let outcome = execute(request(ARRAY, &(app("") + steps), &[]));
    let left = Left(serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON"));
    let [one, two] = [0, 1].map(|n| &left.0["steps"][n]["app"]);
    let (total, second) = (&left.0["app"], sum(two, "count"));
    assert!((3000.0..3008.0).contains(&second), "{second}: a client or two more end with the last one");
    assert_eq!(sum(one, "count") + second, sum(total, "count"));
    for (name, count) in total["counters"].as_object().expect("counters") {
        assert_eq!(number(&one["counters"][name]) + number(&two["counters"][name]), number(count), "{name}");
    }
    // The series counts the same operations, a row a second and kind.
    let series = &outcome.tables["operations"];
    let (begins, rates) = (series.column::<u64>("time_ns"), series.column::<f64>("ops_per_s"));
    let seconds = number(&left.0["duration_ns"]) / 1e9;
    let lengths = begins.iter().map(|begin| (seconds - *begin as f64 / 1e9).min(1.0));
    let counted: f64 = rates.iter().zip(lengths).map(|(rate, length)| rate * length).sum();
    assert!((counted - sum(total, "count")).abs() < 0.5, "{counted}");
    assert_eq!(series.len(), 2 * seconds.ceil() as usize);
}

#[test]
fn a_run_repeats_itself_and_another_seed_differs() {
    let text = app("requests = \"latest\"\nacknowledge = \"journal\"").replace("update = 1", "insert = 1") + PHASES;
    let record = |seed| execute(Request { seed, ..request(DISK, &text, &[]) }).record.to_json();
    assert_eq!(record(1), record(1));
    assert_ne!(record(1), record(2));
}

#[test]
fn an_app_runs_beside_streams_and_on_volumes_of_its_own() {
    let machine = "[drives.d]\nproduct = \"exos-15e900-512n\"\ncount = 2\n[volumes]\ndata = { on = \"d0\", from = \"100 GB\", size = \"50 GB\" }\nlog = { on = \"d1\" }\n";
    let stream = "[[streams]]\nname = \"backup\"\nvolume = \"data\"\nread_pct = 100\nrandom_pct = 0\nsize = \"64 KiB\"\nload = { closed = { threads = 1 } }\n";
    let text = app("volume = \"data\"\njournal_volume = \"log\"") + stream + PHASES;
    let left = run(machine, &text, &[]);
    assert!(io(&left, "backup", "read").0 > 100.0 && io(&left, "data", "write").0 > 100.0);
    let writes = |part: usize| number(&left.0["parts"][part]["counters"]["written_bytes"]);
    // Blocks that are on the media when the measured time ends.
    assert!(writes(1) <= io(&left, "journal", "write").1 + 1e6 && writes(0) > 0.0);
    let error = refused(&text.replace("\"log\"", "\"lok\""), machine, &[]);
    assert!(error.key == "app.volume" && error.accepted.contains("did you mean \"log\""), "{error}");
}

#[test]
fn its_files_are_on_the_drive_before_the_first_phase() {
    let text = app("data = 0.37") + "[[phases]]\nduration = \"2 s\"\nmeasure = true\n";
    let left = run("nytro-1351-960", &text, &[("scale", "64")]);
    let at_begin = &left.0["smart"][0]["at_begin"];
    // 100,000 records, 24 on a leaf page of 32 KiB, and an index of them.
    let least = f64::from(100_000 / 25 * 32_768);
    assert!((least..1.3 * least).contains(&number(&at_begin["host_bytes"])), "{at_begin}");
    assert_eq!(left.0["data"][0]["mean"], 0.37);
    let other = run("nytro-1351-960", &text, &[("scale", "64"), ("data", "0.9")]);
    assert_eq!(other.0["data"][1]["mean"], 0.9);
    let stored = |left: &Left| number(&left.0["smart"][0]["at_begin"]["stored_bytes"]);
    assert!(stored(&other) > 1.5 * stored(&left));
}

#[test]
fn what_it_does_not_need_any_more_is_trimmed_if_it_says_so() {
    let text = app("trim = true") + PHASES;
    let left = run("nytro-1351-960", &text, &[("scale", "64")]);
    let trimmed = io(&left, "data", "trim").1;
    assert!(trimmed > 0.0);
    assert_near("trimmed", trimmed, number(&left.0["app"]["counters"]["trimmed_bytes"]), 0.05);
    let error = refused(&text, "raid5:3xexos-15e900-512n", &[]);
    assert!(error.key == "app.trim" && error.accepted.contains("does not pass trims"), "{error}");
    let cut = Request { power_loss: Some("5 s".into()), ..request(DISK, &text, &[]) };
    assert!(matches!(Run::new(&catalog(), cut), Err(RunError::Spec(error)) if error.key == "app.trim"));
}

#[test]
fn power_is_cut_under_an_app() {
    let text = app("acknowledge = \"journal\"") + PHASES;
    let cut = Request { power_loss: Some("5 s".into()), ..request(DISK, &text, &[]) };
    let left = Left(serde_json::from_str(&execute(cut).record.to_json()).expect("a record is JSON"));
    let loss = &left.0["power_loss"];
    assert_eq!(loss["streams"].as_array().map(Vec::len), Some(2));
    assert!(number(&loss["acknowledged_writes"]) > 100.0);
}

#[test]
fn laying_out_can_be_stopped() {
    let control = Control::default();
    control.stop();
    let run = Run::new(&catalog(), request(DISK, &(app("") + PHASES), &[])).expect("it is valid");
    assert!(matches!(run.execute(&control), Err(RunError::Interrupted)));
}

#[test]
fn set_changes_any_of_its_keys() {
    let text = app("") + PHASES;
    let ended = |set: &[(&str, &str)]| sum(&run(DISK, &text, set).0["app"], "count");
    assert!(ended(&[("clients", "1")]) < ended(&[]));
    let left = run(
        DISK,
        &text,
        &[("app.operations.scan", "2"), ("app.cache", "64 MB"), ("app.warm_cache", "true"), ("app.scan_most", "3")],
    );
    let names: Vec<&Value> = operations(&left.0["app"]).iter().map(|operation| &operation["name"]).collect();
    assert_eq!(names, ["read", "update", "scan"]);
}

#[track_caller]
fn refused(workload: &str, machine: &str, set: &[(&str, &str)]) -> SpecError {
    match Run::new(&catalog(), request(machine, workload, set)) {
        Err(RunError::Spec(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted:\n{workload}\n{set:?}"),
    }
}

#[test]
fn what_does_not_make_sense_is_refused_with_what_does() {
    let cases = [
        ("kind = \"btree\"", "", "app.kind", "missing: expected one of btree"),
        ("kind = \"btree\"", "kind = \"btre\"", "app.kind", "did you mean \"btree\""),
        ("records = 100000", "", "app.records", "missing"),
        ("records = 100000", "records = 0", "app.records", "a whole number from 1"),
        ("records = 100000", "records = 1000000000", "app.records", "with journal, index and 2 % of room they need"),
        ("records = 100000", "records = 900000000000", "app.records", "the model holds at most"),
        ("read = 1, update = 1", "", "app.operations", "add up to zero"),
        ("read = 1, update = 1", "reed = 1", "app.operations.reed", "did you mean \"read\""),
        ("cache = \"16 MB\"", "", "app.cache", "missing"),
        ("cache = \"16 MB\"", "cache = 16", "app.cache", "a size with its unit"),
        ("cache = \"16 MB\"", "cache = \"100 kB\"", "app.cache", "expected at least"),
        ("clients = 8", "clients = 8\ncpu = \"0 s\"", "app.cpu", "from 1 us"),
        ("clients = 8", "clients = 8\ndirty_target = \"30 %\"", "app.dirty_trigger", "above dirty_target"),
        ("clients = 8", "clients = 8\nleaf_page = \"5 kB\"", "app.leaf_page", "a multiple of 4096 B"),
        ("clients = 8", "clients = 8\nrequests = \"zipf\"", "app.requests", "did you mean \"zipfian\""),
        ("clients = 8", "clients = 8\nrequests = \"uniform\"\nzipf_exponent = 0.9", "app.zipf_exponent", "uniform"),
        ("clients = 8", "clients = 8\nfields = 1000000", "app.fields", "at most 64 MiB"),
        ("clients = 8", "clients = 8\ncolour = 1", "app.colour", "unknown key"),
        ("clients = 8", "clients = 8\ndata = 1.5", "app.data", "a share from 0 to 1"),
        ("clients = 8", "clients = 8\nvolume = \"x\"", "app.volume", "expected one of d0"),
    ];
    for (from, to, key, accepted) in cases {
        let text = (app("") + PHASES).replace(from, to);
        let error = refused(&text, DISK, &[]);
        assert!(
            error.file == "workload.toml" && error.key == key && error.accepted.contains(accepted),
            "{to}: {error}"
        );
    }
}

#[test]
fn what_set_asks_in_vain_is_named_there() {
    let text = app("") + PHASES;
    let cases = [
        ("app.cache", "16", "app.cache", "a size with its unit"),
        ("app.colour", "red", "app.colour", "unknown key"),
        ("app.cache.size", "1 MB", "app.cache.size", "names a key inside a value"),
        ("clients", "many", "app.clients", "a whole number"),
        ("bs", "4 KiB", "bs", "this workload has no [[streams]]"),
        ("qd", "4", "qd", "does not have exactly one closed loop"),
    ];
    for (key, value, named, accepted) in cases {
        let error = refused(&text, DISK, &[(key, value)]);
        assert!(error.file == "set" && error.key == named && error.accepted.contains(accepted), "{key}: {error}");
    }
    let plain = common::workload(&common::random_4k(100), &common::closed(1), "", "duration = \"1 s\"");
    let error = refused(&plain, DISK, &[("app.cache", "1 GB")]);
    assert!(error.key == "app.cache" && error.accepted.contains("has no [app]"), "{error}");
    let counted = plain.replace("duration = \"1 s\"", "operations = 5");
    assert_eq!(refused(&counted, DISK, &[]).key, "phases[0].operations");
    let twice = text.clone()
        + "[[streams]]\nname = \"journal\"\nread_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\nload = { closed = { threads = 1 } }\n";
    assert!(refused(&twice, DISK, &[]).accepted.contains("a stream of the app has this name"));
}
