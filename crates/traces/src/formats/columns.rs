//! Any table of text, by what its columns hold; our own I/O log as CSV is one.
//!
//! Columns are counted from 1 or named as in the first line, and carry a unit after a colon or a blank:
//! `time = "3:us"`. The unit of an operation is the word for a read: `op = "5:1"`; a 0 or 1 that is not this word is
//! then a write. Times may be of the calendar; those of completions are `end`, from which the latency is subtracted.
//! Fields are separated by commas, semicolons, tabs or blanks, as in the first line. I/Os are sorted by time.
//! Leaves out: quotes with separators in them; quotes around a whole field are taken off.

use hotband_machine::Op;

use super::calendar::{BACK_OVER_MIDNIGHT, Days, nanoseconds};
use super::{Format, NO_OP, Parser, is_header, need, started};
use crate::error::{TraceFileError, shown};
use crate::io::{Io, Out, Wrong};
use crate::numbers::scaled;
use crate::streams::Parts;

/// Our own I/O log, `hotband run --io-log x.csv`.
pub(super) const LOG: Format = Format {
    name: "io-log-csv",
    accepted: "an I/O log as CSV, as hotband run --io-log writes it",
    make: || Box::new(Columns::log()),
};

/// Contents of a column, and its default unit.
const KEYS: [(&str, &str); 11] = [
    ("time", "s"),
    ("offset", "B"),
    ("size", "B"),
    ("latency", "s"),
    ("op", ""),
    ("device", ""),
    ("host", ""),
    ("process", ""),
    ("fua", ""),
    ("error", ""),
    ("end", "s"),
];
// Their places in the table.
const TIME: usize = 0;
const OFFSET: usize = 1;
const SIZE: usize = 2;
const LATENCY: usize = 3;
const OP: usize = 4;
const DEVICE: usize = 5;
const HOST: usize = 6;
const PROCESS: usize = 7;
const FUA: usize = 8;
const ERROR: usize = 9;
const END: usize = 10;
/// Decimal digits to ns.
const TIMES: [(&str, u32); 5] = [("s", 9), ("ms", 6), ("us", 3), ("100ns", 2), ("ns", 0)];
const SIZES: [(&str, u64); 4] = [("B", 1), ("KiB", 1024), ("sectors", 512), ("blocks", 512)];
/// Columns of a line that are examined.
const MOST: usize = 64;
const LOG_HEADER: [&str; 5] = ["submit_ns", "direction", "offset_bytes", "size_bytes", "latency_ns"];

/// Position of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// The column with this index.
    At(usize),
    /// The column with this name.
    Named(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    place: Place,
    /// Decimal digits to ns, or bytes of one.
    unit: u64,
}

/// A table by its columns.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    places: [Option<Column>; 11],
    /// Value of a read.
    read: Option<Vec<u8>>,
    /// Whether the file must have our header.
    is_log: bool,
    measured: Option<usize>,
    measured_from: Option<u64>,
    began: bool,
    separator: u8,
    days: Days,
}

impl Columns {
    /// From the user's definition, such as ("time", "3 us").
    ///
    /// # Errors
    /// A key or a value that is none, or one that is missing.
    pub(crate) fn new(settings: &[(String, String)]) -> Result<Self, TraceFileError> {
        let (mut columns, mut read): ([Option<Column>; 11], _) = Default::default();
        let wrong = |text: String| TraceFileError::Whole(format!("columns: {text}"));
        for (key, value) in settings {
            let known = KEYS.map(|(key, _)| key).join(", ");
            let index = KEYS.iter().position(|(known, _)| known == key);
            let index = index.ok_or_else(|| wrong(format!("unknown column {key:?}; expected {known}")))?;
            let value = match value.trim().split_once([':', ' ']).filter(|_| index == OP) {
                Some((place, word)) => {
                    let word = word.trim();
                    read = Some(word.strip_prefix("read=").unwrap_or(word).as_bytes().to_vec());
                    place
                }
                None => value,
            };
            columns[index] =
                Some(column(index, value).map_err(|accepted| wrong(format!("{key} = {value:?}: {accepted}")))?);
        }
        if columns[END].is_some() && (columns[TIME].is_some() || columns[LATENCY].is_none()) {
            return Err(wrong("end is for completion times: expected latency with it, and no time".to_owned()));
        }
        let begins = if columns[END].is_some() { END } else { TIME };
        if let Some(missing) = [begins, OFFSET, SIZE].into_iter().find(|index| columns[*index].is_none()) {
            let text = format!("{} is missing; expected at least time, offset and size", KEYS[missing].0);
            return Err(wrong(text));
        }
        Ok(Self { read, ..Self::of(columns, false) })
    }

    fn of(places: [Option<Column>; 11], is_log: bool) -> Self {
        let (measured, measured_from) = (None, None);
        Self {
            places,
            read: None,
            is_log,
            measured,
            measured_from,
            began: false,
            separator: b',',
            days: Days::default(),
        }
    }

