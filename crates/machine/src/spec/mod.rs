//! The text of a machine: drives, links, layouts, volumes. Checked here and nowhere else.

pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod file;
pub(crate) mod host;
pub(crate) mod product;
pub(crate) mod reader;
pub(crate) mod unit;

use hotband_units::Bytes;
use toml::{Table, Value};

use crate::graph::link::{LinkSpec, read_kind};
use crate::spec::error::SpecError;
use crate::spec::event::EventSpec;
use crate::spec::host::{HostSpec, read_host};
use crate::spec::reader::{Section, parse_toml};
use crate::spec::unit::{UnitName, split_units};

/// A node of the graph: a drive or a layout, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRef {
    /// Index of a drive.
    Drive(u32),
    /// Index of a layout.
    Layout(u32),
}

/// Member named in a spec: a drive, a logical unit of a drive ("d0.lun1", "d0.n1"), or a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberRef {
    /// Node.
    pub node: NodeRef,
    /// Logical unit, if one is named.
    pub unit: Option<UnitName>,
}

impl From<NodeRef> for MemberRef {
    fn from(node: NodeRef) -> Self {
        Self { node, unit: None }
    }
}

/// A drive: a catalog product with some of its values set.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveSpec {
    /// Name in the machine ("d0").
    pub name: String,
    /// Name in the catalog.
    pub product: String,
    /// Values that replace the catalog's.
    pub set: Table,
    /// Key of the drive in the file, for errors.
    pub key: String,
}

/// A range of a member that a layout uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberRange {
    /// Node.
    pub node: NodeRef,
    /// First byte on it.
    pub from: u64,
    /// Length in bytes.
    pub size: u64,
}

/// A layout: its kind, its members and the options of its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutSpec {
    /// Name in the machine.
    pub name: String,
    /// "raid5".
    pub kind: String,
    /// Drives, logical units and layouts it is made of.
    pub members: Vec<MemberRef>,
    /// First byte used on each member.
    pub from: Bytes,
    /// Bytes used on each member; default: all.
    pub size: Option<Bytes>,
    /// The controller sends every write with force unit access.
    pub force_writes: bool,
    /// The table with the options of the kind.
    pub options: Table,
    /// Key of the layout in the file, for errors.
    pub key: String,
}

/// A named range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeSpec {
    /// Name.
    pub name: String,
    /// Node below.
    pub on: MemberRef,
    /// First byte.
    pub from: Bytes,
    /// Length; to the end by default.
    pub size: Option<Bytes>,
    /// I/Os that the host has outstanding at most; default: no limit.
    pub queue: Option<u32>,
}

/// A machine as its text describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineSpec {
    /// The file, for errors.
    pub file: String,
    /// Its drives.
    pub drives: Vec<DriveSpec>,
    /// Its shared links.
    pub links: Vec<LinkSpec>,
    /// Its layouts, in an order in which members come first.
    pub layouts: Vec<LayoutSpec>,
    /// Its volumes.
    pub volumes: Vec<VolumeSpec>,
    /// Events of its parts in a run.
    pub events: Vec<EventSpec>,
    /// Cost of an I/O on the host's cores, if modelled.
    pub host: Option<HostSpec>,
}

/// Most drives that a machine may have.
const MOST_DRIVES: u64 = 4096;
/// Keys of a layout that are not options of its kind.
pub(crate) const MEMBER_KEYS: [&str; 4] = ["members", "from", "size", "force_writes"];

impl MachineSpec {
    /// Reads a machine from TOML text.
    ///
    /// # Errors
    /// The first mistake, with file, key, value and what is accepted.
    pub fn read(file: &str, text: &str) -> Result<Self, SpecError> {
        let table = parse_toml(file, text)?;
        let top = Section::new(file, "", &table);
        let drives = read_drives(&top)?;
        let layouts = read_layouts(&top, &drives)?;
        let links = read_links(&top, &drives)?;
        let volumes = read_volumes(&top, &drives, &layouts)?;
        let events = EventSpec::read_all(&top)?;
        let host = read_host(&top)?;
        top.finish()?;
        Ok(Self { file: file.to_owned(), drives, links, layouts, volumes, events, host })
    }
}

