//! Loads, which decide when the next I/O is issued: closed loop (a fixed number outstanding), open loop (a rate), or
//! another kind of load. Always explicit.

use hotband_machine::{Section, SpecError};
use hotband_units::Span;

use crate::load_kind::OtherLoad;
use crate::most::MOST_OUTSTANDING;
use crate::sources::arrival::Arrival;
use crate::sources::arrivals;
use crate::sources::bounded::BoundedLoop;
use crate::sources::bursts;
use crate::sources::clients;
use crate::sources::closed::ClosedLoop;
use crate::sources::open::OpenLoop;
use crate::sources::shares::Shares;
use crate::sources::source::Source;

/// Rule for the time of the next I/O.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// `threads` x `depth` I/Os outstanding; each waits `think` after a completion before it asks again.
    Closed {
        /// Threads.
        threads: u32,
        /// I/Os that each thread has outstanding.
        depth: u32,
        /// Pause between a completion and the next I/O of that slot.
        think: Span,
    },
    /// I/Os come whether or not earlier ones are done.
    Open {
        /// I/Os a second.
        rate: f64,
        /// Spacing.
        arrival: Arrival,
        /// I/Os outstanding at which the next one waits; unlimited by default.
        outstanding: Option<u32>,
        /// A pause until the next I/O is due begins when nothing is outstanding.
        drain: bool,
    },
    /// A kind with its own file.
    Other(OtherLoad),
}

/// The two fast kinds are known to the driver: nothing is paid for another kind per I/O.
pub enum LoadSource {
    /// A closed loop.
    Closed(ClosedLoop),
    /// An open loop.
    Open(OpenLoop),
    /// Any other.
    Other(Box<dyn Source>),
}

/// Rates of arrivals, per second.
pub(crate) const RATES: std::ops::RangeInclusive<f64> = 0.001..=1e9;

/// A kind: the key in `[load]`, its form, and its reader.
pub(crate) type Kind = (&'static str, &'static str, fn(Section) -> Result<Load, SpecError>);
/// A kind a line.
const KINDS: [Kind; 5] = [
    ("closed", "{ threads, depth, think }", read_closed),
    ("open", "{ rate_iops, arrival, outstanding, drain }", read_open),
    ("arrivals", arrivals::LOOKS, read_arrivals),
    bursts::KIND,
    clients::KIND,
];

impl Load {
    /// I/Os outstanding, of a closed loop without pauses.
    pub(crate) fn outstanding(&self) -> Option<u64> {
        match self {
            Self::Closed { threads, depth, think: Span(0) } => Some(u64::from(*threads) * u64::from(*depth)),
            _ => None,
        }
    }

    /// Reads `[load]`, or the load of a stream.
    pub(crate) fn read(section: &Section) -> Result<Self, SpecError> {
        let mut loads = Vec::new();
        for (key, _, read) in KINDS {
            loads.extend(section.section(key)?.map(|inner| (read, inner)));
        }
        if let (Some((read, inner)), true) = (loads.pop(), loads.is_empty()) {
            return read(inner);
        }
        let kinds = KINDS.map(|(key, looks, _)| format!("{key} = {looks}"));
        Err(section.error("", "", format!("expected either {}", kinds.join(" or "))))
    }

    /// Whether its streams define the I/Os.
    pub(crate) fn has_pattern(&self) -> bool {
        if let Self::Other(kind) = self { kind.0.has_pattern() } else { true }
    }

    /// Threads of a closed loop; another load is one thread.
    pub fn threads(&self) -> usize {
        if let Self::Closed { threads, .. } = self { *threads as usize } else { 1 }
    }

    /// Who asks. `has_steps` of the loop of `[load]`, whose threads phases may change.
    pub fn source(&self, shares: Shares, has_steps: bool) -> LoadSource {
        match self {
            Self::Closed { threads, depth, think } => {
                LoadSource::Closed(ClosedLoop::new((*threads, *depth), *think, shares, has_steps))
            }
            Self::Open { rate, arrival, outstanding, drain } => {
                let arrivals = OpenLoop::new(*rate, *arrival, shares);
                match outstanding {
                    Some(most) => LoadSource::Other(Box::new(BoundedLoop::new(arrivals, *most, *drain))),
                    None => LoadSource::Open(arrivals),
                }
            }
            Self::Other(kind) => LoadSource::Other(kind.0.source(shares)),
        }
    }
}

fn read_closed(closed: Section) -> Result<Load, SpecError> {
    let most = u64::from(MOST_OUTSTANDING);
    let threads = closed.count("threads", 1..=most)?.ok_or_else(|| closed.error("threads", "", "missing"))?;
    let depth = closed.count("depth", 1..=most)?.unwrap_or(1);
    if threads * depth > most {
        return Err(closed.error("depth", depth.to_string(), format!("threads x depth may be at most {most}")));
    }
    let think = closed.quantity("think")?.unwrap_or_default();
    closed.finish()?;
    Ok(Load::Closed { threads: threads as u32, depth: depth as u32, think })
}

/// Reads how arrivals of a rate are spaced.
pub(crate) fn read_arrival(section: &Section) -> Result<Arrival, SpecError> {
    let kinds = [("fixed", Arrival::Fixed), ("poisson", Arrival::Poisson)];
    section.choice("arrival", &kinds)?.ok_or_else(|| section.error("arrival", "", "missing: fixed or poisson"))
}

fn read_open(open: Section) -> Result<Load, SpecError> {
    let rate = open.number("rate_iops", RATES)?.ok_or_else(|| open.error("rate_iops", "", "missing"))?;
    let arrival = read_arrival(&open)?;
    let outstanding = open.count("outstanding", 1..=u64::from(MOST_OUTSTANDING))?.map(|most| most as u32);
    let drain = open.flag("drain")?.unwrap_or(false);
    if drain && outstanding.is_none() {
        return Err(open.error("drain", "true", "applies only to a loop with a bound: expected outstanding, too"));
    }
    open.finish()?;
    Ok(Load::Open { rate, arrival, outstanding, drain })
}

fn read_arrivals(arrivals: Section) -> Result<Load, SpecError> {
    Ok(Load::Other(arrivals::read(arrivals)?))
}
