//! Settings of drive and controller caches, and which of them lie below a volume: read from what the machine
//! is built from.
//!
//! Leaves out: memory of pools, of RAID-Z and of apps, which are above the volumes or have no size of their own; and
//! what an event sets, until the run ends in which it does.

use hotband_drives::parts::ftl::PAGE;
use hotband_drives::parts::geometry::SECTOR;
use hotband_drives::{DiskParams, Product, SsdParams};
use hotband_layouts::controller::ControllerSpec;
use hotband_layouts::raidz::RAIDZ;
use hotband_layouts::{CONTROLLER, is_pool};
use hotband_machine::{Machine, MachineSpec, MemberRange, NodeRef, Volume};
use serde::Serialize;

use crate::build::units::Layouts;

/// Bytes of a range that does not shrink with solid-state drives, at least: on fewer, I/Os would crowd on a few dies.
const EXACT: u64 = 1 << 30;
/// Multiple of the controllers' caches below which a range does not shrink: those caches do not shrink either.
const BEYOND_CACHES: u64 = 4;

/// The caches of a drive, as they are set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriveCaches {
    /// "volatile", "protected", or "off" where a write is acknowledged when it is on the media.
    pub write_cache: &'static str,
    /// Whether it reports itself to hosts as volatile, so that they flush it, although it is protected.
    pub declared_volatile: bool,
    /// Bytes that it holds; zero if it is off.
    pub write_cache_bytes: u64,
    /// Bytes of memory that serve data a host has read before; zero if it is off.
    pub read_cache_bytes: u64,
    /// Whether it reads ahead of a sequential reader; none for a drive of which this is unknown.
    pub read_ahead: Option<bool>,
    /// Whether its flash read cache is on; none of a drive without one.
    pub flash_cache: Option<bool>,
    /// Bytes of that cache; zero if it is off.
    pub flash_cache_bytes: u64,
    /// Divisor of the size of a solid-state drive.
    pub scale: u64,
    /// Bytes of its memories that fill as a run continues; none if that is not known: of a pseudo-SLC cache, or a map
    /// that does not fit into memory.
    #[serde(skip)]
    pub fills: Option<u64>,
}

impl DriveCaches {
    /// Return the settings of an unknown volume, which does not lose acknowledged writes.
    pub fn unknown() -> Self {
        Self {
            write_cache: "protected",
            declared_volatile: false,
            write_cache_bytes: 0,
            read_cache_bytes: 0,
            read_ahead: None,
            flash_cache: None,
            flash_cache_bytes: 0,
            scale: 1,
            fills: None,
        }
    }

    /// Return the settings of a disk.
    pub fn of_disk(params: &DiskParams, product: &Product) -> Self {
        let writes = params.write_caches.setting();
        let read = if params.rereads { params.segments as u64 * params.segment_sectors * SECTOR } else { 0 };
        let flash = params.flash.as_ref().map_or(0, |flash| flash.size);
        Self {
            write_cache: writes.kind,
            declared_volatile: false,
            write_cache_bytes: writes.bytes,
            read_cache_bytes: read,
            read_ahead: Some(params.segments > 0 && params.look_ahead_sectors > 0),
            flash_cache: product.has("turboboost").then_some(params.flash.is_some()),
            flash_cache_bytes: flash,
            scale: 1,
            fills: Some(writes.bytes + read + flash),
        }
    }

    /// Return the settings of a solid-state drive, whose write buffer completes reads of its contents.
    pub fn of_ssd(params: &SsdParams) -> Self {
        let cache = params.cache;
        let write_cache = match (cache.protected, cache.volatile) {
            (true, _) => "protected",
            (false, true) => "volatile",
            (false, false) => "off",
        };
        let buffer = params.ftl.buffer_pages as u64 * PAGE;
        Self {
            write_cache,
            declared_volatile: cache.protected && cache.volatile,
            write_cache_bytes: if write_cache == "off" { 0 } else { buffer },
            read_cache_bytes: 0,
            read_ahead: None,
            flash_cache: None,
            flash_cache_bytes: 0,
            scale: params.scale,
            fills: (!params.fills_slowly()).then_some(buffer),
        }
    }
}

/// A drive and its caches.
#[derive(Clone, Debug)]
pub struct DriveSetting {
    /// Its name in the machine.
    pub name: String,
    /// Its product.
    pub product: String,
    /// "disk", "ssd" or "black-box".
    pub kind: &'static str,
    /// Its caches.
    pub caches: DriveCaches,
}

