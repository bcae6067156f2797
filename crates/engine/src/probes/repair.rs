//! Failures and repair in a record: failures, rebuilds, and service for hosts before, during and after.

use hdrhistogram::Histogram;
use hotband_machine::{JobReport, JobState, Machine, NoSpare, RepairReport, RepairView, ServiceLevel};
use hotband_units::{Instant, Span};
use hotband_workloads::Workload;
use serde::Serialize;

use crate::control::RunError;
use crate::probes::direction::empty_histogram;
use crate::probes::probe::{Answered, Findings, Probe, RunEnd};

/// The key "repair".
#[derive(Clone, Debug, Serialize)]
pub struct RepairRecord {
    /// Drives that failed.
    pub failures: Vec<FailureRecord>,
    /// Number of spares.
    pub spares: u32,
    /// Number of spares that replaced a drive.
    pub spares_taken: u32,
    /// Rebuilds.
    pub rebuilds: Vec<RebuildRecord>,
    /// Service to hosts, by the state of the machine.
    pub service: Vec<ServiceRecord>,
    /// Sectors that could not be read in rebuilds.
    pub sector_errors: u64,
    /// Bytes of lost data.
    pub bytes_lost: u64,
    /// I/Os of the measured time that failed.
    pub io_errors: u64,
}

/// A drive that failed.
#[derive(Clone, Debug, Serialize)]
pub struct FailureRecord {
    drive: String,
    at_ns: u64,
}

/// A rebuild.
#[derive(Clone, Debug, Serialize)]
pub struct RebuildRecord {
    pub(crate) drive: String,
    pub(crate) spare: String,
    layout: String,
    /// "waiting", "running", "done", "stopped" or "spare failed".
    pub state: &'static str,
    began_ns: Option<u64>,
    ended_ns: Option<u64>,
    /// Bytes rebuilt, of so many.
    pub bytes: u64,
    of_bytes: u64,
    rate_limit_bytes_per_s: Option<u64>,
    /// Over the time that it ran.
    pub(crate) mean_bytes_per_s: Option<f64>,
    sector_errors: u64,
    /// Part of them without loss: the data was computed from other members.
    repaired_sectors: u64,
}

/// Service to hosts in one state of the machine.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceRecord {
    phase: &'static str,
    duration_ns: u64,
    count: u64,
    iops: f64,
    bandwidth_bytes_per_s: f64,
    latency_mean_ns: Option<f64>,
    latency_p50_ns: Option<u64>,
    latency_p99_ns: Option<u64>,
    errors: u64,
}

/// I/Os completed in one state.
struct Level {
    duration: Span,
    count: u64,
    bytes: u64,
    errors: u64,
    latency_sum: u128,
    most: u64,
    histogram: Histogram<u64>,
}

/// Sums what hosts get, by the state of the machine, in the measured time.
pub struct RepairProbe {
    /// Spares of the machine.
    spares: u32,
    /// Drives that failed in runs before, on the same machine.
    before: usize,
    /// Most bytes a second of a rebuild.
    rate: Option<u64>,
    levels: [Level; 4],
    now: usize,
    since: Instant,
    measuring: bool,
    /// When the measured time began: from then on failures count.
    begin: Option<Instant>,
    /// Whether the drives were written to before time began.
    is_preconditioned: bool,
}

const NAMES: [&str; 4] = ["before", "degraded", "rebuilding", "after"];

fn index_of(level: ServiceLevel) -> usize {
    match level {
        ServiceLevel::Before => 0,
        ServiceLevel::Degraded => 1,
        ServiceLevel::Rebuilding => 2,
        ServiceLevel::After => 3,
    }
}

impl RepairProbe {
    /// Return a probe; none if the run has no failure.
    pub fn of(machine: &Machine, workload: &Workload, (spares, rate): (u32, Option<u64>)) -> Option<Self> {
        let before = machine.repair()?.report().failures.len();
        let level = || Level {
            duration: Span::ZERO,
            count: 0,
            bytes: 0,
            errors: 0,
            latency_sum: 0,
            most: 0,
            histogram: empty_histogram(),
        };
        Some(Self {
            spares,
            before,
            rate,
            levels: [level(), level(), level(), level()],
            now: 0,
            since: Instant::ZERO,
            measuring: false,
            begin: None,
            is_preconditioned: workload.is_preconditioned(),
        })
    }

    /// Looks at the machine at `now`; the time since the last look was spent in the state that it had then.
    fn look(&mut self, now: Instant, machine: &Machine) {
        if self.measuring {
            self.levels[self.now].duration += now.since(self.since);
        }
        self.since = now;
        self.now = machine.repair().map_or(0, |repair| index_of(repair.level()));
    }

    /// The record, when the measured time is over.
    fn record(&self, machine: &Machine, report: &RepairReport) -> RepairRecord {
        let names: Vec<&str> = machine.drives().names().collect();
        let name = |drive: u32| names[drive as usize].to_owned();
        let at = |instant: Instant| self.since_begin(instant);
        let failures =
            report.failures.iter().map(|(drive, when)| FailureRecord { drive: name(*drive), at_ns: at(*when) });
        let rebuilds = report.rebuilds.iter().map(|job| self.rebuild(job, machine));
        RepairRecord {
            failures: failures.collect(),
            spares: self.spares,
            spares_taken: report.taken.len() as u32,
            rebuilds: rebuilds.collect(),
            service: self.levels.iter().zip(NAMES).filter_map(|(level, phase)| level.record(phase)).collect(),
            sector_errors: report.sector_errors,
            bytes_lost: report.bytes_lost,
            io_errors: self.levels.iter().map(|level| level.errors).sum(),
        }
    }

