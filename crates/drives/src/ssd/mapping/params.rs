//! Memory for a mapping table that does not fit into it: all four values, or none.

use hotband_machine::{Section, SpecError};
use hotband_units::{Bytes, Span};

use crate::ssd::reading::need;

/// Bytes of an entry: one of 4 bytes for each unit of 4 KiB makes the usual gigabyte of memory for a terabyte
/// [sabrent.com/blogs/storage/mapping].
const ENTRY: u64 = 4;
/// Largest memory that is read: that of the table of 16 TB.
const LARGEST: u64 = 16 << 30;

/// Parameters of the memory for the mapping table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappingParams {
    /// Bytes of a page of the table, the unit of its reads and writes.
    pub page_bytes: u64,
    /// Logical pages of 4 KiB whose entries are on one page of the table.
    pub covers: u64,
    /// Pages of the table that the controller holds.
    pub controller_pages: u32,
    /// Pages of the table that the host holds for the drive.
    pub host_pages: u32,
    /// Time to fetch a page from the host.
    pub host_latency: Span,
}

const KEYS: [&str; 4] = ["map_memory", "map_page", "hmb_size", "hmb_latency"];

/// The memory of a drive that maps `unit_pages` together, if not all of its table is in memory.
pub fn read_mapping(
    section: &Section,
    unit_pages: u64,
    has_lanes: bool,
    scale: u64,
) -> Result<Option<MappingParams>, SpecError> {
    if KEYS.iter().all(|key| section.value(key).is_none()) {
        return Ok(None);
    }
    let Bytes(page) = section.required("map_page", "the size of a page of the mapping table")?;
    if !page.is_power_of_two() || !(512..=64 << 10).contains(&page) {
        return Err(section.error("map_page", Bytes(page).to_string(), "expected a power of two from 512 B to 64 KiB"));
    }
    let size = |key: &'static str, least: u64| {
        let Bytes(size) = need(section, key, section.quantity::<Bytes>(key)?)?;
        if size > LARGEST || size < least {
            let accepted = format!("expected from {} (map_page) to {}", Bytes(page), Bytes(LARGEST));
            return Err(section.error(key, Bytes(size).to_string(), accepted));
        }
        Ok(size)
    };
    let controller = size("map_memory", page)?;
    let is_off = section.quantity::<Bytes>("hmb_size")? == Some(Bytes(0));
    let host = if is_off { 0 } else { size("hmb_size", page)? };
    if host > 0 && !has_lanes {
        let accepted = "only NVMe drives use host memory: expected \"0 B\", or pcie_generation, too";
        return Err(section.error("hmb_size", Bytes(host).to_string(), accepted));
    }
    let host_latency: Span = section.required("hmb_latency", "a time")?;
    if host_latency.0 > 1_000_000 {
        return Err(section.error("hmb_latency", host_latency.to_string(), "expected at most 1 ms"));
    }
    // A drive at a scale has as much less memory for as much shorter a table; its pages are as large.
    let pages = |bytes: u64| (bytes / scale / page) as u32;
    Ok(Some(MappingParams {
        page_bytes: page,
        covers: page / ENTRY * unit_pages,
        controller_pages: pages(controller).max(1),
        host_pages: pages(host).max(u32::from(host > 0)),
        host_latency,
    }))
}
