//! A trace at work: what it asks for goes to the driver, what became of it beside what was recorded to the record.

mod comparison;
mod record;

use std::path::Path;

use hotband_machine::{Entropy, Op, SpecError};
use hotband_units::Instant;
use hotband_workloads::{
    Answer, Data, IoRequest, PhaseStart, Random, Replay, Source, SourceIo, Stream, TraceFile, TraceIo, TraceSpec,
    TraceTarget, Workload,
};

use crate::bind::{stops_trims, target_of, trims_with_power_cut};
use crate::build::assemble::Assembled;
use crate::probes::Findings;
use crate::sources::trace::comparison::Distance;
use crate::sources::trace::record::TraceStats;

/// The trace of a workload, opened: not yet bound to a machine.
pub struct Opened(TraceFile);

impl Opened {
    /// Opens the rows of the trace of `workload`, if it has one. What was not measured in the recording becomes a phase
    /// of its own where the workload says no phases.
    ///
    /// # Errors
    /// There are no rows of it, or none that can be read.
    pub fn new(workload: &mut Workload, rows: Option<&Path>) -> Result<Option<Self>, SpecError> {
        let Some(spec) = &workload.trace else { return Ok(None) };
        let wrong = |accepted: String| SpecError::new(&workload.file, "trace.file", &spec.file, accepted);
        let rows = rows.ok_or_else(|| wrong("nobody has made rows of this file".to_owned()))?;
        let trace = TraceFile::open(rows).map_err(|error| wrong(error.to_string()))?;
        let (unmeasured, ios) = (trace.head().unmeasured, trace.head().ios);
        if spec.is_whole && (1..ios).contains(&unmeasured) {
            workload.phases.insert(0, TraceSpec::unmeasured(unmeasured));
        }
        Ok(Some(Self(trace)))
    }

    /// Binds it to its volumes.
    ///
    /// # Errors
    /// A volume that is not there, or an I/O that cannot be asked of its volume.
    pub fn bind(
        self,
        workload: &Workload,
        assembled: &Assembled,
        seed: u64,
        power_cut: bool,
    ) -> Result<TraceAtWork, SpecError> {
        let Self(mut trace) = self;
        let spec = workload.trace.as_ref().expect("a trace was opened for it");
        let targets = volumes(workload, spec, &trace, assembled)?;
        let machine = &assembled.machine;
        let target = |target: &u16| TraceTarget {
            name: machine.volumes()[usize::from(*target)].name.clone(),
            size: machine.volumes()[usize::from(*target)].size,
            block: machine.drives().block().0,
            stops_trims: (!machine.layouts().passes_trim(*target))
                .then(|| stops_trims(machine, *target))
                .or_else(|| trims_with_power_cut().filter(|_| power_cut)),
        };
        let bound: Vec<TraceTarget> = targets.iter().map(target).collect();
        spec.check(&mut trace, &bound, workload.interval)?;
        let names = trace.head().streams.iter().map(|stream| stream.name.clone()).collect();
        let data = workload.data.as_ref().map(|data| Data::new(data, Random::new(seed, "trace.data")));
        Ok(TraceAtWork {
            stats: TraceStats::new(spec),
            replay: Replay::new(trace, spec.issue, spec.speed),
            names,
            targets,
            first: workload.streams.len(),
            data: data.unwrap_or(Data::INCOMPRESSIBLE),
            started: false,
            measuring: false,
            ends: Vec::new(),
            distances: Vec::new(),
        })
    }
}

