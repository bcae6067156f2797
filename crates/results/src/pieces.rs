//! A file line by line, in pieces of fixed size: memory does not grow with the file.

use std::io::{Error, ErrorKind, Read};

/// Bytes read at a time; no line may be longer.
pub const PIECE: usize = 512 * 1024;

/// Error that stops the reading of a file.
#[derive(Debug)]
pub enum Fault<'a> {
    /// A line of more than [`PIECE`] bytes, which begins so.
    TooLong(&'a [u8]),
    /// The source does not give it.
    Unreadable(Error),
}

/// Gives every line to `each`, without its end, with its number (from 1) and whether it had an end. `wrong` receives
/// read errors with the number of the line.
///
/// # Errors
/// The first of `each`, or what `wrong` makes of a fault.
pub fn for_each_line<E>(
    mut source: impl Read,
    mut each: impl FnMut(&[u8], u64, bool) -> Result<(), E>,
    wrong: impl Fn(Fault, u64) -> E,
) -> Result<(), E> {
    let mut piece = vec![0; PIECE];
    let (mut filled, mut line) = (0, 0);
    loop {
        let read = match source.read(&mut piece[filled..]) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(wrong(Fault::Unreadable(error), line + 1)),
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
            return Err(wrong(Fault::TooLong(&piece), line + 1));
        }
        piece.copy_within(begin..filled, 0);
        filled -= begin;
    }
}

#[inline]
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