    fn log() -> Self {
        let named = |name: &str, unit| Some(Column { place: Place::Named(name.to_owned()), unit });
        let mut columns: [Option<Column>; 11] = Default::default();
        columns[TIME] = named("submit_ns", 0);
        columns[OFFSET] = named("offset_bytes", 1);
        columns[SIZE] = named("size_bytes", 1);
        columns[LATENCY] = named("latency_ns", 0);
        columns[OP] = named("direction", 1);
        Self::of(columns, true)
    }

    /// Examines the first line for the separator of fields and the places of named columns; returns
    /// whether it is a header.
    fn begin(&mut self, line: &[u8]) -> Result<bool, Wrong> {
        self.began = true;
        let separator = [b'\t', b';', b','].into_iter().find(|byte| line.contains(byte));
        self.separator = separator.unwrap_or(b' ');
        let (fields, count) = self.fields(line);
        let index_of = |name: &str| fields[..count.min(MOST)].iter().position(|field| is_header(field, name));
        if self.is_log {
            if let Some(missing) = LOG_HEADER.iter().find(|name| index_of(name).is_none()) {
                return Err(Wrong::new(line, &format!("a header without {missing}")));
            }
            self.measured = index_of("measured");
            for (index, name) in [(DEVICE, "volume"), (PROCESS, "stream"), (FUA, "fua"), (ERROR, "error")] {
                self.places[index] = index_of(name).map(|at| Column { place: Place::At(at), unit: 1 });
            }
        }
        let mut has_names = false;
        for (column, (key, _)) in self.places.iter_mut().zip(KEYS) {
            let Some(Column { place: field, .. }) = column else { continue };
            if let Place::Named(name) = field {
                has_names = true;
                // The name is what the user says, whatever that is.
                let without = || Wrong::new(line, &format!("a header without {} for {key}", shown(name.as_bytes())));
                let at = index_of(name).ok_or_else(without)?;
                *field = Place::At(at);
            }
        }
        Ok(has_names || self.time(self.begins(), &fields).is_none())
    }

    fn fields<'a>(&self, line: &'a [u8]) -> ([&'a [u8]; MOST], usize) {
        let mut fields: [&[u8]; MOST] = [b""; MOST];
        let mut count = 0;
        let separator = self.separator;
        // Between blanks there are no empty fields.
        let parts = line.split(|byte| *byte == separator).filter(|field| separator != b' ' || !field.is_empty());
        for part in parts.take(MOST) {
            let part = part.trim_ascii();
            fields[count] = part.strip_prefix(b"\"").and_then(|part| part.strip_suffix(b"\"")).unwrap_or(part);
            count += 1;
        }
        (fields, count)
    }

    #[inline]
    fn field<'a>(&self, index: usize, fields: &[&'a [u8]; MOST]) -> &'a [u8] {
        match &self.places[index] {
            Some(Column { place: Place::At(at), .. }) => fields[*at],
            _ => b"",
        }
    }

    /// The column with the time.
    #[inline]
    fn begins(&self) -> usize {
        if self.places[END].is_some() { END } else { TIME }
    }

    #[inline]
    fn time(&self, index: usize, fields: &[&[u8]; MOST]) -> Option<u64> {
        let text = self.field(index, fields);
        let digits = self.places[index].as_ref()?.unit as u32;
        scaled(text, digits).or_else(|| nanoseconds(text)).or_else(|| self.with_point(text, digits))
    }

    /// A number whose decimals follow a comma, as spreadsheets of many countries write it between other separators.
    fn with_point(&self, text: &[u8], digits: u32) -> Option<u64> {
        let comma = memchr::memchr(b',', text).filter(|_| self.separator != b',' && !text.contains(&b'.'))?;
        let mut point = text.to_vec();
        point[comma] = b'.';
        scaled(&point, digits)
    }

    fn op(&self, text: &[u8]) -> Result<Op, Wrong> {
        match &self.read {
            Some(read) if text.eq_ignore_ascii_case(read) => Ok(Op::Read),
            Some(_) if matches!(text, b"0" | b"1") => Ok(Op::Write),
            _ => op_of(text),
        }
    }

    #[inline]
    fn bytes(&self, index: usize, fields: &[&[u8]; MOST]) -> Option<u64> {
        let unit = self.places[index].as_ref()?.unit;
        let text = self.field(index, fields);
        // Zeros behind the point, as tables of floats have them, are no part of a byte.
        let point = memchr::memchr(b'.', text).unwrap_or(text.len());
        let is_whole = text[point..].iter().skip(1).all(|digit| *digit == b'0') || text.contains(&b'e');
        scaled(text, 0).filter(|_| is_whole)?.checked_mul(unit)
    }
}

