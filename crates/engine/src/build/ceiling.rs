//! The most that a machine can move: no interval of a rate goes beyond it. Every value that the user did not set and
//! that has a range is at the end which allows more.
//!
//! Leaves out: memory of RAID-Z and of pools, cores of the host, networks of a pool, and which drive an I/O needs: I/Os
//! are taken to be dealt evenly. The efficiency of a parallel bus is the one of its link, not the best of its range.

use std::collections::BTreeMap;

use hotband_drives::{Both, Ceiling, Product};
use hotband_layouts::controller::ControllerSpec;
use hotband_layouts::md::MdSpec;
use hotband_layouts::raidz::RAIDZ;
use hotband_layouts::replicated::PoolSpec;
use hotband_layouts::{CONTROLLER, MD, build, is_pool};
use hotband_machine::{DriveSpec, LayoutSpec, MachineSpec, NodeRef, SpecError};
use toml::Table;

use crate::build::assemble::{Mechanism, as_value};
use crate::build::catalog::Catalog;
use crate::keys::takes;
use crate::request::Request;
use crate::texts::machine_text;

/// The share of reads among the transferred bytes, and the time of the transfer.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// 0 to 1.
    pub read_share: f64,
    /// Time in which the memory of a controller is filled or emptied once.
    pub seconds: f64,
}

/// The most bytes a second of reads and writes together; infinite where nothing that is known limits them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineCeiling {
    /// Rate of ports, links and controllers.
    pub ports: f64,
    /// Rate of the media, including controller memory.
    pub media: f64,
}

/// Bytes a second in both directions, and whether they go at once or take turns.
#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    reads: f64,
    writes: f64,
    at_once: bool,
}

impl Rates {
    fn add(&mut self, [reads, writes]: Both, share: f64, at_once: bool) {
        self.reads += reads;
        self.writes += writes * share;
        self.at_once |= at_once;
    }

    /// Return the rate of both directions together.
    fn total(self, read_share: f64) -> f64 {
        let (reads, writes) = (read_share / self.reads, (1.0 - read_share) / self.writes);
        1.0 / if self.at_once { reads.max(writes) } else { reads + writes }
    }
}

/// Drives and controllers on the way down from the volumes.
#[derive(Default)]
struct Below {
    /// Bytes of the host per byte written to each drive.
    drives: BTreeMap<usize, f64>,
    /// Rates of controllers that the host sees, and how many other roots it sees.
    controllers: f64,
    others: usize,
    /// Memory of controllers.
    memory: f64,
    /// Whether a journal accepts writes before the media.
    has_journal: bool,
}

/// The ceiling of the machine that `request` names.
///
/// # Errors
/// The first mistake in the machine, a product or `set`.
pub fn ceiling(catalog: &Catalog, request: &Request, moved: Moved) -> Result<MachineCeiling, SpecError> {
    let (file, text) = machine_text(catalog, request)?;
    let spec = MachineSpec::read(&file, &text)?;
    let mut below = Below::default();
    for root in roots(&spec) {
        match root {
            NodeRef::Layout(layout) if spec.layouts[layout as usize].kind == CONTROLLER => {
                below.controllers += ControllerSpec::read(&file, &spec.layouts[layout as usize])?.rate.0 as f64;
            }
            _ => below.others += 1,
        }
        descend(&spec, root, 1.0, &mut below)?;
    }
    let mut known: Vec<(&DriveSpec, Option<Ceiling>)> = Vec::new();
    let mut ceilings = Vec::new();
    for (&drive, &share) in &below.drives {
        let drive_spec = &spec.drives[drive];
        let same = known.iter().find(|(other, _)| other.product == drive_spec.product && other.set == drive_spec.set);
        let ceiling = if let Some((_, ceiling)) = same {
            *ceiling
        } else {
            let product = catalog.drive(&drive_spec.product, (&file, &format!("{}.product", drive_spec.key)))?.0;
            let ceiling = highest(&spec, drive_spec, &product, &request.set)?;
            known.push((drive_spec, ceiling));
            ceiling
        };
        // Fitted values are no limits of a machine.
        let Some(ceiling) = ceiling else {
            return Ok(MachineCeiling { ports: f64::INFINITY, media: f64::INFINITY });
        };
        ceilings.push((drive, share, ceiling));
    }
    Ok(MachineCeiling { ports: ports(&spec, &ceilings, &below, moved), media: media(&ceilings, &below, moved) })
}

