//! A trace in the one internal form: fixed-size rows in order of issue, read one after the other.
//!
//! The file: eight bytes [`MAGIC`], where its head begins, rows, and the head, a TOML text ([`TraceHead`]): its
//! content is known when the last row was written. Rows have [`COLUMNS`] 64-bit little-endian numbers: time of issue
//! and latency in ns ([`UNKNOWN`] where the trace has none), what it is (bits 0 to 7 the operation as in the I/O log,
//! bit 8 FUA, bit 9 failed, from bit 16 the stream), offset, length, and the row of the user's file that it comes from.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use hotband_machine::Op;
use hotband_units::{Instant, Span};
use thiserror::Error;
use toml::{Table, Value};

/// First bytes of such a file.
const MAGIC: [u8; 8] = *b"hbtrace2";
/// 64-bit numbers of a row.
const COLUMNS: usize = 6;
const ROW: usize = 8 * COLUMNS;
/// Offset of the first row.
const BEGIN: u64 = 16;
/// A latency that the trace does not have.
const UNKNOWN: u64 = u64::MAX;
/// Longest head: 65,536 streams (a number of 16 bits) with names of a hundred bytes each.
const LONGEST_HEAD: u64 = 1 << 24;
/// Bytes read at once.
const AT_ONCE: usize = 1 << 18;

/// Errors of such a file: it was damaged after it was written, or cannot be read.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("the trace cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file is not a valid trace.
    #[error("not rows of a trace: {0}")]
    Damaged(&'static str),
    /// I/Os are not in order of issue.
    #[error("row {0}: comes before the previous row; expected rows in order of issue")]
    Order(u64),
}

/// An I/O of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceIo {
    /// Time when it was requested.
    pub issue: Instant,
    /// Latency; none if the trace has none.
    pub latency: Option<Span>,
    /// Operation.
    pub op: Op,
    /// Force unit access.
    pub fua: bool,
    /// Whether the I/O failed when it was recorded.
    pub failed: bool,
    /// Index of its stream in the head.
    pub stream: u16,
    /// First byte on its volume.
    pub offset: u64,
    /// Its length in bytes; zero for a flush.
    pub len: u64,
    /// Row of the user's file, for errors.
    pub row: u64,
}

impl TraceIo {
    /// When it was completed, if that is known.
    pub fn done(&self) -> Option<Instant> {
        self.latency.map(|latency| self.issue + latency)
    }

    /// Its row in a file.
    #[inline]
    pub fn to_bytes(&self) -> [u8; ROW] {
        let op = match self.op {
            Op::Read => 0_u64,
            Op::Write => 1,
            Op::Flush => 2,
            Op::Trim => 3,
        };
        let what = op | u64::from(self.fua) << 8 | u64::from(self.failed) << 9 | u64::from(self.stream) << 16;
        let latency = self.latency.map_or(UNKNOWN, |latency| latency.0);
        let mut bytes = [0; ROW];
        let numbers = [self.issue.0, latency, what, self.offset, self.len, self.row];
        for (bytes_of, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            bytes_of.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The I/O of a row.
    ///
    /// # Errors
    /// An operation that is none, or a time beyond the clock.
    pub fn of_bytes(bytes: &[u8; ROW]) -> Result<Self, TraceError> {
        let number = |column: usize| {
            let bytes = bytes[8 * column..8 * column + 8].try_into().expect("a number has eight bytes");
            u64::from_le_bytes(bytes)
        };
        let [issue, latency, what, offset, len, row] = std::array::from_fn(number);
        let op = match what & 0xff {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Flush,
            3 => Op::Trim,
            _ => return Err(TraceError::Damaged("an unknown operation")),
        };
        // An end beyond the clock could not be compared with others.
        let end = if latency == UNKNOWN { Some(issue) } else { issue.checked_add(latency) };
        if end.is_none_or(|end| end == Instant::NEVER.0) {
            return Err(TraceError::Damaged("a time beyond the clock"));
        }
        Ok(Self {
            issue: Instant(issue),
            latency: (latency != UNKNOWN).then_some(Span(latency)),
            op,
            fua: what >> 8 & 1 == 1,
            failed: what >> 9 & 1 == 1,
            stream: (what >> 16) as u16,
            offset,
            len,
            row,
        })
    }
}

/// A stream of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStream {
    /// Its name in records.
    pub name: String,
    /// The addressed volume, if the trace states it.
    pub volume: Option<String>,
}

/// Header of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHead {
    /// Name of the user's file, for errors.
    pub file: String,
    /// Its streams.
    pub streams: Vec<TraceStream>,
    /// I/Os.
    pub ios: u64,
    /// Number of these completed before the first measured one.
    pub unmeasured: u64,
    /// Notes of the reader that made the rows: lines left out, guessed times.
    pub notes: Vec<String>,
}