    /// Failures without a spare, and spares that differ from the failed drives.
    fn remarks(&self, report: &RepairReport, machine: &Machine) -> Vec<String> {
        let names: Vec<&str> = machine.drives().names().collect();
        let in_vain = report.without_spare.iter().filter(|_| self.spares > 0).map(|(drive, why)| {
            let why = match why {
                NoSpare::NothingToRebuild => {
                    "no layout on it can be rebuilt (a layout with copies or parity can, if its members are drives and enough of \
                     them remain; a pool recovers onto the drives that it has)"
                }
                NoSpare::TooSmall => "the remaining spares are smaller than its share of the layout",
                NoSpare::NoneLeft => "no spare is left",
            };
            format!("no spare replaced {}: {why}", names[*drive as usize])
        });
        let is_fresh = !self.is_preconditioned
            && report.taken.iter().any(|(_, spare)| machine.drives().get(*spare).drive.kind() == "ssd");
        let fresh = is_fresh.then(|| {
            "SSD members were not preconditioned: they complete reads of never-written data without a flash read, a rebuilt \
             spare does not; compare with state=preconditioned"
                .to_owned()
        });
        let before = report.failures.iter().take(self.before);
        let before = before.map(|(drive, _)| format!("{} failed in an earlier run", names[*drive as usize]));
        before.chain(in_vain).chain(fresh).collect()
    }

    fn since_begin(&self, when: Instant) -> u64 {
        when.since(self.begin.unwrap_or_default()).0
    }

    fn rebuild(&self, job: &JobReport, machine: &Machine) -> RebuildRecord {
        let names: Vec<&str> = machine.drives().names().collect();
        let ran = job.began.map(|began| job.ended.unwrap_or(self.since).since(began)).filter(|ran| *ran > Span::ZERO);
        let state = match job.state {
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Stopped => "stopped",
            JobState::SpareFailed => "spare failed",
        };
        RebuildRecord {
            drive: names[job.drive as usize].to_owned(),
            spare: names[job.spare as usize].to_owned(),
            layout: machine.layouts().get(job.layout).name.to_owned(),
            state,
            began_ns: job.began.map(|when| self.since_begin(when)),
            ended_ns: job.ended.map(|when| self.since_begin(when)),
            bytes: job.bytes,
            of_bytes: job.of_bytes,
            rate_limit_bytes_per_s: self.rate,
            mean_bytes_per_s: ran.map(|ran| job.bytes as f64 / ran.as_secs_f64()),
            sector_errors: job.sector_errors,
            repaired_sectors: job.repaired,
        }
    }
}

impl Level {
    /// Return the record of a state; none if the machine was never in it.
    fn record(&self, phase: &'static str) -> Option<ServiceRecord> {
        if self.duration == Span::ZERO && self.count + self.errors == 0 {
            return None;
        }
        let seconds = self.duration.as_secs_f64();
        let rate = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
        let at = |quantile| (self.count > 0).then(|| self.histogram.value_at_quantile(quantile).min(self.most));
        Some(ServiceRecord {
            phase,
            duration_ns: self.duration.0,
            count: self.count,
            iops: rate(self.count),
            bandwidth_bytes_per_s: rate(self.bytes),
            latency_mean_ns: (self.count > 0).then(|| self.latency_sum as f64 / self.count as f64),
            latency_p50_ns: at(0.5),
            latency_p99_ns: at(0.99),
            errors: self.errors,
        })
    }
}

impl RepairRecord {
    /// Return the notes about rebuilds that did not end.
    fn unfinished(&self) -> impl Iterator<Item = String> {
        let unfinished = self.rebuilds.iter().filter(|rebuild| ["running", "waiting"].contains(&rebuild.state));
        unfinished.map(|rebuild| {
            let share = 100.0 * rebuild.bytes as f64 / rebuild.of_bytes as f64;
            let (spare, drive, layout) = (&rebuild.spare, &rebuild.drive, &rebuild.layout);
            let left = rebuild.mean_bytes_per_s.filter(|rate| *rate > 0.0);
            let left = left.map(|rate| (rebuild.of_bytes - rebuild.bytes) as f64 / rate);
            let left = left.map_or_else(String::new, |left| format!("; {left:.0} s more at its mean rate"));
            format!("the run ended before the rebuild of {drive} of \"{layout}\" on {spare} ({share:.1} % done{left})")
        })
    }
}

impl Probe for RepairProbe {
    fn wants_ios(&self) -> bool {
        true
    }

    fn begin(&mut self, now: Instant, machine: &Machine) {
        self.begin.get_or_insert(now);
        // A run that follows another begins with what failed in that one.
        self.look(now, machine);
        self.measuring = true;
    }

    fn advanced(&mut self, now: Instant, machine: &Machine) {
        self.look(now, machine);
    }

    fn io(&mut self, io: &Answered) {
        if !self.measuring {
            return;
        }
        let level = &mut self.levels[self.now];
        if io.done.fault.is_some() {
            level.errors += 1;
        }
        if !io.is_served() {
            return;
        }
        let latency = io.done.at.since(io.done.submitted).0;
        level.count += 1;
        level.bytes += u64::from(io.len);
        level.latency_sum += u128::from(latency);
        level.most = level.most.max(latency);
        level.histogram.saturating_record(latency);
    }

    fn end_step(&mut self, now: Instant, machine: &Machine) {
        self.look(now, machine);
        self.measuring = false;
    }

    fn end(self: Box<Self>, run: &mut RunEnd) -> Result<Findings, RunError> {
        let report = run.machine.repair().map(RepairView::report).unwrap_or_default();
        let record = self.record(run.machine, &report);
        let unfinished: Vec<String> = record.unfinished().collect();
        let notes = unfinished.into_iter().chain(self.remarks(&report, run.machine));
        Ok(Findings::default().with_notes(notes).with("repair", record))
    }
}
