//! Parameters of a disk: the values of its catalog file.

use hotband_machine::{Draw, Random, SectorErrors};
use hotband_machine::{Section, SpecError};
use hotband_units::{Bytes, Rate, Ratio, Rpm, Span};

pub use crate::disk::caches::WriteCache;
use crate::disk::caches::{WriteCaches, check_fast_format, check_flash, need, read_flash, read_write_caches};
use crate::disk::seeks::read_seeks;
use crate::disk::smr::params::{SmrParams, read_smr};
use crate::parts::dirty::Room;
use crate::parts::flash::FlashParams;
use crate::parts::forced_writes::read_forced_writes;
use crate::parts::geometry::{Geometry, GeometryParams, SECTOR};
use crate::parts::media_scan::ScanParams;
use crate::parts::pending::Order;
use crate::parts::recovery::{Recovery, RecoveryParams};
use crate::parts::rotation::{REVOLUTION, Rotation};
use crate::parts::seek::{SeekPoints, Seeks};
use crate::power::{read_disk, split_disk};
use hotband_machine::Product;

/// Values that a product need not state: each is off, or follows from others, if the product leaves it out.
pub const OPTIONAL: [&str; 13] = [
    "age_weight",
    "cache_overhead_write",
    "command_overhead_write",
    "destage_order",
    "destage_window",
    "read_ahead",
    "read_overlap",
    "reorder_window",
    "seek_curve",
    "seek_curve_cylinders",
    "seek_knee",
    "write_overlap",
    "zero_latency",
];

/// Format of sectors on the media and for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectorFormat {
    /// 512-byte sectors, natively.
    Native512,
    /// 4 KiB sectors that show themselves as 512 bytes: a misaligned write reads the sector first.
    Emulated512,
    /// 4 KiB sectors: a misaligned command is an error.
    Native4K,
}

impl SectorFormat {
    /// Return the size of a logical sector: offsets and lengths are multiples of it.
    pub fn logical(self) -> u64 {
        if self == Self::Native4K { 4096 } else { 512 }
    }

    /// Return the size of a physical sector, which is written in one piece.
    pub fn physical(self) -> u64 {
        if self == Self::Native512 { 512 } else { 4096 }
    }
}

/// Presentation of a disk with several actuators to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposes {
    /// A logical unit for each actuator.
    Luns,
    /// One address space, the surfaces of one actuator after those of the other.
    One,
}

/// After which reads the arm continues reading into the segment, while nothing else waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAhead {
    /// No read-ahead.
    Off,
    /// Reads that continue where a segment ends.
    Streams,
    /// All that the media served.
    Always,
}

/// Firmware time of a command, by the part that completes it.
#[derive(Clone, Copy, Debug)]
pub struct Overheads {
    /// A read that needs the media.
    pub media_read: Span,
    /// A write that is completed from the media.
    pub media_write: Span,
    /// A read from memory, or a command that is neither a read nor a write.
    pub cache_read: Span,
    /// A write into memory.
    pub cache_write: Span,
}

impl Overheads {
    /// Return the overhead of a command that the arm serves.
    #[inline]
    pub(super) fn media(&self, write: bool) -> Span {
        if write { self.media_write } else { self.media_read }
    }

    /// Return the overhead of a command that memory completes.
    #[inline]
    pub(super) fn cache(&self, write: bool) -> Span {
        if write { self.cache_write } else { self.cache_read }
    }
}

