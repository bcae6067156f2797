//! Choice of the items to measure: all, or a random sample of them.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::ask::Sample;

/// A sample has at least this many items, however little was requested: fewer give no useful interval.
const FEWEST: u64 = 30;

/// A generator of this crate.
pub fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Treatment of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Nothing.
    Skip,
    /// Its end is read: the next item is measured, and deflate refers to what came before.
    Lead,
    /// The item is measured.
    Measure,
}

/// Numbers of existing and of measured items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Items of the tree.
    pub items: u64,
    /// Items that are measured.
    pub chosen: u64,
}

impl Plan {
    /// Number of `items`, holding `bytes` together, that hold the bytes of the sample.
    pub fn new(items: u64, bytes: u64, sample: Sample) -> Self {
        let chosen = match sample {
            Sample::Of(size) if size.0 < bytes => {
                let share = (u128::from(size.0) * u128::from(items)).div_ceil(u128::from(bytes));
                (share as u64).max(FEWEST).min(items)
            }
            _ => items,
        };
        Self { items, chosen }
    }

    /// Whether every item is measured.
    pub fn whole(self) -> bool {
        self.chosen == self.items
    }
}

/// The choice of items, in their order and in constant memory: the items are cut into as many strata of equal length as
/// items are chosen, and of each stratum one is drawn.
#[derive(Debug)]
pub struct Choice {
    plan: Plan,
    generator: Xoshiro256PlusPlus,
    stratum: u64,
    next: Option<u64>,
}

impl Choice {
    /// The choice that belongs to `seed`.
    pub fn new(plan: Plan, seed: u64) -> Self {
        let mut choice = Self { plan, generator: generator(seed), stratum: 0, next: None };
        choice.draw();
        choice
    }

    fn draw(&mut self) {
        let Plan { items, chosen } = self.plan;
        if self.stratum == chosen {
            self.next = None;
            return;
        }
        let bound = |stratum: u64| (u128::from(stratum) * u128::from(items) / u128::from(chosen)) as u64;
        let (from, to) = (bound(self.stratum), bound(self.stratum + 1));
        let within = (u128::from(self.generator.next_u64()) * u128::from(to - from)) >> 64;
        self.next = Some(from + within as u64);
        self.stratum += 1;
    }

    /// Treatment of item `index`; called in rising order. A tree that grew since it was counted is read
    /// whole if it was to be.
    pub fn of(&mut self, index: u64) -> Want {
        if self.plan.whole() {
            return Want::Measure;
        }
        while self.next.is_some_and(|next| next < index) {
            self.draw();
        }
        match self.next {
            Some(next) if next == index => Want::Measure,
            Some(next) if next == index + 1 => Want::Lead,
            _ => Want::Skip,
        }
    }

    /// Whether nothing is wanted from item `index` on.
    pub fn is_over(&self, index: u64) -> bool {
        !self.plan.whole() && self.stratum == self.plan.chosen && self.next.is_none_or(|next| next < index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotband_units::Bytes;

    fn chosen(plan: Plan, seed: u64) -> Vec<u64> {
        let mut choice = Choice::new(plan, seed);
        (0..plan.items).filter(|&index| choice.of(index) == Want::Measure).collect()
    }

    #[test]
    fn as_many_are_chosen_as_planned_one_of_each_stratum() {
        let plan = Plan { items: 1000, chosen: 30 };
        let items = chosen(plan, 1);
        assert_eq!(items.len(), 30);
        for (stratum, &item) in items.iter().enumerate() {
            let stratum = stratum as u64;
            assert!((stratum * 1000 / 30..(stratum + 1) * 1000 / 30).contains(&item), "{item}");
        }
        assert_eq!(items, chosen(plan, 1));
        assert_ne!(items, chosen(plan, 2));
    }

    #[test]
    fn every_item_is_chosen_equally_often() {
        let plan = Plan { items: 100, chosen: 30 };
        let mut times = [0_u32; 100];
        for seed in 0..4000 {
            for item in chosen(plan, seed) {
                times[item as usize] += 1;
            }
        }
        // Strata are of three or four items: a third or a quarter of 4,000; five standard deviations are 150.
        let bounds: Vec<u64> = (0..=30).map(|stratum| stratum * 100 / 30).collect();
        for stratum in bounds.windows(2) {
            let expected = 4000 / (stratum[1] - stratum[0]);
            for item in stratum[0]..stratum[1] {
                assert!(u64::from(times[item as usize]).abs_diff(expected) < 150, "{item}: {}", times[item as usize]);
            }
        }
    }

    #[test]
    fn what_comes_before_a_chosen_item_leads_to_it() {
        let mut choice = Choice::new(Plan { items: 1000, chosen: 30 }, 3);
        let wants: Vec<Want> = (0..1000).map(|index| choice.of(index)).collect();
        for pair in wants.windows(2) {
            assert_eq!(pair[0] == Want::Skip, pair[1] != Want::Measure && pair[0] != Want::Measure);
        }
    }

    #[test]
    fn a_sample_is_as_large_as_asked_for_or_everything() {
        let sample_of = |bytes| Sample::Of(Bytes(bytes));
        assert_eq!(Plan::new(1000, 1_000_000, sample_of(250_000)).chosen, 250);
        assert_eq!(Plan::new(1000, 1_000_000, sample_of(1)).chosen, FEWEST);
        assert_eq!(Plan::new(10, 1_000_000, sample_of(1)).chosen, 10);
        assert_eq!(Plan::new(1000, 1_000_000, sample_of(1_000_000)).chosen, 1000);
        assert_eq!(Plan::new(1000, 1_000_000, Sample::All).chosen, 1000);
        assert_eq!(Plan::new(0, 0, sample_of(5)).chosen, 0);
    }

    #[test]
    fn it_is_over_after_the_last_chosen_item() {
        let plan = Plan { items: 1000, chosen: 30 };
        let last = *chosen(plan, 1).last().unwrap();
        let mut choice = Choice::new(plan, 1);
        for index in 0..=last {
            choice.of(index);
            assert!(!choice.is_over(index));
        }
        choice.of(last + 1);
        assert!(choice.is_over(last + 1));
    }
}
