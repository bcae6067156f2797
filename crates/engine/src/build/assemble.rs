//! From a machine spec to a machine: the only place that knows every mechanism and every layout.

use std::collections::{BTreeMap, BTreeSet};

use hotband_drives::{
    BlackBox, BlackBoxParams, Ceiling, Disk, DiskParams, MultiActuatorDisk, Product, Refused, SeekCurves, SmrDisk, Ssd,
    SsdParams, check_sold,
};
use hotband_layouts::is_pool;
use hotband_layouts::replicated::PoolSpec;
use hotband_machine::{
    BuildError, Drive, DriveSpec, LayoutSpec, Link, Machine, MachineParts, MachineSpec, MemberRange, MemoryError,
    NodeRef, SpecError, Volume,
};
use hotband_units::{Bytes, Rate};
use toml::{Table, Value};

use crate::build::caches::{DriveCaches, DriveSetting, MachineCaches};
use crate::build::catalog::Catalog;
use crate::build::means::{Means, Memory, Use};
use crate::build::outline::{self, LayoutOutline};
use crate::build::roles::Roles;
use crate::build::units::{Layouts, capacity_of, check_within_unit, extent_of, units_of, unused_namespaces};
use crate::keys::{check_names, optional_of, takes};

/// A machine and the catalog texts it was built from.
pub struct Assembled {
    /// The machine.
    pub machine: Machine,
    /// Text of every product used, by name.
    pub products: BTreeMap<String, String>,
    /// Its layouts and the drives they lie on.
    pub layouts: Vec<LayoutOutline>,
    /// Memory that it needs in use.
    pub memory: Bytes,
    /// Values that the user's own drive files leave open, one line each.
    pub remarks: Vec<String>,
    /// Whether its spec names volumes.
    pub has_named_volumes: bool,
    /// Settings of its caches.
    pub caches: MachineCaches,
}

/// Builds the machine of `spec`; `set` holds values for every drive that has them (`--set`), and each spindle's angle
/// at time zero comes from `seed` and the drive's name.
///
/// # Errors
/// The first mistake in the spec, a product or `set`.
pub fn assemble(
    spec: &MachineSpec,
    catalog: &Catalog,
    set: &[(String, String)],
    seed: u64,
) -> Result<Assembled, BuildError> {
    assemble_with_spares(spec, catalog, (set, seed), None, &Means::default())
}

