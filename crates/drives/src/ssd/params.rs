//! Parameters of a solid-state drive: the values of its catalog file.

use hotband_machine::{Draw, Random, Section, SpecError, Unit};
use hotband_units::{Bytes, Rate, Span};

use crate::parts::admission::AdmissionParams;
use crate::parts::compression::CompressionParams;
use crate::parts::ftl::{Endurance, Ftl, FtlParams, PAGE, PAGE_UNITS, Separation, UNIT, VictimPolicy};
use crate::parts::nand::NandParams;
use crate::parts::pcie::Pcie;
use crate::parts::senses::{SenseParams, Senses};
use crate::parts::stalls::StallParams;
use crate::power::{range_ssd, read_ssd};
use crate::ssd::mapping::{MappingParams, read_mapping};
use crate::ssd::namespaces::read_namespaces;
use crate::ssd::options;
use crate::ssd::read_ahead::{ReadAheadParams, read_read_ahead};
use crate::ssd::reading::{at_least, need, share};
use crate::ssd::tails::{self, CacheParams, JournalParams};
use hotband_machine::Product;

/// Every value of a solid-state drive.
#[derive(Clone, Debug)]
pub struct SsdParams {
    /// Addressable bytes.
    pub capacity: u64,
    /// Its power, if the catalog states it.
    pub draw: Option<Draw>,
    /// Translation layer.
    pub ftl: FtlParams,
    /// Flash.
    pub nand: NandParams,
    /// Compression; none if it is off.
    pub compression: Option<CompressionParams>,
    /// Time to decompress a page that is read.
    pub decompression: Span,
    /// Rate of the link, or of the drive's own path to its PCI Express lanes.
    pub link_rate: Rate,
    /// Like the above, for data that the drive receives.
    pub link_write_rate: Rate,
    /// PCI Express lanes, if it has them.
    pub pcie: Option<Pcie>,
    /// Pages that are mapped together: a write of less reads the rest first.
    pub unit_pages: u64,
    /// Memory for its mapping table, if the table does not fit into it.
    pub mapping: Option<MappingParams>,
    /// Its namespaces; none if the drive is one address space.
    pub namespaces: Vec<Unit>,
    /// Divisor of capacity, blocks and buffer.
    pub scale: u64,
    /// Whether `scale` was chosen because the drive's map would have been too large.
    pub scale_chosen: bool,
    /// Whether the link carries both directions at once.
    pub link_duplex: bool,
    /// Commands it accepts at once.
    pub tags: usize,
    /// The controller begins one command after the other, this far apart.
    pub command_interval: Span,
    /// Like the above, after a write, which may take the processor longer. Equal to `command_interval` if the buffer
    /// limits writes.
    pub write_interval: Span,
    /// Cores of the controller, among which commands are divided by address.
    pub controller_cores: u32,
    /// How writes are admitted to the buffer and acknowledged.
    pub admission: AdmissionParams,
    /// Time in the controller of a read, besides flash and link.
    pub read_overhead: Span,
    /// Time in the controller of a write until it is acknowledged, besides the link.
    pub write_overhead: Span,
    /// Reading ahead, where the drive does.
    pub read_ahead: Option<ReadAheadParams>,
    /// Effects on the duration of flash reads.
    pub senses: SenseParams,
    /// Stalls of the controller, if there are any.
    pub stalls: Option<StallParams>,
    /// Saving changes of the map.
    pub journal: JournalParams,
    /// Policy for the acknowledgement of writes, and for flushes.
    pub cache: CacheParams,
    /// Whether one pass of every stripe over all dies is parity.
    pub parity: bool,
    /// Programs of mapping tables, as a share of all others, which they add to.
    pub mapping_overhead: f64,
    /// Passes waiting for the flash beyond which writes of the host wait.
    pub backlog: u32,
    /// Idle for this long, the drive collects in the background.
    pub idle_delay: Span,
    /// Erases that a block is rated for.
    pub rated_cycles: f64,
}

impl SsdParams {
    /// Whether the drive has memory that takes long to fill: a pseudo-SLC cache, or a map that
    /// does not fit into memory.
    pub fn fills_slowly(&self) -> bool {
        self.nand.quick.is_some() || self.mapping.is_some()
    }

