//! fio's logs with one line per sample: `time, value, direction, size[, offset][, priority][, issue time]`.
//!
//! Format: iolog.c of fio (flush_samples). The time is in ms, of the run or of the calendar. A log of every I/O carries
//! its size in the fourth column; an averaged one (`log_avg_msec`) has 0 there. Values are ns (fio 2: us), KiB/s or
//! I/Os. Leaves out: priorities, issue times, which of several jobs in one file a line is from.

use std::io::Read;

use crate::error::{LogError, shown};
use crate::fio_bucket::value_of;
use crate::lines::{LATEST_MS, Numbers, Verdict, for_each_line};
use crate::seconds::{Row, Seconds};

const ACCEPTED: &str = "a fio log, `time, value, direction, size[, offset][, priority]` in whole numbers";
/// Times above this are of the calendar: 10^11 ms is three years of a run, or March 1973.
const CALENDAR_MS: u64 = 100_000_000_000;
/// Most samples of an averaged log that are stored.
const MOST_SAMPLES: usize = 4 << 20;

/// fio's numbers for them (io_ddir.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// 0
    Read,
    /// 1
    Write,
    /// 2
    Trim,
    /// 3 and above
    Sync,
}

/// All samples of one direction.
#[derive(Debug, Default)]
pub struct Samples {
    /// Lines.
    pub count: u64,
    /// Counts of all I/Os.
    pub bytes: u64,
    /// Sum of the values.
    pub sum: u128,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// [value, count], in fio's buckets; of a log of every I/O.
    pub buckets: Vec<(u64, u64)>,
    /// By second; of a log of every I/O.
    pub rows: Vec<Row>,
    /// (ms since the beginning, value); of an averaged log.
    pub samples: Vec<(u64, u64)>,
}

/// Contents of a log.
#[derive(Debug)]
pub struct FioLog {
    /// Lines with a sample.
    pub lines: u64,
    /// Whether every line is a mean over `log_avg_msec`.
    pub averaged: bool,
    /// Whether the last line is cut.
    pub cut: bool,
    /// The first and the last time, in ms as they stand.
    pub first_ms: u64,
    /// Not the last line's: the largest.
    pub last_ms: u64,
    /// Whether times are of the calendar.
    pub calendar: bool,
    /// Smallest and largest offset, where the log has any.
    pub offsets: Option<(u64, u64)>,
    /// Reads, writes, trims, syncs.
    pub directions: [Samples; 4],
}

struct Sample {
    time_ms: u64,
    value: u64,
    direction: usize,
    size: u64,
    fifth: Option<u64>,
}

#[inline]
fn sample_of(line: &[u8]) -> Option<Sample> {
    let mut numbers = Numbers::of(line);
    let (time_ms, value) = (numbers.next()?, numbers.next()?);
    let (direction, size) = (numbers.next()?, numbers.next()?);
    let mut fifth = None;
    if !numbers.is_over() {
        // An offset, a priority, or where neither was asked for a zero: its meaning shows over the whole log.
        match numbers.next() {
            Some(number) => fifth = Some(number),
            None => drop(numbers.next_hexadecimal()?),
        }
    }
    let mut further = 0;
    while !numbers.is_over() {
        further += 1;
        if further > 3 || (numbers.next().is_none() && numbers.next_hexadecimal().is_none()) {
            return None;
        }
    }
    Some(Sample { time_ms, value, direction: direction as usize, size, fifth })
}

struct Reader {
    lines: u64,
    averaged: bool,
    calendar: bool,
    base_ms: Option<u64>,
    first_ms: u64,
    last_ms: u64,
    offsets: Option<(u64, u64)>,
    directions: [Samples; 4],
    seconds: [Seconds; 4],
    // The second that the last time was in: dividing every time would cost as much as reading its digits.
    second: u64,
    second_ends_ms: u64,
    failure: Option<LogError>,
}

