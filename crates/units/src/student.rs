//! Quantiles of Student's t distribution, for confidence intervals of means.

/// Student's t for 97.5 % and `freedom` degrees of freedom: the tables' up to eight, then the expansion of
/// Abramowitz and Stegun, 26.7.5, which is within 0.001 from there on.
pub fn student(freedom: u64) -> f64 {
    const FEW: [f64; 8] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306];
    const NORMAL: f64 = 1.959_964;
    if let Some(exact) = FEW.get(freedom as usize - 1) {
        return *exact;
    }
    let (x, v) = (NORMAL, freedom as f64);
    let (x3, x5, x7) = (x * x * x, x * x * x * x * x, x * x * x * x * x * x * x);
    let first = (x3 + x) / 4.0;
    let second = (5.0 * x5 + 16.0 * x3 + 3.0 * x) / 96.0;
    let third = (3.0 * x7 + 19.0 * x5 + 17.0 * x3 - 15.0 * x) / 384.0;
    x + first / v + second / (v * v) + third / (v * v * v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_is_the_tables() {
        // Two-sided 5 % points of the usual tables.
        for (freedom, expected) in [(1, 12.706), (8, 2.306), (9, 2.262), (10, 2.228), (30, 2.042), (120, 1.980)] {
            assert!((student(freedom) - expected).abs() < 0.001, "{freedom}: {}", student(freedom));
        }
    }
}
