//! The formats, one file each.

mod alibaba;
mod biosnoop;
mod blkparse;
mod cachesim;
mod calendar;
mod columns;
mod disksim;
mod etw;
mod fio;
mod msr;
mod spc;
mod systor;
mod tencent;
mod validate;

use crate::io::{Out, Wrong};
use crate::numbers::whole;

pub(crate) use columns::Columns;

/// Reads the lines of one format.
pub trait Parser: Send {
    /// Bytes of a record, of formats that have no lines.
    fn record(&self) -> Option<usize> {
        None
    }

    /// One line, without its end, or one record; its I/Os go to `out`. Empty lines are skipped.
    ///
    /// # Errors
    /// What is wrong with it.
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong>;

    /// Whether the heading or first event is not read yet. Until then the reader skips lines that it cannot parse, such
    /// as the shell's command.
    fn is_before_heading(&self) -> bool {
        false
    }

    /// The trace is over.
    fn finish(&mut self, _: &mut Out) {}

    /// Whether its times count from the beginning of the run that was recorded: then they stay as they are, else the
    /// first I/O is requested at zero.
    fn counts_from_zero(&self) -> bool {
        false
    }

    /// The line from which I/Os were measured, if the trace states it.
    fn measured_from(&self) -> Option<u64> {
        None
    }
}

/// A format that is known by its first lines.
pub struct Format {
    /// Its name, as in `format`.
    pub name: &'static str,
    /// Accepted form of its lines, for errors.
    pub accepted: &'static str,
    /// Whether a line can be told to be of it by itself: those that need a header cannot.
    pub(crate) make: fn() -> Box<dyn Parser>,
}

/// All formats.
pub(crate) const FORMATS: [&Format; 19] = [
    &columns::LOG,
    &fio::V3,
    &fio::V2,
    &blkparse::DISPATCH,
    &blkparse::QUEUE,
    &blkparse::PERF,
    &biosnoop::FORMAT,
    &etw::FORMAT,
    &validate::FORMAT,
    &disksim::ASCII,
    &disksim::MQSIM,
    &msr::FORMAT,
    &spc::FORMAT,
    &alibaba::FORMAT,
    &systor::FORMAT,
    &tencent::FORMAT,
    &cachesim::VSCSI1,
    &cachesim::VSCSI2,
    &cachesim::ORACLE,
];

/// Name of the format with columns that the user states.
pub(crate) const CSV: &str = "csv";

/// Error of an unknown operation.
pub(crate) const NO_OP: &str = "no operation";

/// Note of formats that record completion times.
pub(crate) const ENDED: &str = "times are those of completions: I/Os begin earlier by their latency";
/// ns that such times are moved by: the first I/O may have begun before its trace.
const DAY: u64 = 86_400_000_000_000;

/// Whether a line is a message of a tracer that it lost events, each by its own beginning, so that the text of another
/// event is none: perf script (`--show-lost-events` and its warnings), perf trace and bpftrace, ftrace and trace-cmd,
/// blktrace and blkparse. The heading of ftrace has the events that were overwritten.
pub(crate) fn is_about_loss(line: &[u8]) -> bool {
    if line.starts_with(b"#") {
        let counts = line.strip_prefix(b"# entries-in-buffer/entries-written: ");
        let mut counts = counts.unwrap_or_default().split(|byte| *byte == b'/' || *byte == b' ').map(whole);
        return matches!((counts.next(), counts.next()), (Some(Some(kept)), Some(Some(written))) if kept < written);
    }
    let line = line.trim_ascii();
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    if let Some(counted) = line.strip_prefix(b"LOST ").or_else(|| line.strip_prefix(b"Lost ")) {
        let digits = counted.iter().take_while(|byte| byte.is_ascii_digit()).count();
        return digits > 0 && counted[digits..].starts_with(b" events");
    }
    let of_cpu = line.starts_with(b"CPU:") && (line.ends_with(b" EVENTS]") || line.ends_with(b"EVENTS DROPPED]"));
    let is_warning = line.starts_with(b"Processed ") && has(b" and lost ");
    let of_blktrace = line.starts_with(b"You have ") && has(b" dropped events");
    let skips = line.strip_prefix(b"Skips: ").is_some_and(|count| !count.starts_with(b"0 "));
    of_cpu || is_warning || of_blktrace || skips || has(b" PERF_RECORD_LOST")
}

/// Return the time of issue of an I/O that ended at `end`, shifted by a day.
pub(crate) fn started(end: u64, took: u64) -> Result<u64, Wrong> {
    let issue = end.checked_add(DAY).and_then(|end| end.checked_sub(took));
    issue.ok_or_else(|| Wrong::new(took.to_string().as_bytes(), "a latency of more than a day before the trace"))
}

/// Whether a line is the header of a table: formats of columns may have one, whatever the case of its letters.
pub(crate) fn is_header(line: &[u8], header: &str) -> bool {
    line.eq_ignore_ascii_case(header.as_bytes())
}

/// A number of a field, with its name for errors.
pub(crate) fn need(number: Option<u64>, field: &[u8], problem: &'static str) -> Result<u64, Wrong> {
    number.ok_or_else(|| Wrong::new(field, problem))
}

/// Blocks of 512 B as bytes.
pub(crate) fn sectors(field: &[u8], problem: &'static str) -> Result<u64, Wrong> {
    need(crate::numbers::whole(field).and_then(|sectors| sectors.checked_mul(512)), field, problem)
}

/// Refuses a line with another number of fields.
pub(crate) fn count(line: &[u8], found: usize, fits: bool) -> Result<(), Wrong> {
    if fits { Ok(()) } else { Err(Wrong::new(line, &format!("a line of {found} fields"))) }
}
