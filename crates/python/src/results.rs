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

/// `SpecError` as the other functions raise it; the key is empty, what is wrong is in the text.
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
    let found = PyDict::new(py);
    found.set_item("count", samples.count)?;
    found.set_item("bytes", samples.bytes)?;
    found.set_item("sum", samples.sum)?;
    found.set_item("min", samples.min)?;
    found.set_item("max", samples.max)?;
    found.set_item("buckets", &samples.buckets)?;
    found.set_item("second", samples.rows.iter().map(|row| row.second).collect::<Vec<_>>())?;
    found.set_item("row_count", samples.rows.iter().map(|row| row.count).collect::<Vec<_>>())?;
    found.set_item("row_bytes", samples.rows.iter().map(|row| row.bytes).collect::<Vec<_>>())?;
    found.set_item("row_sum", samples.rows.iter().map(|row| row.sum).collect::<Vec<_>>())?;
    found.set_item("row_p99", samples.rows.iter().map(|row| row.p99).collect::<Vec<_>>())?;
    found.set_item("samples", &samples.samples)?;
    Ok(found)
}

fn fio_log_of(py: Python<'_>, log: &FioLog) -> PyResult<Py<PyAny>> {
    let found = PyDict::new(py);
    found.set_item("lines", log.lines)?;
    found.set_item("averaged", log.averaged)?;
    found.set_item("cut", log.cut)?;
    found.set_item("first_ms", log.first_ms)?;
    found.set_item("last_ms", log.last_ms)?;
    found.set_item("calendar", log.calendar)?;
    found.set_item("offsets", log.offsets)?;
    let directions: Vec<Dict<'_>> =
        log.directions.iter().map(|samples| samples_of(py, samples)).collect::<PyResult<_>>()?;
    found.set_item("sides", directions)?;
    Ok(found.into())
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
    let found = PyDict::new(py);
    found.set_item("time_ms", rows.iter().map(|row| row.time_ms).collect::<Vec<_>>())?;
    found.set_item("direction", rows.iter().map(|row| row.direction).collect::<Vec<_>>())?;
    found.set_item("count", rows.iter().map(|row| row.count).collect::<Vec<_>>())?;
    found.set_item("mean_ns", rows.iter().map(|row| row.mean_ns).collect::<Vec<_>>())?;
    found.set_item("p99_ns", rows.iter().map(|row| row.p99_ns).collect::<Vec<_>>())?;
    found.set_item("buckets", buckets.to_vec())?;
    found.set_item("coarse", coarse)?;
    found.set_item("cut", cut)?;
    Ok(found.into())
}

fn tag_of<'py>(py: Python<'py>, tag: &HdrTag) -> PyResult<Dict<'py>> {
    let found = PyDict::new(py);
    let of = &tag.intervals;
    found.set_item("tag", &tag.tag)?;
    found.set_item("start_s", of.iter().map(|one| one.start_s).collect::<Vec<_>>())?;
    found.set_item("length_s", of.iter().map(|one| one.length_s).collect::<Vec<_>>())?;
    found.set_item("count", of.iter().map(|one| one.count).collect::<Vec<_>>())?;
    found.set_item("mean", of.iter().map(|one| one.mean).collect::<Vec<_>>())?;
    found.set_item("p99", of.iter().map(|one| one.p99).collect::<Vec<_>>())?;
    found.set_item("buckets", &tag.buckets)?;
    found.set_item("sum", tag.sum)?;
    found.set_item("extent", tag.extent)?;
    found.set_item("digits", tag.digits)?;
    Ok(found)
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are converted, not borrowed")]
pub fn hdr_log(py: Python<'_>, data: Vec<u8>, file: String) -> PyResult<Py<PyAny>> {
    let read = py.detach(|| hotband_results::read_hdr_log(&data));
    let HdrLog { start_s, base_s, tags } = read.map_err(|error| log_error(Path::new(&file), &error))?;
    let found = PyDict::new(py);
    found.set_item("start_s", start_s)?;
    found.set_item("base_s", base_s)?;
    let tags: Vec<Dict<'_>> = tags.iter().map(|tag| tag_of(py, tag)).collect::<PyResult<_>>()?;
    found.set_item("tags", tags)?;
    Ok(found.into())
}
