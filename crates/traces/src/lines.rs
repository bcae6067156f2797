//! A file line by line, in pieces of fixed size.

use std::io::{ErrorKind, Read};

use crate::error::{TraceFileError, shown};
use crate::io::Wrong;

/// Read at a time; no line may be longer.
const PIECE: usize = 512 * 1024;

/// Gives every line and its number to `each`, without its end, and whether it had one. A file that cannot be read to its
/// end (a compressed one that was cut off) is told with the number of the line.
pub(crate) fn for_each_line(
    mut source: impl Read,
    mut each: impl FnMut(&[u8], u64, bool) -> Result<(), TraceFileError>,
) -> Result<(), TraceFileError> {
    let mut piece = vec![0; PIECE];
    let (mut filled, mut line) = (0, 0);
    loop {
        let read = match source.read(&mut piece[filled..]) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.raw_os_error().is_some() || error.kind() == ErrorKind::Other => {
                return Err(error.into());
            }
            Err(error) => {
                let wrong = Wrong {
                    value: String::new(),
                    found: format!("the compressed data ends or breaks off here ({error})"),
                };
                return Err(TraceFileError::line(line + 1, wrong, "a whole file"));
            }
        };
        filled += read;
        if read == 0 {
            return if filled == 0 { Ok(()) } else { each(trimmed(&piece[..filled]), line + 1, false) };
        }
        let mut begin = 0;
        while let Some(length) = memchr::memchr(b'\n', &piece[begin..filled]) {
            line += 1;
            each(trimmed(&piece[begin..begin + length]), line, true)?;
            begin += length + 1;
        }
        if begin == 0 && filled == PIECE {
            let wrong = Wrong { value: shown(&piece), found: format!("a line of more than {PIECE} bytes") };
            return Err(TraceFileError::line(line + 1, wrong, "a trace, an I/O a line"));
        }
        piece.copy_within(begin..filled, 0);
        filled -= begin;
    }
}

#[inline]
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
