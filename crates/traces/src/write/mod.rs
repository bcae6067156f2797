//! A trace written in the format of another tool, and what that cannot say.

mod blkparse;
mod plain;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use hotband_machine::Op;
use hotband_workloads::{TraceError, TraceFile, TraceHead, TraceIo};
use thiserror::Error;

/// Errors of writing.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The rows cannot be read.
    #[error(transparent)]
    Rows(#[from] TraceError),
}

/// Details of a trace's I/Os that a format cannot express.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// I/Os that were written.
    pub written: u64,
    /// Lost details, with the number of I/Os each.
    pub lost: BTreeMap<&'static str, u64>,
    /// The most that a time was rounded by, in ns.
    pub rounded_ns: u64,
}

impl Losses {
    fn add(&mut self, what: &'static str) {
        *self.lost.entry(what).or_insert(0) += 1;
    }
}

/// Details that a format can express.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Says {
    /// ns of the unit of its times.
    time: u64,
    /// Bytes of the unit of its addresses, and of its lengths.
    offset: u64,
    len: u64,
    latency: Latency,
    flushes: bool,
    trims: bool,
    fua: bool,
    failures: bool,
    processes: bool,
    devices: Devices,
}

/// Whether a format has latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Latency {
    None,
    Optional,
    Needed,
}

/// Names of devices in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Devices {
    None,
    Numbers,
    Names,
}

const PLAIN: Says = Says {
    time: 1,
    offset: 1,
    len: 1,
    latency: Latency::None,
    flushes: false,
    trims: false,
    fua: false,
    failures: false,
    processes: false,
    devices: Devices::Numbers,
};

/// An I/O and its names, as a format writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    pub io: TraceIo,
    pub process: &'a str,
    /// Its name, and its number.
    pub device: &'a str,
    pub number: u64,
}

/// Writes one format.
pub(crate) trait Format {
    /// Write the header above all I/Os.
    fn head(&mut self, _: &mut dyn Write, _: &[(&str, u64)]) -> io::Result<()> {
        Ok(())
    }

    /// The next I/O.
    fn io(&mut self, io: &Written, out: &mut dyn Write, losses: &mut Losses) -> io::Result<()>;

    /// There are no more.
    fn finish(&mut self, _: &mut dyn Write, _: &mut Losses) -> io::Result<()> {
        Ok(())
    }
}

