//! Phases that end when their rates and latencies reach a precision, and their entry in the record.
//!
//! Batch means (Law and Kelton, Operations Research 32, 1984): I/Os are counted in batches of equal numbers, which are
//! joined in pairs whenever there are 64 of them, so that a batch is always at least a 64th of the phase. For each
//! figure, mean and standard deviation of the batches' values give a 95 % confidence interval by Student's t. Batches
//! that resemble the one before them (lag-1 correlation) count for less, as those of an autoregressive process do.
//!
//! Left out: events yet to happen. A phase therefore runs for a sixteenth of its longest time (a 64th where the workload
//! only reads), until each memory that fills has been passed twice, and as a whole where that is not known or something
//! happens to the machine.

use hotband_units::{Instant, Span, student};
use hotband_workloads::{Phase, Precision, Workload};
use serde::Serialize;

use crate::probes::batch::{Batch, Counting};
use crate::probes::streams::Streams;

/// I/Os of the first batches: ten of them lie beyond the 99th percentile.
const BATCH_IOS: u64 = 1024;
/// Batches at which pairs of them are joined.
const MOST_BATCHES: usize = 64;
/// Fewest batches of an interval; below 30 their own variance is uncertain (Schmeiser, Operations Research 30, 1982).
const LEAST_BATCHES: usize = MOST_BATCHES / 2;
/// Batches between two checks: checking each one would stop by chance too often.
const LOOK_EVERY: usize = 8;
/// Lag-1 correlation from which batches are too short for an interval.
const MOST_CORRELATION: f64 = 0.5;
/// Share of a phase's longest time before which it does not end: garbage collection and write-back come in waves. The
/// samples of intervals have it, too.
const LEAST_SHARE: u64 = 16;
/// Like the above, if nothing is written and every batch is like the others. A measurement of a minute takes a second.
const LEAST_SHARE_OF_READS: u64 = 64;
/// How many times the bytes of the memories that fill must pass before a phase may end.
const PASSES: u64 = 2;
/// Standard errors by which the halves of the batches may differ: beyond them there is a trend.
const TREND: f64 = 3.0;

/// Shortest time of a phase of `workload` with a precision; none for another phase, and for one without a time.
pub fn least_time(workload: &Workload, phase: &Phase) -> Option<Span> {
    phase.precise()?;
    Some(Span(phase.longest()?.0 / least_share(workload)))
}

fn least_share(workload: &Workload) -> u64 {
    let only_reads = workload.is_streams() && workload.streams.iter().all(|stream| stream.read_pct == 100.0);
    if only_reads { LEAST_SHARE_OF_READS } else { LEAST_SHARE }
}

/// End of a measured phase with a precision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stopped {
    phase: String,
    /// "precision", or "amount" where the time or number of I/Os of the phase was over before.
    by: &'static str,
    /// Requested half width for rates and means, in percent; that for the 99th percentile is three times as wide.
    precision_pct: f64,
    /// Batches at the last check, and I/Os in each; zero if there were too few I/Os for a check.
    batches: usize,
    batch_ios: u64,
    /// Half widths at that look, in percent of each figure.
    #[serde(flatten)]
    half_widths: Option<HalfWidths>,
}

/// Half widths of 95 % confidence intervals, in percent of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct HalfWidths {
    #[serde(rename = "iops_pct")]
    iops: f64,
    #[serde(rename = "bandwidth_pct")]
    bandwidth: f64,
    #[serde(rename = "latency_mean_pct")]
    latency_mean: f64,
    #[serde(rename = "latency_p99_pct")]
    latency_p99: f64,
}

/// Ends a phase when its figures are precise enough.
struct Watch {
    precision: Precision,
    /// Time when the phase may end at the earliest.
    earliest: Instant,
    /// Bytes that must be moved before; none if the phase runs for its full time.
    fills: Option<u64>,
    /// I/Os of a batch, and of the run when the current one ends.
    batch_ios: u64,
    next: u64,
    counting: Counting,
    batches: Vec<Batch>,
    half_widths: Option<HalfWidths>,
    /// Batches at the last look, and I/Os in each.
    looked_at: (usize, u64),
    is_met: bool,
}

/// Judges phases that end when their figures are precise.
pub struct PreciseProbe {
    /// Bytes of memories that fill; none if that is not known.
    fills: Option<u64>,
    /// Part of a phase's longest time before which it does not end.
    least_share: u64,
    watch: Option<Watch>,
    done: Vec<Stopped>,
}

impl PreciseProbe {
    /// Probe of a run of `workload`. `fills` are the bytes of memories that fill during the run; without
    /// them, phases run in full.
    pub fn new(workload: &Workload, fills: Option<u64>) -> Self {
        Self { fills, least_share: least_share(workload), watch: None, done: Vec::new() }
    }

