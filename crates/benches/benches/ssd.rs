//! Speed and memory of solid-state drives: preconditioning of a full-size drive, and timed I/O in steady state.
//!
//! `cargo bench -p hotband-benches --bench ssd [-- --quick]`. It prints and never fails: wall time depends on what else
//! runs, so the time that the thread was on a processor is given too (Linux; on a shared machine the honest number).
//! With `--quick` drives are 64 times smaller. A *flash page* is 4 KiB programmed, relocation included.
#![allow(missing_docs, reason = "a bench")]

use std::fs::read_to_string;
use std::time::Instant;

use hotband_drives::{Product, Ssd, SsdParams};
use hotband_engine::{Catalog, Control, Request, Run};
use hotband_machine::{Drive, Entropy, UntimedWrite};
use hotband_workloads::Random;

const CATALOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog");
const PAGE: u64 = 4096;

/// Wall and processor time, in seconds.
#[derive(Clone, Copy)]
struct Watch {
    wall: Instant,
    cpu: f64,
}

impl Watch {
    fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_seconds() }
    }

    fn read(self) -> (f64, f64) {
        let wall = self.wall.elapsed().as_secs_f64();
        let cpu = cpu_seconds() - self.cpu;
        (wall, if cpu > 0.0 { cpu } else { wall })
    }
}

/// Time that this thread was on a processor, from its scheduler statistics; zero where there are none.
fn cpu_seconds() -> f64 {
    let text = read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn new_drive(name: &str, scale: u64) -> Ssd {
    let path = format!("{CATALOG}/drives/{name}.toml");
    let text = read_to_string(&path).expect("the catalog has it");
    let product = Product::read(name, &path, &text).expect("the catalog is right");
    let set: toml::Table = format!("scale = {scale}").parse().expect("TOML");
    Ssd::new(SsdParams::read(&product, &set, "bench", "").expect("the catalog is right"))
}

fn report(what: &str, pages: u64, watch: Watch) {
    let (wall, cpu) = watch.read();
    let rate = |seconds: f64| pages as f64 / seconds / 1e6;
    println!("  {what:<34} {wall:>7.2} s wall {cpu:>7.2} s CPU  {:>6.1} / {:>6.1} M pages/s", rate(wall), rate(cpu));
}

/// Twice sequentially, then once at random.
fn precondition(name: &str, scale: u64, entropy: f64) {
    println!("{name}, 1/{scale} of its size, entropy {entropy}");
    let entropy = Entropy::of(entropy);
    let whole = Watch::start();
    let mut ssd = new_drive(name, scale);
    let capacity = ssd.capacity().0;
    let watch = Watch::start();
    for _ in 0..2 {
        for offset in (0..capacity).step_by(64 << 20) {
            let len = (capacity - offset).min(64 << 20) as u32;
            ssd.write_untimed(&[UntimedWrite { offset, len, entropy, trim: false }]);
        }
    }
    report("twice sequential, host pages", 2 * capacity / PAGE, watch);
    let mut random = Random::new(1, "bench");
    let before = ssd.smart().expect("an SSD");
    let watch = Watch::start();
    let pages = capacity / PAGE;
    let mut batch = Vec::with_capacity(4096);
    for first in (0..pages).step_by(4096) {
        batch.clear();
        let writes = (first..pages.min(first + 4096)).map(|_| random.below(pages) * PAGE);
        batch.extend(writes.map(|offset| UntimedWrite { offset, len: PAGE as u32, entropy, trim: false }));
        ssd.write_untimed(&batch);
    }
    let after = ssd.smart().expect("an SSD");
    report("once random, flash pages", (after.flash_bytes - before.flash_bytes) / PAGE, watch);
    let host = (after.host_bytes - before.host_bytes) as f64;
    let amplification = (after.flash_bytes - before.flash_bytes) as f64 / host;
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    let (wall, cpu) = whole.read();
    println!(
        "  all: {wall:.1} s wall, {cpu:.1} s CPU; write amplification {amplification:.3}; most memory so far {peak}"
    );
}

/// I/Os a second of wall and processor time, of what lies between a short and a long run.
fn timed(name: &str, scale: u64, read_pct: u32) {
    let catalog = Catalog::new(CATALOG);
    let mut seen = Vec::new();
    for ios in [100_000_u64, 3_100_000] {
        let text = format!(
            "[load]\nclosed = {{ threads = 1, depth = 32 }}\n[precondition]\nstate = \"preconditioned\"\n\
             [[streams]]\nread_pct = {read_pct}\nrandom_pct = 100\nsize = \"4 KiB\"\n\
             [[phases]]\nios = {ios}\nmeasure = true\n"
        );
        let request = Request {
            machine: name.to_owned(),
            workload: "bench".to_owned(),
            workload_text: Some(text),
            set: vec![("scale".to_owned(), scale.to_string())],
            seed: 1,
            ..Request::default()
        };
        let run = Run::new(&catalog, request).expect("it is right");
        let watch = Watch::start();
        let outcome = run.execute(&Control::default()).expect("it runs");
        seen.push((watch.read(), outcome.ios));
    }
    let ((short, few), (long, many)) = (seen[0], seen[1]);
    let ios = (many - few) as f64 / 1e6;
    let what = if read_pct == 100 { "reads" } else { "writes, steady state" };
    println!(
        "{name} 1/{scale}: 4 KiB random {what}, QD 32: {:.2} M I/Os/s wall, {:.2} M I/Os/s CPU",
        ios / (long.0 - short.0),
        ios / (long.1 - short.1)
    );
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    for (name, scale) in [("s4500-960", 64), ("nytro-1351-960", 64)] {
        timed(name, scale, 0);
        timed(name, scale, 100);
    }
    let scale = if quick { 64 } else { 1 };
    precondition("s4500-960", scale, 1.0);
    precondition("nytro-1351-960", scale, 0.37);
    precondition("nytro-1351-960", scale, 0.0126);
}
