//! Properties of a trace, as Python reads them. By default, shares are fractions, times are in ns, and sizes in bytes.

use serde::Serialize;

/// All properties of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct Properties {
    /// I/Os.
    pub ios: u64,
    /// Time from the first I/O to the last.
    pub span_ns: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Blocks that were followed to the end.
    pub sample_blocks: u64,
    /// Share of blocks that are followed.
    pub sample_rate: f64,
    /// Whether all are.
    pub is_exact: bool,
    /// Devices, in descending order of I/Os.
    pub devices: Vec<Device>,
    /// Directions that occur.
    pub directions: Vec<Direction>,
    /// Rate, and how even it is.
    pub time: Time,
    /// Sequentiality.
    pub runs: Runs,
    /// Distances.
    pub jumps: Jumps,
    /// Footprint.
    pub footprint: Footprint,
    /// Working set.
    pub working_set: WorkingSet,
    /// Popularity of blocks.
    pub popularity: Popularity,
    /// Reuse distances and the misses of a cache.
    pub reuse: Reuse,
    /// Reads of written blocks, and overwrites.
    pub rewrites: Rewrites,
    /// Measured latencies, if there are any.
    pub latency: Vec<Latency>,
    /// I/Os in flight, if there are latencies.
    pub depth: Option<Depth>,
    /// Notes on it.
    pub notes: Vec<String>,
}

/// A device of the trace; empty name if it has none.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Number of I/Os.
    pub ios: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Its last accessed byte, plus one.
    pub end_bytes: u64,
}

/// I/Os of one direction.
#[expect(clippy::struct_field_names, reason = "the name of the column in every table of ours")]
#[derive(Clone, Debug, Serialize)]
pub struct Direction {
    /// "read", "write", "flush", "trim".
    pub direction: &'static str,
    /// I/Os.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Number of writes with force unit access.
    pub fua: u64,
    /// Failed when they were recorded.
    pub failed: u64,
    /// Quantiles of their sizes.
    pub size: Quantiles,
    /// The most frequent sizes, in their order.
    pub sizes: Vec<Size>,
    /// Number of I/Os of other sizes.
    pub other_ios: u64,
    /// Bytes of the I/Os of other sizes.
    pub other_bytes: u64,
}

/// I/Os of one size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Size {
    /// The size.
    pub bytes: u64,
    /// Number of I/Os.
    pub ios: u64,
}

/// Quantiles of many values; empty without values.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Quantiles {
    /// Number of values; an estimate if blocks are sampled.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The smallest.
    pub min: u64,
    /// A tenth is at most this.
    pub p10: u64,
    /// A quarter.
    pub p25: u64,
    /// Half.
    pub p50: u64,
    /// Three quarters.
    pub p75: u64,
    /// Nine tenths.
    pub p90: u64,
    /// 99 of 100.
    pub p99: u64,
    /// 999 of 1000.
    pub p999: u64,
    /// The largest.
    pub max: u64,
}

/// Time when I/Os are requested.
#[derive(Clone, Debug, Serialize)]
pub struct Time {
    /// Width of an interval of the series.
    pub interval_ns: u64,
    /// I/Os of each.
    pub reads: Vec<u64>,
    /// Writes of each.
    pub writes: Vec<u64>,
    /// Flushes and trims of each.
    pub others: Vec<u64>,
    /// Bytes read in each.
    pub read_bytes: Vec<u64>,
    /// Bytes written in each.
    pub written_bytes: Vec<u64>,
    /// Times from one I/O to the next.
    pub gap_ns: Quantiles,
    /// Squared coefficient of variation of the gaps: 1 for a Poisson process.
    pub gap_scv: Option<f64>,
    /// Dispersion by width of the window.
    pub dispersion: Vec<Dispersion>,
}

/// Index of dispersion of counts: variance over mean of the I/Os in a window; 1 for a Poisson process at every width
/// (Cox & Lewis, 1966).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Dispersion {
    /// Width of a window.
    pub window_ns: u64,
    /// Number of whole windows in the trace.
    pub windows: u64,
    /// I/Os in one, on average.
    pub mean: f64,
    /// Variance over mean.
    pub index: f64,
    /// Its standard error, as if windows were independent and normal.
    pub error: f64,
}

/// Sequentiality.
#[derive(Clone, Debug, Serialize)]
pub struct Runs {
    /// Reads and writes.
    pub ios: u64,
    /// Share that begins where the previous one on its device ends.
    pub continuing: f64,
    /// Share of the reads.
    pub reads_continuing: f64,
    /// Share of the writes.
    pub writes_continuing: f64,
    /// Runs of I/Os that continue one another.
    pub strict: RunLengths,
    /// Share that begins where one of the last [`Runs::heads`] runs on its device ends.
    pub in_streams: f64,
    /// Share of the reads.
    pub reads_in_streams: f64,
    /// Share of the writes.
    pub writes_in_streams: f64,
    /// Runs that may be mixed with others.
    pub streams: RunLengths,
    /// Runs of a device that are open at once.
    pub heads: u64,
}

