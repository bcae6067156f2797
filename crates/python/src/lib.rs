//! The Python extension `hotband._core`: conversions and releasing the GIL, nothing else.
#![allow(missing_docs, reason = "what Python sees is documented in python/hotband/_core.pyi")]

mod entropy;
mod interrupts;
mod results;

use std::path::PathBuf;
use std::sync::Mutex;

use hotband_engine::{
    CacheSeries, Catalog, Control, Kept, LOG_COLUMNS, Means, Offer, OperationSeries, PowerSeries, RepairRequest,
    Request, Run, RunError, STEADY_MOST_ROUNDS, STEADY_RANGE_PCT, STEADY_SLOPE_PCT, STEADY_WINDOW, Series, SmartSeries,
};
use hotband_machine::{BuildError, Product, SpecError as MachineSpecError};
use interrupts::look;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(_core, SpecError, PyException, "A mistake in the input: args are (file, key, value, accepted).");
create_exception!(_core, OutOfMemory, PyException, "Bytes needed, and bytes available where that is known.");
create_exception!(_core, Interrupted, PyException, "The run was asked to stop.");

fn spec_error(error: MachineSpecError) -> PyErr {
    SpecError::new_err((error.file, error.key, error.value, error.accepted))
}

/// What stops building is an interrupt of the thread that waits.
fn while_building(error: RunError) -> PyErr {
    match error {
        RunError::Interrupted => PyKeyboardInterrupt::new_err("interrupted"),
        other => run_error(other),
    }
}

fn build_error(error: BuildError) -> PyErr {
    while_building(error.into())
}

fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::Spec(error) => spec_error(error),
        RunError::TooLarge { needs, available } => OutOfMemory::new_err((needs.0, available.0)),
        RunError::Memory { needs, .. } => OutOfMemory::new_err((needs.0, None::<u64>)),
        RunError::Interrupted => Interrupted::new_err("interrupted"),
        RunError::Log(error) => match error.raw_os_error() {
            Some(code) => PyOSError::new_err((code, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        },
        stalled @ RunError::Stalled { .. } => PyRuntimeError::new_err(stalled.to_string()),
    }
}

const ONCE: &str = "a run is executed once";

/// A run that was checked; `execute` runs it once.
#[pyclass(name = "Run", frozen)]
struct PyRun {
    run: Mutex<Option<Run>>,
    /// The machine as this run left it, until a run that follows takes it.
    kept: Mutex<Option<Kept>>,
    control: Control,
    /// What it does, one after the other.
    phases: Vec<String>,
}

#[pymethods]
impl PyRun {
    #[new]
    #[pyo3(signature = (catalog, machine, workload, *, machine_text=None, workload_text=None, set=Vec::new(), seed=1, duration=None, io_log=None, power_loss=None, fail=Vec::new(), spares=0, rebuild_rate=None, rebuild_after=None, memory=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
    fn new(
        py: Python<'_>,
        catalog: PathBuf,
        machine: String,
        workload: String,
        machine_text: Option<String>,
        workload_text: Option<String>,
        set: Vec<(String, String)>,
        seed: u64,
        duration: Option<String>,
        io_log: Option<PathBuf>,
        power_loss: Option<String>,
        fail: Vec<String>,
        spares: u32,
        rebuild_rate: Option<String>,
        rebuild_after: Option<String>,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        let repair = RepairRequest { fail, spares, rebuild_rate, rebuild_after };
        let request =
            Request { machine, machine_text, workload, workload_text, set, seed, duration, io_log, power_loss, repair };
        let build = || {
            let means = Means { look: &look, memory, ..Means::default() };
            Run::new_within(&Catalog::new(catalog), request, &means)
        };
        let run = py.detach(build).map_err(while_building)?;
        let phases = run.phases();
        Ok(Self { run: Mutex::new(Some(run)), kept: Mutex::new(None), control: Control::default(), phases })
    }

    /// Whether this run can follow `before` on the machine that it leaves.
    fn check_follows(&self, before: &Self) -> PyResult<()> {
        let (this, before) = (self.run.lock(), before.run.lock());
        let (Ok(this), Ok(before)) = (this, before) else { return Err(PyRuntimeError::new_err(ONCE)) };
        let (Some(this), Some(before)) = (this.as_ref(), before.as_ref()) else {
            return Err(PyRuntimeError::new_err(ONCE));
        };
        this.check_follows(before).map_err(spec_error)
    }

