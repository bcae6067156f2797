//! A run, for Python.

use std::path::PathBuf;
use std::sync::Mutex;

use hotband_engine::{Catalog, ContentsCache, Control, MachineState, Means, RepairRequest, Request, Run, RunError};
use hotband_machine::MemoryError;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::tables::tables;
use crate::{Interrupted, OutOfMemory, SpecError, look, spec_error, while_building};

pub fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::Spec(error) => spec_error(error),
        RunError::Interrupted => Interrupted::new_err("interrupted"),
        RunError::Memory(MemoryError::TooLarge { needs, available }) => OutOfMemory::new_err((needs.0, available.0)),
        RunError::Memory(MemoryError::Refused { needs, .. }) => OutOfMemory::new_err((needs.0, None::<u64>)),
        RunError::Log(error) => match error.raw_os_error() {
            Some(code) => PyOSError::new_err((code, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        },
        stalled @ RunError::Stalled { .. } => SpecError::new_err(("workload", "phases", "", stalled.to_string())),
        overloaded @ RunError::Overloaded { .. } => {
            SpecError::new_err(("workload", "load", "", overloaded.to_string()))
        }
    }
}

const ONCE: &str = "a run is executed once";

/// Result of a run.
#[pyclass(name = "Output", frozen, get_all)]
pub struct PyOutput {
    pub record: String,
    pub tables: Py<PyDict>,
    pub ios: u64,
}

/// A run that was checked; `execute` runs it once.
#[pyclass(name = "Run", frozen)]
pub struct PyRun {
    run: Mutex<Option<Run>>,
    /// The machine as this run left it, until a run that follows takes it.
    kept: Mutex<Option<MachineState>>,
    control: Control,
    /// Its phases, in order.
    phases: Vec<String>,
    /// Names of the machine's volumes, by number.
    volumes: Vec<String>,
}

impl PyRun {
    /// The run itself, which is executed or served once.
    pub fn take(&self) -> PyResult<Run> {
        let run = self.run.lock().ok().and_then(|mut run| run.take());
        run.ok_or_else(|| PyRuntimeError::new_err(ONCE))
    }

    /// Source of its progress.
    pub fn control(&self) -> &Control {
        &self.control
    }
}

#[pymethods]
impl PyRun {
    #[new]
    #[pyo3(signature = (catalog, machine, workload, *, machine_text=None, workload_text=None, set=Vec::new(), seed=1, duration=None, precision=None, traces=Vec::new(), io_log=None, power_loss=None, fail=Vec::new(), spares=0, rebuild_rate=None, rebuild_after=None, events=Vec::new(), follows=false, is_followed=false, in_use=false, memory=None, cache=None))]
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
        precision: Option<String>,
        traces: Vec<PathBuf>,
        io_log: Option<PathBuf>,
        power_loss: Option<String>,
        fail: Vec<String>,
        spares: u32,
        rebuild_rate: Option<String>,
        rebuild_after: Option<String>,
        events: Vec<String>,
        follows: bool,
        is_followed: bool,
        in_use: bool,
        memory: Option<u64>,
        cache: Option<(PathBuf, PathBuf, u64)>,
    ) -> PyResult<Self> {
        let repair = RepairRequest { fail, spares, rebuild_rate, rebuild_after };
        let request = Request {
            machine,
            machine_text,
            workload,
            workload_text,
            set,
            seed,
            duration,
            precision,
            traces,
            io_log,
            power_loss,
            repair,
            events,
            follows,
            is_followed,
            in_use,
            cache: cache.map(|(folder, engine, most)| ContentsCache { folder, engine, most }),
        };
        let build = || {
            let means = Means { look: &look, memory, ..Means::default() };
            Run::new_within(&Catalog::new(catalog), request, &means)
        };
        let run = py.detach(build).map_err(while_building)?;
        let (phases, volumes) = (run.phases(), run.volumes());
        Ok(Self {
            run: Mutex::new(Some(run)),
            kept: Mutex::new(None),
            control: Control::within(memory),
            phases,
            volumes,
        })
    }

    /// What preconditioning reads of its drives, as text.
    fn drives_key(&self) -> Option<String> {
        self.run.lock().ok()?.as_ref()?.drives_key()
    }

    /// Makes this run ready to follow `first`, and those made ready before, on the machine of the first.
    fn follow(&self, first: &Self) -> PyResult<()> {
        let (this, first) = (self.run.lock(), first.run.lock());
        let (Ok(mut this), Ok(mut first)) = (this, first) else { return Err(PyRuntimeError::new_err(ONCE)) };
        let (Some(this), Some(first)) = (this.as_mut(), first.as_mut()) else {
            return Err(PyRuntimeError::new_err(ONCE));
        };
        this.follow(first).map_err(while_building)
    }

    /// Whether its events come before the last of the runs that follow it ends.
    fn check_times(&self) -> PyResult<()> {
        let run = self.run.lock();
        let run = run.ok().ok_or_else(|| PyRuntimeError::new_err(ONCE))?;
        run.as_ref().ok_or_else(|| PyRuntimeError::new_err(ONCE))?.check_times().map_err(spec_error)
    }

    /// Runs it, on the machine that `after` left if that is given; with `keep` it leaves its own to another run.
    #[pyo3(signature = (after=None, keep=false))]
    fn execute(&self, py: Python<'_>, after: Option<&Self>, keep: bool) -> PyResult<PyOutput> {
        let run = self.take()?;
        let before = after.map(|after| after.kept.lock().ok().and_then(|mut state| state.take()));
        let before = match before {
            Some(None) => return Err(PyRuntimeError::new_err("the run before left no machine")),
            Some(state) => state,
            None => None,
        };
        let (json, outcome, state) = py
            .detach(|| -> Result<_, RunError> {
                if before.is_none() && !keep {
                    let outcome = run.execute(&self.control)?;
                    return Ok((outcome.record.to_json(), outcome, None));
                }
                let (outcome, state) = run.execute_after(before, &self.control)?;
                Ok((outcome.record.to_json(), outcome, keep.then_some(state)))
            })
            .map_err(run_error)?;
        if let Ok(mut kept_state) = self.kept.lock() {
            *kept_state = state;
        }
        let tables = tables(py, &outcome.tables)?.unbind();
        Ok(PyOutput { record: json, tables, ios: outcome.ios })
    }

    /// Bytes of memory that it takes, as far as that is known before it runs; none once it was executed.
    fn memory(&self) -> Option<u64> {
        self.run.lock().ok().and_then(|run| run.as_ref().map(|run| run.memory().0))
    }

    fn volumes(&self) -> Vec<String> {
        self.volumes.clone()
    }

    fn is_stopped(&self) -> bool {
        self.control.is_stopped()
    }

    fn progress(&self) -> (f64, u64) {
        self.control.progress()
    }

    /// Intervals of the measured time that are over, without the first `known`: (time in ns, IOPS, mean latency in ns).
    #[pyo3(signature = (known=0))]
    fn intervals(&self, known: usize) -> Vec<(u64, f64, Option<f64>)> {
        let passed = self.control.passed(known).into_iter();
        passed.map(|interval| (interval.time_ns, interval.iops, interval.latency_mean_ns)).collect()
    }

    fn phase(&self) -> Option<&str> {
        self.phases.get(self.control.phase()).map(String::as_str)
    }

    fn stop(&self) {
        self.control.stop();
    }
}