impl MachineSpec {
    /// Whether a drive is on a parallel bus.
    pub fn is_on_bus(&self, drive: &DriveSpec) -> bool {
        let mut buses = self.links.iter().filter(|link| link.is_bus);
        buses.any(|bus| bus.carries.iter().any(|index| self.drives[*index].name == drive.name))
    }
}

/// The machine that a short form such as `raid10:24xexos-15e900-512n` represents, as TOML text.
///
/// `known_kinds` are the names of the layouts, `None` is returned for text that is not a short form.
///
/// # Errors
/// An unknown layout, or a count that is none.
pub fn short_form(text: &str, known_kinds: &[&str]) -> Result<Option<String>, SpecError> {
    let Some((kind, rest)) = text.split_once(':') else { return Ok(None) };
    let wrong = |accepted: &str| SpecError::new("MACHINE", "", text, accepted);
    let layout = layout_of_word(kind);
    let Some(layout) = known_kinds.iter().find(|known| **known == layout) else {
        return Err(SpecError::unknown("MACHINE", "layout", kind, known_kinds));
    };
    let accepted = "expected LAYOUT:COUNTxDRIVE[:CHUNK], such as \"raid10:24xexos-15e900-512n:64KiB\"";
    let mut parts = rest.splitn(2, ':');
    let (count, product) = parts.next().and_then(|members| members.split_once('x')).ok_or_else(|| wrong(accepted))?;
    let count: u64 = count.parse().ok().filter(|n| (1..=MOST_DRIVES).contains(n)).ok_or_else(|| wrong(accepted))?;
    let chunk = match parts.next() {
        Some(chunk) => format!(", chunk = {}", Value::from(chunk)),
        None => String::new(),
    };
    let product = Value::from(product);
    let last = count - 1;
    Ok(Some(format!(
        "[drives.d]\nproduct = {product}\ncount = {count}\n\n[layouts.data]\n{layout} = {{ members = \"d0..d{last}\"{chunk} }}\n"
    )))
}

/// The layout that people mean by a word: `mirror`, `stripe`, `jbod`, `ceph`, `RAID-10`, `raid-z2`;
/// any other word as it is.
fn layout_of_word(word: &str) -> String {
    let plain = word.to_ascii_lowercase().replace(['-', '_', ' '], "");
    match plain.as_str() {
        "mirror" => "raid1".to_owned(),
        "stripe" => "raid0".to_owned(),
        "jbod" => "concat".to_owned(),
        "raidz" => "raidz1".to_owned(),
        "ceph" => "replicated".to_owned(),
        _ => plain,
    }
}

fn read_drives(top: &Section) -> Result<Vec<DriveSpec>, SpecError> {
    let mut drives: Vec<DriveSpec> = Vec::new();
    for (name, section) in top.sections("drives")? {
        let product = section.text("product")?;
        let product =
            product.ok_or_else(|| section.error("product", "", "missing: expected a drive of the catalog"))?;
        let count = section.count("count", 1..=MOST_DRIVES)?;
        let set = section.section("set")?.map(|set| set.table().clone()).unwrap_or_default();
        let names = match count {
            None => vec![name],
            Some(count) => (0..count).map(|n| format!("{name}{n}")).collect(),
        };
        for name in names {
            if drives.iter().any(|have| have.name == name) {
                return Err(section.error("", name, "two drives have this name"));
            }
            drives.push(DriveSpec { name, product: product.to_owned(), set: set.clone(), key: section.key("") });
        }
        section.finish()?;
        if drives.len() as u64 > MOST_DRIVES {
            return Err(top.error(
                "drives",
                drives.len().to_string(),
                format!("expected at most {MOST_DRIVES} drives"),
            ));
        }
    }
    if drives.is_empty() {
        return Err(top.error("drives", "", "missing: a machine has at least one drive ([drives.NAME])"));
    }
    Ok(drives)
}

