//! fio's histograms over time (`write_hist_log`): `time, direction, size, counts of every bucket`.
//!
//! Format: iolog.c of fio (flush_hist_samples). Each line has the counts of its own interval. `log_hist_coarseness`
//! joins 2^n buckets into one; how many there are shows in the number of columns. fio 2 has 19 groups, of microseconds.

use std::io::Read;

use crate::error::{LogError, shown};
use crate::fio_bucket::{edge_above, percentile, value_of};
use crate::lines::{LATEST_MS, Numbers, Verdict, for_each_line};

const ACCEPTED: &str = "a fio histogram log, `time, direction, size` and the counts of its buckets";
/// Groups of 64 buckets in fio 3 and fio 2.
const GROUPS: [(usize, u64); 2] = [(29, 1), (19, 1000)];
/// The coarsest value that fio accepts (log_hist_coarseness).
const COARSEST: usize = 6;
const MOST_ROWS: usize = 1 << 20;

/// An interval of a direction.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramRow {
    /// Time as in the log: when the interval ended.
    pub time_ms: u64,
    /// 0 read, 1 write, 2 trim.
    pub direction: u64,
    /// I/Os.
    pub count: u64,
    /// Mean, from the middles of the buckets.
    pub mean_ns: Option<f64>,
    /// Percentile from the buckets.
    pub p99_ns: Option<u64>,
}

/// Contents of a log.
#[derive(Debug)]
pub struct HistogramLog {
    /// Rows in the order of the file.
    pub rows: Vec<HistogramRow>,
    /// Reads, writes, trims: [value_ns, count].
    pub buckets: [Vec<(u64, u64)>; 3],
    /// Whether several of fio's buckets are one: values are then upper edges, not middles.
    pub coarse: bool,
    /// Whether the last line is cut.
    pub cut: bool,
}

/// The value in ns of every column.
fn values(columns: usize) -> Option<(Vec<u64>, Vec<u64>, bool)> {
    for (groups, scale) in GROUPS {
        for coarseness in 0..=COARSEST {
            let stride = 1 << coarseness;
            if columns * stride == groups * 64 {
                let middles = (0..columns).map(|column| {
                    let (first, last) = (column * stride, (column + 1) * stride - 1);
                    value_of(first).midpoint(value_of(last)) * scale
                });
                let edges = (0..columns).map(|column| (edge_above((column + 1) * stride - 1) - 1) * scale);
                return Some((middles.collect(), edges.collect(), coarseness > 0));
            }
        }
    }
    None
}

#[derive(Default)]
struct Reader {
    middles: Vec<u64>,
    edges: Vec<u64>,
    coarse: bool,
    rows: Vec<HistogramRow>,
    sums: [Vec<u64>; 3],
}

impl Reader {
    fn line(&mut self, line: &[u8]) -> Verdict {
        if line.is_empty() {
            return Ok(());
        }
        let refuse = || format!("{:?} is not a histogram", shown(line));
        let mut numbers = Numbers::of(line);
        let head = [(); 3].map(|()| numbers.next());
        let [Some(time_ms @ 0..=LATEST_MS), Some(direction @ 0..=2), Some(_)] = head else { return Err(refuse()) };
        let mut counts = Vec::with_capacity(self.middles.len());
        while !numbers.is_over() {
            counts.push(numbers.next().filter(|count| *count <= 1 << 48).ok_or_else(refuse)?);
        }
        if self.middles.is_empty() {
            let bounds = values(counts.len()).ok_or_else(|| format!("{} buckets, not those of fio", counts.len()))?;
            (self.middles, self.edges, self.coarse) = bounds;
            self.sums = [(); 3].map(|()| vec![0; counts.len()]);
        }
        if counts.len() != self.middles.len() {
            return Err(format!("{} buckets after lines of {}", counts.len(), self.middles.len()));
        }
        if self.rows.len() == MOST_ROWS {
            return Err(format!("more than {MOST_ROWS} lines"));
        }
        for (sum, count) in self.sums[direction as usize].iter_mut().zip(&counts) {
            *sum = sum.saturating_add(*count);
        }
        self.rows.push(self.row(time_ms, direction, &counts));
        Ok(())
    }

    fn row(&self, time_ms: u64, direction: u64, counts: &[u64]) -> HistogramRow {
        let pairs = self.middles.iter().copied().zip(counts.iter().copied());
        let count: u64 = counts.iter().sum();
        let sum: u128 = pairs.clone().map(|(value, count)| u128::from(value) * u128::from(count)).sum();
        let mean_ns = (count > 0).then(|| sum as f64 / count as f64);
        HistogramRow { time_ms, direction, count, mean_ns, p99_ns: percentile(pairs, 99.0) }
    }
}

/// Sums a histogram log while it is read.
///
/// # Errors
/// The line that is not a histogram; what the source could not read.
pub fn read_histogram_log(source: impl Read) -> Result<HistogramLog, LogError> {
    let mut reader = Reader::default();
    let cut = for_each_line(source, ACCEPTED, |line| reader.line(line))?;
    if reader.rows.is_empty() {
        return Err(LogError::Empty(ACCEPTED));
    }
    let values = if reader.coarse { &reader.edges } else { &reader.middles };
    let pairs = |sums: Vec<u64>| values.iter().copied().zip(sums).filter(|(_, count)| *count > 0).collect();
    Ok(HistogramLog { buckets: reader.sums.map(pairs), rows: reader.rows, coarse: reader.coarse, cut })
}