impl Parser for Columns {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        if !self.began && self.begin(line)? {
            return Ok(());
        }
        let (fields, _) = self.fields(line);
        let begins = self.begins();
        let clock = self.field(begins, &fields);
        let stated = need(self.time(begins, &fields), clock, "no time")?;
        let time = self.days.continued(clock).unwrap_or(stated);
        let field = |index| self.field(index, &fields);
        let op = if self.places[OP].is_some() { self.op(field(OP))? } else { Op::Read };
        let offset = need(self.bytes(OFFSET, &fields), field(OFFSET), "no whole offset")?;
        let len = need(self.bytes(SIZE, &fields), field(SIZE), "no whole size")?;
        let latency = match (&self.places[LATENCY], field(LATENCY)) {
            (None, _) | (Some(_), b"") => None,
            (Some(_), text) => Some(need(self.time(LATENCY, &fields), text, "no latency")?),
        };
        let issue = if begins == END { started(time, need(latency, field(LATENCY), "no latency")?)? } else { time };
        let fua = is_on(field(FUA));
        let failed = !field(ERROR).is_empty() && field(ERROR) != b"0";
        let is_measured = self.measured.is_some_and(|measured| is_on(fields[measured]));
        let parts = Parts { host: field(HOST), device: field(DEVICE), process: field(PROCESS) };
        let stream = out.streams.of(parts);
        self.measured_from = self.measured_from.or(is_measured.then_some(out.row));
        let io = out.plain(op, issue, offset, len, stream);
        out.io(Io { latency, fua, failed, ..io })
    }

    fn finish(&mut self, out: &mut Out) {
        if self.days.went_back() {
            out.note(BACK_OVER_MIDNIGHT);
        }
    }

    fn counts_from_zero(&self) -> bool {
        self.is_log
    }

    fn measured_from(&self) -> Option<u64> {
        self.measured_from
    }
}

/// Definition of one column by the user, or the accepted form.
fn column(index: usize, value: &str) -> Result<Column, String> {
    let (column_text, unit) = match value.trim().split_once([':', ' ']) {
        Some((column_text, unit)) => (column_text.trim(), unit.trim()),
        None => (value.trim(), KEYS[index].1),
    };
    let known = |unit_of: Vec<(&str, u64)>| {
        let names: Vec<&str> = unit_of.iter().map(|(name, _)| *name).collect();
        let known_unit = unit_of.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, unit)| *unit);
        known_unit.ok_or_else(|| format!("expected a column and one of the units {}", names.join(", ")))
    };
    let unit = match index {
        TIME | LATENCY | END => known(TIMES.iter().map(|(name, digits)| (*name, u64::from(*digits))).collect())?,
        OFFSET | SIZE => known(SIZES.to_vec())?,
        _ if unit.is_empty() => 1,
        _ => return Err("expected a column without a unit".to_owned()),
    };
    let field = match column_text.parse::<usize>() {
        Ok(number) if (1..=MOST).contains(&number) => Place::At(number - 1),
        Ok(_) => return Err(format!("expected a column from 1 to {MOST}")),
        Err(_) if column_text.is_empty() => return Err("expected the number or the name of a column".to_owned()),
        Err(_) => Place::Named(column_text.to_owned()),
    };
    Ok(Column { place: field, unit })
}

/// The words that tables have for operations; 0 is a read and 1 a write, as in most; 28 and 2a are of SCSI (READ
/// and WRITE of 10 bytes; 88 and 8a of 16).
fn op_of(text: &[u8]) -> Result<Op, Wrong> {
    // Flags follow some: WRITE|SYNC.
    let text = &text[..text.iter().position(|byte| *byte == b'|').unwrap_or(text.len())];
    let mut lower = [0; 12];
    let length = text.len().min(lower.len());
    lower[..length].copy_from_slice(&text[..length]);
    lower.make_ascii_lowercase();
    match &lower[..length] {
        b"r" | b"rd" | b"read" | b"reads" | b"0" | b"rs" | b"28" | b"88" => Ok(Op::Read),
        b"w" | b"wr" | b"write" | b"writes" | b"1" | b"ws" | b"2a" | b"8a" => Ok(Op::Write),
        b"f" | b"flush" | b"sync" | b"fsync" => Ok(Op::Flush),
        b"t" | b"d" | b"trim" | b"discard" | b"unmap" | b"2" => Ok(Op::Trim),
        _ => Err(Wrong::new(text, NO_OP)),
    }
}

fn is_on(text: &[u8]) -> bool {
    text == b"1" || text.eq_ignore_ascii_case(b"true") || text.eq_ignore_ascii_case(b"yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_units() {
        let parsed = |value: &str| column(TIME, value);
        assert_eq!(parsed("3 us"), Ok(Column { place: Place::At(2), unit: 3 }));
        assert_eq!(parsed("3:ms"), Ok(Column { place: Place::At(2), unit: 6 }));
        assert_eq!(parsed("start"), Ok(Column { place: Place::Named("start".to_owned()), unit: 9 }));
        assert!(parsed("0").is_err() && parsed("3 parsec").is_err() && parsed("").is_err());
        assert_eq!(column(OFFSET, "1 sectors").map(|column| column.unit), Ok(512));
        assert!(column(OP, "1 s").is_err());
    }
}
