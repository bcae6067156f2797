//! Events of a run, for Python.

use hotband_engine::{EVENT_ROWS, EVENTS, supported};
use pyo3::prelude::*;

use crate::spec_error;

/// A cell of the table of supported events; `why` is the reason against it.
#[pyclass(name = "EventCell", frozen, get_all)]
pub struct PyEventCell {
    event: &'static str,
    group: &'static str,
    on: &'static str,
    why: Option<&'static str>,
}

/// The table of supported events, row by row.
#[pyfunction]
pub fn event_table() -> Vec<PyEventCell> {
    let cell = |on: hotband_engine::On, event: &'static str| {
        let why = supported(event, on).err().map(|why| why.why);
        PyEventCell { event, group: on.group(), on: on.name(), why }
    };
    EVENT_ROWS.into_iter().flat_map(|on| EVENTS.into_iter().map(move |event| cell(on, event))).collect()
}

/// Checks texts such as `at 60 s: fail d3`, before anything is known of the machine.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted, not borrowed")]
pub fn check_events(texts: Vec<String>) -> PyResult<()> {
    hotband_engine::check_events(&texts).map_err(spec_error)
}
