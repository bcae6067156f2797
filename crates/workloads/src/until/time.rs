//! `duration = "10 min"`, `until = "10 min"`: virtual time since the phase began.

use hotband_machine::{Section, SpecError};
use hotband_units::Span;

use super::{Reader, Until};

pub(super) const READER: Reader = Reader { of_key, of_text, looks: "\"10 min\"" };

fn of_key(section: &Section) -> Result<Option<Until>, SpecError> {
    let time = section.quantity::<Span>("duration")?;
    if time == Some(Span::ZERO) {
        return Err(section.error("duration", "0 s", "expected one of duration = \"60 s\" (above zero), ios = N"));
    }
    Ok(time.map(Until::Time))
}

fn of_text(section: &Section, text: &str) -> Result<Option<Until>, SpecError> {
    match text.parse::<Span>() {
        Ok(Span::ZERO) => Err(section.error("until", text, "expected a time above zero")),
        time => Ok(time.ok().map(Until::Time)),
    }
}
