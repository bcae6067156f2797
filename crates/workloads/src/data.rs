//! Compressibility of the data of writes: one entropy for all, or a distribution that every write draws from.
//!
//! Leaves out: that writes to one place resemble each other, and that neighbours do. Each write draws for itself.

use hotband_machine::{Entropy, Section, SpecError};
use toml::{Table, Value};

use crate::Random;

/// The entropy of the data of writes, as its text states it.
#[derive(Clone, Debug, PartialEq)]
pub enum DataSpec {
    /// The same value for every write.
    Constant(f64),
    /// Uniform below the mean and uniform above it, weighted so that the mean holds; uniform over the whole where the
    /// mean lies in the middle.
    Uniform {
        /// Mean.
        mean: f64,
        /// Lowest value.
        low: f64,
        /// Highest value.
        high: f64,
    },
    /// Bins of equal width over 0 to 1, uniform within each.
    Histogram {
        /// Weights of the bins.
        weights: Vec<f64>,
        /// Mean to which the values are scaled; that of the bins by default.
        mean: Option<f64>,
    },
}

/// A stretch of a distribution that is uniform within.
#[derive(Clone, Copy, Debug)]
struct Uniform {
    from: f64,
    to: f64,
    weight: f64,
}

/// Accepted values of `data`, for errors.
const ACCEPTED: &str =
    "expected a share from 0 to 1, { mean = 0.4, low = 0.1, high = 1.0 } or { histogram = [..], mean = 0.4 }";
/// Most bins of a histogram.
const MOST_BINS: usize = 10_000;
const SHARES: std::ops::RangeInclusive<f64> = 0.0..=1.0;

impl DataSpec {
    /// The value of `key` in `section`, if it is there.
    ///
    /// # Errors
    /// Not a share, and not a distribution of shares.
    pub fn read(section: &Section, key: &'static str) -> Result<Option<Self>, SpecError> {
        match section.value(key) {
            None => Ok(None),
            Some(Value::Table(_)) => section.section(key)?.map(Self::of_table).transpose(),
            Some(value) => {
                let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
                let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let share = number.filter(|share| SHARES.contains(share));
                share.map(|share| Some(Self::Constant(share))).ok_or_else(|| section.error(key, shown, ACCEPTED))
            }
        }
    }

    /// The value of `--set data`: a number, or a table as in a file.
    ///
    /// # Errors
    /// Neither.
    pub fn of_text(text: &str) -> Result<Self, SpecError> {
        let accepted = format!("{ACCEPTED}, or a file NAME.json written by `hotband entropy --json`");
        let wrong = || SpecError::new("set", "data", text, accepted.as_str());
        // One line: what follows a line end would be another key.
        let line = Some(text).filter(|text| !text.contains(['\n', '\r', '#']));
        let table = line.and_then(|line| format!("data = {line}").parse::<Table>().ok()).ok_or_else(wrong)?;
        match Self::read(&Section::new("set", "", &table), "data") {
            Ok(found) => found.ok_or_else(wrong),
            Err(error) if error.key == "data" => Err(wrong()),
            Err(error) => Err(error),
        }
    }

    /// Returns it as a TOML value.
    pub(crate) fn to_value(&self) -> Value {
        let table = |pairs: Vec<(&str, Value)>| {
            Value::Table(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        };
        match self {
            Self::Constant(share) => Value::from(*share),
            Self::Uniform { mean, low, high } => {
                table(vec![("mean", Value::from(*mean)), ("low", Value::from(*low)), ("high", Value::from(*high))])
            }
            Self::Histogram { weights, mean } => {
                let bins = ("histogram", Value::from(weights.clone()));
                table([bins].into_iter().chain(mean.map(|mean| ("mean", Value::from(mean)))).collect())
            }
        }
    }

    fn of_table(table: Section) -> Result<Self, SpecError> {
        let mean = table.number("mean", SHARES)?;
        let weights = table.value("histogram").map(|value| weights_of(&table, value)).transpose()?;
        let (low, high) = (table.number("low", SHARES)?, table.number("high", SHARES)?);
        let spec = match (weights, low, high) {
            (Some(weights), None, None) => Self::Histogram { weights, mean },
            (None, Some(low), Some(high)) if low < high => {
                let mean = mean.unwrap_or(f64::midpoint(low, high));
                if !(low..=high).contains(&mean) {
                    return Err(table.error("mean", mean.to_string(), "expected a mean from low to high"));
                }
                Self::Uniform { mean, low, high }
            }
            (None, Some(_), Some(high)) => {
                return Err(table.error("high", high.to_string(), "expected a share above low"));
            }
            _ => return Err(table.error("", "", ACCEPTED)),
        };
        table.finish()?;
        Ok(spec)
    }

    /// Mean entropy.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(share) => *share,
            Self::Uniform { mean, .. } => *mean,
            Self::Histogram { weights, mean } => mean.unwrap_or_else(|| mean_of(&bins(weights))),
        }
    }

    fn pieces(&self) -> Vec<Uniform> {
        match self {
            Self::Constant(share) => vec![Uniform { from: *share, to: *share, weight: 1.0 }],
            Self::Uniform { mean, low, high } => {
                // Weights w and 1 - w of halves with means (low + mean) / 2 and (mean + high) / 2 give the mean where
                // w = (high - mean) / (high - low).
                let below = (high - mean) / (high - low);
                vec![
                    Uniform { from: *low, to: *mean, weight: below },
                    Uniform { from: *mean, to: *high, weight: 1.0 - below },
                ]
            }
            Self::Histogram { weights, mean } => {
                let bins = bins(weights);
                mean.map_or_else(|| bins.clone(), |mean| scaled(&bins, mean))
            }
        }
    }
}

