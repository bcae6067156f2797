//! Contents of the catalog and of specs, for Python: each struct here is a dict there.

use std::path::PathBuf;

use hotband_engine::{Catalog, MachineTold, Offer, Request, TomlTable, TomlValue as Value, WorkloadTold};
use hotband_machine::Product;
use hotband_units::{Bytes, Power, Rate, Ratio, Rpm, Span, UnitError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::{build_error, look, spec_error};

#[derive(IntoPyObject)]
pub struct DriveValue {
    key: String,
    value: String,
    range: Option<(String, String)>,
    source: String,
    confidence: String,
    estimate: bool,
    note: String,
}

#[derive(IntoPyObject)]
pub struct CatalogEntry {
    name: String,
    title: String,
    model: String,
    kind: String,
    values: Vec<DriveValue>,
    warnings: Vec<String>,
}

#[pyfunction]
pub fn drive(catalog: PathBuf, name: &str) -> PyResult<CatalogEntry> {
    Ok(entry_of(name, hotband_engine::checked_drive(&Catalog::new(catalog), name, "DRIVE").map_err(spec_error)?))
}

#[pyfunction]
pub fn osd(catalog: PathBuf, name: &str) -> PyResult<CatalogEntry> {
    Ok(entry_of(name, Catalog::new(catalog).osd(name, ("OSD", "")).map_err(spec_error)?.0))
}

fn entry_of(name: &str, product: Product) -> CatalogEntry {
    let warnings = product.warnings;
    let values = product.assumptions.into_iter().map(|value| DriveValue {
        key: value.key,
        value: value.value,
        range: value.range,
        source: value.source,
        confidence: value.confidence,
        estimate: value.estimate,
        note: value.note,
    });
    let (title, model, kind) = (product.title, product.model, product.kind);
    CatalogEntry { name: name.to_owned(), title, model, kind, values: values.collect(), warnings }
}

/// Keys of `set`: owner, current value, accepted values, meaning.
#[derive(IntoPyObject)]
pub struct SetKey {
    key: String,
    part: String,
    value: Option<String>,
    accepted: String,
    meaning: String,
}

#[pyfunction]
#[pyo3(signature = (catalog, workload, machine, workload_text=None, machine_text=None, set=Vec::new()))]
pub fn set_keys(
    catalog: PathBuf,
    workload: String,
    machine: String,
    workload_text: Option<String>,
    machine_text: Option<String>,
    set: Vec<(String, String)>,
) -> PyResult<Vec<SetKey>> {
    let request = Request { machine, machine_text, workload, workload_text, set, seed: 1, ..Request::default() };
    let keys = hotband_engine::set_keys(&Catalog::new(catalog), &request).map_err(spec_error)?;
    let rows = keys.into_iter().map(|set_key| {
        let hotband_engine::SetKey { key, part, value, accepted, meaning } = set_key;
        SetKey { key, part, value, accepted, meaning }
    });
    Ok(rows.collect())
}

/// The text of a workload of the catalog, or `text` of a file `name`, with all that a variant takes from its base.
#[pyfunction]
#[pyo3(signature = (catalog, name, text=None))]
pub fn workload_text(catalog: PathBuf, name: &str, text: Option<String>) -> PyResult<String> {
    let catalog = Catalog::new(catalog);
    let whole = match text {
        Some(text) => catalog.whole_workload(name, text),
        None => catalog.workload(name, ("WORKLOAD", "")),
    };
    whole.map_err(spec_error)
}

/// A quantity in its base unit: bytes, bytes a second, seconds, rpm, watts, or a share of one.
#[pyfunction]
pub fn quantity(kind: &str, text: &str) -> PyResult<f64> {
    let read = match kind {
        "size" => text.parse().map(|Bytes(bytes)| bytes as f64),
        "rate" => text.parse().map(|Rate(rate)| rate as f64),
        "time" => text.parse().map(|time: Span| time.as_secs_f64()),
        "speed" => text.parse().map(|Rpm(rpm)| f64::from(rpm)),
        "power" => text.parse().map(|Power(milliwatts)| milliwatts as f64 / 1e3),
        "share" => text.parse().map(|Ratio(share)| share),
        _ => return Err(PyValueError::new_err(format!("{kind} is no kind of quantity"))),
    };
    read.map_err(|error: UnitError| PyValueError::new_err(error.accepted))
}

#[pyfunction]
pub fn catalog_names(catalog: PathBuf, folder: &str) -> Vec<String> {
    Catalog::new(catalog).names(folder)
}

#[derive(IntoPyObject)]
pub struct MachineOffer {
    text: String,
    volumes: Vec<(String, u64)>,
    block_bytes: u64,
    drives: Vec<String>,
}

#[pyfunction]
pub fn machine_offer(
    catalog: PathBuf,
    machine: String,
    machine_text: Option<String>,
    set: Vec<(String, String)>,
) -> PyResult<MachineOffer> {
    let request = Request { machine, machine_text, set, seed: 1, ..Request::default() };
    let offer = Offer::of(&Catalog::new(catalog), &request, &look).map_err(build_error)?;
    let volumes = offer.targets.into_iter().map(|(name, size)| (name, size.0)).collect();
    Ok(MachineOffer { text: offer.text, volumes, block_bytes: offer.block.0, drives: offer.products })
}

/// Most bytes per second that a machine can move; none if nothing known limits it.
#[derive(IntoPyObject)]
pub struct Ceiling {
    ports: Option<f64>,
    media: Option<f64>,
}

#[pyfunction]
#[pyo3(signature = (catalog, machine, machine_text, set, *, read_share, seconds))]
pub fn ceiling(
    catalog: PathBuf,
    machine: String,
    machine_text: Option<String>,
    set: Vec<(String, String)>,
    read_share: f64,
    seconds: f64,
) -> PyResult<Ceiling> {
    let request = Request { machine, machine_text, set, seed: 1, ..Request::default() };
    let moved = hotband_engine::Moved { read_share, seconds };
    let highest = hotband_engine::ceiling(&Catalog::new(catalog), &request, moved).map_err(spec_error)?;
    let known = |rate: f64| rate.is_finite().then_some(rate);
    Ok(Ceiling { ports: known(highest.ports), media: known(highest.media) })
}

#[derive(IntoPyObject)]
pub struct Drive {
    name: String,
    product: String,
    set: std::collections::BTreeMap<String, String>,
}

#[derive(IntoPyObject)]
pub struct Layout {
    name: String,
    kind: String,
    osd: Option<String>,
}

#[derive(IntoPyObject)]
pub struct Machine {
    text: String,
    drives: Vec<Drive>,
    layouts: Vec<Layout>,
    volumes: Vec<String>,
    is_replicated: bool,
    own_drives: std::collections::BTreeMap<String, String>,
    own_products: std::collections::BTreeMap<String, CatalogEntry>,
}

/// A machine as its text states it: nothing is built.
#[pyfunction]
#[pyo3(signature = (catalog, machine, machine_text=None))]
pub fn machine(catalog: PathBuf, machine: String, machine_text: Option<String>) -> PyResult<Machine> {
    let request = Request { machine, machine_text, ..Request::default() };
    let outline = MachineTold::of(&Catalog::new(catalog), &request).map_err(spec_error)?;
    let drives = outline.drives.into_iter();
    let layouts = outline.layouts.into_iter();
    Ok(Machine {
        text: outline.text,
        drives: drives
            .map(|drive| Drive { name: drive.name, product: drive.product, set: drive.set.into_iter().collect() })
            .collect(),
        layouts: layouts.map(|layout| Layout { name: layout.name, kind: layout.kind, osd: layout.osd }).collect(),
        volumes: outline.volumes,
        is_replicated: outline.is_replicated,
        own_drives: outline.own_drives,
        own_products: outline.own_products.into_iter().map(|(name, of)| (name.clone(), entry_of(&name, of))).collect(),
    })
}

#[derive(IntoPyObject)]
pub struct Workload<'py> {
    title: String,
    source: String,
    text: String,
    table: Bound<'py, PyDict>,
}

/// A workload as its text states it, after all checks, with changed values of its keys and a changed
/// length of its measured phases.
#[pyfunction]
#[pyo3(signature = (text, file="workload", set=Vec::new(), duration=None))]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are made for the call")]
pub fn workload<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
    set: Vec<(String, String)>,
    duration: Option<&str>,
) -> PyResult<Workload<'py>> {
    let outline = WorkloadTold::of(file, text, &set, duration).map_err(spec_error)?;
    Ok(Workload {
        title: outline.title,
        source: outline.source,
        text: outline.text,
        table: table_of(py, &outline.table)?,
    })
}

fn table_of<'py>(py: Python<'py>, table: &TomlTable) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in table {
        dict.set_item(key, value_of(py, value)?)?;
    }
    Ok(dict)
}

fn value_of<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Boolean(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Datetime(time) => time.to_string().into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(|value| value_of(py, value)).collect::<PyResult<_>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Table(table) => table_of(py, table)?.into_any(),
    })
}

/// The layouts of a machine and the drives they lie on, as JSON.
#[pyfunction]
#[pyo3(signature = (catalog, machine, machine_text=None, set=Vec::new()))]
pub fn layouts_of(
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
