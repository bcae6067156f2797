//! SMART attributes over a run, read at an interval as a tester would, and their section of a record.

use hotband_machine::{Machine, Smart};
use hotband_units::{Instant, Span};
use serde::Serialize;

use crate::control::RunError;
use crate::probes::probe::{Findings, Probe, RunEnd};
use crate::probes::table::{Table, Text, rows};

rows! { "smart":
    /// A reading of a drive.
    pub struct SmartRow {
        /// When it was read, since the run began. Parts of a run without timing end at the time at which they began.
        time_ns: u64,
        /// Name of the drive.
        drive: Text,
        /// Bytes that the host wrote, since the drive was new.
        host_bytes: u64,
        /// Bytes after compression.
        stored_bytes: u64,
        /// Bytes programmed into flash, since the drive was new.
        flash_bytes: u64,
        /// Flash bytes per host byte since the previous reading; none if the host wrote nothing.
        write_amplification: Option<f64>,
        /// Flash bytes per host byte since the drive was new.
        write_amplification_total: Option<f64>,
        /// Mean erase count of the blocks.
        erases_mean: f64,
        /// Highest erase count of a block.
        erases_max: u64,
        /// Mean erase count as a share of the rated cycles, in percent.
        percentage_used: f64,
    }
}

/// Flash bytes per host byte between two readings; none if the host wrote nothing.
fn write_amplification(before: &Smart, after: &Smart) -> Option<f64> {
    let (host, flash) = (after.host_bytes - before.host_bytes, after.flash_bytes - before.flash_bytes);
    (host > 0).then(|| flash as f64 / host as f64)
}

/// Reads the SMART attributes of every drive that has them.
#[derive(Debug)]
pub struct SmartProbe {
    table: Table,
    /// Names of the drives that wear.
    drives: Vec<Text>,
    interval: Span,
    /// The next reading; `NEVER` where no drive wears.
    next: Instant,
    last: Vec<Smart>,
    last_at: Instant,
    begin: Option<Vec<Smart>>,
    end: Vec<Smart>,
}

fn read(machine: &Machine) -> Vec<Smart> {
    machine.drives().smart().into_iter().map(|(_, smart)| smart).collect()
}

impl SmartProbe {
    /// Reads every `interval`.
    pub fn new(interval: Span) -> Self {
        Self {
            table: Table::of::<SmartRow>(),
            drives: Vec::new(),
            interval,
            next: Instant::NEVER,
            last: Vec::new(),
            last_at: Instant::ZERO,
            begin: None,
            end: Vec::new(),
        }
    }

    /// A reading at `now`.
    fn look(&mut self, now: Instant, machine: &Machine) {
        let all = read(machine);
        for (drive, (smart, last)) in self.drives.iter().zip(all.iter().zip(&self.last)) {
            self.table.push(SmartRow {
                time_ns: now.0,
                drive: drive.clone(),
                host_bytes: smart.host_bytes,
                stored_bytes: smart.stored_bytes,
                flash_bytes: smart.flash_bytes,
                write_amplification: write_amplification(last, smart),
                write_amplification_total: write_amplification(&Smart::default(), smart),
                erases_mean: smart.erases_mean,
                erases_max: smart.erases_max,
                percentage_used: smart.percentage_used,
            });
        }
        (self.last, self.last_at) = (all, now);
    }

    /// Return the record of every drive over the measured time.
    fn record(&self) -> Vec<SmartRecord> {
        let drives = self.drives.iter().zip(self.begin.iter().flatten().zip(&self.end));
        drives.map(|(drive, (begin, end))| SmartRecord::new(drive, begin, end)).collect()
    }
}

impl Probe for SmartProbe {
    fn start(&mut self, machine: &Machine) {
        self.drives = machine.drives().smart().into_iter().map(|(name, _)| name.into()).collect();
        if self.drives.is_empty() {
            return;
        }
        self.last = vec![Smart::default(); self.drives.len()];
        self.next = Instant::ZERO + self.interval;
        self.look(Instant::ZERO, machine);
    }

    fn untimed(&mut self, now: Instant, machine: &Machine) {
        self.look(now, machine);
    }

    fn next_reading(&self) -> Instant {
        self.next
    }

    fn read(&mut self, machine: &Machine) {
        self.look(self.next, machine);
        self.next += self.interval;
    }

    fn begin(&mut self, _: Instant, machine: &Machine) {
        self.begin.get_or_insert_with(|| read(machine));
    }

    fn end_step(&mut self, _: Instant, machine: &Machine) {
        self.end = read(machine);
    }

    fn end(mut self: Box<Self>, run: &mut RunEnd) -> Result<Findings, RunError> {
        if run.now > self.last_at {
            self.look(run.now, run.machine);
        }
        let record = self.record();
        let findings = Findings::default().with_table(self.table);
        Ok(if record.is_empty() { findings } else { findings.with("smart", record) })
    }
}

/// SMART attributes of one drive in a record.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SmartRecord {
    drive: String,
    at_begin: Attributes,
    at_end: Attributes,
    write_amplification: Option<f64>,
    write_amplification_total: Option<f64>,
    endurance_bytes: Option<u64>,
    endurance_from: Option<&'static str>,
    /// Only if it is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
