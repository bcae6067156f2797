//! The section "comparison" of a record: measured latencies of a trace, next to those of the same I/Os in the replay.
//!
//! Demerit is that of Ruemmler & Wilkes (IEEE Computer 27(3), 1994): the root of the mean squared horizontal distance
//! of the two distributions, here also in percent of the measured mean. It does not describe single I/Os: for those,
//! there is the root of the mean square of all differences.
//!
//! Both come from histograms with three significant digits, so that memory does not grow with the trace: a value is off
//! by at most 0.05 %.

use hdrhistogram::Histogram;
use hotband_machine::Op;
use hotband_units::Span;
use serde::Serialize;

use crate::probes::streams::direction_of;
use crate::sources::trace::spans::Spans;

/// Percentiles that are put side by side.
const PERCENTILES: [f64; 9] = [1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 100.0];
/// Distance from which an I/O is far from the end of the last one on its volume: within a cylinder or a
/// cache segment it is near.
const FAR: u64 = 1 << 20;

/// Distance from the end of the previously issued I/O on the volume to the start of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    Continuing,
    Near,
    Far,
}

impl Distance {
    pub fn between(end: u64, begin: u64) -> Self {
        match end.abs_diff(begin) {
            0 => Self::Continuing,
            1..FAR => Self::Near,
            FAR.. => Self::Far,
        }
    }
}

/// Measured and replayed latencies: of the same I/Os, or of two sets of I/Os.
#[derive(Clone, Debug)]
pub struct Pairs {
    pub measured: Spans,
    pub replayed: Spans,
    /// Sum of the squares of the differences, in ns^2; none if the I/Os are not the same.
    squares: Option<f64>,
}

impl Pairs {
    fn new() -> Self {
        Self { measured: Spans::new(), replayed: Spans::new(), squares: Some(0.0) }
    }

    fn add(&mut self, measured: Span, replayed: Span) {
        self.measured.add(measured);
        self.replayed.add(replayed);
        self.squares = self.squares.map(|squares| squares + (replayed.0 as f64 - measured.0 as f64).powi(2));
    }

    /// An I/O that only one of the two has.
    fn add_alone(&mut self, side_of: Of, latency: Span) {
        self.squares = None;
        let side = match side_of {
            Of::Measured => &mut self.measured,
            Of::Replayed => &mut self.replayed,
        };
        side.add(latency);
    }

    fn add_all(&mut self, other: &Self) {
        self.measured.add_all(&other.measured);
        self.replayed.add_all(&other.replayed);
        self.squares = self.squares.zip(other.squares).map(|(mine, other)| mine + other);
    }

    /// Several together; none of none.
    fn sum<'a>(parts: impl IntoIterator<Item = &'a Option<Box<Self>>>) -> Option<Self> {
        let mut comparisons = parts.into_iter().flatten();
        let mut sum = Self::clone(comparisons.next()?);
        comparisons.for_each(|other| sum.add_all(other));
        Some(sum)
    }

    fn ios(&self) -> (u64, u64) {
        (self.measured.count(), self.replayed.count())
    }

    /// The figures of both, where both have I/Os.
    fn figures(&self) -> Option<Figures> {
        let ios = self.ios();
        if ios.0 == 0 || ios.1 == 0 {
            return None;
        }
        let means = (self.measured.mean_ns(), self.replayed.mean_ns());
        // Of what took no time at all nothing is a share.
        let share = |value: f64| (means.0 > 0.0).then(|| 100.0 * value / means.0);
        let demerit = horizontal_distance(&self.measured.histogram, &self.replayed.histogram);
        Some(Figures {
            ios: ios.0,
            ios_replayed: (ios.0 != ios.1).then_some(ios.1),
            mean_measured_ns: means.0,
            mean_replayed_ns: means.1,
            mean_error_pct: share(means.1 - means.0),
            demerit_ns: demerit,
            demerit_pct: share(demerit),
            rms_ns: self.squares.map(|squares| (squares / ios.0 as f64).sqrt()),
        })
    }

    fn percentiles(&self) -> Vec<Percentile> {
        let percentile_at = |percentile: f64| Percentile {
            percentile,
            measured_ns: self.measured.at(percentile / 100.0),
            replayed_ns: self.replayed.at(percentile / 100.0),
        };
        PERCENTILES.map(percentile_at).into()
    }

    /// Return both distributions, fine enough to be drawn.
    fn distribution(&self) -> Distribution {
        let share_pct: Vec<f64> = (0..200).map(|half| f64::from(half) / 2.0).chain([99.9, 99.99, 100.0]).collect();
        let times_at = |side: &Spans| share_pct.iter().map(|share| side.at(share / 100.0)).collect();
        let (measured_ns, replayed_ns) = (times_at(&self.measured), times_at(&self.replayed));
        Distribution { share_pct, measured_ns, replayed_ns }
    }
}

