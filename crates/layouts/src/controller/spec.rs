//! Parameters of a controller: the options of its layout.

use hotband_machine::{LayoutSpec, Section, SpecError};
use hotband_units::{Bytes, Rate, Ratio, Span};

/// A controller with a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControllerSpec {
    /// Memory for data.
    pub cache: u64,
    /// Written data survives a power loss in memory: writes are acknowledged from there.
    pub is_protected: bool,
    /// Bytes read ahead of a sequential reader; none if it does not.
    pub read_ahead: Option<u64>,
    /// Bytes of memory that dirty data takes, above which it writes back all the time.
    pub low: u64,
    /// Dirty bytes above which writes wait.
    pub high: u64,
    /// Longest time that data stays dirty before it is flushed.
    pub flush_every: Span,
    /// Stripes that it writes back at once.
    pub destages: usize,
    /// Time of its processor for an I/O.
    pub overhead: Span,
    /// Between it and the host.
    pub rate: Rate,
}

/// PERC H730P: 2 GB; others have 0.5 to 8 GB (docs/models/layouts.md).
const CACHE: Bytes = Bytes(2 << 30);
/// Amount read ahead if it is adaptive. Our estimate, range 128 KiB to 4 MiB: makers do not publish it.
const READ_AHEAD: Bytes = Bytes(1 << 20);
/// Shares of the memory. Our estimates, ranges 20 to 70 and 75 to 95 %: makers do not say.
const DIRTY_LOW: Ratio = Ratio(0.5);
const DIRTY_HIGH: Ratio = Ratio(0.9);
/// MegaRAID's `cacheflush`, by default 4 s.
const FLUSH_EVERY: Span = Span(4_000_000_000);
/// Our estimate, range 8 to 256.
const DESTAGES: u64 = 32;
/// Our estimate, range 10 to 60 us: firmware of a write that goes to memory.
const OVERHEAD: Span = Span(20_000);
/// PCIe 3.0 with eight lanes and payloads of 256 B: 7.2 GB/s by the sizes of its headers.
const RATE: Rate = Rate(7_200_000_000);

impl ControllerSpec {
    /// Reads the options of a `controller`.
    ///
    /// # Errors
    /// The first option that is malformed or impossible.
    pub fn read(file: &str, spec: &LayoutSpec) -> Result<Self, SpecError> {
        let options = Section::new(file, &spec.key, &spec.options);
        if spec.members.len() != 1 {
            let accepted = "expected exactly 1 member: the layout or drive behind the controller";
            return Err(options.error("members", spec.members.len().to_string(), accepted));
        }
        if spec.force_writes {
            let accepted = "the controller decides this: set it on the layout behind the controller";
            return Err(options.error("force_writes", "true", accepted));
        }
        let cache = options.quantity::<Bytes>("cache")?.unwrap_or(CACHE);
        if !(16 << 20..=1 << 40).contains(&cache.0) {
            return Err(options.error("cache", cache.to_string(), "expected 16 MiB to 1 TiB"));
        }
        let is_protected = options.switch("battery")?.unwrap_or(true);
        let share = |key: &'static str, default: Ratio| {
            let share = options.quantity::<Ratio>(key)?.unwrap_or(default);
            if !(0.0..=0.95).contains(&share.0) {
                return Err(options.error(key, format!("{} %", share.0 * 100.0), "expected 0 % to 95 %"));
            }
            Ok((cache.0 as f64 * share.0) as u64)
        };
        let (low, high) = (share("dirty_low", DIRTY_LOW)?, share("dirty_high", DIRTY_HIGH)?);
        if low >= high {
            let accepted = format!("expected less than dirty_high ({high} B of the cache)");
            return Err(options.error("dirty_low", format!("{low} B"), accepted));
        }
        let read = Self {
            cache: cache.0,
            is_protected,
            read_ahead: read_ahead(&options, cache.0)?,
            low,
            high,
            flush_every: time(&options, "flush_every", FLUSH_EVERY, Span(1_000_000)..=Span(3_600_000_000_000))?,
            destages: options.count("destages", 1..=4096)?.unwrap_or(DESTAGES) as usize,
            overhead: time(&options, "overhead", OVERHEAD, Span(0)..=Span(1_000_000_000))?,
            rate: options.quantity::<Rate>("rate")?.unwrap_or(RATE),
        };
        if read.rate.0 == 0 {
            return Err(options.error("rate", "0", "expected a rate above zero"));
        }
        options.finish()?;
        Ok(read)
    }

    /// Bytes of memory that it takes once its cache is full: a line holds 4 KiB at least, and is 128 B with its places
    /// in the tables.
    pub fn memory(&self) -> u64 {
        self.cache / 4096 * 128
    }
}

/// "off", or how far.
fn read_ahead(options: &Section, cache: u64) -> Result<Option<u64>, SpecError> {
    if options.table().get("read_ahead").and_then(toml::Value::as_str) == Some("off") {
        options.value("read_ahead");
        return Ok(None);
    }
    let ahead = options.quantity::<Bytes>("read_ahead")?.unwrap_or(READ_AHEAD);
    if !ahead.0.is_multiple_of(4096) || ahead.0 == 0 || ahead.0 > (cache / 4).min(64 << 20) {
        let accepted = "expected \"off\", or a multiple of 4 KiB up to 64 MiB and a quarter of the cache";
        return Err(options.error("read_ahead", ahead.to_string(), accepted));
    }
    Ok(Some(ahead.0))
}

fn time(
    options: &Section,
    key: &'static str,
    default: Span,
    range: std::ops::RangeInclusive<Span>,
) -> Result<Span, SpecError> {
    let time = options.quantity::<Span>(key)?.unwrap_or(default);
    if range.contains(&time) {
        return Ok(time);
    }
    Err(options.error(key, time.to_string(), format!("expected {} to {}", range.start(), range.end())))
}
