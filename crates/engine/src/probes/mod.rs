//! Probes that watch a run. The loop notifies [`Probes`] of events and knows no probe by name.
//!
//! Counting what streams do is the one probe that every I/O pays for. Other probes that need every I/O are behind one
//! test, which plain runs fail; the others read at the end of an interval.

pub mod batch;
pub mod caches;
pub mod direction;
pub mod host;
pub mod io_log;
pub mod operations;
pub mod power;
pub mod power_loss;
pub mod precise;
pub mod probe;
pub mod repair;
pub mod scripts;
pub mod smart;
pub mod steady;
pub mod steps;
pub mod streams;
pub mod table;
pub mod waiting;

use hotband_machine::{Io, Machine, Op, PartReport, SpecError};
use hotband_units::{Instant, Span};
use hotband_workloads::{MOST_INTERVALS, Phase, Workload};

use crate::control::{Passed, RunError};
use crate::probes::caches::CacheProbe;
use crate::probes::power::PowerProbe;
use crate::probes::precise::PreciseProbe;
pub use crate::probes::probe::{Answered, Findings, Interval, Probe, RunEnd};
use crate::probes::smart::SmartProbe;
use crate::probes::steady::SteadyProbe;
use crate::probes::steps::StepEnd;
use crate::probes::streams::Streams;

/// The probes that every run has: they look at intervals only, and leave nothing if there is nothing to see.
fn always(workload: &Workload) -> Vec<Box<dyn Probe>> {
    vec![Box::new(CacheProbe::new()), Box::new(PowerProbe::new()), Box::new(SmartProbe::new(workload.smart_interval))]
}

