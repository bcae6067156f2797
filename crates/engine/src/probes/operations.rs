//! Operations of an app: count and latency of each kind, and rates over time.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hotband_units::{Instant, Span};
use hotband_workloads::{App, Ended};
use serde::Serialize;

use crate::probes::direction::empty_histogram;
use crate::probes::table::{Table, Text, rows};

/// Operations of one kind that ended in a part of the measured time.
#[derive(Clone, Debug)]
struct OperationStats {
    count: u64,
    sum: u128,
    longest: u64,
    histogram: Histogram<u64>,
}

impl OperationStats {
    fn new() -> Self {
        Self { count: 0, sum: 0, longest: 0, histogram: empty_histogram() }
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
    }
}

/// Completed operations in a part of the measured time, and the counters of the app.
#[derive(Clone, Debug)]
pub struct AppStats {
    operations: Vec<OperationStats>,
    counters: Vec<(&'static str, u64)>,
}

impl AppStats {
    /// Return counts of zero.
    pub fn new(app: &dyn App) -> Self {
        Self { operations: app.operations().iter().map(|_| OperationStats::new()).collect(), counters: Vec::new() }
    }

    /// Counts a completed operation.
    pub fn ended(&mut self, operation: &Ended) {
        let stats = &mut self.operations[usize::from(operation.operation)];
        let latency = operation.ended.since(operation.began).0;
        stats.count += 1;
        stats.sum += u128::from(latency);
        stats.longest = stats.longest.max(latency);
        stats.histogram.saturating_record(latency);
    }

    /// Stores the counts between `before` and `after`.
    pub fn count(&mut self, before: &[(&'static str, u64)], after: &[(&'static str, u64)]) {
        self.counters = after.iter().zip(before).map(|(after, before)| (after.0, after.1 - before.1)).collect();
    }
}

/// Figures of one kind of operation.
#[derive(Clone, Debug, Serialize)]
pub struct OperationRecord {
    /// Its name.
    pub name: &'static str,
    /// Number that ended in the measured time.
    pub count: u64,
    /// Operations per second.
    pub ops_per_s: f64,
    latency_mean_ns: Option<f64>,
    latency_p50_ns: Option<u64>,
    latency_p99_ns: Option<u64>,
    latency_p999_ns: Option<u64>,
    latency_max_ns: Option<u64>,
}

impl OperationRecord {
    fn new(name: &'static str, stats: &OperationStats, seconds: f64) -> Self {
        let some = |value: u64| (stats.count > 0).then_some(value);
        // A bucket's upper end may lie above the longest latency that was measured.
        let at = |quantile: f64| some(stats.histogram.value_at_quantile(quantile).min(stats.longest));
        Self {
            name,
            count: stats.count,
            ops_per_s: stats.count as f64 / seconds,
            latency_mean_ns: (stats.count > 0).then(|| stats.sum as f64 / stats.count as f64),
            latency_p50_ns: at(0.5),
            latency_p99_ns: at(0.99),
            latency_p999_ns: at(0.999),
            latency_max_ns: some(stats.longest),
        }
    }
}

/// Figures of an app.
#[derive(Clone, Debug, Serialize)]
pub struct AppRecord {
    kind: &'static str,
    /// Records by kind of operation.
    pub operations: Vec<OperationRecord>,
    requested_ops_per_s: Option<f64>,
    /// All operations together.
    pub achieved_ops_per_s: f64,
    counters: BTreeMap<&'static str, u64>,
}

impl AppRecord {
    /// The figures of `parts` of the measured time that lasted `duration` in all.
    pub(crate) fn new(app: &dyn App, parts: &[AppStats], duration: Span) -> Self {
        let seconds = duration.as_secs_f64();
        let mut counters: BTreeMap<&'static str, u64> = BTreeMap::new();
        for (name, count) in parts.iter().flat_map(|part| &part.counters) {
            *counters.entry(name).or_default() += count;
        }
        let operations = app.operations().into_iter().enumerate().map(|(index, name)| {
            let mut all = OperationStats::new();
            for part in parts {
                all.add(&part.operations[index]);
            }
            OperationRecord::new(name, &all, seconds)
        });
        let operations: Vec<OperationRecord> = operations.collect();
        Self {
            kind: app.kind(),
            requested_ops_per_s: app.requested_ops_per_s(),
            achieved_ops_per_s: operations.iter().map(|operation| operation.count).sum::<u64>() as f64 / seconds,
            operations,
            counters,
        }
    }
}

rows! { "operations":
    /// Operations of one kind in an interval.
    pub struct OperationRow {
        /// Start of the interval since the measured time began.
        time_ns: u64,
        /// Name of the operation.
        operation: Text,
        /// Operations that ended, a second.
        ops_per_s: f64,
        /// Their mean latency, if one ended.
        latency_mean_ns: Option<f64>,
    }
}

/// Operations a second over time.
#[derive(Clone, Debug)]
pub struct OperationSeries {
    interval: Span,
    begin: Option<Instant>,
    /// Count and sum of latencies of each operation, by interval.
    sums: Vec<Vec<(u64, u128)>>,
}

impl OperationSeries {
    pub(crate) fn new(interval: Span) -> Self {
        Self { interval, begin: None, sums: Vec::new() }
    }

    pub(crate) fn begin(&mut self, now: Instant) {
        self.begin.get_or_insert(now);
    }

    pub(crate) fn ended(&mut self, ended_operation: &Ended) {
        let begin = self.begin.expect("the measured time has begun");
        let index = (ended_operation.ended.since(begin).0 / self.interval.0) as usize;
        if self.sums.len() <= index {
            self.sums.resize(index + 1, Vec::new());
        }
        let row = &mut self.sums[index];
        let operation = usize::from(ended_operation.operation);
        if row.len() <= operation {
            row.resize(operation + 1, (0, 0));
        }
        row[operation].0 += 1;
        row[operation].1 += u128::from(ended_operation.ended.since(ended_operation.began).0);
    }

    /// The table of a measured time of `duration`.
    pub(crate) fn finish(self, duration: Span, names: &[&'static str]) -> Table {
        let (mut sums, operations) = (self.sums, names.len());
        let names: Vec<Text> = names.iter().map(|name| (*name).into()).collect();
        let mut table = Table::of::<OperationRow>();
        for row in &mut sums {
            row.resize(operations, (0, 0));
        }
        sums.resize(sums.len().max(1), vec![(0, 0); operations]);
        // What ends with the measured time counts in its last interval.
        let intervals = duration.0.div_ceil(self.interval.0).max(1) as usize;
        while sums.len() > intervals {
            let over = sums.pop().unwrap_or_default();
            let last = sums.last_mut().expect("there is an interval");
            last.iter_mut().zip(over).for_each(|(sum, over)| (sum.0, sum.1) = (sum.0 + over.0, sum.1 + over.1));
        }
        sums.resize(intervals, vec![(0, 0); operations]);
        for (index, row) in sums.iter().enumerate() {
            let begin = index as u64 * self.interval.0;
            let length = (duration.0 - begin).min(self.interval.0) as f64 / 1e9;
            for (operation, (count, sum)) in row.iter().enumerate() {
                table.push(OperationRow {
                    time_ns: begin,
                    operation: names[operation].clone(),
                    ops_per_s: *count as f64 / length,
                    latency_mean_ns: (*count > 0).then(|| *sum as f64 / *count as f64),
                });
            }
        }
        table
    }
}
