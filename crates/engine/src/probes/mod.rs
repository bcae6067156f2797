//! What watches a run. The loop tells [`Probes`] what happens and knows no probe by name.
//!
//! Counting what streams do is the one probe that every I/O pays for. Whatever else wants every I/O stands behind one
//! test, which plain runs fail.

pub mod caches;
pub mod direction;
pub mod io_log;
pub mod operations;
pub mod power;
pub mod power_loss;
pub mod repair;
pub mod scripts;
pub mod smart;
pub mod steady;
pub mod steps;
pub mod streams;

use hotband_machine::{Completion, Io, Machine, Op, PartReport};
use hotband_units::{Instant, Span};
use hotband_workloads::{Phase, Workload};

use crate::control::RunError;
use crate::probes::io_log::IoLog;
use crate::probes::power_loss::Ledger;
use crate::probes::repair::ServiceWatch;
use crate::probes::steady::{SteadyRecord, SteadyWatch, Tally, fills};
use crate::probes::steps::StepEnd;
use crate::probes::streams::Recorder;

/// An I/O that was answered.
pub struct Answered<'a> {
    pub stream: u16,
    pub op: Op,
    pub offset: u64,
    pub len: u32,
    /// When, and how.
    pub done: &'a Completion,
}

impl Answered<'_> {
    /// Whether it is a read or a write that did not fail.
    fn is_served(&self) -> bool {
        self.done.fault.is_none() && matches!(self.op, Op::Read | Op::Write)
    }
}

/// Everything that watches a run.
pub struct Probes {
    /// Counters, latencies and series of the streams.
    pub streams: Recorder,
    /// Whether anything but `streams` looks at every I/O.
    every_io: bool,
    log: Option<IoLog>,
    /// What was lost when power was cut.
    pub ledger: Option<Ledger>,
    /// What hosts get, where drives are to fail.
    pub service: Option<Box<ServiceWatch>>,
    tally: Tally,
    steady: Option<SteadyWatch>,
    /// What was found of phases that were to end when steady.
    pub steady_phases: Vec<SteadyRecord>,
    /// Counters of every part when the measured time ended.
    pub after: Vec<PartReport>,
}

impl Probes {
    /// Those of a run of `workload` whose streams are so many.
    pub fn new(streams: usize, workload: &Workload, log: Option<IoLog>) -> Self {
        Self {
            streams: Recorder::new(streams, workload.interval, workload.smart_interval),
            every_io: log.is_some() || workload.phases.iter().any(|phase| phase.steady().is_some()),
            log,
            ledger: None,
            service: None,
            tally: Tally::default(),
            steady: None,
            steady_phases: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Keeps account of what is acknowledged and what is lost.
    pub fn with_ledger(&mut self, ledger: Ledger) {
        (self.ledger, self.every_io) = (Some(ledger), true);
    }

    /// Tells what hosts get before, while and after drives fail.
    pub fn with_service(&mut self, service: Option<Box<ServiceWatch>>) {
        self.every_io |= service.is_some();
        self.service = service;
    }

    /// The run begins: all drives are new.
    pub fn start(&mut self, machine: &Machine) {
        self.streams.smart.start(machine);
    }

    /// Something was done to the drives in no time.
    pub fn untimed(&mut self, now: Instant, machine: &Machine) {
        self.streams.smart.look(now, machine);
    }

    /// A phase begins, measured or not.
    pub fn begin_phase(&mut self, phase: &Phase, now: Instant) {
        self.steady = SteadyWatch::new(phase, now, self.tally);
    }

    /// A measured phase begins; `parts` are those of sources.
    pub fn begin(&mut self, now: Instant, machine: &Machine, parts: Vec<PartReport>) {
        let before = machine.report().into_iter().chain(parts).collect();
        self.streams.begin(now, before, machine);
        if let Some(service) = &mut self.service {
            service.begin(now);
        }
    }

    /// Whether a measured phase has begun in this run.
    pub fn has_begun(&self) -> bool {
        self.streams.measuring || !self.streams.steps.done.is_empty()
    }

    /// An I/O of `stream` is about to be submitted.
    #[expect(clippy::inline_always, reason = "it is called once per I/O, from few places")]
    #[inline(always)]
    pub fn submitted(&mut self, now: Instant, machine: &Machine, stream: u16, io: &mut Io) {
        self.streams.submitted(now, stream, io.op);
        if self.every_io {
            self.note_submitted(machine, stream, io);
        }
    }

    #[inline(never)]
    fn note_submitted(&mut self, machine: &Machine, stream: u16, io: &mut Io) {
        if let Some(ledger) = &mut self.ledger {
            io.version = ledger.submit(machine, stream, io);
        }
    }

    /// An I/O was answered.
    #[inline]
    pub fn completed(&mut self, io: &Answered) {
        self.streams.completed(io);
        if self.every_io {
            self.note_completed(io);
        }
    }

    #[inline(never)]
    fn note_completed(&mut self, io: &Answered) {
        let measured = self.streams.measuring;
        if let Some(log) = &mut self.log {
            log.write(io, measured);
        }
        if let (Some(ledger), Op::Write) = (&mut self.ledger, io.op) {
            ledger.complete(io.done);
        }
        if let (Some(service), true) = (&mut self.service, measured) {
            service.completed(io);
        }
        if io.is_served() {
            self.tally.add(io.len, io.done.at.since(io.done.submitted));
        }
    }

    /// Time goes on to `now`: ends every interval that is over, before what happens then.
    #[inline]
    pub fn tick(&mut self, now: Instant, machine: &Machine) {
        self.streams.tick(now, machine);
    }

    /// The machine has come to `now`; what it answered then is not told yet.
    #[inline]
    pub fn advanced(&mut self, now: Instant, machine: &Machine) {
        if self.every_io {
            self.look(now, machine);
        }
    }

    #[inline(never)]
    fn look(&mut self, now: Instant, machine: &Machine) {
        if let Some(service) = &mut self.service {
            service.look(now, machine, self.streams.measuring);
        }
    }

    /// When the current phase became steady, if it was to end then and did up to `until`, before which nothing happens.
    #[inline]
    pub fn steady_at(&mut self, until: Instant) -> Option<Instant> {
        let tally = &self.tally;
        self.steady.as_mut().and_then(|steady| steady.over(until, tally))
    }

    /// A phase ends, measured or not.
    pub fn end_phase(&mut self, phase: &Phase, now: Instant, machine: &Machine) {
        if let Some(steady) = self.steady.take() {
            self.steady_phases.push(steady.end(phase, fills(machine)));
        }
        self.tick(now, machine);
    }

    /// A measured phase ends; `parts` are those of sources. Returns how long it was.
    pub fn end(&mut self, step: StepEnd, now: Instant, machine: &Machine, parts: Vec<PartReport>) -> Span {
        self.look(now, machine);
        self.after = machine.report().into_iter().chain(parts).collect();
        self.streams.end_step(step, now, machine)
    }

    /// What went wrong with a probe so far; looked at now and then, not per I/O.
    ///
    /// # Errors
    /// A log that cannot be written.
    pub fn check(&mut self) -> Result<(), RunError> {
        self.log.as_mut().map_or(Ok(()), IoLog::check).map_err(RunError::Log)
    }

    /// The run ends at `now`.
    ///
    /// # Errors
    /// A log that cannot be written.
    pub fn finish(&mut self, now: Instant, machine: &Machine) -> Result<(), RunError> {
        self.streams.smart.finish(now, machine);
        self.log.take().map_or(Ok(()), IoLog::finish).map_err(RunError::Log)
    }
}
