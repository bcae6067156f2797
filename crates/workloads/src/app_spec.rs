//! App of a workload file: `[app]` with a `kind` and the keys of that kind.
//!
//! A kind is a type with `read` (from its section), `streams` and `build`, and a line in each match below.

use crate::app::{App, AppStream, AppVolume};
use crate::btree::BTreeSpec;
use crate::data::DataSpec;
use crate::filesystem::FileSystemSpec;
use hotband_machine::{Section, SpecError};

/// An app as its text states it.
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

    /// Whether the app trims freed space.
    pub fn trims(&self) -> bool {
        match self {
            Self::BTree(spec) => spec.trim,
            Self::FileSystem(spec) => spec.trim,
        }
    }

    /// Compressibility of its writes, if it states one.
    pub fn data(&self) -> Option<&DataSpec> {
        match self {
            Self::BTree(spec) => spec.data.as_ref(),
            Self::FileSystem(spec) => spec.data.as_ref(),
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
