//! `[trace]` of a workload: which file, and when its I/Os are requested.

use std::ops::RangeInclusive;

use hotband_machine::{Section, SpecError};
use toml::{Table, Value};

use super::select::Selection;
use crate::most::MOST_OUTSTANDING;
use crate::phase::{Phase, PhaseScripts};
use crate::until::Until;

/// Time when the I/Os of a trace are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issue {
    /// At the recorded times, whatever the machine does: an open loop.
    Recorded,
    /// Each when the last I/O that was completed before it in the recording is completed, and its think time has
    /// passed: the closed loop of a program.
    AfterCompletion,
    /// Issue an I/O as soon as fewer than a number are outstanding.
    AsFastAsPossible {
        /// I/Os outstanding.
        depth: u32,
    },
}

/// Treatment of an I/O that ends beyond its volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The trace is refused.
    Refuse,
    /// The address wraps to the beginning of the volume.
    Wrap,
    /// All addresses on that volume are scaled so that the last fits.
    Scale,
}

impl Beyond {
    /// Its name in text.
    pub fn name(self) -> &'static str {
        let named = BEYOND.iter().find(|(_, kind)| *kind == self);
        named.map_or("", |(name, _)| name)
    }
}

/// `[trace]`.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSpec {
    /// Key in the workload, for errors.
    pub key: String,
    /// The file, as the text names it.
    pub file: String,
    /// Time when its I/Os are requested.
    pub issue: Issue,
    /// Recorded times are divided by it.
    pub speed: f64,
    /// Volume of all its I/Os; default: that of the trace, or the only one.
    pub volume: Option<String>,
    /// Devices of the trace, and the volume of each.
    pub map: Vec<(String, String)>,
    /// Treatment of addresses beyond their volume.
    pub beyond: Beyond,
    /// Format of the file, and selection of its I/Os.
    pub selection: Selection,
    /// No phases were stated: all of it is replayed, and the unmeasured part of the recording is a separate phase.
    pub is_whole: bool,
}

/// Names of `issue`; a depth belongs to the last.
const RECORDED: &str = "recorded";
const AFTER_COMPLETION: &str = "after-completion";
const FAST: &str = "as-fast-as-possible";
const KINDS: [&str; 3] = [RECORDED, AFTER_COMPLETION, FAST];
const BEYOND: [(&str, Beyond); 3] = [("refuse", Beyond::Refuse), ("wrap", Beyond::Wrap), ("scale", Beyond::Scale)];
/// A trace a thousand times as long, or over in a millionth of its time: more is a slip of the pen.
const SPEEDS: RangeInclusive<f64> = 1e-3..=1e6;

impl Issue {
    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recorded => RECORDED,
            Self::AfterCompletion => AFTER_COMPLETION,
            Self::AsFastAsPossible { .. } => FAST,
        }
    }

    /// The kind of this name, with `depth` if it has one.
    fn of_name(name: &str, depth: u32) -> Option<Self> {
        match name {
            RECORDED => Some(Self::Recorded),
            AFTER_COMPLETION => Some(Self::AfterCompletion),
            FAST => Some(Self::AsFastAsPossible { depth }),
            _ => None,
        }
    }
}

impl TraceSpec {
    /// Reads `[trace]`, or each `[[trace]]`; `is_whole` where the workload has no phases.
    pub(crate) fn read_all(top: &Section, is_whole: bool) -> Result<Vec<Self>, SpecError> {
        let sections = match top.table().get("trace") {
            Some(toml::Value::Array(_)) => top.list("trace")?,
            _ => top.section("trace")?.into_iter().collect(),
        };
        sections.into_iter().map(|section| Self::read(section, is_whole)).collect()
    }

