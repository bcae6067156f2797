//! Events in text: `[[events]]` of a workload or a machine, and `at 60 s: fail d3`. Parsed here and nowhere else.

use hotband_units::{Span, UnitError};
use toml::Value;

use crate::event::What;
use crate::spec::error::SpecError;
use crate::spec::reader::Section;

/// An event as requested: the part is a name, and the time counts from the beginning of the measured time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSpec {
    /// Time since the measured time began.
    pub at: Span,
    /// Action of an event.
    pub what: What,
    /// Affected part by name; none for the machine.
    pub part: Option<String>,
    /// The time as it was written.
    pub time: String,
    /// File (or field) and key that request it, for errors.
    pub asked_at: (String, String),
    /// Text that errors quote.
    pub text: String,
}

/// Accepted forms of an event, for errors.
const FORMS: &str = "expected \"at TIME: fail DRIVE\", \"at TIME: power-off\", \"at TIME: osd-out POOL.NUMBER\" or \
                     \"at TIME: set DRIVE.KEY=VALUE\", such as \"at 60 s: fail d3\"";

impl EventSpec {
    /// Reads one line, such as `at 60 s: fail d3`; `field` is where it was requested.
    ///
    /// # Errors
    /// It is none of the forms.
    pub fn parse(field: &str, text: &str) -> Result<Self, SpecError> {
        let wrong = || SpecError::new(field, "", text, FORMS);
        let rest = text.trim().strip_prefix("at").filter(|rest| rest.starts_with(char::is_whitespace));
        let (time, event) = rest.ok_or_else(wrong)?.split_once(':').ok_or_else(wrong)?;
        let (time, event) = (time.trim(), event.trim());
        let (name, part) = event.split_once(char::is_whitespace).unwrap_or((event, ""));
        let (part, what) = match (name, part.trim()) {
            ("fail", part) if is_name(part) => (Some(part), What::Fail),
            ("power-off", "") => (None, What::PowerOff),
            ("osd-out", part) if is_name(part) => (Some(part), What::Out),
            ("set", setting) => {
                let (path, value) = setting.split_once('=').ok_or_else(wrong)?;
                let (part, key) = path.rsplit_once('.').ok_or_else(wrong)?;
                let (part, key, value) = (part.trim(), key.trim(), value.trim());
                if !is_name(part) || key.is_empty() || value.is_empty() {
                    return Err(wrong());
                }
                (Some(part), What::Set { key: key.to_owned(), value: value.to_owned() })
            }
            _ => return Err(wrong()),
        };
        let asked_at = (field.to_owned(), String::new());
        Self::new(time, what, part, asked_at, text)
    }

    /// Reads the short form of a failure, such as `d3@60 s`.
    ///
    /// # Errors
    /// No drive, or no time.
    pub fn failure(field: &str, text: &str) -> Result<Self, SpecError> {
        let accepted = "expected DRIVE@TIME, such as d3@\"60 s\"";
        let (drive, time) = text.rsplit_once('@').ok_or_else(|| SpecError::new(field, "", text, accepted))?;
        Self::new(time.trim(), What::Fail, Some(drive.trim()), (field.to_owned(), String::new()), text)
    }

    /// Reads the short form of a loss of power: its time.
    ///
    /// # Errors
    /// No time.
    pub fn power_off(field: &str, time: &str) -> Result<Self, SpecError> {
        Self::new(time, What::PowerOff, None, (field.to_owned(), String::new()), time)
    }

    fn new(
        time: &str,
        what: What,
        part: Option<&str>,
        asked_at: (String, String),
        text: &str,
    ) -> Result<Self, SpecError> {
        let at = time.parse().map_err(|error: UnitError| {
            SpecError::new(&asked_at.0, &asked_at.1, text, format!("expected {}", error.accepted))
        })?;
        let (time, text) = (time.to_owned(), text.to_owned());
        Ok(Self { at, what, part: part.map(str::to_owned), time, asked_at, text })
    }

    /// Reads `[[events]]`, if there are any.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read_all(top: &Section) -> Result<Vec<Self>, SpecError> {
        let mut events = Vec::new();
        for section in top.list("events")? {
            read(section, &mut events)?;
        }
        Ok(events)
    }

    /// Return the error of the event.
    pub fn error(&self, accepted: impl Into<String>) -> SpecError {
        SpecError::new(&self.asked_at.0, &self.asked_at.1, &self.text, accepted)
    }
}

