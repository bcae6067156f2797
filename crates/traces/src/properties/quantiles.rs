//! Many values in little memory.

use hdrhistogram::Histogram;

use super::figures::Quantiles;

/// Values by classes of less than one percent, with counts that may be weights.
#[derive(Clone, Debug)]
pub(super) struct Values {
    of: Histogram<u64>,
    sum: f64,
}

impl Default for Values {
    fn default() -> Self {
        // Two digits: classes of 1/128 of a value; below 256 each value has its own.
        Self { of: Histogram::new(2).expect("two digits are accepted"), sum: 0.0 }
    }
}

impl Values {
    #[inline]
    pub(super) fn add(&mut self, value: u64, weight: u64) {
        // It grows as far as it has to: there is no value that it refuses.
        self.of.record_n(value, weight).expect("it grows by itself");
        self.sum += value as f64 * weight as f64;
    }

    pub(super) fn count(&self) -> u64 {
        self.of.len()
    }

    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// Classes that hold something: least value, largest, how many.
    pub(super) fn classes(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.of.iter_recorded().map(|step| {
            let to = step.value_iterated_to();
            (self.of.lowest_equivalent(to), self.of.highest_equivalent(to), step.count_since_last_iteration())
        })
    }

    pub(super) fn finish(&self) -> Quantiles {
        if self.of.is_empty() {
            return Quantiles::default();
        }
        let (min, max) = (self.of.min(), self.of.max());
        // The end of a class may lie beyond what was seen.
        let at = |share: f64| self.of.value_at_quantile(share).clamp(min, max);
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
