//! The loop that drives a machine with a workload in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hotband_machine::{Completion, Io, Machine, PartReport};
use hotband_units::{Instant, Span};
use hotband_workloads::{ArrivalClock, Asked, Load, Phase, PhaseLength, Random, Stream};

use crate::apps::{AppAtWork, OF_APP};
use crate::inflight::{InFlight, Outstanding};
use crate::probes::steps::StepEnd;
use crate::probes::{Answered, Probes};
use crate::record::sections::Sections;
use crate::run::{Control, RunError};
use crate::scripts::{SCRIPTED, Scripts};
use crate::warm::WarmWatch;

/// One load and the streams it drives.
pub struct Loader {
    pub load: Load,
    /// Indices of its streams and their shares.
    pub streams: Vec<(usize, f64)>,
    /// Chooses among the streams.
    pub random: Random,
    /// Cumulative shares of the streams active in this phase.
    active: Vec<(usize, f64)>,
    /// Slots that wait for a phase in which one of their streams runs.
    parked: Vec<u32>,
    /// Whether phases may change its threads: it is the loop of `[load]`.
    steps: bool,
    /// Slots from this one on are parked in this phase.
    slots: u32,
    clock: Option<ArrivalClock>,
}

impl Loader {
    pub fn new(load: Load, streams: Vec<(usize, f64)>, random: Random) -> Self {
        let parked = match load {
            Load::Closed { threads, depth, .. } => (0..threads * depth).rev().collect(),
            Load::Open { .. } => Vec::new(),
        };
        Self { load, streams, random, active: Vec::new(), parked, steps: false, slots: u32::MAX, clock: None }
    }

    /// The loop of `[load]`: phases may change its threads.
    pub fn with_steps(self) -> Self {
        Self { steps: true, ..self }
    }

    /// Slots that may ask in this phase, the next one last; the others stay parked.
    fn unpark(&mut self) -> Vec<u32> {
        let parked = std::mem::take(&mut self.parked);
        let (asking, staying) = parked.into_iter().partition(|slot| *slot < self.slots);
        self.parked = staying;
        asking
    }

    fn choose(&mut self) -> usize {
        if let [(only, _)] = self.active[..] {
            return only;
        }
        let total = self.active.last().map_or(0.0, |(_, upto)| *upto);
        let at = self.random.unit() * total;
        let found = self.active.iter().find(|(_, upto)| at < *upto).or(self.active.last());
        found.map_or(0, |(stream, _)| *stream)
    }
}

/// Everything that runs.
pub struct Driver<'a> {
    pub machine: &'a mut Machine,
    pub streams: Vec<Stream>,
    /// Target of each stream.
    pub targets: Vec<u16>,
    /// Whether a phase names the stream (by name) or any.
    pub loaders: Vec<Loader>,
    /// What watches.
    pub probes: Probes,
    pub scripts: Option<Scripts>,
    pub app: Option<AppAtWork>,
    pub now: Instant,
    inflight: InFlight,
    /// Slots that think, by the time they ask again.
    thinking: BinaryHeap<Reverse<(Instant, u16, u32)>>,
    completions: Vec<Completion>,
    /// I/Os completed in the current phase.
    phase_ios: u64,
    /// Whether anything but loads asks for I/Os: scripts or an app. Plain streams look at nothing more than this.
    others: bool,
    /// I/Os completed in all.
    pub ios: u64,
    open_loops: bool,
    /// How long after the measured time begins power is cut.
    pub cut_after: Option<Span>,
    /// When that is; `NEVER` until the measured time begins.
    cut: Instant,
}

/// Events between two looks at the control block.
const LOOK_EVERY: u64 = 4096;

