//! Parameters of a disk's caches, and the switches of the caching mode page.

use hotband_machine::{Product, Section, SpecError, WriteCacheSetting};
use hotband_units::{Bytes, Ratio, Span};
use toml::Table;

use crate::parts::dirty::Room;
use crate::parts::flash::FlashParams;
use crate::parts::geometry::SECTOR;

/// Time when a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteCache {
    /// Write-through: when it is on the media (WCE = 0).
    Off,
    /// Write-back into memory that power loss empties (WCE = 1).
    Volatile,
    /// Write-back into memory that is saved when power is lost (Advanced Write Cache).
    Protected,
}

/// The write cache that the switches leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteCacheParams {
    pub kind: WriteCache,
    pub room: Room,
    /// Whether a write without room waits for it; otherwise it is queued for the media.
    pub waits: bool,
    pub bypass: u64,
    pub drain: usize,
}

/// The write caches that a disk has, and its switches.
#[derive(Clone, Copy, Debug)]
pub struct WriteCaches {
    wce: bool,
    awc: bool,
    /// Switched by `wce`.
    plain: WriteCacheParams,
    /// In use instead where it is on; large sequential writes go past it while `wce` is off. None in a drive without
    /// protected memory.
    protected: Option<WriteCacheParams>,
}

impl WriteCaches {
    /// The one in use. Where the host has the write cache on no write goes past it for its size.
    pub(super) fn in_use(&self) -> WriteCacheParams {
        let kind = if self.wce { WriteCache::Volatile } else { WriteCache::Off };
        let plain = WriteCacheParams { kind, ..self.plain };
        let in_use = self.protected.filter(|_| self.awc).unwrap_or(plain);
        WriteCacheParams { bypass: if self.wce { u64::MAX } else { in_use.bypass }, ..in_use }
    }

    /// Return the setting of the write cache, for reports.
    pub fn setting(&self) -> WriteCacheSetting {
        let in_use = self.in_use();
        match in_use.kind {
            WriteCache::Off => WriteCacheSetting { kind: "off", bytes: 0 },
            WriteCache::Volatile => WriteCacheSetting { kind: "volatile", bytes: in_use.room.sectors * SECTOR },
            WriteCache::Protected => WriteCacheSetting { kind: "protected", bytes: in_use.room.sectors * SECTOR },
        }
    }

    /// Return the caches with a changed switch; none if the disk has no such switch.
    pub(super) fn with(self, key: &str, on: bool) -> Option<Self> {
        match key {
            "wce" => Some(Self { wce: on, ..self }),
            "awc" if self.protected.is_some() => Some(Self { awc: on, ..self }),
            _ => None,
        }
    }

    /// Whether its switches stand as those of another.
    pub(super) fn stand_as(&self, other: &Self) -> bool {
        (self.wce, self.awc) == (other.wce, other.awc)
    }

    /// Names of its switches.
    pub(super) fn switches(&self) -> &'static [&'static str] {
        if self.protected.is_some() { &["wce", "awc"] } else { &["wce"] }
    }
}

/// Most regions whose reads are counted: a byte each, in every drive of a machine.
const MOST_REGIONS: u64 = 1 << 27;
/// Most extents of a write cache.
const MOST_EXTENTS: u64 = 65_536;

/// A value that every disk has.
pub(super) fn need<T>(section: &Section, key: &str, value: Option<T>) -> Result<T, SpecError> {
    value.ok_or_else(|| section.error(key, "", "missing"))
}

/// Reads `wce` (write cache enable) and, where the drive has protected memory, `awc` (Advanced Write Cache), which
/// goes before it.
pub(super) fn read_write_caches(section: &Section) -> Result<WriteCaches, SpecError> {
    let count = |key| need(section, key, section.count(key, 1..=MOST_EXTENTS)?).map(|count| count as usize);
    let wce = need(section, "wce", section.switch("wce")?)?;
    let plain = WriteCacheParams {
        kind: WriteCache::Off,
        room: Room {
            entries: count("write_cache_extents")?,
            sectors: some_size(section, "write_cache_size")?,
            each_write: false,
        },
        waits: true,
        bypass: u64::MAX,
        drain: usize::MAX,
    };
    let Some(awc) = section.switch("awc")? else {
        return Ok(WriteCaches { wce, awc: false, plain, protected: None });
    };
    let extents = count("awc_extents")?;
    let (sectors, bypass) = (some_size(section, "awc_size")?, some_size(section, "awc_bypass")?);
    let each_write = section.choice("awc_counts", &[("extents", false), ("writes", true)])?.unwrap_or(false);
    let waits = section.choice("awc_full", &[("wait", true), ("queue", false)])?.unwrap_or(true);
    let room = Room { entries: extents, sectors, each_write };
    let drain: Ratio = section.required("awc_drain", "a share of the cache, such as \"80 %\"")?;
    if !(0.0..=1.0).contains(&drain.0) {
        return Err(section.error("awc_drain", drain.to_string(), "expected from 0 % to 100 %"));
    }
    let drain = ((extents as f64 * drain.0).ceil() as usize).max(1);
    let protected = WriteCacheParams { kind: WriteCache::Protected, room, waits, bypass, drain };
    Ok(WriteCaches { wce, awc, plain, protected: Some(protected) })
}

