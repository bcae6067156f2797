//! Reading and writing a number with its unit.

use std::fmt;

use thiserror::Error;

/// A text that is not the quantity it should be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected {accepted}")]
pub struct UnitError {
    /// The text found.
    pub value: String,
    /// Accepted values.
    pub accepted: &'static str,
}

/// Limit of values in text: the sum of two still fits into 64 bits. Above 2^53 (104 days, 9 PB) it is
/// rounded to what a double holds.
const LIMIT: f64 = 9.0e18;

const TOO_LARGE: &str = "a smaller number: this one is out of range";

/// Parses "NUMBER UNIT" into whole base units. Negative, non-finite, unit-less or unknown: an error.
pub(crate) fn parse_scaled(text: &str, units: &[(&str, f64)], accepted: &'static str) -> Result<u64, UnitError> {
    let wrong = || UnitError { value: text.to_owned(), accepted };
    let (number, unit) = at_unit(text.trim()).ok_or_else(wrong)?;
    let number: f64 = number.replace('_', "").parse().map_err(|_| wrong())?;
    let scale = units.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(wrong)?.1;
    let value = number * scale;
    // Below zero it cannot be: a sign is no digit.
    if value < LIMIT {
        Ok(value.round() as u64)
    } else {
        Err(UnitError { value: text.to_owned(), accepted: TOO_LARGE })
    }
}

/// A number and what follows it: "4 ", "ms", or "1e3", "s". None if nothing does.
fn at_unit(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))?;
    let (number, rest) = text.split_at(end);
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else { return Some((number, rest)) };
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    match exponent.find(|c: char| !c.is_ascii_digit()) {
        Some(digits @ 1..) => Some(text.split_at(text.len() - exponent.len() + digits)),
        Some(_) => Some((number, rest)),
        None => None,
    }
}

/// Writes `value` in the largest unit in which it is at least 1, without trailing zeros.
pub(crate) fn format_scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, f64)]) -> fmt::Result {
    let smallest = *units.last().expect("unit tables are not empty");
    let (name, scale) = units.iter().copied().find(|(_, scale)| value as f64 >= *scale).unwrap_or(smallest);
    write!(f, "{} {name}", scaled(value, scale))
}

/// `value` in units of `scale`, to three places, without trailing zeros.
pub(crate) fn scaled(value: u64, scale: f64) -> String {
    let text = format!("{:.3}", value as f64 / scale);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use crate::{Bytes, Power, Rate, Ratio, Rpm, Span};

    #[test]
    fn what_a_person_writes_is_read() {
        assert_eq!("4.16 ms".parse(), Ok(Span(4_160_000)));
        assert_eq!("2h".parse(), Ok(Span(7_200_000_000_000)));
        assert_eq!("900 GB".parse(), Ok(Bytes(900_000_000_000)));
        assert_eq!("64 KiB".parse(), Ok(Bytes(65536)));
        assert_eq!("4k".parse(), Ok(Bytes(4096)));
        assert_eq!("1.2 GB/s".parse(), Ok(Rate(1_200_000_000)));
        assert_eq!("15000 rpm".parse(), Ok(Rpm(15000)));
        assert_eq!("7.2 W".parse(), Ok(Power(7200)));
        assert_eq!("12.5 %".parse(), Ok(Ratio(0.125)));
        assert_eq!("1e3 s".parse(), Ok(Span(1_000_000_000_000)));
        assert_eq!("2.5E-3s".parse(), Ok(Span(2_500_000)));
    }

    #[test]
    fn a_bare_or_negative_or_foreign_number_is_refused() {
        for text in
            ["16.0", "", "ms", "-4 ms", "4 GB", "1e999 ms", "nan ms", "4 ms ms", "1e3", "1e ms", "1e- ms", "4EB"]
        {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
        assert!("4096".parse::<Bytes>().is_err());
        assert!("4 ms".parse::<Bytes>().is_err());
        assert!("7.2".parse::<Power>().is_err());
        assert!("101".parse::<Ratio>().is_err());
        assert!("0 rpm".parse::<Rpm>().is_err());
    }

    #[test]
    fn what_is_too_large_is_not_told_to_have_a_unit() {
        for text in ["99999999999 d", "999999999999999999999999999999 s", "1e300 s"] {
            assert!(text.parse::<Span>().unwrap_err().accepted.contains("out of range"), "{text}");
        }
        assert!("9999999999 GB".parse::<Bytes>().unwrap_err().accepted.contains("out of range"));
        assert!("9999999999".parse::<Span>().unwrap_err().accepted.contains("with its unit"));
    }

    #[test]
    fn text_form_reads_back() {
        for ns in [0, 1, 999, 4_160_000, 90_000_000_000] {
            assert_eq!(Span(ns).to_string().parse(), Ok(Span(ns)));
        }
        for milliwatts in [0, 5, 7_200, 13_500] {
            assert_eq!(Power(milliwatts).to_string().parse(), Ok(Power(milliwatts)));
        }
        for bytes in [0, 512, 4096, 900_000_000_000] {
            assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
        }
    }
}
