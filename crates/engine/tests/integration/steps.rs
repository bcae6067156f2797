//! Do measured phases that follow one another have exact figures of their own, and do phases change threads and end
//! when the machine is warm?

use crate::common::refused::workload_is_refused;
use crate::common::{Left, assert_near, closed, execute, random_4k, request, run};
use hotband_engine::Request;
use serde_json::Value;

const DRIVE: &str = "exos-15e900-512n";

/// A mix with caches at work, its load and its phases.
fn mix(load: &str, phases: &str) -> String {
    format!("[load]\n{load}\n[[streams]]\n{}\n{phases}", random_4k(70))
}

fn phase(name: &str, keys: &str) -> String {
    format!("[[phases]]\nname = \"{name}\"\n{keys}\n")
}

fn step(name: &str, keys: &str) -> String {
    phase(name, &format!("measure = true\n{keys}"))
}

/// Steps of 20,000 I/Os with these threads.
fn threads_steps(threads: &[u32]) -> String {
    threads.iter().enumerate().map(|(n, t)| step(&format!("s{n}"), &format!("ios = 20000\nthreads = {t}"))).collect()
}

#[track_caller]
fn steps(left: &Left) -> Vec<Value> {
    left.0["steps"].as_array().expect("the record has steps").clone()
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is a number"))
}

#[test]
fn two_steps_alike_are_one_measured_time() {
    // The same I/Os, cut in two: the record's figures are those of the uncut run, to the last bit.
    let warm_up = phase("warm-up", "duration = \"2 s\"");
    let two = format!("{}{}", step("a", "duration = \"7 s\""), step("b", "duration = \"13 s\""));
    let whole = mix(&closed(8), &format!("{warm_up}{}", step("all", "duration = \"20 s\"")));
    let cut = mix(&closed(8), &format!("{warm_up}{two}"));
    let (whole, cut) = (execute(request(DRIVE, &whole, &[])), execute(request(DRIVE, &cut, &[])));
    assert_eq!(whole.tables, cut.tables);
    let json = |outcome: &hotband_engine::Outcome| -> Value {
        serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON")
    };
    let (whole, cut) = (json(&whole), json(&cut));
    for key in ["summary", "streams", "parts", "duration_ns", "concurrency"] {
        assert_eq!(whole[key], cut[key], "{key}");
    }
    assert!(whole.get("steps").is_none(), "one measured phase is no step");
    assert_eq!(cut["steps"].as_array().map(Vec::len), Some(2));
}

#[test]
fn steps_add_up_to_the_record() {
    let left = run(DRIVE, &mix(&closed(1), &threads_steps(&[1, 4, 16, 2])), &[]);
    let (steps, mut begin) = (steps(&left), 0.0);
    for (n, step) in steps.iter().enumerate() {
        assert_eq!(step["name"], format!("s{n}"));
        assert_eq!(number(&step["begin_ns"]), begin);
        assert!(step["clients"].is_null());
        begin += number(&step["duration_ns"]);
    }
    assert_eq!(number(&left.0["duration_ns"]), begin);
    for side in ["read", "write"] {
        for key in ["count", "bytes", "errors"] {
            let sum: f64 = steps.iter().map(|step| number(&step["summary"][side][key])).sum();
            assert_eq!(number(&left.0["summary"][side][key]), sum, "{side} {key}");
        }
        let longest = steps.iter().map(|step| number(&step["summary"][side]["latency_max_ns"])).fold(0.0, f64::max);
        assert_eq!(number(&left.0["summary"][side]["latency_max_ns"]), longest, "{side}");
    }
    let share = |step: &Value| number(&step["summary"]["queue_depth_mean"]) * number(&step["duration_ns"]) / begin;
    assert_near("outstanding", left.summary("queue_depth_mean"), steps.iter().map(share).sum(), 1e-9);
}