/// Every value of a disk.
#[derive(Clone, Debug)]
pub struct DiskParams {
    /// Arms that seek by themselves, each over an equal share of the surfaces.
    pub actuators: u32,
    /// Presentation of the actuators to the host.
    pub exposes: Exposes,
    /// Power draw of the disk, if the catalog has it.
    pub draw: Option<Draw>,
    /// Mean bits read between two unrecoverable errors, if the catalog states them.
    pub error_bits: Option<f64>,
    /// Zones, heads, skew, spindle of one actuator.
    pub geometry: GeometryParams,
    /// Read seeks.
    pub seek_read: SeekPoints,
    /// Write seeks.
    pub seek_write: SeekPoints,
    /// Seek curves of reads and of writes: three points, or a measured curve.
    pub seeks: [Seeks; 2],
    /// Time to switch heads within a cylinder.
    pub head_switch: Span,
    /// 512n, 512e or 4Kn.
    pub format: SectorFormat,
    /// Rate of the drive's own port.
    pub port_rate: Rate,
    /// Commands an actuator accepts at once.
    pub tags: usize,
    /// Firmware time of a command.
    pub overheads: Overheads,
    /// Whether reading begins with whatever sector of the track comes first, not with that of the command.
    pub zero_latency: bool,
    /// Whether any of these three holds: asked once, so that other disks do not pay for three.
    pub is_pipelined: bool,
    /// Whether data of a read crosses the port while the head still reads; else after the last sector.
    pub read_overlap: bool,
    /// Whether data of a write crosses the port while the arm seeks; else before.
    pub write_overlap: bool,
    /// Order of the queue.
    pub order: Order,
    /// Number of the oldest queued commands from which the next is chosen.
    pub reorder_window: usize,
    /// Number of the oldest write-cache extents from which the next is chosen.
    pub destage_window: usize,
    /// Order in which the write cache is written to the media.
    pub destage_order: Order,
    /// A command that has waited longer is served next.
    pub age_bound: Span,
    /// By how much of its wait a command is preferred, in millionths: time of positioning for time of waiting.
    pub age_weight: u32,
    /// Segments of the read cache.
    pub segments: usize,
    /// Size of one segment, in sectors.
    pub segment_sectors: u64,
    /// Reads after which the arm reads ahead.
    pub read_ahead: ReadAhead,
    /// Sectors read ahead of the reader; zero for none.
    pub look_ahead_sectors: u64,
    /// Whether memory serves data that a host has read before (RCD = 0), not only data read ahead.
    pub rereads: bool,
    /// The write caches that it has, and its switches. In use:
    pub write_caches: WriteCaches,
    /// Write-through or write-back.
    pub write_cache: WriteCache,
    /// Room of the write cache.
    pub room: Room,
    /// Whether hosts force a write with a FLUSH after it, and not with FUA.
    pub forces_by_flush: bool,
    /// Whether a write without room there waits for it; otherwise it is queued for the media.
    pub waits_for_room: bool,
    /// Whether actuators that must move for a write do so one after the other.
    pub writes_in_turn: bool,
    /// Sequential writes of this many sectors and more go past the cache; none where the volatile one is on, too.
    pub bypass_sectors: u64,
    /// With this many extents waiting the cache is drained alongside the queue.
    pub drain_extents: usize,
    /// Share of the addresses, from the first on, that the first background scan of the media has passed. Data
    /// written beyond is read back in the next revolution.
    pub scanned: f64,
    /// Background scan.
    pub scan: Option<ScanParams>,
    /// Errors that reads recover from.
    pub recovery: Option<RecoveryParams>,
    /// Seed and name of the random generators of this drive.
    pub seed: (u64, String),
    /// Flash read cache.
    pub flash: Option<FlashParams>,
    /// Shingled tracks.
    pub smr: Option<Box<SmrParams>>,
}

impl DiskParams {
    /// Bytes of memory that the drive takes: of its caches, whose extents and blocks have at most this much each
    /// [our measure of their tables, rounded up], and of its table of seeks.
    pub fn memory(&self) -> u64 {
        const OF_ENTRY: u64 = 128;
        const OF_SEEKS: u64 = 4 << 20;
        let flash = self.flash.as_ref().map_or(0, |flash| flash.size / SECTOR / flash.block_sectors.max(1));
        let smr = self.smr.as_ref().map_or(0, |smr| smr.memory(self.geometry.capacity));
        (self.segments as u64 + self.room.entries as u64 + flash) * OF_ENTRY + OF_SEEKS + smr
    }

