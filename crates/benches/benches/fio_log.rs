//! How fast a fio log of every I/O is read, beside reading its bytes alone: `cargo bench -p hotband-benches --bench fio_log`.
//!
//! A generated log of 100 MB, in the page cache; the best of the rounds counts, both in turn.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use hotband_results::read_fio_log;

const BYTES: usize = 100_000_000;
const ROUNDS: usize = 7;

/// Lines of `write_lat_log` with `log_offset=1`: 4 KiB reads and writes, latencies from 50 us to 30 ms.
fn generate(file: &Path) {
    let mut text = String::with_capacity(BYTES + 64);
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut time_us = 0;
    while text.len() < BYTES {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = state >> 33;
        time_us += draw % 200;
        let latency = 50_000 + draw % 997 * (draw >> 10) % 30_000_000;
        let offset = (state >> 20) % (1 << 28) * 4096;
        writeln!(text, "{}, {latency}, {}, 4096, {offset}, 0", time_us / 1000, u64::from(draw % 10 > 6))
            .expect("text grows");
    }
    fs::write(file, text).expect("a temporary file is written");
}

fn plain_read(file: &Path) -> usize {
    let mut piece = vec![0; 512 * 1024];
    let mut source = File::open(file).expect("it was written");
    let mut bytes = 0;
    loop {
        match source.read(&mut piece).expect("it can be read") {
            0 => return bytes,
            read => bytes += read,
        }
    }
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("bench_lat.1.log");
    generate(&file);
    let size = fs::metadata(&file).expect("it was written").len() as f64;
    let (mut reading, mut parsing) = (f64::INFINITY, f64::INFINITY);
    let mut lines = 0;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        assert_eq!(plain_read(&file) as f64, size);
        reading = reading.min(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        lines = read_fio_log(File::open(&file).expect("it was written"), None).expect("it is a log").lines;
        parsing = parsing.min(begin.elapsed().as_secs_f64());
    }
    let rate = |seconds: f64| size / seconds / 1e6;
    println!(
        "fio log: {lines} lines, {:.0} MB/s ({:.1} M lines/s), {:.1} times as long as reading its bytes ({:.0} MB/s)",
        rate(parsing),
        lines as f64 / parsing / 1e6,
        parsing / reading,
        rate(reading)
    );
}
