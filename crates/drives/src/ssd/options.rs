//! Values that only some solid-state drives have; a drive without them is as one of 2017.

use hotband_machine::{Section, SpecError};
use hotband_units::{Bytes, Rate};

use crate::parts::ftl::{PAGE, PslcParams, UNIT, WhenFull};
use crate::parts::nand::{NandParams, QuickParams};
use crate::parts::pcie::Pcie;
use crate::ssd::reading::{at_least, need};

/// PCI Express lanes: all three values, or none.
pub(super) fn read_pcie(section: &Section) -> Result<Option<Pcie>, SpecError> {
    let Some(generation) = section.count("pcie_generation", 2..=6)? else { return Ok(None) };
    let lanes = need(section, "pcie_lanes", section.count("pcie_lanes", 1..=16)?)? as u32;
    let payload: Bytes = section.required("pcie_payload", "a size, such as \"256 B\"")?;
    if ![128, 256, 512].contains(&payload.0) {
        return Err(section.error("pcie_payload", payload.to_string(), "expected 128 B, 256 B or 512 B"));
    }
    Ok(Some(Pcie { generation: generation as u32, lanes, payload: payload.0 }))
}

/// Rate of data that the drive receives, if its own path differs by direction.
pub(super) fn read_link_write_rate(section: &Section, link: Rate, is_duplex: bool) -> Result<Rate, SpecError> {
    let Some(rate) = section.quantity::<Rate>("link_write_rate")? else { return Ok(link) };
    if !is_duplex {
        let accepted = "link_duplex is off: both directions share link_rate";
        return Err(section.error("link_write_rate", rate.to_string(), accepted));
    }
    at_least(section, "link_write_rate")
}

/// Cores among which commands are divided by address.
pub(super) fn read_controller_cores(section: &Section) -> Result<u32, SpecError> {
    Ok(section.count("controller_cores", 1..=64)?.unwrap_or(1) as u32)
}

/// Pages that are mapped together.
pub(super) fn read_mapping_unit(section: &Section) -> Result<u64, SpecError> {
    let Some(Bytes(unit)) = section.quantity::<Bytes>("mapping_unit")? else { return Ok(1) };
    if !unit.is_power_of_two() || !(PAGE..=64 << 10).contains(&unit) {
        let accepted = "expected 4 KiB, 8 KiB, 16 KiB, 32 KiB or 64 KiB";
        return Err(section.error("mapping_unit", Bytes(unit).to_string(), accepted));
    }
    Ok(unit / PAGE)
}

/// Whether every plane of a die reads separate pages.
pub(super) fn read_plane_reads(section: &Section) -> Result<bool, SpecError> {
    Ok(section.choice("plane_reads", &[("together", false), ("independent", true)])?.unwrap_or(false))
}

/// Whether cells are rewritten in place: phase-change memory, a page at a time.
pub(super) fn read_overwrite(section: &Section, nand: &NandParams, capacity: u64) -> Result<bool, SpecError> {
    let in_place = section.choice("overwrite", &[("elsewhere", false), ("in-place", true)])?.unwrap_or(false);
    let of_pages = nand.program_bytes == PAGE && nand.page_bytes == PAGE && capacity <= 1 << 43;
    if in_place && !of_pages {
        let accepted = "in-place takes flash_page and program_pass of 4 KiB, and at most 8 TiB";
        return Err(section.error("overwrite", "in-place", accepted));
    }
    Ok(in_place)
}

/// Passes of a pseudo-SLC cache: one page in each plane.
pub(super) fn read_quick(section: &Section, nand: &NandParams) -> Result<Option<QuickParams>, SpecError> {
    if section.value("pslc_static").is_none() {
        return Ok(None);
    }
    let rate: Rate = at_least(section, "pslc_program_rate")?;
    let bytes = nand.page_bytes * u64::from(nand.planes);
    let read = section.required("pslc_read_time", "a time")?;
    let program = section.required("pslc_program_time", "a time")?;
    Ok(Some(QuickParams { bytes, read, program, rate }))
}

/// A pseudo-SLC cache.
pub(super) fn read_pslc(section: &Section, nand: &NandParams, scale: u64) -> Result<Option<PslcParams>, SpecError> {
    let Some(quick) = nand.quick else { return Ok(None) };
    let size = |key| section.required::<Bytes>(key, "a size").map(|Bytes(bytes)| bytes / scale / PAGE);
    let policies = [("direct", WhenFull::Direct), ("fold", WhenFull::Fold)];
    Ok(Some(PslcParams {
        fixed_pages: size("pslc_static")?,
        dynamic_pages: size("pslc_dynamic")?,
        bits: (nand.program_bytes / quick.bytes).max(1),
        pass_units: (quick.bytes / UNIT) as u32,
        when_full: need(section, "pslc_full", section.choice("pslc_full", &policies)?)?,
    }))
}