/// Root of the mean squared distance of two distributions, rank by rank; if one has more values than the
/// other, share by share.
fn horizontal_distance(first: &Histogram<u64>, second: &Histogram<u64>) -> f64 {
    // Each value counts as often as it takes for both to have as many.
    let common = gcd(first.len(), second.len());
    let (times, times_other) = (u128::from(second.len() / common), u128::from(first.len() / common));
    let mut others = second.iter_recorded().map(|at| (middle(second, at.value_iterated_to()), at.count_at_value()));
    let (mut value, mut left) = (0.0, 0);
    let mut sum = 0.0;
    for at in first.iter_recorded() {
        let (first_value, mut count) = (middle(first, at.value_iterated_to()), u128::from(at.count_at_value()) * times);
        while count > 0 {
            if left == 0 {
                let (next, times) = others.next().expect("both have as many values");
                (value, left) = (next, u128::from(times) * times_other);
            }
            let both = count.min(left);
            sum += both as f64 * (value - first_value) * (value - first_value);
            count -= both;
            left -= both;
        }
    }
    (sum / (u128::from(first.len()) * times) as f64).sqrt()
}

fn gcd(larger: u64, smaller: u64) -> u64 {
    if smaller == 0 { larger } else { gcd(smaller, larger % smaller) }
}

fn middle(histogram: &Histogram<u64>, value: u64) -> f64 {
    f64::midpoint(histogram.lowest_equivalent(value) as f64, histogram.highest_equivalent(value) as f64)
}

/// Side of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Measured,
    Replayed,
}

/// Measured next to replayed latencies while they come: by direction, and by distance (of flushes and trims, which lie
/// nowhere, all in one).
#[derive(Clone, Debug, Default)]
pub struct Compared {
    classes: [[Option<Box<Pairs>>; 3]; 4],
}

impl Compared {
    /// An I/O that was served both times.
    pub fn add(&mut self, op: Op, distance: Distance, measured: Span, replayed: Span) {
        self.class(op, distance).add(measured, replayed);
    }

    /// An I/O of one of the two, which do not hold the same.
    pub fn add_alone(&mut self, side: Of, op: Op, distance: Distance, latency: Span) {
        self.class(op, distance).add_alone(side, latency);
    }

    fn class(&mut self, op: Op, distance: Distance) -> &mut Pairs {
        self.classes[direction_of(op)][distance as usize].get_or_insert_with(|| Box::new(Pairs::new()))
    }

    /// Add the counts of another trace.
    pub fn add_all(&mut self, other: &Self) {
        for (mine, other) in self.classes.iter_mut().flatten().zip(other.classes.iter().flatten()) {
            if let Some(other) = other {
                mine.get_or_insert_with(|| Box::new(Pairs::new())).add_all(other);
            }
        }
    }

    /// Reads, writes, flushes and trims.
    pub fn by_direction(&self) -> [Option<Pairs>; 4] {
        self.classes.each_ref().map(Pairs::sum)
    }

    /// The section; none unless both have latencies. A class that only one has is left out.
    pub fn record(&self) -> Option<Comparison> {
        let all = Pairs::sum(self.classes.iter().flatten())?;
        let distances = [Distance::Continuing, Distance::Near, Distance::Far];
        let directions = ["read", "write"].into_iter().zip(&self.classes);
        let classes = directions.flat_map(|(direction, classes)| {
            distances.into_iter().zip(classes).filter_map(move |(distance, pairs)| {
                Some(Class { direction, distance, figures: pairs.as_ref()?.figures()? })
            })
        });
        Some(Comparison {
            figures: all.figures()?,
            percentiles: all.percentiles(),
            classes: classes.collect(),
            distribution: all.distribution(),
        })
    }
}

