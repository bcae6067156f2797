//! The section "trace" of a record: what was recorded beside what became of it now.

use hdrhistogram::Histogram;
use hotband_units::{Instant, Span};
use hotband_workloads::{Issue, Replayed, TraceSpec};
use serde::Serialize;

use crate::probes::direction::empty_histogram;
use crate::probes::streams::direction_of;
use crate::sources::trace::comparison::{Compared, Comparison, Distance};

/// Latencies or errors, in ns.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "keys of JSON end in their unit")]
struct Times {
    mean_ns: f64,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

/// The same while they are counted.
#[derive(Clone, Debug)]
struct Spans {
    sum: u128,
    longest: u64,
    histogram: Histogram<u64>,
}

impl Spans {
    fn new() -> Self {
        Self { sum: 0, longest: 0, histogram: empty_histogram() }
    }

    fn add(&mut self, span: Span) {
        self.sum += u128::from(span.0);
        self.longest = self.longest.max(span.0);
        self.histogram.saturating_record(span.0);
    }

    fn times(&self) -> Option<Times> {
        let count = self.histogram.len();
        // A quantile is the upper end of its bucket, which may lie beyond the longest of all.
        let at = |share| self.histogram.value_at_quantile(share).min(self.longest);
        (count > 0).then(|| Times {
            mean_ns: self.sum as f64 / count as f64,
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            max_ns: self.longest,
        })
    }
}

/// First issue and last answer.
#[derive(Clone, Copy, Debug)]
struct Extent(Instant, Instant);

impl Extent {
    fn new() -> Self {
        Self(Instant::NEVER, Instant::ZERO)
    }

    fn add(&mut self, asked: Instant, answered: Instant) {
        *self = Self(self.0.min(asked), self.1.max(answered));
    }

    fn length(self) -> Span {
        self.1.since(self.0)
    }
}

/// One direction: the same I/Os as they were recorded, and now.
#[derive(Clone, Debug, Serialize)]
struct Beside {
    count: u64,
    recorded: Option<Times>,
    replayed: Option<Times>,
}

/// What became of a trace, counted in measured phases.
pub struct TraceStats {
    spec: TraceSpec,
    /// I/Os of all of it that are not where they were recorded.
    moved: u64,
    ios: u64,
    /// How much later than they were to be I/Os were asked for.
    late: Spans,
    recorded: Extent,
    replayed: Extent,
    /// Recorded and replayed latencies of I/Os that were served both times, by direction; none before the first.
    latencies: [Option<Box<(Spans, Spans)>>; 4],
    compared: Compared,
}

impl TraceStats {
    pub fn new(spec: &TraceSpec, moved: u64) -> Self {
        Self {
            spec: spec.clone(),
            moved,
            ios: 0,
            late: Spans::new(),
            recorded: Extent::new(),
            replayed: Extent::new(),
            latencies: [const { None }; 4],
            compared: Compared::default(),
        }
    }

    /// An I/O was asked for.
    pub fn asked(&mut self, late: Span) {
        self.late.add(late);
    }

    /// An I/O was answered that lies at this distance from the one asked for before it; `failed` if not served.
    pub fn answered(&mut self, replayed: &Replayed, distance: Distance, now: Instant, failed: bool) {
        let Replayed { io, asked } = replayed;
        self.ios += 1;
        self.replayed.add(*asked, now);
        let Some(latency) = io.latency else { return };
        self.recorded.add(io.issue, io.issue + latency);
        if failed || io.failed {
            return;
        }
        let both = self.latencies[direction_of(io.op)].get_or_insert_with(|| Box::new((Spans::new(), Spans::new())));
        both.0.add(latency);
        both.1.add(now.since(*asked));
        self.compared.add(io, distance, latency, now.since(*asked));
    }

    /// Measured beside replayed latencies of several traces together; none where they have none.
    pub fn comparison<'a>(of: impl IntoIterator<Item = &'a Self>) -> Option<Comparison> {
        let mut all = Compared::default();
        of.into_iter().for_each(|stats| all.add_all(&stats.compared));
        all.record()
    }

    /// It is over.
    pub fn record(self) -> TraceRecord {
        let Self { spec, moved, ios, late, recorded, replayed, latencies, .. } = self;
        let has_latencies = latencies.iter().any(Option::is_some);
        let beside = latencies.map(|both| {
            let (recorded, replayed) = *both?;
            Some(Beside { count: recorded.histogram.len(), recorded: recorded.times(), replayed: replayed.times() })
        });
        let [read, write, flush, trim] = beside;
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
    /// As the key `beyond` has it.
    how: &'static str,
    /// I/Os of the trace that are elsewhere on their volume than they were recorded.
    moved: u64,
}

/// The section.
#[derive(Clone, Debug, Serialize)]
pub struct TraceRecord {
    file: String,
    issue: &'static str,
    /// None where I/Os are asked for at no recorded time.
    speed: Option<f64>,
    depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beyond: Option<BeyondRecord>,
    /// I/Os of it that were answered in the measured time.
    ios: u64,
    /// From the first issue to the last answer of these, in the recording.
    recorded_ns: Option<u64>,
    /// The same now.
    replayed_ns: u64,
    /// How much later than they were to be I/Os were asked for.
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