/// Like `assemble`, with a number of spares, `spare1` and so on, that equal one of the drives and share its link.
///
/// # Errors
/// Those of `assemble`, a drive that has the name of a spare, too little memory, or nobody waits for it any more.
pub fn assemble_with_spares(
    spec: &MachineSpec,
    catalog: &Catalog,
    (set, seed): (&[(String, String)], u64),
    spares: Option<(usize, u32)>,
    means: &Means,
) -> Result<Assembled, BuildError> {
    let mut products: BTreeMap<String, (Product, String)> = BTreeMap::new();
    for drive in &spec.drives {
        if !products.contains_key(&drive.product) {
            let key = format!("{}.product", drive.key);
            let entry = catalog.drive(&drive.product, (&spec.file, &key))?;
            check_file(&entry.0)?;
            products.insert(drive.product.clone(), entry);
        }
    }
    for layout in spec.layouts.iter().filter(|layout| is_pool(&layout.kind)) {
        let pool = PoolSpec::read(&spec.file, layout)?;
        let key = format!("{}.osd", layout.key);
        let entry = catalog.osd(&pool.osd, (&spec.file, &key))?;
        products.insert(pool.osd, entry);
    }
    check_set(&products, set)?;
    let spares = spares.map(|(like, count)| spare_drives(spec, like, count)).transpose()?.unwrap_or_default();
    let mut memory = Memory::new(means);
    let mut read: Vec<(&DriveSpec, Mechanism)> = Vec::new();
    for drive in spec.drives.iter().chain(spares.iter().map(|(drive, _)| drive)) {
        (means.look)()?;
        let mechanism = Mechanism::read_to_fit(spec, drive, &products[&drive.product].0, (set, means))?;
        memory.take(mechanism.memory(means.is_for));
        read.push((drive, mechanism));
    }
    memory.check()?;
    let mut remarks: Vec<String> = products.values().filter_map(|(product, _)| product.remark()).collect();
    remarks.extend(scale_remark(&read));
    let mut curves = SeekCurves::default();
    let mut drives: Vec<(String, Box<dyn Drive>)> = Vec::new();
    let mut settings = Vec::new();
    for (drive, mechanism) in read {
        (means.look)()?;
        settings.push(mechanism.setting(drive, &products[&drive.product].0));
        drives.push((drive.name.clone(), mechanism.build(&drive.name, seed, &mut curves)?));
    }
    let spare_drives = drives.split_off(spec.drives.len());
    settings.truncate(spec.drives.len());
    let roles = Roles { spec, products: &products, set, seed, look: means.look };
    let mut layouts: Layouts = Vec::new();
    for layout in &spec.layouts {
        let mut members = member_ranges(spec, layout, &drives, &layouts)?;
        let role = roles.role(layout, &mut members, &layouts, &mut memory)?;
        layouts.push((layout.name.clone(), role, members));
    }
    check_overlap(spec, &layouts)?;
    let volumes = volumes(spec, &drives, &layouts)?;
    remarks.extend(unused_namespaces(&drives, &layouts, &volumes));
    let caches = MachineCaches::of_built(spec, settings, &layouts, &volumes);
    let links: Vec<Link> = spec.links.iter().map(Link::new).collect();
    let link_of = |drive: usize| spec.links.iter().position(|link| link.carries.contains(&drive));
    let mut link_of: Vec<Option<usize>> = (0..drives.len()).map(link_of).collect();
    for (spare, (_, like)) in spare_drives.into_iter().zip(&spares) {
        drives.push(spare);
        link_of.push(link_of[*like]);
    }
    let forces = spec.layouts.iter().map(|layout| layout.force_writes).collect();
    let outlines = outline::of_built(spec, (&products, set), &drives, &layouts);
    let machine = Machine::new(MachineParts { drives, links, link_of, layouts, forces, volumes, host: spec.host });
    let products = products.into_iter().map(|(name, (_, text))| (name, text)).collect();
    Ok(Assembled {
        machine,
        products,
        layouts: outlines,
        memory: memory.taken,
        remarks,
        has_named_volumes: !spec.volumes.is_empty(),
        caches,
    })
}

/// Drives like one of the spec's, named `spare1` and so on, each with the number of the one that it is like.
fn spare_drives(spec: &MachineSpec, like: usize, count: u32) -> Result<Vec<(DriveSpec, usize)>, SpecError> {
    let spare = |number: u32| {
        let (name, of) = (format!("spare{number}"), &spec.drives[like]);
        if spec.drives.iter().any(|drive| drive.name == name) {
            let accepted = "is the name of a spare: give the drive another one";
            return Err(SpecError::new(&spec.file, &of.key, name, accepted));
        }
        Ok((DriveSpec { name, ..of.clone() }, like))
    };
    (1..=count).map(spare).collect()
}

/// A drive whose values have been read.
pub(super) enum Mechanism {
    BlackBox(BlackBoxParams),
    Disk(DiskParams),
    Ssd(SsdParams),
}

impl Mechanism {
    pub(super) fn read(
        spec: &MachineSpec,
        drive: &DriveSpec,
        product: &Product,
        set: &[(String, String)],
        least_scale: u64,
    ) -> Result<Self, SpecError> {
        let keys: Table =
            set.iter().filter(|(key, _)| takes(product, key)).map(|(k, v)| (k.clone(), as_value(v))).collect();
        match product.kind.as_str() {
            "disk" => {
                let read = |values: &Table, file: &str, key: &str| DiskParams::read(product, values, file, key);
                let mut params = read_twice(spec, drive, keys, read)?;
                if spec.is_on_bus(drive) {
                    // The bus is the port: what crosses it would be charged twice.
                    params.port_rate = Rate(1_000_000_000_000);
                }
                Ok(Self::Disk(params))
            }
            "ssd" => {
                let read = |values: &Table, file: &str, key: &str| {
                    SsdParams::read_scaled(product, (values, file, key), least_scale)
                };
                Ok(Self::Ssd(read_twice(spec, drive, keys, read)?))
            }
            "black-box" => {
                let read = |values: &Table, file: &str, key: &str| BlackBoxParams::read(product, values, file, key);
                Ok(Self::BlackBox(read_twice(spec, drive, keys, read)?))
            }
            other => Err(SpecError::unknown(&product.file, "kind", other, &["disk", "ssd", "black-box"])),
        }
    }

