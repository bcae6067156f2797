//! Errors of a trace.

use std::io;

use thiserror::Error;

use crate::io::Wrong;

/// A trace that cannot be read, in one line; the caller knows the file's name.
#[derive(Debug, Error)]
pub enum TraceFileError {
    /// The operating system's error, or a compressed file that is damaged.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A line (from 1) that does not match the format.
    #[error("line {line}: {found}; expected {accepted}")]
    Line {
        /// Line number, from 1.
        line: u64,
        /// Text found there.
        value: String,
        /// Problem.
        found: String,
        /// Accepted values.
        accepted: String,
    },
    /// An error of the whole file.
    #[error("{0}")]
    Whole(String),
}

impl TraceFileError {
    pub(crate) fn line(line: u64, wrong: Wrong, accepted: &str) -> Self {
        Self::Line { line, value: wrong.value, found: wrong.found, accepted: accepted.to_owned() }
    }
}

/// Bytes as a message can hold them: printable and short.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(240)]);
    let mut short: String = text.chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(60).is_some() {
        short.push('…');
    }
    short
}
