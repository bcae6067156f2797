//! What the drives' caches cost: the same machine and workload with Advanced Write Cache and TurboBoost off and on.
//!
//! `cargo bench -p hotband-benches --bench caches [-- --quick]`. It prints and never fails: wall time depends on what
//! else runs. Ratios are of runs in turn, off and on, so that what disturbs one disturbs the other.
//!
//! Two costs are given. A *host I/O* is what the workload asks for; with caches the drives may do other work for it (a
//! read from flash moves no arm, a full write cache sorts 256 extents). A *device I/O* is a command that a drive
//! accepted (read, write or flush); what it does later of its own accord (destages, promotions) is part of that cost.

use std::time::Instant;

use hotband_engine::{Catalog, Control, Request, Run};
use serde_json::Value;

const MACHINE: &str = "raid10:24xexos-15e900-512e";

/// A workload, and what is switched off for the run without caches. (Both runs have `wce` on.)
struct Scenario {
    name: &'static str,
    workload: Workload,
    off: &'static [(&'static str, &'static str)],
}

enum Workload {
    /// 4 KiB at queue depth 64: share of reads, range, simulated minutes of warm-up, I/Os of the measured phase.
    Random { read_pct: u32, range: &'static str, warm_up: u32, ios: u64 },
    /// The hot band of the catalog with 16 threads: simulated minutes of warm-up and of the measured phase.
    HotBand { warm_up: u32, measured: u32 },
}

const BOTH: &[(&str, &str)] = &[("awc", "off"), ("turboboost", "off"), ("wce", "on")];
const FLASH: &[(&str, &str)] = &[("turboboost", "off")];
/// The catalog's value, so that both runs have it.
const ON: &[(&str, &str)] = &[("awc", "on"), ("turboboost", "on"), ("wce", "on")];

const SCENARIOS: [Scenario; 4] = [
    Scenario {
        name: "random write 4 KiB, QD 64",
        workload: Workload::Random { read_pct: 0, range: "100 %", warm_up: 1, ios: 1_000_000 },
        off: BOTH,
    },
    Scenario {
        name: "random 70:30 4 KiB, QD 64",
        workload: Workload::Random { read_pct: 70, range: "100 %", warm_up: 1, ios: 1_000_000 },
        off: BOTH,
    },
    Scenario {
        name: "hot random read 4 KiB (0.1 %), QD 64",
        workload: Workload::Random { read_pct: 100, range: "0.1 %", warm_up: 10, ios: 4_000_000 },
        off: FLASH,
    },
    Scenario { name: "SNIA hot band, 16 threads", workload: Workload::HotBand { warm_up: 10, measured: 5 }, off: BOTH },
];

/// Measured this many times; the median counts.
const RUNS: usize = 5;

impl Workload {
    fn text(&self, catalog: &Catalog, share: f64) -> String {
        match self {
            Self::Random { read_pct, range, warm_up, ios } => format!(
                "[load]\nclosed = {{ threads = 1, depth = 64 }}\n\
                 [[streams]]\nread_pct = {read_pct}\nrandom_pct = 100\nsize = \"4 KiB\"\nrange = [\"0 %\", \"{range}\"]\n\
                 [[phases]]\nname = \"warm-up\"\nduration = \"{warm_up} min\"\nuntil_warm = true\n\
                 [[phases]]\nios = {}\nmeasure = true\n",
                (*ios as f64 * share) as u64
            ),
            Self::HotBand { warm_up, measured } => {
                let text = catalog.workload("snia-emerald-hot-band", ("bench", "")).expect("the catalog has it");
                let streams = text.split("[[phases]]").next().expect("phases come last");
                // Streams take their threads from the phases: the loop has as many as the largest asks for.
                format!(
                    "{streams}[[phases]]\nname = \"conditioning\"\nduration = \"{warm_up} min\"\nthreads = 16\n\
                     [[phases]]\nduration = \"{:.0} s\"\nthreads = 16\nmeasure = true\n",
                    60.0 * f64::from(*measured) * share
                )
            }
        }
    }
}

/// Wall time of the whole run, warm-up included, in nanoseconds a host I/O and a device I/O, and host I/Os a second of
/// simulated time.
#[derive(Clone, Copy, Default)]
struct Cost {
    host: f64,
    device: f64,
    iops: f64,
}

impl Scenario {
    fn cost(&self, catalog: &Catalog, share: f64, set: &[(&str, &str)]) -> Cost {
        let request = Request {
            machine: MACHINE.to_owned(),
            workload: self.name.to_owned(),
            workload_text: Some(self.workload.text(catalog, share)),
            set: set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            seed: 1,
            ..Request::default()
        };
        let run = Run::new(catalog, request).expect("scenarios of the bench are valid");
        let began = Instant::now();
        let outcome = run.execute(&Control::default()).expect("nothing interrupts it");
        let nanos = began.elapsed().as_secs_f64() * 1e9;
        let record: Value = serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON");
        let parts = record["parts"].as_array().expect("a record has parts").iter();
        let commands =
            parts.flat_map(|part| ["reads", "writes", "flushes"].map(|name| part["counters"][name].as_f64()));
        // Counters cover the measured phase; warm-up is taken to have as many device I/Os for a host I/O.
        let per_host = commands.flatten().sum::<f64>() / record["summary"]["count"].as_f64().expect("a count");
        let host = nanos / outcome.ios as f64;
        Cost { host, device: host / per_host, iops: outcome.record.summary.all.iops }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    // Cargo passes `--bench`; anything else but `--quick` is a filter of other harnesses and ignored.
    let (share, runs) = if std::env::args().any(|arg| arg == "--quick") { (0.1, 1) } else { (1.0, RUNS) };
    let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
    println!("Wall time of {MACHINE} with caches off and on (medians); at most 2 x is hoped for");
    let (host, device) = ("ns a host I/O", "ns a device I/O");
    println!("{:<36} {host:>14} {:>8} {device:>16} {:>8}  simulated IOPS", "", "on/off", "on/off");
    for scenario in &SCENARIOS {
        let pairs = (0..runs).map(|_| [scenario.off, ON].map(|set| scenario.cost(&catalog, share, set)));
        let pairs: Vec<[Cost; 2]> = pairs.collect();
        let of = |value: &dyn Fn(&[Cost; 2]) -> f64| median(pairs.iter().map(value).collect());
        println!(
            "{:<36} {:>6.0} {:>7.0} {:>6.2} x {:>8.0} {:>7.0} {:>6.2} x  {:.0} {:.0}",
            scenario.name,
            of(&|pair| pair[0].host),
            of(&|pair| pair[1].host),
            of(&|pair| pair[1].host / pair[0].host),
            of(&|pair| pair[0].device),
            of(&|pair| pair[1].device),
            of(&|pair| pair[1].device / pair[0].device),
            pairs[0][0].iops,
            pairs[0][1].iops
        );
    }
}
