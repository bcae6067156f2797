//! Is a run the same, bit for bit, whenever and wherever it is repeated, and are its streams independent?

use std::path::PathBuf;

use crate::common::{execute, request};
use hotband_engine::{LOG_COLUMNS, Outcome, Request};

/// Two streams over a parity layout with caches: every source of randomness and most of the machinery.
const WORKLOAD: &str = "
interval = \"100 ms\"
[[streams]]
name = \"mix\"
read_pct = 70
random_pct = 40
random_mode = \"coin\"
sizes = { \"4 KiB\" = 3, \"64 KiB\" = 1 }
align = \"4 KiB\"
offsets = { zipf = { exponent = 0.9 } }
load = { closed = { threads = 4, depth = 4 } }
[[streams]]
name = \"log\"
read_pct = 0
random_pct = 0
size = \"16 KiB\"
flush_every = 8
load = { open = { rate_iops = 50, arrival = \"poisson\" } }
[[phases]]
duration = \"500 ms\"
[[phases]]
duration = \"3 s\"
measure = true
";

fn seeded(seed: u64) -> Request {
    Request { seed, ..request("raid5:5xexos-15e900-512e", WORKLOAD, &[]) }
}

/// Everything a run leaves that others read.
fn left(outcome: &Outcome) -> (String, String) {
    (outcome.record.to_json(), format!("{:?}", outcome.tables))
}

#[test]
fn the_same_spec_and_seed_leave_the_same_record_and_series() {
    let (one, two) = (left(&execute(seeded(7))), left(&execute(seeded(7))));
    assert!(one.1.len() > 1000, "the series has rows");
    assert_eq!(one, two);
}

#[test]
fn another_seed_leaves_other_numbers() {
    let (one, two) = (execute(seeded(7)), execute(seeded(8)));
    assert_ne!(one.record.summary.all.latency_mean_ns, two.record.summary.all.latency_mean_ns);
    assert_ne!(one.tables, two.tables);
}

#[test]
fn four_runs_at_once_leave_what_each_leaves_alone() {
    let alone: Vec<_> = (1..=4).map(|seed| left(&execute(seeded(seed)))).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=4).map(|seed| scope.spawn(move || left(&execute(seeded(seed))))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a run does not panic")).collect()
    });
    assert_eq!(alone, together);
}

/// A column of the log by name.
fn column(name: &str) -> usize {
    LOG_COLUMNS.iter().position(|have| *have == name).expect("a column of the log")
}

/// Rows of the I/O log of a run.
fn log(name: &str, workload: &str) -> Vec<Vec<u64>> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("determinism-{name}.log"));
    execute(Request { io_log: Some(path.clone()), ..request("exos-15e900-512n", workload, &[]) });
    let bytes = std::fs::read(path).expect("the run wrote its log");
    let numbers = bytes.chunks_exact(8).map(|number| u64::from_le_bytes(number.try_into().expect("eight bytes")));
    numbers.collect::<Vec<u64>>().chunks_exact(LOG_COLUMNS.len()).map(<[u64]>::to_vec).collect()
}

/// Offset, size and direction of the I/Os of stream `index`, in order.
fn asked(rows: &[Vec<u64>], index: u64) -> Vec<[u64; 3]> {
    let of_stream = rows.iter().filter(|row| row[column("stream")] == index);
    of_stream.map(|row| ["offset_bytes", "size_bytes", "direction"].map(|name| row[column(name)])).collect()
}

fn stream(name: &str) -> String {
    format!(
        "[[streams]]\nname = \"{name}\"\nread_pct = 60\nrandom_pct = 50\nrandom_mode = \"run\"\n\
         sizes = {{ \"4 KiB\" = 1, \"8 KiB\" = 1 }}\nload = {{ closed = {{ threads = 1, depth = 1 }} }}\n"
    )
}

#[test]
fn a_stream_more_does_not_change_what_another_asks_for() {
    let phase = "[[phases]]\nduration = \"5 s\"\nmeasure = true\n";
    let alone = asked(&log("alone", &format!("{}{phase}", stream("a"))), 0);
    let both = log("both", &format!("{}{}{phase}", stream("b"), stream("a")));
    let (beside, other) = (asked(&both, 1), asked(&both, 0));
    let common = alone.len().min(beside.len());
    assert!(common > 300 && other.len() > 300, "{common} {}", other.len());
    assert_eq!(alone[..common], beside[..common]);
    assert_ne!(alone[..300], other[..300], "another name is another sequence");
}

#[test]
fn the_log_adds_up_to_the_record() {
    let workload = format!("{}[[phases]]\nduration = \"2 s\"\nmeasure = true\n", stream("a"));
    let rows = log("sums", &workload);
    let summary = execute(request("exos-15e900-512n", &workload, &[])).record.summary.all;
    let measured: Vec<_> = rows.iter().filter(|row| row[column("measured")] == 1).collect();
    assert_eq!(measured.len() as u64, summary.count);
    assert_eq!(measured.iter().map(|row| row[column("latency_ns")]).max(), summary.latency_max_ns);
    for row in rows {
        let parts = ["queue_ns", "overhead_ns", "seek_ns", "rotation_ns", "transfer_ns", "flash_ns", "link_ns"];
        assert_eq!(parts.iter().map(|part| row[column(part)]).sum::<u64>(), row[column("latency_ns")]);
    }
}