    /// Bytes of memory that the drive takes where pages are written at random, or where all have been (`filled`).
    pub fn memory(&self, filled: bool) -> u64 {
        Ftl::memory(&self.ftl, filled)
    }

    /// Reads the values of `product` with those of `set` in their place; mistakes in `set` are reported at
    /// `set_key` of `set_file`.
    ///
    /// # Errors
    /// The first value that is missing, malformed or impossible.
    pub fn read(product: &Product, set: &toml::Table, set_file: &str, set_key: &str) -> Result<Self, SpecError> {
        Self::read_scaled(product, (set, set_file, set_key), 1)
    }

    /// Like the above, at a scale of at least `least` at which it can be mapped, unless `set` sets one.
    ///
    /// # Errors
    /// As `read`.
    pub fn read_scaled(
        product: &Product,
        (set, set_file, set_key): (&toml::Table, &str, &str),
        least: u64,
    ) -> Result<Self, SpecError> {
        let values = product.with(set, (set_file, set_key), &[])?;
        let is_asked = set.get("scale").is_some_and(|scale| scale.as_integer() != Some(1));
        let mut read = Self::from_values(&product.file, &values, if is_asked { 1 } else { least });
        for scale in (1..=12).map(|power| 1 << power).filter(|scale| *scale > least) {
            let too_large = |error: &SpecError| TOO_LARGE.contains(&error.key.as_str());
            if is_asked || !read.as_ref().is_err_and(too_large) {
                break;
            }
            read = Self::from_values(&product.file, &values, scale).or(read);
        }
        product.blame(read.and_then(|params| range_ssd(params, product, set)), set, set_file, set_key)
    }

    /// Times of reads of its flash.
    pub(super) fn new_senses(&self, random: Random) -> Senses {
        let pass = (self.ftl.program_units / self.ftl.flash_page_units, self.nand.planes);
        Senses::new(self.senses, pass, self.nand.read, random)
    }

    fn from_values(file: &str, values: &toml::Table, least_scale: u64) -> Result<Self, SpecError> {
        let section = Section::new(file, "values", values);
        let requested = need(&section, "scale", section.count("scale", 1..=4096)?)?;
        let scale = requested.max(least_scale);
        let nand = read_nand(&section, scale)?;
        let parity = need(&section, "parity", section.switch("parity")?)?;
        let compression = read_compression(&section)?;
        let (ftl, capacity) = read_ftl(&section, &nand, scale, parity, compression.is_some())?;
        let time = |key| section.required::<Span>(key, "a time");
        let command_interval = time("command_interval")?;
        let write_interval = section.quantity("write_interval")?.unwrap_or(command_interval);
        let admission = tails::read_admission(&section, write_interval, &nand)?;
        let unit_pages = options::read_mapping_unit(&section)?;
        let whole: Bytes = section.required("capacity", "a size")?;
        let pcie = options::read_pcie(&section)?;
        let link_rate = at_least(&section, "link_rate")?;
        let link_duplex = need(&section, "link_duplex", section.switch("link_duplex")?)?;
        let params = Self {
            capacity,
            draw: read_ssd(&section)?,
            backlog: 2 * nand.dies,
            compression,
            decompression: time("decompression_time")?,
            link_rate,
            link_write_rate: options::read_link_write_rate(&section, link_rate, link_duplex)?,
            mapping: read_mapping(&section, unit_pages, pcie.is_some(), scale)?,
            pcie,
            unit_pages,
            namespaces: read_namespaces(&section, whole, unit_pages * PAGE, scale)?,
            scale,
            scale_chosen: scale > requested,
            link_duplex,
            tags: need(&section, "queue_tags", section.count("queue_tags", 1..=65_536)?)? as usize,
            command_interval,
            controller_cores: options::read_controller_cores(&section)?,
            write_interval: if admission.stripe.is_some() {
                command_interval.min(write_interval)
            } else {
                write_interval
            },
            admission,
            read_overhead: time("read_overhead")?,
            write_overhead: time("write_overhead")?,
            read_ahead: read_read_ahead(&section)?,
            senses: tails::read_senses(&section)?,
            stalls: tails::read_stalls(&section)?,
            journal: tails::read_journal(&section)?,
            cache: tails::read_cache(&section)?,
            parity,
            mapping_overhead: share(&section, "mapping_overhead", 0.5)?,
            idle_delay: time("idle_delay")?,
            rated_cycles: need(&section, "rated_cycles", section.count("rated_cycles", 1..=1_000_000)?)? as f64,
            ftl,
            nand,
        };
        section.finish()?;
        Ok(params)
    }
}