fn read_links(top: &Section, drives: &[DriveSpec]) -> Result<Vec<LinkSpec>, SpecError> {
    let mut links: Vec<LinkSpec> = Vec::new();
    for (name, section) in top.sections("links")? {
        let carries = section.text("carries")?.unwrap_or("*");
        let names: Vec<&str> = drives.iter().map(|drive| drive.name.as_str()).collect();
        let carries = select(&section, "carries", carries, &names)?;
        if let Some(twice) = carries.iter().find(|drive| links.iter().any(|link| link.carries.contains(drive))) {
            return Err(section.error("carries", names[*twice], "a drive is behind one link only"));
        }
        let (rate, per_command, is_bus) = read_kind(&section)?;
        let lanes = section.count("lanes", 1..=if is_bus { 1 } else { 1024 })?.unwrap_or(1) as usize;
        let link = LinkSpec { name, lanes, rate, per_command, carries, is_bus };
        if link.rate.0 == 0 {
            return Err(section.error("rate", "0", "expected a rate above zero"));
        }
        section.finish()?;
        links.push(link);
    }
    Ok(links)
}

fn read_layouts(top: &Section, drives: &[DriveSpec]) -> Result<Vec<LayoutSpec>, SpecError> {
    let mut layouts: Vec<LayoutSpec> = Vec::new();
    for (name, section) in top.sections("layouts")? {
        let mut keys = section.keys();
        let (Some(kind), None) = (keys.next(), keys.next()) else {
            return Err(section.error("", "", "expected exactly one layout, such as raid5 = { members = \"d0..d4\" }"));
        };
        let options = section.table()[kind].as_table().ok_or_else(|| section.error(kind, "", "expected a table"))?;
        let inner = Section::new(top.file(), &section.key(kind), options);
        if layouts.iter().any(|have| have.name == name) || drives.iter().any(|have| have.name == name) {
            return Err(section.error("", name, "another part has this name"));
        }
        let members = inner.text("members")?;
        let members =
            members.ok_or_else(|| inner.error("members", "", "missing: expected drives, such as \"d0..d4\""))?;
        let (from, size) = (inner.quantity::<Bytes>("from")?.unwrap_or_default(), inner.quantity::<Bytes>("size")?);
        let force_writes = inner.flag("force_writes")?.unwrap_or(false);
        let options = options.iter().filter(|(key, _)| !MEMBER_KEYS.contains(&key.as_str()));
        let options = options.map(|(key, value)| (key.clone(), value.clone())).collect();
        let members = select_nodes(&inner, members, drives, &layouts)?;
        layouts.push(LayoutSpec {
            name,
            kind: kind.to_owned(),
            members,
            from,
            size,
            force_writes,
            options,
            key: inner.key(""),
        });
    }
    Ok(layouts)
}

fn read_volumes(top: &Section, drives: &[DriveSpec], layouts: &[LayoutSpec]) -> Result<Vec<VolumeSpec>, SpecError> {
    let mut volumes = Vec::new();
    for (name, section) in top.sections("volumes")? {
        let on = section.text("on")?.ok_or_else(|| section.error("on", "", "missing: expected a layout or a drive"))?;
        let nodes = select_nodes(&section, on, drives, layouts)?;
        let [on] = nodes[..] else {
            return Err(section.error("on", on, "expected one layout or one drive"));
        };
        let from = section.quantity::<Bytes>("from")?.unwrap_or_default();
        let size = section.quantity::<Bytes>("size")?;
        let queue = section.count("queue", 1..=65_536)?.map(|depth| depth as u32);
        section.finish()?;
        volumes.push(VolumeSpec { name, on, from, size, queue });
    }
    Ok(volumes)
}

