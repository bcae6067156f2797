//! The section "trace" of a record: recorded figures next to those of the replay.

use hotband_units::{Instant, Span};
use hotband_workloads::{Issue, Replayed, TraceSpec};
use serde::Serialize;

use crate::sources::trace::comparison::{Compared, Comparison, Distance, Pairs};
use crate::sources::trace::spans::{Spans, Times};

/// First issue and last answer.
#[derive(Clone, Copy, Debug)]
struct Extent(Instant, Instant);

impl Extent {
    fn new() -> Self {
        Self(Instant::NEVER, Instant::ZERO)
    }

    fn add(&mut self, issued: Instant, answered: Instant) {
        *self = Self(self.0.min(issued), self.1.max(answered));
    }

    fn length(self) -> Span {
        self.1.since(self.0)
    }
}

/// A direction: the same I/Os as recorded and as replayed.
#[derive(Clone, Debug, Serialize)]
struct Beside {
    count: u64,
    recorded: Option<Times>,
    replayed: Option<Times>,
}

impl Beside {
    fn of_pairs(pairs: &Pairs) -> Self {
        let Pairs { measured, replayed, .. } = pairs;
        Self { count: measured.count(), recorded: measured.times(), replayed: replayed.times() }
    }
}

/// Statistics of a trace in measured phases.
pub struct TraceStats {
    spec: TraceSpec,
    /// I/Os of the whole trace that are not where they were recorded.
    moved: u64,
    ios: u64,
    /// I/Os issued at their recorded time, and the delay of the others.
    on_time: u64,
    late: Spans,
    recorded: Extent,
    replayed: Extent,
    /// Recorded and replayed latencies of I/Os that were served both times.
    compared: Compared,
}

impl TraceStats {
    pub fn new(spec: &TraceSpec, moved: u64) -> Self {
        Self {
            spec: spec.clone(),
            moved,
            ios: 0,
            on_time: 0,
            late: Spans::new(),
            recorded: Extent::new(),
            replayed: Extent::new(),
            compared: Compared::default(),
        }
    }

    /// An I/O was requested.
    pub fn asked(&mut self, late: Span) {
        if late == Span::ZERO {
            self.on_time += 1;
        } else {
            self.late.add(late);
        }
    }

    /// Notes the completion of an I/O at this distance from the one issued before it; `failed` if it was not served.
    pub fn answered(&mut self, replayed: &Replayed, distance: Distance, now: Instant, failed: bool) {
        let Replayed { io, asked } = replayed;
        self.ios += 1;
        self.replayed.add(*asked, now);
        let Some(latency) = io.latency else { return };
        self.recorded.add(io.issue, io.issue + latency);
        if failed || io.failed {
            return;
        }
        self.compared.add(io.op, distance, latency, now.since(*asked));
    }

    /// Measured next to replayed latencies of several traces together; none if they have none.
    pub fn comparison<'a>(stats: impl IntoIterator<Item = &'a Self>) -> Option<Comparison> {
        let mut all = Compared::default();
        stats.into_iter().for_each(|stats| all.add_all(&stats.compared));
        all.record()
    }

    /// Ends the replay; returns its record.
    pub fn record(self) -> TraceRecord {
        let Self { spec, moved, ios, on_time, mut late, recorded, replayed, compared } = self;
        late.add_zeros(on_time);
        let [read, write, flush, trim] = compared.by_direction().map(|pairs| pairs.as_ref().map(Beside::of_pairs));
        let has_latencies = [&read, &write, &flush, &trim].into_iter().any(Option::is_some);
        let depth = if let Issue::AsFastAsPossible { depth } = spec.issue { Some(depth) } else { None };
        TraceRecord {
            file: spec.file,
            issue: spec.issue.name(),
            speed: depth.is_none().then_some(spec.speed),
            depth,
            beyond: (moved > 0).then(|| BeyondRecord { how: spec.beyond.name(), moved }),
            ios,
            recorded_ns: has_latencies.then(|| recorded.length().0),
            replayed_ns: replayed.length().0,
            issue_error: late.times().filter(|_| depth.is_none()),
            read,
            write,
            flush,
            trim,
        }
    }
}

/// Addresses that did not fit.
#[derive(Clone, Debug, Serialize)]
struct BeyondRecord {
    /// Value of the key `beyond`.
    how: &'static str,
    /// I/Os of the trace that are elsewhere on their volume than they were recorded.
    moved: u64,
}

/// The section.
#[derive(Clone, Debug, Serialize)]
pub struct TraceRecord {
    file: String,
    issue: &'static str,
    /// Replay speed; none if I/Os are not requested at recorded times.
    speed: Option<f64>,
    depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beyond: Option<BeyondRecord>,
    /// I/Os of it that were completed in the measured time.
    ios: u64,
    /// Time from the first issue to the last completion in the recording.
    recorded_ns: Option<u64>,
    /// Time from the first issue to the last answer of these, in the replay.
    replayed_ns: u64,
    /// Delay of I/Os against their planned times.
    issue_error: Option<Times>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Beside>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<Beside>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush: Option<Beside>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<Beside>,
}
