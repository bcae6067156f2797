//! Zipf-distributed ranks by rejection-inversion (Hörmann & Derflinger, "Rejection-inversion to generate variates
//! from monotone discrete distributions", ACM TOMACS 6(3), 1996): constant time for any number of items.

use crate::Random;

/// Ranks `0..items`, rank k with weight `(k + 1)^-exponent`.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    items: f64,
    exponent: f64,
    h_first: f64,
    h_last: f64,
    shortcut: f64,
}

impl Zipf {
    /// `items` at least 1, `exponent` above 0.
    pub fn new(items: u64, exponent: f64) -> Self {
        let mut zipf = Self { items: items as f64, exponent, h_first: 0.0, h_last: 0.0, shortcut: 0.0 };
        zipf.h_first = zipf.integral(1.5) - 1.0;
        zipf.h_last = zipf.integral(zipf.items + 0.5);
        zipf.shortcut = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// Integral of the weight from 1 to x.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        expm1_over((1.0 - self.exponent) * log) * log
    }

    fn inverse(&self, y: f64) -> f64 {
        let t = (y * (1.0 - self.exponent)).max(-1.0);
        libm::exp(log1p_over(t) * y)
    }

    /// The next rank, 0 the most popular.
    pub fn rank(&self, random: &mut Random) -> u64 {
        loop {
            let u = self.h_last + random.unit() * (self.h_first - self.h_last);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.items);
            if k - x <= self.shortcut || u >= self.integral(k + 0.5) - self.weight(k) {
                return k as u64 - 1;
            }
        }
    }
}

/// `(e^x - 1) / x`, also near zero.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::expm1(x) / x } else { 1.0 + x * 0.5 }
}

/// `ln(1 + x) / x`, also near zero.
fn log1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::log1p(x) / x } else { 1.0 - x * 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_law() {
        for exponent in [0.5, 0.99, 1.0, 1.2] {
            let (zipf, mut random) = (Zipf::new(1000, exponent), Random::new(1, "zipf"));
            let mut counts = [0_u32; 1000];
            (0..200_000).for_each(|_| counts[zipf.rank(&mut random) as usize] += 1);
            let norm: f64 = (1..=1000).map(|k| f64::from(k).powf(-exponent)).sum();
            for k in [1_u32, 2, 5, 100] {
                let expected = 200_000.0 * f64::from(k).powf(-exponent) / norm;
                let error = (f64::from(counts[k as usize - 1]) - expected).abs();
                assert!(error < 5.0 * expected.sqrt(), "{exponent} {k}: {} {expected}", counts[k as usize - 1]);
            }
        }
    }
}
