//! `until_precise = "1 %"`, `until = ["precise 1 %", "60 s"]`, `until = { precise = "1 %" }`: rates and latencies
//! reach a stated precision.

use hotband_machine::{Section, SpecError};
use hotband_units::{Ratio, Span};
use toml::{Table, Value};

use super::{Reader, Until};

/// Key of a phase, next to its time.
const KEY: &str = "until_precise";
/// Word in `until`, and key of its table.
const WORD: &str = "precise";
/// Precision if none is stated.
const USUAL: &str = "1 %";
/// Shares that can be requested: a finer one takes hours, and a coarser one is of little use.
const SHARES: std::ops::RangeInclusive<f64> = 0.001..=0.2;
const ACCEPTED: &str = "expected a percentage from 0.1 % to 20 %";
/// Longest time of a phase with `until = { precise = "1 %" }` alone.
const LONGEST: Span = Span(600_000_000_000);

pub(super) const READER: Reader = Reader { of_key, of_text, looks: "\"precise 1 %\"" };

/// Half width of the 95 % confidence interval at which a figure is known, as a share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision(f64);

impl Precision {
    /// Reads a percentage.
    ///
    /// # Errors
    /// Accepted values.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        let share = text.parse::<Ratio>().map(|share| share.0);
        share.ok().filter(|share| SHARES.contains(share)).map(Self).ok_or(ACCEPTED)
    }

    /// Share for rates and means.
    pub fn of_means(self) -> f64 {
        self.0
    }

    /// Share for the 99th percentile: three times as wide, because as many I/Os leave a tail that much less certain.
    pub fn of_tail(self) -> f64 {
        3.0 * self.0
    }
}

fn of_key(section: &Section) -> Result<Option<Until>, SpecError> {
    let Some(value) = section.value(KEY) else { return Ok(None) };
    let text = value.as_str().ok_or_else(|| section.error(KEY, value.to_string(), ACCEPTED))?;
    let precision = Precision::read(text).map_err(|accepted| section.error(KEY, text, accepted))?;
    Ok(Some(Until::Precise(precision)))
}

fn of_text(section: &Section, text: &str) -> Result<Option<Until>, SpecError> {
    let Some(share) = text.strip_prefix(WORD) else { return Ok(None) };
    let share = if share.is_empty() { USUAL } else { share };
    let precision = Precision::read(share.trim()).map_err(|accepted| section.error("until", text, accepted))?;
    Ok(Some(Until::Precise(precision)))
}

/// Reads `until = { precise = "1 %" }`, which has the longest time of its own.
pub(super) fn of_table(section: &Section, table: &Table) -> Result<Vec<Until>, SpecError> {
    let wrong = || section.error("until", Value::from(table.clone()).to_string(), "expected { precise = \"1 %\" }");
    let text = table.get(WORD).and_then(Value::as_str).filter(|_| table.len() == 1).ok_or_else(wrong)?;
    let precision = Precision::read(text).map_err(|accepted| section.error("until.precise", text, accepted))?;
    Ok(vec![Until::Precise(precision), Until::Time(LONGEST)])
}
