//! Phases that end when their rounds are steady.

use hotband_machine::{Section, SpecError};
use hotband_units::Span;

use crate::spec::{Phase, Workload};
use crate::steady::MOST_ROUNDS;

/// What is followed from round to round.
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
    /// What is followed.
    pub track: Track,
}

/// A minute, as the PTS has it.
const ROUND: Span = Span(60_000_000_000);
/// Shortest round: that of an interval.
const SHORTEST: Span = Span(1_000_000);
/// Longest round, so that sums of times stay far from what they can hold.
const LONGEST: Span = Span(365 * 86_400 * 1_000_000_000);

impl UntilSteady {
    /// How long the phase lasts if it never is steady.
    pub fn longest(self) -> Span {
        Span(self.round.0 * MOST_ROUNDS as u64)
    }

    /// Reads `until_steady`, `round` and `track` of a phase.
    pub(crate) fn read(section: &Section) -> Result<Option<Self>, SpecError> {
        let on = section.flag("until_steady")?.unwrap_or(false);
        let (round, track) = (section.quantity::<Span>("round")?, section.choice("track", &Track::NAMES)?);
        if !on {
            let stray = [("round", round.is_some()), ("track", track.is_some())].into_iter().find(|(_, is)| *is);
            let accepted = "only a phase with until_steady = true has rounds";
            return stray.map_or(Ok(None), |(key, _)| Err(section.error(key, "", accepted)));
        }
        if let Some(key) = ["duration", "ios", "until_warm"].into_iter().find(|key| section.value(key).is_some()) {
            let accepted =
                format!("a phase with until_steady = true ends by itself, after {MOST_ROUNDS} rounds at the latest");
            return Err(section.error(key, "", accepted));
        }
        let round = round.unwrap_or(ROUND);
        if !(SHORTEST..=LONGEST).contains(&round) {
            return Err(section.error("round", round.to_string(), "expected a time from 1 ms to 365 days"));
        }
        Ok(Some(Self { round, track: track.unwrap_or(Track::Iops) }))
    }
}

impl Workload {
    /// `--duration` would contradict measured phases that end by themselves.
    pub(crate) fn check_set_duration(&self, duration: Span) -> Result<(), SpecError> {
        let own = |phase: &Phase| phase.measure && phase.until_steady.is_some();
        match self.phases.iter().find(|phase| own(phase)) {
            None => Ok(()),
            Some(phase) => {
                let accepted =
                    format!("phase \"{}\" ends when it is steady: change its round in the workload", phase.name);
                Err(SpecError::new("--duration", "", duration.to_string(), accepted))
            }
        }
    }
}
