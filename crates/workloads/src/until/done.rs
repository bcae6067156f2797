//! `until_done = true`, `until = ["scripts done", "1 h"]`: every script that runs once is done.

use hotband_machine::{Section, SpecError};

use super::{Reader, Until};

pub(super) const READER: Reader = Reader {
    of_key,
    of_text: |_, text| Ok((text == "scripts done").then_some(Until::ScriptsDone)),
    looks: "\"scripts done\"",
};

fn of_key(section: &Section) -> Result<Option<Until>, SpecError> {
    if !section.flag("until_done")?.unwrap_or(false) {
        return Ok(None);
    }
    if section.value("duration").is_none() {
        return Err(section.error("until_done", "true", "expected a duration as the latest end of this phase"));
    }
    Ok(Some(Until::ScriptsDone))
}