    /// Runs it, on the machine that `after` left where that is given; with `keep` it leaves its own to another run.
    #[pyo3(signature = (after=None, keep=false))]
    fn execute<'py>(&self, py: Python<'py>, after: Option<&Self>, keep: bool) -> PyResult<Left<'py>> {
        let run = self.run.lock().ok().and_then(|mut run| run.take());
        let run = run.ok_or_else(|| PyRuntimeError::new_err(ONCE))?;
        let before = after.map(|after| after.kept.lock().ok().and_then(|mut kept| kept.take()));
        let before = match before {
            Some(None) => return Err(PyRuntimeError::new_err("the run before left no machine")),
            Some(kept) => kept,
            None => None,
        };
        let (json, outcome, kept) = py
            .detach(|| -> Result<_, RunError> {
                if before.is_none() && !keep {
                    let outcome = run.execute(&self.control)?;
                    return Ok((outcome.record.to_json(), outcome, None));
                }
                let (outcome, kept) = run.execute_after(before, &self.control)?;
                Ok((outcome.record.to_json(), outcome, keep.then_some(kept)))
            })
            .map_err(run_error)?;
        if let Ok(mut place) = self.kept.lock() {
            *place = kept;
        }
        let (series, caches) = (columns(py, outcome.series)?, cache_columns(py, outcome.caches)?);
        let (smart, operations) = (smart_columns(py, outcome.smart)?, operation_columns(py, outcome.operations)?);
        let power = power_columns(py, outcome.power)?;
        Ok((json, series, caches, smart, operations, outcome.streams, outcome.ios, power))
    }

    /// Bytes of memory that it takes, as far as that is known before it runs; none once it was executed.
    fn memory(&self) -> Option<u64> {
        self.run.lock().ok().and_then(|run| run.as_ref().map(|run| run.memory().0))
    }

    fn progress(&self) -> (f64, u64) {
        self.control.progress()
    }

    fn phase(&self) -> Option<&str> {
        self.phases.get(self.control.phase()).map(String::as_str)
    }

    fn stop(&self) {
        self.control.stop();
    }

    fn is_stopped(&self) -> bool {
        self.control.is_stopped()
    }
}

/// Record; series, caches, SMART attributes and operations over time; names of the streams; I/Os; power over time.
type Left<'py> = (String, Columns<'py>, Columns<'py>, Columns<'py>, Columns<'py>, Vec<String>, u64, Columns<'py>);
type Columns<'py> = Bound<'py, PyDict>;

fn operation_columns(py: Python<'_>, series: OperationSeries) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("time_ns", series.time_ns)?;
    columns.set_item("operation", series.operation)?;
    columns.set_item("ops_per_s", series.ops_per_s)?;
    columns.set_item("latency_mean_ns", series.latency_mean_ns)?;
    Ok(columns)
}

fn power_columns(py: Python<'_>, series: PowerSeries) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    let names: Vec<&str> = series.drive.iter().map(|drive| series.drives[*drive as usize].as_str()).collect();
    columns.set_item("time_ns", series.time_ns)?;
    columns.set_item("length_ns", series.length_ns)?;
    columns.set_item("drive", names)?;
    columns.set_item("power_w", series.power_w)?;
    columns.set_item("low_w", series.low_w)?;
    columns.set_item("high_w", series.high_w)?;
    Ok(columns)
}

fn smart_columns(py: Python<'_>, series: SmartSeries) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    let names: Vec<&str> = series.drive.iter().map(|drive| series.drives[*drive as usize].as_str()).collect();
    columns.set_item("time_ns", series.time_ns)?;
    columns.set_item("drive", names)?;
    columns.set_item("host_bytes", series.host_bytes)?;
    columns.set_item("stored_bytes", series.stored_bytes)?;
    columns.set_item("flash_bytes", series.flash_bytes)?;
    columns.set_item("write_amplification", series.write_amplification)?;
    columns.set_item("write_amplification_total", series.write_amplification_total)?;
    columns.set_item("erases_mean", series.erases_mean)?;
    columns.set_item("erases_max", series.erases_max)?;
    columns.set_item("percentage_used", series.percentage_used)?;
    Ok(columns)
}

fn cache_columns(py: Python<'_>, series: CacheSeries) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("time_ns", series.time_ns)?;
    columns.set_item("flash_hits", series.flash_hits)?;
    columns.set_item("flash_misses", series.flash_misses)?;
    columns.set_item("flash_promoted_bytes", series.flash_promoted_bytes)?;
    columns.set_item("flash_used_bytes", series.flash_used_bytes)?;
    columns.set_item("destages", series.destages)?;
    columns.set_item("write_cache_extents", series.write_cache_extents)?;
    columns.set_item("write_cache_bytes", series.write_cache_bytes)?;
    columns.set_item("media_ios", series.media_ios)?;
    columns.set_item("state", series.state)?;
    Ok(columns)
}

fn columns(py: Python<'_>, series: Series) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("time_ns", series.time_ns)?;
    columns.set_item("stream", series.stream)?;
    let directions: Vec<u32> = series.direction.into_iter().map(u32::from).collect();
    columns.set_item("direction", directions)?;
    columns.set_item("iops", series.iops)?;
    columns.set_item("bandwidth_bytes_per_s", series.bandwidth_bytes_per_s)?;
    columns.set_item("latency_mean_ns", series.latency_mean_ns)?;
    columns.set_item("latency_p99_ns", series.latency_p99_ns)?;
    columns.set_item("queue_depth", series.queue_depth)?;
    Ok(columns)
}