    /// A phase begins, after `ios` of the run. Returns the I/Os at which its first batch ends; none for another phase.
    pub fn begin_phase(&mut self, phase: &Phase, now: Instant, ios: u64, streams: &Streams) -> Option<u64> {
        let precision = phase.precise()?;
        let least = Span(phase.longest().map_or(0, |longest| longest.0 / self.least_share));
        // Looking at each stream costs as much as an I/O does.
        let batch_ios = BATCH_IOS.max(streams.names.len() as u64);
        self.watch = Some(Watch {
            precision,
            earliest: now + least,
            fills: self.fills.map(|bytes| PASSES * bytes),
            batch_ios,
            next: ios + batch_ios,
            counting: Counting::new(now),
            batches: Vec::with_capacity(MOST_BATCHES),
            half_widths: None,
            looked_at: (0, 0),
            is_met: false,
        });
        Some(ios + batch_ios)
    }

    /// Takes the latencies of `streams` that no batch has yet: an interval ends, and forgets them.
    pub fn collect(&mut self, streams: &mut Streams) {
        if let Some(watch) = &mut self.watch {
            watch.counting.add(streams);
        }
    }

    /// `ios` of the run are done: ends the batch that is over. Returns the I/Os at which the next one ends; none where
    /// the phase is over.
    pub fn end_batch(&mut self, now: Instant, ios: u64, streams: &mut Streams) -> Option<u64> {
        let Some(watch) = &mut self.watch else { return Some(u64::MAX) };
        if ios >= watch.next {
            watch.counting.add(streams);
            watch.end_batch(now);
            watch.next = ios + watch.batch_ios;
        }
        (!watch.is_met).then_some(watch.next)
    }

    /// The phase is over.
    pub fn end_phase(&mut self, phase: &Phase) {
        if let Some(watch) = self.watch.take() {
            self.done.push(watch.end(phase));
        }
    }

    /// End of each phase.
    pub fn stopped(self) -> Vec<Stopped> {
        self.done
    }
}

impl Watch {
    fn end_batch(&mut self, now: Instant) {
        self.batches.push(self.counting.end(now));
        let count = self.batches.len();
        if count >= LEAST_BATCHES && count.is_multiple_of(LOOK_EVERY) {
            self.look(now);
        }
        if count == MOST_BATCHES {
            let pairs = self.batches.chunks_exact(2).map(|pair| pair[0].joined(&pair[1])).collect();
            self.batches = pairs;
            self.batch_ios *= 2;
        }
    }

    fn look(&mut self, now: Instant) {
        let figures = Batch::figures(&self.batches);
        let [iops, bandwidth, mean, tail] = figures.map(|values| known(&values));
        let percent = |known: Known| 100.0 * known.half_width;
        self.half_widths = Some(HalfWidths {
            iops: percent(iops),
            bandwidth: percent(bandwidth),
            latency_mean: percent(mean),
            latency_p99: percent(tail),
        });
        self.looked_at = (self.batches.len(), self.batch_ios);
        let is_precise = [iops, bandwidth, mean].iter().all(|known| known.within(self.precision.of_means()))
            && tail.within(self.precision.of_tail());
        let has_filled = self.fills.is_some_and(|bytes| self.counting.bytes() >= bytes);
        self.is_met = is_precise && has_filled && now >= self.earliest;
    }

    fn end(self, phase: &Phase) -> Stopped {
        Stopped {
            phase: phase.name.clone(),
            by: if self.is_met { "precision" } else { "amount" },
            precision_pct: 100.0 * self.precision.of_means(),
            batches: self.looked_at.0,
            batch_ios: self.looked_at.1,
            half_widths: self.half_widths,
        }
    }
}

/// Precision of a figure, as shares of its mean.
#[derive(Clone, Copy, Debug)]
struct Known {
    half_width: f64,
    correlation: f64,
    /// Difference between the halves, and its standard error.
    trend: (f64, f64),
}

impl Known {
    fn within(self, share: f64) -> bool {
        let (difference, error) = self.trend;
        let is_level = difference <= share.max(TREND * error);
        self.half_width <= share && self.correlation <= MOST_CORRELATION && is_level
    }
}

/// Precision of the mean of these values, one for each batch.
fn known(values: &[f64]) -> Known {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let off: Vec<f64> = values.iter().map(|value| value / mean - 1.0).collect();
    let squares: f64 = off.iter().map(|off| off * off).sum();
    let pairs: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = if squares > 0.0 { pairs / squares } else { 0.0 };
    let like_before = correlation.clamp(0.0, 0.9);
    let error = (squares / (count - 1.0) / count).sqrt() * ((1.0 + like_before) / (1.0 - like_before)).sqrt();
    let (first, second) = off.split_at(off.len() / 2);
    let half = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    Known {
        half_width: student(values.len() as u64 - 1) * error,
        correlation,
        trend: ((half(first) - half(second)).abs(), 2.0 * error),
    }
}
