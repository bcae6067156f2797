//! A trace at work: its I/Os go to the driver; replayed and recorded latencies go to the record.

mod comparison;
mod record;
mod spans;
pub mod two;

use std::collections::BTreeSet;
use std::path::PathBuf;

use hotband_machine::{Entropy, Op, SpecError};
use hotband_units::Instant;
use hotband_workloads::{
    Answer, Data, IoRequest, PhaseStart, Placed, Random, Replay, Source, SourceIo, Stream, TraceFile, TraceIo,
    TraceSpec, TraceStream, TraceTarget, Workload,
};

use crate::bind::{stops_trims, target_of};
use crate::build::assemble::Assembled;
use crate::probes::Findings;
use crate::sources::trace::comparison::Distance;
use crate::sources::trace::record::{TraceRecord, TraceStats};

/// A trace of a workload, opened: not yet bound to a machine.
pub struct Opened(TraceFile);

impl Opened {
    /// Opens the rows of each trace of `workload`. The unmeasured part of the recording becomes a separate phase if
    /// the workload replays one trace and says no phases.
    ///
    /// # Errors
    /// There are no rows of it, or none that can be read.
    pub fn all(workload: &mut Workload, rows: &[PathBuf]) -> Result<Vec<Self>, SpecError> {
        let open = |(spec, rows): (&TraceSpec, Option<&PathBuf>)| {
            let wrong =
                |accepted: String| SpecError::new(&workload.file, &format!("{}.file", spec.key), &spec.file, accepted);
            let rows = rows.ok_or_else(|| wrong("nobody has made rows of this file".to_owned()))?;
            TraceFile::open(rows).map(Self).map_err(|error| wrong(error.to_string()))
        };
        let rows = rows.iter().map(Some).chain(std::iter::repeat(None));
        let opened: Vec<Self> = workload.traces.iter().zip(rows).map(open).collect::<Result<_, _>>()?;
        if let ([spec], [Self(trace)]) = (&workload.traces[..], &opened[..]) {
            let (unmeasured, ios) = (trace.head().unmeasured, trace.head().ios);
            if spec.is_whole && (1..ios).contains(&unmeasured) {
                workload.phases.insert(0, TraceSpec::unmeasured(unmeasured));
            }
        }
        Ok(opened)
    }

    /// Binds them to their volumes.
    ///
    /// # Errors
    /// A volume that is not there, or an I/O that cannot be asked of its volume.
    pub fn bind(
        opened: Vec<Self>,
        workload: &Workload,
        assembled: &Assembled,
        seed: u64,
        power_cut: bool,
    ) -> Result<Vec<TraceAtWork>, SpecError> {
        let names = names(workload, &opened)?;
        let mut first = workload.streams.len();
        let bind = |((Self(trace), spec), names): ((Self, &TraceSpec), Vec<String>)| {
            let bound = bound(trace, (workload, spec), (names, first), assembled, (seed, power_cut))?;
            first += bound.names.len();
            Ok(bound)
        };
        opened.into_iter().zip(&workload.traces).zip(names).map(bind).collect()
    }
}

/// Binds one, whose first stream is the stream `first` of the run.
fn bound(
    mut trace: TraceFile,
    (workload, spec): (&Workload, &TraceSpec),
    (names, first): (Vec<String>, usize),
    assembled: &Assembled,
    (seed, power_cut): (u64, bool),
) -> Result<TraceAtWork, SpecError> {
    let targets = volumes(workload, spec, &trace, assembled)?;
    let machine = &assembled.machine;
    let target = |target: &u16| TraceTarget {
        name: machine.volumes()[usize::from(*target)].name.clone(),
        size: machine.volumes()[usize::from(*target)].size,
        block: machine.drives().block().0,
        stops_trims: stops_trims(machine, *target, power_cut),
    };
    let bound: Vec<TraceTarget> = targets.iter().map(target).collect();
    let placed = spec.check(&mut trace, &bound, workload.interval)?;
    // The generator of the only trace keeps the name it always had.
    let data_of = if workload.traces.len() == 1 { "trace.data".to_owned() } else { format!("{}.data", spec.key) };
    let data = workload.data.as_ref().map(|data| Data::new(data, Random::new(seed, &data_of)));
    Ok(TraceAtWork {
        stats: TraceStats::new(spec, placed.moved),
        notes: trace.head().notes.clone(),
        replay: Replay::new(trace, spec.issue, spec.speed),
        names,
        targets,
        placed,
        first,
        data: data.unwrap_or(Data::INCOMPRESSIBLE),
        started: false,
        measuring: false,
        ends: Vec::new(),
        distances: Vec::new(),
    })
}

