//! Logs of other tools, for Python.

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use hotband_machine::{Stopped, open_file};
use hotband_results::{FioLog, HdrLog, HdrTag, HistogramLog, LogError, Samples};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::SpecError;
use crate::interrupts::Watched;

type Dict<'py> = Bound<'py, PyDict>;

/// Convert to `SpecError` as other functions do; the key is empty, the text has the fault.
fn log_error(path: &Path, error: &LogError) -> PyErr {
    if let LogError::Io(io) = error
        && io.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Stopped>)
    {
        return PyKeyboardInterrupt::new_err("interrupted");
    }
    SpecError::new_err((path.display().to_string(), "", "", error.to_string()))
}

fn open(path: &Path) -> Result<Watched<File>, LogError> {
    Ok(Watched::new(open_file(path)?))
}

fn samples_of<'py>(py: Python<'py>, samples: &Samples) -> PyResult<Dict<'py>> {
    let dict = PyDict::new(py);
    dict.set_item("count", samples.count)?;
    dict.set_item("bytes", samples.bytes)?;
    dict.set_item("sum", samples.sum)?;
    dict.set_item("min", samples.min)?;
    dict.set_item("max", samples.max)?;
    dict.set_item("buckets", &samples.buckets)?;
    dict.set_item("second", samples.rows.iter().map(|row| row.second).collect::<Vec<_>>())?;
    dict.set_item("row_count", samples.rows.iter().map(|row| row.count).collect::<Vec<_>>())?;
    dict.set_item("row_bytes", samples.rows.iter().map(|row| row.bytes).collect::<Vec<_>>())?;
    dict.set_item("row_sum", samples.rows.iter().map(|row| row.sum).collect::<Vec<_>>())?;
    dict.set_item("row_p99", samples.rows.iter().map(|row| row.p99).collect::<Vec<_>>())?;
    dict.set_item("samples", &samples.samples)?;
    Ok(dict)
}

fn fio_log_of(py: Python<'_>, log: &FioLog) -> PyResult<Py<PyAny>> {
    let dict = PyDict::new(py);
    dict.set_item("lines", log.lines)?;
    dict.set_item("averaged", log.averaged)?;
    dict.set_item("cut", log.cut)?;
    dict.set_item("first_ms", log.first_ms)?;
    dict.set_item("last_ms", log.last_ms)?;
    dict.set_item("calendar", log.calendar)?;
    dict.set_item("offsets", log.offsets)?;
    let directions: Vec<Dict<'_>> =
        log.directions.iter().map(|samples| samples_of(py, samples)).collect::<PyResult<_>>()?;
    dict.set_item("sides", directions)?;
    Ok(dict.into())
}

#[pyfunction]
#[pyo3(signature = (path, base_ms=None))]
#[expect(clippy::needless_pass_by_value, reason = "Python's path is converted, not borrowed")]
pub fn fio_log(py: Python<'_>, path: PathBuf, base_ms: Option<u64>) -> PyResult<Py<PyAny>> {
    let read = || hotband_results::read_fio_log(open(&path)?, base_ms);
    let log = py.detach(read).map_err(|error| log_error(&path, &error))?;
    fio_log_of(py, &log)
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's path is converted, not borrowed")]
pub fn fio_histogram_log(py: Python<'_>, path: PathBuf) -> PyResult<Py<PyAny>> {
    let read = || hotband_results::read_histogram_log(open(&path)?);
    let HistogramLog { rows, buckets, coarse, cut } = py.detach(read).map_err(|error| log_error(&path, &error))?;
    let dict = PyDict::new(py);
    dict.set_item("time_ms", rows.iter().map(|row| row.time_ms).collect::<Vec<_>>())?;
    dict.set_item("direction", rows.iter().map(|row| row.direction).collect::<Vec<_>>())?;
    dict.set_item("count", rows.iter().map(|row| row.count).collect::<Vec<_>>())?;
    dict.set_item("mean_ns", rows.iter().map(|row| row.mean_ns).collect::<Vec<_>>())?;
    dict.set_item("p99_ns", rows.iter().map(|row| row.p99_ns).collect::<Vec<_>>())?;
    dict.set_item("buckets", buckets.to_vec())?;
    dict.set_item("coarse", coarse)?;
    dict.set_item("cut", cut)?;
    Ok(dict.into())
}

fn tag_of<'py>(py: Python<'py>, tag: &HdrTag) -> PyResult<Dict<'py>> {
    let dict = PyDict::new(py);
    let intervals = &tag.intervals;
    dict.set_item("tag", &tag.tag)?;
    dict.set_item("start_s", intervals.iter().map(|interval| interval.start_s).collect::<Vec<_>>())?;
    dict.set_item("length_s", intervals.iter().map(|interval| interval.length_s).collect::<Vec<_>>())?;
    dict.set_item("count", intervals.iter().map(|interval| interval.count).collect::<Vec<_>>())?;
    dict.set_item("mean", intervals.iter().map(|interval| interval.mean).collect::<Vec<_>>())?;
    dict.set_item("p99", intervals.iter().map(|interval| interval.p99).collect::<Vec<_>>())?;
    dict.set_item("buckets", &tag.buckets)?;
    dict.set_item("sum", tag.sum)?;
    dict.set_item("extent", tag.extent)?;
    dict.set_item("digits", tag.digits)?;
    Ok(dict)
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are converted, not borrowed")]
pub fn hdr_log(py: Python<'_>, data: Vec<u8>, file: String) -> PyResult<Py<PyAny>> {
    let read = py.detach(|| hotband_results::read_hdr_log(&data));
    let HdrLog { start_s, base_s, tags } = read.map_err(|error| log_error(Path::new(&file), &error))?;
    let dict = PyDict::new(py);
    dict.set_item("start_s", start_s)?;
    dict.set_item("base_s", base_s)?;
    let tags: Vec<Dict<'_>> = tags.iter().map(|tag| tag_of(py, tag)).collect::<PyResult<_>>()?;
    dict.set_item("tags", tags)?;
    Ok(dict.into())
}
