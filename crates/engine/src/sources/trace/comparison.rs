//! The section "comparison" of a record: latencies of a trace as they were measured, beside those of the same I/Os now.
//!
//! Demerit is that of Ruemmler & Wilkes (IEEE Computer 27(3), 1994): the root of the mean squared horizontal distance of
//! the two distributions, here also in percent of the measured mean. It says nothing of single I/Os: of those the root of
//! the mean square of all differences does.
//!
//! Both come from histograms with three significant digits, so that memory does not grow with the trace: a value is off by
//! at most 0.05 %.

use hdrhistogram::Histogram;
use hotband_units::Span;
use hotband_workloads::TraceIo;
use serde::Serialize;

use crate::probes::streams::direction_of;
use crate::sources::trace::spans::Spans;

/// Percentiles that are put side by side.
const PERCENTILES: [f64; 9] = [1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 100.0];
/// From here on an I/O is far from where the last one of its volume ended: what a cylinder or a segment of a cache holds
/// is near.
const FAR: u64 = 1 << 20;

/// Where an I/O begins, seen from the end of the one asked for before it on its volume.
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

/// Latencies of the same I/Os, as measured and as replayed.
#[derive(Clone, Debug)]
pub struct Pairs {
    pub measured: Spans,
    pub replayed: Spans,
    /// Sum of the squares of their differences, in ns.
    squares: f64,
}

impl Pairs {
    fn new() -> Self {
        Self { measured: Spans::new(), replayed: Spans::new(), squares: 0.0 }
    }

    fn add(&mut self, measured: Span, replayed: Span) {
        self.measured.add(measured);
        self.replayed.add(replayed);
        self.squares += (replayed.0 as f64 - measured.0 as f64).powi(2);
    }

    fn add_all(&mut self, other: &Self) {
        self.measured.add_all(&other.measured);
        self.replayed.add_all(&other.replayed);
        self.squares += other.squares;
    }

    /// Several together; none of none.
    fn sum<'a>(of: impl IntoIterator<Item = &'a Option<Box<Self>>>) -> Option<Self> {
        let mut there = of.into_iter().flatten();
        let mut sum = Self::clone(there.next()?);
        there.for_each(|other| sum.add_all(other));
        Some(sum)
    }

    /// The figures of both; there is at least one I/O.
    fn figures(&self) -> Figures {
        let (measured, replayed) = (self.measured.mean_ns(), self.replayed.mean_ns());
        // Of what took no time at all nothing is a share.
        let share = |value: f64| (measured > 0.0).then(|| 100.0 * value / measured);
        let demerit = horizontal_distance(&self.measured.histogram, &self.replayed.histogram);
        Figures {
            ios: self.measured.count(),
            mean_measured_ns: measured,
            mean_replayed_ns: replayed,
            mean_error_pct: share(replayed - measured),
            demerit_ns: demerit,
            demerit_pct: share(demerit),
            rms_ns: (self.squares / self.measured.count() as f64).sqrt(),
        }
    }

    fn percentiles(&self) -> Vec<Percentile> {
        let of = |percentile: f64| Percentile {
            percentile,
            measured_ns: self.measured.at(percentile / 100.0),
            replayed_ns: self.replayed.at(percentile / 100.0),
        };
        PERCENTILES.map(of).into()
    }
}

/// Root of the mean squared distance of two distributions with as many values, rank by rank.
fn horizontal_distance(one: &Histogram<u64>, other: &Histogram<u64>) -> f64 {
    let mut others = other.iter_recorded().map(|at| (middle(other, at.value_iterated_to()), at.count_at_value()));
    let (mut value, mut left) = (0.0, 0);
    let mut sum = 0.0;
    for at in one.iter_recorded() {
        let (own, mut count) = (middle(one, at.value_iterated_to()), at.count_at_value());
        while count > 0 {
            if left == 0 {
                (value, left) = others.next().expect("both have as many values");
            }
            let both = count.min(left);
            sum += both as f64 * (value - own) * (value - own);
            count -= both;
            left -= both;
        }
    }
    (sum / one.len() as f64).sqrt()
}

