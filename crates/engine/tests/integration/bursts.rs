//! Do bursts come when they are to come, and as many I/Os as asked for? And what else ends a phase than its time?

use crate::common::refused::{refused, says, workload_is_refused};
use crate::common::{Left, closed, execute, random_4k, request, run, workload};
use hotband_engine::{LOG_COLUMNS, Request};

const DRIVE: &str = "ent-15k";
const BURSTS: &str = "bursts = { ios = 5, every = \"100 ms\" }";

/// When each I/O was submitted, in nanoseconds since the run began.
fn submitted(name: &str, text: &str) -> Vec<u64> {
    let log = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bursts-{name}.log"));
    execute(Request { io_log: Some(log.clone()), ..request(DRIVE, text, &[]) });
    let bytes = std::fs::read(&log).expect("the log was written");
    std::fs::remove_file(&log).expect("nobody else knows it");
    let rows = bytes.chunks_exact(8 * LOG_COLUMNS.len());
    let mut times: Vec<u64> = rows.map(|row| u64::from_le_bytes(row[..8].try_into().expect("eight bytes"))).collect();
    times.sort_unstable();
    times
}

fn duration_ns(left: &Left) -> u64 {
    left.0["duration_ns"].as_u64().expect("a record says how long it measured")
}

#[test]
fn every_burst_has_its_ios_at_the_nanosecond_of_its_turn() {
    let text = workload(&random_4k(100), BURSTS, "", "duration = \"1050 ms\"");
    let expected: Vec<u64> = (1..=10).flat_map(|burst| [burst * 100_000_000; 5]).collect();
    assert_eq!(submitted("turns", &text), expected);
}

#[test]
fn bursts_pause_in_a_phase_that_leaves_their_stream_out_and_begin_anew_after_it() {
    let text = format!(
        "[[streams]]\nname = \"bursts\"\nload = {{ {BURSTS} }}\n{0}\n\
         [[streams]]\nname = \"other\"\nload = {{ open = {{ rate_iops = 0.001, arrival = \"fixed\" }} }}\n{0}\n\
         [[phases]]\nname = \"a\"\nduration = \"250 ms\"\n\
         [[phases]]\nname = \"b\"\nduration = \"1 s\"\nstreams = [\"other\"]\n\
         [[phases]]\nduration = \"150 ms\"\nmeasure = true\n",
        random_4k(100)
    );
    let at = |ms: u64| [ms * 1_000_000; 5];
    assert_eq!(submitted("pause", &text), [at(100), at(200), at(1350)].concat());
}

#[test]
fn bursts_that_a_drive_cannot_serve_in_time_queue_up() {
    // 3,200 I/Os a second are asked for. Even where the drive finds the best of thousands for its next one, seek, rotation
    // and transfer take over a millisecond, so more than half of them wait at the end.
    let busy = workload(&random_4k(100), "bursts = { ios = 32, every = \"10 ms\" }", "", "duration = \"2 s\"");
    let left = run(DRIVE, &busy, &[]);
    assert!(left.iops() < 1000.0 && left.summary("queue_depth_mean") > 1000.0, "{}", left.0["summary"]);
}

#[test]
fn bursts_that_make_no_sense_are_refused() {
    let cases = [
        ("bursts = { every = \"1 s\" }", ["load.bursts.ios", "missing"]),
        ("bursts = { ios = 4 }", ["load.bursts.every", "100 ms"]),
        ("bursts = { ios = 0, every = \"1 s\" }", ["load.bursts.ios", "1 to 65536"]),
        ("bursts = { ios = 4, every = \"999 ns\" }", ["load.bursts.every", "at least 1 us"]),
        ("bursts = { ios = 4, every = 1 }", ["load.bursts.every", "unit"]),
        ("bursts = { ios = 4, every = \"1 s\", depth = 2 }", ["load.bursts.depth", "unknown key"]),
        ("closed = { threads = 1 }\nbursts = { ios = 4, every = \"1 s\" }", ["load", "bursts = { ios, every }"]),
    ];
    for (load, says) in cases {
        workload_is_refused(&workload(&random_4k(100), load, "", "duration = \"1 s\""), &says);
    }
    let text = workload(&random_4k(100), BURSTS, "", "duration = \"1 s\"");
    for (key, accepted) in [("qd", "closed loop"), ("rate_iops", "loops are all closed, or all open")] {
        says(&refused(request(DRIVE, &text, &[(key, "4")])), &["set", key, accepted]);
    }
}