    /// Reads a drive; a solid-state drive whose map alone would not fit into memory at twice the scale, and so on,
    /// unless another was requested.
    fn read_to_fit(
        spec: &MachineSpec,
        drive: &DriveSpec,
        product: &Product,
        (set, means): (&[(String, String)], &Means),
    ) -> Result<Self, SpecError> {
        let mut scaled = Self::read(spec, drive, product, set, 1)?;
        let mut least = 2;
        while least <= 4096 && means.memory.is_some_and(|available| scaled.memory(means.is_for) > available) {
            // Blocks have a pass at least: what does not become smaller is refused with what it needs.
            match Self::read(spec, drive, product, set, least) {
                Ok(smaller) => scaled = smaller,
                Err(_) => break,
            }
            least *= 2;
        }
        Ok(scaled)
    }

    /// Bytes of memory of the drive.
    fn memory(&self, is_for: Use) -> u64 {
        match (self, is_for) {
            (Self::Disk(params), _) => params.memory(),
            // A black box has only what waits in it; for reads nothing is mapped, and what is not touched is not there.
            (Self::BlackBox(_), _) | (Self::Ssd(_), Use::Reads) => 0,
            (Self::Ssd(params), _) => params.memory(is_for == Use::Fills),
        }
    }

    /// The most that it can move; none of a drive of fitted values.
    pub(super) fn ceiling(&self) -> Option<Ceiling> {
        match self {
            Self::BlackBox(_) => None,
            Self::Disk(params) => Some(params.ceiling()),
            Self::Ssd(params) => Some(params.ceiling()),
        }
    }

    /// Return the settings of its caches.
    fn setting(&self, drive: &DriveSpec, product: &Product) -> DriveSetting {
        let (kind, caches) = match self {
            Self::BlackBox(_) => ("black-box", DriveCaches::unknown()),
            Self::Disk(params) => ("disk", DriveCaches::of_disk(params, product)),
            Self::Ssd(params) => ("ssd", DriveCaches::of_ssd(params)),
        };
        DriveSetting { name: drive.name.clone(), product: drive.product.clone(), kind, caches }
    }

    fn build(self, name: &str, seed: u64, curves: &mut SeekCurves) -> Result<Box<dyn Drive>, BuildError> {
        match self {
            Self::BlackBox(params) => Ok(Box::new(BlackBox::new(params, seed, name))),
            Self::Disk(params) => {
                let params = params.with_seed(seed, name);
                if params.actuators > 1 {
                    return Ok(Box::new(MultiActuatorDisk::sharing(&params, curves)));
                }
                Ok(match SmrDisk::sharing(params.clone(), curves) {
                    Some(disk) => Box::new(disk),
                    None => Box::new(Disk::sharing(params, curves)),
                })
            }
            Self::Ssd(params) => {
                let refused =
                    |refused: Refused| MemoryError::Refused { part: name.to_owned(), needs: Bytes(refused.bytes) };
                Ok(Box::new(Ssd::try_new(params).map_err(refused)?.with_seed(seed, name)))
            }
        }
    }
}

/// Return the remark about solid-state drives simulated at a smaller size because their maps would not fit.
fn scale_remark(drives: &[(&DriveSpec, Mechanism)]) -> Option<String> {
    let chosen = |(drive, mechanism): &(&DriveSpec, Mechanism)| match mechanism {
        Mechanism::Ssd(params) if params.scale_chosen => Some((drive.name.clone(), params.scale)),
        _ => None,
    };
    let chosen: Vec<(String, u64)> = drives.iter().filter_map(chosen).collect();
    let (first, scale) = chosen.first()?;
    let names = if chosen.len() == 1 { first.clone() } else { format!("{first} and {} more", chosen.len() - 1) };
    Some(format!(
        "{names}: scale {scale} was chosen, the whole is too large to be mapped: capacity, blocks and write buffer are 1/{scale}, \
         shares and write amplification as they are (scale=N chooses another)"
    ))
}