    fn read(section: Section, is_whole: bool) -> Result<Self, SpecError> {
        let file = section.text("file")?.filter(|file| !file.trim().is_empty());
        let file = file.ok_or_else(|| section.error("file", "", "missing: the file of the trace"))?;
        let name = section.text("issue")?.unwrap_or(RECORDED);
        let depth = section.count("depth", 1..=u64::from(MOST_OUTSTANDING))?;
        let unknown = || SpecError::unknown(section.file(), &section.key("issue"), name, &KINDS);
        let issue = Issue::of_name(name, depth.unwrap_or(1) as u32).ok_or_else(unknown)?;
        if let (Some(depth), false) = (depth, matches!(issue, Issue::AsFastAsPossible { .. })) {
            return Err(section.error("depth", depth.to_string(), format!("is for issue = \"{FAST}\"")));
        }
        let speed = section.number("speed", SPEEDS)?;
        if let (Some(speed), true) = (speed, matches!(issue, Issue::AsFastAsPossible { .. })) {
            let accepted = format!("issue = \"{FAST}\" ignores recorded times: leave it out");
            return Err(section.error("speed", speed.to_string(), accepted));
        }
        let volume = section.text("volume")?.map(str::to_owned);
        let map = map(&section)?;
        if let (Some(volume), false) = (&volume, map.is_empty()) {
            return Err(section.error("volume", volume, "sends all I/Os to one volume: remove it or map"));
        }
        let beyond = section.choice("beyond", &BEYOND)?.unwrap_or(Beyond::Refuse);
        let selection = Selection::read(&section)?;
        let (file, key) = (file.to_owned(), section.key(""));
        section.finish()?;
        Ok(Self { key, file, issue, speed: speed.unwrap_or(1.0), volume, map, beyond, selection, is_whole })
    }

    /// The phase of a workload that says none: all of the trace.
    pub(crate) fn whole() -> Phase {
        Self::phase("replay", true, Until::Drained)
    }

    /// The phase before it: the I/Os at the beginning that were not measured in the recording.
    pub fn unmeasured(ios: u64) -> Phase {
        Self::phase("not measured", false, Until::Ios(ios))
    }

    fn phase(name: &str, measure: bool, until: Until) -> Phase {
        let (name, until, scripts) = (name.to_owned(), vec![until], PhaseScripts::default());
        Phase { name, until, untimed: None, measure, drain: false, streams: None, threads: None, scripts }
    }

    /// Changes one thing in its text: `issue`, `depth`, `speed`, `beyond` or `volume`.
    ///
    /// # Errors
    /// A value that the key does not take, named at `--set`.
    pub(crate) fn patch(&self, text: &mut Table, key: &str, value: &str) -> Result<(), SpecError> {
        let wrong = |accepted: String| SpecError::new("set", key, value, format!("expected {accepted}"));
        let changed = match key {
            "issue" => {
                let unknown = || SpecError::unknown("set", key, value, &KINDS);
                let issue = Issue::of_name(value.trim(), 1).ok_or_else(unknown)?;
                // A depth is of one kind of issue, a speed of the others.
                text.remove(if matches!(issue, Issue::AsFastAsPossible { .. }) { "speed" } else { "depth" });
                Value::from(issue.name())
            }
            "depth" => {
                let count = value.trim().parse::<u32>().ok().filter(|count| (1..=MOST_OUTSTANDING).contains(count));
                let count = count.ok_or_else(|| wrong(format!("a whole number from 1 to {MOST_OUTSTANDING}")))?;
                if !matches!(self.issue, Issue::AsFastAsPossible { .. }) {
                    return Err(wrong(format!("a trace with issue={FAST}")));
                }
                Value::from(count)
            }
            "beyond" => {
                let names = BEYOND.map(|(name, _)| name);
                let known_name = names.into_iter().find(|name| *name == value.trim());
                Value::from(known_name.ok_or_else(|| SpecError::unknown("set", key, value, &names))?)
            }
            "volume" => {
                text.remove("map");
                Value::from(value.trim())
            }
            _ => {
                let speed = value.trim().parse::<f64>().ok().filter(|speed| SPEEDS.contains(speed));
                let (least, most) = SPEEDS.into_inner();
                Value::from(speed.ok_or_else(|| wrong(format!("a number from {least} to {most}")))?)
            }
        };
        text.insert(key.to_owned(), changed);
        Ok(())
    }
}

/// Devices of the trace, and the volume of each.
fn map(section: &Section) -> Result<Vec<(String, String)>, SpecError> {
    let Some(map) = section.section("map")? else { return Ok(Vec::new()) };
    let pair = |(device, volume): (&String, &toml::Value)| {
        let volume = volume.as_str().map(str::to_owned);
        let volume = volume.ok_or_else(|| map.error(device, "", "expected the name of a volume"))?;
        Ok((device.clone(), volume))
    };
    map.table().iter().map(pair).collect()
}
