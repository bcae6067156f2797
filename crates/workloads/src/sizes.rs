//! A mix of sizes, by weight.

use crate::Random;

/// Sizes in bytes and their weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// Size and cumulative share, the last share being 1.
    cumulative: Vec<(u32, f64)>,
}

impl Sizes {
    /// Sizes with weights above zero, at least one.
    pub fn new(weights: &[(u32, f64)]) -> Self {
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let cumulative = weights.iter().map(|(size, weight)| {
            sum += weight / total;
            (*size, sum)
        });
        Self { cumulative: cumulative.collect() }
    }

    /// All sizes.
    pub fn all(&self) -> impl Iterator<Item = u32> {
        self.cumulative.iter().map(|(size, _)| *size)
    }

    /// The largest size.
    pub fn largest(&self) -> u32 {
        self.all().max().unwrap_or(0)
    }

    /// A size drawn by weight.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u32 {
        if let [(only, _)] = self.cumulative[..] {
            return only;
        }
        let share = random.unit();
        let chosen = self.cumulative.iter().find(|(_, upto)| share < *upto);
        chosen.or(self.cumulative.last()).map_or(0, |(size, _)| *size)
    }
}