/// Return the nodes that the host sees: volumes, or nodes on which nothing else lies.
fn roots(spec: &MachineSpec) -> Vec<NodeRef> {
    if !spec.volumes.is_empty() {
        return spec.volumes.iter().map(|volume| volume.on.node).collect();
    }
    let used = |node: NodeRef| spec.layouts.iter().any(|layout| layout.members.iter().any(|m| m.node == node));
    let drives = (0..spec.drives.len() as u32).map(NodeRef::Drive);
    let layouts = (0..spec.layouts.len() as u32).map(NodeRef::Layout);
    drives.chain(layouts).filter(|node| !used(*node)).collect()
}

fn descend(spec: &MachineSpec, node: NodeRef, share: f64, below: &mut Below) -> Result<(), SpecError> {
    let layout = match node {
        NodeRef::Drive(drive) => {
            // Of several ways to a drive the one that needs the fewest writes.
            let largest = below.drives.entry(drive as usize).or_insert(share);
            *largest = largest.max(share);
            return Ok(());
        }
        NodeRef::Layout(layout) => &spec.layouts[layout as usize],
    };
    if layout.kind == CONTROLLER {
        below.memory += ControllerSpec::read(&spec.file, layout)?.cache as f64;
    }
    let is_md = layout.kind == MD;
    if is_md {
        below.has_journal |= MdSpec::read(&spec.file, layout)?.has_journal();
    }
    let share = share * data_share(&spec.file, layout)?;
    // The second member of an md is its journal, not a place of its data.
    let members = if is_md { &layout.members[..1] } else { &layout.members[..] };
    members.iter().try_for_each(|member| descend(spec, member.node, share, below))
}

/// Bytes of each member that a layout is tried with: only the share of them that it makes available counts.
const EACH: u64 = 1 << 40;

/// Bytes of the host that a byte written to the members represents.
fn data_share(file: &str, layout: &LayoutSpec) -> Result<f64, SpecError> {
    let members = layout.members.len() as f64;
    let kind = layout.kind.as_str();
    if [CONTROLLER, MD].contains(&kind) {
        return Ok(1.0);
    }
    if let Some(index) = RAIDZ.iter().position(|name| *name == kind) {
        return Ok(((members - index as f64 - 1.0) / members).max(0.0));
    }
    if is_pool(kind) {
        let pool = PoolSpec::read(file, layout)?;
        let of_code = pool.erasure.map(|code| code.data as f64 / (code.data + code.parities) as f64);
        return Ok(of_code.unwrap_or(1.0 / pool.replicas as f64));
    }
    let sizes = vec![EACH; layout.members.len()];
    Ok(build(file, layout, &sizes)?.capacity().0 as f64 / (members * EACH as f64))
}

fn ports(spec: &MachineSpec, ceilings: &[(usize, f64, Ceiling)], below: &Below, moved: Moved) -> f64 {
    let (mut drives, mut links) = (Rates::default(), Rates::default());
    let mut shares = vec![0.0_f64; spec.links.len()];
    for (drive, share, ceiling) in ceilings {
        drives.add(ceiling.port(), *share, ceiling.is_duplex);
        match spec.links.iter().position(|link| link.carries.contains(drive)) {
            Some(link) => shares[link] = shares[link].max(*share),
            None => links.add(ceiling.port(), *share, ceiling.is_duplex),
        }
    }
    for (link, share) in spec.links.iter().zip(shares).filter(|(_, share)| *share > 0.0) {
        links.add([link.rate.0 as f64 * link.lanes.max(1) as f64; 2], share, false);
    }
    let controllers = if below.others == 0 { below.controllers } else { f64::INFINITY };
    drives.total(moved.read_share).min(links.total(moved.read_share)).min(controllers)
}

fn media(ceilings: &[(usize, f64, Ceiling)], below: &Below, moved: Moved) -> f64 {
    if below.has_journal {
        return f64::INFINITY;
    }
    let mut rates = Rates::default();
    for (_, share, ceiling) in ceilings {
        rates.add(ceiling.media, *share, ceiling.media_at_once);
    }
    rates.total(moved.read_share) + below.memory / moved.seconds
}