impl Reader {
    fn new(base_ms: Option<u64>) -> Self {
        Self {
            lines: 0,
            averaged: false,
            calendar: false,
            base_ms,
            first_ms: u64::MAX,
            last_ms: 0,
            offsets: None,
            directions: std::array::from_fn(|_| Samples { min: u64::MAX, ..Samples::default() }),
            seconds: Default::default(),
            second: 0,
            second_ends_ms: 0,
            failure: None,
        }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Verdict {
        if line.is_empty() {
            return Ok(());
        }
        let refuse = || format!("{:?} is not a sample", shown(line));
        let sample = sample_of(line).ok_or_else(refuse)?;
        if sample.direction > 9 {
            return Err(format!("the direction is {}", sample.direction));
        }
        if sample.time_ms > LATEST_MS {
            return Err(format!("the time is {} ms", sample.time_ms));
        }
        self.add(&sample).map_err(|error| {
            let text = error.to_string();
            self.failure = Some(error);
            text
        })
    }

    #[inline]
    fn add(&mut self, sample: &Sample) -> Result<(), LogError> {
        if self.lines == 0 {
            self.averaged = sample.size == 0;
            self.calendar = sample.time_ms >= CALENDAR_MS;
            self.base_ms = self.base_ms.or(self.calendar.then_some(sample.time_ms));
        }
        self.lines += 1;
        self.first_ms = self.first_ms.min(sample.time_ms);
        self.last_ms = self.last_ms.max(sample.time_ms);
        if let Some(offset) = sample.fifth {
            let (low, high) = self.offsets.unwrap_or((offset, offset));
            self.offsets = Some((low.min(offset), high.max(offset)));
        }
        let direction = sample.direction.min(3);
        let samples = &mut self.directions[direction];
        samples.min = samples.min.min(sample.value);
        samples.max = samples.max.max(sample.value);
        let since_ms = sample.time_ms.saturating_sub(self.base_ms.unwrap_or(0));
        if self.averaged {
            if samples.samples.len() == MOST_SAMPLES {
                return Err(LogError::TooMuch(format!("more than {MOST_SAMPLES} averages; accepted: shorter logs")));
            }
            samples.count += 1;
            samples.bytes = samples.bytes.saturating_add(sample.size);
            samples.sum += u128::from(sample.value);
            samples.samples.push((since_ms, sample.value));
            return Ok(());
        }
        if since_ms >= self.second_ends_ms || since_ms + 1000 < self.second_ends_ms {
            self.second = since_ms / 1000;
            self.second_ends_ms = (self.second + 1) * 1000;
        }
        self.seconds[direction].add(self.second, sample.value, sample.size)
    }

    fn finish(self, cut: bool) -> Result<FioLog, LogError> {
        if self.lines == 0 {
            return Err(LogError::Empty(ACCEPTED));
        }
        let mut directions = self.directions;
        for (samples, seconds) in directions.iter_mut().zip(self.seconds) {
            let (rows, buckets) = seconds.into_rows();
            // Of a log of every I/O the rows have counted; an averaged one has none.
            for row in &rows {
                samples.count += row.count;
                samples.bytes = samples.bytes.saturating_add(row.bytes);
                samples.sum += row.sum;
            }
            samples.rows = rows;
            samples.min = if samples.count == 0 { 0 } else { samples.min };
            let counts = buckets.into_iter().enumerate().filter(|(_, count)| *count > 0);
            samples.buckets = counts.map(|(bucket, count)| (value_of(bucket), count)).collect();
        }
        Ok(FioLog {
            lines: self.lines,
            averaged: self.averaged,
            cut,
            first_ms: self.first_ms,
            last_ms: self.last_ms,
            calendar: self.calendar,
            // A column of nothing but 0 and 1 is a priority bit.
            offsets: self.offsets.filter(|(_, high)| *high > 1),
            directions,
        })
    }
}

/// Sums a log while it is read. Seconds count from `base_ms`; if there is none from zero, or from the first sample of
/// a calendar's times.
///
/// # Errors
/// The line that is not a sample; more seconds or averages than are kept; what the source could not read.
pub fn read_fio_log(source: impl Read, base_ms: Option<u64>) -> Result<FioLog, LogError> {
    let mut reader = Reader::new(base_ms);
    match for_each_line(source, ACCEPTED, |line| reader.line(line)) {
        Ok(cut) => reader.finish(cut),
        Err(error) => Err(reader.failure.take().unwrap_or(error)),
    }
}
