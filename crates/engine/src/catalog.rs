//! The catalog: a folder of TOML files, one a drive product, one a workload.

use std::fs;
use std::path::PathBuf;

use hotband_drives::Product;
use hotband_machine::SpecError;

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
        let text = self.text("drives", name, asked_at)?;
        let product = Product::read(name, &format!("drives/{name}.toml"), &text)?;
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
