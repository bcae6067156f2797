//! Phases, one after the other.

use hotband_machine::Event;
use hotband_units::{Instant, Span};
use hotband_workloads::{Phase, PhaseStart, Source};

use crate::control::{Control, RunError};
use crate::drive::Driver;
use crate::drive::until::Conditions;
use crate::probes::steps::StepEnd;
use crate::record::sections::Sections;

/// Events between two checks of the control block.
const LOOK_EVERY: u64 = 256;

impl Driver<'_> {
    /// Runs one phase, with `threads` in the loop of `[load]`, and drains it where it says so; returns how long it was
    /// if it is measured.
    ///
    /// # Errors
    /// Interruption, a probe that failed, or a phase in which nothing happens any more before it is over.
    pub fn phase(
        &mut self,
        phase: &Phase,
        threads: Option<u32>,
        seed: u64,
        control: &Control,
    ) -> Result<Option<Span>, RunError> {
        if let Some(amount) = phase.untimed {
            return self.untimed(phase, amount, seed, control).map(|()| None);
        }
        let begin = self.now;
        self.begin_phase(phase, threads);
        self.until_over(phase, control)?;
        if let Some(rest) = phase.rest().filter(|_| !self.in_flight.is_empty()) {
            self.begin_sources(&rest, threads);
            self.until_over(&rest, control)?;
        }
        self.probes.end_phase(phase, self.now, self.machine);
        let measured = phase.measure.then(|| self.end_step(phase, threads, begin));
        control.pass(self.probes.passed());
        Ok(measured)
    }

    /// Goes on until `phase` is over.
    fn until_over(&mut self, phase: &Phase, control: &Control) -> Result<(), RunError> {
        let mut until = Conditions::of(phase, self.power.cut, self);
        let mut events = 0_u64;
        loop {
            let next = self.next_time().filter(|next| *next < until.latest());
            let calm = next.unwrap_or(until.latest());
            if let Some(over) = until.over(calm, self) {
                self.now = over;
                break;
            }
            let Some(next) = next else {
                if calm < Instant::NEVER {
                    self.now = calm;
                    break;
                }
                if until.are_met(self) {
                    break;
                }
                let (done, asked) = until.counted(self);
                return Err(RunError::Stalled { phase: phase.name.clone(), done, asked });
            };
            self.now = next;
            self.probes.tick(next, self.machine);
            self.step(next);
            if until.are_met(self) {
                break;
            }
            events += 1;
            if events.is_multiple_of(LOOK_EVERY) {
                self.probes.check()?;
                control.check_waiting(self.in_flight.len(), self.now.since(Instant::ZERO))?;
                control.pass(self.probes.passed());
                control.report(until.share(self), self.ios)?;
            }
        }
        Ok(())
    }

    /// Operations of an app that have ended since the run began.
    pub fn operations(&self) -> u64 {
        self.sources.iter().map(Source::operations).sum()
    }

    /// The measured time begins: events count from now.
    fn schedule_events(&mut self) {
        for (after, part, what) in self.events.drain(..) {
            let event = Event { at: self.now + after, part, what };
            self.machine.events().schedule(event).expect("checked, and the machine was told, before the run");
        }
    }

    /// The measured time begins, in which only programs outside ask; returns when, and when power goes off.
    pub fn begin_live(&mut self) -> (Instant, Instant) {
        self.schedule_events();
        self.probes.begin(self.now, self.machine, self.sources.report());
        self.power.measure(self.now);
        (self.now, self.power.cut)
    }

    /// Probes begin where the phase is measured; sources that it lets run ask for their first I/Os.
    fn begin_phase(&mut self, phase: &Phase, threads: Option<u32>) {
        if phase.measure {
            self.schedule_events();
            self.probes.begin(self.now, self.machine, self.sources.report());
            self.power.measure(self.now);
        }
        self.probes.begin_phase(phase, self.now);
        self.begin_sources(phase, threads);
    }

    /// Sources that the phase lets run ask for their first I/Os.
    fn begin_sources(&mut self, phase: &Phase, threads: Option<u32>) {
        for source in 0..self.sources.len() as u32 {
            let start = PhaseStart { now: self.now, phase, threads, streams: &self.streams };
            self.sources.begin_phase(source, &start);
            self.take_ios(source);
        }
    }

    /// A measured phase ends; returns how long it was.
    fn end_step(&mut self, phase: &Phase, threads: Option<u32>, begin: Instant) -> Span {
        let duration = self.now.since(begin);
        let mut sections = Sections::default();
        let mut clients = None;
        if let Some(scripts) = self.sources.scripts() {
            clients = phase.scripts.clients;
            sections.add("scripts", scripts.end_measuring(self.now, duration));
        }
        if let Some(app) = self.sources.app() {
            sections.add("app", app.end_measuring(duration));
        }
        let step = StepEnd { name: phase.name.clone(), threads, clients, sections };
        self.probes.end(step, self.now, self.machine, self.sources.report())
    }

    /// Puts the files of the app on the drives, in no time.
    ///
    /// # Errors
    /// Interruption.
    pub fn lay_out(&mut self, control: &Control) -> Result<(), RunError> {
        let Some(app) = self.sources.app() else { return Ok(()) };
        app.lay_out(self.machine, control)?;
        self.probes.untimed(self.now, self.machine);
        Ok(())
    }
}
