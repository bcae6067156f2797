//! The record of a run, as JSON. docs/guides/records.md is its contract.

pub mod limits;
pub mod sections;

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hotband_machine::{PartReport, Times};
use hotband_units::Span;
use hotband_workloads::LimitSpec;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::build::entropy_file::DataRecord;
use crate::control::RunError;
use crate::probes::caches::CachesRecord;
use crate::probes::direction::{Side, empty_histogram};
use crate::probes::operations::AppRecord;
use crate::probes::power::{EnergyRecord, PowerRecord};
use crate::probes::power_loss::PowerLoss;
use crate::probes::repair::RepairRecord;
use crate::probes::scripts::ScriptRecord;
use crate::probes::smart::SmartRecord;
use crate::probes::steady::SteadyRecord;
use crate::probes::steps::Step;
use crate::probes::streams::{Recorder, Sides};
use crate::record::limits::{LimitRecord, judge};
use crate::repair::RepairRequest;
use crate::request::Request;

/// Changes when a key of the record changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// A record. Its JSON is the same, byte for byte, for the same spec and seed.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    schema: &'static str,
    schema_version: u32,
    versions: BTreeMap<&'static str, String>,
    name: String,
    target: TargetName,
    seed: String,
    spec: Specs,
    duration_ns: u64,
    concurrency: Option<u64>,
    /// Rates and latencies over all streams.
    pub summary: Summary,
    /// The measured phases, where there is more than one.
    #[serde(skip_serializing_if = "<[Step]>::is_empty")]
    pub steps: Vec<Step>,
    streams: Vec<StreamRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scripts: Vec<ScriptRecord>,
    /// The app, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<AppRecord>,
    parts: Vec<PartRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caches: Option<CachesRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    energy: Option<EnergyRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    smart: Vec<SmartRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    data: Vec<DataRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_loss: Option<PowerLoss>,
    /// Failures, where there were to be any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairRecord>,
    /// The last phase that was to end when steady.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_state: Option<SteadyRecord>,
    /// Such phases before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steady_state_before: Vec<SteadyRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<LimitRecord>,
    /// Whether every limit was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    series: SeriesName,
    notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct TargetName {
    kind: &'static str,
    machine: String,
}

#[derive(Clone, Debug, Serialize)]
struct Specs {
    workload: String,
    machine: String,
    drives: BTreeMap<String, String>,
    set: BTreeMap<String, String>,
    duration: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_loss: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<RepairSpecs>,
}

/// What was asked for of failures, as text.
#[derive(Clone, Debug, Serialize)]
struct RepairSpecs {
    fail: Vec<String>,
    spare: u32,
    rebuild_rate: Option<String>,
    rebuild_after: Option<String>,
}

impl RepairSpecs {
    fn new(asked: &RepairRequest) -> Option<Self> {
        let RepairRequest { fail, spares, rebuild_rate, rebuild_after } = asked.clone();
        (!fail.is_empty()).then_some(Self { fail, spare: spares, rebuild_rate, rebuild_after })
    }
}

/// Rates and latencies of reads and writes together, and of each.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Reads and writes together.
    #[serde(flatten)]
    pub all: Figures,
    /// Reads.
    pub read: Figures,
    /// Writes.
    pub write: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<Figures>,
}

/// Rates and latencies.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// I/Os a second.
    pub iops: f64,
    /// Bytes a second.
    pub bandwidth_bytes_per_s: f64,
    /// I/Os.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// Their mean latency: they are part of the queue depth, and of no other rate or latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_latency_mean_ns: Option<f64>,
    /// Mean latency.
    pub latency_mean_ns: Option<f64>,
    /// Shortest latency.
    pub latency_min_ns: Option<u64>,
    /// Median latency.
    pub latency_p50_ns: Option<u64>,
    /// 99th percentile.
    pub latency_p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub latency_p999_ns: Option<u64>,
    /// Longest latency.
    pub latency_max_ns: Option<u64>,
    /// Time average of the I/Os outstanding.
    pub queue_depth_mean: f64,
    /// Where the mean latency went.
    pub times_mean_ns: Option<TimesMean>,
}

