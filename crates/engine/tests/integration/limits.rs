//! Are limits judged by what the record says, and is what was not measured not passed?

use crate::common;
use crate::common::{Left, closed, random_4k, request, run};
use hotband_engine::{Run, Text};
use serde_json::Value;

const DRIVE: &str = "ent-15k";

/// Two streams of the same load, "a" of reads alone and "b" of both, and these limits.
fn text(limits: &str) -> String {
    format!(
        "{limits}\n[load]\n{}\n[[streams]]\nname = \"a\"\n{}\n[[streams]]\nname = \"b\"\n{}\n\
         [[phases]]\nduration = \"10 s\"\nmeasure = true\n",
        closed(2),
        random_4k(100),
        random_4k(50)
    )
}

fn limits(left: &Left) -> &Vec<Value> {
    left.0["limits"].as_array().expect("the record has limits")
}

/// A figure of a run without limits.
fn figure(what: impl Fn(&Value) -> f64) -> f64 {
    let left = run(DRIVE, &text(""), &[]);
    assert!(left.0.get("limits").is_none() && left.0.get("passed").is_none());
    what(&left.0)
}

#[test]
fn a_limit_is_kept_exactly_at_its_value() {
    let longest = figure(|record| record["summary"]["read"]["latency_max_ns"].as_f64().unwrap());
    for (most, passed) in [(longest, true), (longest - 1.0, false)] {
        let left = run(DRIVE, &text(&format!("[[limits]]\nop = \"read\"\nlatency_max = \"{most} ns\"")), &[]);
        let found = &limits(&left)[0];
        assert_eq!((&found["value"], &found["limit"]), (&Value::from(longest), &Value::from(most)));
        assert_eq!((&found["passed"], &left.0["passed"]), (&Value::from(passed), &Value::from(passed)));
    }
    let iops = figure(|record| record["summary"]["iops"].as_f64().unwrap());
    for (least, passed) in [(iops, true), (iops + 1e-9, false)] {
        let left = run(DRIVE, &text(&format!("[[limits]]\niops_at_least = {least:.12}")), &[]);
        assert_eq!(left.0["passed"], passed, "{least}");
    }
}

#[test]
fn a_limit_is_about_its_streams_and_operations_alone() {
    let text = text(
        "[[limits]]\nstream = \"b\"\nop = \"write\"\nlatency_mean = \"20 ms\"\nlatency_p99 = \"1 s\"\niops_at_least = 1\n\
         [[limits]]\nstreams = [\"a\", \"b\"]\nop = \"read\"\nbandwidth_at_least = \"1 MB/s\"\n",
    );
    let left = run(DRIVE, &text, &[]);
    let stream = |n: usize, side: &str, key: &str| left.0["streams"][n][side][key].as_f64().unwrap();
    let value = |n: usize| limits(&left)[n]["value"].as_f64().unwrap();
    let sum: f64 = left.0["streams"][1]["write"]["latency_sum_ns"].as_str().unwrap().parse().unwrap();
    assert_eq!(value(0), sum / stream(1, "write", "count"));
    assert_eq!(value(1), left.0["summary"]["write"]["latency_p99_ns"].as_f64().unwrap(), "b alone writes");
    assert_eq!(value(2), stream(1, "write", "count") / 10.0);
    assert_eq!(value(3), (stream(0, "read", "bytes") + stream(1, "read", "bytes")) / 10.0);
    let words: Vec<_> =
        limits(&left).iter().map(|limit| (limit["figure"].as_str().unwrap(), &limit["bound"])).collect();
    let at = |bound: &str| Value::from(bound);
    assert_eq!(words[0], ("latency_mean_ns", &at("at_most")));
    assert_eq!(words[3], ("bandwidth_bytes_per_s", &at("at_least")));
}

#[test]
fn one_limit_that_is_not_kept_fails_the_run() {
    let left = run(DRIVE, &text("[[limits]]\niops_at_least = 1\n[[limits]]\nlatency_mean = \"1 ns\"\n"), &[]);
    let passed: Vec<_> = limits(&left).iter().map(|limit| limit["passed"].as_bool().unwrap()).collect();
    assert_eq!((passed, &left.0["passed"]), (vec![true, false], &Value::from(false)));
}

#[test]
fn what_was_not_measured_is_not_passed() {
    let left = run(DRIVE, &text("[[limits]]\nstream = \"a\"\nop = \"write\"\nlatency_mean = \"1 h\"\n"), &[]);
    assert!(limits(&left)[0]["value"].is_null());
    assert_eq!(left.0["passed"], false);
}

