//! The catalog: a folder of TOML files, one a drive product, one a workload.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hotband_drives::Product;
use hotband_machine::{Rigour, Section, SpecError, parse_toml, read_text, read_typed_text};
use toml::Value;

/// A folder with `drives/*.toml`, `osds/*.toml` and `workloads/*.toml`.
#[derive(Clone, Debug)]
pub struct Catalog {
    dir: PathBuf,
}

impl Catalog {
    /// The catalog in `dir`.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Names in `folder` ("drives", "workloads"), sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.dir.join(folder)).into_iter().flatten().flatten();
        let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = files.filter_map(|file| file.strip_suffix(".toml").map(str::to_owned)).collect();
        names.sort_unstable();
        names
    }

    /// Text of an entry. `asked_at` is (file, key) of who requests it.
    ///
    /// # Errors
    /// No such entry (with the nearest name).
    pub fn text(&self, folder: &str, name: &str, asked_at: (&str, &str)) -> Result<String, SpecError> {
        let names = self.names(folder);
        let unknown = || {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            SpecError::unknown(asked_at.0, asked_at.1, name, &known)
        };
        if !names.iter().any(|known| known == name) {
            return Err(unknown());
        }
        fs::read_to_string(self.dir.join(folder).join(format!("{name}.toml"))).map_err(|_| unknown())
    }

    /// A drive product and its text: of the catalog by its name, of the user's by the path of its file, from the folder
    /// of the file that names it.
    ///
    /// # Errors
    /// No such drive, or a mistake in its file.
    pub fn drive(&self, name: &str, asked_at: (&str, &str)) -> Result<(Product, String), SpecError> {
        static READ: Memo<(String, String, String, Rigour), Product> = Memo::new();
        let entry = self.found(DRIVES, name, asked_at)?;
        let text = self.whole(DRIVES, &entry, &mut vec![entry.file.clone()])?;
        let Found { file, text: own, rigour } = entry;
        let product = || Product::read_with(name, &file, (&text, &own), rigour);
        let product = READ.or_made((name.to_owned(), text.clone(), format!("{file}\n{own}"), rigour), product)?;
        Ok((product, text))
    }

    /// The text of a workload of the catalog, with the values of the workload that it is a variant of.
    ///
    /// # Errors
    /// No such workload, or a mistake in `variant_of`.
    pub fn workload(&self, name: &str, asked_at: (&str, &str)) -> Result<String, SpecError> {
        let text = self.text(WORKLOADS, name, asked_at)?;
        self.whole_workload(&format!("{WORKLOADS}/{name}.toml"), text)
    }

    /// Like `workload`, for `text`, the content of `file`.
    ///
    /// # Errors
    /// A mistake in `variant_of`.
    pub fn whole_workload(&self, file: &str, text: String) -> Result<String, SpecError> {
        if !text.contains(VARIANT_OF) {
            return Ok(text);
        }
        let entry = Found { file: file.to_owned(), text, rigour: Rigour::Values };
        self.whole(WORKLOADS, &entry, &mut vec![entry.file.clone()])
    }

    fn found(&self, kind: &str, name: &str, asked_at: (&str, &str)) -> Result<Found, SpecError> {
        if !is_file(name) {
            let text = self.text(kind, name, asked_at)?;
            return Ok(Found { file: format!("{kind}/{name}.toml"), text, rigour: Rigour::Sources });
        }
        let folder = Path::new(asked_at.0).parent().unwrap_or(Path::new(""));
        // Without the dots that lead nowhere: "./m.toml" that names "./x16.toml" gives "x16.toml".
        let path: PathBuf = folder.join(name).components().filter(|part| *part != Component::CurDir).collect();
        let refused = |why: String| SpecError::new(asked_at.0, asked_at.1, name, why);
        let unreadable = |error: std::io::Error| {
            let why = error.to_string();
            let what = kind.trim_end_matches('s');
            refused(format!("the {what}'s file cannot be read: {}", why.split(" (os error").next().unwrap_or(&why)))
        };
        // A name without a key was typed; one with a key stands in a text, which may be anybody's.
        let read = if asked_at.1.is_empty() { read_typed_text } else { read_text };
        let text = read(&path, LARGEST).map_err(unreadable)?;
        Ok(Found { file: path.display().to_string(), text, rigour: Rigour::Values })
    }

    /// The text of a drive or a workload with the values of its base; `seen` are the files on the way.
    fn whole(&self, kind: &str, entry: &Found, seen: &mut Vec<String>) -> Result<String, SpecError> {
        let Some(origin) = variant_of(&entry.file, &entry.text)? else { return Ok(entry.text.clone()) };
        let at = SpecError::new(&entry.file, VARIANT_OF, &origin, "").at_line_of(&entry.text);
        let base = self.found(kind, &origin, (&entry.file, VARIANT_OF));
        let base = base.map_err(|error| SpecError { file: at.file.clone(), ..error })?;
        if seen.contains(&base.file) {
            return Err(SpecError {
                accepted: format!("leads back to itself: expected another {}", kind.trim_end_matches('s')),
                ..at
            });
        }
        seen.push(base.file.clone());
        merged(&entry.file, &entry.text, &self.whole(kind, &base, seen)?)
    }

    /// The values of an object storage daemon and their text.
    ///
    /// # Errors
    /// No such daemon, or a mistake in its file.
    pub fn osd(&self, name: &str, asked_at: (&str, &str)) -> Result<(Product, String), SpecError> {
        let text = self.text("osds", name, asked_at)?;
        let product = Product::read(name, &format!("osds/{name}.toml"), &text)?;
        Ok((product, text))
    }
}

