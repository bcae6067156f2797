//! Text in the format of blkparse: each I/O is queued and dispatched at once, and completed at its completion time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use hotband_machine::Op;

use super::{Devices, Format, Latency, Losses, PLAIN, Says, Written};

pub(super) const SAYS: Says = Says {
    offset: 512,
    len: 512,
    latency: Latency::Optional,
    flushes: true,
    trims: true,
    fua: true,
    failures: true,
    processes: true,
    devices: Devices::Names,
    ..PLAIN
};

/// ns of a second.
const SECOND: u64 = 1_000_000_000;
/// Major number of made devices: local and experimental use (the kernel's devices.txt).
const MAJOR: u64 = 240;

#[derive(Default)]
pub(super) struct Blkparse {
    sequence: u64,
    /// Completions to come: time, order, and the line behind its time.
    answers: BinaryHeap<Reverse<(u64, u64, String, String)>>,
}

impl Blkparse {
    fn event(&mut self, out: &mut dyn Write, (device, time): (&str, u64), what: &str) -> io::Result<()> {
        self.sequence += 1;
        let (seconds, ns) = (time / SECOND, time % SECOND);
        writeln!(out, "{device:>7}  0 {:8} {seconds:5}.{ns:09}     0 {what}", self.sequence)
    }

    fn answers(&mut self, out: &mut dyn Write, until: u64) -> io::Result<()> {
        while self.answers.peek().is_some_and(|Reverse((time, ..))| *time <= until) {
            let Some(Reverse((time, _, device, what))) = self.answers.pop() else { break };
            self.event(out, (&device, time), &what)?;
        }
        Ok(())
    }
}

impl Format for Blkparse {
    fn io(&mut self, entry: &Written, out: &mut dyn Write, losses: &mut Losses) -> io::Result<()> {
        let io = &entry.io;
        self.answers(out, io.issue.0)?;
        let is_device = entry
            .device
            .split_once(',')
            .is_some_and(|(major, minor)| major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok());
        let device = if is_device { entry.device.to_owned() } else { format!("{MAJOR},{}", entry.number) };
        if !is_device && !entry.device.is_empty() {
            losses.add("names of devices, now numbers");
        }
        let rwbs = match (io.op, io.fua) {
            (Op::Read, false) => "R",
            (Op::Read, true) => "RF",
            (Op::Write, false) => "W",
            (Op::Write, true) => "WF",
            (Op::Flush, _) => "FN",
            (Op::Trim, _) => "D",
        };
        let extent =
            if io.op == Op::Flush { String::new() } else { format!("{} + {} ", io.offset / 512, io.len / 512) };
        for action in ["Q", "D"] {
            self.event(out, (&device, io.issue.0), &format!(" {action} {rwbs:>3} {extent}[{}]", entry.process))?;
        }
        if let Some(latency) = io.latency {
            let error = if io.failed { 5 } else { 0 };
            let extent = if io.op == Op::Flush { "0 ".to_owned() } else { extent };
            let what = format!(" C {rwbs:>3} {extent}[{error}]");
            self.answers.push(Reverse((io.issue.0 + latency.0, self.sequence, device, what)));
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write, _: &mut Losses) -> io::Result<()> {
        self.answers(out, u64::MAX)
    }
}
