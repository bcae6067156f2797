//! Logical units: "d0.lun1" of a disk with several actuators, "d0.n1" of an NVMe drive with several namespaces.

use std::fmt;

use crate::spec::error::SpecError;
use crate::spec::reader::Section;

/// Name of a logical unit within its drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitName {
    /// "lun0": counted from zero, as SCSI does.
    Lun(u32),
    /// "n1": counted from one, as NVMe does.
    Namespace(u32),
}

/// A logical unit: a range of a drive that a host sees as a drive of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: UnitName,
    /// First byte on the drive.
    pub from: u64,
    /// Length in bytes.
    pub size: u64,
}

impl Unit {
    /// Whether it holds all of the `size` bytes from `from` on.
    pub fn holds(&self, from: u64, size: u64) -> bool {
        from >= self.from && from + size <= self.from + self.size
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lun(number) => write!(formatter, "lun{number}"),
            Self::Namespace(number) => write!(formatter, "n{number}"),
        }
    }
}

/// Highest number of a logical unit that is read; the drive's own limit is checked later.
const MOST_LUNS: u32 = 7;
/// Most namespaces of a drive: data sheets of enterprise drives name 32 to 128 (recalled).
pub const MOST_NAMESPACES: u32 = 128;

impl UnitName {
    /// Numbers that `number` may give, and one for a name without unit.
    pub(super) const NUMBERS: usize = (MOST_LUNS + MOST_NAMESPACES + 2) as usize;

    /// Every name has a number of its own; 0 is for a name without unit.
    pub(super) fn number(unit: Option<Self>) -> usize {
        let number = match unit {
            None => 0,
            Some(Self::Lun(number)) => number + 1,
            Some(Self::Namespace(number)) => MOST_LUNS + 1 + number,
        };
        number as usize
    }

    /// The units from this one to `last` of the same kind; none if there is no such run.
    fn upto(self, last: Self) -> Option<Vec<Self>> {
        let (make, from, to): (fn(u32) -> Self, _, _) = match (self, last) {
            (Self::Lun(from), Self::Lun(to)) => (Self::Lun, from, to),
            (Self::Namespace(from), Self::Namespace(to)) => (Self::Namespace, from, to),
            _ => return None,
        };
        (from <= to).then(|| (from..=to).map(make).collect())
    }
}

/// A name and the units of it that are meant: none is the whole.
pub(super) type Named = (String, Vec<Option<UnitName>>);

/// Splits "d0..d3", "d0.lun1", "d*.n1" and "d0.n1..d3.n2" (of each of the drives) into drives and logical units.
pub(super) fn split_units(section: &Section, key: &str, part: &str) -> Result<Named, SpecError> {
    let wrong = |accepted: &str| section.error(key, part, accepted);
    let Some((first, last)) = part.split_once("..") else {
        let (drive, unit) = split(part).map_err(wrong)?;
        return Ok((drive, vec![unit]));
    };
    let ((first, from), (last, to)) = (split(first).map_err(wrong)?, split(last).map_err(wrong)?);
    let units = match (from, to) {
        (None, None) => Some(vec![None]),
        (Some(from), Some(to)) => from.upto(to).map(|units| units.into_iter().map(Some).collect()),
        _ => None,
    };
    let units = units.ok_or_else(|| wrong("expected logical units at both ends, such as \"d0.lun0..d3.lun1\""))?;
    Ok((format!("{first}..{last}"), units))
}

/// A drive and the unit of it that is named, if one is.
fn split(name: &str) -> Result<(String, Option<UnitName>), &'static str> {
    let name = name.trim();
    if let Some((drive, number)) = name.rsplit_once(".lun") {
        let number = number.parse().ok().filter(|number| *number <= MOST_LUNS);
        let number = number.ok_or("expected a logical unit by its number, such as \"d0.lun1\"")?;
        return Ok((drive.to_owned(), Some(UnitName::Lun(number))));
    }
    match name.rsplit_once(".n") {
        Some((drive, number)) if number.starts_with(|first: char| first.is_ascii_digit()) => {
            let number = number.parse().ok().filter(|number| (1..=MOST_NAMESPACES).contains(number));
            let number = number.ok_or("expected a namespace by its number, from \"d0.n1\" to \"d0.n128\"")?;
            Ok((drive.to_owned(), Some(UnitName::Namespace(number))))
        }
        _ => Ok((name.to_owned(), None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(part: &str) -> Result<Named, SpecError> {
        let table = toml::Table::new();
        split_units(&Section::new("m.toml", "layouts.l", &table), "members", part)
    }

    #[test]
    fn drives_and_units_are_told_apart() {
        use UnitName::{Lun, Namespace};
        for (part, drives, units) in [
            ("d0", "d0", vec![None]),
            ("d0.lun1", "d0", vec![Some(Lun(1))]),
            ("d*.n128", "d*", vec![Some(Namespace(128))]),
            ("d0.net", "d0.net", vec![None]),
            ("d0..d3", "d0..d3", vec![None]),
            ("d0.lun0 .. d3.lun1", "d0..d3", vec![Some(Lun(0)), Some(Lun(1))]),
            ("d0.n1..d3.n3", "d0..d3", vec![Some(Namespace(1)), Some(Namespace(2)), Some(Namespace(3))]),
            ("d0.n2..d0.n2", "d0..d0", vec![Some(Namespace(2))]),
        ] {
            assert_eq!(named(part), Ok((drives.to_owned(), units)), "{part}");
        }
    }

    #[test]
    fn numbers_that_no_unit_has_and_ends_of_two_kinds_are_refused() {
        for (part, accepted) in [
            ("d0.lun8", "by its number"),
            ("d0.lun", "by its number"),
            ("d0.n0", "from \"d0.n1\""),
            ("d0.n129", "to \"d0.n128\""),
            ("d0.lun1..d3", "at both ends"),
            ("d0..d3.n1", "at both ends"),
            ("d0.lun1..d3.n2", "at both ends"),
            ("d0.n2..d3.n1", "at both ends"),
        ] {
            assert!(named(part).unwrap_err().accepted.contains(accepted), "{part}");
        }
    }

    #[test]
    fn every_name_has_a_number_of_its_own() {
        let luns = (0..=MOST_LUNS).map(UnitName::Lun);
        let names = luns.chain((1..=MOST_NAMESPACES).map(UnitName::Namespace));
        let mut numbers: Vec<usize> = names.map(|name| UnitName::number(Some(name))).collect();
        numbers.push(UnitName::number(None));
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]) && numbers.iter().all(|at| *at < UnitName::NUMBERS));
    }

    #[test]
    fn a_unit_holds_what_lies_in_it_whole() {
        let unit = Unit { name: UnitName::Namespace(2), from: 100, size: 50 };
        let held =
            [(100, 50), (149, 1), (99, 2), (149, 2), (150, 0), (151, 0)].map(|(from, size)| unit.holds(from, size));
        assert_eq!(held, [true, true, false, false, true, false]);
        assert_eq!((UnitName::Lun(3).to_string(), UnitName::Namespace(4).to_string()), ("lun3".into(), "n4".into()));
    }
}
