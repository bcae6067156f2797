//! Counts, latencies and queue depth of one direction of one stream.

use hdrhistogram::Histogram;
use hotband_machine::{Completion, Times};
use hotband_units::Instant;

/// Longest latency distinguished (about 73 minutes); longer ones count as this long.
const LONGEST_NS: u64 = 1 << 42;
/// Significant decimal digits of a latency.
const DIGITS: u8 = 3;

/// An empty histogram of the kind every record has.
pub fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("constant bounds are valid")
}

/// Statistics of one direction of one stream.
#[derive(Clone, Debug)]
pub struct DirectionStats {
    pub count: u64,
    pub bytes: u64,
    pub errors: u64,
    pub latency_sum: u128,
    /// Parts of the latencies.
    pub times: Times,
    pub latency_min: u64,
    pub latency_max: u64,
    /// Time that I/Os took which failed: they were outstanding, and are in no latency.
    pub failed_sum: u128,
    /// Histogram; none before the first I/O, because a workload may have tens of thousands of streams.
    pub histogram: Option<Histogram<u64>>,
    /// I/Os outstanding now, and since when.
    outstanding: u64,
    since: Instant,
    /// Integral of outstanding I/Os over the measured time (I/O x ns).
    pub area: u128,
    /// Area of the current interval.
    interval_area: u64,
    interval_bytes: u64,
    /// Latencies of the current interval; at its end they go into the totals and the histogram, all at once.
    latencies: Vec<u64>,
    /// Number of them already in a batch.
    taken: usize,
}

/// A row of the series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalRow {
    pub count: u64,
    pub bytes: u64,
    pub latency_mean_ns: Option<f64>,
    pub latency_p99_ns: Option<u64>,
    pub area: u64,
}

/// Reads, writes, flushes and trims of one stream.
pub type Directions = [DirectionStats; 4];

impl DirectionStats {
    /// Bytes of memory of a direction that is used: its histogram, of 1,024 counts for each of 33 powers of two.
    pub const MEMORY: u64 = 33 * 1024 * size_of::<u64>() as u64;

    pub fn new() -> Self {
        Self {
            count: 0,
            bytes: 0,
            errors: 0,
            latency_sum: 0,
            times: Times::default(),
            latency_min: u64::MAX,
            latency_max: 0,
            failed_sum: 0,
            histogram: None,
            outstanding: 0,
            since: Instant::ZERO,
            area: 0,
            interval_area: 0,
            interval_bytes: 0,
            latencies: Vec::new(),
            taken: 0,
        }
    }

    /// Adds the outstanding I/Os since the last change to the integrals.
    #[inline]
    fn integrate(&mut self, now: Instant) {
        self.interval_area += self.outstanding * now.since(self.since).0;
        self.since = now;
    }

    #[inline]
    pub fn submitted(&mut self, now: Instant) {
        self.integrate(now);
        self.outstanding += 1;
    }

    /// An I/O is done; `measured` tells whether it belongs into the record.
    #[inline]
    pub fn completed(&mut self, done: &Completion, bytes: u32, measured: bool) {
        self.integrate(done.at);
        self.outstanding -= 1;
        if !measured {
            return;
        }
        if done.fault.is_some() {
            self.errors += 1;
            self.failed_sum += u128::from(done.at.since(done.submitted).0);
            return;
        }
        self.interval_bytes += u64::from(bytes);
        self.latencies.push(done.at.since(done.submitted).0);
        self.times = self.times.then(&done.times);
    }

    /// Discards everything before the measured time; outstanding I/Os stay outstanding.
    pub fn begin(&mut self, now: Instant) {
        let fresh = Self { outstanding: self.outstanding, since: now, ..Self::new() };
        *self = fresh;
    }

    /// Adds the figures of another measurement of the same I/Os.
    pub fn add(&mut self, other: &Self) {
        // Every total is named, so that a new one cannot be forgotten here.
        let Self {
            count,
            bytes,
            errors,
            latency_sum,
            times,
            latency_min,
            latency_max,
            failed_sum,
            histogram,
            outstanding: _,
            since: _,
            area,
            interval_area: _,
            interval_bytes: _,
            latencies: _,
            taken: _,
        } = other;
        self.count += count;
        self.bytes += bytes;
        self.errors += errors;
        self.latency_sum += latency_sum;
        self.times = self.times.then(times);
        self.latency_min = self.latency_min.min(*latency_min);
        self.latency_max = self.latency_max.max(*latency_max);
        self.failed_sum += failed_sum;
        if let Some(histogram) = histogram {
            let merged = self.histogram.get_or_insert_with(empty_histogram);
            merged.add(histogram).expect("all histograms have the same bounds");
        }
        self.area += area;
    }

