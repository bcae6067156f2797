//! The lines or records of a trace, which may be compressed.

use std::io::{BufReader, ErrorKind, Read};

use hotband_results::pieces::{self, Fault, PIECE};

use crate::error::{TraceFileError, shown};
use crate::io::Wrong;

/// Gives every line and its number to `each`, without its end, and whether it had one; or every record of this many
/// bytes, and whether it is whole. A file that cannot be read to its end (a compressed one that was cut off) is
/// reported with the number of the line.
pub(crate) fn for_each_part(
    source: impl Read,
    record: Option<usize>,
    each: impl FnMut(&[u8], u64, bool) -> Result<(), TraceFileError>,
) -> Result<(), TraceFileError> {
    match record {
        Some(length) => for_each_record(source, length, each),
        None => for_each_line(source, each),
    }
}

fn for_each_record(
    source: impl Read,
    length: usize,
    mut each: impl FnMut(&[u8], u64, bool) -> Result<(), TraceFileError>,
) -> Result<(), TraceFileError> {
    let (mut source, mut record) = (BufReader::new(source), Vec::with_capacity(length));
    for row in 1.. {
        record.clear();
        let read = source.by_ref().take(length as u64).read_to_end(&mut record);
        read.map_err(|error| wrong(Fault::Unreadable(error), row))?;
        if record.len() < length {
            let cut = Wrong { value: String::new(), found: format!("{} of {length} bytes", record.len()) };
            return if record.is_empty() { Ok(()) } else { Err(TraceFileError::line(row, cut, "whole records")) };
        }
        each(&record, row, true)?;
    }
    Ok(())
}

fn for_each_line(
    source: impl Read,
    each: impl FnMut(&[u8], u64, bool) -> Result<(), TraceFileError>,
) -> Result<(), TraceFileError> {
    pieces::for_each_line(source, each, wrong)
}

/// The error of what keeps a file from being read.
fn wrong(fault: Fault, line: u64) -> TraceFileError {
    match fault {
        Fault::Unreadable(error) if error.raw_os_error().is_some() || error.kind() == ErrorKind::Other => error.into(),
        Fault::Unreadable(error) => {
            let problem = format!("the compressed data ends here, or is damaged ({error})");
            TraceFileError::line(line, Wrong { value: String::new(), found: problem }, "a whole file")
        }
        Fault::TooLong(text) => {
            let wrong = Wrong { value: shown(text), found: format!("a line of more than {PIECE} bytes") };
            TraceFileError::line(line, wrong, "a trace with one I/O per line")
        }
    }
}