impl<'a> Driver<'a> {
    pub fn new(
        machine: &'a mut Machine,
        streams: Vec<Stream>,
        targets: Vec<u16>,
        loaders: Vec<Loader>,
        probes: Probes,
    ) -> Self {
        let open_loops = loaders.iter().any(|loader| matches!(loader.load, Load::Open { .. }));
        Self {
            machine,
            streams,
            targets,
            loaders,
            probes,
            scripts: None,
            app: None,
            now: Instant::ZERO,
            inflight: InFlight::default(),
            thinking: BinaryHeap::new(),
            completions: Vec::new(),
            phase_ios: 0,
            others: false,
            ios: 0,
            open_loops,
            cut_after: None,
            cut: Instant::NEVER,
        }
    }

    /// Whether power was cut.
    pub fn is_cut(&self) -> bool {
        self.now >= self.cut
    }

    /// Runs one phase, with `threads` in the loop of `[load]`; returns how long it was if it is measured.
    pub fn phase(
        &mut self,
        phase: &Phase,
        threads: Option<u32>,
        seed: u64,
        control: &Control,
    ) -> Result<Option<Span>, RunError> {
        let (end, most) = match phase.length {
            PhaseLength::Time(span) => (self.now + span, u64::MAX),
            PhaseLength::Ios(count) | PhaseLength::Operations(count) => (Instant::NEVER, count),
            PhaseLength::Untimed(amount) => return self.untimed(phase, amount, seed, control).map(|()| None),
        };
        self.phase_ios = 0;
        self.others = self.scripts.is_some() || self.app.is_some();
        if phase.measure {
            if !self.probes.has_begun() {
                self.machine.begin_repair(self.now);
            }
            self.probes.begin(self.now, self.machine, self.parts());
            if let Some(after) = self.cut_after.take() {
                self.cut = self.now + after;
            }
        }
        self.activate(phase, threads, seed);
        self.activate_others(phase);
        let operations = self.app.as_ref().filter(|_| phase.counts_operations()).map(|app| app.operations);
        let end = end.min(self.cut);
        let begin = self.now;
        let mut events = 0_u64;
        let mut watch = WarmWatch::new(phase, begin);
        self.probes.begin_phase(phase, begin);
        while self.done(operations) < most {
            let next = self.next_time().filter(|next| *next < end);
            let until = next.unwrap_or(end);
            let warm = watch.over(until, |now| self.machine.is_warm(now));
            if let Some(early) = warm.or_else(|| self.probes.steady_at(until)) {
                self.now = early;
                break;
            }
            let Some(next) = next else {
                if end == Instant::NEVER {
                    let done = self.done(operations);
                    return Err(RunError::Stalled { phase: phase.name.clone(), done, asked: most });
                }
                self.now = end;
                break;
            };
            self.now = next;
            self.probes.tick(next, self.machine);
            self.step(next);
            if phase.scripts.until_done && self.scripts.as_ref().is_some_and(Scripts::done) {
                break;
            }
            events += 1;
            if events.is_multiple_of(LOOK_EVERY) {
                let share = if most == u64::MAX {
                    next.since(begin).as_secs_f64() / end.since(begin).as_secs_f64()
                } else {
                    self.done(operations) as f64 / most as f64
                };
                self.probes.check()?;
                control.report(share, self.ios)?;
            }
        }
        self.probes.end_phase(phase, self.now, self.machine);
        Ok(phase.measure.then(|| self.end_step(phase, threads, begin)))
    }

    /// Lets everything outstanding be answered; nobody asks for more, and nothing of it is recorded.
    pub fn drain(&mut self) {
        while !self.inflight.is_empty() {
            let Some(next) = self.machine.wake() else { return };
            self.now = self.now.max(next);
            self.machine.advance(self.now, &mut self.completions);
            for done in self.completions.drain(..) {
                self.inflight.take(done.tag);
            }
        }
    }

    /// Counters of the parts that belong to sources.
    fn parts(&self) -> Vec<PartReport> {
        self.scripts.as_ref().and_then(Scripts::report).into_iter().collect()
    }

    /// What is done of a phase: its I/Os, or the operations since there were so many.
    #[inline]
    fn done(&self, operations_before: Option<u64>) -> u64 {
        match (operations_before, &self.app) {
            (Some(before), Some(app)) => app.operations - before,
            _ => self.phase_ios,
        }
    }

