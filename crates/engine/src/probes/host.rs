//! Load of the host's cores in the measured time, and which of them were full.
//!
//! It looks when a measured phase begins and ends, and does nothing per I/O.

use hotband_machine::{Machine, PartReport};
use hotband_units::{Instant, Span};
use serde::Serialize;

use crate::control::RunError;
use crate::probes::probe::{Findings, Probe, RunEnd};

/// Share of its time from which a core counts as full: soon above it, its queue grows without end.
const FULL: f64 = 0.95;

/// The key "host".
#[derive(Clone, Debug, Serialize)]
pub struct HostRecord {
    cores: Vec<CoreRecord>,
    /// Cores that were busy for at least 95 % of the measured time.
    full: Vec<String>,
}

/// A core of the host.
#[derive(Clone, Debug, Serialize)]
struct CoreRecord {
    core: String,
    ios: u64,
    busy_ns: u64,
    /// Share of the measured time in which it was busy, 0 to 1.
    utilisation: f64,
}

/// Load of the host's cores.
pub struct HostProbe {
    /// Work done before the measured phase began.
    before: Vec<Done>,
    /// Work done in the measured phases that are over.
    measured: Vec<Done>,
}

#[derive(Clone, Copy, Default)]
struct Done {
    ios: u64,
    busy: u64,
}

impl HostProbe {
    /// Return a probe for a machine whose host has cores.
    pub fn of(machine: &Machine) -> Option<Self> {
        let cores = cores(machine).len();
        (cores > 0).then(|| Self { before: Vec::new(), measured: vec![Done::default(); cores] })
    }
}

fn cores(machine: &Machine) -> Vec<Done> {
    let parts = machine.report();
    let counter = |part: &PartReport, name: &str| part.counter(name).unwrap_or(0);
    let cores = parts.iter().filter(|part| part.kind == "core");
    cores.map(|part| Done { ios: counter(part, "ios"), busy: counter(part, "busy_ns") }).collect()
}

impl Probe for HostProbe {
    fn begin(&mut self, _: Instant, machine: &Machine) {
        self.before = cores(machine);
    }

    fn end_step(&mut self, _: Instant, machine: &Machine) {
        for ((core, now), before) in self.measured.iter_mut().zip(cores(machine)).zip(&self.before) {
            core.ios += now.ios - before.ios;
            core.busy += now.busy - before.busy;
        }
    }

    fn end(self: Box<Self>, run: &mut RunEnd) -> Result<Findings, RunError> {
        let record = HostRecord::new(&self.measured, run.duration);
        let note = record.note();
        Ok(Findings::default().with("host", record).with_notes(note))
    }
}

impl HostRecord {
    fn new(cores: &[Done], duration: Span) -> Self {
        let cores = cores.iter().enumerate().map(|(number, done)| CoreRecord {
            core: format!("core{number}"),
            ios: done.ios,
            busy_ns: done.busy,
            utilisation: if duration.0 == 0 { 0.0 } else { done.busy as f64 / duration.0 as f64 },
        });
        let cores: Vec<CoreRecord> = cores.collect();
        let full = cores.iter().filter(|core| core.utilisation >= FULL).map(|core| core.core.clone()).collect();
        Self { cores, full }
    }

    fn note(&self) -> Option<String> {
        let busiest = self.cores.iter().map(|core| core.utilisation).fold(0.0, f64::max);
        let (full, all) = (self.full.len(), self.cores.len());
        let which = match &self.full[..] {
            [] => return None,
            [one] => format!("{one} of the host's {all} was full"),
            [first, .., last] if full == all => format!("all {all} cores of the host ({first} to {last}) were full"),
            some => format!("{full} of the host's {all} cores were full ({})", some.join(", ")),
        };
        Some(format!("{which}: {:.1} % busy; the drives waited for the host", busiest.min(1.0) * 100.0))
    }
}