    /// Latencies since the last call; an interval that ends collects those that remain.
    pub fn take_latencies(&mut self) -> &[u64] {
        let taken = std::mem::replace(&mut self.taken, self.latencies.len());
        &self.latencies[taken..]
    }

    /// Bytes so far.
    pub fn bytes_so_far(&self) -> u64 {
        self.bytes + self.interval_bytes
    }

    /// Adds the latencies stored so far to the totals; returns their number and sum.
    fn count_latencies(&mut self) -> (u64, u128) {
        let mut sum = 0;
        if self.latencies.is_empty() {
            return (0, 0);
        }
        let histogram = self.histogram.get_or_insert_with(empty_histogram);
        for latency in &self.latencies {
            sum += u128::from(*latency);
            self.latency_min = self.latency_min.min(*latency);
            self.latency_max = self.latency_max.max(*latency);
            histogram.saturating_record(*latency);
        }
        let count = self.latencies.len() as u64;
        self.count += count;
        self.latency_sum += sum;
        (count, sum)
    }

    /// Ends the measured time: I/Os done at the very end of the last interval belong to no row, but they count.
    pub fn end(&mut self) {
        self.count_latencies();
        self.bytes += self.interval_bytes;
        self.latencies.clear();
        (self.interval_bytes, self.taken) = (0, 0);
    }

    /// Ends an interval at `now`.
    pub fn end_interval(&mut self, now: Instant) -> IntervalRow {
        self.integrate(now);
        let (count, sum) = self.count_latencies();
        let row = IntervalRow {
            count,
            bytes: self.interval_bytes,
            latency_mean_ns: (count > 0).then(|| sum as f64 / count as f64),
            latency_p99_ns: p99(&mut self.latencies),
            area: self.interval_area,
        };
        self.bytes += self.interval_bytes;
        self.area += u128::from(self.interval_area);
        self.latencies.clear();
        (self.interval_area, self.interval_bytes, self.taken) = (0, 0, 0);
        row
    }
}

/// The value at rank `ceil(0.99 n)`, exactly.
fn p99(latencies: &mut [u64]) -> Option<u64> {
    let rank = (latencies.len() * 99).div_ceil(100);
    let index = rank.checked_sub(1)?;
    Some(*latencies.select_nth_unstable(index).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotband_units::Span;

    /// Done at `at` after `latency` in the queue.
    fn after(at: u64, latency: u64) -> Completion {
        let times = Times { queue: Span(latency), ..Times::default() };
        Completion { tag: 0, submitted: Instant(at - latency), at: Instant(at), times, fault: None }
    }

    #[test]
    fn an_interval_has_the_exact_mean_and_p99() {
        let mut stats = DirectionStats::new();
        for n in 1..=200_u64 {
            stats.submitted(Instant(0));
            stats.completed(&after(1000, n), 512, true);
        }
        let row = stats.end_interval(Instant(1000));
        assert_eq!((row.count, row.bytes, row.latency_p99_ns), (200, 200 * 512, Some(198)));
        assert_eq!(row.latency_mean_ns, Some(100.5));
    }

    #[test]
    fn what_ends_with_the_measured_time_counts_whole() {
        let mut stats = DirectionStats::new();
        stats.submitted(Instant(0));
        stats.end_interval(Instant(1000));
        stats.completed(&after(1000, 1000), 512, true);
        stats.end();
        assert_eq!((stats.count, stats.bytes, stats.latency_sum), (1, 512, 1000));
    }

    #[test]
    fn queue_depth_is_a_time_average() {
        let mut stats = DirectionStats::new();
        stats.submitted(Instant(0));
        stats.submitted(Instant(500));
        stats.completed(&after(750, 750), 512, true);
        assert_eq!(stats.end_interval(Instant(1000)).area, 500 + 2 * 250 + 250);
        assert_eq!(stats.end_interval(Instant(2000)).area, 1000, "still one outstanding");
    }
}