/// The parts of a mean latency; they add up to it.
#[derive(Clone, Debug, Serialize)]
pub struct TimesMean {
    queue: f64,
    overhead: f64,
    seek: f64,
    rotation: f64,
    transfer: f64,
    flash: f64,
    link: f64,
}

impl TimesMean {
    fn new(sides: &[&Side], count: f64) -> Self {
        let sum = sides.iter().fold(Times::default(), |sum, side| sum.then(&side.times));
        let mean = |part: Span| part.0 as f64 / count;
        Self {
            queue: mean(sum.queue),
            overhead: mean(sum.overhead),
            seek: mean(sum.seek),
            rotation: mean(sum.rotation),
            transfer: mean(sum.transfer),
            flash: mean(sum.flash),
            link: mean(sum.link),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
struct StreamRecord {
    name: String,
    read: SideRecord,
    write: SideRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush: Option<SideRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<SideRecord>,
}

#[derive(Clone, Debug, Serialize)]
struct SideRecord {
    count: u64,
    bytes: u64,
    errors: u64,
    latency_sum_ns: String,
    latency_min_ns: Option<u64>,
    latency_max_ns: Option<u64>,
    histogram: Buckets,
}

#[derive(Clone, Debug, Serialize)]
struct Buckets {
    kind: &'static str,
    /// On one line: the rest of the record is for reading, this is for programs.
    buckets: Box<RawValue>,
}

#[derive(Clone, Debug, Serialize)]
struct PartRecord {
    id: String,
    kind: &'static str,
    counters: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    at_end: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power: Option<PowerRecord>,
}

#[derive(Clone, Debug, Serialize)]
struct SeriesName {
    interval_ns: u64,
    file: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    caches_file: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations_file: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_file: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smart_file: Option<&'static str>,
}

/// What a record is made of.
pub(crate) struct Ingredients<'a> {
    pub request: &'a Request,
    pub machine_text: &'a str,
    pub workload_text: &'a str,
    pub products: &'a BTreeMap<String, String>,
    pub concurrency: Option<u64>,
    pub streams: &'a [String],
    pub recorder: &'a Recorder,
    pub after: &'a [PartReport],
    pub duration: Span,
    pub interval: Span,
    pub power_loss: Option<PowerLoss>,
    /// Failures.
    pub repair: Option<RepairRecord>,
    /// The scripts.
    pub scripts: Vec<ScriptRecord>,
    /// The app.
    pub app: Option<AppRecord>,
    /// Phases that were to end when steady.
    pub steady: Vec<SteadyRecord>,
    pub limits: &'a [LimitSpec],
    /// Data of the streams, where they say so.
    pub data: Vec<DataRecord>,
    /// Preconditioning was to run the workload, and an app or scripts cannot.
    pub without_workload: bool,
}

impl Record {
    /// # Errors
    /// Nobody waits for it any more: many streams take their time.
    pub(crate) fn new(of: &Ingredients, look: &dyn Fn() -> Result<(), RunError>) -> Result<Self, RunError> {
        let request = of.request;
        let recorder = of.recorder;
        let streams = of.streams.iter().zip(&recorder.streams).map(|(name, [read, write, flush, trim])| {
            look()?;
            Ok(StreamRecord {
                name: name.clone(),
                read: SideRecord::new(read),
                write: SideRecord::new(write),
                flush: (flush.count > 0).then(|| SideRecord::new(flush)),
                trim: (trim.count > 0).then(|| SideRecord::new(trim)),
            })
        });
        let streams = streams.collect::<Result<Vec<_>, RunError>>()?;
        let parts = of.after.iter().zip(&recorder.before).map(|(after, before)| {
            let counters = after.counters.iter().zip(&before.counters).map(|(a, b)| (a.0, a.1 - b.1)).collect();
            PartRecord {
                id: after.id.clone(),
                kind: after.kind,
                power: recorder.power.of(&after.id),
                counters,
                at_end: after.at_end.iter().copied().collect(),
            }
        });
        let ios = recorder.streams.iter().flat_map(|sides| &sides[..2]).map(|side| side.count).sum();
        let limits = judge(of.limits, of.streams, recorder, of.duration);
        let (steady_state, steady_state_before) = match of.steady.split_last() {
            Some((last, before)) => (Some(last.clone()), before.to_vec()),
            None => (None, Vec::new()),
        };
        look()?;
        Ok(Self {
            schema: "hotband-record",
            schema_version: SCHEMA_VERSION,
            versions: BTreeMap::from([("hotband", env!("CARGO_PKG_VERSION").to_owned())]),
            name: format!("{} on {}", request.workload, request.machine),
            target: TargetName { kind: "model", machine: request.machine.clone() },
            seed: request.seed.to_string(),
            spec: Specs {
                workload: of.workload_text.to_owned(),
                machine: of.machine_text.to_owned(),
                drives: of.products.clone(),
                set: request.set.iter().cloned().collect(),
                duration: request.duration.clone(),
                power_loss: request.power_loss.clone(),
                repair: RepairSpecs::new(&request.repair),
            },
            duration_ns: of.duration.0,
            concurrency: of.concurrency,
            summary: Summary::new(&recorder.streams, of.duration),
            steps: if recorder.steps.done.len() > 1 { recorder.steps.done.clone() } else { Vec::new() },
            streams,
            scripts: of.scripts.clone(),
            app: of.app.clone(),
            parts: parts.collect(),
            caches: recorder.caches.record(),
            energy: recorder.power.record(ios),
            smart: recorder.smart.record(),
            data: of.data.clone(),
            power_loss: of.power_loss.clone(),
            repair: of.repair.clone(),
            steady_state,
            steady_state_before,
            passed: (!limits.is_empty()).then(|| limits.iter().all(|limit| limit.passed)),
            limits,
            series: SeriesName {
                interval_ns: of.interval.0,
                file: "series.parquet",
                caches_file: (!recorder.caches.series.time_ns.is_empty()).then_some("caches.parquet"),
                operations_file: of.app.as_ref().map(|_| "operations.parquet"),
                power_file: (!recorder.power.series.time_ns.is_empty()).then_some("power.parquet"),
                smart_file: (!recorder.smart.series.time_ns.is_empty()).then_some("smart.parquet"),
            },
            notes: notes(of),
        })
    }

    /// The record as indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a record holds nothing that JSON cannot")
    }
}

impl Summary {
    /// Figures over all streams and `duration`.
    pub(crate) fn new(streams: &[Sides], duration: Span) -> Self {
        let side = |n: usize| streams.iter().map(move |sides| &sides[n]);
        let figures = |sides: Vec<&Side>| Figures::new(&sides, duration);
        let some = |n: usize| Some(figures(side(n).collect())).filter(|figures| figures.count > 0);
        Self {
            all: figures(side(0).chain(side(1)).collect()),
            read: figures(side(0).collect()),
            write: figures(side(1).collect()),
            flush: some(2),
            trim: some(3),
        }
    }
}

impl Figures {
    pub(crate) fn new(sides: &[&Side], duration: Span) -> Self {
        let seconds = duration.as_secs_f64();
        let mut histogram: Histogram<u64> = empty_histogram();
        for side in sides.iter().filter_map(|side| side.histogram.as_ref()) {
            histogram.add(side).expect("all histograms have the same bounds");
        }
        let errors: u64 = sides.iter().map(|side| side.errors).sum();
        let failed: u128 = sides.iter().map(|side| side.failed_sum).sum();
        let count: u64 = sides.iter().map(|side| side.count).sum();
        let bytes: u64 = sides.iter().map(|side| side.bytes).sum();
        let sum: u128 = sides.iter().map(|side| side.latency_sum).sum();
        let area: u128 = sides.iter().map(|side| side.area).sum();
        let at = |quantile: f64| (count > 0).then(|| histogram.value_at_quantile(quantile));
        let least = sides.iter().filter(|side| side.count > 0).map(|side| side.latency_min).min();
        let most = sides.iter().filter(|side| side.count > 0).map(|side| side.latency_max).max();
        // A bucket's upper end may lie above the longest latency that was measured.
        let at = |quantile: f64| at(quantile).map(|value| value.min(most.unwrap_or(value)));
        Self {
            iops: count as f64 / seconds,
            bandwidth_bytes_per_s: bytes as f64 / seconds,
            count,
            bytes,
            errors,
            error_latency_mean_ns: (errors > 0).then(|| failed as f64 / errors as f64),
            latency_mean_ns: (count > 0).then(|| sum as f64 / count as f64),
            latency_min_ns: least,
            latency_p50_ns: at(0.5),
            latency_p99_ns: at(0.99),
            latency_p999_ns: at(0.999),
            latency_max_ns: most,
            queue_depth_mean: area as f64 / duration.0 as f64,
            times_mean_ns: (count > 0).then(|| TimesMean::new(sides, count as f64)),
        }
    }
}

impl SideRecord {
    fn new(side: &Side) -> Self {
        let some = (side.count > 0).then_some(());
        let recorded = side.histogram.iter().flat_map(Histogram::iter_recorded);
        let buckets = recorded.map(|step| (step.value_iterated_to(), step.count_since_last_iteration()));
        Self {
            count: side.count,
            bytes: side.bytes,
            errors: side.errors,
            latency_sum_ns: side.latency_sum.to_string(),
            latency_min_ns: some.map(|()| side.latency_min),
            latency_max_ns: some.map(|()| side.latency_max),
            histogram: Buckets { kind: "hdr3", buckets: one_line(&buckets.collect::<Vec<_>>()) },
        }
    }
}

/// What a reader of the record should know beside its numbers.
fn notes(of: &Ingredients) -> Vec<String> {
    /// I/Os a slot of a closed loop below which the ends of the measured time show in Little's law (1 %).
    const ENOUGH: u64 = 100;
    let sides = of.recorder.streams.iter().flatten();
    let count: u64 = sides.map(|side| side.count + side.errors).sum();
    let short = of.concurrency.filter(|outstanding| count < ENOUGH * outstanding);
    let note = short.map(|outstanding| {
        format!("short: {count} I/Os with {outstanding} outstanding; rates and latencies need not agree within 1 %")
    });
    let failed = failed_note(&of.recorder.streams, of.duration);
    let steady = of.steady.iter().filter_map(SteadyRecord::note);
    let is_protected = |part: &&PartReport| part.at_end.contains(&("write_protected", 1));
    let protected =
        of.after.iter().filter(is_protected).map(|part| {
            format!("{} is write-protected: too many of its blocks are worn out, and writes fail", part.id)
        });
    let unfilled = of.without_workload.then(|| {
        "preconditioned without the workload: apps and scripts do not run without time, so the drives are not worn in by them"
            .to_owned()
    });
    let notes = note.into_iter().chain(failed).chain(of.scripts.iter().filter_map(ScriptRecord::note)).chain(steady);
    let unrepaired = of.repair.iter().flat_map(RepairRecord::notes);
    notes.chain(protected).chain(unfilled).chain(unrepaired).collect()
}

/// Where failed I/Os are so much of the queue depth that rates and latencies do not make it up within 1 %.
fn failed_note(streams: &[Sides], duration: Span) -> Option<String> {
    let all = Figures::new(&streams.iter().flat_map(|sides| &sides[..2]).collect::<Vec<_>>(), duration);
    let mean = all.error_latency_mean_ns?;
    let share = mean * all.errors as f64 / (all.queue_depth_mean * duration.0 as f64);
    (share > 0.01).then(|| {
        format!(
            "{} of {} I/Os failed, after {:.3} ms on average: {:.0} % of the queue depth is theirs, and no part of rates \
             and latencies",
            all.errors,
            all.errors + all.count,
            mean / 1e6,
            100.0 * share
        )
    })
}

fn one_line(buckets: &[(u64, u64)]) -> Box<RawValue> {
    to_raw_value(buckets).expect("pairs of numbers are JSON")
}