/// Kind, title, model and every value of a drive: (key, value, range, source, confidence, estimate, note).
type DriveValue = (String, String, Option<(String, String)>, String, String, bool, String);

type DriveTuple = (String, String, String, Vec<DriveValue>);

#[pyfunction]
fn drive(catalog: PathBuf, name: &str) -> PyResult<DriveTuple> {
    Ok(values_of(Catalog::new(catalog).drive(name, ("DRIVE", "")).map_err(spec_error)?.0))
}

#[pyfunction]
fn osd(catalog: PathBuf, name: &str) -> PyResult<DriveTuple> {
    Ok(values_of(Catalog::new(catalog).osd(name, ("OSD", "")).map_err(spec_error)?.0))
}

fn values_of(product: Product) -> DriveTuple {
    let values =
        product.assumptions.into_iter().map(|a| (a.key, a.value, a.range, a.source, a.confidence, a.estimate, a.note));
    (product.kind, product.title, product.model, values.collect())
}

/// Text, targets (name, bytes), block, product of every drive.
type OfferTuple = (String, Vec<(String, u64)>, u64, Vec<String>);

#[pyfunction]
fn machine_offer(
    catalog: PathBuf,
    machine: String,
    machine_text: Option<String>,
    set: Vec<(String, String)>,
) -> PyResult<OfferTuple> {
    let request = Request { machine, machine_text, set, seed: 1, ..Request::default() };
    let offer = Offer::of(&Catalog::new(catalog), &request, &look).map_err(build_error)?;
    let targets = offer.targets.into_iter().map(|(name, size)| (name, size.0)).collect();
    Ok((offer.text, targets, offer.block.0, offer.products))
}

/// Key, whose it is, value today, what it takes, meaning.
type KeyTuple = (String, String, Option<String>, String, String);

#[pyfunction]
#[pyo3(signature = (catalog, workload, machine, workload_text=None, machine_text=None, set=Vec::new()))]
fn set_keys(
    catalog: PathBuf,
    workload: String,
    machine: String,
    workload_text: Option<String>,
    machine_text: Option<String>,
    set: Vec<(String, String)>,
) -> PyResult<Vec<KeyTuple>> {
    let request = Request { machine, machine_text, workload, workload_text, set, seed: 1, ..Request::default() };
    let keys = hotband_engine::set_keys(&Catalog::new(catalog), &request).map_err(spec_error)?;
    Ok(keys.into_iter().map(|one| (one.key, one.part, one.value, one.accepted, one.meaning)).collect())
}

#[pyfunction]
fn catalog_names(catalog: PathBuf, folder: &str) -> Vec<String> {
    Catalog::new(catalog).names(folder)
}

/// The layouts of a machine and the drives they lie on, as JSON.
#[pyfunction]
#[pyo3(signature = (catalog, machine, machine_text=None, set=Vec::new()))]
fn layouts_of(
    py: Python<'_>,
    catalog: PathBuf,
    machine: String,
    machine_text: Option<String>,
    set: Vec<(String, String)>,
) -> PyResult<String> {
    let request = Request { machine, machine_text, set, ..Request::default() };
    let layouts =
        py.detach(|| hotband_engine::outline(&Catalog::new(catalog), &request, &look)).map_err(build_error)?;
    Ok(hotband_engine::outline_json(&layouts))
}

/// The rule of steady state, and its constants, on the rounds of a record.
#[pyfunction]
fn steady_state(py: Python<'_>, rounds: Vec<f64>) -> PyResult<Bound<'_, PyDict>> {
    let state = hotband_engine::steady_state(&rounds).map_err(spec_error)?;
    let found = PyDict::new(py);
    found.set_item("reached", state.reached)?;
    found.set_item("round", state.round)?;
    found.set_item("rounds", rounds)?;
    found.set_item("window_mean", state.window.map(|window| window.mean))?;
    found.set_item("range_pct", state.window.and_then(|window| window.range_pct))?;
    found.set_item("slope_pct", state.window.and_then(|window| window.slope_pct))?;
    Ok(found)
}

/// Round, first round of the change, level in percent.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted, not borrowed")]
fn departure(rounds: Vec<f64>) -> PyResult<Option<(usize, usize, f64)>> {
    let left = hotband_engine::departure(&rounds).map_err(spec_error)?;
    Ok(left.map(|left| (left.round, left.since, left.level_pct)))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyRun>()?;
    module.add_class::<entropy::PyEntropy>()?;
    module.add_function(wrap_pyfunction!(drive, module)?)?;
    module.add_function(wrap_pyfunction!(osd, module)?)?;
    module.add_function(wrap_pyfunction!(machine_offer, module)?)?;
    module.add_function(wrap_pyfunction!(set_keys, module)?)?;
    module.add_function(wrap_pyfunction!(catalog_names, module)?)?;
    module.add_function(wrap_pyfunction!(layouts_of, module)?)?;
    module.add_function(wrap_pyfunction!(steady_state, module)?)?;
    module.add_function(wrap_pyfunction!(departure, module)?)?;
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
