//! Parameters of a disk with shingled tracks.

use hotband_machine::{Section, SpecError};
use hotband_units::{Bytes, Ratio, Span};

use crate::disk::caches::need;
use crate::parts::geometry::SECTOR;

/// Sectors of 512 bytes in one of 4 KiB, in which the media is written.
pub(super) const PHYSICAL: u64 = 8;

/// Party that decides where a write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Managed {
    /// The drive: a stream of writes goes to its band, all others to the media cache.
    Drive,
    /// The host, which may write at the pointer of a zone; all other writes go to the media cache.
    HostAware,
}

/// Location of the media cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAt {
    /// The media cache is before the first band.
    Outer,
    /// Between the bands of the first and of the second half.
    Middle,
    /// The media cache is after the last band.
    Inner,
}

/// Every value of the translation layer; sizes are in sectors.
#[derive(Clone, Copy, Debug)]
pub struct SmrParams {
    /// Party that decides where a write goes.
    pub managed: Managed,
    /// Size of the media cache.
    pub cache: u64,
    /// Location of the media cache.
    pub cache_at: CacheAt,
    /// Most extents that it maps.
    pub extents: usize,
    /// Size of a band (of a zone, if the host knows the zones).
    pub band: u64,
    /// Whether a band is written to a place of its own before it is written over.
    pub band_copy: bool,
    /// Memory for the part of a band that is being rewritten.
    pub buffer: u64,
    /// Size of a piece that the arm reads or writes for a cleaning, or appends to the media cache.
    pub step: u64,
    /// Revolutions that the entry in the map takes after an append.
    pub append_revolutions: u64,
    /// Rest after which it cleans.
    pub idle: Span,
    /// Share of the media cache from which it cleans when at rest.
    pub clean_from: f64,
    /// Share from which it cleans before anything else.
    pub clean_full: f64,
    /// Length of a stream from which it goes to its band.
    pub stream_from: u64,
    /// Share of the addresses, from the first on, that hold data when a run begins.
    pub filled: f64,
}

/// Most bands of a disk: four bytes each.
const MOST_BANDS: u64 = 1 << 24;

/// Reads the values of shingled tracks, where the drive has them and `smr` is not off.
pub(crate) fn read_smr(section: &Section, capacity: Bytes) -> Result<Option<SmrParams>, SpecError> {
    let kinds = [("off", None), ("drive-managed", Some(Managed::Drive)), ("host-aware", Some(Managed::HostAware))];
    let Some(managed) = section.choice("smr", &kinds)? else { return Ok(None) };
    let places = [("outer", CacheAt::Outer), ("middle", CacheAt::Middle), ("inner", CacheAt::Inner)];
    let params = SmrParams {
        managed: managed.unwrap_or(Managed::Drive),
        cache: sectors(section, "smr_cache_size")?,
        cache_at: need(section, "smr_cache_at", section.choice("smr_cache_at", &places)?)?,
        extents: need(section, "smr_cache_extents", section.count("smr_cache_extents", 16..=16_000_000)?)? as usize,
        band: sectors(section, "smr_band")?,
        band_copy: need(section, "smr_band_copy", section.switch("smr_band_copy")?)?,
        buffer: sectors(section, "smr_buffer")?,
        step: sectors(section, "smr_step")?,
        append_revolutions: need(section, "smr_append_revolutions", section.count("smr_append_revolutions", 0..=8)?)?,
        idle: section.required("smr_idle_delay", "a time")?,
        clean_from: share(section, "smr_clean_from")?,
        clean_full: share(section, "smr_clean_full")?,
        stream_from: section.required::<Bytes>("smr_stream_from", "a size")?.0 / SECTOR,
        filled: share(section, "smr_filled")?,
    };
    check(section, &params, capacity)?;
    Ok(managed.map(|_| params))
}

/// A size of at least one physical sector, in sectors, rounded down to whole physical ones.
fn sectors(section: &Section, key: &'static str) -> Result<u64, SpecError> {
    let size: Bytes = section.required(key, "a size")?;
    let whole = size.0 / SECTOR / PHYSICAL * PHYSICAL;
    let accepted = "expected at least 4 KiB, the sector that shingled tracks are written in";
    (whole > 0).then_some(whole).ok_or_else(|| section.error(key, size.to_string(), accepted))
}

fn share(section: &Section, key: &'static str) -> Result<f64, SpecError> {
    let share: Ratio = section.required(key, "a share, such as \"90 %\"")?;
    let is_one = (0.0..=1.0).contains(&share.0);
    is_one.then_some(share.0).ok_or_else(|| section.error(key, share.to_string(), "expected from 0 % to 100 %"))
}

/// Check the constraints between several values.
fn check(section: &Section, params: &SmrParams, capacity: Bytes) -> Result<(), SpecError> {
    let band: Bytes = section.required("smr_band", "a size")?;
    if !band.0.is_multiple_of(PHYSICAL * SECTOR) {
        let accepted = "expected a multiple of 4 KiB, the sector that shingled tracks are written in";
        return Err(section.error("smr_band", band.to_string(), accepted));
    }
    let bytes = |sectors: u64| Bytes(sectors * SECTOR).to_string();
    if !capacity.0.is_multiple_of(PHYSICAL * SECTOR) {
        let accepted = "expected a multiple of 4 KiB, the sector that shingled tracks are written in";
        return Err(section.error("capacity", capacity.to_string(), accepted));
    }
    let plain =
        [("awc", "a protected write cache"), ("turboboost", "a flash read cache"), ("actuators", "two actuators")];
    if let Some((key, what)) = plain.into_iter().find(|(key, _)| section.value(key).is_some()) {
        return Err(section.error(
            key,
            "",
            format!("expected none: no disk with shingled tracks is modelled with {what}"),
        ));
    }
    if params.cache < 2 * params.band || params.cache > capacity.0 / SECTOR {
        let accepted = format!("expected from two bands ({}) to the capacity", bytes(2 * params.band));
        return Err(section.error("smr_cache_size", bytes(params.cache), accepted));
    }
    if capacity.0 / SECTOR / params.band >= MOST_BANDS {
        let accepted = format!("too small for this capacity: over {MOST_BANDS} bands");
        return Err(section.error("smr_band", bytes(params.band), accepted));
    }
    if params.buffer < params.step {
        let accepted = format!("expected at least smr_step, {}", bytes(params.step));
        return Err(section.error("smr_buffer", bytes(params.buffer), accepted));
    }
    if params.step > 1 << 20 {
        return Err(section.error("smr_step", bytes(params.step), "expected at most 512 MiB"));
    }
    if params.clean_from > params.clean_full {
        let accepted = "expected at most smr_clean_full";
        return Err(section.error("smr_clean_from", Ratio(params.clean_from).to_string(), accepted));
    }
    Ok(())
}

impl SmrParams {
    /// Sectors that the host does not see: the media cache, and the place that bands are copied to.
    pub fn reserved(&self) -> u64 {
        self.cache + if self.band_copy { self.band } else { 0 }
    }

    /// Bytes of memory of its map (our measure of an extent with its record, rounded up) and of its bands.
    pub(crate) fn memory(&self, capacity: Bytes) -> u64 {
        const OF_EXTENT: u64 = 128;
        self.extents as u64 * OF_EXTENT + capacity.0 / SECTOR / self.band * 4
    }
}
