//! An open loop: I/Os come at a rate, whether or not earlier ones are done.

use hotband_units::Instant;

use super::arrival::{Arrival, ArrivalClock};
use super::shares::Shares;
use super::source::{Answer, Pace, PhaseStart, Source, SourceIo, Turns};
use crate::stream::Stream;

/// A clock and the streams whose I/Os arrive by it.
pub struct OpenLoop {
    shares: Shares,
    rate: f64,
    arrival: Arrival,
    /// None in a phase in which no stream of its runs.
    clock: Option<ArrivalClock>,
    /// Time up to which due I/Os may be taken.
    woken: Instant,
}

impl OpenLoop {
    /// A loop of `rate` I/Os a second over the streams of `shares`.
    pub fn new(rate: f64, arrival: Arrival, shares: Shares) -> Self {
        Self { shares, rate, arrival, clock: None, woken: Instant::ZERO }
    }
}

impl Source for OpenLoop {
    fn begin_phase(&mut self, start: &PhaseStart) {
        self.shares.begin_phase(start.phase, start.streams);
        if self.shares.is_idle() {
            self.clock = None;
        } else if self.clock.is_none() {
            let random = self.shares.arrivals(start.phase);
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
        let clock = self.clock.as_mut().filter(|clock| clock.next() <= self.woken)?;
        clock.step();
        let stream = self.shares.choose(streams, 0);
        Some(SourceIo { stream: stream as u32, token: 0, request: streams[stream].next(0) })
    }

    #[inline]
    fn completed(&mut self, _: Instant, _: Answer) {}

    fn turns(&self) -> Option<Turns<'_>> {
        Some(Turns { streams: self.shares.all(), pace: Pace::Rate(self.rate), threads: 1 })
    }
}
