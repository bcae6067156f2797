//! Owner of a store, which a raw image cannot state.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hotband_machine::read_text;
use serde::{Deserialize, Serialize};

use crate::holders::naming;
use crate::model::VolumeTold;

/// Bytes of the largest that is read: one of a machine with a thousand volumes has 100,000.
const LARGEST: u64 = 16 << 20;

/// Sidecar file of a store, next to its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// Format version of this file.
    pub format: u32,
    /// Name of the machine.
    pub machine: String,
    /// Files, by address space.
    pub files: Vec<FileTold>,
    /// Base image.
    pub base: Option<BaseTold>,
}

/// A file of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTold {
    /// Its name; it is in the same folder as this file.
    pub file: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Volumes on it.
    pub volumes: Vec<VolumeOn>,
}

/// A volume in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeOn {
    /// Its name.
    pub name: String,
    /// First byte in the file.
    pub from: u64,
    /// Bytes.
    pub size: u64,
}

/// A base image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseTold {
    /// Path of the file.
    pub file: PathBuf,
    /// Bytes.
    pub size: u64,
    /// When it was last written to, since 1970.
    pub modified_ns: i64,
}

impl FileTold {
    /// Return one file per address space.
    pub fn of(path: &Path, volumes: &[VolumeTold]) -> Vec<Self> {
        let spaces = volumes.iter().map(|volume| volume.space + 1).max().unwrap_or(0);
        let volumes_of = |space: u32| {
            let here: Vec<_> = volumes.iter().filter(|volume| volume.space == space).collect();
            let first = here.first().map(|volume| volume.name.as_str()).unwrap_or_default();
            let whole = if spaces == 1 { path.to_owned() } else { Sidecar::beside(path, first) };
            let on = |volume: &&VolumeTold| {
                let VolumeTold { name, from, size, .. } = (*volume).clone();
                VolumeOn { name, from, size }
            };
            Self {
                file: whole.file_name().unwrap_or_default().into(),
                size: here.iter().map(|volume| volume.from + volume.size).max().unwrap_or(0),
                volumes: here.iter().map(on).collect(),
            }
        };
        (0..spaces).map(volumes_of).collect()
    }
}

impl Sidecar {
    /// PATH.SUFFIX.
    pub fn beside(path: &Path, suffix: &str) -> PathBuf {
        let mut name = OsString::from(path);
        name.push(".");
        name.push(suffix);
        PathBuf::from(name)
    }

    /// Whether the store is there and is this one; false if there is none yet.
    pub fn check(&self, path: &Path) -> io::Result<bool> {
        let beside = Self::beside(path, "hotband.json");
        let invalid =
            |what: String| io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {what}", beside.display()));
        let text = match read_text(&beside, LARGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(naming(&beside, &error)),
        };
        let have: Self = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        match self.difference(&have) {
            Some(what) => Err(invalid(what)),
            None => Ok(true),
        }
    }

    /// First difference to another sidecar. File names are not compared: a store may be renamed or copied
    /// together with this file.
    fn difference(&self, have: &Self) -> Option<String> {
        let differs = |key: &str, have: &dyn std::fmt::Debug, expected: &dyn std::fmt::Debug| {
            Some(format!("{key} is {have:?}, expected {expected:?}; the store belongs to another machine"))
        };
        if self.format != have.format {
            return differs("format", &have.format, &self.format);
        }
        if self.machine != have.machine {
            return differs("machine", &have.machine, &self.machine);
        }
        let names = |sidecar: &Self| -> Vec<(String, u64)> {
            let volumes = sidecar.files.iter().flat_map(|file| &file.volumes);
            volumes.map(|volume| (volume.name.clone(), volume.size)).collect()
        };
        let places = |sidecar: &Self| -> Vec<(u64, Vec<VolumeOn>)> {
            sidecar.files.iter().map(|file| (file.size, file.volumes.clone())).collect()
        };
        if places(self) != places(have) {
            return differs("volumes", &names(have), &names(self));
        }
        match (&have.base, &self.base) {
            (have, expected) if have == expected => None,
            (None, Some(_)) => Some("the store was begun without a base image: expected none".to_owned()),
            (Some(base), Some(given)) if base.file == given.file => {
                Some(format!("the base {} was written to since the store was begun", base.file.display()))
            }
            (Some(base), _) => Some(format!("the store was begun on the base {}: expected it", base.file.display())),
            (None, None) => None,
        }
    }

    /// Writes it, as a whole or not at all.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let beside = Self::beside(path, "hotband.json");
        let folder = beside.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(&beside).map(|_| ()).map_err(|error| error.error)
    }
}
