//! Keys of a RAID-Z in a machine file.

use hotband_machine::{LayoutSpec, Section, SpecError};
use hotband_units::Bytes;

use super::columns::Geometry;

/// Names of the kinds: with one, two and three parities.
pub const RAIDZ: [&str; 3] = ["raidz1", "raidz2", "raidz3"];

/// OpenZFS: `recordsize` is 128 KiB where not set (zfsprops(7)).
const RECORD: u64 = 128 << 10;
/// OpenZFS: `ashift` 12 for drives with physical sectors of 4 KiB (zpoolprops(7)).
const SECTOR: u64 = 4 << 10;
/// Memory for records that are soon read again; it is not ARC, which takes half of a host's memory [our
/// choice, 0 to gigabytes].
const MEMORY: u64 = 16 << 20;
/// Percent of the places that the volume has records in: above it OpenZFS advises to add space, for free places get
/// rare.
const FILLED: f64 = 80.0;

/// Options of a RAID-Z.
pub(super) struct RaidZSpec {
    pub kind: &'static str,
    pub geometry: Geometry,
    pub record: u64,
    /// Number of records in memory.
    pub kept: usize,
    pub filled: f64,
}

impl RaidZSpec {
    /// Reads the options of a layout with this many members.
    ///
    /// # Errors
    /// The first that is malformed or impossible, or too few members.
    pub fn read(file: &str, spec: &LayoutSpec, members: u64) -> Result<Self, SpecError> {
        let options = Section::new(file, &spec.key, &spec.options);
        let at = RAIDZ.iter().position(|kind| *kind == spec.kind).expect("asked only for what is a RAID-Z");
        let (kind, parities) = (RAIDZ[at], at as u64 + 1);
        if members <= parities {
            let accepted = format!("{kind} needs at least {} drives", parities + 1);
            return Err(options.error("members", members.to_string(), accepted));
        }
        if spec.force_writes {
            return Err(options.error("force_writes", "true", format!("{kind} flushes its drives: leave it out")));
        }
        let sector = power_of_two(&options, "sector", (512, 64 << 10))?.unwrap_or(SECTOR);
        let record = power_of_two(&options, "record", (sector, 16 << 20))?.unwrap_or(RECORD.max(sector));
        let memory = options.quantity::<Bytes>("memory")?.map_or(MEMORY, |memory| memory.0);
        let filled = options.percent("filled")?.unwrap_or(FILLED);
        if !(1.0..=99.0).contains(&filled) {
            let accepted = "expected 1 % to 99 %: a record is written where nothing is";
            return Err(options.error("filled", format!("{filled} %"), accepted));
        }
        options.finish()?;
        let geometry = Geometry { columns: members, parities, sector };
        Ok(Self { kind, geometry, record, kept: (memory / record) as usize, filled: filled / 100.0 })
    }
}

fn power_of_two(options: &Section, key: &'static str, (from, to): (u64, u64)) -> Result<Option<u64>, SpecError> {
    let Some(Bytes(value)) = options.quantity::<Bytes>(key)? else { return Ok(None) };
    if value.is_power_of_two() && (from..=to).contains(&value) {
        return Ok(Some(value));
    }
    let accepted = format!("expected a power of two from {} to {}", Bytes(from), Bytes(to));
    Err(options.error(key, Bytes(value).to_string(), accepted))
}
