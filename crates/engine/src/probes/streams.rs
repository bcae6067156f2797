//! Statistics of streams: counts, latencies, queue depth, and all of that over time. The one probe that every I/O pays
//! for.

use hotband_machine::Op;
use hotband_units::{Instant, Span};

use crate::control::Passed;
use crate::probes::direction::{DirectionStats, Directions};
use crate::probes::probe::{Answered, Interval};
use crate::probes::steps::{Step, StepEnd, Steps};
use crate::probes::table::{Table, Text, rows};

/// Name of the table; a record says more of its file than of others.
pub const SERIES: &str = "series";

rows! { "series":
    /// A direction of a stream in an interval.
    pub struct SeriesRow {
        /// Start of the interval since the measured time began.
        time_ns: u64,
        /// Name of the stream.
        stream: Text,
        /// "read" or "write".
        direction: Text,
        /// I/Os a second.
        iops: f64,
        /// Bytes a second.
        bandwidth_bytes_per_s: f64,
        /// Mean latency, if there was an I/O.
        latency_mean_ns: Option<f64>,
        /// Exact 99th percentile, if there was an I/O.
        latency_p99_ns: Option<u64>,
        /// Mean I/Os outstanding.
        queue_depth: f64,
    }
}

/// Counts the I/Os of streams.
pub struct Streams {
    pub names: Vec<Text>,
    pub all: Vec<Directions>,
    pub table: Table,
    /// Completed intervals that whoever watches the run has not received yet.
    pub passed: Vec<Passed>,
    /// The measured phases.
    pub steps: Steps,
    measuring: bool,
    /// Directions that ever had I/O, so that idle ones make no rows.
    used: Vec<[bool; 4]>,
    /// "read" and "write".
    directions: [Text; 2],
}

/// Index of an operation among the directions.
#[inline]
pub fn direction_of(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Flush => 2,
        Op::Trim => 3,
    }
}

impl Streams {
    pub fn new(names: &[String]) -> Self {
        let none = || std::array::from_fn(|_| DirectionStats::new());
        Self {
            names: names.iter().map(|name| name.as_str().into()).collect(),
            all: names.iter().map(|_| none()).collect(),
            table: Table::of::<SeriesRow>(),
            passed: Vec::new(),
            steps: Steps::default(),
            measuring: false,
            used: vec![[false; 4]; names.len()],
            directions: ["read".into(), "write".into()],
        }
    }

    /// A measured phase begins at `now`.
    pub fn begin(&mut self, now: Instant) {
        self.steps.begin(now, &self.all);
        self.all.iter_mut().flatten().for_each(|stats| stats.begin(now));
        self.measuring = true;
    }

    /// An I/O is about to be submitted.
    #[inline]
    pub fn submitted(&mut self, now: Instant, stream: u16, op: Op) {
        let (stream, direction) = (usize::from(stream), direction_of(op));
        self.used[stream][direction] = true;
        self.all[stream][direction].submitted(now);
    }

    /// An I/O was completed.
    #[inline]
    pub fn completed(&mut self, io: &Answered) {
        let stats = &mut self.all[usize::from(io.stream)][direction_of(io.op)];
        stats.completed(io.done, io.len, self.measuring);
    }

    /// Yields each latency of reads and writes that was not read yet; returns the bytes of all so far.
    pub fn take_latencies(&mut self, mut take: impl FnMut(u64)) -> u64 {
        let sides = self.all.iter_mut().flat_map(|directions| &mut directions[..2]);
        sides.fold(0, |bytes, stats| {
            stats.take_latencies().iter().for_each(|latency| take(*latency));
            bytes + stats.bytes_so_far()
        })
    }

    /// An interval is over.
    pub fn interval(&mut self, interval: &Interval) {
        let length = interval.length().as_secs_f64();
        let (mut ios, mut latency_ns) = (0_u64, 0.0);
        for (stream, directions) in self.all.iter_mut().enumerate() {
            for (direction, stats) in directions.iter_mut().enumerate() {
                let row = stats.end_interval(interval.end);
                if direction >= self.directions.len() || !self.used[stream][direction] {
                    continue;
                }
                ios += row.count;
                latency_ns += row.latency_mean_ns.unwrap_or(0.0) * row.count as f64;
                self.table.push(SeriesRow {
                    time_ns: interval.time_ns,
                    stream: self.names[stream].clone(),
                    direction: self.directions[direction].clone(),
                    iops: row.count as f64 / length,
                    bandwidth_bytes_per_s: row.bytes as f64 / length,
                    latency_mean_ns: row.latency_mean_ns,
                    latency_p99_ns: row.latency_p99_ns,
                    queue_depth: row.area as f64 / (length * 1e9),
                });
            }
        }
        let latency_mean_ns = (ios > 0).then(|| latency_ns / ios as f64);
        self.passed.push(Passed { time_ns: interval.time_ns, iops: ios as f64 / length, latency_mean_ns });
    }

    /// A measured phase ends at `now`, after its last interval; returns how long it was.
    pub fn end_step(&mut self, step: StepEnd, now: Instant) -> Span {
        self.all.iter_mut().flatten().for_each(DirectionStats::end);
        self.measuring = false;
        self.steps.end(step, now, &self.all)
    }

    /// Ends the measured time; `all` then covers all steps.
    pub fn join_steps(&mut self) {
        self.steps.join(&mut self.all);
    }

    /// Reads and writes that were served.
    pub fn served(&self) -> u64 {
        self.all.iter().flat_map(|directions| &directions[..2]).map(|stats| stats.count).sum()
    }

    /// The measured phases, if there is more than one.
    pub fn several_steps(&self) -> Vec<Step> {
        if self.steps.done.len() > 1 { self.steps.done.clone() } else { Vec::new() }
    }
}