    /// Reads the values of `product` with those of `set` in their place; mistakes in `set` are reported at
    /// `set_key` of `set_file`.
    ///
    /// # Errors
    /// The first value that is missing, malformed or impossible.
    pub fn read(product: &Product, set: &toml::Table, set_file: &str, set_key: &str) -> Result<Self, SpecError> {
        check_fast_format(product, set, set_file, set_key)?;
        let values = product.with(set, (set_file, set_key), &OPTIONAL)?;
        let read = Self::from_values(&product.file, &values)
            .and_then(|params| params.with_look_ahead_in_segment(&product.file, set))
            .and_then(|params| split_disk(params, product, set));
        product.blame(read, set, set_file, set_key)
    }

    /// Read ahead at most a segment of the cache where `set` makes segments smaller.
    ///
    /// # Errors
    /// A larger `look_ahead` that is stated for these segments.
    fn with_look_ahead_in_segment(self, file: &str, set: &toml::Table) -> Result<Self, SpecError> {
        if self.segments == 0 || self.look_ahead_sectors <= self.segment_sectors {
            return Ok(self);
        }
        let is_of_other_segments = ["cache_segments", "cache_size"].iter().any(|key| set.contains_key(*key));
        if is_of_other_segments && !set.contains_key("look_ahead") {
            return Ok(Self { look_ahead_sectors: self.segment_sectors, ..self });
        }
        let segment = Bytes(self.segment_sectors * SECTOR);
        let accepted = format!("expected at most a segment of the cache, {segment}: cache_size over cache_segments");
        let value = Bytes(self.look_ahead_sectors * SECTOR).to_string();
        Err(SpecError::new(file, "values.look_ahead", value, accepted))
    }

    fn from_values(file: &str, values: &toml::Table) -> Result<Self, SpecError> {
        let section = Section::new(file, "values", values);
        let (actuators, exposes) = read_actuators(&section)?;
        let geometry = read_geometry(&section, actuators)?;
        let capacity = section.required("capacity", "a size")?;
        let cache: Bytes = section.required("cache_size", "a size")?;
        let segments = need(&section, "cache_segments", section.count("cache_segments", 0..=4096)?)? as usize;
        let sectors = |bytes: Bytes| bytes.0 / SECTOR;
        let format =
            [("512n", SectorFormat::Native512), ("512e", SectorFormat::Emulated512), ("4Kn", SectorFormat::Native4K)];
        let orders = [
            ("fcfs", Order::Fcfs),
            ("sstf", Order::Sstf),
            ("clook", Order::Clook),
            ("positioning", Order::Positioning),
        ];
        let order = need(&section, "queue_order", section.choice("queue_order", &orders)?)?;
        let write_caches = read_write_caches(&section)?;
        let writes = write_caches.in_use();
        let (seek_read, seek_write, seeks) = read_seeks(&section)?;
        let look_ahead: Bytes = section.required("look_ahead", "a size")?;
        let read_ahead = read_read_ahead(&section)?;
        let params = Self {
            actuators,
            exposes,
            draw: read_disk(&section, actuators)?,
            error_bits: read_bits(&section, "unrecoverable_error_bits")?,
            seek_read,
            seek_write,
            seeks,
            head_switch: geometry.head_skew,
            geometry,
            format: need(&section, "sector_format", section.choice("sector_format", &format)?)?,
            port_rate: section.required("port_rate", "a rate")?,
            tags: need(&section, "queue_tags", section.count("queue_tags", 1..=65_536)?)? as usize,
            overheads: read_overheads(&section)?,
            zero_latency: section.switch("zero_latency")?.unwrap_or(false),
            read_overlap: section.switch("read_overlap")?.unwrap_or(false),
            write_overlap: section.switch("write_overlap")?.unwrap_or(false),
            is_pipelined: false,
            reorder_window: read_window(&section, "reorder_window")?,
            destage_window: read_window(&section, "destage_window")?,
            destage_order: section.choice("destage_order", &orders)?.unwrap_or(Order::Positioning),
            order,
            age_bound: section.required("age_bound", "a time")?,
            age_weight: read_age_weight(&section, order)?,
            segments,
            segment_sectors: sectors(cache) / (segments.max(1) as u64),
            look_ahead_sectors: if read_ahead == ReadAhead::Off { 0 } else { look_ahead.0 / SECTOR },
            read_ahead,
            rereads: !section.switch("rcd")?.unwrap_or(false),
            write_caches,
            write_cache: writes.kind,
            room: writes.room,
            forces_by_flush: read_forced_writes(&section)?,
            waits_for_room: writes.waits,
            writes_in_turn: read_turns(&section, actuators)?,
            bypass_sectors: writes.bypass,
            drain_extents: writes.drain,
            scanned: read_scanned(&section)?,
            scan: ScanParams::read(&section)?,
            recovery: read_recovery(&section)?,
            seed: (0, String::new()),
            flash: read_flash(&section)?,
            smr: read_smr(&section, capacity)?.map(Box::new),
        };
        params.check(&section)?;
        section.finish()?;
        let is_pipelined = params.zero_latency || params.read_overlap || params.write_overlap;
        Ok(Self { is_pipelined, ..params })
    }