/// A size of at least one sector, in sectors.
fn some_size(section: &Section, key: &'static str) -> Result<u64, SpecError> {
    let size: Bytes = section.required(key, "a size")?;
    if size.0 < SECTOR {
        return Err(section.error(
            key,
            size.to_string(),
            "expected at least one sector of 512 B; to run without the cache, switch it off",
        ));
    }
    Ok(size.0 / SECTOR)
}

/// Reads the values of a flash read cache, where the drive has one and `turboboost` is on.
pub(super) fn read_flash(section: &Section) -> Result<Option<FlashParams>, SpecError> {
    let Some(on) = section.switch("turboboost")? else { return Ok(None) };
    let lanes = need(section, "flash_lanes", section.count("flash_lanes", 1..=64)?)?;
    let reads = need(section, "flash_hot_reads", section.count("flash_hot_reads", 1..=255)?)?;
    let params = FlashParams {
        size: some_size(section, "flash_size")? * SECTOR,
        block_sectors: some_size(section, "flash_block")?,
        read_latency: section.required("flash_read_latency", "a time")?,
        read_rate: section.required("flash_read_rate", "a rate")?,
        lanes: lanes as usize,
        write_rate: section.required("flash_write_rate", "a rate")?,
        promotion_rate: section.required("flash_promotion_rate", "a rate")?,
        region_sectors: some_size(section, "flash_region")?,
        hot_reads: reads as u8,
        ranking: section.required("flash_ranking", "a time")?,
        ageing: section.required("flash_ageing", "a time")?,
        largest_sectors: some_size(section, "flash_largest")?,
    };
    Ok(on.then_some(params))
}

/// Check the constraints between several values of the flash.
pub(super) fn check_flash(section: &Section, flash: &FlashParams, capacity: Bytes) -> Result<(), SpecError> {
    let bytes = |size: u64| Bytes(size).to_string();
    let block = flash.block_sectors * SECTOR;
    if !block.is_power_of_two() || !(4096..=16 << 20).contains(&block) {
        return Err(section.error("flash_block", bytes(block), "expected a power of two from 4 KiB to 16 MiB"));
    }
    if !flash.region_sectors.is_multiple_of(flash.block_sectors) || flash.region_sectors * SECTOR < 16 << 10 {
        let accepted = format!("expected a multiple of flash_block ({}) from 16 KiB", bytes(block));
        return Err(section.error("flash_region", bytes(flash.region_sectors * SECTOR), accepted));
    }
    if capacity.0 / (flash.region_sectors * SECTOR) > MOST_REGIONS {
        let accepted = format!("too small for a disk of {capacity}: over {MOST_REGIONS} regions");
        return Err(section.error("flash_region", bytes(flash.region_sectors * SECTOR), accepted));
    }
    if capacity.0 / block > u64::from(u32::MAX) / 2 {
        return Err(section.error("flash_block", bytes(block), format!("too small for a disk of {capacity}")));
    }
    if flash.size < block || flash.size > capacity.0 {
        let accepted = format!("expected from one block ({}) to the disk's {capacity}", bytes(block));
        return Err(section.error("flash_size", bytes(flash.size), accepted));
    }
    for (key, rate) in [
        ("flash_read_rate", flash.read_rate),
        ("flash_write_rate", flash.write_rate),
        ("flash_promotion_rate", flash.promotion_rate),
    ] {
        if !(1_000..=100_000_000_000).contains(&rate.0) {
            return Err(section.error(key, rate.to_string(), "expected from 1 kB/s to 100 GB/s"));
        }
    }
    if flash.read_latency > Span(1_000_000_000) {
        return Err(section.error("flash_read_latency", flash.read_latency.to_string(), "expected at most 1 s"));
    }
    if flash.ranking == Span(0) || flash.ranking > Span(86_400_000_000_000) {
        return Err(section.error("flash_ranking", flash.ranking.to_string(), "expected above zero and at most a day"));
    }
    if flash.ageing < Span(1_000_000_000) {
        return Err(section.error("flash_ageing", flash.ageing.to_string(), "expected at least 1 s"));
    }
    Ok(())
}

/// Fast Format changes the sector size of a drive made for it: its catalog file names the formats as the range.
pub(super) fn check_fast_format(product: &Product, set: &Table, file: &str, key: &str) -> Result<(), SpecError> {
    let Some(format) = set.get("sector_format").and_then(|format| format.as_str()) else { return Ok(()) };
    let Some(have) = product.assumptions.iter().find(|have| have.key == "sector_format") else { return Ok(()) };
    let formats = match &have.range {
        Some((one, two)) => vec![one.as_str(), two.as_str()],
        None => vec![have.value.as_str()],
    };
    if formats.contains(&format) {
        return Ok(());
    }
    let key = format!("{key}.sector_format");
    let accepted = match formats[..] {
        [only] => format!("{} is {only} and has no Fast Format", product.name),
        _ => format!("{} can be formatted to {}", product.name, formats.join(" or ")),
    };
    Err(SpecError::new(file, key.trim_start_matches('.'), format, accepted))
}
