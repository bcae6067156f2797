//! The seek curve from three numbers of a data sheet: single track, average, full stroke.
//!
//! Form (Ruemmler & Wilkes, IEEE Computer 27(3), 1994): `a + b * x^p` for strokes `x` below a knee, a straight
//! line beyond it that continues value and slope, with `p` = 1/2. The data sheet's average is the mean over
//! uniformly random pairs of tracks, so stroke `x` counts with density `2 (1 - x)`; the knee is where that mean is
//! met. Where even a square root over the whole stroke lies below the stated average, there is no line and `p`
//! is lowered instead: the mean is then `a + b * 2 / ((p + 1) (p + 2))`.
//!
//! Leaves out: short-seek acceleration plateaus, thermal recalibration, and seeks that differ by direction.

use hotband_units::Span;

/// The three figures of a data sheet for one direction (read or write). Settling is included in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekPoints {
    /// To the next track.
    pub track: Span,
    /// Mean over random pairs of tracks.
    pub average: Span,
    /// From the first to the last track.
    pub full: Span,
}

/// `a + b * x^p` up to the knee, a line beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Curve {
    a: f64,
    b: f64,
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
    near: Vec<u32>,
    far: Vec<u32>,
}

impl SeekPoints {
    /// Whether a concave curve through these points exists: the average lies between a third and (nearly) all of
    /// the way from single track to full stroke.
    pub fn is_concave(&self) -> bool {
        self.share().is_some_and(|share| (1.0 / 3.0..0.9).contains(&share))
    }

    /// How far the average is on the way from single track to full stroke.
    fn share(&self) -> Option<f64> {
        let rise = self.full.0.checked_sub(self.track.0).filter(|rise| *rise > 0)? as f64;
        Some(self.average.0.checked_sub(self.track.0)? as f64 / rise)
    }
}

impl Curve {
    /// Fits the curve in seconds over strokes 0 to 1.
    fn fit(points: SeekPoints) -> Self {
        let (a, full) = (points.track.as_secs_f64(), points.full.as_secs_f64());
        let share = points.share().expect("points are checked when a product is read");
        let whole_root = mean_of_power(0.5);
        if share >= whole_root {
            let p = bisect(1e-3, 0.5, |p| share - mean_of_power(p));
            return Self { a, b: full - a, p, knee: 1.0 };
        }
        let knee = bisect(1e-9, 1.0, |knee| mean_with_knee(knee) - share);
        let b = (full - a) / unit_rise(knee);
        Self { a, b, p: 0.5, knee }
    }

    fn at(&self, x: f64) -> f64 {
        if x <= self.knee {
            return self.a + self.b * libm::pow(x, self.p);
        }
        let slope = self.b * self.p * libm::pow(self.knee, self.p - 1.0);
        self.a + self.b * libm::pow(self.knee, self.p) + slope * (x - self.knee)
    }
}

/// Mean of `x^p` over random pairs.
fn mean_of_power(p: f64) -> f64 {
    2.0 / ((p + 1.0) * (p + 2.0))
}

/// Rise of the unit curve (b = 1, p = 1/2) from 0 to 1 with the given knee.
fn unit_rise(knee: f64) -> f64 {
    let root = knee.sqrt();
    root + (1.0 - knee) / (2.0 * root)
}

/// Mean over random pairs of the curve with this knee, as a share of its rise.
fn mean_with_knee(knee: f64) -> f64 {
    let root = knee.sqrt();
    // Below the knee: integral of 2 (1 - x) sqrt(x); beyond: of 2 (1 - x) (root + (x - knee) / (2 root)).
    let below = 4.0 / 3.0 * knee * root - 4.0 / 5.0 * knee * knee * root;
    let rest = 1.0 - knee;
    let beyond = root * rest * rest + rest * rest * rest / (6.0 * root);
    (below + beyond) / unit_rise(knee)
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
        let longest = f64::from(tracks.max(3) - 1);
        // x = 0 is one track, so that the single-track figure is met exactly.
        let at = |d: f64| (curve.at(((d - 1.0) / (longest - 1.0)).max(0.0)) * 1e9).round() as u32;
        let near = (0..NEAR).map(|d| if d == 0 { 0 } else { at(f64::from(d)) }).collect();
        let far = (0..=(tracks >> FAR_SHIFT) + 1).map(|i| at(f64::from(i << FAR_SHIFT))).collect();
        Self { near, far }
    }

    /// Time to move by `distance` tracks, in nanoseconds; zero for zero.
    #[inline]
    pub fn nanos(&self, distance: u32) -> u32 {
        if distance < NEAR {
            return self.near[distance as usize];
        }
        let index = (distance >> FAR_SHIFT) as usize;
        let (from, to) = (self.far[index], self.far[index + 1]);
        let part = u64::from(distance & ((1 << FAR_SHIFT) - 1));
        from + ((u64::from(to - from) * part) >> FAR_SHIFT) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(track: f64, average: f64, full: f64) -> SeekPoints {
        let ms = Span::from_millis_f64;
        SeekPoints { track: ms(track), average: ms(average), full: ms(full) }
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
        // Share of the average by stroke, from four measured curves (facts/physics.md, section 1), within 5 % of
        // what they span. Long strokes only: later drives have a far faster single track than those measured.
        let curve = SeekCurve::new(points(0.5, 4.0, 7.7), 100_000);
        for (x, low, high) in [(0.1, 0.66, 0.68), (0.2, 0.83, 0.88), (1.0 / 3.0, 1.01, 1.03), (0.5, 1.23, 1.26)] {
            let share = f64::from(curve.nanos((x * 100_000.0) as u32)) / 4.0e6;
            assert!((low * 0.95..high * 1.05).contains(&share), "{x}: {share}");
        }
    }

    #[test]
    fn points_that_no_curve_fits_are_told_apart() {
        assert!(points(0.2, 2.8, 5.0).is_concave());
        assert!(!points(0.2, 1.0, 5.0).is_concave());
        assert!(!points(2.0, 1.0, 5.0).is_concave());
        assert!(!points(5.0, 5.0, 5.0).is_concave());
    }
}
