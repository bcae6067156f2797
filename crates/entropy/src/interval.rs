//! A ratio of a whole from a sample of its parts, with the interval that holds it 95 times of 100.
//!
//! The estimator is the ratio of sums; its variance is that of simple random sampling without replacement (Cochran,
//! Sampling Techniques, 3rd ed., 1977, sections 2.11 and 6.4). The sample is drawn from strata along the stream, which
//! makes the true interval narrower, never wider, where neighbours are identical; Student's t takes the place of the
//! normal quantile. Leaves out: a few items that differ from all others and were not drawn.

use hotband_units::student;

/// Length of an item before and after compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Bytes of data.
    pub before: u64,
    /// Their bytes after compression.
    pub after: u64,
}

/// Sums over many pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    count: u64,
    before: u128,
    after: u128,
    before_squared: u128,
    after_squared: u128,
    product: u128,
}

impl Sums {
    /// Adds an item; an item without data has no effect.
    pub fn add(&mut self, Pair { before, after }: Pair) {
        if before == 0 {
            return;
        }
        let (before, after) = (u128::from(before), u128::from(after));
        self.count += 1;
        self.before += before;
        self.after += after;
        self.before_squared += before * before;
        self.after_squared += after * after;
        self.product += before * after;
    }

    /// Adds the sums of another thread.
    pub fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.before += other.before;
        self.after += other.after;
        self.before_squared += other.before_squared;
        self.after_squared += other.after_squared;
        self.product += other.product;
    }

    /// Compressed share of the data, at most 1: incompressible data stays as it was. None if there was no data.
    pub fn ratio(&self) -> Option<f64> {
        (self.before > 0).then(|| (self.after as f64 / self.before as f64).min(1.0))
    }

    /// Half of the interval of the ratio, where the sums are those of a sample of `items`.
    fn half_width(&self, items: u64) -> f64 {
        if self.count >= items {
            return 0.0;
        }
        if self.count < 2 {
            return 1.0;
        }
        let (n, ratio) = (self.count as f64, self.after as f64 / self.before as f64);
        let squares =
            self.after_squared as f64 - 2.0 * ratio * self.product as f64 + ratio * ratio * self.before_squared as f64;
        let variance = (1.0 - n / items as f64) * squares.max(0.0) / (n - 1.0) / n;
        student(self.count - 1) * variance.sqrt() / (self.before as f64 / n)
    }
}

/// The ratio of all `items`, of which `sums` are a sample or all, and the ends of its interval.
///
/// `reached` is the share of the stream that was gone through: what lies behind it can be anything, so the interval
/// takes it as 0 and as 1.
pub fn estimate(sums: &Sums, items: u64, reached: f64) -> Option<(f64, [f64; 2])> {
    let ratio = sums.ratio()?;
    let within = (items as f64 * reached).ceil() as u64;
    let half = sums.half_width(within);
    let low = (ratio - half).max(0.0) * reached;
    let high = (ratio + half).min(1.0) * reached + (1.0 - reached);
    Some((ratio, [low, high]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Sample;
    use crate::sample::{Choice, Plan, Want, generator};
    use hotband_units::Bytes;
    use rand_xoshiro::rand_core::Rng;

    #[test]
    fn a_whole_has_no_interval() {
        let mut sums = Sums::default();
        assert_eq!(estimate(&sums, 0, 1.0), None);
        sums.add(Pair { before: 100, after: 25 });
        sums.add(Pair { before: 100, after: 75 });
        sums.add(Pair { before: 0, after: 2 });
        assert_eq!(estimate(&sums, 2, 1.0), Some((0.5, [0.5, 0.5])));
    }

    #[test]
    fn what_was_not_reached_can_be_anything() {
        let mut sums = Sums::default();
        sums.add(Pair { before: 100, after: 50 });
        assert_eq!(estimate(&sums, 4, 0.25), Some((0.5, [0.125, 0.875])));
    }

    #[test]
    fn noise_is_at_most_one() {
        let mut sums = Sums::default();
        sums.add(Pair { before: 100, after: 105 });
        assert_eq!(estimate(&sums, 1, 1.0), Some((1.0, [1.0, 1.0])));
    }

    /// Items of very unlike ratios in runs, as the files of a tree are.
    fn population() -> Vec<Pair> {
        let mut generator = generator(11);
        let mut pairs = Vec::new();
        while pairs.len() < 5000 {
            let (run, level) = (generator.next_u64() % 200 + 1, generator.next_u64() % 900);
            for _ in 0..run {
                let before = 262_144 + generator.next_u64() % 262_144;
                pairs.push(Pair { before, after: before * (level + generator.next_u64() % 100) / 1000 });
            }
        }
        pairs
    }

    fn total(pairs: impl Iterator<Item = Pair>) -> Sums {
        let mut sums = Sums::default();
        pairs.for_each(|pair| sums.add(pair));
        sums
    }

    #[test]
    fn the_interval_holds_the_truth_as_often_as_it_says() {
        let pairs = population();
        let (items, truth) = (pairs.len() as u64, total(pairs.iter().copied()).ratio().unwrap());
        let bytes: u64 = pairs.iter().map(|pair| pair.before).sum();
        let plan = Plan::new(items, bytes, Sample::Of(Bytes(bytes / 50)));
        let (mut held, mut narrow) = (0, 0);
        for seed in 0..1000 {
            let mut choice = Choice::new(plan, seed);
            let chosen = (0..items).zip(&pairs).filter(|(index, _)| choice.of(*index) == Want::Measure);
            let (ratio, [low, high]) = estimate(&total(chosen.map(|(_, &pair)| pair)), items, 1.0).unwrap();
            held += u32::from(low <= truth && truth <= high);
            narrow += u32::from(high - low < 0.15 && low <= ratio && ratio <= high);
        }
        // 950 expected of a simple sample, more of a stratified one; three standard deviations of a count are 21.
        assert!(held >= 930, "{held} of 1000");
        assert_eq!(narrow, 1000, "100 of 5,000 items settle it to a few percent");
    }
}
