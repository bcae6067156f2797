//! Rates and latencies of a run, or of a part of it, from what streams did.

use hdrhistogram::Histogram;
use hotband_machine::Times;
use hotband_units::Span;
use serde::Serialize;

use crate::probes::direction::{DirectionStats, Directions, empty_histogram};

/// Rates and latencies of reads and writes together, and of each.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Reads and writes together.
    #[serde(flatten)]
    pub all: Figures,
    /// Reads.
    pub read: Figures,
    /// Writes.
    pub write: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<Figures>,
}

/// Rates and latencies.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// I/Os a second.
    pub iops: f64,
    /// Bytes a second.
    pub bandwidth_bytes_per_s: f64,
    /// I/Os.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// Their mean latency: they are part of the queue depth, and of no other rate or latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_latency_mean_ns: Option<f64>,
    /// Mean latency.
    pub latency_mean_ns: Option<f64>,
    /// Shortest latency.
    pub latency_min_ns: Option<u64>,
    /// Median latency.
    pub latency_p50_ns: Option<u64>,
    /// 99th percentile.
    pub latency_p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub latency_p999_ns: Option<u64>,
    /// Longest latency.
    pub latency_max_ns: Option<u64>,
    /// Time average of the I/Os outstanding.
    pub queue_depth_mean: f64,
    /// Parts of the mean latency.
    pub times_mean_ns: Option<TimesMean>,
}

/// The parts of a mean latency, which add up to it.
#[derive(Clone, Debug, Serialize)]
pub struct TimesMean {
    queue: f64,
    overhead: f64,
    seek: f64,
    rotation: f64,
    transfer: f64,
    flash: f64,
    link: f64,
}

impl TimesMean {
    fn new(directions: &[&DirectionStats], count: f64) -> Self {
        let sum = directions.iter().fold(Times::default(), |sum, stats| sum.then(&stats.times));
        let mean = |part: Span| part.0 as f64 / count;
        Self {
            queue: mean(sum.queue),
            overhead: mean(sum.overhead),
            seek: mean(sum.seek),
            rotation: mean(sum.rotation),
            transfer: mean(sum.transfer),
            flash: mean(sum.flash),
            link: mean(sum.link),
        }
    }
}

impl Summary {
    /// Figures over all streams and `duration`.
    pub(crate) fn new(streams: &[Directions], duration: Span) -> Self {
        let direction = |n: usize| streams.iter().map(move |directions| &directions[n]);
        let figures = |directions: Vec<&DirectionStats>| Figures::new(&directions, duration);
        let some = |n: usize| Some(figures(direction(n).collect())).filter(|figures| figures.count > 0);
        Self {
            all: figures(direction(0).chain(direction(1)).collect()),
            read: figures(direction(0).collect()),
            write: figures(direction(1).collect()),
            flush: some(2),
            trim: some(3),
        }
    }
}

impl Figures {
    pub(crate) fn new(directions: &[&DirectionStats], duration: Span) -> Self {
        let seconds = duration.as_secs_f64();
        let mut histogram: Histogram<u64> = empty_histogram();
        for direction_histogram in directions.iter().filter_map(|stats| stats.histogram.as_ref()) {
            histogram.add(direction_histogram).expect("all histograms have the same bounds");
        }
        let errors: u64 = directions.iter().map(|stats| stats.errors).sum();
        let failed: u128 = directions.iter().map(|stats| stats.failed_sum).sum();
        let count: u64 = directions.iter().map(|stats| stats.count).sum();
        let bytes: u64 = directions.iter().map(|stats| stats.bytes).sum();
        let sum: u128 = directions.iter().map(|stats| stats.latency_sum).sum();
        let area: u128 = directions.iter().map(|stats| stats.area).sum();
        let at = |quantile: f64| (count > 0).then(|| histogram.value_at_quantile(quantile));
        let least = directions.iter().filter(|stats| stats.count > 0).map(|stats| stats.latency_min).min();
        let most = directions.iter().filter(|stats| stats.count > 0).map(|stats| stats.latency_max).max();
        // A bucket's upper end may lie above the longest latency that was measured.
        let at = |quantile: f64| at(quantile).map(|value| value.min(most.unwrap_or(value)));
        Self {
            iops: count as f64 / seconds,
            bandwidth_bytes_per_s: bytes as f64 / seconds,
            count,
            bytes,
            errors,
            error_latency_mean_ns: (errors > 0).then(|| failed as f64 / errors as f64),
            latency_mean_ns: (count > 0).then(|| sum as f64 / count as f64),
            latency_min_ns: least,
            latency_p50_ns: at(0.5),
            latency_p99_ns: at(0.99),
            latency_p999_ns: at(0.999),
            latency_max_ns: most,
            queue_depth_mean: area as f64 / duration.0 as f64,
            times_mean_ns: (count > 0).then(|| TimesMean::new(directions, count as f64)),
        }
    }
}