#[derive(Clone, Debug, Serialize)]
struct Figures {
    ios: u64,
    /// Number of replayed I/Os, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ios_replayed: Option<u64>,
    mean_measured_ns: f64,
    mean_replayed_ns: f64,
    mean_error_pct: Option<f64>,
    demerit_ns: f64,
    demerit_pct: Option<f64>,
    /// Root of the mean square of the differences, I/O by I/O; none if these are not the same.
    rms_ns: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "keys of JSON: which percentile it is")]
struct Percentile {
    percentile: f64,
    measured_ns: u64,
    replayed_ns: u64,
}

/// Latencies that this many percent of the I/Os do not exceed.
#[derive(Clone, Debug, Serialize)]
struct Distribution {
    share_pct: Vec<f64>,
    measured_ns: Vec<u64>,
    replayed_ns: Vec<u64>,
}

#[derive(Clone, Debug, Serialize)]
struct Class {
    direction: &'static str,
    distance: Distance,
    #[serde(flatten)]
    figures: Figures,
}

/// The section.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    #[serde(flatten)]
    figures: Figures,
    percentiles: Vec<Percentile>,
    classes: Vec<Class>,
    distribution: Distribution,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(latencies: &[(u64, u64)]) -> Pairs {
        let mut pairs = Pairs::new();
        for (measured, replayed) in latencies {
            pairs.add(Span(*measured), Span(*replayed));
        }
        pairs
    }

    fn is_near(value: f64, expected: f64) -> bool {
        (value - expected).abs() <= 0.001 * expected.abs()
    }

    #[test]
    fn demerit_is_the_distance_of_the_sorted_values() {
        // Sorted they are 1, 2, 3 ms beside 2, 2, 5 ms: differences of 1, 0 and 2 ms.
        let figures =
            pairs(&[(3_000_000, 2_000_000), (1_000_000, 5_000_000), (2_000_000, 2_000_000)]).figures().unwrap();
        assert!(is_near(figures.demerit_ns, 1e6 * (5.0_f64 / 3.0).sqrt()), "{figures:?}");
        assert!(is_near(figures.demerit_pct.unwrap(), 50.0 * (5.0_f64 / 3.0).sqrt()));
        assert!(is_near(figures.mean_error_pct.unwrap(), 50.0));
        assert!(is_near(figures.rms_ns.unwrap(), 1e6 * (17.0_f64 / 3.0).sqrt()));
    }

    #[test]
    fn equal_distributions_have_no_demerit_though_single_ios_differ() {
        let figures = pairs(&[(1_000, 2_000), (2_000, 1_000)]).figures().unwrap();
        assert_eq!((figures.demerit_ns, figures.rms_ns), (0.0, Some(1_000.0)));
    }

    #[test]
    fn of_unequal_numbers_shares_are_compared_and_no_single_ios() {
        let mut pairs = Pairs::new();
        // Half of each is compared with half of the other: 1 ms beside 2, and 3 beside 2.
        for latency in [1_000_000, 1_000_000, 1_000_000, 3_000_000, 3_000_000, 3_000_000] {
            pairs.add_alone(Of::Measured, Span(latency));
        }
        for _ in 0..4 {
            pairs.add_alone(Of::Replayed, Span(2_000_000));
        }
        let figures = pairs.figures().unwrap();
        assert!(is_near(figures.demerit_ns, 1e6), "{figures:?}");
        assert_eq!((figures.ios, figures.ios_replayed, figures.rms_ns), (6, Some(4), None));
        assert!(Pairs::new().figures().is_none());
    }

    #[test]
    fn what_took_no_time_has_no_percentages() {
        let figures = pairs(&[(0, 1_000)]).figures().unwrap();
        assert_eq!((figures.demerit_pct, figures.mean_error_pct), (None, None));
    }

    #[test]
    fn distances_are_told_from_where_the_last_one_ended() {
        assert_eq!(Distance::between(4096, 4096), Distance::Continuing);
        assert_eq!(Distance::between(4096, 0), Distance::Near);
        assert_eq!(Distance::between(0, FAR - 1), Distance::Near);
        assert_eq!(Distance::between(0, FAR), Distance::Far);
        assert_eq!(Distance::between(FAR, 0), Distance::Far);
    }
}
