//! The record of a run, as JSON. docs/guides/records.md is its contract.

pub(crate) mod closing;
pub(crate) mod fits;
pub mod limits;
pub mod sections;
pub(crate) mod states;
pub mod summary;
pub(crate) mod unmodelled;
mod unwritten;

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hotband_machine::PartReport;
use hotband_units::Span;
use hotband_workloads::Workload;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::build::entropy_file::data_records;
use crate::control::RunError;
use crate::probes::direction::{DirectionStats, Directions};
use crate::probes::steps::Step;
use crate::probes::streams::{SERIES, Streams};
use crate::probes::table::Tables;
use crate::probes::{Findings, Watched};
use crate::record::limits::judge;
use crate::record::sections::{Sections, of_list, of_record};
use crate::record::summary::{Figures, Summary};
use crate::record::unmodelled::Unmodelled;
use crate::record::unwritten::unwritten_note;
use crate::repair::RepairRequest;
use crate::request::Request;

/// Changes when a key of the record changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// A record: parts that every run has, and sections that its sources and probes left. Its JSON is the same, byte for
/// byte, for the same spec and seed.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    #[serde(flatten)]
    head: Head,
    duration_ns: u64,
    concurrency: Option<u64>,
    /// Rates and latencies over all streams.
    pub summary: Summary,
    /// The measured phases, if there is more than one.
    #[serde(skip_serializing_if = "<[Step]>::is_empty")]
    pub steps: Vec<Step>,
    streams: Vec<StreamRecord>,
    parts: Vec<PartRecord>,
    /// Sections of sources and probes.
    #[serde(flatten, serialize_with = "of_record")]
    pub sections: Sections,
    series: BTreeMap<String, SeriesValue>,
    notes: Vec<String>,
}

/// Workload and machine of the run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Head {
    schema: &'static str,
    schema_version: u32,
    versions: BTreeMap<&'static str, String>,
    name: String,
    target: TargetName,
    seed: String,
    spec: Specs,
}

/// Original texts of a run.
pub(crate) struct Texts<'a> {
    pub machine: &'a str,
    pub workload: &'a str,
    /// Texts of the products, by name.
    pub products: &'a BTreeMap<String, String>,
    /// Kind of the target.
    pub target: &'static str,
}

impl Head {
    pub fn new(request: &Request, texts: &Texts) -> Self {
        Self {
            schema: "hotband-record",
            schema_version: SCHEMA_VERSION,
            versions: BTreeMap::from([("hotband", env!("CARGO_PKG_VERSION").to_owned())]),
            name: format!("{} on {}", request.workload, request.machine),
            target: TargetName { kind: texts.target, machine: request.machine.clone() },
            seed: request.seed.to_string(),
            spec: Specs {
                workload: texts.workload.to_owned(),
                machine: texts.machine.to_owned(),
                drives: texts.products.clone(),
                set: request.set.iter().cloned().collect(),
                duration: request.duration.clone(),
                precision: request.precision.clone(),
                power_loss: request.power_loss.clone(),
                repair: RepairSpecs::new(&request.repair),
                events: request.events.clone(),
            },
        }
    }
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
    precision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_loss: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<RepairSpecs>,
    /// Events that have no short form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<String>,
}

/// Requested failures, as text.
#[derive(Clone, Debug, Serialize)]
struct RepairSpecs {
    fail: Vec<String>,
    spare: u32,
    rebuild_rate: Option<String>,
    rebuild_after: Option<String>,
}

impl RepairSpecs {
    fn new(request: &RepairRequest) -> Option<Self> {
        let is_asked = !request.is_empty();
        let RepairRequest { fail, spares, rebuild_rate, rebuild_after } = request.clone();
        is_asked.then_some(Self { fail, spare: spares, rebuild_rate, rebuild_after })
    }
}

#[derive(Clone, Debug, Serialize)]
struct StreamRecord {
    name: String,
    read: DirectionRecord,
    write: DirectionRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush: Option<DirectionRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<DirectionRecord>,
}