/// Folders of the catalog whose entries may be variants of each other.
const DRIVES: &str = "drives";
const WORKLOADS: &str = "workloads";

/// The file of a drive or a workload before it is read.
struct Found {
    file: String,
    text: String,
    rigour: Rigour,
}

/// Results of reading texts: runs of a sweep or an interval read the same products hundreds of times.
struct Memo<K, V>(Mutex<BTreeMap<K, V>>);

/// Most results stored: more than the products of a large machine.
const MOST_STORED: usize = 64;

impl<K: Ord, V: Clone> Memo<K, V> {
    const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The value of `key`, made if it is not stored. Mistakes are not stored.
    fn or_made<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = lock().get(&key) {
            return Ok(value.clone());
        }
        let value = make()?;
        let mut stored = lock();
        if stored.len() >= MOST_STORED {
            stored.clear();
        }
        stored.insert(key, value.clone());
        Ok(value)
    }
}

/// Bytes of the largest drive file that is read: the catalog's have some 10,000.
const LARGEST: u64 = 1 << 20;

/// Whether a product is named by the path of its file, not by its name in the catalog.
pub(crate) fn is_file(name: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some_and(|ending| ending == "toml")
}

/// The key that names the drive or workload whose values a variant has, except those that it states itself.
const VARIANT_OF: &str = "variant_of";

fn variant_of(file: &str, text: &str) -> Result<Option<String>, SpecError> {
    if !text.contains(VARIANT_OF) {
        return Ok(None);
    }
    let table = parse_toml(file, text)?;
    Ok(Section::new(file, "", &table).text(VARIANT_OF)?.map(str::to_owned))
}

/// The text of a variant with the values of its base, so that a record can be read alone.
fn merged(file: &str, text: &str, base: &str) -> Result<String, SpecError> {
    static MERGED: Memo<[String; 3], String> = Memo::new();
    MERGED.or_made([file, text, base].map(str::to_owned), || merge(file, text, base))
}

