//! The loop that drives a machine with sources in virtual time. It knows neither sources nor observers by name.

pub(crate) mod contents;
pub(crate) mod contents_cache;
mod enlarged;
pub(crate) mod in_flight;
pub mod phases;
mod sharing;
mod until;
mod untimed;

use hotband_machine::{Completion, Io, Machine};
use hotband_units::{Instant, Span};
use hotband_workloads::{Answer, OpenLoop, SourceIo, Stream};

use crate::control::RunError;
use crate::drive::in_flight::{InFlight, Outstanding};
use crate::events::Happening;
use crate::probes::{Answered, Findings, Probes, RunEnd, Watched};
use crate::sources::agenda::{AnySource, Sources};

/// Everything that runs.
pub struct Driver<'a> {
    pub machine: &'a mut Machine,
    pub streams: Vec<Stream>,
    /// Volume of each stream, those of an app last.
    pub targets: Vec<u16>,
    /// Sources of I/Os.
    pub sources: Sources,
    /// Probes.
    pub probes: Probes,
    pub now: Instant,
    in_flight: InFlight,
    completions: Vec<Completion>,
    /// I/Os completed in all.
    pub ios: u64,
    /// When power is cut, if it is.
    pub power: PowerSwitch,
    /// Events of parts of the machine, with their times since the measured time began.
    pub events: Vec<Happening>,
}

/// Time when power is cut.
#[derive(Clone, Copy)]
pub struct PowerSwitch {
    /// Time since the measured time began.
    after: Option<Span>,
    /// Time of the cut; `NEVER` until the measured time begins.
    cut: Instant,
}

impl PowerSwitch {
    /// Time of the power cut after the measured time begins; default: never.
    pub fn new(after: Option<Span>) -> Self {
        Self { after, cut: Instant::NEVER }
    }

    /// The measured time continues, or begins.
    fn measure(&mut self, now: Instant) {
        if let Some(after) = self.after.take() {
            self.cut = now + after;
        }
    }
}

/// A run that is over.
pub struct Ended {
    pub watched: Watched,
    /// Findings of the sources.
    pub sources: Findings,
    /// When everything was completed, if that was requested.
    pub now: Instant,
}

/// Lets all outstanding I/Os complete; no more are issued, and none of these is recorded. Returns when the last ended.
fn answer_all(machine: &mut Machine, mut in_flight: InFlight, mut now: Instant) -> Instant {
    let mut completions: Vec<Completion> = Vec::new();
    while !in_flight.is_empty() {
        let Some(next) = machine.wake() else { break };
        now = now.max(next);
        machine.advance(now, &mut completions);
        for done in completions.drain(..) {
            in_flight.take(done.tag);
        }
    }
    now
}

impl<'a> Driver<'a> {
    pub fn new(
        machine: &'a mut Machine,
        streams: Vec<Stream>,
        targets: Vec<u16>,
        sources: Sources,
        probes: Probes,
    ) -> Self {
        Self {
            machine,
            streams,
            targets,
            sources,
            probes,
            now: Instant::ZERO,
            in_flight: InFlight::default(),
            completions: Vec::new(),
            ios: 0,
            power: PowerSwitch::new(None),
            events: Vec::new(),
        }
    }

    /// Whether power was cut.
    pub fn is_cut(&self) -> bool {
        self.now >= self.power.cut
    }

    /// The run is over, after a measured time of `duration`: what probes and sources leave. With `drain` everything
    /// outstanding is completed then.
    ///
    /// # Errors
    /// What went wrong with a probe.
    pub fn finish(self, duration: Span, streams: &[String], drain: bool) -> Result<Ended, RunError> {
        let Self { machine, probes, sources, now, in_flight, .. } = self;
        let watched = probes.finish(&mut RunEnd { machine, now, duration, streams, served: 0 })?;
        let sources = sources.finish(duration);
        let now = if drain { answer_all(machine, in_flight, now) } else { now };
        Ok(Ended { watched, sources, now })
    }

    /// Time when anything next happens.
    #[inline]
    fn next_time(&mut self) -> Option<Instant> {
        match (self.machine.wake(), self.sources.next_time()) {
            (Some(machine), Some(source)) => Some(machine.min(source)),
            (machine, source) => machine.or(source),
        }
    }

    /// Does everything that is due at `now`.
    #[inline]
    fn step(&mut self, now: Instant) {
        self.machine.advance(now, &mut self.completions);
        self.probes.advanced(now, self.machine);
        // By index: nothing is added meanwhile, and taking the vector out and back costs more than a copy of each.
        for index in 0..self.completions.len() {
            let done = self.completions[index];
            self.complete(&done);
        }
        self.completions.clear();
        while let Some(source) = self.sources.due(now) {
            self.sources.wake(source, now);
            self.take_ios(source);
        }
    }

    /// An I/O is done: the requester may continue.
    #[inline]
    fn complete(&mut self, done: &Completion) {
        let io = self.in_flight.take(done.tag);
        self.probes.completed(&Answered { stream: io.stream, op: io.op, offset: io.offset, len: io.len, done });
        self.ios += 1;
        match self.sources.get_mut(io.source) {
            AnySource::Closed(closed) => {
                let thinks = closed.thinks();
                if let Some(next) = closed.go_on(self.now, io.token, &mut self.streams) {
                    self.send(io.source, &next);
                } else if thinks {
                    self.sources.plan(io.source);
                }
            }
            AnySource::Open(_) if OpenLoop::ignores(io.token) => {}
            _ => self.other_completed(&io, done),
        }
    }

    /// Kept out of line, as is all that the two loops do not need.
    #[inline(never)]
    fn other_completed(&mut self, io: &Outstanding, done: &Completion) {
        let failed = done.fault.is_some();
        self.sources.completed(io.source, self.now, Answer { token: io.token, op: io.op, len: io.len, failed });
        self.take_ios(io.source);
    }

    /// Submits the I/Os that `source` requests now.
    fn take_ios(&mut self, source: u32) {
        while let Some(io) = self.sources.next_io(source, self.now, &mut self.streams) {
            self.send(source, &io);
        }
        self.sources.plan(source);
    }

    /// Hands an I/O to the machine.
    #[expect(clippy::inline_always, reason = "it is called once per I/O, from few places")]
    #[inline(always)]
    fn send(&mut self, source: u32, source_io: &SourceIo) {
        let SourceIo { stream, token, request } = *source_io;
        let (op, offset, len, fua, entropy) = (request.op, request.offset, request.len, request.fua, request.entropy);
        let tag = self.in_flight.add(Outstanding { stream: stream as u16, op, offset, len, source, token });
        let target = self.targets[stream as usize];
        let io = Io { tag, op, volume: target, offset, len, fua, version: 0, entropy };
        self.probes.submitted(self.now, stream as u16, op);
        if self.probes.want_ios() {
            return self.send_watched(stream as u16, io);
        }
        self.machine.submit(self.now, io);
    }

    /// If more than streams are watched, out of line: an I/O that its watchers may change has to lie in memory, and
    /// the next to read it would wait for that.
    #[inline(never)]
    fn send_watched(&mut self, stream: u16, mut io: Io) {
        self.probes.tell_submitted(self.machine, stream, &mut io);
        self.machine.submit(self.now, io);
    }
}