impl StreamRecord {
    fn new(name: &str, [read, write, flush, trim]: &Directions) -> Self {
        let some = |stats: &DirectionStats| (stats.count > 0).then(|| DirectionRecord::new(stats));
        Self {
            name: name.to_owned(),
            read: DirectionRecord::new(read),
            write: DirectionRecord::new(write),
            flush: some(flush),
            trim: some(trim),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
struct DirectionRecord {
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
    #[serde(flatten, serialize_with = "of_list")]
    sections: Sections,
}

/// The interval, or the file of a table.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum SeriesValue {
    Interval(u64),
    File(String),
}

/// The tables in addition to a record: "file" is the streams', NAME_file another one's.
fn series_of(interval: Span, tables: &Tables) -> BTreeMap<String, SeriesValue> {
    let files = tables.iter().map(|table| {
        let key = if table.name == SERIES { "file".to_owned() } else { format!("{}_file", table.name) };
        (key, SeriesValue::File(format!("{}.parquet", table.name)))
    });
    files.chain([("interval_ns".to_owned(), SeriesValue::Interval(interval.0))]).collect()
}

impl Record {
    /// The record of `workload`, which ran for `duration`; `sources` is what its sources left. Returns all tables too.
    ///
    /// # Errors
    /// Those of `look`: nobody waits for it any more, and many streams take their time.
    pub(crate) fn new(
        head: Head,
        workload: &Workload,
        duration: Span,
        sources: Findings,
        watched: Watched,
        look: &dyn Fn() -> Result<(), RunError>,
    ) -> Result<(Self, Tables), RunError> {
        let Watched { streams, parts: (before, after), findings } = watched;
        let steps = streams.several_steps();
        let summary = Summary::new(&streams.all, duration);
        let mut collected = sources;
        let unmodelled =
            collected.sections.get::<Vec<Unmodelled>>().into_iter().flatten().map(|aspect| aspect.note.clone());
        let mut notes: Vec<String> =
            unmodelled.chain(short(workload, &streams)).chain(failed_note(&summary.all, duration)).collect();
        collected.extend(findings);
        collected.extend(of_workload(workload, &streams, duration));
        notes.append(&mut collected.notes);
        notes.extend(protected(&after));
        notes.extend(unwritten_note((&before, &after), workload.is_preconditioned()));
        let parts = after.into_iter().zip(before);
        let parts = parts.map(|(after, before)| PartRecord::new(after, &before, &mut collected.of_parts)).collect();
        let records = streams.names.iter().zip(&streams.all).map(|(name, stats)| {
            look()?;
            Ok(StreamRecord::new(name, stats))
        });
        let records = records.collect::<Result<Vec<_>, RunError>>()?;
        let mut tables = Tables::default();
        tables.add(streams.table);
        tables.extend(collected.tables);
        let record = Self {
            head,
            duration_ns: duration.0,
            concurrency: workload.concurrency(),
            summary,
            steps,
            streams: records,
            parts,
            sections: collected.sections,
            series: series_of(workload.interval, &tables),
            notes,
        };
        look()?;
        Ok((record, tables))
    }

    /// The record as indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a record holds nothing that JSON cannot")
    }
}

impl DirectionRecord {
    fn new(stats: &DirectionStats) -> Self {
        let some = (stats.count > 0).then_some(());
        let recorded = stats.histogram.iter().flat_map(Histogram::iter_recorded);
        let buckets = recorded.map(|step| (step.value_iterated_to(), step.count_since_last_iteration()));
        Self {
            count: stats.count,
            bytes: stats.bytes,
            errors: stats.errors,
            latency_sum_ns: stats.latency_sum.to_string(),
            latency_min_ns: some.map(|()| stats.latency_min),
            latency_max_ns: some.map(|()| stats.latency_max),
            histogram: Buckets { kind: "hdr3", buckets: one_line(&buckets.collect::<Vec<_>>()) },
        }
    }
}

impl PartRecord {
    fn new(after: PartReport, before: &PartReport, of_parts: &mut Vec<(String, Sections)>) -> Self {
        let counters = after.counters.iter().zip(&before.counters).map(|(a, b)| (a.0, a.1 - b.1)).collect();
        let mut sections = Sections::default();
        of_parts.extract_if(.., |(id, _)| *id == after.id).for_each(|(_, own)| sections.extend(own));
        Self { id: after.id, kind: after.kind, counters, at_end: after.at_end.into_iter().collect(), sections }
    }
}

/// Whether the measured time was short.
fn short(workload: &Workload, streams: &Streams) -> Option<String> {
    /// I/Os per slot of a closed loop below which the ends of the measured time show in Little's law (1 %).
    const ENOUGH: u64 = 100;
    let count: u64 = streams.all.iter().flatten().map(|stats| stats.count + stats.errors).sum();
    let outstanding = workload.concurrency().filter(|outstanding| count < ENOUGH * outstanding)?;
    Some(format!("short run ({count} I/Os with {outstanding} outstanding): a longer one gives figures within 1 %"))
}

/// Return a note if failed I/Os take more than 1 % of the queue depth.
fn failed_note(all: &Figures, duration: Span) -> Option<String> {
    let mean = all.error_latency_mean_ns?;
    let share = mean * all.errors as f64 / (all.queue_depth_mean * duration.0 as f64);
    (share > 0.01).then(|| {
        format!(
            "{} of {} I/Os failed, after {:.3} ms on average: they take {:.0} % of the queue depth; rates and latencies \
             exclude them",
            all.errors,
            all.errors + all.count,
            mean / 1e6,
            100.0 * share
        )
    })
}

/// The drives that are worn out.
fn protected(parts: &[PartReport]) -> Vec<String> {
    let is_protected = |part: &&PartReport| part.at_end.contains(&("write_protected", 1));
    let protected = parts.iter().filter(is_protected);
    let note = |part: &PartReport| {
        format!("{} is write-protected: too many of its blocks are worn out, and writes fail", part.id)
    };
    protected.map(note).collect()
}

/// Return the findings about the workload's requests: its data, limits and preconditioning.
fn of_workload(workload: &Workload, streams: &Streams, duration: Span) -> Findings {
    let unfilled = workload.is_left_out_of_preconditioning().then(|| {
        "preconditioned without the workload: apps and scripts cannot run during untimed preconditioning".to_owned()
    });
    let mut findings = Findings::default().with_notes(unfilled);
    let data = data_records(workload);
    if !data.is_empty() {
        findings.sections.add("data", data);
    }
    let limits = judge(&workload.limits, streams, duration);
    if !limits.is_empty() {
        let passed = limits.iter().all(|limit| limit.passed);
        findings = findings.with("limits", limits).with("passed", passed);
    }
    findings
}

fn one_line(buckets: &[(u64, u64)]) -> Box<RawValue> {
    to_raw_value(buckets).expect("pairs of numbers are JSON")
}