/// Names of the streams of each trace, which no two of them have: of several traces, with the file.
fn names(workload: &Workload, opened: &[Opened]) -> Result<Vec<Vec<String>>, SpecError> {
    let mut seen: BTreeSet<String> = workload.streams.iter().map(|stream| stream.name.clone()).collect();
    let (named, mut all) = (seen.clone(), Vec::new());
    for (Opened(trace), spec) in opened.iter().zip(&workload.traces) {
        let mut names = Vec::new();
        for stream in &trace.head().streams {
            if named.contains(&stream.name) {
                let key =
                    workload.streams.iter().find(|other| other.name == stream.name).map(|other| other.key.as_str());
                let accepted = "a stream of the trace also has this name";
                let key = format!("{}.name", key.unwrap_or_default());
                return Err(SpecError::new(&workload.file, &key, &stream.name, accepted));
            }
            let mut name = stream.name.clone();
            if seen.contains(&name) {
                name = format!("{name} of {}", spec.key);
            }
            seen.insert(name.clone());
            names.push(name);
        }
        all.push(names);
    }
    if seen.len() > usize::from(u16::MAX) {
        let accepted = format!("expected at most {} streams in all", u16::MAX);
        return Err(SpecError::new(&workload.file, "trace.file", seen.len().to_string(), accepted));
    }
    Ok(all)
}

/// The volume of each stream: the one that the workload names for all streams or for the stream's device, else the
/// machine's only volume, or that with the name of the device.
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
    if let Some((device, _)) = spec.map.iter().find(|(device, _)| !known.contains(&device.as_str())) {
        return Err(SpecError::unknown(&workload.file, &format!("{}.map", spec.key), device, &known));
    }
    let is_single = assembled.machine.volumes().len() == 1 && known.len() <= 1;
    let volume = |stream: &TraceStream| {
        let device = stream.volume.as_deref();
        let mapped = spec.map.iter().find(|(from, _)| Some(from.as_str()) == device).map(|(_, to)| to.as_str());
        let device_volume = mapped.or_else(|| device.filter(|_| !is_single));
        let requested = spec.volume.as_deref().or(device_volume);
        target_of(workload, &format!("{}.volume", spec.key), requested, assembled).map_err(|error| {
            match (mapped, device) {
                (None, Some(device)) if spec.volume.is_none() => unmapped(workload, spec, device, &error),
                _ => error,
            }
        })
    };
    streams.iter().map(volume).collect()
}

/// A device of the trace that is not a volume of the machine.
fn unmapped(workload: &Workload, spec: &TraceSpec, device: &str, error: &SpecError) -> SpecError {
    let options = format!("map = {{ {device:?} = VOLUME }}, volume = VOLUME (--set volume=VOLUME) for all devices");
    let accepted = format!(
        "is a device of the trace, but not a volume; use {options}, or device to replay a single one; {}",
        error.accepted
    );
    SpecError::new(&workload.file, &format!("{}.map", spec.key), device, accepted)
}

/// A trace, bound to its volumes.
pub struct TraceAtWork {
    replay: Replay,
    /// Names of its streams.
    pub names: Vec<String>,
    /// Target of each.
    pub targets: Vec<u16>,
    /// Placement of its I/Os on these.
    placed: Placed,
    /// Notes from reading its file.
    notes: Vec<String>,
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
    /// Their results: each recording next to its replay; a section of one, or a list of them.
    pub fn finish(mut traces: Vec<Self>) -> Findings {
        let failed = |trace: &Self| trace.replay.failed().map(|error| format!("the replay ended early: {error}"));
        let notes: Vec<String> = traces
            .iter_mut()
            .flat_map(|trace| std::mem::take(&mut trace.notes).into_iter().chain(failed(trace)))
            .collect();
        let comparison = TraceStats::comparison(traces.iter().map(|trace| &trace.stats));
        let mut records: Vec<TraceRecord> = traces.into_iter().map(|trace| trace.stats.record()).collect();
        let findings = Findings::default().with_notes(notes);
        let findings = match comparison {
            Some(comparison) => findings.with("comparison", comparison),
            None => findings,
        };
        match records.len() {
            0 => findings,
            1 => findings.with("trace", records.remove(0)),
            _ => findings.with("traces", records),
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
    /// Begins with the first phase, and continues in all.
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
        let replayed = self.replay.ask(now)?;
        if self.measuring {
            self.stats.asked(replayed.late);
        }
        let io = replayed.io;
        self.keep_distance(replayed.token, &io);
        let entropy = if io.op == Op::Write { self.data.draw() } else { Entropy::INCOMPRESSIBLE };
        let placed = &self.placed.of_stream[usize::from(io.stream)];
        let (offset, len) = if io.op == Op::Flush { (0, 0) } else { (placed.offset(&io), io.len as u32) };
        let request = IoRequest { op: io.op, offset, len, fua: io.fua, entropy };
        Some(SourceIo { stream: (self.first + usize::from(io.stream)) as u32, token: replayed.token, request })
    }

    fn completed(&mut self, now: Instant, answer: Answer) {
        let replayed = self.replay.answered(now, answer.token);
        if self.measuring {
            let distance = self.distances[answer.token as usize];
            self.stats.answered(&replayed, distance, now, answer.failed);
        }
    }
}
