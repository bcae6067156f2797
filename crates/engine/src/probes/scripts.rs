//! Runs of scripts: their number, durations and times.

use hdrhistogram::Histogram;
use hotband_units::{Instant, Span};
use hotband_workloads::ScriptSpec;
use serde::Serialize;

use crate::probes::direction::empty_histogram;

/// Runs of one script that ended in a part of the measured time.
#[derive(Clone, Debug)]
pub struct ScriptStats {
    pub completed: u64,
    sum: u128,
    longest: u64,
    histogram: Histogram<u64>,
    first_begin: Instant,
    last_end: Instant,
    /// Client, begin and end of every run, where clients run once.
    runs: Option<Vec<(u32, Instant, Instant)>>,
    /// Clients that were active.
    pub clients: u32,
    /// How long the next run of those that arrived has waited for a client, at the end.
    pub backlog: Span,
}

impl ScriptStats {
    pub fn new(repeat: bool, clients: u32) -> Self {
        Self {
            completed: 0,
            sum: 0,
            longest: 0,
            histogram: empty_histogram(),
            first_begin: Instant::NEVER,
            last_end: Instant::ZERO,
            runs: (!repeat).then(Vec::new),
            clients,
            backlog: Span::ZERO,
        }
    }

    /// A run of `client` is over.
    pub fn completed(&mut self, client: u32, begin: Instant, end: Instant) {
        let duration = end.since(begin).0;
        self.completed += 1;
        self.sum += u128::from(duration);
        self.longest = self.longest.max(duration);
        self.histogram.saturating_record(duration);
        self.first_begin = self.first_begin.min(begin);
        self.last_end = self.last_end.max(end);
        if let Some(runs) = &mut self.runs {
            runs.push((client, begin, end));
        }
    }

    /// Adds the runs completed in another part of the measured time.
    pub fn add(&mut self, other: &Self) {
        self.completed += other.completed;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
        self.first_begin = self.first_begin.min(other.first_begin);
        self.last_end = self.last_end.max(other.last_end);
        if let (Some(runs), Some(more)) = (&mut self.runs, &other.runs) {
            runs.extend_from_slice(more);
        }
        self.clients = self.clients.max(other.clients);
        self.backlog = other.backlog;
    }
}

/// Figures of one script. Times are relative to the beginning of the measured time: a run that began before it has a
/// negative begin.
#[derive(Clone, Debug, Serialize)]
pub struct ScriptRecord {
    name: String,
    unit: String,
    clients: u32,
    /// Runs that ended in the measured time.
    pub completed: u64,
    /// Runs per second.
    pub per_second: f64,
    /// Rate at which runs arrive, if they arrive on their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_per_second: Option<f64>,
    /// How long the next of them has waited for a client at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    backlog_ns: Option<u64>,
    duration_mean_ns: Option<f64>,
    duration_p50_ns: Option<u64>,
    duration_p99_ns: Option<u64>,
    duration_p999_ns: Option<u64>,
    duration_max_ns: Option<u64>,
    first_begin_ns: Option<i64>,
    last_end_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<RunRecord>>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct RunRecord {
    client: u32,
    begin_ns: i64,
    end_ns: i64,
}

impl ScriptRecord {
    /// The figures of `stats`, collected over `duration`, of a measured time that began at `begin`.
    pub fn new(spec: &ScriptSpec, stats: &ScriptStats, begin: Instant, duration: Span) -> Self {
        let some = stats.completed > 0;
        let since = |at: Instant| at.0 as i64 - begin.0 as i64;
        let at = |share: f64| some.then(|| stats.histogram.value_at_quantile(share).min(stats.longest));
        let run = |(client, begin, end): &(u32, Instant, Instant)| RunRecord {
            client: *client,
            begin_ns: since(*begin),
            end_ns: since(*end),
        };
        Self {
            name: spec.name.clone(),
            unit: spec.unit.clone(),
            clients: stats.clients,
            completed: stats.completed,
            per_second: stats.completed as f64 / duration.as_secs_f64(),
            requested_per_second: spec.arrivals.map(|(rate, _)| rate),
            backlog_ns: spec.arrivals.map(|_| stats.backlog.0),
            duration_mean_ns: some.then(|| stats.sum as f64 / stats.completed as f64),
            duration_p50_ns: at(0.5),
            duration_p99_ns: at(0.99),
            duration_p999_ns: at(0.999),
            duration_max_ns: some.then_some(stats.longest),
            first_begin_ns: some.then(|| since(stats.first_begin)),
            last_end_ns: some.then(|| since(stats.last_end)),
            runs: stats.runs.as_ref().map(|runs| runs.iter().map(run).collect()),
        }
    }

    /// Return the note about clients that did not finish their only run.
    pub fn note(&self) -> Option<String> {
        let (done, clients) = (self.completed, u64::from(self.clients));
        let (name, unit) = (&self.name, &self.unit);
        (self.runs.is_some() && done < clients).then(|| {
            format!("unfinished: {done} of {clients} clients of \"{name}\" ended their {unit} in the measured time")
        })
    }
}
