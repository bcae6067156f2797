//! Every key that `set` accepts for a workload on a machine, with its current value, as `hotband keys` lists them.
//!
//! The accepted values of a key come from the error for an impossible value, so they cannot lag behind
//! the code that refuses.

mod meanings;

use hotband_drives::{BlackBoxParams, DiskParams, Product, SsdParams};
use hotband_layouts::is_pool;
use hotband_layouts::replicated::{OsdParams, PoolSpec};
use hotband_machine::{MachineSpec, SpecError, nearest};
use toml::{Table, Value};

use crate::texts::{machine_text, workload_of, workload_text};
use crate::{Catalog, Request};

/// Keys of workloads that `set` accepts before a workload or machine is named.
pub const SET_KEYS: &[&str] = &hotband_workloads::Workload::SET_KEYS;

/// A key that `set` accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetKey {
    /// The key.
    pub key: String,
    /// Owner of the key: "workload", "app", "drive NAME" or "daemon NAME".
    pub part: String,
    /// Its current value, as `set` accepts it; none if it has none, or several in different places.
    pub value: Option<String>,
    /// Accepted values: a quantity with its unit, a range, names.
    pub accepted: String,
    /// Meaning.
    pub meaning: String,
}

/// Every key that `set` takes for the workload and the machine of `request`, those of the workload first.
///
/// # Errors
/// The first mistake in what `request` names.
pub fn set_keys(catalog: &Catalog, request: &Request) -> Result<Vec<SetKey>, SpecError> {
    let (workload, drive_set) = workload_of(request, &workload_text(catalog, request)?)?;
    let mut keys: Vec<SetKey> = workload.settable().into_iter().map(of_workload).collect();
    let (file, text) = machine_text(catalog, request)?;
    let spec = MachineSpec::read(&file, &text)?;
    let mut products: Vec<(String, Product, Table)> = Vec::new();
    for drive in &spec.drives {
        let part = format!("drive {}", drive.product);
        if products.iter().all(|(have, ..)| *have != part) {
            let (product, _) = catalog.drive(&drive.product, (&file, &format!("{}.product", drive.key)))?;
            products.push((part, product, drive.set.clone()));
        }
    }
    for layout in spec.layouts.iter().filter(|layout| is_pool(&layout.kind)) {
        let pool = PoolSpec::read(&file, layout)?;
        let part = format!("daemon {}", pool.osd);
        if products.iter().all(|(have, ..)| *have != part) {
            let (product, _) = catalog.osd(&pool.osd, (&file, &format!("{}.osd", layout.key)))?;
            products.push((part, product, pool.set.clone()));
        }
    }
    for (part, product, own) in &products {
        keys.extend(of_product(part, product, own, &drive_set));
    }
    Ok(keys)
}

fn of_workload(found: hotband_workloads::Settable) -> SetKey {
    let part = if found.key.starts_with("app.") { "app" } else { "workload" };
    let meaning = found.meaning.to_owned();
    SetKey { key: found.key, part: part.to_owned(), value: found.value, accepted: found.accepted, meaning }
}

/// The values of a drive or a daemon: of the catalog, those of the machine in their place, those of `set` before both.
fn of_product(part: &str, product: &Product, settings: &Table, set: &[(String, String)]) -> Vec<SetKey> {
    let stated = product.assumptions.iter().filter(|value| product.has(&value.key));
    let stated = stated.map(|value| (value.key.as_str(), Some(&value.value)));
    let keys = stated.chain(optional_of(product).map(|(key, _)| (*key, None))).map(|(name, value)| {
        let of_set = set.iter().rev().find(|(key, _)| *key == name).map(|(_, text)| text.clone());
        let of_machine =
            || settings.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        SetKey {
            key: name.to_owned(),
            part: part.to_owned(),
            value: of_set.or_else(of_machine).or_else(|| value.cloned()),
            accepted: accepted(product, name),
            meaning: meaning(&product.kind, name).to_owned(),
        }
    });
    keys.collect()
}

