//! What an app costs: block I/Os a second of wall time through it, above a device that answers everything after 100 us
//! and costs next to nothing.
//!
//! Building it includes the warming of its cache.
//!
//! `cargo bench -p hotband-benches --bench apps [-- --quick]`. It prints and never fails: wall time depends on what else runs.

use std::collections::VecDeque;
use std::time;

use hotband_engine::Catalog;
use hotband_units::{Instant, Span};
use hotband_workloads::{App, AppVolume, Workload};

const WORKLOADS: [&str; 4] = ["ycsb-a", "ycsb-b", "ycsb-e", "ycsb-a-large"];
const LATENCY: Span = Span(100_000);

fn main() {
    let ios = if std::env::args().any(|argument| argument == "--quick") { 500_000 } else { 5_000_000 };
    let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
    for name in WORKLOADS {
        let text = catalog.workload(name, ("WORKLOAD", "")).expect("it is in the catalog");
        let workload = Workload::read(name, &text).expect("it is valid");
        let spec = workload.app.as_ref().expect("it is an app");
        let volume = AppVolume { target: 0, capacity: 960_000_000_000, block: 512 };
        let begin = time::Instant::now();
        let volumes = vec![volume; spec.streams().len()];
        let mut app = spec.build(&volumes, workload.data_of_app(), 1).expect("it fits");
        app.start(Instant::ZERO);
        let built = begin.elapsed().as_secs_f64();
        let begin = time::Instant::now();
        let operations = drive(app.as_mut(), ios);
        let wall = begin.elapsed().as_secs_f64();
        println!(
            "{name:14} {:9.0} I/Os/s  {:9.0} operations/s  built in {built:.2} s",
            ios as f64 / wall,
            operations as f64 / wall
        );
    }
}

/// Runs until so many I/Os are done; returns the operations that ended.
fn drive(app: &mut dyn App, ios: u64) -> u64 {
    let (mut under_way, mut ended) = (VecDeque::new(), Vec::new());
    let (mut now, mut done, mut operations) = (Instant::ZERO, 0, 0);
    while done < ios {
        while let Some(io) = app.next_io() {
            // One latency for all: they end in the order in which they were asked.
            under_way.push_back((now + LATENCY, io.token));
        }
        app.take_ended(&mut ended);
        operations += ended.len() as u64;
        ended.clear();
        let own = app.next_time().unwrap_or(Instant::NEVER);
        match under_way.front().copied() {
            Some((at, token)) if at <= own => {
                under_way.pop_front();
                now = at;
                done += 1;
                app.completed(now, token);
            }
            _ => {
                now = own;
                app.advance(now);
            }
        }
    }
    operations
}
