//! The section "comparison" of a record: latencies of a trace as they were measured, beside those of the same I/Os now.
//!
//! Demerit is that of Ruemmler & Wilkes (IEEE Computer 27(3), 1994): the root of the mean squared horizontal distance of
//! the two distributions, here also in percent of the measured mean. It says nothing of single I/Os: of those the root of
//! the mean square of all differences does.
//!
//! Both come from histograms with three significant digits, so that memory does not grow with the trace: a value is off by
//! at most 0.05 %.

use hdrhistogram::Histogram;
use hotband_machine::Op;
use hotband_units::Span;
use hotband_workloads::TraceIo;
use serde::Serialize;

use crate::probes::direction::empty_histogram;

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
    measured: Histogram<u64>,
    replayed: Histogram<u64>,
    /// Sums, in ns: of both, and of the squares of their differences.
    sums: (u128, u128),
    squares: f64,
}

impl Pairs {
    fn new() -> Self {
        Self { measured: empty_histogram(), replayed: empty_histogram(), sums: (0, 0), squares: 0.0 }
    }

    fn add(&mut self, measured: Span, replayed: Span) {
        self.measured.saturating_record(measured.0);
        self.replayed.saturating_record(replayed.0);
        self.sums = (self.sums.0 + u128::from(measured.0), self.sums.1 + u128::from(replayed.0));
        self.squares += (replayed.0 as f64 - measured.0 as f64).powi(2);
    }

    fn add_all(&mut self, other: &Self) {
        const SAME: &str = "all histograms have the same bounds";
        self.measured.add(&other.measured).expect(SAME);
        self.replayed.add(&other.replayed).expect(SAME);
        self.sums = (self.sums.0 + other.sums.0, self.sums.1 + other.sums.1);
        self.squares += other.squares;
    }

    fn ios(&self) -> u64 {
        self.measured.len()
    }

    /// The figures of both; there is at least one I/O.
    fn figures(&self) -> Figures {
        let ios = self.ios() as f64;
        let means = (self.sums.0 as f64 / ios, self.sums.1 as f64 / ios);
        // Of what took no time at all nothing is a share.
        let share = |value: f64| (means.0 > 0.0).then(|| 100.0 * value / means.0);
        let demerit = horizontal_distance(&self.measured, &self.replayed);
        Figures {
            ios: self.ios(),
            mean_measured_ns: means.0,
            mean_replayed_ns: means.1,
            mean_error_pct: share(means.1 - means.0),
            demerit_ns: demerit,
            demerit_pct: share(demerit),
            rms_ns: (self.squares / ios).sqrt(),
        }
    }

    fn percentiles(&self) -> Vec<Percentile> {
        let of = |percentile: f64| Percentile {
            percentile,
            measured_ns: self.measured.value_at_percentile(percentile),
            replayed_ns: self.replayed.value_at_percentile(percentile),
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

/// Measured beside replayed latencies while they come.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    all: Option<Box<Pairs>>,
    /// Reads and writes, by distance.
    classes: [[Option<Box<Pairs>>; 3]; 2],
}

impl Compared {
    /// An I/O that was served both times.
    pub fn add(&mut self, io: &TraceIo, distance: Distance, measured: Span, replayed: Span) {
        let add = |to: &mut Option<Box<Pairs>>| {
            to.get_or_insert_with(|| Box::new(Pairs::new())).add(measured, replayed);
        };
        add(&mut self.all);
        match io.op {
            Op::Read => add(&mut self.classes[0][distance as usize]),
            Op::Write => add(&mut self.classes[1][distance as usize]),
            Op::Flush | Op::Trim => {}
        }
    }

    /// What another trace has.
    pub fn add_all(&mut self, other: &Self) {
        let own = std::iter::once(&mut self.all).chain(self.classes.iter_mut().flatten());
        let others = std::iter::once(&other.all).chain(other.classes.iter().flatten());
        for (own, other) in own.zip(others) {
            if let Some(other) = other {
                own.get_or_insert_with(|| Box::new(Pairs::new())).add_all(other);
            }
        }
    }

    /// The section; none where the trace has no latencies.
    pub fn record(&self) -> Option<Comparison> {
        let all = self.all.as_ref()?;
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
