//! All sources of a run, and which of them is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hotband_machine::PartReport;
use hotband_units::{Instant, Span};
use hotband_workloads::{
    Answer, ClosedLoop, LoadSource, OpenLoop, PhaseStart, Random, Shares, Source, SourceIo, Stream, Workload,
};

use crate::probes::Findings;
use crate::sources::app::AppAtWork;
use crate::sources::scripts::Scripts;
use crate::sources::trace::TraceAtWork;

/// A source. The two loops are known by kind, so that nothing is paid for the others per I/O; what leaves a section in
/// the record is known so that it can be asked for it.
pub enum AnySource {
    Closed(ClosedLoop),
    Open(OpenLoop),
    Scripts(Box<Scripts>),
    App(Box<AppAtWork>),
    Trace(Box<TraceAtWork>),
    Other(Box<dyn Source>),
}

/// Calls a method of whatever source it is.
macro_rules! each {
    ($any:expr, $source:ident => $call:expr) => {
        match $any {
            AnySource::Closed($source) => $call,
            AnySource::Open($source) => $call,
            AnySource::Scripts($source) => $call,
            AnySource::App($source) => $call,
            AnySource::Trace($source) => $call,
            AnySource::Other($source) => $call,
        }
    };
}

impl AnySource {
    /// Return the source as a trait object.
    pub fn source(&self) -> &dyn Source {
        match self {
            Self::Closed(source) => source,
            Self::Open(source) => source,
            Self::Scripts(source) => &**source,
            Self::App(source) => &**source,
            Self::Trace(source) => &**source,
            Self::Other(source) => &**source,
        }
    }
}

/// Sources other than plain loads, with their own streams.
#[derive(Default)]
pub struct Above {
    pub app: Option<AppAtWork>,
    pub traces: Vec<TraceAtWork>,
}

impl Above {
    /// Names of its streams, and the target of each.
    pub fn streams(&self) -> (Vec<String>, Vec<u16>) {
        let of_app = self.app.as_ref().map(|app| (app.names.clone(), app.targets.clone()));
        let names = self.traces.iter().flat_map(|trace| trace.names.iter().cloned());
        let targets = self.traces.iter().flat_map(|trace| trace.targets.iter().copied());
        of_app.unwrap_or_else(|| (names.collect(), targets.collect()))
    }
}

/// The sources of a run. Sources due at the same time issue in their order.
pub struct Sources {
    all: Vec<AnySource>,
    /// Time when each is next due; `NEVER` for one that waits.
    planned: Vec<Instant>,
    /// Like the above, by time. An outdated entry is dropped when it comes up.
    agenda: BinaryHeap<Reverse<(Instant, u32)>>,
}

impl Sources {
    /// Sources of `workload`: closed loops, then the app or traces and scripts, then those that issue by the clock.
    pub fn new(workload: &Workload, above: Above, seed: u64) -> Self {
        let loads = loads(workload, seed);
        let (closed, by_clock): (Vec<_>, Vec<_>) =
            loads.into_iter().partition(|source| matches!(source, AnySource::Closed(_)));
        let app = above.app.map(|app| AnySource::App(Box::new(app)));
        let traces = above.traces.into_iter().map(|trace| AnySource::Trace(Box::new(trace)));
        let scripts = Scripts::new(workload, seed).map(|scripts| AnySource::Scripts(Box::new(scripts)));
        let all: Vec<AnySource> = closed.into_iter().chain(app).chain(traces).chain(scripts).chain(by_clock).collect();
        Self { planned: vec![Instant::NEVER; all.len()], agenda: BinaryHeap::new(), all }
    }

