//! The report as JSON: the same for the same tree and seed, whatever the number of threads.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::ask::{Ask, Sample};
use crate::extents::EXTENT;
use crate::interval::{Sums, estimate};
use crate::measure::Measured;
use crate::source::Skipped;

/// A ratio with its interval; null if there was no data.
#[derive(Clone, Debug, Serialize)]
struct Entropy {
    entropy: Option<f64>,
    interval: Option<[f64; 2]>,
}

/// Chunks of one size with one compressor.
#[derive(Clone, Debug, Serialize)]
struct Chunks {
    size: u64,
    compressor: &'static str,
    mean: Option<f64>,
    interval: Option<[f64; 2]>,
    histogram: Vec<u64>,
    histogram_bytes: Vec<u64>,
}

/// Sampling method.
#[derive(Clone, Debug, Serialize)]
struct Drawn {
    asked_bytes: u64,
    extent_bytes: u64,
    extents: u64,
    extents_chosen: u64,
    extents_read: u64,
    confidence: f64,
    seed: String,
}

/// Output of `hotband entropy --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    schema_version: u32,
    paths: Vec<String>,
    files: u64,
    bytes: u64,
    bytes_read: u64,
    unreadable: u64,
    unreadable_examples: Vec<String>,
    changed: u64,
    skipped: Skipped,
    links_forgotten: u64,
    interrupted: bool,
    sample: Option<Drawn>,
    compressors: BTreeMap<&'static str, &'static str>,
    archive: BTreeMap<&'static str, Entropy>,
    chunks: Vec<Chunks>,
}

impl Report {
    /// Return the report of a measurement.
    pub fn new(ask: &Ask, measured: &Measured) -> Self {
        let Measured { census, plan, tally, unreadable, .. } = measured;
        let reached = if measured.interrupted { tally.items as f64 / plan.chosen as f64 } else { 1.0 };
        let split = |sums: &Sums| {
            // Items whose data could not be read at all are no part of the population either.
            let items = if plan.whole() && !measured.interrupted { 0 } else { plan.items };
            estimate(sums, items, reached).unzip()
        };
        let archive = tally.archive.iter().map(|sums| {
            let (entropy, interval) = split(sums);
            ("deflate", Entropy { entropy, interval })
        });
        let chunks = tally.chunks.iter().map(|chunk| {
            let (mean, interval) = split(&chunk.sums);
            let (histogram, histogram_bytes) = (chunk.chunks.to_vec(), chunk.bytes.to_vec());
            Chunks { size: chunk.size, compressor: chunk.compressor.name(), mean, interval, histogram, histogram_bytes }
        });
        let drawn = match ask.sample {
            Sample::Of(asked) if !plan.whole() => Some(Drawn {
                asked_bytes: asked.0,
                extent_bytes: EXTENT,
                extents: plan.items,
                extents_chosen: plan.chosen,
                extents_read: tally.items,
                confidence: 0.95,
                seed: ask.seed.to_string(),
            }),
            _ => None,
        };
        Self {
            schema: "hotband-entropy",
            schema_version: 1,
            paths: ask.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            files: census.files,
            bytes: census.bytes,
            bytes_read: tally.bytes,
            unreadable: unreadable.count,
            unreadable_examples: unreadable.examples.clone(),
            changed: measured.changed,
            skipped: census.skipped.clone(),
            links_forgotten: census.links_forgotten,
            interrupted: measured.interrupted,
            sample: drawn,
            compressors: ask.compressors.iter().map(|compressor| (compressor.name(), compressor.settings())).collect(),
            archive: archive.collect(),
            chunks: chunks.collect(),
        }
    }

    /// Return the report as JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and text are JSON")
    }
}