    /// Return the same drive with the spindle position and errors of this seed and name.
    #[must_use]
    pub fn with_seed(mut self, seed: u64, name: &str) -> Self {
        let phase = Random::new(seed, &format!("drives.{name}.spindle")).below(REVOLUTION);
        self.geometry.rotation = self.geometry.rotation.with_phase(phase);
        self.seed = (seed, format!("drives.{name}"));
        self
    }

    /// Recovery of the reads of the arm over `geometry`.
    pub(super) fn recovery(&self, geometry: &Geometry) -> Option<Box<Recovery>> {
        let (seed, name) = &self.seed;
        let random = Random::new(*seed, &format!("{name}.recovery.{}", geometry.first()));
        self.recovery.map(|params| Box::new(Recovery::new(params, random, SECTOR)))
    }

    /// Turns the switches of its write caches.
    pub(super) fn switch_write_caches(&mut self, caches: WriteCaches) {
        let writes = caches.in_use();
        self.write_caches = caches;
        (self.write_cache, self.room, self.waits_for_room) = (writes.kind, writes.room, writes.waits);
        (self.bypass_sectors, self.drain_extents) = (writes.bypass, writes.drain);
    }

    /// Return the unrecoverable read errors, which affect a physical sector each.
    pub fn sector_errors(&self) -> Option<SectorErrors> {
        self.error_bits.map(|bits| SectorErrors { bits, sector: self.format.physical() })
    }

    /// Check the constraints between several values.
    fn check(&self, section: &Section) -> Result<(), SpecError> {
        if self.seek_write.track > self.geometry.track_skew {
            let accepted = "expected at least the single-track write seek: a stream would lose a revolution a track";
            return Err(section.error("track_skew", self.geometry.track_skew.to_string(), accepted));
        }
        if self.port_rate.0 < 1_000_000 {
            return Err(section.error("port_rate", self.port_rate.to_string(), "expected at least 1 MB/s"));
        }
        if self.segments > 0 && self.segment_sectors < 8 {
            let accepted =
                "expected at least 4 KiB a segment (cache_segments); without a read cache set cache_segments = 0";
            return Err(section.error("cache_size", format!("{} segments", self.segments), accepted));
        }
        if let (Some(lost), Some(recovered)) = (self.error_bits, self.recovery.filter(|found| found.bits > 0.0))
            && recovered.bits > lost
        {
            let accepted =
                format!("expected at most unrecoverable_error_bits, {lost:e}: most errors are recovered from");
            return Err(section.error("recovered_error_bits", format!("{:e}", recovered.bits), accepted));
        }
        if self.segments > 0 && self.segments < self.actuators as usize {
            let accepted = format!("expected at least one for each of the {} actuators, or 0", self.actuators);
            return Err(section.error("cache_segments", self.segments.to_string(), accepted));
        }
        if self.flash.is_some() && self.actuators > 1 {
            let accepted = "expected off: no disk with several actuators has a flash cache";
            return Err(section.error("turboboost", "on", accepted));
        }
        if let Some(flash) = &self.flash {
            check_flash(section, flash, self.geometry.capacity)?;
        }
        if !self.geometry.capacity.0.is_multiple_of(self.format.physical()) {
            let accepted = format!("expected a multiple of the sector of {} bytes", self.format.physical());
            return Err(section.error("capacity", self.geometry.capacity.to_string(), accepted));
        }
        Ok(())
    }
}

