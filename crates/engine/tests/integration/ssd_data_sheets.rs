//! Does every solid-state drive of the catalog, worn in, do what its data sheet says?
//!
//! The table is the catalog: `reference.*` of every drive whose name says what is measured (`random_read_qd256`). Rates and
//! latencies within a tenth. Drives are as small as their blocks allow; write amplification is that of the whole drive
//! within 2 % (`ssd_state.rs` of the drives' tests). `--nocapture` prints the table of docs/models/ssd.md.

use std::sync::Mutex;

use crate::common::{closed, in_turn, largest_scale, one_in, product, random_4k, request, solid_state, workload};
use hotband_engine::Outcome;
use hotband_units::Bytes;

/// Rates and means.
const TOLERANCE: f64 = 0.1;

/// Figures that the model misses: docs/models/ssd.md says by how much, and why.
/// A figure that comes within the tolerance has to leave this list.
const MISSED: [(&str, &str); 2] = [("9550-max-6400", "mixed_70_qd256"), ("cm7-r-7680", "mixed_70_qd256")];

/// What a reference of the catalog is, and how it is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    Sequential {
        read_pct: u32,
    },
    Random {
        read_pct: u32,
        depth: u32,
    },
    Latency {
        read_pct: u32,
    },
    /// Sequential writes of a new drive, while its pseudo-SLC cache is half full.
    IntoCache,
    /// The same once it is full.
    PastCache,
}

impl Figure {
    /// Of a key of `[reference]`; none where it is not measured here.
    fn of(key: &str) -> Option<Self> {
        let depth = |from: &str| key.strip_prefix(from).and_then(|depth| depth.parse().ok());
        match key {
            "sequential_read" => Some(Self::Sequential { read_pct: 100 }),
            "sequential_write" => Some(Self::Sequential { read_pct: 0 }),
            "latency_read_qd1" => Some(Self::Latency { read_pct: 100 }),
            "latency_write_qd1" => Some(Self::Latency { read_pct: 0 }),
            "pslc_write" => Some(Self::IntoCache),
            "direct_write" => Some(Self::PastCache),
            _ => [("random_read_qd", 100), ("random_write_qd", 0), ("mixed_70_qd", 70)]
                .into_iter()
                .find_map(|(from, read_pct)| Some(Self::Random { read_pct, depth: depth(from)? })),
        }
    }

    /// Stream, depth, warm-up, measured time, and the key of the summary; random I/Os in a `range`.
    fn measured(
        self,
        (unit, range): (&str, &str),
        rate: f64,
        cache: f64,
    ) -> (String, u32, String, String, &'static str) {
        let ios = |count: f64| format!("ios = {}", count as u64);
        let random_4k = |read_pct| format!("{}\n{range}", random_4k(read_pct));
        let random = |read_pct| random_4k(read_pct).replace("4 KiB", unit);
        match self {
            Self::Sequential { read_pct } => {
                let stream = format!("read_pct = {read_pct}\nrandom_pct = 0\nsize = \"128 KiB\"");
                // Writes: the buffer fills, and blocks are collected that hold nothing any more.
                let seconds = if read_pct == 100 { 0.05 } else { 0.5 };
                let ios_a_second = rate / 131_072.0;
                (stream, 32, ios(ios_a_second * seconds), ios(ios_a_second * seconds), "bandwidth_bytes_per_s")
            }
            Self::IntoCache | Self::PastCache => {
                let stream = "read_pct = 0\nrandom_pct = 0\nsize = \"128 KiB\"".to_owned();
                let warm_up = if self == Self::IntoCache { 0.1 } else { 1.3 };
                let share = |of: f64| ios(cache / 131_072.0 * of);
                (stream, 32, share(warm_up), share(0.4), "bandwidth_bytes_per_s")
            }
            Self::Random { read_pct: 100, depth } => (random_4k(100), depth, ios(20e3), ios(150e3), "iops"),
            Self::Random { read_pct, depth } => (random(read_pct), depth, ios(rate), ios(rate * 2.0), "iops"),
            Self::Latency { read_pct } => (random_4k(read_pct), 1, ios(100.0), ios(2000.0), "latency_mean_ns"),
        }
    }
}

/// The number of a reference in its unit of the record: bytes or I/Os a second, nanoseconds.
fn number(text: &str) -> f64 {
    let (number, unit) = text.split_once(' ').expect("a number and its unit");
    let factor = match unit {
        "MB/s" => 1e6,
        "us" => 1e3,
        "IOPS" => 1.0,
        _ => panic!("unit {unit}"),
    };
    number.parse::<f64>().expect("a number") * factor
}

/// What a drive is written with before figures are measured on it, one after the other. Figures of one state are
/// sorted so that none changes what those after it find: reads, single writes, then streams.
fn state_of(figure: Figure) -> (&'static str, u32) {
    match figure {
        // One is measured while the cache of a new drive fills, the other past it: each on a drive of its own.
        Figure::IntoCache => ("", 0),
        Figure::PastCache => ("", 1),
        Figure::Random { read_pct, .. } if read_pct < 100 => ("[precondition]\nstate = \"preconditioned\"", 2),
        // Reads do not ask how often the drive was written.
        _ => ("[precondition]\nsequential = 1.0", 3),
    }
}