impl TraceHead {
    /// The end of a file.
    fn to_text(&self) -> String {
        let stream = |stream: &TraceStream| {
            let volume = stream.volume.iter().map(|volume| ("volume".to_owned(), Value::from(volume.as_str())));
            let name = ("name".to_owned(), Value::from(stream.name.as_str()));
            Value::Table([name].into_iter().chain(volume).collect())
        };
        let count = |count: u64| Value::Integer(count.cast_signed());
        let head: Table = [
            ("file".to_owned(), Value::from(self.file.as_str())),
            ("streams".to_owned(), Value::Array(self.streams.iter().map(stream).collect())),
            ("ios".to_owned(), count(self.ios)),
            ("unmeasured".to_owned(), count(self.unmeasured)),
            ("notes".to_owned(), Value::Array(self.notes.iter().map(|note| Value::from(note.as_str())).collect())),
        ]
        .into_iter()
        .collect();
        head.to_string()
    }

    fn of_text(text: &str) -> Option<Self> {
        let head: Table = text.parse().ok()?;
        let count = |key: &str| head.get(key)?.as_integer()?.try_into().ok();
        let stream = |value: &Value| {
            let volume = value.get("volume").and_then(Value::as_str).map(str::to_owned);
            Some(TraceStream { name: value.get("name")?.as_str()?.to_owned(), volume })
        };
        Some(Self {
            file: head.get("file")?.as_str()?.to_owned(),
            streams: head.get("streams")?.as_array()?.iter().map(stream).collect::<Option<_>>()?,
            ios: count("ios")?,
            unmeasured: count("unmeasured")?,
            notes: head
                .get("notes")?
                .as_array()?
                .iter()
                .map(|note| note.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
        })
    }
}

/// A trace being written.
#[derive(Debug)]
pub struct TraceRows {
    rows: BufWriter<File>,
    written: u64,
}

impl TraceRows {
    /// A new file.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let mut rows = BufWriter::with_capacity(AT_ONCE, File::create(path)?);
        rows.write_all(&[0; BEGIN as usize])?;
        Ok(Self { rows, written: 0 })
    }

    /// The next I/O, which is issued no earlier than the previous one.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn push(&mut self, io: &TraceIo) -> std::io::Result<()> {
        self.written += 1;
        self.rows.write_all(&io.to_bytes())
    }

    /// I/Os so far.
    pub fn ios(&self) -> u64 {
        self.written
    }

    /// All I/Os were written; `head` counts them.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self, head: &TraceHead) -> std::io::Result<()> {
        self.rows.write_all(head.to_text().as_bytes())?;
        let mut file = self.rows.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&[&MAGIC[..], &(BEGIN + self.written * ROW as u64).to_le_bytes()].concat())
    }
}

/// A trace being read, one I/O after the other in order of issue.
#[derive(Debug)]
pub struct TraceFile {
    head: TraceHead,
    rows: BufReader<File>,
    /// I/Os read so far, and when the last of them was requested.
    read: u64,
    last: Instant,
}

impl TraceFile {
    /// Opens one.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let mut file = File::open(path)?;
        let mut start = [0; BEGIN as usize];
        file.read_exact(&mut start).map_err(|_| TraceError::Damaged("it is too short"))?;
        let at = u64::from_le_bytes(start[8..].try_into().expect("eight bytes"));
        if start[..8] != MAGIC {
            return Err(TraceError::Damaged("its first bytes are not those of such a file"));
        }
        let length = file.metadata()?.len().checked_sub(at).filter(|length| *length <= LONGEST_HEAD);
        let length = length.ok_or(TraceError::Damaged("it has no head"))?;
        file.seek(SeekFrom::Start(at))?;
        let mut text = Vec::new();
        (&file).take(length).read_to_end(&mut text)?;
        let head = std::str::from_utf8(&text).ok().and_then(TraceHead::of_text);
        let head = head.ok_or(TraceError::Damaged("the head cannot be read"))?;
        if head.ios.checked_mul(ROW as u64).and_then(|rows| rows.checked_add(BEGIN)) != Some(at) {
            return Err(TraceError::Damaged("its length is not that of its rows"));
        }
        file.seek(SeekFrom::Start(BEGIN))?;
        Ok(Self { head, rows: BufReader::with_capacity(AT_ONCE, file), read: 0, last: Instant::ZERO })
    }

    /// Return the header.
    pub fn head(&self) -> &TraceHead {
        &self.head
    }

    /// The next I/O, if there is one more.
    ///
    /// # Errors
    /// It cannot be read, or the row is none.
    pub fn next_io(&mut self) -> Result<Option<TraceIo>, TraceError> {
        if self.read == self.head.ios {
            return Ok(None);
        }
        let mut bytes = [0; ROW];
        self.rows.read_exact(&mut bytes)?;
        let io = TraceIo::of_bytes(&bytes)?;
        if usize::from(io.stream) >= self.head.streams.len() {
            return Err(TraceError::Damaged("an unknown stream"));
        }
        if io.issue < self.last {
            return Err(TraceError::Order(io.row));
        }
        (self.last, self.read) = (io.issue, self.read + 1);
        Ok(Some(io))
    }

    /// Goes back to the first I/O.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn rewind(&mut self) -> Result<(), TraceError> {
        self.rows.seek(SeekFrom::Start(BEGIN))?;
        (self.read, self.last) = (0, Instant::ZERO);
        Ok(())
    }
}
