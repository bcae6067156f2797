//! The seek curve from three numbers of a data sheet: single track, average, full stroke.
//!
//! Form (Ruemmler & Wilkes, IEEE Computer 27(3), 1994): `a + b * x^p` for strokes `x` below a knee, a straight
//! line beyond it that continues value and slope. The data sheet's average is the mean over uniformly random pairs
//! of tracks, so stroke `x` counts with density `2 (1 - x)`; `p` is where that mean is met (1/2 would be constant
//! acceleration; the drives of the catalog come out at 0.38 to 0.55).
//!
//! Leaves out: short-seek acceleration plateaus, thermal recalibration, and seeks that differ by direction.

use std::sync::Arc;

use hotband_units::Span;

/// The three figures of a data sheet for one direction (read or write). Settling is included in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekPoints {
    /// To the next track.
    pub track: Span,
    /// Mean over random pairs of tracks.
    pub average: Span,
    /// Seek from the first to the last track.
    pub full: Span,
    /// Stroke at which the seek reaches its top speed.
    pub knee: Knee,
}

/// Stroke at which a seek reaches its top speed and the curve becomes a line, in millionths of the full stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knee(u32);

impl Knee {
    /// Return the knee at this stroke, above 0 and below 1.
    pub fn at(stroke: f64) -> Self {
        Self((stroke * 1e6).round() as u32)
    }

    fn stroke(self) -> f64 {
        f64::from(self.0) / 1e6
    }
}

/// The knee of drives of which nothing else is known. An estimate, range 0.25 to 0.5, one value for all. Four drives of
/// the 1990s bend at 12 to 25 % (facts/physics.md, section 1), but their single-track seeks are several times those of
/// today. Lower knees make short seeks slower: they agree better with what short strokes took on those drives, and
/// leave 7,200 rpm drives a gain of only 2.1 from queue depth 1 to 32, where data sheets show 2.6; higher ones the
/// other way round.
pub const KNEE: Knee = Knee(350_000);
/// Exponents between which a fit is looked for; 1/2 is constant acceleration.
const EXPONENTS: (f64, f64) = (0.05, 1.0);

/// `a + b * x^p` up to the knee, a line beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Curve {
    a: f64,
    b: f64,
    form: Form,
    /// Rise and slope of the form at its knee, which half of all strokes need.
    at_knee: (f64, f64),
}

/// The unit curve (a = 0, b = 1).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Form {
    p: f64,
    knee: f64,
}

/// Distances below this are looked up one by one; longer ones are interpolated.
const NEAR: u32 = 4096;
/// Longer distances are tabulated every `1 << FAR_SHIFT` tracks (error below a nanosecond on real curves).
const FAR_SHIFT: u32 = 6;

/// Seek time by distance in tracks (cylinders).
#[derive(Clone, Debug)]
pub struct SeekCurve {
    /// Near distances, and after them the far ones.
    nanos: Arc<[u32]>,
}

/// The curves made so far: drives of one kind share one table, which then stays in the processor's cache.
#[derive(Clone, Debug, Default)]
pub struct SeekCurves {
    made: Vec<(Seeks, u32, SeekCurve)>,
}

impl SeekCurves {
    /// The curve of `seeks` on a surface of `tracks` tracks.
    pub fn curve(&mut self, seeks: &Seeks, tracks: u32) -> SeekCurve {
        if let Some((_, _, curve)) = self.made.iter().find(|(have, on, _)| have == seeks && *on == tracks) {
            return curve.clone();
        }
        let curve = match seeks {
            Seeks::Points(points) => SeekCurve::new(*points, tracks),
            Seeks::Measured(measured) => SeekCurve::measured(measured, tracks),
        };
        self.made.push((seeks.clone(), tracks, curve.clone()));
        curve
    }
}

/// Known seeks in one direction.
#[derive(Clone, Debug, PartialEq)]
pub enum Seeks {
    /// Three figures of a data sheet.
    Points(SeekPoints),
    /// A curve that was measured.
    Measured(MeasuredSeeks),
}

/// A seek curve as it was measured on a drive, smoothed so that longer seeks are never faster.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredSeeks {
    /// Share of the longest seek, rising from zero (one cylinder), and nanoseconds.
    points: Arc<[(f64, f64)]>,
}