/// Checks a drive's file: names first, since a misspelt value would be reported as missing under its right name.
fn check_file(product: &Product) -> Result<(), SpecError> {
    check_names(product)?;
    check_sold(product)
}

/// A drive of the catalog or of a user's file, every value checked; nothing is built.
///
/// # Errors
/// No such drive, or a mistake in its file.
pub fn checked_drive(catalog: &Catalog, name: &str, argument: &str) -> Result<Product, SpecError> {
    let (product, _) = catalog.drive(name, (argument, ""))?;
    check_file(&product)?;
    let alone = MachineSpec::read(argument, &format!("[drives.d0]\nproduct = {}\n", Value::from(name)))?;
    Mechanism::read(&alone, &alone.drives[0], &product, &[], 1)?;
    Ok(product)
}

/// Reads a drive with the values of the machine, and again with those of `--set`, so that a mistake is reported
/// where it was made.
fn read_twice<T>(
    spec: &MachineSpec,
    drive: &DriveSpec,
    own: Table,
    read: impl Fn(&Table, &str, &str) -> Result<T, SpecError>,
) -> Result<T, SpecError> {
    let params = read(&drive.set, &spec.file, &format!("{}.set", drive.key))?;
    if own.is_empty() {
        return Ok(params);
    }
    let mut values = drive.set.clone();
    values.extend(own);
    read(&values, "set", "")
}

/// `--set` gives text; whole numbers are counts.
pub(crate) fn as_value(text: &str) -> Value {
    text.trim().parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
}

/// Beginnings of the keys of optional parts of drives.
const OPTIONAL: [(&str, &str); 14] = [
    ("smr", "shingled tracks (SMR)"),
    ("actuators", "second actuator"),
    ("exposes", "second actuator"),
    ("namespaces", "namespaces: it is no NVMe drive, or its file does not name them"),
    ("map_", "map that does not fit into its memory"),
    ("hmb_", "map that does not fit into its memory"),
    ("power_seek", "seek power"),
    ("power_", "power of this name"),
    ("unrecoverable_error_bits", "stated rate of unrecoverable errors"),
    ("compression", "compression: it is a disk"),
    ("gc_", "garbage collection: it is a disk"),
    ("awc", "protected write cache (Advanced Write Cache)"),
    ("turboboost", "flash read cache (TurboBoost)"),
    ("flash_", "flash read cache (TurboBoost)"),
];

/// Every `--set` key is a value of at least one drive.
fn check_set(products: &BTreeMap<String, (Product, String)>, set: &[(String, String)]) -> Result<(), SpecError> {
    for (key, value) in set {
        if !products.values().any(|(product, _)| takes(product, key)) {
            let part = OPTIONAL.iter().find(|(prefix, _)| key.starts_with(prefix));
            if let Some((_, part)) = part {
                let names: Vec<&str> = products.keys().map(String::as_str).collect();
                let accepted = format!("{} has no {part}", names.join(", "));
                return Err(SpecError::new("set", key, value.as_str(), accepted));
            }
            let mut known: Vec<&str> = hotband_workloads::Workload::SET_KEYS.to_vec();
            known.extend(products.values().flat_map(|(product, _)| product.keys()));
            known.extend(products.values().flat_map(|(product, _)| optional_of(product)).map(|(name, _)| *name));
            let mut seen = BTreeSet::new();
            known.retain(|name| seen.insert(*name));
            return Err(SpecError::unknown("set", "", key, &known));
        }
    }
    Ok(())
}

/// Largest logical block of the drives, in bytes.
fn block_of(drives: &[(String, Box<dyn Drive>)]) -> u64 {
    drives.iter().map(|(_, drive)| drive.block().0).max().unwrap_or(512)
}