#[test]
fn a_phase_ends_with_the_first_of_its_conditions() {
    let measured = |until: &str| {
        let left = run(DRIVE, &workload(&random_4k(100), &closed(4), "", &format!("until = {until}")), &[]);
        (left.0["summary"]["count"].as_u64().expect("a count"), duration_ns(&left))
    };
    let by_count = measured("\"1e3 I/Os\"");
    assert_eq!(by_count.0, 1000);
    assert_eq!(measured("[\"1_000 I/Os\", \"10 min\"]"), by_count);
    let by_time = measured("[\"1000 I/Os\", \"2 s\"]");
    assert!(by_time.0 < 1000 && by_time.1 == 2_000_000_000, "{by_time:?}");
    assert_eq!(measured("\"2 s\""), by_time, "in brackets or not");
}

#[test]
fn what_until_says_is_what_the_keys_of_old_say() {
    let record = |settle: &str| {
        let text = workload(&random_4k(100), &closed(4), &format!("{settle}\nround = \"1 s\""), "duration = \"1 s\"");
        run(DRIVE, &text, &[]).0
    };
    let (new, old) = (record("until = \"steady\""), record("until_steady = true"));
    for key in ["summary", "streams", "parts", "steady_state"] {
        assert_eq!(new[key], old[key], "{key}");
    }
}

#[test]
fn a_drained_phase_ends_when_the_last_io_is_answered() {
    // Ten I/Os come at 100 ms; power would be cut in a phase that lasted longer than they need.
    let drained = |until: &str| {
        format!(
            "[load]\nbursts = {{ ios = 10, every = \"100 ms\" }}\n[[streams]]\n{}\n\
             [[phases]]\nname = \"a\"\nduration = \"100000001 ns\"\n\
             [[phases]]\nstreams = []\nmeasure = true\nuntil = {until}\n",
            random_4k(100)
        )
    };
    let left = run(DRIVE, &drained("\"drained\""), &[]);
    assert_eq!(left.summary("count"), 10.0, "none came after them");
    let longest = left.summary("latency_max_ns");
    assert_eq!(duration_ns(&left) as f64, longest - 1.0, "the phase began a nanosecond after they came");
}

#[test]
fn conditions_that_make_no_sense_are_refused() {
    let cases = [
        ("until = \"stedy\"", ["phases[0].until", "\"steady\""]),
        ("until = \"1.5 I/Os\"", ["phases[0].until", "whole number"]),
        ("until = \"0 I/Os\"", ["phases[0].until", "above zero"]),
        ("until = \"0 s\"", ["phases[0].until", "above zero"]),
        ("until = 10", ["phases[0].until", "a text or several"]),
        ("until = []", ["phases[0].until", "a text or several"]),
        ("until = \"warm\"", ["phases[0].until", "the longest time"]),
        ("until = [\"1 s\", \"2 s\"]", ["phases[0].until", "twice"]),
        ("until = \"1 s\"\nios = 4", ["phases[0].ios", "remove one"]),
        ("until = \"1 s\"\nround = \"1 s\"", ["phases[0].round", "until_steady"]),
        ("until = \"drained\"", ["phases[0].until", "streams = []"]),
        ("until = \"5 operations\"", ["phases[0].operations", "no [app]"]),
        ("until = [\"scripts done\", \"1 s\"]", ["phases[0].until", "runs once"]),
    ];
    for (until, says) in cases {
        workload_is_refused(&workload(&random_4k(100), &closed(1), "", until), &says);
    }
    let warm = workload(&random_4k(100), &closed(1), "", "until = [\"warm\", \"1 h\"]");
    workload_is_refused(&warm, &["phases[0].until", "without measure = true"]);
}