#[test]
fn limits_that_mean_nothing_are_refused() {
    let refused = |limit: &str, key: &str, word: &str| {
        let error = Run::new(&common::catalog(), request(DRIVE, &text(&format!("[[limits]]\n{limit}")), &[])).err();
        let text = error.expect(limit).to_string();
        assert!(text.contains(key) && text.contains(word), "{limit}: {text}");
    };
    refused("op = \"read\"", "limits[0]", "latency_mean");
    refused("latency_mean = 20", "limits[0].latency_mean", "with its unit");
    refused("latency_mean = \"0 ms\"", "limits[0].latency_mean", "above zero");
    refused("iops_at_least = -1", "limits[0].iops_at_least", "number");
    refused("iops_at_least = 1\nop = \"trim\"", "limits[0].op", "read, write, all");
    refused("iops_at_least = 1\nstream = \"c\"", "limits[0].stream:", "one of a, b");
    refused("iops_at_least = 1\nstreams = [\"a\", \"c\"]", "limits[0].streams", "one of a, b");
    refused("iops_at_least = 1\nstreams = []", "limits[0].streams", "a list of names");
    refused("iops_at_least = 1\nstreams = [1]", "limits[0].streams", "a list of names");
    refused("iops_at_least = 1\nstream = \"a\"\nstreams = [\"b\"]", "limits[0].streams", "either");
    refused("iops_at_least = 1\nlatency = \"1 ms\"", "limits[0].latency", "unknown key");
}

#[test]
fn an_interval_is_judged_by_its_mean_over_the_streams_that_are_meant() {
    // The longest mean of a second, found by hand in the series; intervals that steps cut count too.
    let outcome =
        common::execute(request(DRIVE, &text("[[limits]]\nop = \"read\"\nlatency_interval_max = \"1 s\"\n"), &[]));
    let series = &outcome.tables["series"];
    let (times, iops) = (series.column::<u64>("time_ns"), series.column::<f64>("iops"));
    let (latencies, directions) = (series.column::<Option<f64>>("latency_mean_ns"), series.column::<Text>("direction"));
    let mean = |second: u64| {
        let rows = (0..times.len()).filter(|row| times[*row] == second * 1_000_000_000);
        let reads: Vec<usize> = rows.filter(|row| &*directions[*row] == "read").collect();
        assert_eq!(reads.len(), 2, "both streams read");
        let ios: f64 = reads.iter().map(|row| iops[*row]).sum();
        reads.iter().map(|row| iops[*row] * latencies[*row].unwrap()).sum::<f64>() / ios
    };
    let wanted = (0..10).map(mean).fold(0.0, f64::max);
    let record: Value = serde_json::from_str(&outcome.record.to_json()).unwrap();
    assert_eq!(record["limits"][0]["figure"], "latency_interval_max_ns");
    assert_eq!(record["limits"][0]["value"], wanted);
    let overall = record["summary"]["read"]["latency_mean_ns"].as_f64().unwrap();
    assert!(wanted > overall, "some second is slower than the mean of all");
    let none = run(DRIVE, &text("[[limits]]\nstream = \"a\"\nop = \"write\"\nlatency_interval_max = \"1 s\"\n"), &[]);
    assert!(limits(&none)[0]["value"].is_null() && none.0["passed"] == false);
}

#[test]
fn streams_of_an_app_have_limits_too() {
    let app = |limit: &str| {
        format!(
            "[app]\nkind = \"btree\"\noperations = {{ read = 50, update = 50 }}\nrecords = 10000\nclients = 4\n\
             cache = \"16 MB\"\n[[phases]]\nduration = \"2 s\"\nmeasure = true\n[[limits]]\n{limit}\n"
        )
    };
    let left = run(DRIVE, &app("stream = \"journal\"\nop = \"write\"\niops_at_least = 1"), &[]);
    let journal = left.0["streams"].as_array().unwrap().iter().find(|stream| stream["name"] == "journal").unwrap();
    assert_eq!(limits(&left)[0]["value"].as_f64().unwrap(), journal["write"]["count"].as_f64().unwrap() / 2.0);
    let error = Run::new(&common::catalog(), request(DRIVE, &app("stream = \"journl\"\niops_at_least = 1"), &[])).err();
    let text = error.expect("no such stream").to_string();
    assert!(text.contains("did you mean \"journal\""), "{text}");
}