/// Return the accepted values of a key of a product.
fn accepted(product: &Product, key: &str) -> String {
    let refused = read_with(product, key, Value::from("?")).err();
    refused.map_or_else(|| "a text".to_owned(), |refused| refused.accepted.trim_start_matches("expected ").to_owned())
}

/// Reads a product with one value changed.
fn read_with(product: &Product, key: &str, value: Value) -> Result<(), SpecError> {
    let set = Table::from_iter([(key.to_owned(), value)]);
    match product.kind.as_str() {
        "black-box" => BlackBoxParams::read(product, &set, "", "").map(drop),
        "disk" => DiskParams::read(product, &set, "", "").map(drop),
        "ssd" => SsdParams::read(product, &set, "", "").map(drop),
        _ => OsdParams::read(product, &set, "", "").map(drop),
    }
}

/// Refuses a value that none is called and whose nearest is missing. Other unknown ones are refused by who reads them.
///
/// # Errors
/// The first such value, with what was meant.
pub(crate) fn check_names(product: &Product) -> Result<(), SpecError> {
    let known: Vec<&str> = meanings_of(&product.kind).map(|(name, _)| *name).collect();
    let mut misspelt = product.keys().filter(|key| !known.contains(key));
    let meant = |key: &str| nearest(key, &known).filter(|near| !product.has(near)).map(str::to_owned);
    let Some((key, near)) = misspelt.find_map(|key| Some((key, meant(key)?))) else { return Ok(()) };
    let accepted = format!("unknown key; did you mean \"{near}\"? It is missing");
    let refused = SpecError::new(&product.file, &format!("values.{key}"), "", accepted);
    product.blame(Err(refused), &Table::new(), "", "")
}

/// Whether a product takes a value of this name: one that it states, or one that its kind need not state.
pub(crate) fn takes(product: &Product, key: &str) -> bool {
    product.has(key) || optional_of(product).any(|(name, _)| *name == key)
}

/// Values that a product accepts and does not state, with their meanings.
pub(crate) fn optional_of(product: &Product) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    optional(&product.kind).iter().filter(|(key, _)| !product.has(key))
}

fn optional(kind: &str) -> &'static [(&'static str, &'static str)] {
    if kind == "disk" { meanings::DISK_OPTIONAL } else { &[] }
}

/// Every value that products of `kind` may state, with its meaning.
fn meanings_of(kind: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let stated = match kind {
        "black-box" => meanings::BLACK_BOX,
        "disk" => meanings::DISK,
        "ssd" => meanings::SSD,
        _ => meanings::OSD,
    };
    stated.iter().chain(optional(kind))
}