/// Error for a drive with more pages than its map can number: it is read at a larger scale.
const TOO_LARGE: [&str; 3] = ["values.capacity", "values.block", "values.flash_page"];

/// Bytes that a map can name, whatever its flash pages are: 16 TB.
const MOST_MAPPED: u64 = 16_000_000_000_000;

fn read_nand(section: &Section, scale: u64) -> Result<NandParams, SpecError> {
    let time = |key: &'static str| {
        let time: Span = section.required(key, "a time")?;
        if time.0 > 1_000_000_000 {
            return Err(section.error(key, time.to_string(), "expected at most 1 s"));
        }
        Ok(time)
    };
    let size = |key: &'static str, of: u64, largest: u64| {
        let bytes: Bytes = section.required(key, "a size")?;
        if bytes.0 == 0 || !bytes.0.is_multiple_of(of) || bytes.0 > largest {
            let accepted = format!("expected a multiple of {} up to {}", Bytes(of), Bytes(largest));
            return Err(section.error(key, bytes.to_string(), accepted));
        }
        Ok(bytes.0)
    };
    let page_bytes = size("flash_page", PAGE, 1 << 20)?;
    let suspend = need(section, "suspend", section.switch("suspend")?)?;
    let suspend_time = time("suspend_time")?;
    let mut nand = NandParams {
        dies: need(section, "dies", section.count("dies", 2..=4096)?)? as u32,
        channels: need(section, "channels", section.count("channels", 1..=256)?)? as u32,
        planes: need(section, "planes", section.count("planes", 1..=16)?)? as u32,
        planes_alone: options::read_plane_reads(section)?,
        quick: None,
        page_bytes,
        program_bytes: size("program_pass", page_bytes, 1 << 26)?,
        read: time("read_time")?,
        program: time("program_time")?,
        // Blocks are as many times smaller as the drive: erases stay the same share of the time.
        erase: Span(time("erase_time")?.0.div_ceil(scale)),
        channel_rate: at_least(section, "channel_rate")?,
        program_rate: at_least(section, "program_rate")?,
        suspend: suspend.then_some(suspend_time),
        patience: time("patience")?,
    };
    if nand.channels > nand.dies {
        let accepted = format!("expected at most the {} dies: a channel without a die carries nothing", nand.dies);
        return Err(section.error("channels", nand.channels.to_string(), accepted));
    }
    nand.quick = options::read_quick(section, &nand)?;
    Ok(nand)
}

/// Twice the largest drives of 2024: 122.88 TB.
const LARGEST: u64 = 256_000_000_000_000;

/// Rule by which collection chooses the block to empty.
fn read_victims(section: &Section) -> Result<VictimPolicy, SpecError> {
    let policy = [("greedy", 0), ("windowed-greedy", 1), ("cost-benefit", 2)];
    let window = count(section, "gc_window", 1)?;
    Ok(match need(section, "gc_victims", section.choice("gc_victims", &policy)?)? {
        0 => VictimPolicy::Greedy,
        1 => VictimPolicy::WindowedGreedy(window),
        _ => VictimPolicy::CostBenefit,
    })
}

