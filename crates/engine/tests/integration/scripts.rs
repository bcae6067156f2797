//! Do clients of scripts do what their script says, exactly when it says so?

use crate::common;
use std::collections::BTreeMap;

use crate::common::{Left, assert_near, execute, request};
use hotband_engine::{LOG_COLUMNS, Request};
use proptest::prelude::*;

const DISK: &str = "exos-15e900-512n";
const ARRAY: &str = "raid0:4xexos-15e900-512n";

/// One I/O of the log.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    submit: u64,
    stream: u64,
    offset: u64,
    len: u64,
    end: u64,
}

/// Runs a workload with a log of its I/Os, in order of submission.
#[track_caller]
fn logged(machine: &str, workload: &str, set: &[(&str, &str)]) -> (Left, Vec<Row>) {
    let name = std::thread::current().name().unwrap_or("test").replace("::", "-");
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("scripts-{name}.log"));
    let json = execute(Request { io_log: Some(path.clone()), ..request(machine, workload, set) }).record.to_json();
    let bytes = std::fs::read(&path).expect("the log was written");
    let numbers: Vec<u64> =
        bytes.chunks_exact(8).map(|eight| u64::from_le_bytes(eight.try_into().expect("eight bytes"))).collect();
    let rows = numbers.chunks_exact(LOG_COLUMNS.len());
    let row = |n: &[u64]| Row { submit: n[0], stream: n[1], offset: n[3], len: n[4], end: n[0] + n[5] };
    let mut rows: Vec<Row> = rows.map(row).collect();
    rows.sort_by_key(|row| (row.submit, row.offset));
    (Left(serde_json::from_str(&json).expect("a record is JSON")), rows)
}

fn stream(name: &str, keys: &str) -> String {
    format!("[[streams]]\nname = \"{name}\"\nread_pct = 100\n{keys}\n")
}

fn random_streams(names: &[&str]) -> String {
    names.iter().map(|name| stream(name, "random_pct = 100\nsize = \"4 KiB\"")).collect()
}

fn of(rows: &[Row], stream: u64) -> Vec<Row> {
    rows.iter().filter(|row| row.stream == stream).copied().collect()
}

fn end(rows: &[Row]) -> u64 {
    rows.iter().map(|row| row.end).max().expect("there are I/Os")
}

const ONCE: &str = "[[phases]]\nduration = \"10 min\"\nmeasure = true\nuntil_done = true\n";

fn script(keys: &str, steps: &str) -> String {
    format!("[[scripts]]\nname = \"job\"\n{keys}\n{steps}")
}

fn step(name: &str, keys: &str) -> String {
    format!("[[scripts.steps]]\nname = \"{name}\"\n{keys}\n")
}

#[test]
fn a_step_begins_the_moment_what_it_comes_after_is_done() {
    let steps = [
        step("a", "stream = \"a\"\nios = 9\ndepth = 2"),
        step("b", "stream = \"b\"\nios = 4\nafter = []"),
        step("c", "stream = \"c\"\nios = 3\nafter = [\"a\", \"b\"]\nbefore = \"1 ms\"\ncpu = \"0.3 ms\""),
        step("d", "stream = \"d\"\nios = 1"),
    ];
    let text = random_streams(&["a", "b", "c", "d"]) + &script("clients = 1\nrepeat = false", &steps.concat()) + ONCE;
    let (left, rows) = logged(DISK, &text, &[]);
    let [a, b, c, d] = [0, 1, 2, 3].map(|n| of(&rows, n));
    assert_eq!([a.len(), b.len(), c.len(), d.len()], [9, 4, 3, 1]);
    assert_eq!([a[0].submit, a[1].submit, b[0].submit], [0, 0, 0], "nothing holds them back");
    let outstanding = |at: u64| a.iter().filter(|row| row.submit <= at && at < row.end).count();
    assert!(a.iter().all(|row| outstanding(row.submit) <= 2), "depth 2");
    // Not a nanosecond earlier or later.
    assert_eq!(c[0].submit, end(&a).max(end(&b)) + 1_300_000);
    assert_eq!(c[1].submit, c[0].end + 300_000);
    assert_eq!(c[2].submit, c[1].end + 300_000);
    assert_eq!(d[0].submit, c[2].end, "the step before is what a step comes after where nothing is said");
    let run = &left.0["scripts"][0]["runs"][0];
    assert_eq!((run["begin_ns"].as_u64(), run["end_ns"].as_u64()), (Some(0), Some(d[0].end)));
    assert_eq!(left.0["duration_ns"].as_u64(), Some(d[0].end), "the phase ends with the script");
}

