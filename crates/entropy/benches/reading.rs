//! Does the measurement read as fast as its compressors compress? `cargo bench -p hotband-entropy`.
//!
//! The compressors alone, called with the same chunks from memory by as many threads, against the whole measurement of
//! the same data in files: walk, census, reading, sums. In turn, so that both see the same machine; the median of the
//! rounds counts. The files are in the page cache: what is measured is what the program adds, not the drive.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use hotband_entropy::{Ask, Control, EXTENT, Press, Sample, measure};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

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

/// 96 MB in files of 4 KB to 16 MB, and the same in memory in the pieces that are compressed at a time.
fn prepare(folder: &Path) -> Vec<Vec<u8>> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut pieces = Vec::new();
    for (count, len) in [(4, 16_000_000), (160, 150_000), (2000, 4_000)] {
        for file in 0..count {
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

fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pieces = prepare(folder.path());
    let megabytes = pieces.iter().map(Vec::len).sum::<usize>() as f64 / 1e6;
    println!("{megabytes:.0} MB in files in the page cache, {JOBS} threads, median of {ROUNDS} rounds");
    println!("{:<34} {:>12} {:>12} {:>8} {:>12}", "MB/s", "compressors", "hotband", "of them", "compressing");
    let asks = [
        ("lz4", "4 KiB"),
        ("lz4", "64 KiB"),
        ("zstd", "4 KiB"),
        ("deflate", "none"),
        ("deflate", "4 KiB"),
        ("lz4, zstd, deflate", "4 KiB"),
        ("lz4, zstd, deflate", "4 KiB, 8 KiB, 16 KiB, 32 KiB, 64 KiB"),
    ];
    for (compressors, chunks) in asks {
        let split = |text: &str| -> Vec<String> { text.split(", ").map(str::to_owned).collect() };
        let whole = Ask { sample: Sample::All, jobs: Some(JOBS), ..Ask::of(vec![folder.path().to_owned()]) };
        let ask = whole.compressors(&split(compressors)).and_then(|ask| ask.chunks(&split(chunks)));
        row(&format!("{compressors}; {chunks}"), &ask.expect("these exist"), &pieces, megabytes);
    }
}

fn row(name: &str, ask: &Ask, pieces: &[Vec<u8>], megabytes: f64) {
    let (mut alone, mut whole, mut ratio, mut share) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let next = AtomicUsize::new(0);
        let of_library = seconds(|| {
            thread::scope(|scope| {
                for _ in 0..JOBS {
                    scope.spawn(|| library(ask, pieces, &next));
                }
            });
        });
        let mut effort = None;
        let of_measurement = seconds(|| {
            effort = measure(ask, &Control::default()).expect("the folder is there").map(|measured| measured.effort);
        });
        let effort = effort.expect("nobody stops it");
        alone.push(megabytes / of_library);
        whole.push(megabytes / of_measurement);
        ratio.push(of_library / of_measurement);
        share.push(effort.compressing.as_secs_f64() / effort.measuring.as_secs_f64() / JOBS as f64);
    }
    let (alone, whole) = (median(alone), median(whole));
    let (ratio, share) = (100.0 * median(ratio), 100.0 * median(share));
    println!("{name:<34.34} {alone:>12.1} {whole:>12.1} {ratio:>6.1} % {share:>10.1} %");
}