    /// Puts the files of the app on the drives, in no time.
    ///
    /// # Errors
    /// Interruption.
    pub fn lay_out(&mut self, control: &Control) -> Result<(), RunError> {
        let Some(app) = &mut self.app else { return Ok(()) };
        app.lay_out(self.machine, control)?;
        self.probes.untimed(self.now, self.machine);
        Ok(())
    }

    /// Lets the scripts of `phase` and the app run.
    fn activate_others(&mut self, phase: &Phase) {
        if let Some(scripts) = &mut self.scripts {
            scripts.activate(self.now, &phase.scripts);
            if phase.measure {
                scripts.begin_measuring(self.now);
            }
        }
        if let Some(app) = &mut self.app {
            if phase.measure {
                app.begin_measuring(self.now);
            }
            app.start(self.now);
            self.send_app();
        }
    }

    /// An I/O is done that no load asked for.
    #[inline(never)]
    fn other_completed(&mut self, io: &Outstanding) {
        match (&mut self.scripts, &mut self.app) {
            (Some(scripts), _) if io.load == SCRIPTED => scripts.completed(self.now, io.slot, io.op, io.len),
            (_, Some(app)) => {
                app.completed(self.now, io.slot);
                self.send_app();
            }
            _ => {}
        }
    }

    /// Submits what the app asks for.
    fn send_app(&mut self) {
        while let Some((stream, asked, token)) = self.app.as_mut().and_then(AppAtWork::next_io) {
            self.send(stream, asked, OF_APP, token);
        }
    }

    /// When scripts or the app next do something by themselves.
    #[inline(never)]
    fn others_next(&self) -> Option<Instant> {
        let scripts = self.scripts.as_ref().and_then(Scripts::next_time);
        scripts.into_iter().chain(self.app.as_ref().and_then(AppAtWork::next_time)).min()
    }

    /// Submits what clients of scripts and the app ask for now; what is due without delay follows at once. Kept out of
    /// line, as is all that plain streams do not need.
    #[inline(never)]
    fn run_others(&mut self, now: Instant) {
        if let Some(app) = &mut self.app {
            app.advance(now);
            self.send_app();
        }
        while let Some(scripts) = &mut self.scripts {
            scripts.advance(now);
            let Some((state, stream, asked)) = scripts.next_io(now, &mut self.streams) else { break };
            self.send(stream, asked, SCRIPTED, state);
        }
    }

    /// A measured phase ends; returns how long it was.
    fn end_step(&mut self, phase: &Phase, threads: Option<u32>, begin: Instant) -> Span {
        let duration = self.now.since(begin);
        let mut sections = Sections::default();
        let mut clients = None;
        if let Some(scripts) = &mut self.scripts {
            clients = phase.scripts.clients;
            sections.add("scripts", scripts.end_measuring(duration));
        }
        if let Some(app) = &mut self.app {
            sections.add("app", app.end_measuring(duration));
        }
        let step = StepEnd { name: phase.name.clone(), threads, clients, sections };
        self.probes.end(step, self.now, self.machine, self.parts())
    }

    /// Lets the streams of `phase` run: parked slots whose streams are active ask for their first I/O.
    fn activate(&mut self, phase: &Phase, threads: Option<u32>, seed: u64) {
        for index in 0..self.loaders.len() {
            let streams = &self.streams;
            let loader = &mut self.loaders[index];
            if let (Load::Closed { depth, .. }, Some(threads), true) = (loader.load, threads, loader.steps) {
                loader.slots = threads * depth;
            }
            let runs =
                |stream: usize| phase.streams.is_empty() || phase.streams.iter().any(|n| n == streams[stream].name());
            let mut upto = 0.0;
            let active = loader.streams.iter().filter(|(stream, _)| runs(*stream)).map(|(stream, share)| {
                upto += share;
                (*stream, upto)
            });
            loader.active = active.collect();
            if loader.active.is_empty() {
                loader.clock = None;
                continue;
            }
            if let Load::Open { rate, arrival } = loader.load
                && loader.clock.is_none()
            {
                let random = Random::new(seed, &format!("arrivals.{index}.{}", phase.name));
                loader.clock = Some(ArrivalClock::new(rate, arrival, random, self.now));
            }
            for slot in self.loaders[index].unpark().into_iter().rev() {
                self.ask(index, slot);
            }
        }
    }