#[test]
fn clients_begin_apart_and_pause_between_runs() {
    let keys = "clients = 3\nrepeat = true\nstart_every = \"2 s\"\nthink = \"70 ms\"";
    let steps = step("read", "stream = \"a\"\nios = 2\ncpu = \"5 ms\"");
    let stream = stream("a", "random_pct = 100\nsize = \"4 KiB\"\nper_client = \"1 GB\"");
    let phase = "[[phases]]\nduration = \"8 s\"\nmeasure = true\n";
    let (left, rows) = logged(DISK, &(stream + &script(keys, &steps) + phase), &[]);
    for client in 0..3 {
        let own: Vec<Row> = rows.iter().filter(|row| row.offset / 1_000_000_000 == client).copied().collect();
        assert_eq!(own[0].submit, client * 2_000_000_000 + 5_000_000);
        for (n, pair) in own.windows(2).enumerate() {
            let pause = if n % 2 == 0 { 5_000_000 } else { 75_000_000 };
            assert_eq!(pair[1].submit, pair[0].end + pause, "I/O {n} of client {client}");
        }
        assert!(own.len() > 40);
    }
    let script = &left.0["scripts"][0];
    let runs = rows.len() as u64 / 2;
    let completed = script["completed"].as_u64().expect("a count");
    assert!(completed <= runs && completed + 3 > runs, "{completed} of {runs}");
    assert!(script["runs"].is_null(), "only what runs once lists its runs");
}

#[test]
fn clients_are_the_rate_of_runs_times_their_duration() {
    // Ends of the measured time cut at most one run a client: 8 of 5,000 and more.
    for (think, cpu) in [(0.0, "cpu = \"0 ms\""), (0.02, "cpu_exponential = \"3 ms\"")] {
        let keys = format!("clients = 8\nrepeat = true\nthink = \"{} ms\"", think * 1e3);
        let steps = step("read", &format!("stream = \"a\"\nios = [1, 5]\n{cpu}"));
        let phases = "[[phases]]\nduration = \"5 s\"\n[[phases]]\nduration = \"100 s\"\nmeasure = true\n";
        let (left, _) = logged(ARRAY, &(random_streams(&["a"]) + &script(&keys, &steps) + phases), &[]);
        let script = &left.0["scripts"][0];
        let number = |key: &str| script[key].as_f64().expect("a number");
        assert!(number("completed") > 5000.0);
        assert_near("clients", number("per_second") * (number("duration_mean_ns") / 1e9 + think), 8.0, 0.01);
        // Counts are uniform from 1 to 5: a standard deviation of 1.41, of 5,000 and more 0.02; four of them.
        assert_near("I/Os a run", left.iops() / number("per_second"), 3.0, 0.027);
        if think == 0.0 {
            assert_near("outstanding", left.iops() * left.summary("latency_mean_ns") / 1e9, 8.0, 0.01);
        }
        assert!(left.0["concurrency"].is_null(), "a script declares no number of I/Os outstanding");
    }
}

fn files(count: u32, keys: &str) -> String {
    let files = format!("count = {count}, smallest = \"15 KB\", largest = \"4 MB\", mean = \"200 KB\"{keys}");
    stream("files", &format!("size = \"64 KiB\"\nfiles = {{ {files} }}"))
}

const PAGES: &str = "clients = 1\nrepeat = true";

