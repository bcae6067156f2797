//! A machine that is served, for Python.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hotband_serve::{Memory, OfMachine, Options, Service, Store};
use hotband_units::Span;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::run::{PyOutput, PyRun, run_error};
use crate::tables::tables;

/// What programs reach the machine by; each ends when it is dropped.
type Front = Box<dyn Send>;

/// A machine on the clock of the wall.
#[pyclass(name = "Server", frozen)]
pub struct PyServer {
    service: Arc<Service>,
    fronts: Mutex<Vec<Front>>,
}

/// A mistake of the host, with the file that it is about.
fn os_error(error: &io::Error, file: Option<&PathBuf>) -> PyErr {
    let code = error.raw_os_error();
    let said = error.to_string();
    let (said, file) = (said.split(" (os error").next().unwrap_or_default().to_owned(), file.cloned());
    pyo3::exceptions::PyOSError::new_err((code, said, file))
}

#[pymethods]
impl PyServer {
    /// Begins to serve the machine of `run`, whose load is `clients`; its time begins.
    #[new]
    #[pyo3(signature = (run, *, spin_ns=60_000, priority=true))]
    fn new(py: Python<'_>, run: &PyRun, spin_ns: u64, priority: bool) -> PyResult<Self> {
        let made = run.take()?;
        let options = Options { spin: Span(spin_ns), priority };
        let start = || {
            let live = made.live(run.control()).map_err(run_error)?;
            let store: Box<dyn Store> = Box::new(Memory::default());
            Service::start(Box::new(OfMachine::new(live)), store, options).map_err(|error| os_error(&error, None))
        };
        Ok(Self { service: py.detach(start)?, fronts: Mutex::default() })
    }

    /// Name, bytes and smallest unit of an I/O of every volume.
    fn volumes(&self) -> Vec<(String, u64, u32)> {
        self.service.volumes().iter().map(|volume| (volume.name.clone(), volume.size, volume.block)).collect()
    }

    /// What was counted so far, as JSON: the section "serving" of its record.
    fn serving(&self) -> PyResult<String> {
        serde_json::to_string(&self.service.tally().told()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Whether it has ended, because power went off or it was stopped.
    fn is_stopped(&self) -> bool {
        self.service.is_stopped()
    }

    /// Ends it: clients get no more answers.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.service.stop());
    }

    /// What it leaves; ends it where it has not ended.
    fn finish(&self, py: Python<'_>) -> PyResult<PyOutput> {
        let outcome = py
            .detach(|| {
                self.service.stop();
                self.fronts.lock().unwrap_or_else(PoisonError::into_inner).clear();
                Ok(self.service.finish()?.map(|outcome| (outcome.record.to_json(), outcome)))
            })
            .map_err(run_error)?;
        let (record, outcome) = outcome.ok_or_else(|| PyRuntimeError::new_err("a served machine leaves one record"))?;
        Ok(PyOutput { record, tables: tables(py, &outcome.tables)?.unbind(), ios: outcome.ios })
    }
}
