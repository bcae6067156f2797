//! `until_warm = true`, `until = ["warm", "1 h"]`: the flash caches of all drives are warm.

use hotband_machine::{Section, SpecError};

use super::{Reader, Until};

pub(super) const READER: Reader =
    Reader { of_key, of_text: |_, text| Ok((text == "warm").then_some(Until::Warm)), looks: "\"warm\"" };

fn of_key(section: &Section) -> Result<Option<Until>, SpecError> {
    if !section.flag("until_warm")?.unwrap_or(false) {
        return Ok(None);
    }
    if section.value("duration").is_none() || section.flag("measure")? == Some(true) {
        let accepted = "only a phase with a duration, and without measure = true, may end when the machine is warm";
        return Err(section.error("until_warm", "true", accepted));
    }
    Ok(Some(Until::Warm))
}
