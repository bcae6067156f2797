//! Traces for Python: which files are some, and the rows that the engine reads of them.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hotband_machine::{Op, Stopped};
use hotband_traces::{Io, Making, Parts, Streams, TraceFileError, WriteError};
use hotband_workloads::{Selection, TraceError, Workload};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::interrupts::{Watched, look};
use crate::{SpecError, spec_error};

/// Numbers per I/O from Python: time of issue, latency, kind, offset, length, row, order.
const COLUMNS: usize = 7;
/// A latency that the trace does not have.
const UNKNOWN: u64 = u64::MAX;

/// Convert to `SpecError`, or to the error of the file itself.
fn trace_error(name: &str, error: TraceFileError) -> PyErr {
    match error {
        TraceFileError::Io(error) => io_error(&error),
        TraceFileError::Line { line, value, found, accepted } => {
            let accepted = format!("{found}; expected {accepted}");
            SpecError::new_err((name.to_owned(), format!("line {line}"), value, accepted))
        }
        TraceFileError::Whole(text) => SpecError::new_err((name.to_owned(), "", "", text)),
    }
}

fn io_error(error: &io::Error) -> PyErr {
    if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Stopped>) {
        return PyKeyboardInterrupt::new_err("interrupted");
    }
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, error.to_string())),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// The name of the format of a trace as text, if it is one.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's path is converted, not borrowed")]
pub fn trace_format(py: Python<'_>, path: PathBuf) -> PyResult<Option<&'static str>> {
    py.detach(|| hotband_traces::format_of(&path)).map_err(|error| io_error(&error))
}

/// A trace that a workload names.
#[pyclass(name = "TraceAsked", frozen)]
pub struct PyTraceAsked {
    /// The file, as the text names it.
    #[pyo3(get)]
    file: String,
    /// Its key in the workload.
    #[pyo3(get)]
    key: String,
    selection: Selection,
}

#[pymethods]
impl PyTraceAsked {
    /// Method of reading, as text that is the same for the same rows.
    #[getter]
    fn selection(&self) -> String {
        format!("{:?}", self.selection)
    }

    /// The stated format, if there is one.
    #[getter]
    fn format(&self) -> Option<&str> {
        let columns = (!self.selection.columns.is_empty()).then_some("csv");
        self.selection.format.as_deref().or(columns)
    }

    /// Reads a trace as text at `path`, called `name`, and writes its rows to `out`.
    #[expect(clippy::needless_pass_by_value, reason = "Python's paths are converted, not borrowed")]
    fn write_rows(&self, py: Python<'_>, path: PathBuf, name: &str, out: PathBuf) -> PyResult<()> {
        let watched = |source| Box::new(Watched::new(source)) as Box<dyn io::Read>;
        let make = || hotband_traces::make_rows(&path, name, &self.selection, &out, watched);
        py.detach(make).map_err(|error| trace_error(name, error))
    }

    /// Reads a trace as text at `path`, called `name`, and returns its properties as JSON; none if that takes rows.
    #[expect(clippy::needless_pass_by_value, reason = "Python's path is converted, not borrowed")]
    fn properties(
        &self,
        py: Python<'_>,
        path: PathBuf,
        name: &str,
        block: u64,
        sample: usize,
    ) -> PyResult<Option<String>> {
        let options = asked_of(block, sample)?;
        let watched = |source| Box::new(Watched::new(source)) as Box<dyn io::Read>;
        let read = || hotband_traces::properties_at(&path, name, &self.selection, options, watched);
        let measured = py.detach(read).map_err(|error| trace_error(name, error))?;
        measured.as_ref().map(json_of).transpose()
    }
}

/// The traces that a workload's text names.
#[pyfunction]
pub fn traces_of(text: &str, file: &str) -> PyResult<Vec<PyTraceAsked>> {
    let workload = Workload::read(file, text).map_err(spec_error)?;
    let options_of = |spec: hotband_workloads::TraceSpec| {
        let (file, key, selection) = (spec.file, spec.key, spec.selection);
        PyTraceAsked { file, key, selection }
    };
    Ok(workload.traces.into_iter().map(options_of).collect())
}

/// Formats that a trace can be written in.
#[pyfunction]
pub fn trace_targets() -> Vec<&'static str> {
    hotband_traces::TARGETS.to_vec()
}