impl MeasuredSeeks {
    /// The curve through `points`, distances in cylinders and nanoseconds, of a drive with this many cylinders. At
    /// least two different distances, from 1 to one less than `cylinders`, rising. Each time has `more` added.
    ///
    /// Times are smoothed by isotonic regression (pool adjacent violators; each point weighs the same); between points
    /// a straight line, beyond the longest distance the line of the last two points.
    pub fn new(points: &[(u32, Span)], cylinders: u32, more: i64) -> Self {
        let longest = f64::from(cylinders.max(3) - 2);
        let time = |span: &Span| (span.0 as i64 + more).max(0) as f64;
        let smooth = isotonic(points.iter().map(|(_, span)| time(span)));
        let share = |distance: u32| f64::from(distance - 1) / longest;
        let mut points: Vec<(f64, f64)> =
            points.iter().zip(smooth).map(|((distance, _), time)| (share(*distance), time)).collect();
        if let [.., (x, y), (last, end)] = points[..]
            && last < 1.0
        {
            points.push((1.0, end + (end - y) / (last - x) * (1.0 - last)));
        }
        Self { points: points.into() }
    }

    /// Nanoseconds of a seek of a share of the longest.
    fn at(&self, x: f64) -> f64 {
        let next = self.points.partition_point(|(have, _)| *have < x).clamp(1, self.points.len() - 1);
        let ((x0, y0), (x1, y1)) = (self.points[next - 1], self.points[next]);
        if x <= x0 { y0 } else { y0 + (y1 - y0) * ((x - x0) / (x1 - x0)).min(1.0) }
    }
}

/// The closest sequence (least squares) that never falls: pool adjacent violators.
fn isotonic(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for value in values {
        pools.push((value, 1));
        while let [.., (before, n), (last, m)] = pools[..]
            && before > last
        {
            pools.truncate(pools.len() - 2);
            pools.push(((before * n as f64 + last * m as f64) / (n + m) as f64, n + m));
        }
    }
    pools.into_iter().flat_map(|(value, count)| std::iter::repeat_n(value, count)).collect()
}

impl SeekPoints {
    /// Whether a concave curve through these points exists: the average lies far enough from the single track, but
    /// not nearly at the full stroke.
    pub fn is_concave(&self) -> bool {
        let mean = |p| self.form(p).mean();
        self.share().is_some_and(|share| (mean(EXPONENTS.1)..mean(EXPONENTS.0)).contains(&share))
    }

    /// Position of the average between single track and full stroke.
    fn share(&self) -> Option<f64> {
        let rise = self.full.0.checked_sub(self.track.0).filter(|rise| *rise > 0)? as f64;
        Some(self.average.0.checked_sub(self.track.0)? as f64 / rise)
    }

    fn form(&self, p: f64) -> Form {
        Form { p, knee: self.knee.stroke() }
    }
}

impl Curve {
    /// Fits the curve in seconds over strokes 0 to 1.
    fn fit(points: SeekPoints) -> Self {
        let (a, full) = (points.track.as_secs_f64(), points.full.as_secs_f64());
        let share = points.share().expect("points are checked when a product is read");
        let p = bisect(EXPONENTS.0, EXPONENTS.1, |p| share - points.form(p).mean());
        let form = points.form(p);
        Self { a, b: (full - a) / form.rise(), form, at_knee: (libm::pow(form.knee, p), form.slope()) }
    }

    fn at(&self, x: f64) -> f64 {
        let Form { p, knee } = self.form;
        if x <= knee {
            return self.a + self.b * libm::pow(x, p);
        }
        let (rise, slope) = self.at_knee;
        self.a + self.b * (rise + slope * (x - knee))
    }
}

impl Form {
    /// Slope at the knee and beyond.
    fn slope(self) -> f64 {
        self.p * libm::pow(self.knee, self.p - 1.0)
    }

    /// Rise from stroke 0 to 1.
    fn rise(self) -> f64 {
        libm::pow(self.knee, self.p) + self.slope() * (1.0 - self.knee)
    }

    /// Mean over random pairs of tracks, as a share of its rise.
    fn mean(self) -> f64 {
        let Self { p, knee } = self;
        let rest = 1.0 - knee;
        // Integrals of 2 (1 - x) times the curve, below the knee and beyond it.
        let below = 2.0 * (libm::pow(knee, p + 1.0) / (p + 1.0) - libm::pow(knee, p + 2.0) / (p + 2.0));
        let beyond = libm::pow(knee, p) * rest * rest + self.slope() * rest * rest * rest / 3.0;
        (below + beyond) / self.rise()
    }
}

