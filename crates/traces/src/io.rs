//! An I/O as formats find it, and what they hand it to.

use hotband_machine::Op;

use crate::error::shown;
use crate::streams::{Parts, Streams};

/// An I/O of a trace, before it is known which are taken. Times are in ns, of whatever clock the trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Time when it was requested.
    pub issue: u64,
    /// Latency, if the trace has it.
    pub latency: Option<u64>,
    /// Operation.
    pub op: Op,
    /// Force unit access.
    pub fua: bool,
    /// Whether the I/O failed.
    pub failed: bool,
    /// First byte on its device.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Number of its stream (host, device, process).
    pub stream: u32,
    /// Line of the file, from 1.
    pub row: u64,
}

/// Error of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Text found there.
    pub value: String,
    /// Problem.
    pub found: String,
}

impl Wrong {
    /// Return the error of a `value` in the file, with its `problem`.
    pub(crate) fn new(value: &[u8], problem: &str) -> Self {
        Self { value: shown(value), found: problem.to_owned() }
    }
}

/// Output of the lines of a trace.
#[derive(Debug, Default)]
pub struct Out {
    /// I/Os that have not been consumed yet.
    pub ios: Vec<Io>,
    /// Hosts, devices and processes so far.
    pub streams: Streams,
    /// The line that is read now.
    pub row: u64,
    /// Notes on the trace, each once.
    pub notes: Vec<String>,
    /// The first message of the tracer that it lost events, and the number of such messages.
    pub lost: Option<(String, u64)>,
}

/// Ends beyond this are none: 63 bits are what systems count bytes with.
pub(crate) const LAST_BYTE: u64 = i64::MAX as u64;

impl Out {
    /// An I/O of this line: a transfer has a length, and ends where bytes can be counted.
    ///
    /// # Errors
    /// It has no length, or ends beyond 2^63.
    #[inline]
    pub fn io(&mut self, io: Io) -> Result<(), Wrong> {
        if io.len == 0 && io.op != Op::Flush {
            return Err(Wrong::new(b"0", "a length of zero"));
        }
        if io.offset.checked_add(io.len).is_none_or(|end| end > LAST_BYTE) {
            let value = format!("{} B at {}", io.len, io.offset);
            return Err(Wrong::new(value.as_bytes(), "an address beyond 2^63 B"));
        }
        self.ios.push(io);
        Ok(())
    }

    /// A plain read or write of this line.
    #[inline]
    pub(crate) fn plain(&self, op: Op, issue: u64, offset: u64, len: u64, stream: u32) -> Io {
        Io { issue, latency: None, op, fua: false, failed: false, offset, len, stream, row: self.row }
    }

    /// The stream of a device, if the trace has no other information.
    #[inline]
    pub(crate) fn device(&mut self, device: &[u8]) -> u32 {
        self.streams.of(Parts { host: b"", device, process: b"" })
    }

    /// Counts a message of the tracer that it lost events.
    pub(crate) fn lost(&mut self, message: &[u8]) {
        self.lost.get_or_insert_with(|| (shown(message.trim_ascii()), 0)).1 += 1;
    }

    /// Says something once.
    pub(crate) fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }
}
