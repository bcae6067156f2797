//! Errors of a log.

use std::io;

use thiserror::Error;

/// A log that cannot be read, in one line; the caller knows the file's name.
#[derive(Debug, Error)]
pub enum LogError {
    /// The operating system's error.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A line (from 1) that does not match the format.
    #[error("line {line}: {found}; accepted: {accepted}")]
    Line {
        /// Line number, from 1.
        line: u64,
        /// Problem.
        found: String,
        /// Accepted values.
        accepted: &'static str,
    },
    /// The input is empty.
    #[error("contains no sample; accepted: {0}")]
    Empty(&'static str),
    /// The input is too large for memory.
    #[error("{0}")]
    TooMuch(String),
}

/// The line as a message can hold it: printable and short.
pub(crate) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(240)]);
    let mut short: String = text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}