#[test]
fn files_are_read_whole_and_front_to_back() {
    let hot = ", hot = \"18 %\", hot_requests = \"80 %\", layout = \"hot-first\"";
    let phase = "[[phases]]\nios = 20000\nmeasure = true\n";
    let keys = "clients = 1\nrepeat = true\nthink = \"1 ms\"";
    let text = files(2000, hot) + &script(keys, &step("page", "stream = \"files\"\nfiles = 1")) + phase;
    let (left, rows) = logged(ARRAY, &text, &[]);
    let mut pages: Vec<Vec<Row>> = Vec::new();
    for row in &rows {
        match pages.last_mut() {
            Some(page) if page[page.len() - 1].end == row.submit => page.push(*row),
            _ => pages.push(vec![*row]),
        }
    }
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    for page in &pages[..pages.len() - 1] {
        let size = page.iter().map(|row| row.len).sum();
        let last = page.len() - 1;
        assert!(page[..last].iter().all(|row| row.len == 65_536), "whole pieces up to the last");
        assert!(page[last].len.is_multiple_of(4096) && page[last].len <= 65_536);
        assert!(page.windows(2).all(|pair| pair[0].offset + pair[0].len == pair[1].offset), "front to back");
        assert_eq!(*sizes.entry(page[0].offset).or_insert(size), size, "a file has one size, whenever it is read");
    }
    let completed = left.0["scripts"][0]["completed"].as_u64().expect("a count") as f64;
    assert!(completed > 3000.0);
    assert_near("runs are files", pages.len() as f64, completed, 0.002);
    // Sizes have a standard deviation of 370 KB (a density of x^-1.6): four standard errors of 2,000 files, of
    // which the pages are drawn, are 17 %.
    assert_near("mean page", left.summary("bytes") / completed, 202_048.0, 0.17);
    let extent = sizes.iter().map(|(offset, size)| offset + size).max().expect("files") as f64;
    let hot = pages.iter().filter(|page| (page[0].offset as f64) < 0.18 * extent).count() as f64;
    // Four standard errors of a coin of 0.8 thrown 5,000 times: 2.3 %. The extent is known to a file.
    assert_near("hot pages", hot / pages.len() as f64, 0.8, 0.03);
}

#[test]
fn pieces_of_a_file_are_outstanding_to_the_depth_and_in_order() {
    let phase = "[[phases]]\nios = 3000\nmeasure = true\n";
    let step = step("page", "stream = \"files\"\nfiles = 2\ndepth = 4");
    let (_, rows) = logged(ARRAY, &(files(500, "") + &script(PAGES, &step) + phase), &[]);
    let outstanding = |at: u64| rows.iter().filter(|row| row.submit <= at && at < row.end).count();
    assert_eq!(rows.iter().map(|row| outstanding(row.submit)).max(), Some(4));
    let jumps = rows.windows(2).filter(|pair| pair[0].offset + pair[0].len != pair[1].offset).count();
    let full = rows.iter().filter(|row| row.len == 65_536).count();
    assert!(jumps <= rows.len() - full + rows.len() / 16, "a jump only from file to file: {jumps}");
}

#[test]
fn the_network_carries_its_rate_times_its_efficiency() {
    let network = "[network]\nrate = \"100 MB/s\"\nefficiency = \"50 %\"\ncarries = [\"job\"]\n";
    let phases = "[[phases]]\nduration = \"2 s\"\n[[phases]]\nduration = \"60 s\"\nmeasure = true\n";
    let keys = "clients = 8\nrepeat = true";
    let text = files(2000, "") + network + &script(keys, &step("page", "stream = \"files\"\nfiles = 1")) + phases;
    let (left, rows) = logged(ARRAY, &text, &[]);
    // What is read but not yet across at either end is at most 8 pieces of 64 KiB of 3 GB.
    assert_near("bytes a second", left.summary("bandwidth_bytes_per_s"), 50e6, 0.001);
    let part = left.0["parts"].as_array().expect("parts").iter().find(|part| part["kind"] == "network");
    let counters = &part.expect("the network is a part")["counters"];
    assert_near("busy", counters["busy_ns"].as_f64().expect("a counter"), 60e9, 0.001);
    assert_near("bytes", counters["bytes"].as_f64().expect("a counter"), 3e9, 0.001);
    let script = &left.0["scripts"][0];
    let number = |key: &str| script[key].as_f64().expect("a number");
    // Durations include the network and latencies do not: by Little's law the clients are in one or the other.
    assert_near("clients", number("per_second") * number("duration_mean_ns") / 1e9, 8.0, 0.01);
    let reading = left.iops() * left.summary("latency_mean_ns") / 1e9;
    assert!(reading < 4.0, "{reading} of 8 wait for the drives");
    assert!(rows.len() > 10_000);
}

