//! The lines of a trace, which may be compressed.

use std::io::{ErrorKind, Read};

use hotband_results::pieces::{self, Fault, PIECE};

use crate::error::{TraceFileError, shown};
use crate::io::Wrong;

/// Gives every line and its number to `each`, without its end, and whether it had one. A file that cannot be read to its
/// end (a compressed one that was cut off) is told with the number of the line.
pub(crate) fn for_each_line(
    source: impl Read,
    each: impl FnMut(&[u8], u64, bool) -> Result<(), TraceFileError>,
) -> Result<(), TraceFileError> {
    pieces::for_each_line(source, each, |fault, line| match fault {
        Fault::Unreadable(error) if error.raw_os_error().is_some() || error.kind() == ErrorKind::Other => error.into(),
        Fault::Unreadable(error) => {
            let problem = format!("the compressed data ends or breaks off here ({error})");
            TraceFileError::line(line, Wrong { value: String::new(), found: problem }, "a whole file")
        }
        Fault::TooLong(text) => {
            let wrong = Wrong { value: shown(text), found: format!("a line of more than {PIECE} bytes") };
            TraceFileError::line(line, wrong, "a trace, an I/O a line")
        }
    })
}
