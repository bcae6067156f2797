//! Bursts: I/Os issued together, at an interval, whether or not earlier ones are done;
//! `bursts = { ios = 32, every = "100 ms" }`.
//!
//! The first burst of a phase comes one period after the phase begins. Leaves out: jitter, and the time that a host
//! needs to issue the I/Os of one burst: they all come at the same nanosecond.

use std::sync::Arc;

use hotband_machine::{Section, SpecError};
use hotband_units::{Instant, Span};

use super::arriving::Arriving;
use super::shares::Shares;
use super::source::{Answer, Pace, PhaseStart, Source, SourceIo, Turns};
use crate::load::{Kind, Load};
use crate::load_kind::{LoadKind, OtherLoad};
use crate::stream::Stream;

/// Key and reader of this kind.
pub(crate) const KIND: Kind = ("bursts", "{ ios, every }", read);

/// Most I/Os of a burst, as of a closed loop.
const MOST_IOS: u64 = 65_536;
/// Shortest time between two bursts: a microsecond, so that a typing error does not make a million bursts a second.
const SHORTEST: Span = Span(1_000);

/// Number of I/Os per burst, and the time between bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rhythm {
    ios: u32,
    every: Span,
}

fn read(section: Section) -> Result<Load, SpecError> {
    let ios =
        section.count("ios", 1..=MOST_IOS)?.ok_or_else(|| section.error("ios", "", "missing: I/Os of a burst"))?;
    let every = section.required::<Span>("every", "the time between two bursts, such as \"100 ms\"")?;
    if every < SHORTEST {
        return Err(section.error("every", every.to_string(), "expected at least 1 us between two bursts"));
    }
    section.finish()?;
    Ok(Load::Other(OtherLoad(Arc::new(Rhythm { ios: ios as u32, every }))))
}

impl LoadKind for Rhythm {
    fn source(&self, shares: Shares) -> Box<dyn Source> {
        Box::new(Bursts { rhythm: *self, arriving: Arriving::new(shares), next: None, owed: 0 })
    }
}

/// The source.
struct Bursts {
    rhythm: Rhythm,
    arriving: Arriving,
    /// Time when the next burst comes; none in a phase in which no stream of its runs.
    next: Option<Instant>,
    /// I/Os of the current burst that were not taken yet.
    owed: u32,
}

impl Source for Bursts {
    fn begin_phase(&mut self, start: &PhaseStart) {
        self.arriving.begin_phase(start);
        let first = self.next.or(Some(start.now + self.rhythm.every));
        self.next = first.filter(|_| !self.arriving.is_idle());
    }

    fn next_time(&self) -> Option<Instant> {
        self.next
    }

    fn wake(&mut self, now: Instant) {
        self.owed = self.rhythm.ios;
        self.next = Some(now + self.rhythm.every);
    }

    fn next_io(&mut self, _: Instant, streams: &mut [Stream]) -> Option<SourceIo> {
        if let Some(flush) = self.arriving.flush() {
            return Some(flush);
        }
        self.owed = self.owed.checked_sub(1)?;
        Some(self.arriving.next(streams))
    }

    fn completed(&mut self, _: Instant, answer: Answer) {
        self.arriving.completed(answer.token);
    }

    fn turns(&self) -> Option<Turns<'_>> {
        let rate = f64::from(self.rhythm.ios) / self.rhythm.every.as_secs_f64();
        Some(Turns { streams: self.arriving.streams(), pace: Pace::Rate(rate), threads: 1 })
    }
}
