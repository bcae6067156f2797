//! Outcome of the limits of a workload.

use hotband_units::Span;
use hotband_workloads::{Bound, LimitOp, LimitSpec};
use serde::Serialize;

use crate::probes::direction::{DirectionStats, Directions};
use crate::probes::streams::Streams;
use crate::probes::table::{Table, Text};
use crate::record::summary::Figures;

/// A limit, the measured value, and whether it was met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitRecord {
    /// The streams it is about; all where empty.
    streams: Vec<String>,
    op: &'static str,
    /// Key of the summary that it is about, or "latency_interval_max_ns".
    figure: &'static str,
    /// "at_most" or "at_least".
    bound: &'static str,
    limit: f64,
    /// Measured value; none without I/O.
    value: Option<f64>,
    /// Whether it was met. A limit that was not measured was not met.
    pub passed: bool,
}

/// Judges the streams `names` over `duration` by `limits`.
pub fn judge(limits: &[LimitSpec], streams: &Streams, duration: Span) -> Vec<LimitRecord> {
    let judged = limits.iter().flat_map(|limit| {
        let is_meant = |name: &str| limit.streams.is_empty() || limit.streams.iter().any(|meant| meant == name);
        let meant = streams.names.iter().zip(&streams.all).filter(|(name, _)| is_meant(name));
        let directions: Vec<&DirectionStats> =
            meant.flat_map(|(_, directions)| directions_of(directions, limit.op)).collect();
        let figures = Figures::new(&directions, duration);
        let intervals = longest_interval(&streams.table, is_meant, limit.op);
        limit.bounds.iter().map(move |bound| LimitRecord::new(limit, *bound, &figures, intervals))
    });
    judged.collect()
}

/// The largest mean latency of an interval over the streams that are `meant`.
fn longest_interval(series: &Table, is_meant: impl Fn(&str) -> bool, op: LimitOp) -> Option<f64> {
    let (streams, directions) = (series.column::<Text>("stream"), series.column::<Text>("direction"));
    let (times, iops) = (series.column::<u64>("time_ns"), series.column::<f64>("iops"));
    let latencies = series.column::<Option<f64>>("latency_mean_ns");
    let is_meant = |row: &usize| (op == LimitOp::All || &*directions[*row] == op.name()) && is_meant(&streams[*row]);
    let (mut longest, mut rows) = (None::<f64>, (0..series.len()).filter(is_meant).peekable());
    while let Some(first) = rows.peek().copied() {
        let (mut rate, mut waited) = (0.0, 0.0);
        while let Some(row) = rows.next_if(|row| times[*row] == times[first]) {
            rate += iops[row];
            waited += iops[row] * latencies[row].unwrap_or(0.0);
        }
        if rate > 0.0 {
            longest = Some(longest.map_or(waited / rate, |most| most.max(waited / rate)));
        }
    }
    longest
}

fn directions_of([read, write, ..]: &Directions, op: LimitOp) -> Vec<&DirectionStats> {
    match op {
        LimitOp::Read => vec![read],
        LimitOp::Write => vec![write],
        LimitOp::All => vec![read, write],
    }
}

impl LimitRecord {
    fn new(limit: &LimitSpec, bound: Bound, figures: &Figures, longest_interval: Option<f64>) -> Self {
        let whole = |nanoseconds: Option<u64>| nanoseconds.map(|value| value as f64);
        let (figure, most, value, limit_value) = match bound {
            Bound::LatencyMean(span) => ("latency_mean_ns", true, figures.latency_mean_ns, span.0 as f64),
            Bound::LatencyP99(span) => ("latency_p99_ns", true, whole(figures.latency_p99_ns), span.0 as f64),
            Bound::LatencyMax(span) => ("latency_max_ns", true, whole(figures.latency_max_ns), span.0 as f64),
            Bound::LatencyIntervalMax(span) => ("latency_interval_max_ns", true, longest_interval, span.0 as f64),
            Bound::IopsAtLeast(iops) => ("iops", false, Some(figures.iops), iops),
            Bound::BandwidthAtLeast(rate) => {
                ("bandwidth_bytes_per_s", false, Some(figures.bandwidth_bytes_per_s), rate.0 as f64)
            }
        };
        Self {
            streams: limit.streams.clone(),
            op: limit.op.name(),
            figure,
            bound: if most { "at_most" } else { "at_least" },
            limit: limit_value,
            value,
            passed: value.is_some_and(|value| if most { value <= limit_value } else { value >= limit_value }),
        }
    }
}