/// Most actuators of a disk; products have two.
const MOST_ACTUATORS: u64 = 4;

/// After which reads it reads ahead: those of a sequential reader where the product does not state it.
fn read_read_ahead(section: &Section) -> Result<ReadAhead, SpecError> {
    let kinds = [("always", ReadAhead::Always), ("streams", ReadAhead::Streams), ("off", ReadAhead::Off)];
    Ok(section.choice("read_ahead", &kinds)?.unwrap_or(ReadAhead::Streams))
}

/// Read the size of a reorder window. Default: everything that waits.
fn read_window(section: &Section, key: &'static str) -> Result<usize, SpecError> {
    Ok(section.count(key, 1..=65_536)?.map_or(usize::MAX, |window| window as usize))
}

/// The weight of a wait, in millionths; none unless the product states it.
fn read_age_weight(section: &Section, order: Order) -> Result<u32, SpecError> {
    let Some(Ratio(share)) = section.quantity::<Ratio>("age_weight")? else { return Ok(0) };
    let error = |accepted: &str| Err(section.error("age_weight", Ratio(share).to_string(), accepted));
    if !(0.0..=1.0).contains(&share) {
        return error("expected from 0 % to 100 %");
    }
    if share > 0.0 && order != Order::Positioning {
        return error("expected queue_order = \"positioning\": other orders do not weigh positioning times");
    }
    Ok((share * 1e6).round() as u32)
}

/// Overheads; of writes those of reads where the product does not state it.
fn read_overheads(section: &Section) -> Result<Overheads, SpecError> {
    let checked = |key: &'static str, time: Span| {
        let accepted = "expected at most 1 s";
        if time.0 > 1_000_000_000 { Err(section.error(key, time.to_string(), accepted)) } else { Ok(time) }
    };
    let required = |key| checked(key, section.required(key, "a time")?);
    let other = |key, default: Span| checked(key, section.quantity::<Span>(key)?.unwrap_or(default));
    let (media_read, cache_read) = (required("command_overhead")?, required("cache_overhead")?);
    let media_write = other("command_overhead_write", media_read)?;
    Ok(Overheads { media_read, media_write, cache_read, cache_write: other("cache_overhead_write", cache_read)? })
}

/// Number of actuators, and how the host sees them; one if the product does not state it.
fn read_actuators(section: &Section) -> Result<(u32, Exposes), SpecError> {
    let actuators = section.count("actuators", 1..=MOST_ACTUATORS)?.unwrap_or(1) as u32;
    let exposes = section.choice("exposes", &[("luns", Exposes::Luns), ("one", Exposes::One)])?;
    match exposes {
        None if actuators > 1 => Err(section.error("exposes", "", "missing: expected \"luns\" or \"one\"")),
        exposes => Ok((actuators, exposes.unwrap_or(Exposes::One))),
    }
}

/// Share of the media that was scanned: all of it where the product does not state it.
fn read_scanned(section: &Section) -> Result<f64, SpecError> {
    const KEY: &str = "media_scanned";
    let scanned = section.quantity::<Ratio>(KEY)?.unwrap_or(Ratio(1.0));
    let accepted = "expected from 0 % to 100 %";
    let is_share = (0.0..=1.0).contains(&scanned.0);
    if is_share { Ok(scanned.0) } else { Err(section.error(KEY, scanned.to_string(), accepted)) }
}

/// Whether actuators move to write one after the other; together where the product does not state it.
fn read_turns(section: &Section, actuators: u32) -> Result<bool, SpecError> {
    const KEY: &str = "arms_write";
    match section.choice(KEY, &[("together", false), ("in turn", true)])? {
        Some(true) if actuators == 1 => Err(section.error(KEY, "in turn", "expected \"together\": it has one arm")),
        in_turn => Ok(in_turn.unwrap_or(false)),
    }
}

