//! `ios = 1000000`, `until = "1e6 I/Os"`: I/Os completed in the phase; the same of the operations of an app.

use hotband_machine::{Section, SpecError};

use super::{Reader, Until};

pub(super) const IOS: Reader = Reader {
    of_key: |section| Ok(count(section, "ios")?.map(Until::Ios)),
    of_text: |section, text| Ok(counted(section, text, &["I/Os", "I/O"])?.map(Until::Ios)),
    looks: "\"1e6 I/Os\"",
};

pub(super) const OPERATIONS: Reader = Reader {
    of_key: |section| Ok(count(section, "operations")?.map(Until::Operations)),
    of_text: |section, text| Ok(counted(section, text, &["operations", "operation"])?.map(Until::Operations)),
    looks: "\"5000 operations\"",
};

/// Largest number that can be counted down.
const MOST: u64 = u64::MAX >> 1;

fn count(section: &Section, key: &'static str) -> Result<Option<u64>, SpecError> {
    section.count(key, 1..=MOST)
}

/// The number before one of `words`: whole, with digits in groups (1_000) or a power of ten (1e6).
fn counted(section: &Section, text: &str, words: &[&str]) -> Result<Option<u64>, SpecError> {
    let Some(number) = words.iter().find_map(|word| text.strip_suffix(word)) else { return Ok(None) };
    let number = number.trim().replace('_', "");
    let whole = number.parse::<u64>().ok().or_else(|| {
        // Up to 2^53 every whole number is a float.
        let float = number.parse::<f64>().ok().filter(|float| float.fract() == 0.0 && *float <= 9e15);
        float.filter(|float| *float >= 1.0).map(|float| float as u64)
    });
    let whole = whole.filter(|whole| (1..=MOST).contains(whole));
    whole.map(Some).ok_or_else(|| {
        section.error("until", text, format!("expected a whole number above zero before {}, such as 1e6", words[0]))
    })
}