/// Number of I/Os written, losses by kind, and rounding of times in ns.
type WrittenTrace = (u64, Vec<(&'static str, u64)>, u64);

/// Writes the trace whose rows are at `rows` to `out`: I/Os written, what was lost of how many, the most that a time
/// was rounded by in ns.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's paths are converted, not borrowed")]
pub fn write_trace(py: Python<'_>, rows: PathBuf, to: &str, out: PathBuf, ending: &str) -> PyResult<WrittenTrace> {
    if !hotband_traces::TARGETS.contains(&to) {
        return Err(PyValueError::new_err(format!("{to} is no format")));
    }
    let done = py.detach(|| hotband_traces::write_trace(&rows, to, &out, ending)).map_err(|error| match error {
        WriteError::Io(error) | WriteError::Rows(TraceError::Io(error)) => io_error(&error),
        WriteError::Rows(error) => PyOSError::new_err(error.to_string()),
    })?;
    Ok((done.written, done.lost.into_iter().collect(), done.rounded_ns))
}

/// Properties of a trace as JSON.
fn json_of(properties: &hotband_traces::Properties) -> PyResult<String> {
    serde_json::to_string(properties).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Options for counting properties.
fn asked_of(block: u64, sample: usize) -> PyResult<hotband_traces::Asked> {
    if block == 0 || sample == 0 {
        return Err(PyValueError::new_err("blocks and samples have at least one"));
    }
    Ok(hotband_traces::Asked { block, sample })
}

/// Properties of the trace whose rows are at `rows`, as JSON: blocks of `block` bytes, at most `sample`
/// of which are followed.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's path is converted, not borrowed")]
pub fn trace_properties(py: Python<'_>, rows: PathBuf, block: u64, sample: usize) -> PyResult<String> {
    let options = asked_of(block, sample)?;
    let watch = || look().map_err(io::Error::other);
    let properties =
        py.detach(|| hotband_traces::properties_of(&rows, options, watch)).map_err(|error| match error {
            TraceError::Io(error) => io_error(&error),
            error => PyOSError::new_err(error.to_string()),
        })?;
    json_of(&properties)
}

/// Compares the traces whose rows are at `measured` and `replayed`, as JSON.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's paths are converted, not borrowed")]
pub fn compare_traces(py: Python<'_>, measured: PathBuf, replayed: PathBuf) -> PyResult<String> {
    let compared = py.detach(|| hotband_engine::compare_traces(&measured, &replayed, &look));
    let compared = compared.map_err(|error| match error {
        TraceError::Io(error) => io_error(&error),
        error => PyOSError::new_err(error.to_string()),
    })?;
    serde_json::to_string(&compared).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// Names of the formats that are read as text.
#[pyfunction]
pub fn trace_formats() -> Vec<&'static str> {
    hotband_traces::known()
}

/// I/Os that Python reads, on their way to rows.
#[pyclass(name = "TraceMaking", frozen)]
pub struct PyTraceMaking {
    making: Mutex<Option<(Making, Streams)>>,
}

#[pymethods]
impl PyTraceMaking {
    /// For rows in the folder of `out`, of streams with these names and volumes.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "Python's values are converted, not borrowed")]
    fn new(
        asked: &PyTraceAsked,
        out: PathBuf,
        streams: Vec<(String, Option<String>)>,
        measured_from: Option<u64>,
    ) -> Self {
        let mut making = Making::new(&asked.selection, out.parent().unwrap_or(Path::new(".")));
        making.count_from_zero();
        if let Some(row) = measured_from {
            making.measured_from(row);
        }
        let mut known = Streams::default();
        for (name, volume) in &streams {
            let device = volume.as_deref().unwrap_or_default().as_bytes();
            known.of(Parts { host: b"", device, process: name.as_bytes() });
        }
        Self { making: Mutex::new(Some((making, known))) }
    }

    /// Some I/Os, each seven numbers of 64 bits.
    fn push(&self, py: Python<'_>, ios: &[u8]) -> PyResult<()> {
        py.detach(|| {
            let mut maker = self.making.lock().map_err(|_| PyValueError::new_err("it failed before"))?;
            let Some((making, streams)) = maker.as_mut() else { return Err(PyValueError::new_err("it is finished")) };
            for bytes in ios.chunks_exact(8 * COLUMNS) {
                let (io, order) = io_of(bytes);
                if io.stream as usize >= streams.names().len() {
                    return Err(PyValueError::new_err("an unknown stream"));
                }
                making.push(&io, order, streams).map_err(|error| io_error(&error))?;
            }
            Ok(())
        })
    }

    /// Writes the rows; errors call the trace `name`.
    #[expect(clippy::needless_pass_by_value, reason = "Python's path is converted, not borrowed")]
    fn finish(&self, py: Python<'_>, name: &str, out: PathBuf) -> PyResult<()> {
        py.detach(|| {
            let taken = self.making.lock().ok().and_then(|mut making| making.take());
            let (making, streams) = taken.ok_or_else(|| PyValueError::new_err("it is finished once"))?;
            making.finish(name, &streams, &out).map_err(|error| trace_error(name, error))
        })
    }
}

fn io_of(bytes: &[u8]) -> (Io, u64) {
    let number = |column: usize| {
        u64::from_le_bytes(bytes[8 * column..8 * column + 8].try_into().expect("a number has eight bytes"))
    };
    let [issue, latency, what, offset, len, row, order]: [u64; COLUMNS] = std::array::from_fn(number);
    let op = [Op::Read, Op::Write, Op::Flush, Op::Trim][what as usize & 3];
    let (fua, failed) = (what >> 8 & 1 == 1, what >> 9 & 1 == 1);
    let latency = (latency != UNKNOWN).then_some(latency);
    let stream = (what >> 16) as u32;
    (Io { issue, latency, op, fua, failed, offset, len, stream, row }, order)
}
