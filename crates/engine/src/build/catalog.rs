//! The catalog: a folder of TOML files, one a drive product, one a workload.

use std::fs;
use std::path::PathBuf;

use hotband_drives::Product;
use hotband_machine::{Section, SpecError, parse_toml};
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

    /// Text of an entry. `asked_at` is (file, key) of who asks for it.
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

    /// A drive product and its text.
    ///
    /// # Errors
    /// No such drive, or a mistake in its file.
    pub fn drive(&self, name: &str, asked_at: (&str, &str)) -> Result<(Product, String), SpecError> {
        let (text, file) = (self.text("drives", name, asked_at)?, format!("drives/{name}.toml"));
        let text = match variant_of(&file, &text)? {
            Some(base) => merged(&file, &text, &self.text("drives", &base, (&file, VARIANT_OF))?)?,
            None => text,
        };
        let product = Product::read(name, &file, &text)?;
        Ok((product, text))
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

/// The key that names the product whose values a variant has, but for those that it states itself.
const VARIANT_OF: &str = "variant_of";

fn variant_of(file: &str, text: &str) -> Result<Option<String>, SpecError> {
    let table = parse_toml(file, text)?;
    Ok(Section::new(file, "", &table).text(VARIANT_OF)?.map(str::to_owned))
}

/// The text of a variant with the values of its base filled in: what a record keeps can be read alone.
fn merged(file: &str, text: &str, base: &str) -> Result<String, SpecError> {
    let (mut variant, base) = (parse_toml(file, text)?, parse_toml(file, base)?);
    let wrong = |value: &str, accepted: &str| SpecError::new(file, VARIANT_OF, value, accepted);
    let Some(of) = variant.remove(VARIANT_OF) else { return Err(wrong("", "missing")) };
    if base.contains_key(VARIANT_OF) {
        return Err(wrong(of.as_str().unwrap_or_default(), "is a variant itself; expected the product it is one of"));
    }
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

    #[test]
    fn a_variant_of_a_variant_is_refused() {
        let error = merged("c.toml", "variant_of = \"b\"\n", "variant_of = \"a\"\n").unwrap_err();
        assert_eq!((error.key.as_str(), error.value.as_str()), (VARIANT_OF, "b"));
    }
}
