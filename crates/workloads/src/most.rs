//! The most that a workload may ask for: more is a slip of the pen.

use toml::Value;

/// A series keeps one row per interval.
pub const MOST_INTERVALS: u64 = 10_000_000;
/// Largest I/O.
pub(crate) const MOST_SIZE: u32 = 64 << 20;
/// Most threads, depth, and threads x depth.
pub(crate) const MOST_OUTSTANDING: u32 = 65_536;
/// Largest of the weights that sizes and gaps are drawn by: their sum and its parts stay numbers.
const MOST_WEIGHT: f64 = 1e12;
/// Accepted weights, in words.
pub(crate) const WEIGHT_ACCEPTED: &str = "expected a weight above zero, 1e12 at most";

/// A weight that something is drawn by, if it is one.
pub(crate) fn weight(value: &Value) -> Option<f64> {
    let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    number.filter(|n| *n > 0.0 && *n <= MOST_WEIGHT)
}