fn middle(of: &Histogram<u64>, value: u64) -> f64 {
    f64::midpoint(of.lowest_equivalent(value) as f64, of.highest_equivalent(value) as f64)
}

/// Measured beside replayed latencies while they come: by direction, and by distance (of flushes and trims, which lie
/// nowhere, all in one).
#[derive(Clone, Debug, Default)]
pub struct Compared {
    classes: [[Option<Box<Pairs>>; 3]; 4],
}

impl Compared {
    /// An I/O that was served both times.
    pub fn add(&mut self, io: &TraceIo, distance: Distance, measured: Span, replayed: Span) {
        let class = &mut self.classes[direction_of(io.op)][distance as usize];
        class.get_or_insert_with(|| Box::new(Pairs::new())).add(measured, replayed);
    }

    /// What another trace has.
    pub fn add_all(&mut self, other: &Self) {
        for (own, other) in self.classes.iter_mut().flatten().zip(other.classes.iter().flatten()) {
            if let Some(other) = other {
                own.get_or_insert_with(|| Box::new(Pairs::new())).add_all(other);
            }
        }
    }

    /// Reads, writes, flushes and trims.
    pub fn by_direction(&self) -> [Option<Pairs>; 4] {
        self.classes.each_ref().map(Pairs::sum)
    }

    /// The section; none where the trace has no latencies.
    pub fn record(&self) -> Option<Comparison> {
        let all = Pairs::sum(self.classes.iter().flatten())?;
        let distances = [Distance::Continuing, Distance::Near, Distance::Far];
        let directions = ["read", "write"].into_iter().zip(&self.classes);
        let classes = directions.flat_map(|(direction, classes)| {
            distances.into_iter().zip(classes).filter_map(move |(distance, pairs)| {
                pairs.as_ref().map(|pairs| Class { direction, distance, figures: pairs.figures() })
            })
        });
        Some(Comparison { figures: all.figures(), percentiles: all.percentiles(), classes: classes.collect() })
    }
}

#[derive(Clone, Debug, Serialize)]
struct Figures {
    ios: u64,
    mean_measured_ns: f64,
    mean_replayed_ns: f64,
    mean_error_pct: Option<f64>,
    demerit_ns: f64,
    demerit_pct: Option<f64>,
    /// Root of the mean square of the differences, I/O by I/O.
    rms_ns: f64,
}

#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "keys of JSON: which percentile it is")]
struct Percentile {
    percentile: f64,
    measured_ns: u64,
    replayed_ns: u64,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[(u64, u64)]) -> Pairs {
        let mut pairs = Pairs::new();
        for (measured, replayed) in of {
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
        let figures = pairs(&[(3_000_000, 2_000_000), (1_000_000, 5_000_000), (2_000_000, 2_000_000)]).figures();
        assert!(is_near(figures.demerit_ns, 1e6 * (5.0_f64 / 3.0).sqrt()), "{figures:?}");
        assert!(is_near(figures.demerit_pct.unwrap(), 50.0 * (5.0_f64 / 3.0).sqrt()));
        assert!(is_near(figures.mean_error_pct.unwrap(), 50.0));
        assert!(is_near(figures.rms_ns, 1e6 * (17.0_f64 / 3.0).sqrt()));
    }

    #[test]
    fn equal_distributions_have_no_demerit_though_single_ios_differ() {
        let figures = pairs(&[(1_000, 2_000), (2_000, 1_000)]).figures();
        assert_eq!((figures.demerit_ns, figures.rms_ns), (0.0, 1_000.0));
    }

    #[test]
    fn what_took_no_time_has_no_percentages() {
        let figures = pairs(&[(0, 1_000)]).figures();
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