/// The ceiling of a drive where every value that is not set is at the end of its range that allows more.
fn highest(
    spec: &MachineSpec,
    drive: &DriveSpec,
    product: &Product,
    set: &[(String, String)],
) -> Result<Option<Ceiling>, SpecError> {
    let read = |keys: &Table| {
        let drive = DriveSpec { set: keys.clone(), ..drive.clone() };
        Mechanism::read(spec, &drive, product, set, 1).map(|mechanism| mechanism.ceiling())
    };
    let mut values = drive.set.clone();
    let Some(mut best) = read(&values)? else { return Ok(None) };
    let is_set = |key: &str| drive.set.contains_key(key) || set.iter().any(|(name, _)| name == key);
    for value in product.assumptions.iter().filter(|value| takes(product, &value.key) && !is_set(&value.key)) {
        for end in value.range.iter().flat_map(|(low, high)| [low, high]) {
            let mut tried = values.clone();
            tried.insert(value.key.clone(), as_value(end));
            // Two values that do not fit together are refused, as they are when they are drawn.
            let Ok(Some(ceiling)) = read(&tried) else { continue };
            let pairs = || ceiling.parts().into_iter().zip(best.parts());
            if pairs().all(|(new, old)| new >= old) && pairs().any(|(new, old)| new > old) {
                (values, best) = (tried, ceiling);
            }
        }
    }
    Ok(Some(best))
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS: Moved = Moved { read_share: 1.0, seconds: 1e9 };
    const WRITES: Moved = Moved { read_share: 0.0, seconds: 1e9 };

    fn of(machine: &str, set: &[(&str, &str)], moved: Moved) -> MachineCeiling {
        let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let is_text = machine.contains('\n');
        let text = is_text.then(|| machine.to_owned());
        let machine = if is_text { "m.toml".to_owned() } else { machine.to_owned() };
        let request = Request { machine, machine_text: text, set, seed: 1, ..Request::default() };
        ceiling(&catalog, &request, moved).unwrap()
    }

    fn about(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} is not {expected}");
    }

    #[test]
    fn a_disk_gives_its_outer_zone_at_the_end_of_its_range() {
        let disk = of("exos-x16-16tb", &[], READS);
        about(disk.ports, 600e6);
        about(disk.media, 274e6);
        about(of("exos-x16-16tb", &[("sustained_outer", "261 MB/s")], READS).media, 261e6);
        // The arm takes turns, whatever it does.
        about(of("exos-x16-16tb", &[], Moved { read_share: 0.5, ..READS }).media, 274e6);
    }

    #[test]
    fn a_solid_state_drive_gives_what_its_lanes_carry_each_way() {
        let drive = of("7450-pro-3840", &[], READS);
        // Four lanes with packets of 512 B carry 7,524 MB/s, the drive's own path to them 7,200.
        about(drive.ports, 7_200e6);
        about(of("7450-pro-3840", &[], Moved { read_share: 0.5, ..READS }).ports, 14_400e6);
        assert!(drive.media > drive.ports, "{drive:?}");
        assert!(of("7450-pro-3840", &[], WRITES).media < drive.media);
    }

    #[test]
    fn a_layout_reads_from_all_members_and_writes_data_to_its_share_of_them() {
        about(of("raid10:4xexos-x16-16tb", &[], READS).media, 4.0 * 274e6);
        about(of("raid10:4xexos-x16-16tb", &[], WRITES).media, 2.0 * 274e6);
        about(of("raid6:6xexos-x16-16tb", &[], WRITES).media, 4.0 * 274e6);
        about(of("raidz1:3xexos-x16-16tb", &[], WRITES).media, 2.0 * 274e6);
        about(of("replicated:6xmg06sca-10tb", &[], WRITES).ports, of("mg06sca-10tb", &[], WRITES).ports * 6.0 / 3.0);
    }

    #[test]
    fn drives_behind_a_link_give_what_it_carries_and_a_controller_has_its_own_rate() {
        let text = "[drives.d]\nproduct = \"exos-x16-16tb\"\ncount = 4\n[layouts.data]\nraid0 = { members = \"d*\" }\n";
        let link = "[links.hba]\nlanes = 1\nrate = \"0.5 GB/s\"\n";
        about(of(text, &[], READS).ports, 2_400e6);
        about(of(&format!("{text}{link}"), &[], READS).ports, 500e6);
        let controller = "[layouts.top]\ncontroller = { members = \"data\", rate = \"0.7 GB/s\" }\n";
        about(of(&format!("{text}{controller}"), &[], READS).ports, 700e6);
        let second = Moved { read_share: 0.0, seconds: 1.0 };
        let memory = of(&format!("{text}{controller}"), &[], second).media - of(text, &[], second).media;
        about(memory, f64::from(2_u32 << 30_u32));
    }
}