/// Runs.
#[derive(Clone, Debug, Serialize)]
pub struct RunLengths {
    /// I/Os of a run.
    pub ios: Quantiles,
    /// Bytes of a run.
    pub bytes: Quantiles,
    /// Runs by length.
    pub lengths: Vec<RunClass>,
}

/// Runs of `from` to `to` I/Os.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RunClass {
    /// Fewest I/Os.
    pub from: u64,
    /// Most I/Os.
    pub to: u64,
    /// Runs.
    pub runs: u64,
    /// I/Os in them.
    pub ios: u64,
}

/// Distances from the end of an I/O to the beginning of the next on its device.
#[derive(Clone, Debug, Serialize)]
pub struct Jumps {
    /// I/Os with one before on their device.
    pub count: u64,
    /// Share without a distance.
    pub none: f64,
    /// Share with one of at most 1 MiB.
    pub near: f64,
    /// Share towards lower addresses.
    pub backward: f64,
    /// Distances that are not zero, in either direction.
    pub distance: Quantiles,
    /// Jumps by distance.
    pub classes: Vec<JumpClass>,
}

/// Jumps of `from` to below twice `from`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct JumpClass {
    /// Least distance.
    pub from: u64,
    /// Towards higher addresses.
    pub forward: u64,
    /// Towards lower ones.
    pub backward: u64,
}

/// Footprint.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Footprint {
    /// Read or written.
    pub bytes: u64,
    /// Read.
    pub read_bytes: u64,
    /// Written.
    pub written_bytes: u64,
    /// Both.
    pub both_bytes: u64,
    /// Standard error of `bytes`; zero if all blocks were followed.
    pub error_bytes: f64,
}

/// Working set.
#[derive(Clone, Debug, Serialize)]
pub struct WorkingSet {
    /// Width of an interval of the series.
    pub interval_ns: u64,
    /// Different bytes touched in each.
    pub bytes: Vec<u64>,
    /// Different bytes touched since the beginning, at the end of each.
    pub so_far_bytes: Vec<u64>,
    /// On average over a window of this width before any moment (Denning, 1968).
    pub windows: Vec<Window>,
}

/// Working set of a window.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Window {
    /// Its width.
    pub window_ns: u64,
    /// Different bytes in it, on average.
    pub bytes: f64,
}

/// Popularity of blocks.
#[derive(Clone, Debug, Serialize)]
pub struct Popularity {
    /// Blocks of the sample by how often each was touched.
    pub counts: Vec<CountClass>,
    /// Share of accesses that go to the most popular share of the blocks.
    pub top: Vec<Top>,
}

/// Blocks that were touched `from` to `to` times.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CountClass {
    /// Fewest times.
    pub from: u64,
    /// Most times.
    pub to: u64,
    /// Blocks of the sample.
    pub blocks: u64,
}

/// Share of accesses to the most popular blocks.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Top {
    /// Share of the blocks that are touched.
    pub blocks: f64,
    /// Share of accesses.
    pub accesses: f64,
}

/// Reuse distances: different bytes touched since a block was.
#[derive(Clone, Debug, Serialize)]
pub struct Reuse {
    /// Blocks touched, each time.
    pub accesses: u64,
    /// Part of them that are reads.
    pub reads: u64,
    /// Share that touches a block for the first time.
    pub first: f64,
    /// Distances of the others.
    pub distance_bytes: Quantiles,
    /// Miss curve of an LRU cache, by its size.
    pub curve: Curve,
}

/// Miss ratios of an LRU cache of blocks that keeps reads and writes: the first point is no cache at all, the last one
/// in which everything fits. Between points it is straight.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Curve {
    /// Sizes of the cache.
    pub cache_bytes: Vec<u64>,
    /// Miss ratio of all accesses.
    pub miss_ratio: Vec<f64>,
    /// Miss ratio of reads.
    pub read_miss_ratio: Vec<f64>,
    /// Standard error of `miss_ratio`; zero if all blocks were followed.
    pub error: Vec<f64>,
}

/// Reads of written blocks, and overwrites.
#[derive(Clone, Debug, Serialize)]
pub struct Rewrites {
    /// Share of reads (by block) whose block was written and not touched since.
    pub read_after_write: f64,
    /// Time from that write.
    pub read_after_write_ns: Quantiles,
    /// Share of writes (by block) whose block had been written before.
    pub overwrite: f64,
    /// Time from that write, whatever was read between.
    pub overwrite_ns: Quantiles,
}

/// Measured latencies of a direction.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    /// "read", "write", "flush", "trim".
    pub direction: &'static str,
    /// Quantiles of the I/Os that have one.
    pub ns: Quantiles,
}

/// I/Os in flight.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Depth {
    /// Mean over time (Little's law).
    pub mean: f64,
    /// Depth that an I/O finds when it is issued, itself included.
    pub at_issue: Quantiles,
}