struct Attributes {
    host_bytes: u64,
    stored_bytes: u64,
    flash_bytes: u64,
    relocated_bytes: u64,
    metadata_bytes: u64,
    trimmed_bytes: u64,
    erases_mean: f64,
    erases_max: u64,
    percentage_used: f64,
    bad_blocks: u64,
}

impl From<&Smart> for Attributes {
    fn from(smart: &Smart) -> Self {
        Self {
            host_bytes: smart.host_bytes,
            stored_bytes: smart.stored_bytes,
            flash_bytes: smart.flash_bytes,
            relocated_bytes: smart.relocated_bytes,
            metadata_bytes: smart.metadata_bytes,
            trimmed_bytes: smart.trimmed_bytes,
            erases_mean: smart.erases_mean,
            erases_max: smart.erases_max,
            percentage_used: smart.percentage_used,
            bad_blocks: smart.bad_blocks,
        }
    }
}

impl SmartRecord {
    fn new(drive: &str, begin: &Smart, end: &Smart) -> Self {
        let endurance = endurance(begin, end);
        Self {
            drive: drive.to_owned(),
            at_begin: begin.into(),
            at_end: end.into(),
            write_amplification: write_amplification(begin, end),
            write_amplification_total: write_amplification(&Smart::default(), end),
            endurance_bytes: endurance.map(|(bytes, _)| bytes),
            endurance_from: endurance.map(|(_, from)| from),
            scale: (end.scale > 1).then_some(end.scale),
        }
    }
}

/// Share of all blocks that must be erased in the measured time for their number to show the wear of a host byte: a
/// drive of 1,000 blocks (ten erases) errs by a tenth, larger ones by less.
const ERASES_TOLD: f64 = 0.01;

/// Bytes that the host can write, as in the measured time, until the drive is 100 % used, and the source of that
/// value, which refers to the whole drive, however much of it is simulated. None if nothing wore.
///
/// "measured": host bytes per percent used, both of the measured time. "life", where too few blocks were erased in the
/// measured time: the rated cycles times what a cycle of the whole life programs, over the write amplification of the
/// measured time (of the whole life, where the host wrote nothing in it). Blocks have been programmed once more than
/// they have been erased.
fn endurance(begin: &Smart, end: &Smart) -> Option<(u64, &'static str)> {
    if end.percentage_used <= 0.0 {
        return None;
    }
    let amplification =
        write_amplification(begin, end).or_else(|| write_amplification(&Smart::default(), end)).filter(|wa| *wa > 0.0);
    let used = end.percentage_used - begin.percentage_used;
    if end.host_bytes > begin.host_bytes && used > 0.0 && end.erases_mean - begin.erases_mean >= ERASES_TOLD {
        let written = (end.host_bytes - begin.host_bytes) as f64;
        return Some(((written / used * 100.0 * end.scale as f64) as u64, "measured"));
    }
    let cycles = end.erases_mean / end.percentage_used * 100.0;
    let a_cycle = end.flash_bytes as f64 / (end.erases_mean + 1.0);
    amplification.map(|amplification| ((cycles * a_cycle / amplification * end.scale as f64) as u64, "life"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smart(host_bytes: u64, flash_bytes: u64, erases_mean: f64) -> Smart {
        Smart {
            host_bytes,
            flash_bytes,
            erases_mean,
            percentage_used: erases_mean / 10.0,
            scale: 1,
            ..Smart::default()
        }
    }

    #[test]
    fn endurance_is_of_the_whole_drive_at_every_scale() {
        let at = |scale, host, flash, erases| Smart { scale, ..smart(host, flash, erases) };
        for (scale, times) in [(1, 1), (256, 256)] {
            let begin = at(scale, 2000, 3000, 2.0);
            assert_eq!(endurance(&begin, &at(scale, 2400, 5000, 4.0)), Some((times * 200_000, "measured")));
            assert_eq!(endurance(&begin, &at(scale, 2000, 5000, 4.0)), Some((times * 400_000, "life")));
            let record = SmartRecord::new("d0", &begin, &at(scale, 2400, 5000, 4.0));
            assert_eq!(record.scale, (scale > 1).then_some(scale), "said where it is not 1");
            assert_eq!((record.at_end.host_bytes, record.write_amplification), (2400, Some(5.0)), "as simulated");
        }
    }

    #[test]
    fn endurance_is_measured_where_enough_was_erased_and_of_the_whole_life_where_not() {
        let begin = smart(2000, 3000, 2.0);
        assert_eq!(endurance(&begin, &smart(2400, 5000, 4.0)), Some((200_000, "measured")));
        // 1,000 cycles of 3,006 / 3.005 bytes of flash, a hundredth of a byte of it for a byte of the host.
        assert_eq!(endurance(&begin, &smart(2600, 3006, 2.005)), Some((100_033_277, "life")));
        // 1,000 cycles of 5,000 / 5 bytes, 5,000 / 2,000 of them for a byte of the host.
        assert_eq!(endurance(&begin, &smart(2000, 5000, 4.0)), Some((400_000, "life")), "nothing written by the host");
        assert_eq!(endurance(&smart(0, 0, 0.0), &smart(100, 100, 0.0)), None, "nothing erased yet");
    }

    #[test]
    fn write_amplification_needs_a_host_that_writes() {
        let record = SmartRecord::new("d0", &smart(10, 20, 0.0), &smart(10, 30, 0.0));
        assert_eq!((record.write_amplification, record.write_amplification_total), (None, Some(3.0)));
    }
}
