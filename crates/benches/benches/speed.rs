//! How fast whole runs are: simulated I/Os a second of wall time, recorder and series included.
//!
//! `cargo bench -p hotband-benches --bench speed [-- --quick]`. It prints and never fails: wall time depends on what else runs.

use std::hint::black_box;
use std::time::Instant;

use hotband_engine::{Catalog, Control, Request, Run};

const DISK: &str = "exos-15e900-512n";
const ARRAY: &str = "raid10:24xexos-15e900-512n";
const PARITY: &str = "raid5:6xexos-15e900-512n";

/// A machine, a workload on it, and what is hoped for.
struct Scenario {
    name: &'static str,
    machine: &'static str,
    depth: u32,
    read_pct: u32,
    random_pct: u32,
    size: &'static str,
    /// I/Os of the measured phase: about a second and a half of wall time on one core of 2023.
    ios: u64,
    /// Millions of I/Os a second; none where no target was set.
    target: Option<f64>,
}

const RANDOM_4K: Scenario = Scenario {
    name: "",
    machine: DISK,
    depth: 1,
    read_pct: 100,
    random_pct: 100,
    size: "4 KiB",
    ios: 3_000_000,
    target: None,
};

const SCENARIOS: [Scenario; 7] = [
    Scenario { name: "1 disk, 4 KiB random read, QD 1", ios: 8_000_000, target: Some(5.0), ..RANDOM_4K },
    Scenario { name: "1 disk, 4 KiB random read, QD 32", depth: 32, target: Some(1.5), ..RANDOM_4K },
    Scenario { name: "1 disk, 128 KiB sequential read, QD 16", depth: 16, random_pct: 0, size: "128 KiB", ..RANDOM_4K },
    Scenario { name: "RAID 10 of 24, random read, QD 64", machine: ARRAY, depth: 64, target: Some(1.5), ..RANDOM_4K },
    Scenario { name: "RAID 10 of 24, random 70:30, QD 64", machine: ARRAY, depth: 64, read_pct: 70, ..RANDOM_4K },
    Scenario { name: "RAID 10 of 24, random write, QD 64", machine: ARRAY, depth: 64, read_pct: 0, ..RANDOM_4K },
    Scenario {
        name: "RAID 5 of 6, random write, QD 16",
        machine: PARITY,
        depth: 16,
        read_pct: 0,
        ios: 1_000_000,
        ..RANDOM_4K
    },
];

/// Measured this many times; the median counts.
const RUNS: usize = 5;

impl Scenario {
    fn workload(&self, share: f64) -> String {
        let Self { depth, read_pct, random_pct, size, .. } = self;
        // The run begins when the queue is in its steady state; warm-up is part of the wall time and of the count.
        let (warm, measured) = ((self.ios as f64 * share * 0.02) as u64, (self.ios as f64 * share) as u64);
        format!(
            "[load]\nclosed = {{ threads = 1, depth = {depth} }}\n\
             [[streams]]\nread_pct = {read_pct}\nrandom_pct = {random_pct}\nsize = \"{size}\"\n\
             [[phases]]\nname = \"warm-up\"\nios = {warm}\n[[phases]]\nios = {measured}\nmeasure = true\n"
        )
    }

    fn run(&self, catalog: &Catalog, share: f64, seed: u64) -> Run {
        let request = Request {
            machine: self.machine.to_owned(),
            workload: self.name.to_owned(),
            workload_text: Some(self.workload(share)),
            seed,
            ..Request::default()
        };
        Run::new(catalog, request).expect("scenarios of the bench are valid")
    }

    /// I/Os a second of wall time, building the machine excluded.
    fn rate(&self, catalog: &Catalog, share: f64) -> f64 {
        let run = self.run(catalog, share, 1);
        let began = Instant::now();
        let outcome = run.execute(&Control::default()).expect("nothing interrupts it");
        outcome.ios as f64 / began.elapsed().as_secs_f64()
    }
}

/// Median and best. On a shared machine the median is what one gets, the best what the code can do.
fn median_and_best(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[values.len() - 1])
}

/// How much sooner two independent runs end on two threads than one after the other.
fn gain_of_two_threads(catalog: &Catalog, share: f64) -> (f64, f64) {
    let pair = || [1, 2].map(|seed| SCENARIOS[1].run(catalog, share, seed));
    let execute = |run: Run| run.execute(&Control::default()).expect("nothing interrupts it").ios;
    let rates = (0..RUNS).map(|_| {
        let (one_by_one, together) = (pair(), pair());
        let began = Instant::now();
        black_box(one_by_one.map(execute));
        let alone = began.elapsed();
        let began = Instant::now();
        std::thread::scope(|scope| {
            for run in together {
                scope.spawn(move || black_box(execute(run)));
            }
        });
        (1.0 / alone.as_secs_f64(), 1.0 / began.elapsed().as_secs_f64())
    });
    let (alone, together): (Vec<f64>, Vec<f64>) = rates.unzip();
    // Each arrangement by itself, so that a disturbance of one round does not make a ratio.
    let (alone, together) = (median_and_best(alone), median_and_best(together));
    (together.0 / alone.0, together.1 / alone.1)
}

fn main() {
    // Cargo passes `--bench`; anything else but `--quick` is a filter of other harnesses and ignored.
    let share = if std::env::args().any(|arg| arg == "--quick") { 0.1 } else { 1.0 };
    let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
    println!("{:<42} {:>10} {:>10} {:>10}", "simulated I/Os a second of wall time", "median", "best", "target");
    for scenario in &SCENARIOS {
        let (median, best) = median_and_best((0..RUNS).map(|_| scenario.rate(&catalog, share)).collect());
        let target = scenario.target.map_or_else(|| "-".to_owned(), |target| format!("{target:.1} M"));
        println!("{:<42} {:>8.2} M {:>8.2} M {target:>10}", scenario.name, median / 1e6, best / 1e6);
    }
    let (median, best) = gain_of_two_threads(&catalog, share / 2.0);
    println!("{:<42} {median:>8.2} x {best:>8.2} x {:>10}", "2 runs on 2 threads, against in turn", "1.8 x");
}
