//! An app at work: its I/Os go to the driver, its finished operations to the record.

use hotband_machine::{Machine, SpecError, UntimedWrite};
use hotband_units::{Instant, Span};
use hotband_workloads::{Answer, App, AppVolume, Ended, PhaseStart, Source, SourceIo, Stream, Workload};

use crate::bind::{stops_trims, target_of};
use crate::build::assemble::Assembled;
use crate::control::{Control, RunError};
use crate::probes::Findings;
use crate::probes::operations::{AppRecord, AppStats, OperationSeries};

/// Writes that are laid out between two checks of the control block.
const AT_ONCE: usize = 65_536;

/// The app of a workload, bound to its volumes.
pub struct AppAtWork {
    app: Box<dyn App>,
    /// Names of its streams.
    pub names: Vec<String>,
    /// Target of each.
    pub targets: Vec<u16>,
    /// Index of its first stream among all of the run.
    first: usize,
    ended: Vec<Ended>,
    started: bool,
    /// Operations that ended since the run began.
    operations: u64,
    measuring: bool,
    /// Statistics of the current step.
    stats: AppStats,
    counters_before: Vec<(&'static str, u64)>,
    /// Statistics of each measured phase.
    steps: Vec<AppStats>,
    series: OperationSeries,
}

impl AppAtWork {
    /// Binds the app of `workload`, if it has one.
    ///
    /// # Errors
    /// A volume that is not there, is too small, or does not pass on what the app needs.
    pub fn bind(
        workload: &Workload,
        assembled: &Assembled,
        seed: u64,
        power_cut: bool,
    ) -> Result<Option<Self>, SpecError> {
        let Some(spec) = &workload.app else { return Ok(None) };
        let machine = &assembled.machine;
        let streams = spec.streams();
        let targets =
            streams.iter().map(|stream| target_of(workload, "app.volume", stream.volume.as_deref(), assembled));
        let targets = targets.collect::<Result<Vec<u16>, _>>()?;
        for target in targets.iter().filter(|_| spec.trims()) {
            let why = stops_trims(machine, *target, power_cut);
            if let Some(accepted) = why {
                let accepted = format!("{accepted}; expected false");
                return Err(SpecError::new(&workload.file, "app.trim", "true", accepted));
            }
        }
        let volume = |target: &u16| AppVolume {
            target: *target,
            capacity: machine.volumes()[usize::from(*target)].size,
            block: machine.drives().block().0,
        };
        let volumes: Vec<AppVolume> = targets.iter().map(volume).collect();
        let app = spec.build(&volumes, workload.data_of_app(), seed)?;
        Ok(Some(Self {
            stats: AppStats::new(app.as_ref()),
            series: OperationSeries::new(workload.interval),
            app,
            names: streams.into_iter().map(|stream| stream.name).collect(),
            targets,
            first: workload.streams.len(),
            ended: Vec::new(),
            started: false,
            operations: 0,
            measuring: false,
            counters_before: Vec::new(),
            steps: Vec::new(),
        }))
    }

    /// Puts its files on the drives, in no time.
    ///
    /// # Errors
    /// Interruption.
    pub fn lay_out(&mut self, machine: &mut Machine, control: &Control) -> Result<(), RunError> {
        let total = self.app.lay_out_bytes().max(1);
        let (mut wanted, mut done) = (Vec::new(), 0);
        let mut batch: Vec<UntimedWrite> = Vec::new();
        loop {
            wanted.clear();
            self.app.lay_out(AT_ONCE, &mut wanted);
            for same in
                wanted.chunk_by(|first, next| self.targets[usize::from(first.0)] == self.targets[usize::from(next.0)])
            {
                batch.clear();
                batch.extend(same.iter().map(|(_, write)| *write));
                done += batch.iter().map(|write| u64::from(write.len)).sum::<u64>();
                machine.write_untimed(self.targets[usize::from(same[0].0)], &batch);
            }
            control.report(done as f64 / total as f64, 0)?;
            if wanted.is_empty() {
                return Ok(());
            }
        }
    }

    fn begin_measuring(&mut self, now: Instant) {
        self.measuring = true;
        self.stats = AppStats::new(self.app.as_ref());
        self.counters_before = self.app.counters();
        self.series.begin(now);
    }

    /// Ends the measurement after `duration`; returns its figures.
    pub fn end_measuring(&mut self, duration: Span) -> AppRecord {
        self.measuring = false;
        self.stats.count(&self.counters_before, &self.app.counters());
        self.steps.push(self.stats.clone());
        AppRecord::new(self.app.as_ref(), &self.steps[self.steps.len() - 1..], duration)
    }

    /// Return its findings: the figures of the whole measured time and its series.
    pub fn finish(self, duration: Span) -> Findings {
        let record = AppRecord::new(self.app.as_ref(), &self.steps, duration);
        let table = self.series.finish(duration, &self.app.operations());
        Findings::default().with("app", record).with_table(table)
    }
}

impl Source for AppAtWork {
    /// Its clients begin with the first phase, and run in all.
    fn begin_phase(&mut self, start: &PhaseStart) {
        if start.phase.measure {
            self.begin_measuring(start.now);
        }
        if !self.started {
            self.started = true;
            self.app.start(start.now);
        }
    }

    fn next_time(&self) -> Option<Instant> {
        self.app.next_time()
    }

    fn wake(&mut self, now: Instant) {
        self.app.advance(now);
    }

    /// Once there is none, the operations that ended are counted.
    fn next_io(&mut self, _: Instant, _: &mut [Stream]) -> Option<SourceIo> {
        if let Some(io) = self.app.next_io() {
            let stream = self.first + usize::from(io.stream);
            return Some(SourceIo { stream: stream as u32, token: io.token, request: io.request });
        }
        self.app.take_ended(&mut self.ended);
        self.operations += self.ended.len() as u64;
        if self.measuring {
            for ended in &self.ended {
                self.stats.ended(ended);
                self.series.ended(ended);
            }
        }
        self.ended.clear();
        None
    }

    fn completed(&mut self, now: Instant, answer: Answer) {
        self.app.completed(now, answer.token);
    }

    fn operations(&self) -> u64 {
        self.operations
    }
}
