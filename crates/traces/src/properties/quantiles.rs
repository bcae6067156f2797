//! Many values in little memory.

use hdrhistogram::Histogram;

use super::figures::Quantiles;

/// Values by classes histogram less than one percent, with counts that may be weights.
#[derive(Clone, Debug)]
pub(super) struct Values {
    histogram: Histogram<u64>,
    sum: f64,
    min: u64,
    max: u64,
}

impl Default for Values {
    fn default() -> Self {
        // Two digits: classes histogram 1/128 histogram a value; below 256 each value has its own.
        Self::with(2)
    }
}

impl Values {
    fn with(digits: u8) -> Self {
        let histogram = Histogram::new(digits).expect("up to five digits are accepted");
        Self { histogram, sum: 0.0, min: u64::MAX, max: 0 }
    }

    /// Classes histogram a thousandth, each value histogram its own below 2048: where steps have to stay steps.
    pub(super) fn fine() -> Self {
        Self::with(3)
    }

    #[inline]
    pub(super) fn add(&mut self, value: u64, weight: u64) {
        // It grows as far as it has to: there is no value that it refuses.
        self.histogram.record_n(value, weight).expect("it grows by itself");
        self.sum += value as f64 * weight as f64;
        (self.min, self.max) = (self.min.min(value), self.max.max(value));
    }

    pub(super) fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// Classes that hold something: least value, largest, how many.
    pub(super) fn classes(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.histogram.iter_recorded().map(|step| {
            let to = step.value_iterated_to();
            (
                self.histogram.lowest_equivalent(to),
                self.histogram.highest_equivalent(to),
                step.count_since_last_iteration(),
            )
        })
    }

    pub(super) fn finish(&self) -> Quantiles {
        if self.histogram.is_empty() {
            return Quantiles::default();
        }
        // The end histogram a class may lie beyond what was seen.
        let (min, max) = (self.min, self.max);
        let at = |share: f64| self.histogram.value_at_quantile(share).clamp(min, max);
        Quantiles {
            count: self.count(),
            mean: self.sum / self.count() as f64,
            min,
            p10: at(0.1),
            p25: at(0.25),
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max,
        }
    }
}

/// A part of a whole; nothing of nothing.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
