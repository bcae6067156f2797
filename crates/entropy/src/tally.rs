//! Sums over what was compressed. All are whole numbers, so that their order, and with it the number of
//! threads, does not matter.

use crate::ask::Ask;
use crate::compress::{Compressor, Press};
use crate::interval::{Pair, Sums};
use crate::source::Item;

/// Bins of a histogram: ratios from 0 to 1 in steps of 0.01; the last holds incompressible chunks too.
pub const BINS: usize = 100;

/// Chunks of one size with one compressor.
#[derive(Clone, Debug)]
pub struct ChunkTally {
    /// Size of the chunks.
    pub size: u64,
    /// Compressor used.
    pub compressor: Compressor,
    /// Items: bytes before and after.
    pub sums: Sums,
    /// Chunks by their ratio.
    pub chunks: [u64; BINS],
    /// Bytes by the ratio of their chunk.
    pub bytes: [u64; BINS],
}

impl ChunkTally {
    /// Compresses every chunk of an item.
    fn add(&mut self, press: &mut Press, item: &Item) {
        let mut pair = Pair::default();
        for chunk in item.chunks(self.size) {
            let (before, after) = (chunk.len() as u64, press.chunk(self.compressor, chunk));
            let bin = (after * BINS as u64 / before).min(BINS as u64 - 1) as usize;
            self.chunks[bin] += 1;
            self.bytes[bin] += before;
            pair.before += before;
            pair.after += after;
        }
        self.sums.add(pair);
    }

    fn join(&mut self, other: &Self) {
        self.sums.join(&other.sums);
        for (mine, others) in [(&mut self.chunks, &other.chunks), (&mut self.bytes, &other.bytes)] {
            for (mine, other) in mine.iter_mut().zip(others) {
                *mine += other;
            }
        }
    }
}

/// Everything that was requested.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The archive, if it was requested.
    pub archive: Option<Sums>,
    /// Chunks, by size and compressor.
    pub chunks: Vec<ChunkTally>,
    /// Items measured.
    pub items: u64,
    /// Their data.
    pub bytes: u64,
}

impl Tally {
    /// Create an empty tally for the request.
    pub fn new(ask: &Ask) -> Self {
        let pairs =
            ask.chunks.iter().flat_map(|&size| ask.compressors.iter().map(move |&compressor| (size, compressor)));
        let chunks = pairs.map(|(size, compressor)| ChunkTally {
            size,
            compressor,
            sums: Sums::default(),
            chunks: [0; BINS],
            bytes: [0; BINS],
        });
        Self { archive: ask.archive().then(Sums::default), chunks: chunks.collect(), items: 0, bytes: 0 }
    }

    /// Compresses an item in every requested way.
    pub fn add(&mut self, press: &mut Press, item: &Item) {
        let before = item.data().len() as u64;
        if let Some(sums) = &mut self.archive {
            sums.add(Pair { before, after: press.archive(item.lead(), item.data()) });
        }
        for tally in &mut self.chunks {
            tally.add(press, item);
        }
        self.items += 1;
        self.bytes += before;
    }

    /// Adds the results of another thread.
    pub fn join(&mut self, other: &Self) {
        if let (Some(mine), Some(other)) = (&mut self.archive, &other.archive) {
            mine.join(other);
        }
        for (mine, other) in self.chunks.iter_mut().zip(&other.chunks) {
            mine.join(other);
        }
        self.items += other.items;
        self.bytes += other.bytes;
    }
}
