//! NVMe namespaces: ranges of a drive that a host sees as drives of their own.
//!
//! They lie one after the other, each from the beginning of a mapping unit on, and share all that the drive is: queues,
//! controller, link, write buffer, dies, blocks and wear. Space in none of them is never written, and is
//! therefore over-provisioning.
//!
//! Leaves out: namespaces that several hosts or controllers share, that are made and deleted while the drive works, or
//! have sectors of different sizes; a flush is one of the whole drive.

use hotband_machine::{MOST_NAMESPACES, Section, SpecError, Unit, UnitName};
use hotband_units::Bytes;

const KEY: &str = "namespaces";
const SECTOR: u64 = 512;

/// The namespaces of a drive of `whole` bytes, mapped in units of `unit` bytes, at a scale; none if all of
/// it is one address space.
pub(super) fn read_namespaces(section: &Section, whole: Bytes, unit: u64, scale: u64) -> Result<Vec<Unit>, SpecError> {
    let Some(value) = section.value(KEY) else { return Ok(Vec::new()) };
    let text = value.as_str().ok_or_else(|| section.error(KEY, value.to_string(), accepted()))?;
    if text == "all" {
        return Ok(Vec::new());
    }
    let (mut units, mut from, mut taken) = (Vec::new(), 0, 0_u64);
    for part in text.split(',').map(str::trim) {
        let wrong = |accepted: String| section.error(KEY, part, accepted);
        let size = part.parse::<Bytes>().map_err(|_| wrong(accepted()))?.0;
        if size == 0 || !size.is_multiple_of(SECTOR) {
            return Err(wrong(format!("expected a multiple of {SECTOR} B")));
        }
        taken = taken.saturating_add(size.next_multiple_of(unit));
        // As the drive is: a part of it.
        let size = if scale == 1 { size } else { size / scale / unit * unit };
        if size == 0 {
            return Err(wrong(format!("too small at scale {scale}: expected at least {}", Bytes(unit * scale))));
        }
        if units.len() as u32 == MOST_NAMESPACES {
            return Err(section.error(KEY, text, format!("expected at most {MOST_NAMESPACES} namespaces")));
        }
        let name = UnitName::Namespace(units.len() as u32 + 1);
        units.push(Unit { name, from, size });
        from += size.next_multiple_of(unit);
    }
    if taken > whole.0 {
        let accepted = format!("too large: {taken} B together, and the drive has {} B", whole.0);
        return Err(section.error(KEY, text, accepted));
    }
    Ok(units)
}

fn accepted() -> String {
    "expected \"all\", or sizes such as \"1.9 TB, 1.9 TB\"".to_owned()
}