fn merge(file: &str, text: &str, base: &str) -> Result<String, SpecError> {
    let (mut variant, base) = (parse_toml(file, text)?, parse_toml(file, base)?);
    variant.remove(VARIANT_OF);
    let mut whole = base;
    for (key, value) in variant {
        match (whole.get_mut(&key).and_then(Value::as_table_mut), value) {
            (Some(table), Value::Table(own)) => table.extend(own),
            (_, value) => {
                whole.insert(key, value);
            }
        }
    }
    Ok(toml::to_string(&whole).expect("a table that was read can be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_may_be_a_variant_of_one_of_the_catalog() {
        let (_folder, catalog) = catalog_and_files(&[]);
        let text = "variant_of = \"fio-randread\"\ntitle = \"mine\"\n[load]\nclosed = { threads = 4, depth = 1 }\n";
        let whole: toml::Table = catalog.whole_workload("mine.toml", text.to_owned()).unwrap().parse().unwrap();
        assert_eq!(whole["title"].as_str(), Some("mine"));
        assert_eq!(whole["load"]["closed"]["threads"].as_integer(), Some(4));
        assert_eq!(whole["phases"].as_array().map(Vec::len), Some(2));
        let unknown = catalog.whole_workload("mine.toml", text.replace("randread", "randred")).unwrap_err();
        assert_eq!((unknown.file.as_str(), unknown.key.as_str()), ("mine.toml:1", VARIANT_OF));
    }

    const BASE: &str = "kind = \"disk\"\ntitle = \"a\"\n[values.x]\nvalue = 1\nsource = \"s\"\n[values.y]\nvalue = 2\n";

    #[test]
    fn a_variant_has_the_values_of_its_base_but_its_own() {
        let text = "variant_of = \"a\"\ntitle = \"b\"\n[values.y]\nvalue = 3\n";
        let whole: toml::Table = merged("b.toml", text, BASE).unwrap().parse().unwrap();
        assert_eq!((whole["title"].as_str(), whole["kind"].as_str()), (Some("b"), Some("disk")));
        assert_eq!(whole["values"]["x"]["source"].as_str(), Some("s"));
        assert_eq!(whole["values"]["y"]["value"].as_integer(), Some(3));
        assert!(!whole.contains_key(VARIANT_OF));
    }

    fn catalog_and_files(files: &[(&str, &str)]) -> (tempfile::TempDir, Catalog) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        (folder, Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog")))
    }

    #[test]
    fn a_file_may_be_a_variant_of_a_file_that_is_one_of_the_catalog() {
        let (folder, catalog) = catalog_and_files(&[
            ("mine.toml", "variant_of = \"exos-15e900-512n\"\ntitle = \"mine\"\n[values]\nrpm = \"10000 rpm\"\n"),
            ("again.toml", "variant_of = \"./mine.toml\"\n[values]\nlook_ahead = \"1 MiB\"\n"),
        ]);
        let machine = folder.path().join("machine.toml");
        let (product, _) = catalog.drive("again.toml", (machine.to_str().unwrap(), "drives.d.product")).unwrap();
        let value = |key: &str| product.assumptions.iter().find(|value| value.key == key).unwrap().value.clone();
        assert_eq!(
            (product.title.as_str(), value("rpm"), value("look_ahead")),
            ("mine", "10000 rpm".into(), "1 MiB".into())
        );
        assert_eq!(product.warnings.len(), 2, "{:?}", product.warnings);
    }

    #[test]
    fn a_circle_of_variants_is_refused() {
        let (folder, catalog) = catalog_and_files(&[
            ("a.toml", "variant_of = \"b.toml\"\n"),
            ("b.toml", "title = \"b\"\nvariant_of = \"a.toml\"\n"),
        ]);
        let error = catalog.drive(folder.path().join("a.toml").to_str().unwrap(), ("DRIVE", "")).unwrap_err();
        assert!(error.file.ends_with("b.toml:2") && error.key == VARIANT_OF, "{error}");
    }

    #[test]
    fn a_device_and_a_large_file_are_refused_with_the_limit() {
        let (folder, catalog) = catalog_and_files(&[("large.toml", &"#".repeat(LARGEST as usize + 1))]);
        let machine = folder.path().join("machine.toml");
        for (product, why) in [("/dev/zero", "is a device, not a regular file"), ("large.toml", "is larger")] {
            let error = catalog.drive(product, (machine.to_str().unwrap(), "drives.d.product")).unwrap_err();
            let accepted = format!("the drive's file cannot be read: {why}: expected a text of at most 1 MiB");
            assert_eq!((error.value.as_str(), error.accepted.as_str()), (product, accepted.as_str()));
        }
    }

    #[test]
    fn a_missing_file_is_the_mistake_of_who_names_it() {
        let (_folder, catalog) = catalog_and_files(&[]);
        let error = catalog.drive("./none.toml", ("machine.toml", "drives.d.product")).unwrap_err();
        assert_eq!(
            (error.file.as_str(), error.key.as_str(), error.value.as_str()),
            ("machine.toml", "drives.d.product", "./none.toml")
        );
    }
}
