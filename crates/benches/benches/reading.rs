//! Does the measurement read as fast as its compressors compress? `cargo bench -p hotband-benches --bench reading`.
//!
//! The compressors alone, called with the same chunks from memory by as many threads, against the whole measurement of
//! the same data in files: walk, census, reading, sums. In turn, so that both see the same machine; the median of the
//! rounds counts. The files are in the page cache: what is measured is what the program adds, not the drive. On a machine
//! that others use too, wall time says little; "of their CPU" compares the processor time of both.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use hotband_entropy::{Ask, Control, EXTENT, Press, Sample, measure};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 7;
const JOBS: usize = 2;
const WINDOW: usize = 32 * 1024;

/// Words of a small vocabulary between runs of noise: compresses to about a third, as databases and documents do.
fn data(len: usize, generator: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut vocabulary = vec![0; 8 * 4096];
    generator.fill_bytes(&mut vocabulary);
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        let draw = generator.next_u64();
        if draw.is_multiple_of(8) {
            bytes.extend_from_slice(&draw.to_le_bytes());
        } else {
            let word = (draw >> 8) as usize % 512 * 8;
            bytes.extend_from_slice(&vocabulary[word..word + 8]);
        }
    }
    bytes.truncate(len);
    bytes
}

/// 30 MB times `scale` in files of 4 KB to 6 MB, and the same in memory in the pieces that are compressed at a time.
fn prepare(folder: &Path, scale: usize) -> Vec<Vec<u8>> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut pieces = Vec::new();
    for (count, len) in [(3, 6_000_000), (60, 150_000), (750, 4_000)] {
        for file in 0..count * scale {
            let bytes = data(len, &mut generator);
            fs::write(folder.join(format!("{len}-{file}")), &bytes).expect("a temporary file is written");
            pieces.extend(bytes.chunks(EXTENT as usize).map(<[u8]>::to_vec));
        }
    }
    pieces
}

/// Every call of the compressors that `ask` leads to, and nothing else.
fn library(ask: &Ask, pieces: &[Vec<u8>], next: &AtomicUsize) {
    let mut press = Press::default();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(piece) = pieces.get(index) else { return };
        if ask.archive() {
            let before = &pieces[index.saturating_sub(1)];
            press.archive(&before[before.len().saturating_sub(WINDOW)..], piece);
        }
        for &size in &ask.chunks {
            for &compressor in &ask.compressors {
                for chunk in piece.chunks(size as usize) {
                    std::hint::black_box(press.chunk(compressor, chunk));
                }
            }
        }
    }
}

/// Wall and processor time of `work`.
fn seconds(work: impl FnOnce()) -> [f64; 2] {
    let cpu = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let (begun, used) = (Instant::now(), cpu());
    work();
    [begun.elapsed().as_secs_f64(), cpu() - used]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    // cargo bench passes --bench; whatever else is given names the rows.
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!("MB/s from files in the page cache, {JOBS} threads, median of {ROUNDS} rounds");
    println!("{:<34} {:>12} {:>12} {:>8} {:>13}", "", "compressors", "hotband", "of them", "of their CPU");
    let fast: &[_] = &[("lz4", "4 KiB"), ("lz4", "64 KiB"), ("zstd", "4 KiB")];
    let slow: &[_] = &[
        ("deflate", "none"),
        ("deflate", "4 KiB"),
        ("lz4, zstd, deflate", "4 KiB"),
        ("lz4, zstd, deflate", "4 KiB, 8 KiB, 16 KiB, 32 KiB, 64 KiB"),
    ];
    for (asks, scale) in [(fast, 8), (slow, 1)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pieces = prepare(folder.path(), scale);
        for (compressors, chunks) in asks {
            let split = |text: &str| -> Vec<String> { text.split(", ").map(str::to_owned).collect() };
            let whole = Ask { sample: Sample::All, jobs: Some(JOBS), ..Ask::of(vec![folder.path().to_owned()]) };
            let ask = whole.compressors(&split(compressors)).and_then(|ask| ask.chunks(&split(chunks)));
            let name = format!("{compressors}; {chunks}");
            if only.as_ref().is_none_or(|only| name.contains(only)) {
                row(&name, &ask.expect("these exist"), &pieces);
            }
        }
    }
}

fn row(name: &str, ask: &Ask, pieces: &[Vec<u8>]) {
    let megabytes = pieces.iter().map(Vec::len).sum::<usize>() as f64 / 1e6;
    let (mut alone, mut whole, mut ratio, mut share) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let next = AtomicUsize::new(0);
        let [library_wall, library_cpu] = seconds(|| {
            thread::scope(|scope| {
                for _ in 0..JOBS {
                    scope.spawn(|| library(ask, pieces, &next));
                }
            });
        });
        let [wall, cpu] = seconds(|| {
            let measured = measure(ask, &Control::default()).expect("the folder is there");
            assert_eq!(measured.expect("nobody stops it").unreadable.count, 0);
        });
        alone.push(megabytes / library_wall);
        whole.push(megabytes / wall);
        ratio.push(100.0 * library_wall / wall);
        share.push(100.0 * library_cpu / cpu);
    }
    let [alone, whole, ratio, share] = [alone, whole, ratio, share].map(median);
    println!("{name:<34.34} {alone:>12.1} {whole:>12.1} {ratio:>6.1} % {share:>11.1} %");
}
