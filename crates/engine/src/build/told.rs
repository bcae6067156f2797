//! Checked specs as data, for what reads them without running them: nothing is parsed twice.

use std::collections::BTreeMap;

use hotband_drives::Product;
use hotband_layouts::is_pool;
use hotband_machine::{MachineSpec, SpecError, parse_toml};
use hotband_workloads::Workload;
use toml::{Table, Value};

use crate::build::catalog::{Catalog, is_file};
use crate::request::Request;
use crate::texts::{machine_text, set_all, set_duration};

/// A drive that a machine names.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveTold {
    /// Name in the machine.
    pub name: String,
    /// Its product in the catalog.
    pub product: String,
    /// Values that the machine changes, as text.
    pub set: Vec<(String, String)>,
}

/// A layout that a machine names.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutTold {
    /// Name in the machine.
    pub name: String,
    /// "raid5".
    pub kind: String,
    /// Product of the daemons of a replicated pool.
    pub osd: Option<String>,
}

/// A machine as its text states it, before anything is built.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineTold {
    /// Text of the machine, as in records.
    pub text: String,
    /// Its drives, one by one.
    pub drives: Vec<DriveTold>,
    /// Its layouts.
    pub layouts: Vec<LayoutTold>,
    /// Names of its volumes.
    pub volumes: Vec<String>,
    /// Whether any layout is a replicated pool.
    pub is_replicated: bool,
    /// Texts of the user's drive files with their bases, by the path that names them.
    pub own_drives: BTreeMap<String, String>,
    /// Drive files of these drives, with paths resolved from the folder of the machine's file.
    pub own_products: BTreeMap<String, Product>,
}

impl MachineTold {
    /// The machine that `request` names.
    ///
    /// # Errors
    /// The first mistake in the machine or in a drive's file.
    pub fn of(catalog: &Catalog, request: &Request) -> Result<Self, SpecError> {
        let (file, text) = machine_text(catalog, request)?;
        let spec = MachineSpec::read(&file, &text)?;
        let (mut own_drives, mut own_products) = (BTreeMap::new(), BTreeMap::new());
        for drive in spec.drives.iter().filter(|drive| is_file(&drive.product)) {
            if !own_drives.contains_key(&drive.product) {
                let (product, text) = catalog.drive(&drive.product, (&file, &format!("{}.product", drive.key)))?;
                own_drives.insert(drive.product.clone(), text);
                own_products.insert(drive.product.clone(), product);
            }
        }
        let drive = |drive: &hotband_machine::DriveSpec| DriveTold {
            name: drive.name.clone(),
            product: drive.product.clone(),
            set: drive.set.iter().map(|(key, value)| (key.clone(), shown(value))).collect(),
        };
        let layout = |layout: &hotband_machine::LayoutSpec| LayoutTold {
            name: layout.name.clone(),
            kind: layout.kind.clone(),
            osd: layout.options.get("osd").and_then(Value::as_str).map(str::to_owned),
        };
        Ok(Self {
            drives: spec.drives.iter().map(drive).collect(),
            layouts: spec.layouts.iter().map(layout).collect(),
            volumes: spec.volumes.iter().map(|volume| volume.name.clone()).collect(),
            is_replicated: spec.layouts.iter().any(|layout| is_pool(&layout.kind)),
            own_drives,
            own_products,
            text,
        })
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A workload as its text states it, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadTold {
    /// Title.
    pub title: String,
    /// Source of the definition.
    pub source: String,
    /// Its text, with the changed values.
    pub text: String,
    /// Its keys and tables, as written.
    pub table: Table,
}

impl WorkloadTold {
    /// The workload of `text`, with values of its keys changed (`--set`) and the length of its measured phases.
    ///
    /// # Errors
    /// The first mistake in it, named in `file`, in what is set, or in the length; a key that is none for a workload.
    pub fn of(file: &str, text: &str, set: &[(String, String)], duration: Option<&str>) -> Result<Self, SpecError> {
        let mut workload = Workload::read(file, text)?;
        if let Some((key, _)) = set_all(&mut workload, set)?.first() {
            return Err(SpecError::unknown("set", "", key, &Workload::SET_KEYS));
        }
        duration.map_or(Ok(()), |duration| set_duration(&mut workload, duration))?;
        let text = if set.is_empty() && duration.is_none() { text.to_owned() } else { workload.text() };
        let Workload { title, source, .. } = workload;
        Ok(Self { title, source, table: parse_toml(file, &text)?, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(machine: &str, text: Option<&str>) -> Result<MachineTold, SpecError> {
        let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
        let machine_text = text.map(str::to_owned);
        MachineTold::of(&catalog, &Request { machine: machine.to_owned(), machine_text, ..Request::default() })
    }

    #[test]
    fn a_short_form_and_a_name_are_told_as_the_text_that_they_stand_for() {
        let mirror = told("raid1:2xsavvio-10k1", None).unwrap();
        assert_eq!(mirror.drives.iter().map(|drive| drive.name.as_str()).collect::<Vec<_>>(), ["d0", "d1"]);
        assert_eq!((mirror.layouts[0].kind.as_str(), mirror.is_replicated), ("raid1", false));
        let single = told("savvio-10k1", None).unwrap();
        assert_eq!((single.drives[0].product.as_str(), single.layouts.len()), ("savvio-10k1", 0));
        assert_eq!(told("savvio", None).unwrap_err().file, "MACHINE");
    }

    #[test]
    fn values_and_daemons_of_a_text_are_told_too() {
        let text = "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 2\nset = { wce = \"off\" }\n";
        let machine = told("m.toml", Some(text)).unwrap();
        assert_eq!(machine.drives[1].set, [("wce".to_owned(), "off".to_owned())]);
        let pool = told("replicated:6xmg06sca-10tb", None).unwrap();
        assert!(pool.is_replicated, "{pool:?}");
    }

    #[test]
    fn a_workload_is_told_as_written_once_it_is_right() {
        let text = "title = \"a\"\nsource = \"b\"\n[load]\nclosed = { threads = 1 }\n[[streams]]\nread_pct = 100\n\
                    random_pct = 100\nsize = \"4 KiB\"\n[[phases]]\nios = 1\nmeasure = true\n";
        let workload = WorkloadTold::of("w", text, &[], None).unwrap();
        assert_eq!((workload.title.as_str(), workload.table["streams"][0]["size"].as_str()), ("a", Some("4 KiB")));
        assert_eq!(WorkloadTold::of("w", &text.replace("ios = 1", "ios = 0"), &[], None).unwrap_err().file, "w");
    }
}
