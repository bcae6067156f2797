//! Request of a run, as text.

use std::path::PathBuf;

use crate::drive::contents_cache::ContentsCache;
use crate::repair::RepairRequest;

/// Request of a run, as text.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Machine: a catalog drive, a short form, or TOML text with the name of its file.
    pub machine: String,
    /// Text of the machine file, where `machine` is one.
    pub machine_text: Option<String>,
    /// Workload: a catalog name, or the file of `workload_text`.
    pub workload: String,
    /// Text of the workload file, where `workload` is one.
    pub workload_text: Option<String>,
    /// Settings of `--set`: key and value.
    pub set: Vec<(String, String)>,
    /// Rows of each trace that the workload replays, made of the file that it names.
    pub traces: Vec<PathBuf>,
    /// Root seed.
    pub seed: u64,
    /// `--duration`.
    pub duration: Option<String>,
    /// `--precision`: a percentage, or "off"; the workload's where not stated.
    pub precision: Option<String>,
    /// File to which every I/O is logged.
    pub io_log: Option<PathBuf>,
    /// `--power-loss`.
    pub power_loss: Option<String>,
    /// Failing drives in their short form, and their repair.
    pub repair: RepairRequest,
    /// Events of parts of the machine, such as `at 60 s: fail d3`.
    pub events: Vec<String>,
    /// Whether the run follows another one on the same machine.
    pub follows: bool,
    /// Whether another run follows on the same machine.
    pub is_followed: bool,
    /// Solid-state drives are in use: if neither workload nor `set` states their contents, they are preconditioned
    /// before the run, by default at a scale at which that takes seconds.
    pub in_use: bool,
    /// Folder with contents of preconditioned drives that other processes left; none: those of this process alone.
    pub cache: Option<ContentsCache>,
}
