//! The rule of steady state, for Python.

use pyo3::prelude::*;

use crate::spec_error;

/// Verdict of the rule on some rounds, as a dict.
#[derive(IntoPyObject)]
pub struct Verdict {
    reached: bool,
    round: Option<usize>,
    rounds: Vec<f64>,
    window_mean: Option<f64>,
    range_pct: Option<f64>,
    slope_pct: Option<f64>,
}

/// The rule of steady state on the rounds of a record.
#[pyfunction]
pub fn steady_state(rounds: Vec<f64>) -> PyResult<Verdict> {
    let state = hotband_engine::steady_state(&rounds).map_err(spec_error)?;
    Ok(Verdict {
        reached: state.reached,
        round: state.round,
        rounds,
        window_mean: state.window.map(|window| window.mean),
        range_pct: state.window.and_then(|window| window.range_pct),
        slope_pct: state.window.and_then(|window| window.slope_pct),
    })
}

/// Departure from steady state, as a dict.
#[derive(IntoPyObject)]
pub struct Departure {
    round: usize,
    since: usize,
    level_pct: f64,
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted, not borrowed")]
pub fn departure(rounds: Vec<f64>) -> PyResult<Option<Departure>> {
    let left = hotband_engine::departure(&rounds).map_err(spec_error)?;
    Ok(left.map(|left| Departure { round: left.round, since: left.since, level_pct: left.level_pct }))
}