fn member_ranges(
    spec: &MachineSpec,
    layout: &LayoutSpec,
    drives: &[(String, Box<dyn Drive>)],
    layouts: &Layouts,
) -> Result<Vec<MemberRange>, SpecError> {
    let block = block_of(drives);
    let ranges = layout.members.iter().map(|&member| {
        let members = format!("{}.members", layout.key);
        let (begin, capacity) = extent_of((spec, &members), member, drives, layouts)?;
        let from = layout.from.0;
        let size = layout.size.map_or(capacity.saturating_sub(from), |size| size.0);
        if from.checked_add(size).is_none_or(|end| end > capacity) || size == 0 {
            let value = format!("{} + {size} B", layout.from);
            let accepted = format!("the range is empty or ends beyond a member of {capacity} B");
            return Err(SpecError::new(&spec.file, &format!("{}.size", layout.key), value, accepted));
        }
        let wrong = |bytes: u64| !bytes.is_multiple_of(block);
        if wrong(from) || layout.size.is_some_and(|size| wrong(size.0)) {
            let (name, value) = if wrong(from) { ("from", from) } else { ("size", size) };
            let value = format!("{value} B");
            return Err(SpecError::new(
                &spec.file,
                &format!("{}.{name}", layout.key),
                value,
                format!("expected a multiple of the drives' block of {block} B"),
            ));
        }
        let from = begin + from;
        check_within_unit((spec, &members), member.node, (from, size), drives)?;
        Ok(MemberRange { node: member.node, from, size })
    });
    ranges.collect()
}

/// Check that no two layouts use the same bytes of a drive.
fn check_overlap(spec: &MachineSpec, layouts: &Layouts) -> Result<(), SpecError> {
    let all = layouts.iter().enumerate().flat_map(|(n, (_, _, members))| members.iter().map(move |m| (n, m)));
    let all: Vec<(usize, &MemberRange)> = all.collect();
    for (index, (layout, one)) in all.iter().enumerate() {
        for (other, two) in &all[..index] {
            if one.node == two.node && one.from < two.from + two.size && two.from < one.from + one.size {
                let (key, name) = (&spec.layouts[*layout].key, &layouts[*other].0);
                let accepted = format!("uses the same part of a member as layout \"{name}\": give both from and size");
                return Err(SpecError::new(&spec.file, key, "", accepted));
            }
        }
    }
    Ok(())
}

fn volumes(
    spec: &MachineSpec,
    drives: &[(String, Box<dyn Drive>)],
    layouts: &Layouts,
) -> Result<Vec<Volume>, SpecError> {
    let error = |key: &str, value: String, accepted: String| SpecError::new(&spec.file, key, value, accepted);
    let mut volumes = Vec::new();
    for volume in &spec.volumes {
        let on = format!("volumes.{}.on", volume.name);
        let (begin, capacity) = extent_of((spec, &on), volume.on, drives, layouts)?;
        let size = volume.size.map_or(capacity.saturating_sub(volume.from.0), |size| size.0);
        if volume.from.0.checked_add(size).is_none_or(|end| end > capacity) || size == 0 {
            let accepted = format!("the volume is empty or ends beyond its layout of {capacity} B");
            let value = format!("{} + {size} B", volume.from);
            return Err(error(&format!("volumes.{}", volume.name), value, accepted));
        }
        let block = block_of(drives);
        if !volume.from.0.is_multiple_of(block) {
            let accepted = format!("expected a multiple of the drives' block of {block} B");
            return Err(error(&format!("volumes.{}.from", volume.name), format!("{} B", volume.from.0), accepted));
        }
        let from = begin + volume.from.0;
        check_within_unit((spec, &on), volume.on.node, (from, size), drives)?;
        volumes.push(Volume { name: volume.name.clone(), node: volume.on.node, from, size, queue: volume.queue });
    }
    if !volumes.is_empty() {
        return Ok(volumes);
    }
    let used = |node: NodeRef| spec.layouts.iter().any(|layout| layout.members.iter().any(|m| m.node == node));
    let nodes = (0..drives.len() as u32).map(NodeRef::Drive).chain((0..layouts.len() as u32).map(NodeRef::Layout));
    let roots: Vec<NodeRef> = nodes.filter(|node| !used(*node)).collect();
    let [root] = roots[..] else {
        let accepted = "missing: several drives or layouts could be meant; name one or more volumes ([volumes])";
        return Err(error("volumes", String::new(), accepted.into()));
    };
    let name = match root {
        NodeRef::Drive(drive) if !drives[drive as usize].1.units().is_empty() => return Ok(units_of(drive, drives)),
        NodeRef::Drive(drive) => drives[drive as usize].0.clone(),
        NodeRef::Layout(layout) => layouts[layout as usize].0.clone(),
    };
    Ok(vec![Volume { name, node: root, from: 0, size: capacity_of(root, drives, layouts), queue: None }])
}
