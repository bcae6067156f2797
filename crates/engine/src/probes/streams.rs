//! What a run leaves behind while it runs: sides, series, counters.

use hotband_machine::{Machine, Op, PartReport};
use hotband_units::{Instant, Span};

use crate::probes::Answered;
use crate::probes::caches::CacheWatch;
use crate::probes::direction::Side;
use crate::probes::power::PowerWatch;
use crate::probes::smart::SmartWatch;
use crate::probes::steps::Steps;

/// Read, write, flush and trim of one stream.
pub type Sides = [Side; 4];

/// The per-interval series, by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Start of the interval since the measured time began.
    pub time_ns: Vec<u64>,
    /// Index of the stream.
    pub stream: Vec<u32>,
    /// 0 read, 1 write.
    pub direction: Vec<u8>,
    /// I/Os a second.
    pub iops: Vec<f64>,
    /// Bytes a second.
    pub bandwidth_bytes_per_s: Vec<f64>,
    /// Mean latency, if there was an I/O.
    pub latency_mean_ns: Vec<Option<f64>>,
    /// Exact 99th percentile, if there was an I/O.
    pub latency_p99_ns: Vec<Option<u64>>,
    /// Mean I/Os outstanding.
    pub queue_depth: Vec<f64>,
}

/// Collects what a record holds.
pub struct Recorder {
    pub streams: Vec<Sides>,
    pub series: Series,
    /// Whether the measured phase is on.
    pub measuring: bool,
    /// Which directions ever had I/O, so that idle ones make no rows.
    pub used: Vec<[bool; 4]>,
    /// The measured phases.
    pub steps: Steps,
    /// When the measured time began.
    pub begin: Instant,
    interval: Span,
    interval_start: Instant,
    /// Counters when the measured time began.
    pub before: Vec<PartReport>,
    /// The caches of the machine.
    pub caches: CacheWatch,
    /// What its drives draw.
    pub power: PowerWatch,
    /// The SMART attributes of its drives.
    pub smart: SmartWatch,
}

/// Index of an operation among the sides.
#[inline]
pub fn side_of(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Flush => 2,
        Op::Trim => 3,
    }
}

impl Recorder {
    pub fn new(streams: usize, interval: Span, smart_interval: Span) -> Self {
        Self {
            streams: (0..streams).map(|_| [Side::new(), Side::new(), Side::new(), Side::new()]).collect(),
            series: Series::default(),
            measuring: false,
            used: vec![[false; 4]; streams],
            steps: Steps::default(),
            begin: Instant::ZERO,
            interval,
            interval_start: Instant::ZERO,
            before: Vec::new(),
            caches: CacheWatch::default(),
            power: PowerWatch::default(),
            smart: SmartWatch::new(smart_interval),
        }
    }

    /// A measured phase begins at `now`.
    pub fn begin(&mut self, now: Instant, before: Vec<PartReport>, machine: &Machine) {
        if self.steps.done.is_empty() {
            (self.begin, self.before) = (now, before);
            self.caches.begin(now, machine);
            self.smart.begin(machine);
        }
        self.power.begin(machine);
        self.steps.begin(now, &self.streams);
        self.streams.iter_mut().flatten().for_each(|side| side.begin(now));
        (self.measuring, self.interval_start) = (true, now);
    }

    /// An I/O is about to be submitted.
    #[inline]
    pub fn submitted(&mut self, now: Instant, stream: u16, op: Op) {
        let (stream, side) = (usize::from(stream), side_of(op));
        self.used[stream][side] = true;
        self.streams[stream][side].submitted(now);
    }

    /// An I/O was answered.
    #[inline]
    pub fn completed(&mut self, io: &Answered) {
        let side = &mut self.streams[usize::from(io.stream)][side_of(io.op)];
        side.completed(io.done, io.len, self.measuring);
    }

    /// Ends every interval that is over at `now`.
    #[inline]
    pub fn tick(&mut self, now: Instant, machine: &Machine) {
        self.smart.tick(now, machine);
        if self.measuring && now >= self.interval_start + self.interval {
            self.end_intervals(now, machine);
        }
    }

    fn end_intervals(&mut self, now: Instant, machine: &Machine) {
        while now >= self.interval_start + self.interval {
            self.end_interval(self.interval_start + self.interval, machine);
        }
    }

    fn end_interval(&mut self, end: Instant, machine: &Machine) {
        let length = end.since(self.interval_start).as_secs_f64();
        let time_ns = self.interval_start.since(self.begin).0;
        for (stream, sides) in self.streams.iter_mut().enumerate() {
            for (direction, side) in sides.iter_mut().enumerate() {
                let row = side.end_interval(end);
                if direction >= 2 || !self.used[stream][direction] {
                    continue;
                }
                self.series.time_ns.push(time_ns);
                self.series.stream.push(stream as u32);
                self.series.direction.push(direction as u8);
                self.series.iops.push(row.count as f64 / length);
                self.series.bandwidth_bytes_per_s.push(row.bytes as f64 / length);
                self.series.latency_mean_ns.push(row.latency_mean_ns);
                self.series.latency_p99_ns.push(row.latency_p99_ns);
                self.series.queue_depth.push(row.area as f64 / (length * 1e9));
            }
        }
        let start = self.interval_start.since(self.begin);
        self.caches.end_interval(start, end, machine);
        self.power.end_interval(start, (self.interval_start, end), machine);
        self.interval_start = end;
    }

    /// A measured phase ends at `now`.
    pub fn end(&mut self, now: Instant, machine: &Machine) {
        self.end_intervals(now, machine);
        if now > self.interval_start {
            self.end_interval(now, machine);
        }
        self.streams.iter_mut().flatten().for_each(Side::end);
        self.smart.end(machine);
        self.measuring = false;
    }
}