#[test]
fn littles_law_holds_in_every_step() {
    // The I/Os under way at the ends of a step, at most 16 at each, are the only error: 32 / 20,000.
    for machine in [DRIVE, "raid5:4xexos-15e900-512n"] {
        for depth in [1, 2] {
            let load = format!("closed = {{ threads = 3, depth = {depth} }}");
            let left = run(machine, &mix(&load, &threads_steps(&[1, 8, 2, 4])), &[]);
            for (step, threads) in steps(&left).iter().zip([1, 8, 2, 4]) {
                let summary = &step["summary"];
                let outstanding = number(&summary["iops"]) * number(&summary["latency_mean_ns"]) / 1e9;
                let what = format!("{machine}, {threads} threads of {depth}");
                assert_near(&what, outstanding, number(&summary["queue_depth_mean"]), 0.01);
                assert_near(&what, number(&summary["queue_depth_mean"]), f64::from(threads * depth), 0.01);
                assert_eq!(step["threads"], threads, "{what}");
            }
            assert!(left.0["concurrency"].is_null(), "the steps differ");
        }
    }
}

#[test]
fn more_threads_start_at_once_and_fewer_when_their_ios_are_done() {
    // Slow enough that a step's begin shows: the deepest queue of the first step is 16, of the second 2.
    let phases = format!(
        "{}{}{}",
        phase("warm-up", "duration = \"1 s\"\nthreads = 4"),
        step("many", "duration = \"10 s\"\nthreads = 16"),
        step("few", "duration = \"10 s\"\nthreads = 2"),
    );
    let outcome = execute(request(DRIVE, &mix(&closed(1), &phases), &[]));
    let series = &outcome.tables["series"];
    let (times, depths) = (series.column::<u64>("time_ns"), series.column::<f64>("queue_depth"));
    let depth = |second: u64| -> f64 {
        let rows = times.iter().zip(depths).filter(|(at, _)| **at == second * 1_000_000_000);
        rows.map(|(_, depth)| depth).sum()
    };
    assert!((depth(0) - 16.0).abs() < 1e-9, "sixteen from the first nanosecond: {}", depth(0));
    assert!(depth(10) > 2.0 && depth(10) < 4.0, "fourteen more, until each is done: {}", depth(10));
    assert!((depth(12) - 2.0).abs() < 1e-9, "{}", depth(12));
}

#[test]
fn a_thread_that_pauses_comes_back_in_a_later_step() {
    let load = "closed = { threads = 2, think = \"100 ms\" }";
    let left = run(DRIVE, &mix(load, &threads_steps(&[8, 1, 8]).replace("ios = 20000", "duration = \"60 s\"")), &[]);
    let rates: Vec<f64> = steps(&left).iter().map(|step| number(&step["summary"]["iops"])).collect();
    // Eight threads that pause for 100 ms ask for at most 80 a second, one for at most 10.
    assert!(rates[1] > 7.0 && rates[1] < 11.0, "{rates:?}");
    assert!(rates[0] > 60.0 && rates[2] > 60.0 && rates[0] < 80.0, "{rates:?}");
}

#[test]
fn only_the_common_loop_changes_its_threads() {
    let own = format!("{}\nname = \"own\"\nload = {{ {} }}\n[[streams]]\n", random_4k(100), closed(3));
    let text = mix(&closed(1), &threads_steps(&[2, 6])).replacen("[[streams]]\n", &format!("[[streams]]\n{own}"), 1);
    for (step, outstanding) in steps(&run(DRIVE, &text, &[])).iter().zip([2.0 + 3.0, 6.0 + 3.0]) {
        assert_near("outstanding", number(&step["summary"]["queue_depth_mean"]), outstanding, 0.01);
    }
}