/// A format that can be written.
type Target = (&'static str, Says, fn() -> Box<dyn Format>);

/// All formats that can be written.
const FORMATS: [Target; 12] = [
    ("io-log-csv", plain::LOG, || Box::new(plain::Log::default())),
    ("fio-v2", plain::FIO, || Box::new(plain::Fio::new(false))),
    ("fio-v3", plain::FIO, || Box::new(plain::Fio::new(true))),
    ("blkparse", blkparse::SAYS, || Box::<blkparse::Blkparse>::default()),
    ("disksim-validate", plain::VALIDATE, || Box::<plain::Validate>::default()),
    ("disksim-ascii", plain::ASCII, || Box::new(plain::Line(plain::ascii))),
    ("mqsim", plain::MQSIM, || Box::new(plain::Line(plain::mqsim))),
    ("msr", plain::MSR, || Box::new(plain::Line(plain::msr))),
    ("spc", plain::SPC, || Box::new(plain::Line(plain::spc))),
    ("alibaba", plain::ALIBABA, || Box::new(plain::Line(plain::alibaba))),
    ("systor", plain::SYSTOR, || Box::<plain::Systor>::default()),
    ("tencent", plain::TENCENT, || Box::new(plain::Line(plain::tencent))),
];

/// Names of the formats that can be written.
pub const TARGETS: [&str; 12] = {
    let mut names = [""; 12];
    let mut index = 0;
    while index < names.len() {
        names[index] = FORMATS[index].0;
        index += 1;
    }
    names
};

/// Writes the trace whose rows are at `rows` to `out` in the format called `to`, which is one of [`TARGETS`]; compressed
/// where `ending` is "gz" or "zst".
///
/// # Errors
/// What cannot be read or written.
///
/// # Panics
/// If there is no such format.
pub fn write_trace(rows: &Path, to: &str, out: &Path, ending: &str) -> Result<Losses, WriteError> {
    let mut trace = TraceFile::open(rows)?;
    let file = BufWriter::with_capacity(1 << 18, File::create(out)?);
    match ending {
        "gz" => {
            let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            let losses = written(&mut trace, to, &mut packed)?;
            packed.finish()?.flush()?;
            Ok(losses)
        }
        "zst" => {
            // The library's own default level.
            let mut packed = zstd::Encoder::new(file, 0)?;
            let losses = written(&mut trace, to, &mut packed)?;
            packed.finish()?.flush()?;
            Ok(losses)
        }
        _ => {
            let mut file = file;
            let losses = written(&mut trace, to, &mut file)?;
            file.flush()?;
            Ok(losses)
        }
    }
}

fn written(trace: &mut TraceFile, to: &str, out: &mut dyn Write) -> Result<Losses, WriteError> {
    let (_, says, make) = FORMATS.iter().find(|(name, ..)| *name == to).expect("a format that can be written");
    let (mut format, mut losses) = (make(), Losses::default());
    let head = trace.head().clone();
    let numbers = numbers(&head);
    let named = |stream: &hotband_workloads::TraceStream| stream.volume.as_deref().unwrap_or("").to_owned();
    let devices: Vec<String> = head.streams.iter().map(named).collect();
    let all: BTreeMap<&str, u64> = devices.iter().map(String::as_str).zip(numbers.iter().copied()).collect();
    format.head(out, &all.into_iter().collect::<Vec<_>>())?;
    while let Some(io) = trace.next_io()? {
        let stream = usize::from(io.stream);
        let (process, device) = (head.streams[stream].name.as_str(), devices[stream].as_str());
        let entry = Written { io, process, device, number: numbers[stream] };
        if let Some(io) = says.what_fits(&entry, &mut losses) {
            losses.written += 1;
            format.io(&Written { io, ..entry }, out, &mut losses)?;
        }
    }
    format.finish(out, &mut losses)?;
    Ok(losses)
}

/// A number for the device of each stream: its own where all devices are called by numbers.
fn numbers(head: &TraceHead) -> Vec<u64> {
    let name = |stream: &hotband_workloads::TraceStream| stream.volume.clone().unwrap_or_default();
    let names: Vec<String> = head.streams.iter().map(name).collect();
    let as_numbers: Option<Vec<u64>> = names.iter().map(|name| name.parse::<u32>().ok().map(u64::from)).collect();
    as_numbers.unwrap_or_else(|| {
        let mut different: Vec<&String> = names.iter().collect();
        different.sort_unstable();
        different.dedup();
        let rank = |name: &String| different.binary_search(&name).map_or(0, |rank| rank as u64);
        names.iter().map(rank).collect()
    })
}

impl Says {
    /// Return the part of an I/O that the format can express, if any.
    fn what_fits(&self, entry: &Written, losses: &mut Losses) -> Option<TraceIo> {
        let mut io = entry.io;
        if (io.op == Op::Flush && !self.flushes) || (io.op == Op::Trim && !self.trims) {
            losses.add(if io.op == Op::Flush { "flushes, left out" } else { "trims, left out" });
            return None;
        }
        if !io.offset.is_multiple_of(self.offset) || !io.len.is_multiple_of(self.len) {
            losses.add("I/Os that are not whole sectors, left out");
            return None;
        }
        let losable = [
            (io.latency.is_some() && self.latency == Latency::None, "latencies"),
            (io.latency.is_none() && self.latency == Latency::Needed, "missing latencies, written as zero"),
            (io.fua && !self.fua, "FUA"),
            (io.failed && !self.failures, "failures"),
            (
                !self.processes && entry.process != entry.device && entry.process != "main",
                "names of processes or streams",
            ),
            (self.devices == Devices::None && !entry.device.is_empty(), "devices"),
            (
                self.devices == Devices::Numbers
                    && !entry.device.is_empty()
                    && entry.device != entry.number.to_string(),
                "names of devices, now numbers",
            ),
        ];
        losable.iter().filter(|(is_lost, _)| *is_lost).for_each(|(_, what)| losses.add(what));
        let mut rounded = |time: u64| {
            losses.rounded_ns = losses.rounded_ns.max(time % self.time);
            time - time % self.time
        };
        io.issue.0 = rounded(io.issue.0);
        if self.latency != Latency::None {
            io.latency = io.latency.map(|latency| hotband_units::Span(rounded(latency.0)));
        }
        Some(io)
    }
}
