//! Formats with one line per I/O. The parser of the format defines each line (`formats/`).

use std::collections::BTreeSet;
use std::io::{self, Write};

use hotband_machine::Op;

use super::{Devices, Format, Latency, Losses, PLAIN, Says, Written};

pub(super) const LOG: Says = Says {
    latency: Latency::Optional,
    flushes: true,
    trims: true,
    fua: true,
    failures: true,
    processes: true,
    devices: Devices::Names,
    ..PLAIN
};
pub(super) const FIO: Says = Says { time: 1000, flushes: true, trims: true, devices: Devices::Names, ..PLAIN };
pub(super) const VALIDATE: Says =
    Says { offset: 512, len: 512, latency: Latency::Needed, devices: Devices::None, ..PLAIN };
pub(super) const ASCII: Says = Says { offset: 512, len: 512, ..PLAIN };
pub(super) const MQSIM: Says = ASCII;
pub(super) const MSR: Says = Says { time: 100, latency: Latency::Needed, devices: Devices::Names, ..PLAIN };
pub(super) const SPC: Says = Says { offset: 512, ..PLAIN };
pub(super) const ALIBABA: Says = Says { time: 1000, ..PLAIN };
pub(super) const SYSTOR: Says = Says { latency: Latency::Optional, ..PLAIN };
pub(super) const TENCENT: Says = Says { time: 1_000_000_000, ..ASCII };

/// ns of a second.
const SECOND: u64 = 1_000_000_000;

/// A line that needs nothing but its I/O.
pub(super) struct Line(pub fn(&Written, &mut dyn Write) -> io::Result<()>);

impl Format for Line {
    fn io(&mut self, io: &Written, out: &mut dyn Write, _: &mut Losses) -> io::Result<()> {
        self.0(io, out)
    }
}

fn letter(entry: &Written) -> char {
    if entry.io.op == Op::Read { 'R' } else { 'W' }
}

fn seconds(time: u64) -> String {
    format!("{}.{:09}", time / SECOND, time % SECOND)
}

fn latency(entry: &Written) -> u64 {
    entry.io.latency.map_or(0, |latency| latency.0)
}

pub(super) fn ascii(entry: &Written, out: &mut dyn Write) -> io::Result<()> {
    let Written { io, number, .. } = entry;
    let read = u8::from(io.op == Op::Read);
    let (ms, rest) = (io.issue.0 / 1_000_000, io.issue.0 % 1_000_000);
    writeln!(out, "{ms}.{rest:06} {number} {} {} {read}", io.offset / 512, io.len / 512)
}

pub(super) fn mqsim(entry: &Written, out: &mut dyn Write) -> io::Result<()> {
    let Written { io, number, .. } = entry;
    let read = u8::from(io.op == Op::Read);
    writeln!(out, "{} {number} {} {} {read}", io.issue.0, io.offset / 512, io.len / 512)
}

pub(super) fn msr(entry: &Written, out: &mut dyn Write) -> io::Result<()> {
    let io = &entry.io;
    let split = entry.device.rsplit_once('_').filter(|(_, disk)| disk.parse::<u32>().is_ok());
    let number = entry.number.to_string();
    let (host, disk) = split.unwrap_or(("host", &number));
    let word = if io.op == Op::Read { "Read" } else { "Write" };
    let host = host.replace(',', "_");
    writeln!(out, "{},{host},{disk},{word},{},{},{}", io.issue.0 / 100, io.offset, io.len, latency(entry) / 100)
}

pub(super) fn spc(entry: &Written, out: &mut dyn Write) -> io::Result<()> {
    let Written { io, number, .. } = entry;
    writeln!(out, "{number},{},{},{},{}", io.offset / 512, io.len, letter(entry), seconds(io.issue.0))
}

pub(super) fn alibaba(entry: &Written, out: &mut dyn Write) -> io::Result<()> {
    let Written { io, number, .. } = entry;
    writeln!(out, "{number},{},{},{},{}", letter(entry), io.offset, io.len, io.issue.0 / 1000)
}

pub(super) fn tencent(entry: &Written, out: &mut dyn Write) -> io::Result<()> {
    let Written { io, number, .. } = entry;
    let write = u8::from(io.op != Op::Read);
    writeln!(out, "{},{},{},{write},{number}", io.issue.0 / SECOND, io.offset / 512, io.len / 512)
}

#[derive(Default)]
pub(super) struct Systor;

impl Format for Systor {
    fn head(&mut self, out: &mut dyn Write, _: &[(&str, u64)]) -> io::Result<()> {
        writeln!(out, "Timestamp,Response,IOType,LUN,Offset,Size")
    }

