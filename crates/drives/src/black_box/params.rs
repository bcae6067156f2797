//! Parameters of a black box: fitted values (`hotband calibrate`), none of them a mechanism's.

use hotband_machine::{Product, Section, SpecError};
use hotband_units::{Bytes, Rate, Ratio, Span};
use toml::Table;

/// Service of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// Median time of a command without its data.
    pub time: Span,
    /// Rate at which the data of one command comes on top.
    pub rate: Rate,
    /// Standard deviation of the logarithm of the service time.
    pub spread: f64,
}

/// Every value of a black box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlackBoxParams {
    /// Addressable bytes.
    pub capacity: u64,
    /// Service of reads, and of writes.
    pub service: [Service; 2],
    /// Commands that are served at once.
    pub slots: u64,
    /// Share by which a command takes longer for each command in service when it starts.
    pub contention: f64,
    /// I/Os a second, and how many at once after a rest.
    pub ios: (u64, u64),
    /// Bytes a second, and how many at once after a rest.
    pub bytes: (u64, u64),
}

/// Smallest unit of an I/O, as all of these volumes have it.
pub(super) const BLOCK: u64 = 512;
const MOST_IOS: u64 = 100_000_000;

impl BlackBoxParams {
    /// Reads the values of `product` with those of `set` in their place; mistakes in `set` are reported at `set_key` of
    /// `set_file`.
    ///
    /// # Errors
    /// The first value that is missing, malformed or impossible.
    pub fn read(product: &Product, set: &Table, set_file: &str, set_key: &str) -> Result<Self, SpecError> {
        let values = product.with(set, (set_file, set_key), &[])?;
        product.blame(Self::from_values(&product.file, &values), set, set_file, set_key)
    }

    fn from_values(file: &str, values: &Table) -> Result<Self, SpecError> {
        let section = Section::new(file, "values", values);
        let capacity: Bytes = section.required("capacity", "a size")?;
        if capacity.0 < BLOCK {
            return Err(section.error("capacity", capacity.to_string(), "expected at least 512 B"));
        }
        let burst: Bytes = section.required("rate_burst", "a size")?;
        let params = Self {
            capacity: capacity.0 - capacity.0 % BLOCK,
            service: [
                service(&section, ("read_time", "read_rate", "read_spread"))?,
                service(&section, ("write_time", "write_rate", "write_spread"))?,
            ],
            slots: count(&section, "slots", 65_536)?,
            contention: contention(&section)?,
            ios: (count(&section, "ios_limit", MOST_IOS)?, count(&section, "ios_burst", MOST_IOS)?),
            bytes: (rate(&section, "rate_limit")?.0, burst.0),
        };
        section.finish()?;
        Ok(params)
    }
}

fn service(
    section: &Section,
    (time, of_data, spread): (&'static str, &'static str, &'static str),
) -> Result<Service, SpecError> {
    let span: Span = section.required(time, "a time")?;
    let Ratio(share) = section.required::<Ratio>(spread, "a share, such as \"20 %\"")?;
    Ok(Service { time: span, rate: rate(section, of_data)?, spread: share })
}

/// Read the contention; none if it is not stated.
fn contention(section: &Section) -> Result<f64, SpecError> {
    const KEY: &str = "contention";
    let Ratio(share) = section.quantity::<Ratio>(KEY)?.unwrap_or(Ratio(0.0));
    let accepted = "expected a share from 0 % to 1000 %";
    let fits = (0.0..=10.0).contains(&share);
    if fits { Ok(share) } else { Err(section.error(KEY, Ratio(share).to_string(), accepted)) }
}

fn rate(section: &Section, key: &'static str) -> Result<Rate, SpecError> {
    let given: Rate = section.required(key, "a rate")?;
    if given.0 < 1_000 || given.0 > 1_000_000_000_000 {
        return Err(section.error(key, given.to_string(), "expected from 1 kB/s to 1 TB/s"));
    }
    Ok(given)
}

fn count(section: &Section, key: &'static str, most: u64) -> Result<u64, SpecError> {
    let missing = || section.error(key, "", format!("missing: expected a count from 1 to {most}"));
    section.count(key, 1..=most)?.ok_or_else(missing)
}