/// A probe that runs have only where `[record] probes` names it: its table grows with the drives and the time.
type Asked = (&'static str, fn() -> Box<dyn Probe>);

const ASKED: [Asked; 1] = [("waiting", || Box::new(waiting::WaitingProbe::new()))];

/// The probes that `workload` requests by name.
///
/// # Errors
/// A name of none.
pub fn asked(workload: &Workload) -> Result<Vec<Box<dyn Probe>>, SpecError> {
    let known = ASKED.map(|(name, _)| name);
    let named = workload.probes.iter().map(|name| {
        let probe = ASKED.iter().find(|(have, _)| have == name);
        probe.map(|(_, new)| new()).ok_or_else(|| SpecError::unknown(&workload.file, "record.probes", name, &known))
    });
    named.collect()
}

/// Everything that watches a run.
pub struct Probes {
    streams: Streams,
    /// The loop asks it when a phase is over.
    steady: SteadyProbe,
    precise: PreciseProbe,
    others: Vec<Box<dyn Probe>>,
    /// Whether anything but `streams` wants every I/O.
    every_io: bool,
    /// Name of the workload in errors.
    file: String,
    interval: Span,
    interval_start: Instant,
    /// Time when the first measured phase began.
    begin: Option<Instant>,
    measuring: bool,
    /// Whether the series became longer than it may: then it ends.
    too_long: bool,
    /// When an interval ends, or a probe wants to read.
    next: Instant,
    /// Counters of every part when the measured time began, and when it ended.
    parts: (Vec<PartReport>, Vec<PartReport>),
}

/// Findings of all probes.
pub struct Watched {
    pub streams: Streams,
    /// Counters of every part when the measured time began, and when it ended.
    pub parts: (Vec<PartReport>, Vec<PartReport>),
    pub findings: Findings,
}

impl Probes {
    /// Probes of a run of `workload`; `streams` are the names of its streams, `fills` the bytes of memories that fill
    /// as the run continues, if that is known.
    pub fn new(streams: &[String], workload: &Workload, fills: Option<u64>) -> Self {
        let steady = SteadyProbe::new(workload);
        Self {
            streams: Streams::new(streams),
            every_io: steady.wants_ios(),
            steady,
            precise: PreciseProbe::new(workload, fills),
            others: always(workload),
            file: workload.file.clone(),
            interval: workload.interval,
            interval_start: Instant::ZERO,
            begin: None,
            measuring: false,
            too_long: false,
            next: Instant::NEVER,
            parts: (Vec::new(), Vec::new()),
        }
    }

    /// Adds a probe.
    pub fn add(&mut self, probe: Box<dyn Probe>) {
        self.every_io |= probe.wants_ios();
        self.others.push(probe);
    }

    /// The run begins: all drives are new.
    pub fn start(&mut self, machine: &Machine) {
        self.others.iter_mut().for_each(|probe| probe.start(machine));
        self.look_at_clocks();
    }

    /// Something was done to the drives in no time.
    pub fn untimed(&mut self, now: Instant, machine: &Machine) {
        self.others.iter_mut().for_each(|probe| probe.untimed(now, machine));
    }

    /// A phase begins, measured or not.
    pub fn begin_phase(&mut self, phase: &Phase, now: Instant) {
        self.steady.begin_phase(phase, now);
    }

    /// A phase begins after `ios` of the run: the I/Os at which its first batch ends, if it ends when it is precise.
    pub fn begin_batches(&mut self, phase: &Phase, now: Instant, ios: u64) -> Option<u64> {
        self.precise.begin_phase(phase, now, ios, &self.streams)
    }

    /// Ends a batch after `ios` I/Os; returns the number at which the next one ends, none if the phase is precise.
    pub fn end_batch(&mut self, now: Instant, ios: u64) -> Option<u64> {
        self.precise.end_batch(now, ios, &mut self.streams)
    }

    /// A measured phase begins; `parts` are those of sources.
    pub fn begin(&mut self, now: Instant, machine: &Machine, parts: Vec<PartReport>) {
        if self.begin.is_none() {
            self.begin = Some(now);
            self.parts.0 = machine.report().into_iter().chain(parts).collect();
        }
        (self.measuring, self.interval_start) = (true, now);
        self.streams.begin(now);
        self.others.iter_mut().for_each(|probe| probe.begin(now, machine));
        self.look_at_clocks();
    }

    /// An I/O of `stream` is about to be submitted.
    #[expect(clippy::inline_always, reason = "it is called once per I/O, from few places")]
    #[inline(always)]
    pub fn submitted(&mut self, now: Instant, stream: u16, op: Op) {
        self.streams.submitted(now, stream, op);
    }

    /// Whether a probe other than the streams receives every I/O.
    #[inline]
    pub fn want_ios(&self) -> bool {
        self.every_io
    }

    /// Passes an I/O that is about to be submitted to probes of every I/O, which may change it.
    pub fn tell_submitted(&mut self, machine: &Machine, stream: u16, io: &mut Io) {
        self.others.iter_mut().filter(|probe| probe.wants_ios()).for_each(|probe| probe.submitted(machine, stream, io));
    }

    /// An I/O was completed.
    #[inline]
    pub fn completed(&mut self, io: &Answered) {
        self.streams.completed(io);
        if self.every_io {
            self.tell_completed(io);
        }
    }

    #[inline(never)]
    fn tell_completed(&mut self, io: &Answered) {
        self.steady.io(io);
        self.others.iter_mut().filter(|probe| probe.wants_ios()).for_each(|probe| probe.io(io));
    }

    /// Informs the probes that the machine advanced to `now`, before its completions.
    #[inline]
    pub fn advanced(&mut self, now: Instant, machine: &Machine) {
        if self.every_io {
            self.tell_advanced(now, machine);
        }
    }

    #[inline(never)]
    fn tell_advanced(&mut self, now: Instant, machine: &Machine) {
        self.others.iter_mut().filter(|probe| probe.wants_ios()).for_each(|probe| probe.advanced(now, machine));
    }

    /// Time continues to `now`: ends every interval that is over, before what happens then.
    #[inline]
    pub fn tick(&mut self, now: Instant, machine: &Machine) {
        if now >= self.next {
            self.catch_up(now, machine);
        }
    }

    #[inline(never)]
    fn catch_up(&mut self, now: Instant, machine: &Machine) {
        for probe in &mut self.others {
            while probe.next_reading() <= now {
                probe.read(machine);
            }
        }
        let most = self.interval.0.saturating_mul(MOST_INTERVALS);
        if self.measuring && self.begin.is_some_and(|begin| now.since(begin).0 > most) {
            (self.too_long, self.interval_start) = (true, now);
        }
        while self.measuring && now >= self.interval_start + self.interval {
            self.end_interval(self.interval_start + self.interval, machine);
        }
        self.look_at_clocks();
    }

    /// Sets when `tick` has something to do next.
    fn look_at_clocks(&mut self) {
        let interval = if self.measuring { self.interval_start + self.interval } else { Instant::NEVER };
        self.next = self.others.iter().map(|probe| probe.next_reading()).fold(interval, Instant::min);
    }

    fn end_interval(&mut self, end: Instant, machine: &Machine) {
        let time_ns = self.interval_start.since(self.begin.expect("the measured time has begun")).0;
        let interval = Interval { time_ns, begin: self.interval_start, end };
        self.precise.collect(&mut self.streams);
        self.streams.interval(&interval);
        self.others.iter_mut().for_each(|probe| probe.interval(&interval, machine));
        self.interval_start = end;
    }

    /// Completed intervals that whoever watches the run has not received yet.
    pub fn passed(&mut self) -> &mut Vec<Passed> {
        &mut self.streams.passed
    }

    /// When the current phase became steady, if it was to end then and did up to `until`, before which nothing happens.
    #[inline]
    pub fn steady_at(&mut self, until: Instant) -> Option<Instant> {
        self.steady.steady_at(until)
    }

    /// A phase ends, measured or not.
    pub fn end_phase(&mut self, phase: &Phase, now: Instant, machine: &Machine) {
        self.steady.end_phase(phase, machine);
        self.precise.end_phase(phase);
        self.tick(now, machine);
    }

    /// A measured phase ends; `parts` are those of sources. Returns how long it was.
    pub fn end(&mut self, step: StepEnd, now: Instant, machine: &Machine, parts: Vec<PartReport>) -> Span {
        self.catch_up(now, machine);
        if now > self.interval_start {
            self.end_interval(now, machine);
        }
        self.others.iter_mut().for_each(|probe| probe.end_step(now, machine));
        self.measuring = false;
        self.look_at_clocks();
        self.parts.1 = machine.report().into_iter().chain(parts).collect();
        self.streams.end_step(step, now)
    }

    /// Check the probes for an error so far; called now and then, not per I/O.
    ///
    /// # Errors
    /// What went wrong.
    pub fn check(&mut self) -> Result<(), RunError> {
        if self.too_long {
            let accepted = "too short for this run: over 10 million intervals";
            return Err(SpecError::new(&self.file, "interval", self.interval.to_string(), accepted).into());
        }
        self.others.iter_mut().try_for_each(|probe| probe.check())
    }

    /// The run is over: what all left.
    ///
    /// # Errors
    /// What went wrong with one of them.
    pub fn finish(mut self, run: &mut RunEnd) -> Result<Watched, RunError> {
        self.check()?;
        self.streams.join_steps();
        run.served = self.streams.served();
        let mut findings = Findings::default();
        let stopped = self.precise.stopped();
        if !stopped.is_empty() {
            findings = findings.with("stopped", stopped);
        }
        for probe in self.others.into_iter().chain([Box::new(self.steady) as Box<dyn Probe>]) {
            findings.extend(probe.end(run)?);
        }
        Ok(Watched { streams: self.streams, parts: self.parts, findings })
    }
}