/// Whether a text may name a part.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

/// Reads one table of `[[events]]`; `set` with several keys is one event each.
fn read(section: Section, events: &mut Vec<EventSpec>) -> Result<(), SpecError> {
    let at: Span = section.required("at", "a time since the measured time began, such as \"60 s\"")?;
    let time = section.text("at")?.map_or_else(|| at.to_string(), str::to_owned);
    let (fail, out) = (section.text("fail")?, section.text("osd-out")?);
    let power_off = section.flag("power-off")?;
    let (set, part) = (section.section("set")?, section.text("part")?);
    let given = [fail.is_some(), out.is_some(), power_off.is_some(), set.is_some()];
    if given.iter().filter(|is_given| **is_given).count() != 1 {
        let accepted = "expected one of fail = \"DRIVE\", power-off = true, osd-out = \"POOL.NUMBER\" and \
                        set = { KEY = \"VALUE\" } with part = \"DRIVE\"";
        return Err(section.error("", "", accepted));
    }
    if set.is_none() && part.is_some() {
        return Err(section.error("part", part.unwrap_or_default(), "only set needs a part: leave it out"));
    }
    let mut add = |key: &str, what: What, part: Option<&str>, text: &str| {
        let asked_at = (section.file().to_owned(), section.key(key));
        let (time, text) = (time.clone(), text.to_owned());
        events.push(EventSpec { at, what, part: part.map(str::to_owned), time, asked_at, text });
    };
    if let Some(drive) = fail {
        add("fail", What::Fail, Some(drive), drive);
    } else if let Some(daemon) = out {
        add("osd-out", What::Out, Some(daemon), daemon);
    } else if power_off == Some(false) {
        return Err(section.error("power-off", "false", "expected true: power does not come back in a run"));
    } else if power_off == Some(true) {
        add("power-off", What::PowerOff, None, &at.to_string());
    } else if let Some(set) = set {
        let part = part.ok_or_else(|| section.error("part", "", "missing: expected the name of a drive"))?;
        if set.table().is_empty() {
            return Err(section.error("set", "{}", "expected a value, such as { wce = \"off\" }"));
        }
        for (key, value) in set.table() {
            let value = value.as_str().map_or_else(|| Value::to_string(value), str::to_owned);
            add(&format!("set.{key}"), What::Set { key: key.clone(), value: value.clone() }, Some(part), &value);
        }
    }
    section.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_and_what_is_none_is_refused() {
        let read = |text: &str| EventSpec::parse("events", text).map(|event| (event.at, event.part, event.what));
        let at = Span(60_000_000_000);
        let set = What::Set { key: "wce".to_owned(), value: "off".to_owned() };
        for (text, part, what) in [
            ("at 60 s: fail d3", Some("d3"), What::Fail),
            ("  at 1 min :  fail  d3 ", Some("d3"), What::Fail),
            ("at 60 s: power-off", None, What::PowerOff),
            ("at 60 s: osd-out pool.3", Some("pool.3"), What::Out),
            ("at 60 s: set d3.lun0.wce = off", Some("d3.lun0"), set),
        ] {
            assert_eq!(read(text), Ok((at, part.map(str::to_owned), what)), "{text}");
        }
        for text in [
            "60 s: fail d3",
            "at60 s: fail d3",
            "at 60 s fail d3",
            "at 60 s: fail",
            "at 60 s: fail d3 d4",
            "at 60 s: power-off d3",
            "at 60 s: osd-out",
            "at 60 s: set d3.wce",
            "at 60 s: set wce=off",
            "at 60 s: set d3.=off",
            "at 60 s: set d3.wce=",
            "at 60 s: set d3 d4.wce=off",
            "at 60 s: burn d3",
            "at 60: fail d3",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_short_forms_are_read() {
        let failure = EventSpec::failure("fail", "d3 @ 60 s").unwrap();
        assert_eq!(
            (failure.at, failure.part.as_deref(), &failure.what),
            (Span(60_000_000_000), Some("d3"), &What::Fail)
        );
        assert!(EventSpec::failure("fail", "d3").is_err() && EventSpec::failure("fail", "d3@60").is_err());
        let off = EventSpec::power_off("power", "2 s").unwrap();
        assert_eq!((off.at, off.part, off.what), (Span(2_000_000_000), None, What::PowerOff));
    }
}
