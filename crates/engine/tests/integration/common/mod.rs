//! What the test files share: the catalog, runs from text, and records as JSON.
#![allow(dead_code, missing_docs, reason = "every test file uses a part of this")]

pub mod flash;
pub mod refused;
pub mod schedule;

use hotband_drives::{Disk, DiskParams, Product};
use hotband_engine::{Catalog, Control, MachineState, Outcome, Request, Run};
use serde_json::Value;
use std::sync::LazyLock;

pub fn catalog() -> Catalog {
    Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"))
}

/// A drive of the catalog, and whether it is made from lines of its data sheet (scripts/products.toml), which the source
/// of every estimate then names. tests/cli/test_catalog_products.py runs those.
struct Entry {
    name: String,
    kind: String,
    from_sheet: bool,
}

/// Every drive, read once: hundreds of files, which properties ask for in each of their cases.
static DRIVES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let entry = |name: String| {
        let Product { kind, assumptions, .. } = product(&name);
        let from_sheet = assumptions.iter().any(|value| value.source.starts_with("docs/models/data-sheets.md"));
        Entry { name, kind, from_sheet }
    };
    catalog().names("drives").into_iter().map(entry).collect()
});

fn names(chosen: impl Fn(&Entry) -> bool) -> Vec<String> {
    DRIVES.iter().filter(|drive| chosen(drive)).map(|drive| drive.name.clone()).collect()
}

/// Drives described by hand.
fn of_kind(kind: &str) -> Vec<String> {
    let names = names(|drive| drive.kind == kind && !drive.from_sheet);
    assert!(!names.is_empty(), "the catalog is where the tests look for it");
    names
}

/// Every drive of the catalog that is made from lines of its data sheet.
pub fn from_sheets() -> Vec<String> {
    names(|drive| drive.from_sheet)
}

/// Every disk of the catalog. Of one with several actuators tests that know only one target get the first.
pub fn drives() -> Vec<String> {
    of_kind("disk")
}

/// Every solid-state drive of the catalog.
pub fn solid_state() -> Vec<String> {
    of_kind("ssd")
}

/// One in `count` of these drives or machines; all of them where `make test-long` sets HOTBAND_LONG.
pub fn one_in<T>(count: usize, each: Vec<T>) -> Vec<T> {
    let step = if std::env::var_os("HOTBAND_LONG").is_some() { 1 } else { count };
    each.into_iter().step_by(step).collect()
}

pub fn product(name: &str) -> Product {
    catalog().drive(name, ("test", "")).expect("the name comes from the catalog").0
}

/// The largest power of two, up to 1,024, by which a solid-state drive can be divided: a block keeps a pass.
pub fn largest_scale(product: &Product) -> String {
    let value = |key: &str| product.assumptions.iter().find(|value| value.key == key).expect("a drive has it");
    let bytes = |key: &str| value(key).value.parse::<hotband_units::Bytes>().expect("a size").0;
    let planes: u64 = value("planes").value.parse().expect("a count");
    let passes = bytes("block") * planes / bytes("program_pass");
    (1 << passes.ilog2()).min(1024).to_string()
}

pub fn disk(name: &str) -> Disk {
    let params = DiskParams::read(&product(name), &toml::Table::new(), "test", "");
    Disk::new(params.expect("drives of the catalog are valid"))
}

/// A workload of one stream: its keys, its load and its phases.
pub fn workload(stream: &str, load: &str, warm_up: &str, measure: &str) -> String {
    let warm_up =
        if warm_up.is_empty() { String::new() } else { format!("[[phases]]\nname = \"warm-up\"\n{warm_up}\n") };
    format!("[load]\n{load}\n[[streams]]\n{stream}\n{warm_up}[[phases]]\n{measure}\nmeasure = true\n")
}

