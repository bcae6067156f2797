//! The texts that a request names, read.

use std::path::Path;

use hotband_layouts::KINDS;
use hotband_machine::{SpecError, short_form};
use hotband_units::Span;
use hotband_workloads::{Precision, Workload};
use toml::{Table, Value};

use crate::build::catalog::Catalog;
use crate::build::entropy_file::data_of;
use crate::request::Request;

/// The key of `--set` for the contents of the drives.
pub const STATE: &str = "state";

/// The workload of `request` with the changes by `--set` and `--duration`, and the settings of the drives.
pub fn workload_of(request: &Request, text: &str) -> Result<(Workload, Vec<(String, String)>), SpecError> {
    let mut workload = Workload::read(&request.workload, text)?;
    let drive_set = set_all(&mut workload, &request.set)?;
    if request.follows && request.set.iter().any(|(key, _)| key == STATE) {
        // The state is that of the machine before the first run, which leaves it to this one.
        workload.forget_precondition()?;
    }
    workload.check_untimed()?;
    if let Some(duration) = &request.duration {
        set_duration(&mut workload, duration)?;
    }
    if let Some(precision) = &request.precision {
        set_precision(&mut workload, precision)?;
    }
    Ok((workload, drive_set))
}

/// `--duration`: the length of every measured phase.
pub fn set_duration(workload: &mut Workload, duration: &str) -> Result<(), SpecError> {
    let span: Span = duration.parse().map_err(|error: hotband_units::UnitError| {
        SpecError::new("duration", "", duration, format!("expected {}", error.accepted))
    })?;
    workload.set_duration(span)
}

/// Text of `--precision` for whole runs.
const OFF: &str = "off";

/// `--precision`: the precision at which measured phases end.
fn set_precision(workload: &mut Workload, text: &str) -> Result<(), SpecError> {
    let wrong = |accepted: &str| SpecError::new("precision", "", text, accepted);
    let is_off = text.trim() == OFF;
    let precision = (!is_off).then(|| Precision::read(text)).transpose();
    let precision = precision.map_err(|accepted| wrong(&format!("{accepted}, or {OFF}")))?;
    workload.set_precision(precision).map_err(wrong)
}

/// Applies `--set` to the workload; returns the pairs that belong to the drives.
pub fn set_all(workload: &mut Workload, pairs: &[(String, String)]) -> Result<Vec<(String, String)>, SpecError> {
    let clients_of_app = workload.app.is_some() && workload.scripts.is_empty();
    let of_app = |key: &str| {
        let key = key.strip_prefix("app.").or((key == "clients" && clients_of_app).then_some(key));
        key.map(str::to_owned)
    };
    let app_set = pairs.iter().filter_map(|(key, value)| Some((of_app(key)?, value.clone())));
    workload.set_app(&app_set.collect::<Vec<_>>())?;
    let mut drive_set = Vec::new();
    let mut set: Vec<_> = pairs.iter().filter(|(key, _)| of_app(key).is_none()).collect();
    expect_one_depth(&set)?;
    // Which other keys of a trace there are depends on the first, and what `qd` divides by on the second. Records keep
    // keys in the order of their names.
    set.sort_by_key(|(key, _)| (key != "issue", key != "threads"));
    for (key, value) in set {
        match key.as_str() {
            "data" => workload.set_data(&data_of(value)?)?,
            other if Workload::SET_KEYS.contains(&other) => workload.set(key, value)?,
            _ => drive_set.push((key.clone(), value.clone())),
        }
    }
    Ok(drive_set)
}

/// Refuse `depth` together with `qd`, which is the threads times `depth`: one of them would be ignored.
fn expect_one_depth(set: &[&(String, String)]) -> Result<(), SpecError> {
    let value = |name: &str| set.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    match (value("qd"), value("depth")) {
        (Some(_), Some(depth)) => {
            let accepted = "is what each thread has outstanding, and qd what all have: expected one of them";
            Err(SpecError::new("set", "depth", depth, accepted))
        }
        _ => Ok(()),
    }
}

/// The text of the workload: that of the request, else of the catalog.
pub fn workload_text(catalog: &Catalog, request: &Request) -> Result<String, SpecError> {
    match &request.workload_text {
        Some(text) => Ok(text.clone()),
        None => catalog.workload(&request.workload, ("WORKLOAD", "")),
    }
}

/// The file and the text of the machine.
pub fn machine_text(catalog: &Catalog, request: &Request) -> Result<(String, String), SpecError> {
    if let Some(text) = &request.machine_text {
        return Ok((request.machine.clone(), machine_of_file(&request.machine, text)));
    }
    if let Some(text) = short_form(&request.machine, &KINDS)? {
        // The product is named in the argument, not in a file of the user's.
        return Ok(("MACHINE".to_owned(), text));
    }
    catalog.drive(&request.machine, ("MACHINE", ""))?;
    Ok(("MACHINE".to_owned(), format!("[drives.d0]\nproduct = \"{}\"\n", request.machine)))
}

/// The text of a machine's file; a drive's file is a machine of that drive. The reader reports text that is not TOML.
fn machine_of_file(file: &str, text: &str) -> String {
    let table = text.parse::<Table>().unwrap_or_default();
    let is_drive =
        !table.contains_key("drives") && ["kind", "values", "variant_of"].iter().any(|key| table.contains_key(*key));
    match Path::new(file).file_name().and_then(|name| name.to_str()) {
        Some(name) if is_drive => format!("[drives.d0]\nproduct = {}\n", Value::from(format!("./{name}"))),
        _ => text.to_owned(),
    }
}