fn reads_first(figure: Figure) -> u32 {
    match figure {
        Figure::Random { read_pct, .. } | Figure::Latency { read_pct } => 100 - read_pct,
        Figure::Sequential { read_pct } => 200 - read_pct,
        Figure::IntoCache | Figure::PastCache => 0,
    }
}

/// A figure that a data sheet states.
struct Stated {
    key: String,
    figure: Figure,
    value: f64,
}

/// Measures figures of one state one after the other on one drive.
fn measure(name: &str, figures: &[Stated]) -> Vec<f64> {
    let product = product(name);
    let has = |key: &str| product.assumptions.iter().find(|value| value.key == key);
    let unit = has("mapping_unit").map_or("4 KiB", |value| value.value.as_str());
    let scale = largest_scale(&product);
    let size = |key| has(key).map_or(0.0, |value| value.value.parse::<Bytes>().expect("a size").0 as f64);
    let cache = (size("pslc_static") + size("pslc_dynamic")) / scale.parse::<f64>().expect("a count");
    // Data sheets of drives that hold a part of their mapping table speak of a range whose part they hold.
    let range = if product.has("map_memory") { "range = [\"0 %\", \"1 %\"]" } else { "" };
    let (mut requests, mut keys) = (Vec::new(), Vec::new());
    for Stated { figure, value, .. } in figures {
        let (stream, depth, warm_up, time, key) = figure.measured((unit, range), *value, cache);
        let state = if requests.is_empty() { state_of(*figure).0 } else { "" };
        let text = format!("{state}\n{}", workload(&stream, &closed(depth), &warm_up, &time));
        requests.push(request(name, &text, &[("scale", &scale)]));
        keys.push(key);
    }
    let found = |(outcome, key): (Outcome, &str)| {
        let record: serde_json::Value = serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON");
        record["summary"][key].as_f64().unwrap_or_else(|| panic!("{key} is a number"))
    };
    in_turn(requests).into_iter().zip(keys).map(found).collect()
}

/// One figure of one drive.
struct Row {
    drive: String,
    key: String,
    stated: f64,
    found: f64,
}

/// Figures of every drive, those of one state together.
fn asked() -> Vec<(String, Vec<Stated>)> {
    let mut asked: Vec<(String, Vec<Stated>)> = Vec::new();
    for drive in one_in(4, solid_state()) {
        let mut figures = Vec::new();
        for value in &product(&drive).assumptions {
            let figure = value.key.strip_prefix("reference.").and_then(|key| Some((key, Figure::of(key)?)));
            if let Some((key, figure)) = figure {
                figures.push(Stated { key: key.to_owned(), figure, value: number(&value.value) });
            }
        }
        figures.sort_by_key(|one| (state_of(one.figure).1, reads_first(one.figure)));
        let mut state = None;
        for one in figures {
            let own = state_of(one.figure);
            if state.replace(own) != Some(own) {
                asked.push((drive.clone(), Vec::new()));
            }
            asked.last_mut().expect("one was just added").1.push(one);
        }
    }
    asked
}

fn rows() -> Vec<Row> {
    let (next, rows) = (Mutex::new(asked().into_iter()), Mutex::new(Vec::new()));
    let work = || {
        while let Some((drive, figures)) = { next.lock().expect("no thread panics with it").next() } {
            for (Stated { key, value, .. }, found) in figures.iter().zip(measure(&drive, &figures)) {
                let row = Row { drive: drive.clone(), key: key.clone(), stated: *value, found };
                rows.lock().expect("no thread panics with it").push(row);
            }
        }
    };
    std::thread::scope(|threads| (0..2).for_each(|_| drop(threads.spawn(work))));
    let mut rows = rows.into_inner().expect("all threads are done");
    rows.sort_by(|one, two| (&one.drive, &one.key).cmp(&(&two.drive, &two.key)));
    rows
}

#[test]
fn every_drive_does_what_its_data_sheet_says() {
    let mut wrong = Vec::new();
    for Row { drive, key, stated, found } in rows() {
        let error = found / stated - 1.0;
        println!("{drive:<20} {key:<20} {found:>15.0} {stated:>15.0} {:+6.1} %", error * 100.0);
        let missed = MISSED.contains(&(drive.as_str(), key.as_str()));
        if (error.abs() < TOLERANCE) == missed {
            wrong.push(format!("{drive}, {key}: {found:.0} where {stated:.0} is stated ({:+.1} %)", error * 100.0));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_drive_states_reads_writes_and_bandwidth() {
    for drive in solid_state() {
        let product = product(&drive);
        let keys = product.assumptions.iter().filter_map(|value| value.key.strip_prefix("reference."));
        let keys: Vec<&str> = keys.collect();
        let has = |start: &str| keys.iter().any(|key| key.starts_with(start));
        let enterprise = ["sequential_read", "sequential_write", "random_read", "random_write"];
        let cached = ["sequential_read", "pslc_write", "random_read", "direct_write"];
        for start in if product.has("pslc_static") { cached } else { enterprise } {
            assert!(has(start), "{drive} has no {start} to be compared with: {keys:?}");
        }
    }
}