    #[inline]
    fn next_time(&self) -> Option<Instant> {
        let mut next = self.machine.wake();
        if let Some(Reverse((at, _, _))) = self.thinking.peek() {
            next = Some(next.map_or(*at, |next| next.min(*at)));
        }
        if self.others {
            next = next.into_iter().chain(self.others_next()).min();
        }
        if self.open_loops {
            let arrivals = self.loaders.iter().filter_map(|loader| loader.clock.as_ref().map(ArrivalClock::next));
            next = next.into_iter().chain(arrivals).min();
        }
        next
    }

    /// Does everything that is due at `now`.
    #[inline]
    fn step(&mut self, now: Instant) {
        let mut completions = std::mem::take(&mut self.completions);
        self.machine.advance(now, &mut completions);
        self.probes.advanced(now, self.machine);
        for done in completions.drain(..) {
            self.complete(&done);
        }
        self.completions = completions;
        while let Some(Reverse((at, load, slot))) = self.thinking.peek().copied() {
            if at > now {
                break;
            }
            self.thinking.pop();
            self.ask(usize::from(load), slot);
        }
        if self.others {
            self.run_others(now);
        }
        if self.open_loops {
            for index in 0..self.loaders.len() {
                while self.loaders[index].clock.as_ref().is_some_and(|clock| clock.next() <= now) {
                    self.ask(index, 0);
                    self.loaders[index].clock.as_mut().expect("was there").step();
                }
            }
        }
    }

    #[inline]
    fn complete(&mut self, done: &Completion) {
        let io = self.inflight.take(done.tag);
        self.probes.completed(&Answered { stream: io.stream, op: io.op, offset: io.offset, len: io.len, done });
        self.phase_ios += 1;
        self.ios += 1;
        if io.load >= OF_APP {
            self.other_completed(&io);
            return;
        }
        if let Load::Closed { think, .. } = self.loaders[usize::from(io.load)].load {
            if think == Span::ZERO {
                self.ask(usize::from(io.load), io.slot);
            } else {
                self.thinking.push(Reverse((self.now + think, io.load, io.slot)));
            }
        }
    }

    /// A load asks for its next I/O.
    #[inline]
    fn ask(&mut self, index: usize, slot: u32) {
        let loader = &mut self.loaders[index];
        let thread = match loader.load {
            _ if loader.active.is_empty() || slot >= loader.slots => {
                loader.parked.push(slot);
                return;
            }
            Load::Closed { depth, .. } => (slot / depth) as usize,
            Load::Open { .. } => 0,
        };
        let stream = loader.choose();
        let asked = self.streams[stream].next(thread);
        self.send(stream, asked, index as u16, slot);
    }

    /// Hands an I/O to the machine.
    #[expect(clippy::inline_always, reason = "it is called once per I/O, from few places")]
    #[inline(always)]
    fn send(&mut self, stream: usize, asked: Asked, load: u16, slot: u32) {
        let outstanding =
            Outstanding { stream: stream as u16, op: asked.op, offset: asked.offset, len: asked.len, load, slot };
        let tag = self.inflight.add(outstanding);
        let target = self.targets[stream];
        let (op, offset, len, fua, entropy) = (asked.op, asked.offset, asked.len, asked.fua, asked.entropy);
        let mut io = Io { tag, op, target, offset, len, fua, version: 0, entropy };
        self.probes.submitted(self.now, self.machine, stream as u16, &mut io);
        self.machine.submit(self.now, io);
    }
}
