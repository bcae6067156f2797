//! Do phases end when their figures are known, not before, and are the figures then known?

use crate::common::{Left, closed, execute, random_4k, request, run, workload};
use hotband_engine::{Request, Run};
use hotband_workloads::Workload;
use serde_json::Value;

const DRIVE: &str = "7450-pro-3840";
const SMALL: [(&str, &str); 2] = [("scale", "256"), ("state", "preconditioned")];
const PRECISE: &str = "duration = \"60 s\"\nuntil_precise = \"1 %\"";

fn reads(measure: &str) -> String {
    workload(&random_4k(100), &closed(16), "duration = \"100 ms\"", measure)
}

fn stopped(left: &Left) -> &Value {
    &left.0["stopped"][0]
}

fn with_precision(precision: &str, measure: &str) -> Request {
    Request { precision: Some(precision.into()), ..request(DRIVE, &reads(measure), &SMALL) }
}

fn json(request: Request) -> Left {
    Left(serde_json::from_str(&execute(request).record.to_json()).unwrap())
}

#[test]
fn a_phase_ends_when_its_figures_are_known() {
    let left = run(DRIVE, &reads(PRECISE), &SMALL);
    let found = stopped(&left);
    assert_eq!((&found["by"], &found["phase"]), (&"precision".into(), &"measure".into()));
    for key in ["iops_pct", "bandwidth_pct", "latency_mean_pct"] {
        assert!(found[key].as_f64().unwrap() <= 1.0, "{found}");
    }
    assert!(found["latency_p99_pct"].as_f64().unwrap() <= 3.0, "{found}");
    let ios = found["batches"].as_u64().unwrap() * found["batch_ios"].as_u64().unwrap();
    assert!(left.0["summary"]["count"].as_u64().unwrap() >= ios && ios >= 32 * 1024, "{found}");
}

#[test]
fn a_phase_runs_for_a_sixteenth_of_its_time_and_reads_for_a_64th() {
    for (read_pct, time, least) in
        [(99, "16 s", 1_000_000_000), (99, "32 s", 2_000_000_000), (100, "64 s", 1_000_000_000)]
    {
        let measure = format!("duration = \"{time}\"\nuntil_precise = \"5 %\"");
        let text = workload(&random_4k(read_pct), &closed(16), "duration = \"100 ms\"", &measure);
        let took = run(DRIVE, &text, &SMALL).0["duration_ns"].as_u64().unwrap();
        // From one look to the next are at most a quarter of the batches.
        assert!((least..least * 4 / 3).contains(&took), "{read_pct} % reads, {time}: {took}");
    }
}

#[test]
fn a_phase_that_is_over_before_is_as_it_was_without() {
    let whole = run(DRIVE, &reads("duration = \"200 ms\""), &SMALL).0;
    let left = run(DRIVE, &reads("duration = \"200 ms\"\nuntil_precise = \"0.1 %\""), &SMALL);
    assert_eq!(stopped(&left)["by"], "amount");
    for key in ["summary", "streams", "parts", "duration_ns"] {
        assert_eq!(left.0[key], whole[key], "{key}");
    }
    assert!(whole.get("stopped").is_none());
}

#[test]
fn a_request_states_the_precision_or_turns_it_off() {
    let off = json(with_precision("off", "ios = 60000\nuntil_precise = \"20 %\""));
    assert_eq!(off.0["summary"]["count"], 60_000);
    assert!(off.0.get("stopped").is_none());
    assert_eq!(off.0["spec"]["precision"], "off");
    let stated = json(with_precision("2 %", "ios = 1000000"));
    assert_eq!((&stopped(&stated)["by"], &stopped(&stated)["precision_pct"]), (&"precision".into(), &2.0.into()));
    let timed = json(Request { duration: Some("300 ms".into()), ..request(DRIVE, &reads(PRECISE), &SMALL) });
    assert_eq!(timed.0["duration_ns"], 300_000_000);
    assert!(timed.0.get("stopped").is_none(), "a time that is asked for is whole");
}

#[test]
fn a_machine_whose_memory_is_not_full_runs_as_a_whole() {
    // A disk's caches take minutes of random writes to fill.
    let text = workload(&random_4k(0), &closed(1), "", "duration = \"5 s\"\nuntil_precise = \"20 %\"");
    assert_eq!(stopped(&run("ent-15k", &text, &[]))["by"], "amount");
}