#[test]
fn regions_of_clients_never_overlap() {
    let keys = "size = \"8 KiB\"\nper_client = \"1 GB\"\nrange = [\"10 %\", \"50 %\"]";
    let random = stream(
        "random",
        &format!("random_pct = 100\n{keys}\noffsets = {{ hotspot = {{ data = \"20 %\", ios = \"60 %\" }} }}"),
    );
    let sequential = stream("sequential", &format!("random_pct = 0\n{keys}"));
    let steps = step("r", "stream = \"random\"\nios = 10") + &step("s", "stream = \"sequential\"\nios = 10\ndepth = 4");
    let phase = "[[phases]]\nios = 20000\nmeasure = true\n";
    let (_, rows) = logged(ARRAY, &(random + &sequential + &script("clients = 5\nrepeat = true", &steps) + phase), &[]);
    for client in 0..5_u64 {
        let base = (client * 1_000_000_000_u64).next_multiple_of(4096);
        let own = |n: u64| -> Vec<u64> {
            of(&rows, n).iter().map(|row| row.offset).filter(|at| at / 1_000_000_000 == client).collect()
        };
        let (random, sequential) = (own(0), own(1));
        assert!(random.len() > 1000 && sequential.len() > 1000);
        let (from, to) = (base + 99_999_334 / 4096 * 4096, base + 500_000_000);
        assert!(random.iter().all(|at| (from..to).contains(at)), "client {client}");
        assert!(sequential.windows(2).all(|pair| pair[1] == pair[0] + 8192), "a cursor of its own");
        assert_eq!(sequential[0], from);
        let hot = random.iter().filter(|at| **at < from + 80_000_000).count() as f64 / random.len() as f64;
        // 60 % of about 2,000 with a standard error of 1.1 %.
        assert!((hot - 0.6).abs() < 0.05, "client {client}: {hot}");
    }
    assert!(rows.iter().all(|row| row.offset < 5_000_000_000));
}

#[test]
fn a_client_does_the_same_whatever_the_others_do() {
    let stream = stream("a", "random_pct = 100\nsize = \"8 KiB\"\nper_client = \"1 GB\"");
    let keys = "clients = 1\nrepeat = false";
    let text = stream + &script(keys, &step("r", "stream = \"a\"\nios = [100, 900]")) + ONCE;
    let first =
        |rows: &[Row]| -> Vec<u64> { rows.iter().map(|row| row.offset).filter(|at| *at < 1_000_000_000).collect() };
    let (alone, together) = (logged(DISK, &text, &[]), logged(DISK, &text, &[("clients", "4")]));
    assert_eq!(together.0.0["scripts"][0]["completed"], 4);
    assert_eq!(first(&alone.1), first(&together.1));
    let again = logged(DISK, &text, &[("clients", "4")]);
    assert_eq!((again.0.0, again.1), (together.0.0, together.1), "and the same again");
}

#[test]
fn runs_of_clients_that_run_once_are_listed() {
    let keys = "unit = \"boot\"\nclients = 4\nrepeat = false\nstart_every = \"3 s\"";
    let text = random_streams(&["a"]) + &script(keys, &step("r", "stream = \"a\"\nios = 50\nbefore = \"5 s\"")) + ONCE;
    let (left, rows) = logged(DISK, &text, &[]);
    let script = &left.0["scripts"][0];
    let runs = script["runs"].as_array().expect("a list");
    assert_eq!((runs.len(), &script["unit"]), (4, &serde_json::json!("boot")));
    for (n, run) in runs.iter().enumerate() {
        let begin = n as u64 * 3_000_000_000;
        assert_eq!((run["client"].as_u64(), run["begin_ns"].as_u64()), (Some(n as u64), Some(begin)));
        assert!(rows.iter().any(|row| Some(row.end) == run["end_ns"].as_u64()), "a run ends with an I/O");
    }
    assert_eq!((script["first_begin_ns"].as_u64(), script["last_end_ns"].as_u64()), (Some(0), Some(end(&rows))));
    assert_eq!(left.0["duration_ns"].as_u64(), Some(end(&rows)));
    assert_eq!(left.0["notes"].as_array().map(Vec::len), Some(0));
    let left = common::run(DISK, &text.replace("10 min", "12 s"), &[]);
    assert_eq!((&left.0["scripts"][0]["completed"], left.0["duration_ns"].as_u64()), (&3.into(), Some(12_000_000_000)));
    assert!(
        left.0["notes"][0].as_str().expect("a note").contains("3 of 4 clients of \"job\""),
        "{:?}",
        left.0["notes"]
    );
}

