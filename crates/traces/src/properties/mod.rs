//! Properties of a trace: how much it reads, in which sizes, how fast and how evenly, where, and how soon again.
//!
//! One pass over I/Os in order of issue, a property a file, each in memory that does not grow with the trace: series
//! over time double their width, what is counted by block ([`sample`]) is of a spatial sample of bounded size, and
//! exact while all blocks fit into it. Definitions and sources: docs/guides/traces.md.
//!
//! Leaves out: trims and flushes touch no blocks here, though a trim frees some; what a cache in front of the recording
//! kept from it.

mod depth;
mod directions;
mod figures;
mod jumps;
mod latency;
mod order;
mod popularity;
mod quantiles;
mod rate;
mod reuse;
mod rewrites;
mod runs;
mod sample;
mod straight;
mod working_set;

use std::path::Path;

use hotband_machine::Op;
use hotband_workloads::{TraceError, TraceFile, TraceHead, TraceIo};
use rustc_hash::FxHashMap;

pub use figures::*;
pub(crate) use straight::{Late, Straight};

/// Largest transfer that is counted block by block: the kernel's longest is below (`max_sectors_kb`), NVMe's too.
const LONGEST: u64 = 1 << 30;
/// Bits of a block's number; above them is the device.
const BLOCK_BITS: u32 = 48;

/// Options of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Bytes of a block of the address space.
    pub block: u64,
    /// Most blocks that are followed, a power of two or not.
    pub sample: usize,
}

/// Reads rows once and says what they are like. `watch` is called now and then.
///
/// # Errors
/// The rows cannot be read; whatever `watch` says.
pub fn properties_of(
    rows: &Path,
    asked: Asked,
    watch: impl Fn() -> std::io::Result<()>,
) -> Result<Properties, TraceError> {
    let mut file = TraceFile::open(rows)?;
    let mut analysis = Analysis::new(asked);
    let mut devices = Devices::default();
    let head = file.head().clone();
    let numbers: Vec<u32> = (0..head.streams.len()).map(|stream| devices.number(&head, stream)).collect();
    let mut read = 0_u64;
    while let Some(io) = file.next_io()? {
        analysis.io(&io, numbers[usize::from(io.stream)]);
        read += 1;
        if read.is_multiple_of(1 << 16) {
            watch()?;
        }
    }
    Ok(analysis.finish(devices.names, head.notes))
}

/// Devices of streams: several processes may use one.
#[derive(Default)]
struct Devices {
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl Devices {
    fn number(&mut self, head: &TraceHead, stream: usize) -> u32 {
        let name = head.streams[stream].volume.clone().unwrap_or_default();
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }
}

/// All properties on their way.
#[derive(Debug)]
struct Analysis {
    block: u64,
    begin: Option<u64>,
    last: u64,
    directions: directions::Directions,
    rate: rate::Rate,
    runs: runs::Runs,
    jumps: jumps::Jumps,
    sample: sample::Sample,
    reuse: reuse::Reuse,
    working_set: working_set::WorkingSet,
    rewrites: rewrites::Rewrites,
    latency: latency::Latencies,
    depth: depth::Depth,
    /// I/Os longer than [`LONGEST`].
    long: u64,
}

impl Analysis {
    fn new(options: Asked) -> Self {
        Self {
            block: options.block,
            begin: None,
            last: 0,
            directions: directions::Directions::default(),
            rate: rate::Rate::default(),
            runs: runs::Runs::default(),
            jumps: jumps::Jumps::default(),
            sample: sample::Sample::new(options.sample),
            reuse: reuse::Reuse::default(),
            working_set: working_set::WorkingSet::default(),
            rewrites: rewrites::Rewrites::default(),
            latency: latency::Latencies::default(),
            depth: depth::Depth::default(),
            long: 0,
        }
    }

    /// The next I/O in order of issue, of a device.
    fn io(&mut self, io: &TraceIo, device: u32) {
        let now = io.issue.0 - *self.begin.get_or_insert(io.issue.0);
        self.last = now;
        self.directions.io(io, device);
        self.rate.io(now, io.op, io.len);
        self.latency.io(io);
        self.depth.io(now, io.latency.map(|latency| latency.0));
        if matches!(io.op, Op::Read | Op::Write) && io.len > 0 {
            let is_continuing = self.runs.io(device, io.op, io.offset, io.len);
            self.jumps.io(device, io.offset, io.len, is_continuing);
            self.blocks(io, device, now);
        }
    }

    /// Every block of a transfer.
    fn blocks(&mut self, io: &TraceIo, device: u32, now: u64) {
        self.long += u64::from(io.len > LONGEST);
        let first = io.offset / self.block;
        let last = (io.offset + io.len.min(LONGEST) - 1) / self.block;
        let device = u64::from(device) << BLOCK_BITS;
        let is_write = io.op == Op::Write;
        self.reuse.accesses(is_write, last - first + 1);
        for block in first..=last {
            let hash = sample::hash(block ^ device);
            if !self.sample.takes(hash) {
                continue;
            }
            let before = self.sample.touch(hash, now, is_write);
            let weight = self.sample.weight();
            self.reuse.access(hash, is_write, before.as_ref(), weight);
            self.working_set.access(now, before.as_ref(), weight);
            self.rewrites.access(now, is_write, before.as_ref(), weight);
        }
    }

    fn finish(self, devices: Vec<String>, mut notes: Vec<String>) -> Properties {
        if self.long > 0 {
            notes.push(format!(
                "{} transfers are longer than 1 GiB: only the first GiB of each was examined",
                self.long
            ));
        }
        let (is_exact, block) = (self.sample.is_exact(), self.block);
        let accesses = self.reuse.total();
        Properties {
            ios: self.directions.total(),
            span_ns: self.last,
            block_bytes: block,
            sample_blocks: self.sample.len() as u64,
            sample_rate: self.sample.rate(),
            is_exact,
            devices: self.directions.devices(devices),
            footprint: self.sample.footprint(block),
            popularity: popularity::popularity(&self.sample, accesses),
            working_set: self.working_set.finish(&self.sample, self.last, block),
            directions: self.directions.finish(),
            time: self.rate.finish(self.last),
            runs: self.runs.finish(),
            jumps: self.jumps.finish(),
            reuse: self.reuse.finish(&self.sample, block),
            rewrites: self.rewrites.finish(accesses),
            latency: self.latency.finish(),
            depth: self.depth.finish(self.last),
            notes,
        }
    }
}

#[cfg(test)]
mod tests;
