//! The Python extension `hotband._core`: conversions and releasing the GIL, nothing else.
#![allow(missing_docs, reason = "what Python sees is documented in python/hotband/_core.pyi")]

mod entropy;
mod events;
mod interrupts;
mod results;
mod run;
mod serve;
mod specs;
mod steady;
mod tables;
mod traces;

use hotband_engine::{LOG_COLUMNS, RunError, STEADY_MOST_ROUNDS, STEADY_RANGE_PCT, STEADY_SLOPE_PCT, STEADY_WINDOW};
use hotband_machine::{BuildError, SpecError as MachineSpecError};
use interrupts::look;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

create_exception!(_core, SpecError, PyException, "A mistake in the input: args are (file, key, value, accepted).");
create_exception!(_core, OutOfMemory, PyException, "Bytes needed, and bytes available where that is known.");
create_exception!(_core, Interrupted, PyException, "The run was asked to stop.");

fn spec_error(error: MachineSpecError) -> PyErr {
    SpecError::new_err((error.file, error.key, error.value, error.accepted))
}

/// An interrupt of the waiting thread stops the building.
fn while_building(error: RunError) -> PyErr {
    match error {
        RunError::Interrupted => PyKeyboardInterrupt::new_err("interrupted"),
        other => run::run_error(other),
    }
}

fn build_error(error: BuildError) -> PyErr {
    while_building(error.into())
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<run::PyRun>()?;
    module.add_class::<run::PyOutput>()?;
    module.add_class::<serve::PyServer>()?;
    module.add_class::<serve::PyFixedServer>()?;
    module.add_function(wrap_pyfunction!(serve::serve_speed, module)?)?;
    module.add_function(wrap_pyfunction!(serve::serve_way, module)?)?;
    module.add_class::<tables::PyTable>()?;
    module.add_class::<entropy::PyEntropy>()?;
    module.add_class::<traces::PyTraceAsked>()?;
    module.add_class::<traces::PyTraceMaking>()?;
    module.add_function(wrap_pyfunction!(traces::trace_format, module)?)?;
    module.add_function(wrap_pyfunction!(traces::traces_of, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_targets, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_formats, module)?)?;
    module.add_function(wrap_pyfunction!(traces::write_trace, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_properties, module)?)?;
    module.add_function(wrap_pyfunction!(traces::compare_traces, module)?)?;
    module.add_function(wrap_pyfunction!(specs::drive, module)?)?;
    module.add_function(wrap_pyfunction!(specs::osd, module)?)?;
    module.add_function(wrap_pyfunction!(specs::machine_offer, module)?)?;
    module.add_function(wrap_pyfunction!(specs::machine, module)?)?;
    module.add_function(wrap_pyfunction!(specs::ceiling, module)?)?;
    module.add_function(wrap_pyfunction!(specs::workload, module)?)?;
    module.add_function(wrap_pyfunction!(specs::workload_text, module)?)?;
    module.add_function(wrap_pyfunction!(specs::set_keys, module)?)?;
    module.add_class::<events::PyEventCell>()?;
    module.add_function(wrap_pyfunction!(events::event_table, module)?)?;
    module.add_function(wrap_pyfunction!(events::check_events, module)?)?;
    module.add_function(wrap_pyfunction!(specs::catalog_names, module)?)?;
    module.add_function(wrap_pyfunction!(specs::quantity, module)?)?;
    module.add_function(wrap_pyfunction!(specs::layouts_of, module)?)?;
    module.add_function(wrap_pyfunction!(steady::steady_state, module)?)?;
    module.add_function(wrap_pyfunction!(steady::departure, module)?)?;
    module.add_function(wrap_pyfunction!(interrupts::end_on_second_interrupt, module)?)?;
    module.add_function(wrap_pyfunction!(results::fio_log, module)?)?;
    module.add_function(wrap_pyfunction!(results::fio_histogram_log, module)?)?;
    module.add_function(wrap_pyfunction!(results::hdr_log, module)?)?;
    module.add("STEADY_WINDOW", STEADY_WINDOW)?;
    module.add("STEADY_MOST_ROUNDS", STEADY_MOST_ROUNDS)?;
    module.add("STEADY_RANGE_PCT", STEADY_RANGE_PCT)?;
    module.add("STEADY_SLOPE_PCT", STEADY_SLOPE_PCT)?;
    module.add("SpecError", module.py().get_type::<SpecError>())?;
    module.add("OutOfMemory", module.py().get_type::<OutOfMemory>())?;
    module.add("Interrupted", module.py().get_type::<Interrupted>())?;
    module.add("LOG_COLUMNS", LOG_COLUMNS.to_vec())?;
    module.add("SET_KEYS", hotband_engine::SET_KEYS.to_vec())?;
    module.add("LAYOUTS", hotband_layouts::KINDS.to_vec())
}
