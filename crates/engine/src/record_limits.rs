//! What the limits of a workload came to.

use hotband_units::Span;
use hotband_workloads::{Bound, LimitOp, LimitSpec};
use serde::Serialize;

use crate::record::Figures;
use crate::recorder::Sides;
use crate::side::Side;

/// A limit, what was measured, and whether it was kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitRecord {
    /// The streams it is about; all where empty.
    streams: Vec<String>,
    op: &'static str,
    /// Key of the summary that it is about.
    figure: &'static str,
    /// "at_most" or "at_least".
    bound: &'static str,
    limit: f64,
    /// What was measured; none where no I/O was.
    value: Option<f64>,
    /// Whether it was kept. What was not measured was not kept.
    pub passed: bool,
}

/// Judges what the streams `names` did in `duration` by `limits`.
pub(crate) fn judge(limits: &[LimitSpec], names: &[String], streams: &[Sides], duration: Span) -> Vec<LimitRecord> {
    let judged = limits.iter().flat_map(|limit| {
        let is_meant = |name: &String| limit.streams.is_empty() || limit.streams.contains(name);
        let meant = names.iter().zip(streams).filter(|(name, _)| is_meant(name)).map(|(_, sides)| sides);
        let sides: Vec<&Side> = meant.flat_map(|sides| sides_of(sides, limit.op)).collect();
        let figures = Figures::new(&sides, duration);
        limit.bounds.iter().map(move |bound| LimitRecord::new(limit, *bound, &figures))
    });
    judged.collect()
}

fn sides_of([read, write, ..]: &Sides, op: LimitOp) -> Vec<&Side> {
    match op {
        LimitOp::Read => vec![read],
        LimitOp::Write => vec![write],
        LimitOp::All => vec![read, write],
    }
}

impl LimitRecord {
    fn new(limit: &LimitSpec, bound: Bound, figures: &Figures) -> Self {
        let whole = |nanoseconds: Option<u64>| nanoseconds.map(|value| value as f64);
        let (figure, most, value, limit_value) = match bound {
            Bound::LatencyMean(span) => ("latency_mean_ns", true, figures.latency_mean_ns, span.0 as f64),
            Bound::LatencyP99(span) => ("latency_p99_ns", true, whole(figures.latency_p99_ns), span.0 as f64),
            Bound::LatencyMax(span) => ("latency_max_ns", true, whole(figures.latency_max_ns), span.0 as f64),
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