/// Return the meaning of a key of a product of `kind`.
fn meaning(kind: &str, key: &str) -> &'static str {
    meanings_of(kind).find(|(name, _)| *name == key).map_or("", |(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotband_drives::DISK_OPTIONAL;

    fn catalog() -> Catalog {
        Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"))
    }

    fn request(workload: &str, machine: &str) -> Request {
        Request { machine: machine.to_owned(), workload: workload.to_owned(), seed: 1, ..Request::default() }
    }

    #[test]
    fn every_value_in_the_catalog_has_a_meaning_and_every_meaning_a_value() {
        // Drives made from data sheets have it where their writes are streamed faster than their reads.
        let mut used = vec!["ssd link_write_rate".to_owned()];
        let drives = catalog().names("drives").into_iter().map(|name| catalog().drive(&name, ("", "")).unwrap().0);
        let daemons = catalog().names("osds").into_iter().map(|name| catalog().osd(&name, ("", "")).unwrap().0);
        for product in drives.chain(daemons) {
            for key in product.keys() {
                assert!(!meaning(&product.kind, key).is_empty(), "{}: {key}", product.name);
                used.push(format!("{} {key}", product.kind));
            }
        }
        for (kind, table) in [("disk", meanings::DISK), ("ssd", meanings::SSD)] {
            let idle = table.iter().find(|(key, _)| !used.contains(&format!("{kind} {key}")));
            assert_eq!(idle, None, "{kind}");
        }
    }

    #[test]
    fn what_a_disk_need_not_state_has_a_meaning() {
        assert_eq!(meanings::DISK_OPTIONAL.iter().map(|(key, _)| *key).collect::<Vec<_>>(), DISK_OPTIONAL);
    }

    #[test]
    fn a_disk_may_state_what_it_need_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.toml");
        for (key, _) in meanings::DISK_OPTIONAL {
            let value = match *key {
                "read_ahead" => "\"always\"",
                "read_overlap" | "write_overlap" | "zero_latency" => "\"on\"",
                "age_weight" | "seek_knee" => "\"25 %\"",
                "seek_curve" | "seek_curve_cylinders" => "\"1: 1 ms, 10: 2 ms\"",
                "reorder_window" | "destage_window" => "8",
                "destage_order" => "\"clook\"",
                _ => "\"0.1 ms\"",
            };
            let key = if *key == "seek_curve_cylinders" { "seek_curve" } else { key };
            let text =
                format!("variant_of = \"ent-15k\"\ntitle = \"t\"\n[values.{key}]\nvalue = {value}\nsource = \"s\"\n");
            std::fs::write(&path, text).unwrap();
            let read = catalog().drive(path.to_str().unwrap(), ("", "")).map(|(product, _)| product);
            assert!(read.as_ref().is_ok_and(|product| product.has(key)), "{key}: {:?}", read.err());
        }
    }

    /// Every listed key is taken with the value that it is listed with: nothing is promised that is refused.
    #[test]
    fn every_key_takes_its_own_value() {
        for workload in catalog().names("workloads") {
            let text = catalog().workload(&workload, ("", "")).unwrap();
            for SetKey { key, value, accepted, part, .. } in
                set_keys(&catalog(), &request(&workload, "ent-15k")).unwrap()
            {
                assert!(!accepted.is_empty(), "{key}");
                let mut request = request(&workload, "ent-15k");
                request.set.extend(value.map(|value| (key.clone(), value)).filter(|_| !part.starts_with("drive")));
                workload_of(&request, &text).unwrap_or_else(|error| panic!("{workload}: {:?}: {error}", request.set));
            }
        }
        for name in catalog().names("drives") {
            let (product, _) = catalog().drive(&name, ("", "")).unwrap();
            for SetKey { key, value, accepted, .. } in of_product("", &product, &Table::new(), &[]) {
                assert!(!accepted.is_empty(), "{key}");
                let Some(value) = value else {
                    assert!(optional_of(&product).any(|(optional, _)| *optional == key), "{name}: {key}");
                    continue;
                };
                let value = value.parse::<i64>().map_or_else(|_| Value::from(value.as_str()), Value::from);
                read_with(&product, &key, value).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }

    #[test]
    fn values_of_the_machine_and_of_set_come_before_those_of_the_catalog() {
        let text = "[drives.d]\nproduct = \"ent-15k\"\nset = { rpm = \"14000 rpm\", heads = 4 }\n";
        let mut request = Request { machine_text: Some(text.to_owned()), ..request("fio-read", "m.toml") };
        request.set = vec![("heads".to_owned(), "8".to_owned()), ("bs".to_owned(), "8k".to_owned())];
        let keys = set_keys(&catalog(), &request).unwrap();
        let value =
            |key: &str| keys.iter().find(|set_key| set_key.key == key).and_then(|set_key| set_key.value.as_deref());
        assert_eq!((value("rpm"), value("heads"), value("bs")), (Some("14000 rpm"), Some("8"), Some("8 KiB")));
    }

    #[test]
    fn daemons_of_a_pool_have_keys_and_all_of_them_a_meaning() {
        let keys = set_keys(&catalog(), &request("fio-read", "replicated:3xmg06sca-10tb"));
        let keys = keys.unwrap().into_iter().filter(|set_key| set_key.part == "daemon bluestore-14");
        assert!(keys.inspect(|set_key| assert!(!set_key.meaning.is_empty(), "{}", set_key.key)).count() > 20);
    }
}