fn weights_of(section: &Section, value: &Value) -> Result<Vec<f64>, SpecError> {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    let weights: Option<Vec<f64>> = value.as_array().and_then(|bins| bins.iter().map(number).collect());
    let fits = |weights: &Vec<f64>| {
        let total: f64 = weights.iter().sum();
        weights.len() <= MOST_BINS && weights.iter().all(|weight| *weight >= 0.0) && total > 0.0 && total.is_finite()
    };
    let accepted = format!("expected 1 to {MOST_BINS} weights of equal bins over 0 to 1, one of them above zero");
    weights.filter(fits).ok_or_else(|| section.error("histogram", value.to_string(), accepted))
}

fn bins(weights: &[f64]) -> Vec<Uniform> {
    let (count, total) = (weights.len() as f64, weights.iter().sum::<f64>());
    let bin = |(n, weight): (usize, &f64)| Uniform {
        from: n as f64 / count,
        to: (n + 1) as f64 / count,
        weight: weight / total,
    };
    weights.iter().enumerate().map(bin).collect()
}

fn mean_of(pieces: &[Uniform]) -> f64 {
    pieces.iter().map(|piece| piece.weight * f64::midpoint(piece.from, piece.to)).sum()
}

/// The pieces drawn towards 0, or towards 1, in proportion until their mean is `mean`.
fn scaled(pieces: &[Uniform], mean: f64) -> Vec<Uniform> {
    let have = mean_of(pieces);
    let move_to = |value: f64| {
        if mean <= have { value * mean / have } else { 1.0 - (1.0 - value) * (1.0 - mean) / (1.0 - have) }
    };
    let moved = |piece: &Uniform| Uniform { from: move_to(piece.from), to: move_to(piece.to), ..*piece };
    pieces.iter().map(moved).collect()
}

/// Values of a distribution, all as likely: finer than the step of an entropy is coarse, and they fit into a core's
/// first cache.
const VALUES: usize = 4096;

/// The distribution at work.
#[derive(Clone, Debug)]
struct Spread {
    values: Box<[Entropy; VALUES]>,
    random: Random,
}

/// Gives every write its entropy. One that is constant draws nothing.
#[derive(Clone, Debug)]
pub struct Data {
    constant: Entropy,
    spread: Option<Box<Spread>>,
}

impl Data {
    /// Data that does not compress.
    pub const INCOMPRESSIBLE: Self = Self { constant: Entropy::INCOMPRESSIBLE, spread: None };

    /// Return a sampler of `spec` with a separate generator.
    pub fn new(spec: &DataSpec, random: Random) -> Self {
        let constant = Entropy::of(spec.mean());
        if matches!(spec, DataSpec::Constant(_)) {
            return Self { constant, spread: None };
        }
        let spread = Spread { values: quantiles(&spec.pieces()), random };
        Self { constant, spread: Some(Box::new(spread)) }
    }

    /// Whether every write has the same entropy.
    pub fn is_constant(&self) -> bool {
        self.spread.is_none()
    }

    /// The entropy of the next write.
    #[inline]
    pub fn draw(&mut self) -> Entropy {
        match &mut self.spread {
            None => self.constant,
            Some(spread) => spread.values[(spread.random.bits() >> (64 - VALUES.ilog2())) as usize],
        }
    }
}