/// A controller with a cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControllerSetting {
    /// Name of its layout.
    pub name: String,
    /// "protected", or "off" where members acknowledge writes.
    pub write_cache: &'static str,
    /// Whether it reads ahead of a sequential reader.
    pub read_ahead: bool,
    /// Bytes of its memory.
    pub cache_bytes: u64,
}

/// Parts below a volume, by index.
#[derive(Clone, Debug, Default)]
pub struct Below {
    /// Drives.
    pub drives: Vec<usize>,
    /// Controllers.
    pub controllers: Vec<usize>,
}

/// The caches of a machine.
#[derive(Clone, Debug, Default)]
pub struct MachineCaches {
    /// Settings of its drives, without spares.
    pub drives: Vec<DriveSetting>,
    /// Its controllers with caches.
    pub controllers: Vec<ControllerSetting>,
    /// Parts below every volume.
    pub below: Vec<Below>,
    /// Whether pools or RAID-Z are in it, which pass on no writes that take no time: their drives stay new.
    pub stays_new: bool,
}

/// Whether a machine has pools or RAID-Z.
pub fn stays_new(spec: &MachineSpec) -> bool {
    spec.layouts.iter().any(|layout| is_pool(&layout.kind) || RAIDZ.contains(&layout.kind.as_str()))
}

impl MachineCaches {
    /// Return the settings of the machine built from `spec`.
    pub fn of_built(spec: &MachineSpec, drives: Vec<DriveSetting>, layouts: &Layouts, volumes: &[Volume]) -> Self {
        let mut controllers = Vec::new();
        let mut number = vec![None; spec.layouts.len()];
        for (index, layout) in spec.layouts.iter().enumerate().filter(|(_, layout)| layout.kind == CONTROLLER) {
            // What is wrong with it was told when it was built.
            let Ok(read) = ControllerSpec::read(&spec.file, layout) else { continue };
            number[index] = Some(controllers.len());
            controllers.push(ControllerSetting {
                name: layout.name.clone(),
                write_cache: if read.is_protected { "protected" } else { "off" },
                read_ahead: read.read_ahead.is_some(),
                cache_bytes: read.cache,
            });
        }
        let below = volumes.iter().map(|volume| {
            let mut reached = Below::default();
            descend(volume.node, layouts, &number, &mut reached);
            reached.drives.retain(|drive| *drive < drives.len());
            reached.drives.sort_unstable();
            reached.drives.dedup();
            reached
        });
        let below = below.collect();
        Self { drives, controllers, below, stays_new: stays_new(spec) }
    }

    /// Bytes of all memories that fill as a run continues; none if that is not known.
    pub fn fills(&self) -> Option<u64> {
        if self.stays_new || self.drives.is_empty() {
            return None;
        }
        let controllers: u64 = self.controllers.iter().map(|controller| controller.cache_bytes).sum();
        let drives = self.drives.iter().map(|drive| drive.caches.fills).sum::<Option<u64>>()?;
        Some(drives + controllers)
    }

    /// Return the smallest divisor of the sizes of the drives below a volume, and the bytes up to which ranges
    /// do not shrink with them.
    pub fn scale(&self, volume: u16) -> (u64, u64) {
        let Some(below) = self.below.get(usize::from(volume)) else { return (1, EXACT) };
        let scale = below.drives.iter().map(|drive| self.drives[*drive].caches.scale).min();
        let held: u64 = below.controllers.iter().map(|controller| self.controllers[*controller].cache_bytes).sum();
        (scale.unwrap_or(1), EXACT.max(BEYOND_CACHES * held))
    }

    /// Return the settings of `machine` as runs have left it, because events turn switches.
    pub fn left_in(mut self, machine: &Machine) -> Self {
        for (setting, view) in self.drives.iter_mut().zip(machine.drives().iter()) {
            if let Some(now) = view.drive.write_cache() {
                (setting.caches.write_cache, setting.caches.write_cache_bytes) = (now.kind, now.bytes);
            }
        }
        self
    }
}

/// Adds the drives and controllers below `node`.
fn descend(node: NodeRef, layouts: &Layouts, controllers: &[Option<usize>], below: &mut Below) {
    let layout = match node {
        NodeRef::Drive(drive) => return below.drives.push(drive as usize),
        NodeRef::Layout(layout) => layout as usize,
    };
    below.controllers.extend(controllers[layout]);
    let members: &[MemberRange] = &layouts[layout].2;
    for member in members {
        descend(member.node, layouts, controllers, below);
    }
}
