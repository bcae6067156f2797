//! Byte range that a name in a machine represents: all of a drive or layout, or a logical unit of a drive.

use hotband_machine::{Drive, MachineSpec, MemberRange, MemberRef, NodeRef, Role, SpecError, Unit, UnitName, Volume};

/// Names, layouts and their members.
pub(super) type Layouts = Vec<(String, Role, Vec<MemberRange>)>;
type Drives = [(String, Box<dyn Drive>)];

/// Bytes of a drive or layout.
pub(super) fn capacity_of(node: NodeRef, drives: &Drives, layouts: &Layouts) -> u64 {
    match node {
        NodeRef::Drive(drive) => drives[drive as usize].1.capacity().0,
        NodeRef::Layout(layout) => layouts[layout as usize].1.capacity().0,
    }
}

/// Start and length of `member` on its node: a logical unit, or all of a drive or layout.
pub(super) fn extent_of(
    (spec, key): (&MachineSpec, &str),
    member: MemberRef,
    drives: &Drives,
    layouts: &Layouts,
) -> Result<(u64, u64), SpecError> {
    let Some(asked) = member.unit else { return Ok((0, capacity_of(member.node, drives, layouts))) };
    let (name, units) = match member.node {
        NodeRef::Drive(drive) => (&drives[drive as usize].0, drives[drive as usize].1.units()),
        NodeRef::Layout(layout) => (&layouts[layout as usize].0, Vec::new()),
    };
    if let Some(unit) = units.iter().find(|unit| unit.name == asked) {
        return Ok((unit.from, unit.size));
    }
    let accepted = match (&units[..], asked) {
        ([], UnitName::Lun(_)) => format!("{name} has no logical units: name it without"),
        ([], UnitName::Namespace(_)) => {
            format!("{name} is not divided: name it without, or set namespaces = \"1 TB, 500 GB\" for an NVMe drive")
        }
        (units, _) => format!("{name} has {} logical units, {}", units.len(), all_of(name, units)),
    };
    Err(SpecError::new(&spec.file, key, format!("{name}.{asked}"), accepted))
}

/// "d0.lun0 to d0.lun1".
fn all_of(name: &str, units: &[Unit]) -> String {
    match units {
        [] => name.to_owned(),
        [only] => format!("{name}.{}", only.name),
        [first, .., last] => format!("{name}.{} to {name}.{}", first.name, last.name),
    }
}

/// A host cannot address across logical units.
pub(super) fn check_within_unit(
    (spec, key): (&MachineSpec, &str),
    node: NodeRef,
    (from, size): (u64, u64),
    drives: &Drives,
) -> Result<(), SpecError> {
    let NodeRef::Drive(drive) = node else { return Ok(()) };
    let (name, drive) = &drives[drive as usize];
    let units = drive.units();
    let Some(first) = units.first() else { return Ok(()) };
    if size == 0 || units.iter().any(|unit| unit.holds(from, size)) {
        return Ok(());
    }
    let names = all_of(name, &units);
    let accepted = match first.name {
        UnitName::Lun(_) => format!("spans logical units of {} B: name {names}, or set exposes = \"one\"", first.size),
        UnitName::Namespace(_) => {
            format!("spans namespaces, or what is in none: name {names}, or set namespaces = \"all\"")
        }
    };
    Err(SpecError::new(&spec.file, key, format!("{name}: {from} B + {size} B"), accepted))
}

/// A target for each logical unit of a drive.
pub(super) fn units_of(drive: u32, drives: &Drives) -> Vec<Volume> {
    let (name, of) = &drives[drive as usize];
    let target = |unit: Unit| Volume {
        name: format!("{name}.{}", unit.name),
        node: NodeRef::Drive(drive),
        from: unit.from,
        size: unit.size,
        queue: None,
    };
    of.units().into_iter().map(target).collect()
}

/// A line for each unused namespace, whose space serves the others as over-provisioning.
pub(super) fn unused_namespaces(drives: &Drives, layouts: &Layouts, volumes: &[Volume]) -> Vec<String> {
    let of_volumes = volumes.iter().map(|volume| (volume.node, volume.from, volume.size));
    let of_layouts = layouts.iter().flat_map(|(_, _, members)| members.iter().map(|m| (m.node, m.from, m.size)));
    let used: Vec<(NodeRef, u64, u64)> = of_volumes.chain(of_layouts).collect();
    let mut listed = Vec::new();
    for (index, (name, drive)) in drives.iter().enumerate() {
        let units = drive.units();
        let is_used = |unit: &Unit| {
            let here = used.iter().filter(|(node, ..)| *node == NodeRef::Drive(index as u32));
            here.into_iter().any(|(_, from, size)| *from < unit.from + unit.size && unit.from < from + size)
        };
        let is_namespace = |unit: &&Unit| matches!(unit.name, UnitName::Namespace(_));
        listed.extend(units.iter().filter(is_namespace).filter(|unit| !is_used(unit)).map(|unit| {
            format!(
                "{name}.{}: nothing lies on it, so it is never written and serves the drive's other namespaces as \
                 over-provisioning",
                unit.name
            )
        }));
    }
    listed
}
