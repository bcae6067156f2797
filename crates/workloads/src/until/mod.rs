//! End of a phase: a list of conditions, of which the first to be met does.
//!
//! `until = "10 min"`, `until = ["steady", "1e6 I/Os"]`, or a key of a condition's own (`duration`, `ios`,
//! `until_steady`). A condition is a file here, which reads it, a file in the engine, which looks whether it is met,
//! and a line in the list.

mod count;
mod done;
mod drained;
pub(crate) mod precise;
pub(crate) mod steady;
mod time;
mod warm;

use hotband_machine::{Section, SpecError};
use hotband_units::Span;
use toml::Value;

use self::precise::Precision;
use self::steady::UntilSteady;

/// Condition that ends a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Until {
    /// Virtual time since the phase began.
    Time(Span),
    /// Completed I/Os.
    Ios(u64),
    /// Operations of the app that have ended.
    Operations(u64),
    /// Rounds that are steady.
    Steady(UntilSteady),
    /// Rates and latencies reach a precision.
    Precise(Precision),
    /// The flash caches of all drives are warm.
    Warm,
    /// Every script that runs once is done.
    ScriptsDone,
    /// No I/O is outstanding, and no source issues more.
    Drained,
}

/// Reader of a condition.
struct Reader {
    /// Reader of a separate key.
    of_key: fn(&Section) -> Result<Option<Until>, SpecError>,
    /// A text of `until`; nothing if it is another condition's.
    of_text: fn(&Section, &str) -> Result<Option<Until>, SpecError>,
    /// Accepted form.
    looks: &'static str,
}

/// A condition a line.
const CONDITIONS: [Reader; 8] = [
    steady::READER,
    time::READER,
    count::IOS,
    count::OPERATIONS,
    precise::READER,
    warm::READER,
    done::READER,
    drained::READER,
];

/// Keys of conditions that `until` represents.
const KEYS: [&str; 7] = ["duration", "ios", "operations", "until_steady", "until_precise", "until_warm", "until_done"];

impl Until {
    /// Reads the conditions of a timed phase, none of which may be a second way to say the same.
    pub(crate) fn read(section: &Section) -> Result<Vec<Self>, SpecError> {
        let mut conditions = match section.value("until") {
            Some(value) => {
                expect_no_key(section)?;
                match value {
                    Value::Table(table) => precise::of_table(section, table)?,
                    _ => Self::of_texts(section, &texts(section, value)?)?,
                }
            }
            None => Self::of_keys(section)?,
        };
        if let Some(longest) = conditions.iter().find_map(Self::steady).map(UntilSteady::longest) {
            conditions.push(Self::Time(longest));
        }
        Ok(conditions)
    }

    fn of_keys(section: &Section) -> Result<Vec<Self>, SpecError> {
        let read = CONDITIONS.iter().filter_map(|reader| (reader.of_key)(section).transpose());
        let conditions = read.collect::<Result<Vec<_>, _>>()?;
        let bounds = conditions.iter().filter(|condition| condition.is_bound()).count();
        if bounds == 1 {
            return Ok(conditions);
        }
        let accepted = "expected one of duration = \"60 s\" (above zero), ios = N, operations = N of the [app], \
                        until_steady = true, or until = [...]";
        Err(section.error("duration", "", accepted))
    }

    fn of_texts(section: &Section, texts: &[&str]) -> Result<Vec<Self>, SpecError> {
        steady::keys(section, texts.contains(&steady::TEXT))?;
        let mut conditions: Vec<Self> = Vec::new();
        for text in texts {
            let read = CONDITIONS.iter().find_map(|reader| (reader.of_text)(section, text).transpose());
            let condition = read.ok_or_else(|| {
                let looks = CONDITIONS.map(|reader| reader.looks).join(", ");
                section.error("until", *text, format!("expected one of {looks}, or several in brackets"))
            })??;
            if conditions.iter().any(|other| std::mem::discriminant(other) == std::mem::discriminant(&condition)) {
                return Err(section.error("until", *text, "sets the amount twice: the phase ends with the first"));
            }
            conditions.push(condition);
        }
        if conditions.iter().all(|condition| !condition.is_bound()) {
            let accepted = "may never be met: state the longest time, such as until = [\"warm\", \"1 h\"]";
            return Err(section.error("until", texts.join(", "), accepted));
        }
        Ok(conditions)
    }

    /// Whether it is met at some time, whatever happens.
    fn is_bound(&self) -> bool {
        !matches!(self, Self::Precise(_) | Self::Warm | Self::ScriptsDone)
    }

    pub(crate) fn steady(&self) -> Option<UntilSteady> {
        if let Self::Steady(steady) = self { Some(*steady) } else { None }
    }

    pub(crate) fn precise(&self) -> Option<Precision> {
        if let Self::Precise(precision) = self { Some(*precision) } else { None }
    }

    fn time(&self) -> Option<Span> {
        if let Self::Time(time) = self { Some(*time) } else { None }
    }
}

/// Refuses keys of conditions next to `until`.
fn expect_no_key(section: &Section) -> Result<(), SpecError> {
    let stray = KEYS.into_iter().find(|key| section.value(key).is_some());
    stray.map_or(Ok(()), |key| Err(section.error(key, "", "until sets when the phase ends: remove one of them")))
}

/// `until` of a phase: one text or several.
fn texts<'a>(section: &Section, value: &'a Value) -> Result<Vec<&'a str>, SpecError> {
    let all = match value {
        Value::String(text) => Some(vec![text.as_str()]),
        Value::Array(texts) if !texts.is_empty() => texts.iter().map(Value::as_str).collect(),
        _ => None,
    };
    let accepted = "expected a text or several, such as \"10 min\" or [\"steady\", \"1e6 I/Os\"]";
    all.map(|texts| texts.into_iter().map(str::trim).collect())
        .ok_or_else(|| section.error("until", value.to_string(), accepted))
}

/// The longest time of these conditions; none if they state none.
pub(crate) fn longest(conditions: &[Until]) -> Option<Span> {
    conditions.iter().filter_map(Until::time).min()
}
