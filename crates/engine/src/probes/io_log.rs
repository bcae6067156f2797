//! Every I/O of a run, as fixed-size rows of 64-bit little-endian numbers in a file.
//!
//! The Python side turns the file into Parquet; here only the bytes are written, so that a log of any length needs
//! constant memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use hotband_machine::{Io, Machine};
use hotband_units::Instant;

use crate::control::RunError;
use crate::probes::probe::{Answered, Findings, Probe, RunEnd};
use crate::probes::streams::direction_of;

/// Columns of a row, each an unsigned 64-bit number. `direction`: 0 read, 1 write, 2 flush, 3 trim. `error`: 0 none,
/// 1 misaligned, 2 out of range, 3 write-protected. `volume`: its index. `number`: in order of submission, from 0: rows
/// are in order of completion. Columns are added at the end, so that logs of old are read.
pub const LOG_COLUMNS: [&str; 18] = [
    "submit_ns",
    "stream",
    "direction",
    "offset_bytes",
    "size_bytes",
    "latency_ns",
    "queue_ns",
    "overhead_ns",
    "seek_ns",
    "rotation_ns",
    "transfer_ns",
    "flash_ns",
    "link_ns",
    "error",
    "measured",
    "fua",
    "volume",
    "number",
];

/// A log being written.
pub struct IoLog {
    out: BufWriter<File>,
    /// The first row that could not be written.
    failed: Option<std::io::Error>,
    measuring: bool,
    /// Force unit access, volume and number of outstanding I/Os, by tag, known only at submission.
    submitted: Vec<[u64; 3]>,
    /// I/Os submitted.
    count: u64,
}

impl IoLog {
    /// Creates the file.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        Ok(Self { out, failed: None, measuring: false, submitted: Vec::new(), count: 0 })
    }
}

impl Probe for IoLog {
    fn wants_ios(&self) -> bool {
        true
    }

    fn begin(&mut self, _: Instant, _: &Machine) {
        self.measuring = true;
    }

    fn end_step(&mut self, _: Instant, _: &Machine) {
        self.measuring = false;
    }

    fn submitted(&mut self, _: &Machine, _: u16, io: &mut Io) {
        // Tags are those of a slab: as many as I/Os were outstanding at once.
        let tag = io.tag as usize;
        if self.submitted.len() <= tag {
            self.submitted.resize(tag + 1, [0; 3]);
        }
        self.submitted[tag] = [u64::from(io.fua), u64::from(io.volume), self.count];
        self.count += 1;
    }

    /// Appends it, unless one before it could not be written: see `check`.
    fn io(&mut self, io: &Answered) {
        if self.failed.is_some() {
            return;
        }
        let done = io.done;
        let t = &done.times;
        let [fua, volume, number] = self.submitted[done.tag as usize];
        let row: [u64; LOG_COLUMNS.len()] = [
            done.submitted.0,
            u64::from(io.stream),
            direction_of(io.op) as u64,
            io.offset,
            u64::from(io.len),
            done.at.since(done.submitted).0,
            t.queue.0,
            t.overhead.0,
            t.seek.0,
            t.rotation.0,
            t.transfer.0,
            t.flash.0,
            t.link.0,
            done.fault.map_or(0, |fault| fault as u64 + 1),
            u64::from(self.measuring),
            fua,
            volume,
            number,
        ];
        let bytes: Vec<u8> = row.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.failed = self.out.write_all(&bytes).err();
    }

    fn check(&mut self) -> Result<(), RunError> {
        self.failed.take().map_or(Ok(()), |error| Err(RunError::Log(error)))
    }

    fn end(mut self: Box<Self>, _: &mut RunEnd) -> Result<Findings, RunError> {
        self.check()?;
        self.out.flush().map_err(RunError::Log)?;
        Ok(Findings::default())
    }
}