#[test]
fn detached_writes_are_not_waited_for_and_keep_their_limit() {
    let writes = "[[streams]]\nname = \"lazy\"\nread_pct = 0\nrandom_pct = 100\nsize = \"4 KiB\"\nfua = true\n";
    let steps = step("read", "stream = \"a\"\nios = 1")
        + &step("lazy", "stream = \"lazy\"\nios = 6\ndetached = true\ndetached_limit = 4")
        + &step("end", "stream = \"a\"\nios = 1");
    let streams = random_streams(&["a"]) + writes;
    let once = streams.clone() + &script("clients = 1\nrepeat = false", &steps) + ONCE;
    let (left, rows) = logged(DISK, &once, &[]);
    let (reads, lazy) = (of(&rows, 0), of(&rows, 1));
    assert!(lazy[..4].iter().all(|row| row.submit == reads[0].end), "they begin when the step before is done");
    assert!(lazy[4..].iter().all(|row| lazy[..4].iter().any(|first| first.end == row.submit)), "further ones wait");
    assert_eq!(reads[1].submit, reads[0].end, "a step comes after the last one that is waited for");
    assert_eq!(left.0["scripts"][0]["runs"][0]["end_ns"].as_u64(), Some(reads[1].end.max(lazy[5].submit)));
    assert_eq!(left.0["duration_ns"].as_u64(), Some(end(&rows)), "the phase ends with the last write");
    let repeat = streams + &script("clients = 2\nrepeat = true", &steps) + "[[phases]]\nios = 5000\nmeasure = true\n";
    let (left, rows) = logged(DISK, &repeat, &[]);
    let lazy = of(&rows, 1);
    let outstanding = |at: u64| lazy.iter().filter(|row| row.submit <= at && at < row.end).count();
    assert_eq!(lazy.iter().map(|row| outstanding(row.submit)).max(), Some(8), "four for each client");
    // What a client may have outstanding at the end, of 3,700 writes.
    let writes = left.0["summary"]["write"]["count"].as_f64().expect("a count");
    assert_near("writes a run", writes / left.0["scripts"][0]["completed"].as_f64().expect("a count"), 6.0, 0.01);
}

#[test]
fn a_phase_says_how_many_clients_are_active() {
    let phases = "[[phases]]\nname = \"all\"\nduration = \"10 s\"\n\
                  [[phases]]\nname = \"few\"\nduration = \"10 s\"\nclients = 2\n\
                  [[phases]]\nname = \"more\"\nduration = \"20 s\"\nclients = 5\nmeasure = true\n";
    let steps = step("read", "stream = \"a\"\nios = 3");
    let text = random_streams(&["a"]) + &script("clients = 6\nrepeat = true", &steps) + phases;
    let (left, rows) = logged(DISK, &text, &[]);
    let outstanding = |at: u64| rows.iter().filter(|row| row.submit <= at && at < row.end).count();
    // A run that began before its phase ended goes on to its end: three I/Os of six clients are over in a second.
    assert_eq!([5, 12, 15, 21, 35].map(|s| outstanding(s * 1_000_000_000)), [6, 2, 2, 5, 5]);
    assert_eq!(left.0["scripts"][0]["clients"], 5);
    assert_near("outstanding", left.summary("queue_depth_mean"), 5.0, 1e-6);
    let only = text.replace("clients = 2\n", "scripts = []\n");
    let (_, rows) = logged(DISK, &only, &[]);
    let outstanding = |at: u64| rows.iter().filter(|row| row.submit <= at && at < row.end).count();
    assert_eq!([5, 12, 15, 21].map(|s| outstanding(s * 1_000_000_000)), [6, 0, 0, 5]);
}

