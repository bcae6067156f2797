//! Measuring how far data compresses, for Python.

use std::path::PathBuf;

use hotband_entropy::{Ask, AskError, Control, Report, measure};
use pyo3::prelude::*;

use crate::SpecError;

fn ask_error(error: AskError) -> PyErr {
    SpecError::new_err((error.field, String::new(), error.value, error.accepted))
}

/// Result of the measurement as a dict.
#[derive(IntoPyObject)]
pub struct Measured {
    report: String,
    jobs: usize,
    measuring_s: f64,
    compressing_s: f64,
}

/// The request; `measure` executes it.
#[pyclass(name = "Entropy", frozen)]
pub struct PyEntropy {
    ask: Ask,
    control: Control,
}

#[pymethods]
impl PyEntropy {
    #[new]
    #[pyo3(signature = (paths, *, compressors=Vec::new(), chunks=Vec::new(), sample=None, seed=1, jobs=None, one_file_system=false))]
    #[allow(
        clippy::too_many_arguments,
        clippy::needless_pass_by_value,
        reason = "keyword arguments of one Python call"
    )]
    fn new(
        paths: Vec<PathBuf>,
        compressors: Vec<String>,
        chunks: Vec<String>,
        sample: Option<String>,
        seed: u64,
        jobs: Option<usize>,
        one_file_system: bool,
    ) -> PyResult<Self> {
        let ask = Ask { seed, jobs, one_file_system, ..Ask::of(paths) };
        let ask = ask.compressors(&compressors).and_then(|ask| ask.chunks(&chunks));
        let ask = ask.and_then(|ask| ask.sample(sample.as_deref())).map_err(ask_error)?;
        ask.check().map_err(ask_error)?;
        Ok(Self { ask, control: Control::default() })
    }

    fn measure(&self, py: Python<'_>) -> PyResult<Option<Measured>> {
        let measured = py.detach(|| measure(&self.ask, &self.control)).map_err(ask_error)?;
        Ok(measured.map(|measured| {
            let effort = measured.effort;
            Measured {
                report: Report::new(&self.ask, &measured).to_json(),
                jobs: effort.jobs,
                measuring_s: effort.measuring.as_secs_f64(),
                compressing_s: effort.compressing.as_secs_f64(),
            }
        }))
    }

    fn progress(&self) -> [u64; 4] {
        self.control.progress()
    }

    fn stop(&self) {
        self.control.stop();
    }
}
