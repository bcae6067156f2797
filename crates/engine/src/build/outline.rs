//! Outline of a machine, without running anything on it: its layouts and the drives they lie on.

use std::collections::BTreeMap;

use hotband_drives::Product;
use hotband_layouts::raidz::RAIDZ;
use hotband_layouts::replicated::PoolSpec;
use hotband_layouts::{CONTROLLER, ERASURE, MD, PLANNERS, REPLICATED};
use hotband_machine::{BuildError, Drive, Look, MachineSpec, MemberRange, NodeRef, Role, SpecError};
use serde::Serialize;
use toml::Value;

use crate::build::assemble::assemble_with_spares;
use crate::build::catalog::Catalog;
use crate::build::means::Means;
use crate::keys::takes;
use crate::request::Request;
use crate::texts::machine_text;

/// A layout of a machine; if it has none, each of its drives as a layout "single".
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayoutOutline {
    /// Name in the machine.
    pub name: String,
    /// "raid5".
    pub kind: String,
    /// Addressable bytes.
    pub capacity_bytes: u64,
    /// Groups of members with their own redundancy, if the layout states their number; else one.
    pub groups: u64,
    /// Shards of an object in an erasure-coded pool: k with data, m with parity.
    pub data: Option<u64>,
    /// m.
    pub parities: Option<u64>,
    /// Name of the layout that a member is, if one is not a drive.
    pub on_layout: Option<String>,
    /// The drives it lies on, in their order.
    pub members: Vec<MemberOutline>,
}

/// A drive, or the part of one, that a layout uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberOutline {
    /// Name of the drive in the machine.
    pub drive: String,
    /// Its product in the catalog.
    pub product: String,
    /// Bytes that the layout uses.
    pub size_bytes: u64,
    /// Smallest unit that it reads.
    pub block_bytes: u64,
    /// Values that the machine or `--set` changes, as text.
    pub set: BTreeMap<String, String>,
}

/// Products used and their texts, by name.
type Products = BTreeMap<String, (Product, String)>;
/// Names, layouts and their members, as they are built.
type Built<'a> = &'a [(String, Role, Vec<MemberRange>)];

/// The layouts of the machine that `request` names.
///
/// # Errors
/// The first mistake in the machine, a product or `set`; a replicated pool; nobody waits for it any more.
pub fn outline(catalog: &Catalog, request: &Request, look: Look) -> Result<Vec<LayoutOutline>, BuildError> {
    let (file, text) = machine_text(catalog, request)?;
    let spec = MachineSpec::read(&file, &text)?;
    if let Some(pool) = spec.layouts.iter().find(|layout| layout.kind == REPLICATED) {
        let kinds = [PLANNERS.join(", "), RAIDZ.join(", "), ERASURE.to_owned()].join(", ");
        let accepted = format!("a replicated pool has no outline; expected {kinds}");
        return Err(SpecError::new(&spec.file, &pool.key, REPLICATED, accepted).into());
    }
    Ok(assemble_with_spares(&spec, catalog, (&request.set, request.seed), None, &Means { look, ..Means::default() })?
        .layouts)
}

/// The outline of the machine built from `spec`.
pub(crate) fn of_built(
    spec: &MachineSpec,
    (products, set): (&Products, &[(String, String)]),
    drives: &[(String, Box<dyn Drive>)],
    layouts: Built,
) -> Vec<LayoutOutline> {
    let member = |drive: usize, size: u64| {
        let drive_spec = &spec.drives[drive];
        let has = &products[&drive_spec.product].0;
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let settings = drive_spec.set.iter().map(|(key, value)| (key.clone(), text(value)));
        let given = set.iter().filter(|(key, _)| takes(has, key)).cloned();
        MemberOutline {
            drive: drive_spec.name.clone(),
            product: drive_spec.product.clone(),
            size_bytes: size,
            block_bytes: drives[drive].1.block().0,
            set: settings.chain(given).collect(),
        }
    };
    if layouts.is_empty() {
        let single = |(index, (name, drive)): (usize, &(String, Box<dyn Drive>))| LayoutOutline {
            name: name.clone(),
            kind: "single".to_owned(),
            capacity_bytes: drive.capacity().0,
            groups: 1,
            data: None,
            parities: None,
            on_layout: None,
            members: vec![member(index, drive.capacity().0)],
        };
        // Spares come after the drives of the spec, and nothing lies on them.
        return drives.iter().take(spec.drives.len()).enumerate().map(single).collect();
    }
    let file = spec.file.as_str();
    let outline = |((name, role, ranges), spec): (&(String, Role, Vec<MemberRange>), &hotband_machine::LayoutSpec)| {
        let is_cache = [CONTROLLER, MD].contains(&spec.kind.as_str());
        let on_layout = ranges.iter().find_map(|range| match range.node {
            NodeRef::Layout(layout) => Some(layouts[layout as usize].0.clone()),
            NodeRef::Drive(_) => None,
        });
        let drives = ranges.iter().filter_map(|range| match range.node {
            NodeRef::Drive(drive) => Some(member(drive as usize, range.size)),
            NodeRef::Layout(_) => None,
        });
        // A cache has no data of its own: what it stands before is what counts.
        let kind = if is_cache { "single".to_owned() } else { spec.kind.clone() };
        let (name, capacity_bytes) = (name.clone(), role.capacity().0);
        let coded = (kind == ERASURE).then(|| PoolSpec::read(file, spec).ok().and_then(|pool| pool.erasure)).flatten();
        let (data, parities) = (coded.map(|code| code.data as u64), coded.map(|code| code.parities as u64));
        let groups = hotband_layouts::groups(spec);
        let is_left_out = is_cache && on_layout.is_some();
        let members = drives.collect();
        (!is_left_out).then_some(LayoutOutline {
            name,
            kind,
            capacity_bytes,
            groups,
            data,
            parities,
            on_layout,
            members,
        })
    };
    layouts.iter().zip(&spec.layouts).filter_map(outline).collect()
}

/// Outlines as JSON.
pub fn outline_json(layouts: &[LayoutOutline]) -> String {
    serde_json::to_string(layouts).expect("an outline holds nothing that JSON cannot")
}