#[test]
fn runs_arrive_at_a_rate_and_their_time_counts_from_then() {
    let steps = step("read", "stream = \"a\"\nios = 1\ncpu = \"30 ms\"");
    let phase = "[[phases]]\nduration = \"100 s\"\nmeasure = true\n";
    let text = |keys: &str| random_streams(&["a"]) + &script(keys, &steps) + phase;
    // More clients than are busy at once: a run begins as it arrives.
    let (left, rows) = logged(DISK, &text("clients = 50\nrepeat = true\nrate = 20\narrival = \"fixed\""), &[]);
    assert!(rows.iter().enumerate().all(|(n, row)| row.submit == (n as u64 + 1) * 50_000_000 + 30_000_000));
    let script = &left.0["scripts"][0];
    let number = |key: &str| script[key].as_f64().expect("a number");
    assert_eq!((number("requested_per_second"), number("backlog_ns"), rows.len()), (20.0, 0.0, 1999));
    assert_near("a run", number("duration_mean_ns"), 3e7 + left.summary("latency_mean_ns"), 1e-3);
    // Two clients that take 35 ms each serve what arrives at 40 per second, with queues.
    let (left, _) = logged(DISK, &text("clients = 2\nrepeat = true\nrate = 40\narrival = \"poisson\""), &[]);
    let script = &left.0["scripts"][0];
    let number = |key: &str| script[key].as_f64().expect("a number");
    assert!((number("per_second") - 40.0).abs() < 2.6, "four standard errors of 4,000 runs: {script}");
    // Erlang C, two servers at a load of 0.7: those that wait add 0.96 of a service with exponential times, half with fixed ones.
    let service = 3e7 + left.summary("latency_mean_ns");
    let wait = number("duration_mean_ns") / service - 1.0;
    assert!((0.25..1.2).contains(&wait), "{wait} of a service");
    // Four times what they serve: the time of the last run is three quarters of all.
    let (left, _) = logged(DISK, &text("clients = 1\nrepeat = true\nrate = 112\narrival = \"fixed\""), &[]);
    let script = &left.0["scripts"][0];
    let number = |key: &str| script[key].as_f64().expect("a number");
    assert_near("what one client serves", number("per_second"), 1e9 / (3e7 + left.summary("latency_mean_ns")), 0.01);
    assert_near("the last run", number("duration_max_ns") / 1e11, 1.0 - number("per_second") / 112.0, 0.01);
    assert_near("the next run", number("backlog_ns"), number("duration_max_ns"), 0.01);
}

#[test]
fn runs_arrive_only_while_their_script_runs() {
    let phases = "[[phases]]\nname = \"without\"\nduration = \"10 s\"\nscripts = []\n\
                  [[phases]]\nname = \"few\"\nduration = \"10 s\"\nclients = 1\n\
                  [[phases]]\nname = \"again without\"\nduration = \"10 s\"\nscripts = []\n\
                  [[phases]]\nname = \"all\"\nduration = \"10 s\"\nmeasure = true\n";
    let steps = step("read", "stream = \"a\"\nios = 1\ncpu = \"150 ms\"");
    let keys = "clients = 3\nrepeat = true\nrate = 10\narrival = \"fixed\"";
    let (left, rows) = logged(DISK, &(random_streams(&["a"]) + &script(keys, &steps) + phases), &[]);
    let in_second =
        |from: u64, to: u64| rows.iter().filter(|row| (from..to).contains(&(row.submit / 1_000_000_000))).count();
    assert_eq!(in_second(0, 10), 0);
    // One client has 150 ms of its own for each run; what waits when the phase ends never runs.
    assert!((60..=66).contains(&in_second(10, 20)), "{}", in_second(10, 20));
    assert!(in_second(20, 30) <= 1);
    assert!((98..=99).contains(&in_second(30, 40)), "{}", in_second(30, 40));
    assert_eq!(left.0["scripts"][0]["clients"], 3);
}

#[test]
fn runs_that_waited_begin_with_the_phase_that_has_clients_for_them() {
    let phases = "[[phases]]\nname = \"few\"\nduration = \"5 s\"\nclients = 1\n\
                  [[phases]]\nname = \"all\"\nduration = \"2 s\"\nmeasure = true\n";
    let steps = step("a", "stream = \"a\"\nios = 1") + &step("b", "stream = \"a\"\nios = 1\ncpu = \"3 s\"");
    let keys = "clients = 40\nrepeat = true\nrate = 20\narrival = \"fixed\"";
    let (left, rows) = logged(DISK, &(random_streams(&["a"]) + &script(keys, &steps) + phases), &[]);
    let before = rows.iter().filter(|row| row.submit < 5_000_000_000).count();
    assert!(before <= 4, "one client has 3 s of its own for each run: {before}");
    assert!(rows.iter().filter(|row| row.submit == 5_000_000_000).count() >= 30, "all clients begin at once");
    let backlog = left.0["scripts"][0]["backlog_ns"].as_u64().expect("a time");
    assert!(backlog > 1_000_000_000, "40 clients take what arrived in two seconds: {backlog}");
}