#[test]
fn an_interval_that_a_step_cuts_is_two_rows() {
    let phases = step("a", "duration = \"1500 ms\"") + &step("b", "duration = \"1500 ms\"");
    let outcome = execute(request(DRIVE, &mix(&closed(4), &phases), &[]));
    let times = outcome.tables["series"].column::<u64>("time_ns");
    let mut begins = times.to_vec();
    begins.dedup();
    assert_eq!(begins, [0, 1_000_000_000, 1_500_000_000, 2_500_000_000]);
    // Rows before the cut hold the bytes of the first step, and no others.
    let seconds = |at: u64| if at == 0 { 1.0 } else { 0.5 };
    let rows = times.iter().zip(outcome.tables["series"].column::<f64>("bandwidth_bytes_per_s"));
    let bytes: f64 = rows.filter(|(at, _)| **at < 1_500_000_000).map(|(at, rate)| rate * seconds(*at)).sum();
    assert_near("bytes of the first step", bytes, outcome.record.steps[0].summary.all.bytes as f64, 1e-9);
}

#[test]
fn concurrency_is_that_of_the_measured_threads() {
    let phases = phase("warm-up", "ios = 10\nthreads = 16") + &step("all", "ios = 4000\nthreads = 4");
    let left = run(DRIVE, &mix("closed = { threads = 1, depth = 2 }", &phases), &[]);
    assert_eq!(left.0["concurrency"], 8);
}

#[test]
fn a_duration_is_that_of_each_step() {
    let text = mix(&closed(1), &threads_steps(&[1, 2]));
    let outcome = execute(Request { duration: Some("3 s".into()), ..request(DRIVE, &text, &[]) });
    assert!(outcome.record.steps.iter().all(|step| step.duration_ns == 3_000_000_000));
    assert_eq!(outcome.record.steps[1].begin_ns, 3_000_000_000);
}