#[test]
fn a_run_in_which_something_happens_runs_as_a_whole() {
    let text = reads("duration = \"2 s\"\nuntil_precise = \"20 %\"");
    let calm = request("raid1:2x7450-pro-3840", &text, &SMALL);
    let request = Request { events: vec!["at 1 s: fail d0".into()], ..calm.clone() };
    assert_eq!(stopped(&json(calm))["by"], "precision");
    assert_eq!(stopped(&json(request))["by"], "amount");
}

#[test]
fn precision_is_refused_where_it_says_nothing() {
    let read = |measure: &str, warm_up: &str| {
        let text = workload(&random_4k(100), &closed(1), warm_up, measure);
        Workload::read("w", &text).map(|_| ()).map_err(|error| format!("{} {}", error.key, error.accepted))
    };
    assert!(read("until = { precise = \"1 %\" }", "").is_ok());
    assert!(read("until = [\"precise\", \"60 s\"]", "").is_ok());
    for (measure, warm_up, accepted) in [
        ("until_precise = \"1 %\"", "", "expected one of duration"),
        ("duration = \"1 s\"\nuntil_precise = \"0.01 %\"", "", "from 0.1 % to 20 %"),
        ("duration = \"1 s\"\nuntil_precise = 1", "", "from 0.1 % to 20 %"),
        ("until = { precise = \"1 %\", x = 1 }", "", "expected { precise = \"1 %\" }"),
        ("until = \"precise 1 %\"", "", "state the longest time"),
        ("duration = \"1 s\"", "duration = \"1 s\"\nuntil_precise = \"1 %\"", "only a phase with measure = true"),
    ] {
        let refused = read(measure, warm_up).unwrap_err();
        assert!(refused.contains(accepted), "{measure}: {refused}");
    }
    let text = reads("until_steady = true");
    let request = Request { precision: Some("1 %".into()), ..request(DRIVE, &text, &SMALL) };
    let refused = Run::new(&crate::common::catalog(), request).err().unwrap().to_string();
    assert!(refused.contains("precision") && refused.contains("a measured phase that has a duration"), "{refused}");
}

#[test]
fn figures_are_as_precise_as_the_record_states() {
    // A queue whose length changes slowly: what an I/O waits resembles what the one before it waited.
    const RATE: f64 = 110.0;
    const PRECISION: f64 = 0.02;
    let stream = "read_pct = 100\nrandom_pct = 100\nsize = \"64 KiB\"";
    let load = format!("open = {{ rate_iops = {RATE:.1}, arrival = \"poisson\" }}");
    let left = |seed: u64, ios: u64, precision: Option<String>| {
        let text = workload(stream, &load, "duration = \"5 s\"", &format!("ios = {ios}"));
        json(Request { seed, precision, ..request("ent-15k", &text, &[]) })
    };
    let truth = left(0, 3_000_000, None);
    let figures = [("iops", RATE, 1.0), ("latency_mean_ns", truth.summary("latency_mean_ns"), 1.0)];
    let figures = figures.into_iter().chain([("latency_p99_ns", truth.summary("latency_p99_ns"), 3.0)]);
    let figures: Vec<_> = figures.collect();
    let runs: u64 = if std::env::var_os("HOTBAND_LONG").is_some() { 1000 } else { 12 };
    let mut misses = vec![0_u64; figures.len()];
    for seed in 1..=runs {
        let found = left(seed, 2_000_000, Some("2 %".into()));
        assert_eq!(stopped(&found)["by"], "precision", "{}", stopped(&found));
        for ((name, value, times), misses) in figures.iter().zip(&mut misses) {
            *misses += u64::from((found.summary(name) / value - 1.0).abs() > times * PRECISION);
        }
    }
    // Of a binomial count with 5 % this is exceeded once in two thousand tests.
    let most = 0.05 * runs as f64 + 3.3 * (0.05 * 0.95 * runs as f64).sqrt();
    let names: Vec<_> = figures.iter().map(|(name, ..)| *name).zip(&misses).collect();
    assert!(
        misses.iter().all(|misses| *misses as f64 <= most),
        "of {runs} runs these miss: {names:?}, at most {most:.0}"
    );
}