/// Mean bits between two errors: a plain number, as "1e15" too, which TOML and `--set` both can write.
fn read_bits(section: &Section, key: &'static str) -> Result<Option<f64>, SpecError> {
    let Some(value) = section.value(key) else { return Ok(None) };
    let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    let number = number.or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let accepted = "expected the bits read for one error, a number from 1e6 to 1e20, such as 1e15";
    let number = number.filter(|bits| (1e6..=1e20).contains(bits));
    number.map(Some).ok_or_else(|| section.error(key, shown, accepted))
}

/// Read the rate of recovered errors, if the product states it.
fn read_recovery(section: &Section) -> Result<Option<RecoveryParams>, SpecError> {
    let Some(bits) = read_bits(section, "recovered_error_bits")? else { return Ok(None) };
    let time: Span = section.required("recovery_time", "a time")?;
    if time > Span(10_000_000_000) {
        return Err(section.error("recovery_time", time.to_string(), "expected at most 10 s"));
    }
    Ok(Some(RecoveryParams { bits, time }))
}

/// The geometry of one of `actuators`.
fn read_geometry(section: &Section, actuators: u32) -> Result<GeometryParams, SpecError> {
    let rate = |key| section.required::<Rate>(key, "a rate");
    let shared = |key: &str, all: u64, unit: u64| {
        let share = all / u64::from(actuators);
        let fits = all.is_multiple_of(u64::from(actuators)) && share.is_multiple_of(unit);
        let accepted = || format!("expected equal shares for {actuators} actuators");
        if fits { Ok(share) } else { Err(section.error(key, all.to_string(), accepted())) }
    };
    let (capacity, heads) = (section.required::<Bytes>("capacity", "a size")?, section.count("heads", 1..=64)?);
    let params = GeometryParams {
        capacity: Bytes(shared("capacity", capacity.0, if actuators > 1 { 4096 } else { 1 })?),
        heads: shared("heads", need(section, "heads", heads)?, 1)? as u32,
        zones: need(section, "zones", section.count("zones", 1..=128)?)? as u32,
        outer: rate("sustained_outer")?,
        inner: rate("sustained_inner")?,
        head_skew: section.required("head_skew", "a time")?,
        track_skew: section.required("track_skew", "a time")?,
        rotation: Rotation::new(section.required::<Rpm>("rpm", "a speed of rotation")?),
    };
    if params.inner.0 == 0 || params.inner > params.outer {
        return Err(section.error(
            "sustained_inner",
            params.inner.to_string(),
            "expected above zero and at most sustained_outer",
        ));
    }
    let largest = 100_000_000_000_000;
    if params.capacity.0 < 1_000_000 || params.capacity.0 > largest {
        return Err(section.error("capacity", params.capacity.to_string(), "expected from 1 MB to 100 TB"));
    }
    if params.outer.0 > 10_000_000_000 {
        return Err(section.error("sustained_outer", params.outer.to_string(), "expected at most 10 GB/s"));
    }
    let period = params.rotation.period();
    for (key, skew) in [("head_skew", params.head_skew), ("track_skew", params.track_skew)] {
        if skew > period {
            return Err(section.error(key, skew.to_string(), format!("expected at most a revolution ({period})")));
        }
    }
    // Rates fall evenly from zone to zone: their mean gives the number of tracks. More of them than any disk has
    // would overflow angles (100 million) or make tables of seeks huge (4 million a surface).
    let mean = f64::midpoint(params.outer.0 as f64, params.inner.0 as f64);
    let tracks = params.capacity.0 as f64 / (mean * period.as_secs_f64());
    if tracks > 1e8 || tracks / f64::from(params.heads) > 4e6 {
        let accepted = "too low for this capacity: over 100 million tracks, or 4 million a surface";
        return Err(section.error("sustained_outer", params.outer.to_string(), accepted));
    }
    Ok(params)
}