/// The volume of each stream: the one that the workload says, the one that the machine has, or that of the same name.
fn volumes(
    workload: &Workload,
    spec: &TraceSpec,
    trace: &TraceFile,
    assembled: &Assembled,
) -> Result<Vec<u16>, SpecError> {
    let streams = &trace.head().streams;
    let mut known: Vec<&str> = streams.iter().filter_map(|stream| stream.volume.as_deref()).collect();
    known.sort_unstable();
    known.dedup();
    if let Some(twice) = workload.streams.iter().find(|own| streams.iter().any(|stream| stream.name == own.name)) {
        let accepted = "a stream of the trace has this name, too";
        return Err(SpecError::new(&workload.file, &format!("{}.name", twice.key), &twice.name, accepted));
    }
    if workload.streams.len() + streams.len() > usize::from(u16::MAX) {
        let accepted = format!("expected at most {} streams in all", u16::MAX);
        return Err(SpecError::new(&workload.file, "trace.file", streams.len().to_string(), accepted));
    }
    let one = assembled.machine.volumes().len() == 1 && known.len() <= 1;
    let volume = |stream: &hotband_workloads::TraceStream| {
        let own = stream.volume.as_deref().filter(|_| !one);
        target_of(workload, "trace.volume", spec.volume.as_deref().or(own), assembled)
    };
    streams.iter().map(volume).collect()
}

/// A trace, bound to its volumes.
pub struct TraceAtWork {
    replay: Replay,
    /// Names of its streams.
    pub names: Vec<String>,
    /// Target of each.
    pub targets: Vec<u16>,
    /// Index of its first stream among all of the run.
    first: usize,
    data: Data,
    started: bool,
    measuring: bool,
    stats: TraceStats,
    /// Where the last I/O asked for ended, by volume; and how far from there each that is outstanding began, by token.
    ends: Vec<u64>,
    distances: Vec<Distance>,
}

impl TraceAtWork {
    /// What it leaves: the recording beside the replay.
    pub fn finish(self) -> Findings {
        let note = self.replay.failed().map(|error| format!("the replay ended early: {error}"));
        let comparison = self.stats.comparison();
        let findings = Findings::default().with("trace", self.stats.record()).with_notes(note);
        match comparison {
            Some(comparison) => findings.with("comparison", comparison),
            None => findings,
        }
    }

    /// Keeps how far a read or a write begins from where the last one on its volume ended.
    fn keep_distance(&mut self, token: u32, io: &TraceIo) {
        let token = token as usize;
        if self.distances.len() <= token {
            self.distances.resize(token + 1, Distance::Far);
        }
        if !matches!(io.op, Op::Read | Op::Write) {
            return;
        }
        let volume = usize::from(self.targets[usize::from(io.stream)]);
        if self.ends.len() <= volume {
            self.ends.resize(volume + 1, 0);
        }
        let end = std::mem::replace(&mut self.ends[volume], io.offset + io.len);
        self.distances[token] = Distance::between(end, io.offset);
    }
}

impl Source for TraceAtWork {
    /// It begins with the first phase, and goes on in all.
    fn begin_phase(&mut self, start: &PhaseStart) {
        self.measuring = start.phase.measure;
        if !self.started {
            self.started = true;
            self.replay.begin(start.now);
        }
    }

    fn next_time(&self) -> Option<Instant> {
        self.replay.next_time()
    }

    fn wake(&mut self, _: Instant) {}

    fn next_io(&mut self, now: Instant, _: &mut [Stream]) -> Option<SourceIo> {
        let asked = self.replay.ask(now)?;
        if self.measuring {
            self.stats.asked(asked.late);
        }
        let io = asked.io;
        self.keep_distance(asked.token, &io);
        let entropy = if io.op == Op::Write { self.data.draw() } else { Entropy::INCOMPRESSIBLE };
        let (offset, len) = if io.op == Op::Flush { (0, 0) } else { (io.offset, io.len as u32) };
        let request = IoRequest { op: io.op, offset, len, fua: io.fua, entropy };
        Some(SourceIo { stream: (self.first + usize::from(io.stream)) as u32, token: asked.token, request })
    }

    fn completed(&mut self, now: Instant, answer: Answer) {
        let replayed = self.replay.answered(now, answer.token);
        if self.measuring {
            let distance = self.distances[answer.token as usize];
            self.stats.answered(&replayed, distance, now, answer.failed);
        }
    }
}
