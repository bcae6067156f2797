//! Which app a workload file asks for: `[app]` with a `kind` and the keys of that kind.
//!
//! A kind is a type with `read` (from its section), `streams` and `build`, and a line in each match below.

use hotband_machine::{Section, SpecError, parse_toml};
use toml::{Table, Value};

use crate::app::{App, AppStream};
use crate::btree::BTreeSpec;
use crate::data::DataSpec;
use crate::filesystem::FileSystemSpec;
use crate::spec::Workload;

/// Where a stream of an app lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppVolume {
    /// Number of the target; streams with the same one share its bytes.
    pub target: u16,
    /// Its bytes.
    pub capacity: u64,
    /// Logical block of the drives.
    pub block: u64,
}

/// An app as the text asks for it.
#[derive(Clone, Debug, PartialEq)]
pub enum AppSpec {
    /// A database: YCSB above a B-tree engine.
    BTree(BTreeSpec),
    /// A file system: operations on files.
    FileSystem(FileSystemSpec),
}

impl AppSpec {
    /// Names of the kinds.
    pub const KINDS: [&str; 2] = ["btree", "filesystem"];

    /// Reads `[app]`.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read(section: Section) -> Result<Self, SpecError> {
        let kind = section.text("kind")?;
        let kind = kind
            .ok_or_else(|| section.error("kind", "", format!("missing: expected one of {}", Self::KINDS.join(", "))))?;
        match kind {
            "btree" => Ok(Self::BTree(BTreeSpec::read(section)?)),
            "filesystem" => Ok(Self::FileSystem(FileSystemSpec::read(section)?)),
            other => Err(SpecError::unknown(section.file(), &section.key("kind"), other, &Self::KINDS)),
        }
    }

    /// Its kinds of block I/O, with the volumes they want.
    pub fn streams(&self) -> Vec<AppStream> {
        match self {
            Self::BTree(spec) => spec.streams(),
            Self::FileSystem(spec) => spec.streams(),
        }
    }

    /// Whether it trims what it does not need any more.
    pub fn trims(&self) -> bool {
        match self {
            Self::BTree(spec) => spec.trim,
            Self::FileSystem(spec) => spec.trim,
        }
    }

    /// How well what it writes compresses, where it says so.
    pub fn data(&self) -> Option<&DataSpec> {
        match self {
            Self::BTree(spec) => spec.data.as_ref(),
            Self::FileSystem(spec) => spec.data.as_ref(),
        }
    }

    /// From now on the workload says how well it compresses.
    pub(crate) fn forget_data(&mut self) {
        match self {
            Self::BTree(spec) => spec.data = None,
            Self::FileSystem(spec) => spec.data = None,
        }
    }

    /// The app at work on `volumes`, one for each of its streams; what it writes is `data`.
    ///
    /// # Errors
    /// What does not fit the volumes.
    pub fn build(&self, volumes: &[AppVolume], data: Option<&DataSpec>, seed: u64) -> Result<Box<dyn App>, SpecError> {
        match self {
            Self::BTree(spec) => spec.build(volumes, data, seed),
            Self::FileSystem(spec) => spec.build(volumes, data, seed),
        }
    }
}

impl Workload {
    /// How well what the app writes compresses: as it says, or else as the workload does.
    pub fn data_of_app(&self) -> Option<&DataSpec> {
        self.app.as_ref().and_then(|app| app.data().or(self.data.as_ref()))
    }

    /// `--set app.KEY=VALUE`: reads `[app]` of `text`, the text of this workload, once more with these values. Keys of
    /// tables inside it are written with a dot.
    ///
    /// # Errors
    /// A workload without `[app]`; a mistake in a value, named at `--set`.
    pub fn set_app(&mut self, text: &str, pairs: &[(String, String)]) -> Result<(), SpecError> {
        let Some((first, value)) = pairs.first() else { return Ok(()) };
        let mut top = parse_toml(&self.file, text)?;
        let Some(app) = top.get_mut("app").and_then(Value::as_table_mut) else {
            return Err(SpecError::new("--set", &format!("app.{first}"), value, "this workload has no [app]"));
        };
        for (key, value) in pairs {
            let wrong = || SpecError::new("--set", &format!("app.{key}"), value, "names a key inside a value");
            insert(app, key, as_value(value)).ok_or_else(wrong)?;
        }
        self.app = Some(AppSpec::read(Section::new("--set", "app", app))?);
        self.check_names()
    }
}

/// Puts `value` at a dotted key; none where a part of the key is a value already.
fn insert(table: &mut Table, key: &str, value: Value) -> Option<()> {
    let Some((outer, inner)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return Some(());
    };
    let found = table.entry(outer).or_insert_with(|| Value::Table(Table::new()));
    insert(found.as_table_mut()?, inner, value)
}

/// Numbers, true, false and tables as in TOML, anything else is text: quotes are for the shell already.
fn as_value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>().ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::from(text))
}