/// Root of a function that rises from below zero to above it.
fn bisect(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

impl SeekCurve {
    /// The curve through `points` on a surface of `tracks` tracks.
    pub fn new(points: SeekPoints, tracks: u32) -> Self {
        let curve = Curve::fit(points);
        Self::tabulated(tracks, |x| curve.at(x) * 1e9)
    }

    /// A curve that was measured, on a surface of `tracks` tracks: strokes are shares of the longest, so that a model
    /// with more or fewer cylinders than the drive seeks as far.
    fn measured(seeks: &MeasuredSeeks, tracks: u32) -> Self {
        Self::tabulated(tracks, |x| seeks.at(x))
    }

    /// The curve with `nanos` of a stroke of 0 (one track) to 1.
    fn tabulated(tracks: u32, nanos: impl Fn(f64) -> f64) -> Self {
        let longest = f64::from(tracks.max(3) - 1);
        // x = 0 is one track, so that the single-track figure is met exactly.
        let at = |d: f64| nanos(((d - 1.0) / (longest - 1.0)).max(0.0)).round() as u32;
        let near = (0..NEAR).map(|d| if d == 0 { 0 } else { at(f64::from(d)) });
        let far = (NEAR >> FAR_SHIFT..=(tracks.max(NEAR) >> FAR_SHIFT) + 1).map(|i| at(f64::from(i << FAR_SHIFT)));
        Self { nanos: near.chain(far).collect() }
    }

    /// Time to move by `distance` tracks, in nanoseconds; zero for zero.
    #[inline]
    pub fn nanos(&self, distance: u32) -> u32 {
        /// Position in the table where the far distances would begin if they began at zero.
        const FAR: u32 = NEAR - (NEAR >> FAR_SHIFT);
        // Both ranges in one formula: which of them a command falls into cannot be predicted.
        let far = distance >= NEAR;
        let index = if far { FAR + (distance >> FAR_SHIFT) } else { distance } as usize;
        let part = if far { distance & ((1 << FAR_SHIFT) - 1) } else { 0 };
        let pair = &self.nanos[index..index + 2];
        pair[0] + ((u64::from(pair[1] - pair[0]) * u64::from(part)) >> FAR_SHIFT) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(track: f64, average: f64, full: f64) -> SeekPoints {
        let ms = Span::from_millis_f64;
        SeekPoints { track: ms(track), average: ms(average), full: ms(full), knee: KNEE }
    }

    /// Mean over all pairs of tracks, exactly.
    fn mean(curve: &SeekCurve, tracks: u32) -> f64 {
        let n = f64::from(tracks);
        (1..tracks).map(|d| 2.0 * (n - f64::from(d)) / (n * (n - 1.0)) * f64::from(curve.nanos(d))).sum()
    }

    #[test]
    fn the_data_sheet_comes_back() {
        for (track, average, full) in [(0.2, 2.8, 5.0), (0.4, 3.1, 5.6), (0.2, 4.0, 8.1), (0.6, 8.5, 16.0)] {
            let curve = SeekCurve::new(points(track, average, full), 51_052);
            assert!((f64::from(curve.nanos(1)) / (track * 1e6) - 1.0).abs() < 1e-6);
            assert!((f64::from(curve.nanos(51_051)) / (full * 1e6) - 1.0).abs() < 1e-6);
            assert!((mean(&curve, 51_052) / (average * 1e6) - 1.0).abs() < 1e-3, "{average}");
        }
    }

    #[test]
    fn longer_is_never_faster() {
        let curve = SeekCurve::new(points(0.2, 2.8, 5.0), 140_000);
        assert!((1..139_999).all(|d| curve.nanos(d) <= curve.nanos(d + 1)));
    }

    #[test]
    fn the_shape_is_that_of_measured_drives() {
        // Share of the average by stroke, from four measured curves (facts/physics.md, section 1), within 10 % of what
        // they span. From 10 % of the stroke on: later drives have a far faster single track than those measured, and
        // with it faster short seeks.
        let shares = [(0.1, 0.66, 0.68), (0.2, 0.83, 0.88)];
        let long = [(1.0 / 3.0, 1.01, 1.03), (0.5, 1.23, 1.26)];
        for points in [points(0.2, 2.9, 5.5), points(0.5, 8.5, 16.0), points(0.2, 2.8, 5.0)] {
            let curve = SeekCurve::new(points, 100_000);
            for (x, low, high) in shares.into_iter().chain(long) {
                let share = f64::from(curve.nanos((x * 100_000.0) as u32)) / points.average.0 as f64;
                assert!((low * 0.9..high * 1.1).contains(&share), "{x}: {share}");
            }
        }
    }

    #[test]
    fn points_that_no_curve_fits_are_told_apart() {
        assert!(points(0.2, 2.8, 5.0).is_concave());
        assert!(!points(0.2, 1.0, 5.0).is_concave());
        assert!(!points(2.0, 1.0, 5.0).is_concave());
        assert!(!points(5.0, 5.0, 5.0).is_concave());
    }

    #[test]
    fn a_lower_knee_keeps_the_figures_and_makes_short_seeks_slower() {
        let sheet = points(0.5, 8.5, 16.0);
        let low = SeekCurve::new(SeekPoints { knee: Knee::at(0.2), ..sheet }, 20_000);
        let usual = SeekCurve::new(sheet, 20_000);
        assert!((mean(&low, 20_000) / 8.5e6 - 1.0).abs() < 1e-3);
        assert!([1, 19_999].iter().all(|d| low.nanos(*d).abs_diff(usual.nanos(*d)) <= 1));
        assert!([100, 400, 1_000].iter().all(|d| low.nanos(*d) > usual.nanos(*d)));
    }

    #[test]
    fn a_measured_curve_is_met_at_its_points_and_never_falls() {
        let us = |time: u64| Span(time * 1_000);
        // The third is faster than the second: both get their mean.
        let measured = [(1, us(1_000)), (11, us(3_000)), (21, us(2_000)), (101, us(9_000))];
        let curve = SeekCurve::measured(&MeasuredSeeks::new(&measured, 102, 0), 102);
        assert_eq!([1, 11, 21, 101].map(|d| curve.nanos(d) / 1_000), [1_000, 2_500, 2_500, 9_000]);
        assert_eq!(curve.nanos(61) / 1_000, 5_750);
        assert!((1..101).all(|d| curve.nanos(d) <= curve.nanos(d + 1)));
    }

    #[test]
    fn a_measured_curve_is_stretched_over_the_cylinders_of_the_model() {
        let us = |time: u64| Span(time * 1_000);
        let measured = [(1, us(1_000)), (501, us(3_000)), (751, us(4_000))];
        // A drive of 1,001 cylinders, of which the longest seek was not measured: the last line goes on.
        let seeks = MeasuredSeeks::new(&measured, 1_002, 500_000);
        let curve = SeekCurve::measured(&seeks, 2_002);
        assert_eq!(curve.nanos(1), 1_500_000);
        assert!(curve.nanos(1_001).abs_diff(3_500_000) < 10_000, "{}", curve.nanos(1_001));
        assert!(curve.nanos(2_001).abs_diff(5_500_000) < 10_000, "{}", curve.nanos(2_001));
    }

    #[test]
    fn drives_of_one_kind_share_a_table_and_others_do_not() {
        let (slower, other) = (Seeks::Points(points(0.2, 2.8, 5.0)), Seeks::Points(points(0.2, 2.9, 5.0)));
        let mut curves = SeekCurves::default();
        let mut made = |seeks: &Seeks, tracks| curves.curve(seeks, tracks).nanos;
        let first = made(&slower, 50_000);
        for (seeks, tracks, same) in [(&slower, 50_000, true), (&slower, 60_000, false), (&other, 50_000, false)] {
            assert_eq!(Arc::ptr_eq(&first, &made(seeks, tracks)), same, "{seeks:?} on {tracks}");
        }
        assert_eq!(made(&other, 50_000), SeekCurve::new(points(0.2, 2.9, 5.0), 50_000).nanos);
    }

    #[test]
    fn a_line_is_met_at_every_distance_near_and_far() {
        // 1 ms to the next track and 10 ns for each further one.
        let line = MeasuredSeeks::new(&[(1, Span(1_000_000)), (200_000, Span(2_999_990))], 200_001, 0);
        let curve = SeekCurve::measured(&line, 200_001);
        assert_eq!(curve.nanos(0), 0);
        let wrong = (1..=200_000).find(|d| curve.nanos(*d) != 1_000_000 + (d - 1) * 10);
        assert_eq!(wrong.map(|d| (d, curve.nanos(d))), None);
    }

    #[test]
    fn times_that_fall_are_pooled_and_each_weighs_the_same() {
        let smooth = |times: &[f64]| isotonic(times.iter().copied());
        assert_eq!(smooth(&[1.0, 2.0, 2.0, 5.0]), [1.0, 2.0, 2.0, 5.0]);
        assert_eq!(smooth(&[6.0, 4.0, 2.0, 7.0]), [4.0, 4.0, 4.0, 7.0]);
        // The second pool is of two when the first joins it.
        assert_eq!(smooth(&[9.0, 10.0, 2.0]), [7.0; 3]);
    }

    #[test]
    fn less_than_was_measured_is_never_less_than_nothing() {
        let measured = [(1, Span(100_000)), (101, Span(300_000))];
        let curve = SeekCurve::measured(&MeasuredSeeks::new(&measured, 102, -200_000), 102);
        assert_eq!([1, 51, 101].map(|d| curve.nanos(d)), [0, 50_000, 100_000]);
    }
}