    fn io(&mut self, entry: &Written, out: &mut dyn Write, _: &mut Losses) -> io::Result<()> {
        let Written { io, number, .. } = entry;
        let response = io.latency.map_or(String::new(), |latency| seconds(latency.0));
        writeln!(out, "{},{response},{},{number},{},{}", seconds(io.issue.0), letter(entry), io.offset, io.len)
    }
}

/// Our own log, without columns that a trace lacks.
#[derive(Default)]
pub(super) struct Log {
    number: u64,
}

/// A cell that no program takes for a formula or for several.
fn cell(name: &str) -> String {
    name.trim_start_matches(['=', '+', '-', '@']).replace([',', '"', ';', '\t'], "_")
}

impl Format for Log {
    fn head(&mut self, out: &mut dyn Write, _: &[(&str, u64)]) -> io::Result<()> {
        writeln!(out, "number,submit_ns,stream,direction,offset_bytes,size_bytes,latency_ns,error,fua,volume")
    }

    fn io(&mut self, entry: &Written, out: &mut dyn Write, losses: &mut Losses) -> io::Result<()> {
        let (io, stream, volume) = (&entry.io, cell(entry.process), cell(entry.device));
        if stream != entry.process || volume != entry.device {
            losses.add("signs in names");
        }
        let word = ["read", "write", "flush", "trim"][op_number(io.op)];
        let latency = io.latency.map_or(String::new(), |latency| latency.0.to_string());
        let error = if io.failed { "failed" } else { "" };
        let number = self.number;
        self.number += 1;
        let (issue, offset, len, fua) = (io.issue.0, io.offset, io.len, io.fua);
        writeln!(out, "{number},{issue},{stream},{word},{offset},{len},{latency},{error},{fua},{volume}")
    }
}

fn op_number(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Flush => 2,
        Op::Trim => 3,
    }
}

pub(super) struct Fio {
    has_times: bool,
    now: u64,
}

impl Fio {
    pub(super) fn new(has_times: bool) -> Self {
        Self { has_times, now: 0 }
    }

    /// fio's lines have blanks between fields.
    fn file(device: &str) -> String {
        if device.is_empty() { "device".to_owned() } else { device.replace([' ', '\t'], "_") }
    }
}

impl Format for Fio {
    fn head(&mut self, out: &mut dyn Write, devices: &[(&str, u64)]) -> io::Result<()> {
        let (version, time) = if self.has_times { (3, "0 ") } else { (2, "") };
        writeln!(out, "fio version {version} iolog")?;
        let files: BTreeSet<String> = devices.iter().map(|(device, _)| Self::file(device)).collect();
        files.iter().try_for_each(|file| writeln!(out, "{time}{file} add\n{time}{file} open"))
    }

    fn io(&mut self, entry: &Written, out: &mut dyn Write, losses: &mut Losses) -> io::Result<()> {
        let (file, io) = (Self::file(entry.device), &entry.io);
        if file != entry.device && !entry.device.is_empty() {
            losses.add("signs in names");
        }
        let now = io.issue.0 / 1000;
        if self.has_times {
            write!(out, "{now} ")?;
        } else if now > self.now {
            writeln!(out, "{file} wait {} 0", now - self.now)?;
        }
        self.now = now;
        match io.op {
            Op::Flush => writeln!(out, "{file} sync 0 0"),
            op => writeln!(out, "{file} {} {} {}", ["read", "write", "sync", "trim"][op_number(op)], io.offset, io.len),
        }
    }
}

/// A closed loop with one outstanding: an I/O that is requested before the previous one was completed waits for it.
#[derive(Default)]
pub(super) struct Validate {
    /// The line that waits for its think time, and when its I/O was completed.
    last: Option<(String, u64)>,
}

fn microseconds(time: u64) -> String {
    format!("{}.{:03}", time / 1000, time % 1000)
}

impl Format for Validate {
    fn io(&mut self, entry: &Written, out: &mut dyn Write, losses: &mut Losses) -> io::Result<()> {
        let io = &entry.io;
        let latency = latency(entry);
        let mut issue = io.issue.0;
        match self.last.take() {
            Some((line, done)) => {
                if issue < done {
                    losses.add("issue times of I/Os issued before the previous I/O completed");
                    issue = done;
                }
                writeln!(out, "{line} {}", microseconds(issue - done))?;
            }
            None if issue > 0 => losses.add("the time before the first I/O"),
            None => {}
        }
        let (block, blocks) = (io.offset / 512, io.len / 512);
        let line = format!("{} Miss {block} {blocks} {}", letter(entry), microseconds(latency));
        self.last = Some((line, issue + latency));
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write, _: &mut Losses) -> io::Result<()> {
        self.last.take().map_or(Ok(()), |(line, _)| writeln!(out, "{line} {}", microseconds(0)))
    }
}
