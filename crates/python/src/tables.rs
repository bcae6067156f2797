//! Tables of a run, for Python.

use std::collections::BTreeMap;

use hotband_engine::{Column, Table, Tables, Text};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// A table: its columns as lists, and the kind of their cells.
#[pyclass(name = "Table", frozen, get_all)]
pub struct PyTable {
    columns: Py<PyDict>,
    kinds: Py<PyDict>,
}

/// Name of a column's cells: each can be missing where the series says so.
fn kind_of(column: &Column) -> &'static str {
    match column {
        Column::Whole(_) | Column::MaybeWhole(_) => "u64",
        Column::Real(_) | Column::MaybeReal(_) => "f64",
        Column::Text(_) => "text",
    }
}

fn texts<'py>(py: Python<'py>, cells: &[Text]) -> PyResult<Bound<'py, PyList>> {
    // A name that many cells share is one object in Python too.
    let mut known: BTreeMap<&str, Bound<'py, PyString>> = BTreeMap::new();
    let shared: Vec<_> =
        cells.iter().map(|cell| known.entry(cell).or_insert_with(|| PyString::new(py, cell)).clone()).collect();
    PyList::new(py, shared)
}

fn cells<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyList>> {
    match column {
        Column::Whole(cells) => PyList::new(py, cells),
        Column::MaybeWhole(cells) => PyList::new(py, cells),
        Column::Real(cells) => PyList::new(py, cells),
        Column::MaybeReal(cells) => PyList::new(py, cells),
        Column::Text(cells) => texts(py, cells),
    }
}

impl PyTable {
    fn new(py: Python<'_>, table: &Table) -> PyResult<Self> {
        let (columns, kinds) = (PyDict::new(py), PyDict::new(py));
        for (name, column) in &table.columns {
            columns.set_item(name, cells(py, column)?)?;
            kinds.set_item(name, kind_of(column))?;
        }
        Ok(Self { columns: columns.unbind(), kinds: kinds.unbind() })
    }
}

/// All tables by name, in the order in which they were left.
pub fn tables<'py>(py: Python<'py>, tables: &Tables) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for table in tables.iter() {
        dict.set_item(table.name, PyTable::new(py, table)?)?;
    }
    Ok(dict)
}
