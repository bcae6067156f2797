//! An open loop: I/Os come at a rate, whether or not earlier ones are done.

use hotband_units::Instant;

use super::arrival::{Arrival, ArrivalClock};
use super::arriving::{Arriving, NOT_FLUSHED};
use super::shares::Shares;
use super::source::{Answer, Pace, PhaseStart, Source, SourceIo, Turns};
use crate::stream::Stream;

/// A clock and the streams whose I/Os arrive by it.
pub struct OpenLoop {
    arriving: Arriving,
    rate: f64,
    arrival: Arrival,
    /// Clock; none in a phase in which no stream of the source runs.
    clock: Option<ArrivalClock>,
    /// Time up to which due I/Os may be taken.
    woken: Instant,
}

impl OpenLoop {
    /// A loop of `rate` data I/Os a second over the streams of `shares`.
    pub fn new(rate: f64, arrival: Arrival, shares: Shares) -> Self {
        Self { arriving: Arriving::new(shares), rate, arrival, clock: None, woken: Instant::ZERO }
    }

    /// Whether the end of an I/O with this token changes nothing.
    #[inline]
    pub fn ignores(token: u32) -> bool {
        token == NOT_FLUSHED
    }

    /// Whether flushes of outstanding or completed writes are not done.
    pub(crate) fn awaits_flush(&self) -> bool {
        self.arriving.awaits_flush()
    }
}

impl Source for OpenLoop {
    fn begin_phase(&mut self, start: &PhaseStart) {
        self.arriving.begin_phase(start);
        if self.arriving.is_idle() {
            self.clock = None;
        } else if self.clock.is_none() {
            let random = self.arriving.times(start.phase);
            self.clock = Some(ArrivalClock::new(self.rate, self.arrival, random, start.now));
        }
    }

    #[inline]
    fn next_time(&self) -> Option<Instant> {
        self.clock.as_ref().map(ArrivalClock::next)
    }

    #[inline]
    fn wake(&mut self, now: Instant) {
        self.woken = now;
    }

    #[inline]
    fn next_io(&mut self, _: Instant, streams: &mut [Stream]) -> Option<SourceIo> {
        if let Some(flush) = self.arriving.flush() {
            return Some(flush);
        }
        let clock = self.clock.as_mut().filter(|clock| clock.next() <= self.woken)?;
        clock.step();
        Some(self.arriving.next(streams))
    }

    #[inline]
    fn completed(&mut self, _: Instant, answer: Answer) {
        self.arriving.completed(answer.token);
    }

    fn turns(&self) -> Option<Turns<'_>> {
        Some(Turns { streams: self.arriving.streams(), pace: Pace::Rate(self.rate), threads: 1 })
    }
}