/// Drives, logical units and layouts (those already read) that a selection such as "d0..d3, mirror" names.
fn select_nodes(
    section: &Section,
    text: &str,
    drives: &[DriveSpec],
    layouts: &[LayoutSpec],
) -> Result<Vec<MemberRef>, SpecError> {
    let key = if section.table().contains_key("on") { "on" } else { "members" };
    let names: Vec<&str> = drives.iter().map(|d| &*d.name).chain(layouts.iter().map(|l| &*l.name)).collect();
    let node = |index: usize| match index.checked_sub(drives.len()) {
        Some(layout) => NodeRef::Layout(layout as u32),
        None => NodeRef::Drive(index as u32),
    };
    let mut members: Vec<MemberRef> = Vec::new();
    let mut seen = vec![false; names.len() * UnitName::NUMBERS];
    for part in text.split(',').map(str::trim) {
        // A name as it stands goes before a logical unit of a shorter one.
        let whole = names.contains(&part).then_some((part.to_owned(), vec![None]));
        let (nodes, units) = match whole {
            Some(whole) => whole,
            None => split_units(section, key, part)?,
        };
        for index in select(section, key, &nodes, &names)? {
            for &unit in &units {
                let slot = index * UnitName::NUMBERS + UnitName::number(unit);
                if std::mem::replace(&mut seen[slot], true) {
                    return Err(section.error(key, names[index], "is named twice"));
                }
                members.push(MemberRef { node: node(index), unit });
            }
        }
    }
    Ok(members)
}

/// Indices of the names that `text` selects: names, `first..last` and `prefix*`, separated by commas.
fn select(section: &Section, key: &str, text: &str, names: &[&str]) -> Result<Vec<usize>, SpecError> {
    let unknown = |name: &str| SpecError::unknown(section.file(), &section.key(key), name, &some_of(names));
    let index = |name: &str| names.iter().position(|have| *have == name).ok_or_else(|| unknown(name));
    let mut selected = Vec::new();
    for part in text.split(',').map(str::trim) {
        if let Some((first, last)) = part.split_once("..") {
            let (first, last) = (index(first.trim())?, index(last.trim())?);
            selected.extend(first..=last);
        } else if let Some(prefix) = part.strip_suffix('*') {
            let matching = names.iter().enumerate().filter(|(_, name)| name.starts_with(prefix));
            selected.extend(matching.map(|(index, _)| index));
        } else {
            selected.push(index(part)?);
        }
    }
    if selected.is_empty() {
        return Err(section.error(key, text, "selects nothing; expected names, \"d0..d3\" or \"d*\""));
    }
    let mut seen = vec![false; names.len()];
    for &index in &selected {
        if std::mem::replace(&mut seen[index], true) {
            return Err(section.error(key, names[index], "is named twice"));
        }
    }
    Ok(selected)
}

/// Enough names to show in an error.
fn some_of<'a>(names: &[&'a str]) -> Vec<&'a str> {
    const SHOWN: usize = 12;
    names.iter().copied().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::short_form;

    #[test]
    fn people_write_layouts_in_words() {
        let kinds = ["concat", "raid0", "raid1", "raid10", "raidz1", "raidz2", "replicated"];
        let pairs = [
            ("mirror", "raid1"),
            ("ceph", "replicated"),
            ("stripe", "raid0"),
            ("JBOD", "concat"),
            ("RAID-10", "raid10"),
            ("raid-z", "raidz1"),
            ("raid-z2", "raidz2"),
        ];
        for (word, layout) in pairs {
            assert_eq!(
                short_form(&format!("{word}:2xa"), &kinds),
                short_form(&format!("{layout}:2xa"), &kinds),
                "{word}"
            );
        }
        assert!(short_form("mirrors:2xa", &kinds).is_err());
    }
}
