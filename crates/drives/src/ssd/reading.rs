//! Values that must be there, and shares and rates within their bounds.

use hotband_machine::{Section, SpecError};
use hotband_units::{Rate, Ratio};

pub(super) fn need<T>(section: &Section, key: &'static str, value: Option<T>) -> Result<T, SpecError> {
    value.ok_or_else(|| section.error(key, "", "missing"))
}

pub(super) fn share(section: &Section, key: &'static str, most: f64) -> Result<f64, SpecError> {
    let Ratio(value) = section.required::<Ratio>(key, "a share, such as \"7 %\"")?;
    if (0.0..=most).contains(&value) {
        return Ok(value);
    }
    Err(section.error(key, format!("{} %", value * 100.0), format!("expected from 0 % to {} %", most * 100.0)))
}

pub(super) fn at_least(section: &Section, key: &'static str) -> Result<Rate, SpecError> {
    let rate: Rate = section.required(key, "a rate")?;
    if rate.0 < 1_000_000 || rate.0 > 1_000_000_000_000 {
        return Err(section.error(key, rate.to_string(), "expected from 1 MB/s to 1 TB/s"));
    }
    Ok(rate)
}
