//! Do runs that follow each other on one machine find what the one before left, and nothing else of it?

use crate::common;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{Left, catalog, closed, execute, in_turn, random_4k, request, workload};
use hotband_engine::{Control, Outcome, Request, Run};

const POOL: &str = "
[drives.d]
product = \"mg06sca-10tb\"
count = 4
[layouts.pool]
replicated = { members = \"d*\", image = \"1 GiB\", placement_groups = 64 }
";

fn reads(seed: u64) -> Request {
    Request { seed, ..request(POOL, &workload(&random_4k(100), &closed(4), "", "ios = 2000"), &[]) }
}

fn writes(seed: u64) -> Request {
    Request { seed, ..request(POOL, &workload(&random_4k(0), &closed(4), "", "ios = 500"), &[]) }
}

fn left(outcome: &Outcome) -> Left {
    Left(serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON"))
}

/// A counter of the daemons, added up.
fn of_daemons(outcome: &Outcome, name: &str) -> u64 {
    let left = left(outcome);
    let parts = left.0["parts"].as_array().expect("a record has parts").clone();
    parts.iter().filter(|part| part["kind"] == "osd").map(|part| part["counters"][name].as_u64().expect(name)).sum()
}

/// Everything a run leaves that others read.
fn all_of(outcome: &Outcome) -> (String, String) {
    (outcome.record.to_json(), format!("{:?}", outcome.tables))
}

#[test]
fn a_run_finds_in_memory_what_the_same_run_read_before_it() {
    let runs = in_turn(vec![reads(1), reads(1)]);
    let hits = [0, 1].map(|run| of_daemons(&runs[run], "memory_hits"));
    // 2,000 of 262,144 blocks: a few come twice in one run. The second asks for the same.
    assert!(hits[0] < 60 && hits[1] >= 2000, "{hits:?}");
    assert!(left(&runs[1]).iops() > 3.0 * left(&runs[0]).iops());
}

#[test]
fn a_run_with_a_seed_of_its_own_finds_little() {
    let runs = in_turn(vec![reads(1), reads(2)]);
    let hits = [0, 1].map(|run| of_daemons(&runs[run], "memory_hits"));
    assert!(hits[1] < 100, "{hits:?}");
    let iops = [0, 1].map(|run| left(&runs[run]).iops());
    assert!((0.8..1.25).contains(&(iops[1] / iops[0])), "{iops:?}");
}

#[test]
fn time_and_counters_of_a_run_are_its_own() {
    let runs = in_turn(vec![writes(1), reads(1), reads(1)]);
    for (run, (reads, writes)) in runs.iter().zip([(0, 500), (2000, 0), (2000, 0)]) {
        let summary = &run.record.summary;
        assert_eq!((summary.read.count, summary.write.count), (reads, writes));
        assert!((reads..=reads + 4).contains(&of_daemons(run, "reads")), "{}", of_daemons(run, "reads"));
        assert!((3 * writes..=3 * writes + 16).contains(&of_daemons(run, "writes")), "{}", of_daemons(run, "writes"));
        let left = left(run);
        let (duration, iops) = (left.0["duration_ns"].as_f64().expect("a time"), left.iops());
        common::assert_near("count and time are of one run", iops * duration / 1e9, (reads + writes) as f64, 1e-3);
    }
    let took = [1, 2].map(|run| left(&runs[run]).0["duration_ns"].as_u64());
    assert!(took[1] < took[0], "{took:?}");
}

#[test]
fn the_first_of_a_sequence_is_the_run_alone() {
    let alone = execute(reads(3));
    assert_eq!(all_of(&in_turn(vec![reads(3), writes(1)])[0]), all_of(&alone));
}

#[test]
fn a_sequence_is_the_same_whenever_it_is_repeated() {
    let sequence = || in_turn(vec![reads(1), writes(2), reads(1)]).iter().map(all_of).collect::<Vec<_>>();
    let (one, two) = (sequence(), sequence());
    assert_eq!(one, two);
    assert_ne!(one[0], one[2]);
}

#[test]
fn who_asks_for_progress_changes_nothing() {
    let alone: Vec<_> = in_turn(vec![reads(1), reads(1)]).iter().map(all_of).collect();
    let (control, ended) = (Arc::new(Control::default()), Arc::new(AtomicBool::new(false)));
    let watched = std::thread::scope(|scope| {
        let (asked, done) = (control.clone(), ended.clone());
        let watcher = scope.spawn(move || {
            let mut last = (0.0, 0);
            while !done.load(Ordering::Relaxed) {
                last = asked.progress();
                std::hint::spin_loop();
            }
            (last, asked.progress())
        });
        let mut kept = None;
        let runs = [reads(1), reads(1)].map(|request| {
            let run = Run::new(&catalog(), request).expect("valid");
            let (outcome, left) = run.execute_after(kept.take(), &control).expect("nothing stops it");
            kept = Some(left);
            all_of(&outcome)
        });
        ended.store(true, Ordering::Relaxed);
        let (_, (share, _)) = watcher.join().expect("a watcher does not panic");
        assert!((share - 1.0).abs() < 1e-9, "all of it is done: {share}");
        runs
    });
    assert_eq!(watched.to_vec(), alone);
}

#[test]
fn only_a_run_on_the_same_machine_follows() {
    let run = |request| Run::new(&catalog(), request).expect("runs of the tests are valid");
    let mut first = run(reads(1));
    assert!(run(writes(9)).follow(&mut first).is_ok(), "another workload and seed");
    let other = Request { machine_text: Some(POOL.replace("count = 4", "count = 5")), ..reads(1) };
    let set = Request { set: vec![("cpu_read".into(), "1 ms".into())], ..reads(1) };
    for request in [other, set] {
        let error = run(request).follow(&mut first).expect_err("another machine").to_string();
        assert!(error.contains("MACHINE") && error.contains("the same machine") && !error.contains('\n'), "{error}");
    }
}

#[test]
fn drives_alone_keep_what_they_hold_too() {
    let stream = "read_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\nrange = [\"0 %\", \"1 MB\"]";
    let ask = || request("exos-15e900-512n", &workload(stream, &closed(1), "", "ios = 400"), &[]);
    let runs = in_turn(vec![ask(), ask()]);
    let iops = [0, 1].map(|run| left(&runs[run]).iops());
    assert!(iops[1] > iops[0], "the second finds the cache filled: {iops:?}");
}