    /// Return the number of sources.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Iterates over all sources.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Source> {
        self.all.iter().map(AnySource::source)
    }

    /// Return a source by its index.
    #[inline]
    pub fn get_mut(&mut self, source: u32) -> &mut AnySource {
        &mut self.all[source as usize]
    }

    /// The scripts, if the workload has any.
    pub fn scripts(&mut self) -> Option<&mut Scripts> {
        self.all
            .iter_mut()
            .find_map(|source| if let AnySource::Scripts(scripts) = source { Some(&mut **scripts) } else { None })
    }

    /// The app, if the workload has one.
    pub fn app(&mut self) -> Option<&mut AppAtWork> {
        self.all.iter_mut().find_map(|source| if let AnySource::App(app) = source { Some(&mut **app) } else { None })
    }

    /// When any of them next does something by itself.
    #[inline]
    pub fn next_time(&mut self) -> Option<Instant> {
        while let Some(Reverse((at, source))) = self.agenda.peek().copied() {
            if self.planned[source as usize] == at {
                return Some(at);
            }
            self.agenda.pop();
        }
        None
    }

    /// The next one that is due at `now`.
    #[inline]
    pub fn due(&mut self, now: Instant) -> Option<u32> {
        self.next_time().filter(|at| *at <= now)?;
        let Reverse((_, source)) = self.agenda.pop()?;
        self.planned[source as usize] = Instant::NEVER;
        Some(source)
    }

    /// Schedules the next wake-up of `source` after an event.
    pub fn plan(&mut self, source: u32) {
        let next = each!(&self.all[source as usize], any => any.next_time()).unwrap_or(Instant::NEVER);
        let planned = &mut self.planned[source as usize];
        if *planned != next {
            *planned = next;
            if next < Instant::NEVER {
                self.agenda.push(Reverse((next, source)));
            }
        }
    }

    /// A phase begins.
    pub fn begin_phase(&mut self, source: u32, start: &PhaseStart) {
        each!(&mut self.all[source as usize], any => any.begin_phase(start));
    }

    /// Wakes `source` at its `next_time`.
    pub fn wake(&mut self, source: u32, now: Instant) {
        each!(&mut self.all[source as usize], any => any.wake(now));
    }

    /// The next I/O that `source` requests now.
    #[inline]
    pub fn next_io(&mut self, source: u32, now: Instant, streams: &mut [Stream]) -> Option<SourceIo> {
        each!(&mut self.all[source as usize], any => any.next_io(now, streams))
    }

    /// An I/O of `source` is done.
    pub fn completed(&mut self, source: u32, now: Instant, answer: Answer) {
        each!(&mut self.all[source as usize], any => any.completed(now, answer));
    }

    /// Return their findings for a measured time of `duration`.
    pub fn finish(self, duration: Span) -> Findings {
        let (mut found, mut traces) = (Findings::default(), Vec::new());
        for source in self.all {
            match source {
                AnySource::Scripts(scripts) => found.extend(scripts.finish(duration)),
                AnySource::App(app) => found.extend(app.finish(duration)),
                AnySource::Trace(trace) => traces.push(*trace),
                _ => {}
            }
        }
        found.extend(TraceAtWork::finish(traces));
        found
    }

    /// Counters of the parts that belong to sources.
    pub fn report(&self) -> Vec<PartReport> {
        self.iter().filter_map(Source::report).collect()
    }
}

/// The loops and other loads of a workload, numbered in the order of the file.
fn loads(workload: &Workload, seed: u64) -> Vec<AnySource> {
    let mut loads = Vec::new();
    let shared: Vec<(usize, f64)> =
        workload.shared_streams().map(|(index, stream)| (index, stream.share_pct)).collect();
    if let Some(load) = workload.largest_load() {
        let shares = Shares::new(shared, Random::new(seed, "load"), seed, loads.len()).in_a_row(workload.in_a_row);
        loads.push(load.source(shares, true));
    }
    for (index, stream) in workload.streams.iter().enumerate() {
        if let Some(load) = &stream.load {
            let random = Random::new(seed, &format!("streams.{}.load", stream.name));
            let shares = Shares::new(vec![(index, 1.0)], random, seed, loads.len());
            loads.push(load.source(shares, false));
        }
    }
    let any = |load| match load {
        LoadSource::Closed(closed) => AnySource::Closed(closed),
        LoadSource::Open(open) => AnySource::Open(open),
        LoadSource::Other(other) => AnySource::Other(other),
    };
    loads.into_iter().map(any).collect()
}