/// The translation layer and the capacity.
fn read_ftl(
    section: &Section,
    nand: &NandParams,
    scale: u64,
    parity: bool,
    compressed: bool,
) -> Result<(FtlParams, u64), SpecError> {
    let whole: Bytes = section.required("capacity", "a size")?;
    let capacity = whole.0 / scale / PAGE * PAGE;
    if whole.0 > LARGEST || !(1 << 24..=MOST_MAPPED).contains(&capacity) {
        let accepted = "expected at most 256 TB, and from 16 MiB to 16 TB after scale";
        return Err(section.error("capacity", whole.to_string(), accepted));
    }
    let block: Bytes = section.required("block", "the size of an erase block of one plane")?;
    if !block.0.is_multiple_of(nand.page_bytes) {
        let accepted = format!("expected a multiple of flash_page, {}", Bytes(nand.page_bytes));
        return Err(section.error("block", block.to_string(), accepted));
    }
    let passes = block.0 * u64::from(nand.planes) / nand.program_bytes / scale;
    let data_dies = u64::from(nand.dies) - u64::from(parity);
    let block_bytes = passes * data_dies * nand.program_bytes;
    if passes == 0 || block_bytes / UNIT > u64::from(u32::MAX / 4) {
        let accepted = "expected at least one pass (program_pass) after scale, and at most 16 GiB over all dies";
        return Err(section.error("block", block.to_string(), accepted));
    }
    let over = share(section, "over_provisioning", 1.0)?;
    let blocks = (capacity as f64 * (1.0 + over) / block_bytes as f64).floor() as u64;
    let (low, high) = (count(section, "gc_free_low", 3)?, count(section, "gc_free_high", 3)?);
    if high <= low {
        return Err(section.error("gc_free_high", high.to_string(), format!("expected more than gc_free_low, {low}")));
    }
    // Collection holds some blocks free, and open blocks are not full.
    let held = u64::from(low) + 3;
    if blocks * block_bytes < capacity + held * block_bytes + capacity / 100 {
        let accepted = format!("expected room for {held} free blocks of {} and 1 % more", Bytes(block_bytes));
        return Err(section.error("over_provisioning", format!("{} %", over * 100.0), accepted));
    }
    if blocks > 4_000_000 {
        return Err(section.error("block", block.to_string(), "too small: over 4 million blocks"));
    }
    let reserve = share(section, "bad_block_reserve", 0.5)?;
    let spare = (blocks as f64 * reserve).round() as u64;
    // The map has 31 bits for block and flash page.
    let flash_pages = block_bytes.div_ceil(nand.page_bytes).next_power_of_two();
    if flash_pages * (blocks + spare + 1).next_power_of_two() > 1 << 31 {
        let size = Bytes(nand.page_bytes).to_string();
        return Err(section.error("flash_page", size, "too small: over 2,147,483,648 flash pages, or nearly so many"));
    }
    let buffer: Bytes = section.required("write_buffer", "a size")?;
    if buffer.0 > 1 << 34 {
        return Err(section.error("write_buffer", buffer.to_string(), "expected at most 16 GiB"));
    }
    let kinds = [("none", Separation::None), ("relocated", Separation::Relocated), ("hot-cold", Separation::HotCold)];
    let rated = need(section, "rated_cycles", section.count("rated_cycles", 1..=1_000_000)?)? as f64;
    let params = FtlParams {
        pages: capacity / PAGE,
        blocks: blocks as u32,
        spare_blocks: spare as u32,
        block_units: (block_bytes / UNIT) as u32,
        flash_page_units: (nand.page_bytes / UNIT) as u32,
        program_units: (nand.program_bytes / UNIT) as u32,
        compressed,
        in_place: options::read_overwrite(section, nand, capacity)?,
        pslc: options::read_pslc(section, nand, scale)?,
        victims: read_victims(section)?,
        separation: need(section, "gc_separation", section.choice("gc_separation", &kinds)?)?,
        free_low: low,
        free_high: high,
        buffer_pages: (buffer.0 / scale / PAGE).max(u64::from(PAGE_UNITS) / 4) as usize,
        wear_gap: Some(count(section, "wear_gap", 1)?),
        endurance: Some(Endurance { cycles: rated, spread: share(section, "cycle_spread", 0.5)? }),
    };
    Ok((params, capacity))
}

fn count(section: &Section, key: &'static str, least: u64) -> Result<u32, SpecError> {
    Ok(need(section, key, section.count(key, least..=1_000_000)?)? as u32)
}

fn read_compression(section: &Section) -> Result<Option<CompressionParams>, SpecError> {
    let on = need(section, "compression", section.switch("compression")?)?;
    let granule: Bytes = section.required("compression_granule", "a size")?;
    let header: Bytes = section.required("compression_header", "a size")?;
    if granule.0 == 0 || granule.0 > PAGE {
        return Err(section.error("compression_granule", granule.to_string(), "expected from 1 B to 4 KiB"));
    }
    if header.0 > PAGE / 4 {
        return Err(section.error("compression_header", header.to_string(), "expected at most 1 KiB"));
    }
    let efficiency = share(section, "compression_efficiency", 1.0)?;
    Ok(on.then_some(CompressionParams { efficiency, granule: granule.0, header: header.0 }))
}
