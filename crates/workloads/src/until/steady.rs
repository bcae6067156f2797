//! `until_steady = true`, `until = "steady"`: rounds that are steady.

use hotband_machine::{Section, SpecError};
use hotband_units::Span;

use super::{Reader, Until};
use crate::steady_state::MOST_ROUNDS;

/// Text in `until`.
pub(super) const TEXT: &str = "steady";

pub(super) const READER: Reader = Reader {
    of_key: |section| {
        let is_steady = section.flag("until_steady")?.unwrap_or(false);
        Ok(keys(section, is_steady)?.map(Until::Steady))
    },
    of_text: |section, text| if text == TEXT { Ok(keys(section, true)?.map(Until::Steady)) } else { Ok(None) },
    looks: "\"steady\"",
};

/// Metric followed from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Track {
    /// Reads and writes a second.
    Iops,
    /// Mean latency of reads and writes.
    Latency,
    /// Bytes a second.
    Bandwidth,
}

impl Track {
    /// Names in workloads and records, and on the command line.
    pub const NAMES: [(&'static str, Self); 3] =
        [("iops", Self::Iops), ("latency", Self::Latency), ("bandwidth", Self::Bandwidth)];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Latency => "latency",
            Self::Bandwidth => "bandwidth",
        }
    }

    /// Unit of its values in records.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Latency => "ns",
            Self::Bandwidth => "B/s",
        }
    }
}

/// A phase ends with its first steady window, or after [`MOST_ROUNDS`] rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntilSteady {
    /// Length of a round.
    pub round: Span,
    /// Metric followed.
    pub track: Track,
}

/// A minute, as in the PTS.
const ROUND: Span = Span(60_000_000_000);
/// Shortest round: that of an interval.
const SHORTEST: Span = Span(1_000_000);
/// Longest round, so that sums of times cannot overflow.
const LONGEST: Span = Span(365 * 86_400 * 1_000_000_000);

impl UntilSteady {
    /// Return the longest duration of the phase.
    pub fn longest(self) -> Span {
        Span(self.round.0 * MOST_ROUNDS as u64)
    }
}

/// Reads `round` and `track` of a phase, which only one that ends when steady has.
pub(super) fn keys(section: &Section, is_steady: bool) -> Result<Option<UntilSteady>, SpecError> {
    let (round, track) = (section.quantity::<Span>("round")?, section.choice("track", &Track::NAMES)?);
    if !is_steady {
        let stray = [("round", round.is_some()), ("track", track.is_some())].into_iter().find(|(_, is)| *is);
        let accepted = "only a phase with until_steady = true, or until = \"steady\", has rounds";
        return stray.map_or(Ok(None), |(key, _)| Err(section.error(key, "", accepted)));
    }
    if let Some(key) =
        ["duration", "ios", "until_precise", "until_warm"].into_iter().find(|key| section.value(key).is_some())
    {
        let accepted =
            format!("a phase with until_steady = true ends by itself, after {MOST_ROUNDS} rounds at the latest");
        return Err(section.error(key, "", accepted));
    }
    let round = round.unwrap_or(ROUND);
    if !(SHORTEST..=LONGEST).contains(&round) {
        return Err(section.error("round", round.to_string(), "expected a time from 1 ms to 365 days"));
    }
    Ok(Some(UntilSteady { round, track: track.unwrap_or(Track::Iops) }))
}