/// The same stream on logical units of drive `d`, each (unit, depth) with a load of its own.
pub fn on_units(units: &[(u32, u32)], stream: &str, warm_up: &str, measure: &str) -> String {
    let of_unit = |(unit, depth): &(u32, u32)| {
        let load = closed(*depth);
        format!("[[streams]]\nname = \"unit{unit}\"\nvolume = \"d.lun{unit}\"\nload = {{ {load} }}\n{stream}\n")
    };
    let streams: String = units.iter().map(of_unit).collect();
    format!("{streams}[[phases]]\nname = \"warm-up\"\n{warm_up}\n[[phases]]\n{measure}\nmeasure = true\n")
}

/// Uniformly random 4 KiB I/Os.
pub fn random_4k(read_pct: u32) -> String {
    format!("read_pct = {read_pct}\nrandom_pct = 100\nsize = \"4 KiB\"")
}

pub fn closed(depth: u32) -> String {
    format!("closed = {{ threads = 1, depth = {depth} }}")
}

/// A machine of one drive whose actuators are logical units: with the first of them alone, so that there is one target.
fn first_lun(machine: &str) -> Option<String> {
    let drive = drives().into_iter().find(|name| name == machine)?;
    let several = product(&drive).has("actuators");
    several.then(|| format!("[drives.d]\nproduct = \"{drive}\"\n[volumes]\nv = {{ on = \"d.lun0\" }}\n"))
}

/// A request for a machine (a drive, a short form, or TOML text).
pub fn request(machine: &str, workload: &str, set: &[(&str, &str)]) -> Request {
    let text = machine.contains('\n').then(|| machine.to_owned()).or_else(|| first_lun(machine));
    Request {
        machine: if text.is_some() { "machine.toml".into() } else { machine.to_owned() },
        machine_text: text,
        workload: "workload.toml".into(),
        workload_text: Some(workload.to_owned()),
        set: set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        seed: 1,
        ..Request::default()
    }
}

#[track_caller]
pub fn execute(request: Request) -> Outcome {
    let what = format!("{} {:?}", request.machine, request.set);
    let run = Run::new(&catalog(), request).unwrap_or_else(|error| panic!("{what}: {error}"));
    run.execute(&Control::default()).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// Executes runs one after the other on one machine.
#[track_caller]
pub fn in_turn(requests: Vec<Request>) -> Vec<Outcome> {
    let mut kept: Option<MachineState> = None;
    let execute = |request| {
        let run = Run::new(&catalog(), request).expect("runs of the tests are valid");
        let (outcome, left) = run.execute_after(kept.take(), &Control::default()).expect("nothing stops it");
        kept = Some(left);
        outcome
    };
    requests.into_iter().map(execute).collect()
}

/// What a run left, for asking.
pub struct Left(pub Value);

#[track_caller]
pub fn run(machine: &str, workload: &str, set: &[(&str, &str)]) -> Left {
    let json = execute(request(machine, workload, set)).record.to_json();
    Left(serde_json::from_str(&json).expect("a record is JSON"))
}

impl Left {
    /// A number of the summary.
    #[track_caller]
    pub fn summary(&self, key: &str) -> f64 {
        self.0["summary"][key].as_f64().unwrap_or_else(|| panic!("{key} is a number"))
    }

    pub fn iops(&self) -> f64 {
        self.summary("iops")
    }

    /// A counter, summed over all drives.
    pub fn counter(&self, name: &str) -> f64 {
        let parts = self.0["parts"].as_array().expect("a record has parts");
        let drives = parts.iter().filter(|part| ["disk", "smr", "ssd"].iter().any(|kind| part["kind"] == *kind));
        drives.map(|part| part["counters"][name].as_f64().expect("a counter of the drive")).sum()
    }
}

/// Checks `got` against `wanted` within a share of it.
#[track_caller]
pub fn assert_near(what: &str, got: f64, wanted: f64, share: f64) {
    assert!((got / wanted - 1.0).abs() <= share, "{what}: {got} where {wanted} was expected (within {share})");
}