#[test]
fn a_rate_that_is_set_lets_clients_no_longer_begin_by_themselves() {
    let steps = step("read", "stream = \"a\"\nios = 1");
    let phase = "[[phases]]\nduration = \"20 s\"\nmeasure = true\n";
    let keys = "clients = 8\nrepeat = true\nthink = \"1 ms\"\nstart_every = \"1 s\"";
    let text = random_streams(&["a"]) + &script(keys, &steps) + phase;
    let (left, _) = logged(DISK, &text, &[("rate_iops", "60")]);
    let script = &left.0["scripts"][0];
    assert_eq!(script["requested_per_second"], 60.0);
    let rate = script["per_second"].as_f64().expect("a rate");
    assert!((rate - 60.0).abs() < 7.0, "four standard errors of 1,200 runs: {rate}");
}

#[test]
fn a_script_and_a_load_run_side_by_side() {
    let load = "[load]\nclosed = { threads = 3 }\n";
    let steps = step("read", "stream = \"a\"\nios = 2");
    let phase = "[[phases]]\nduration = \"10 s\"\nmeasure = true\n";
    let text = load.to_owned() + &random_streams(&["a", "b"]) + &script("clients = 2\nrepeat = true", &steps) + phase;
    let (left, rows) = logged(DISK, &text, &[]);
    let outstanding = |stream: u64| {
        of(&rows, stream).iter().filter(|row| row.submit <= 5_000_000_000 && 5_000_000_000 < row.end).count()
    };
    assert_eq!([outstanding(0), outstanding(1)], [2, 3]);
    assert_near("outstanding", left.summary("queue_depth_mean"), 5.0, 1e-6);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_io_of_a_script_lies_in_its_streams_range(
        clients in 1_u32..6, depth in 1_u32..5, low in 0_u32..5, high in 0_u32..20, random in 1_u32..=100, kind in 0_usize..3,
    ) {
        let offsets = ["", "offsets = { zipf = { exponent = 0.9 } }", "offsets = { stride = \"64 KiB\" }"][kind];
        let range = format!("range = [\"{} %\", \"{} %\"]", low * 10, 60 + high * 2);
        let size = "sizes = { \"4 KiB\" = 1, \"64 KiB\" = 1 }\nalign = \"4 KiB\"";
        let own = format!("random_pct = {random}\nrandom_mode = \"coin\"\n{size}\nper_client = \"40 MB\"\n{range}\n{offsets}");
        let steps = step("own", &format!("stream = \"own\"\nios = [1, 9]\ndepth = {depth}"))
            + &step("file", &format!("stream = \"files\"\nfiles = 2\ndepth = {depth}"));
        let phase = "[[phases]]\nios = 600\nmeasure = true\n";
        let files = files(40, "").replace("size = ", "range = [\"1 GB\", \"2 GB\"]\nsize = ");
        let text = stream("own", &own) + &files + &script(&format!("clients = {clients}\nrepeat = true"), &steps) + phase;
        let (_, rows) = logged(DISK, &text, &[]);
        // A region begins at the next multiple of 4 KiB, and what is used of its 40 MB is that much less.
        let used: u32 = 40_000_000 / 4096 * 4096 - 4096;
        let share = |percent: u32| (f64::from(used) * f64::from(percent) / 100.0) as u64 / 4096 * 4096;
        let (from, to) = (share(low * 10), share(60 + high * 2));
        for row in of(&rows, 0) {
            let client = row.offset / 40_000_000;
            let at = row.offset - (client * 40_000_000).next_multiple_of(4096);
            prop_assert!(client < u64::from(clients) && at.is_multiple_of(4096), "{row:?}");
            prop_assert!(at >= from && at + row.len <= to, "{row:?} outside {from}..{to}");
        }
        for row in of(&rows, 1) {
            prop_assert!(row.offset >= 1_000_000_000 && row.offset + row.len <= 2_000_000_000, "{row:?}");
        }
    }
}