/// Quantiles in the middle of equal shares: (n + 1/2) / VALUES.
fn quantiles(pieces: &[Uniform]) -> Box<[Entropy; VALUES]> {
    let mut values = Box::new([Entropy::INCOMPRESSIBLE; VALUES]);
    let (mut upto, mut index) = (pieces[0].weight, 0);
    for (n, value) in values.iter_mut().enumerate() {
        let share = (n as f64 + 0.5) / VALUES as f64;
        while share > upto && index + 1 < pieces.len() {
            index += 1;
            upto += pieces[index].weight;
        }
        let piece = &pieces[index];
        let inside = if piece.weight > 0.0 { 1.0 - (upto - share) / piece.weight } else { 1.0 };
        *value = Entropy::of(piece.from + (piece.to - piece.from) * inside.clamp(0.0, 1.0));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drawn(spec: &DataSpec, count: usize) -> Vec<f64> {
        let mut data = Data::new(spec, Random::new(1, "test"));
        (0..count).map(|_| data.draw().share()).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn a_constant_draws_nothing() {
        let data = Data::new(&DataSpec::Constant(0.37), Random::new(1, "test"));
        assert!(data.is_constant());
        assert!(drawn(&DataSpec::Constant(0.37), 10).iter().all(|share| *share == 0.37));
    }

    #[test]
    fn a_uniform_distribution_reaches_both_ends_and_its_halves_are_uniform() {
        let values = drawn(&DataSpec::Uniform { mean: 0.3, low: 0.2, high: 0.8 }, 100_000);
        assert!(values.iter().all(|value| (0.2..=0.8).contains(value)));
        // Below the mean lie (0.8 - 0.3) / (0.8 - 0.2) of them, half of these below 0.25; 5 standard errors are 0.008.
        let below = |edge: f64| values.iter().filter(|value| **value < edge).count() as f64 / 1e5;
        assert!((below(0.3) - 5.0 / 6.0).abs() < 0.008 && (below(0.25) - 5.0 / 12.0).abs() < 0.008);
    }

    #[test]
    fn a_histogram_draws_from_its_bins_alone() {
        let spec = DataSpec::Histogram { weights: vec![1.0, 0.0, 0.0, 3.0], mean: None };
        let values = drawn(&spec, 100_000);
        assert!(values.iter().all(|value| *value <= 0.25 || *value >= 0.75));
        let low = values.iter().filter(|value| **value <= 0.25).count() as f64 / 1e5;
        assert!((low - 0.25).abs() < 0.007, "{low}: beyond 5 standard errors");
        assert_eq!(spec.mean(), 0.25 * 0.125 + 0.75 * 0.875);
    }

    #[test]
    fn what_set_takes_is_what_a_file_takes() {
        assert_eq!(DataSpec::of_text("0.37"), Ok(DataSpec::Constant(0.37)));
        let table = DataSpec::of_text("{ histogram = [1, 2.5], mean = 0.4 }");
        assert_eq!(table, Ok(DataSpec::Histogram { weights: vec![1.0, 2.5], mean: Some(0.4) }));
        for wrong in ["1.2", "-0.1", "nan", "x", "\"x\"", "0.3\nb = 1", "", "{}", "{ mean = 0.4 }"] {
            let error = DataSpec::of_text(wrong).expect_err(wrong);
            assert_eq!((error.file.as_str(), error.key.as_str()), ("set", "data"), "{wrong}");
            assert!(error.accepted.contains("a share from 0 to 1"), "{wrong}");
        }
        let beyond = DataSpec::of_text("{ mean = 0.9, low = 0.1, high = 0.5 }").expect_err("beyond high");
        assert_eq!((beyond.key.as_str(), beyond.value.as_str()), ("data.mean", "0.9"));
        let misspelt = DataSpec::of_text("{ low = 0.1, high = 0.5, men = 0.3 }").expect_err("unknown key");
        assert!(misspelt.accepted.contains("did you mean \"mean\""), "{misspelt}");
    }

    proptest! {
        #[test]
        fn the_mean_of_what_is_drawn_is_the_one_that_was_stated(
            low in 0.0..0.5_f64, width in 0.01..0.5_f64, at in 0.0..1.0_f64, weights in prop::collection::vec(0.0..9.0_f64, 1..40),
            wanted in 0.01..0.99_f64,
        ) {
            let high = low + width;
            let uniform = DataSpec::Uniform { mean: low + width * at, low, high };
            let weights: Vec<f64> = weights.into_iter().chain([1.0]).collect();
            let plain = DataSpec::Histogram { weights: weights.clone(), mean: None };
            let scaled = DataSpec::Histogram { weights, mean: Some(wanted) };
            for spec in [uniform, plain, scaled] {
                let values = drawn(&spec, 40_000);
                // A share's standard deviation is at most 0.5: five standard errors of 40,000, and half a step.
                prop_assert!((mean(&values) - spec.mean()).abs() < 0.0126, "{spec:?}: {}", mean(&values));
            }
        }
    }
}
