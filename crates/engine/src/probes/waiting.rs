//! Commands waiting in each drive over time: how far a load is spread, and which drive the others wait for.
//!
//! It looks when an interval ends and does nothing per I/O. Leaves out: commands that come and go between two readings.

use hotband_machine::Machine;
use serde::Serialize;

use crate::control::RunError;
use crate::probes::probe::{Findings, Interval, Probe, RunEnd};
use crate::probes::table::{Table, Text, rows};

rows! { "waiting":
    /// A drive at the end of an interval.
    pub struct WaitingRow {
        /// Start of the interval since the measured time began.
        time_ns: u64,
        /// Name of the drive.
        drive: Text,
        /// Commands that it had taken and not completed at the end of the interval.
        commands: u64,
    }
}

/// Looks at the drives when an interval ends.
#[derive(Debug)]
pub struct WaitingProbe {
    table: Table,
    drives: Vec<Waiting>,
}

/// Observations of a drive.
#[derive(Debug)]
struct Waiting {
    drive: Text,
    looks: u64,
    sum: u64,
    most: u64,
}

/// A drive in the section "waiting".
#[derive(Clone, Debug, Serialize)]
struct WaitingRecord {
    drive: String,
    /// Over the looks.
    commands_mean: f64,
    commands_max: u64,
}

impl WaitingProbe {
    pub fn new() -> Self {
        Self { table: Table::of::<WaitingRow>(), drives: Vec::new() }
    }
}

impl Probe for WaitingProbe {
    fn start(&mut self, machine: &Machine) {
        let drives =
            machine.drives().waiting().map(|(name, _)| Waiting { drive: name.into(), looks: 0, sum: 0, most: 0 });
        self.drives = drives.collect();
    }

    fn interval(&mut self, interval: &Interval, machine: &Machine) {
        for (drive, (_, waiting)) in self.drives.iter_mut().zip(machine.drives().waiting()) {
            let Some(commands) = waiting else { continue };
            drive.looks += 1;
            drive.sum += commands;
            drive.most = drive.most.max(commands);
            self.table.push(WaitingRow { time_ns: interval.time_ns, drive: drive.drive.clone(), commands });
        }
    }

    fn end(self: Box<Self>, _: &mut RunEnd) -> Result<Findings, RunError> {
        let seen = self.drives.iter().filter(|drive| drive.looks > 0);
        let records = seen.map(|drive| WaitingRecord {
            drive: drive.drive.to_string(),
            commands_mean: drive.sum as f64 / drive.looks as f64,
            commands_max: drive.most,
        });
        Ok(Findings::default().with("waiting", records.collect::<Vec<_>>()).with_table(self.table))
    }
}
