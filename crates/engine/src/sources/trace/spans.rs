//! Latencies, or errors of the time of issue, while they are counted.

use hdrhistogram::Histogram;
use hotband_units::Span;
use serde::Serialize;

use crate::probes::direction::empty_histogram;

/// Statistics of them, in ns.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "keys of JSON end in their unit")]
pub struct Times {
    mean_ns: f64,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

/// A histogram with the exact sum and the longest.
#[derive(Clone, Debug)]
pub struct Spans {
    sum: u128,
    longest: u64,
    pub histogram: Histogram<u64>,
}

impl Spans {
    pub fn new() -> Self {
        Self { sum: 0, longest: 0, histogram: empty_histogram() }
    }

    pub fn add(&mut self, span: Span) {
        self.sum += u128::from(span.0);
        self.longest = self.longest.max(span.0);
        self.histogram.saturating_record(span.0);
    }

    /// Add a number of zeros.
    pub fn add_zeros(&mut self, count: u64) {
        self.histogram.record_n(0, count).expect("zero is within all bounds");
    }

    pub fn add_all(&mut self, other: &Self) {
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Return the mean of at least one value.
    pub fn mean_ns(&self) -> f64 {
        self.sum as f64 / self.count() as f64
    }

    /// A quantile is the upper end of its bucket, which may lie beyond the longest of all.
    pub fn at(&self, share: f64) -> u64 {
        self.histogram.value_at_quantile(share).min(self.longest)
    }

    pub fn times(&self) -> Option<Times> {
        (self.count() > 0).then(|| Times {
            mean_ns: self.mean_ns(),
            p50_ns: self.at(0.5),
            p99_ns: self.at(0.99),
            max_ns: self.longest,
        })
    }
}