#[test]
fn steps_repeat_themselves() {
    let run = || {
        let outcome = execute(request("raid5:4xexos-15e900-512n", &mix(&closed(1), &threads_steps(&[1, 8, 2])), &[]));
        (outcome.record.to_json(), outcome.tables)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_phase_that_waits_for_warmth_lasts_a_minute_on_a_machine_without_flash() {
    let after = |keys: &str| {
        let phases = phase("fill", keys) + &step("all", "duration = \"5 s\"");
        let record = execute(request(DRIVE, &mix(&closed(4), &phases), &[])).record;
        serde_json::to_string(&record.summary).expect("a summary is JSON")
    };
    let minute = after("duration = \"60 s\"");
    assert_eq!(after("duration = \"6 h\"\nuntil_warm = true"), minute);
    assert_ne!(after("duration = \"61 s\""), minute, "another length is another state of the drive");
    assert_eq!(
        after("duration = \"30 s\"\nuntil_warm = true"),
        after("duration = \"30 s\""),
        "never longer than asked"
    );
}

#[test]
fn the_emerald_workload_runs_on_both_sector_sizes() {
    for (workload, set) in [("snia-emerald-hot-band", "512e"), ("snia-emerald-hot-band-4kn", "4Kn")] {
        let request = Request {
            workload: workload.into(),
            workload_text: None,
            duration: Some("60 s".into()),
            ..request("exos-15e900-512e", "", &[("sector_format", set)])
        };
        let record: Value = serde_json::from_str(&execute(request).record.to_json()).expect("a record is JSON");
        let streams = record["streams"].as_array().expect("a record has streams");
        let count = |stream: &Value, side: &str| number(&stream[side]["count"]);
        let total: f64 = streams.iter().map(|stream| count(stream, "read") + count(stream, "write")).sum();
        // Reads: 3 of uniform, 65 % of 54 in the bands, 25 sequential. Four standard errors of a share.
        let reads: f64 = streams.iter().map(|stream| count(stream, "read")).sum();
        let expected = 0.03 + 0.65 * 0.54 + 0.25;
        assert!((reads / total - expected).abs() < 4.0 * (expected * (1.0 - expected) / total).sqrt(), "{workload}");
        assert_eq!(streams.len(), 13);
        assert_eq!(record["summary"]["errors"], 0);
    }
}

/// A deep reader, and a writer with one I/O outstanding after it.
fn one_after_the_other(drain: &str) -> String {
    let stream = |name: &str, depth: u32, read_pct: u32| {
        format!(
            "[[streams]]\nname = \"{name}\"\n{}\nload = {{ closed = {{ threads = 1, depth = {depth} }} }}\n",
            random_4k(read_pct)
        )
    };
    let first = step("first", &format!("duration = \"5 s\"\nstreams = [\"deep\"]\n{drain}"));
    let second = step("second", "duration = \"5 s\"\nstreams = [\"one\"]");
    format!("{}{}{first}{second}", stream("deep", 64, 100), stream("one", 1, 0))
}

#[test]
fn what_a_drained_step_has_outstanding_is_answered_in_it_and_the_next_begins_with_nothing() {
    let set = [("wce", "off")];
    let read = |drain: &str| steps(&run(DRIVE, &one_after_the_other(drain), &set));
    let outstanding = |step: &Value| {
        let of = |key: &str| number(&step["summary"][key]);
        of("iops") * of("latency_mean_ns") / 1e9
    };
    let (kept, drained) = (read(""), read("drain = true"));
    // 64 reads under way when the first step ends: each waits in the second, and its latency is counted there.
    assert!(number(&kept[1]["summary"]["read"]["count"]) == 64.0 && outstanding(&kept[1]) > 1.5, "{}", kept[1]);
    assert_eq!(number(&drained[1]["summary"]["read"]["count"]), 0.0);
    assert_near("a step of its own", outstanding(&drained[1]), 1.0, 0.01);
    let reads = |step: &Value| number(&step["summary"]["read"]["count"]);
    assert_eq!(reads(&drained[0]), reads(&kept[0]) + 64.0, "they belong to the first");
    let longer = number(&drained[0]["duration_ns"]) - number(&kept[0]["duration_ns"]);
    assert!((1e6..1e9).contains(&longer), "which lasts until the last is answered: {longer} ns");
    // A closed loop asks again when the last of its I/Os is answered: that one is waited for, too.
    let counted = format!("{}{}", step("a", "ios = 1000\ndrain = true"), step("b", "ios = 1000"));
    let counted = steps(&run(DRIVE, &mix(&closed(4), &counted), &set));
    assert_eq!([0, 1].map(|index| number(&counted[index]["summary"]["count"])), [1004.0, 1000.0]);
}

#[test]
fn a_run_has_a_concurrency_where_all_its_steps_have_the_same() {
    let concurrency = |text: &str| run(DRIVE, text, &[]).0["concurrency"].clone();
    assert!(concurrency(&one_after_the_other("")).is_null(), "64, then 1: never 65");
    assert_eq!(concurrency(&one_after_the_other("").replace("depth = 64", "depth = 1")), 1);
    let both = one_after_the_other("").replace("streams = [\"deep\"]", "").replace("streams = [\"one\"]", "");
    assert_eq!(concurrency(&both), 65);
    let rest = step("rest", "streams = []\nduration = \"1 s\"");
    assert_eq!(concurrency(&format!("{both}{rest}")), 65, "nobody asks in the last");
}

#[test]
fn what_cannot_stop_asking_is_not_drained() {
    let script = "[[streams]]\nname = \"s\"\nread_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\n[[scripts]]\nname = \"c\"\n\
                  clients = 1\nrepeat = true\n[[scripts.steps]]\nname = \"x\"\nios = 8\nstream = \"s\"\n";
    for (text, at) in [
        (format!("{script}{}", step("a", "duration = \"1 s\"\ndrain = true")), "phases[0].drain"),
        (mix(&closed(1), &phase("fill", "untimed = true\nfills = 1\ndrain = true")), "drain"),
    ] {
        workload_is_refused(&text, &[at]);
    }
}
