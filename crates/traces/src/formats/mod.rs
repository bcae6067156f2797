//! The formats, a file each.

mod alibaba;
mod blkparse;
mod columns;
mod disksim;
mod fio;
mod msr;
mod spc;
mod systor;
mod tencent;
mod validate;

use crate::io::{Out, Wrong};

pub(crate) use columns::Columns;

/// Reads the lines of one format.
pub trait Parser: Send {
    /// One line, without its end; its I/Os go to `out`. Empty lines are not told.
    ///
    /// # Errors
    /// What is wrong with it.
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong>;

    /// The trace is over.
    fn finish(&mut self, _: &mut Out) {}

    /// Whether its times count from the beginning of the run that was recorded: then they stay as they are, else the first
    /// I/O is asked for at zero.
    fn counts_from_zero(&self) -> bool {
        false
    }

    /// The line from which on I/Os were measured, where the trace says.
    fn measured_from(&self) -> Option<u64> {
        None
    }
}

/// A format that is known by its first lines.
pub struct Format {
    /// Its name, as `format` has it.
    pub name: &'static str,
    /// Accepted form of its lines, for errors.
    pub accepted: &'static str,
    /// Whether a line can be told to be of it by itself: those that need a header cannot.
    pub(crate) make: fn() -> Box<dyn Parser>,
}

/// All of them.
pub(crate) const FORMATS: [&Format; 13] = [
    &columns::LOG,
    &fio::V3,
    &fio::V2,
    &blkparse::DISPATCH,
    &blkparse::QUEUE,
    &validate::FORMAT,
    &disksim::ASCII,
    &disksim::MQSIM,
    &msr::FORMAT,
    &spc::FORMAT,
    &alibaba::FORMAT,
    &systor::FORMAT,
    &tencent::FORMAT,
];

/// Name of the format whose columns the user says.
pub(crate) const CSV: &str = "csv";

/// Error of an unknown operation.
pub(crate) const NO_OP: &str = "no operation";

/// Whether a line is the header of a table: formats of columns may have one, whatever the case of its letters.
pub(crate) fn is_header(line: &[u8], header: &str) -> bool {
    line.eq_ignore_ascii_case(header.as_bytes())
}

/// A number of a field, and what it is for errors.
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
