//! Sums of every second and direction, whatever the order of the lines.

use std::collections::BTreeMap;

use crate::error::LogError;
use crate::fio_bucket::{BUCKETS, bucket_of, percentile, value_of};

/// Most seconds per direction that are stored: twelve days.
const MOST_ROWS: usize = 1 << 20;
/// Buckets of finished seconds that are kept, for lines that come late (the logs of several jobs one after another).
const MOST_KEPT: usize = 4 << 20;

/// A second of a direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Since the beginning of the log.
    pub second: u64,
    /// I/Os.
    pub count: u64,
    /// Bytes of these I/Os.
    pub bytes: u64,
    /// Sum of the log's values.
    pub sum: u128,
    /// The 99th percentile of the values, None if it is no longer known.
    pub p99: Option<u64>,
    kept: Vec<(u16, u64)>,
    lost: bool,
}

/// The seconds of one direction. Only the current one has a whole histogram.
#[derive(Debug)]
pub(crate) struct Seconds {
    rows: BTreeMap<u64, Row>,
    current: Row,
    buckets: Vec<u64>,
    touched: (usize, usize),
    kept: usize,
    /// Histogram of all seconds.
    whole: Vec<u64>,
}

impl Default for Seconds {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            current: Row::default(),
            buckets: vec![0; BUCKETS],
            touched: (BUCKETS, 0),
            kept: 0,
            whole: vec![0; BUCKETS],
        }
    }
}

impl Seconds {
    #[inline]
    pub(crate) fn add(&mut self, second: u64, value: u64, bytes: u64) -> Result<(), LogError> {
        if second != self.current.second {
            self.turn_to(second)?;
        }
        self.current.count += 1;
        self.current.bytes = self.current.bytes.saturating_add(bytes);
        self.current.sum += u128::from(value);
        let bucket = bucket_of(value);
        self.buckets[bucket] += 1;
        self.touched = (self.touched.0.min(bucket), self.touched.1.max(bucket));
        Ok(())
    }

    fn turn_to(&mut self, second: u64) -> Result<(), LogError> {
        self.put_away();
        if self.rows.len() >= MOST_ROWS {
            return Err(LogError::TooMuch(format!("samples in more than {MOST_ROWS} seconds; accepted: shorter logs")));
        }
        self.current = self.rows.remove(&second).unwrap_or_default();
        self.current.second = second;
        let counts = std::mem::take(&mut self.current.kept);
        self.kept -= counts.len();
        for (bucket, count) in counts {
            self.buckets[bucket as usize] = count;
            self.whole[bucket as usize] -= count;
            self.touched = (self.touched.0.min(bucket as usize), self.touched.1.max(bucket as usize));
        }
        Ok(())
    }

    fn put_away(&mut self) {
        let (low, high) = self.touched;
        self.touched = (BUCKETS, 0);
        let mut row = std::mem::take(&mut self.current);
        if row.count == 0 {
            return;
        }
        for (whole, count) in self.whole[low..=high].iter_mut().zip(&self.buckets[low..=high]) {
            *whole += count;
        }
        let seen = &mut self.buckets[low..=high];
        let counts: Vec<(u16, u64)> = seen
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| ((low + index) as u16, *count))
            .collect();
        seen.fill(0);
        row.lost |= counts.iter().map(|(_, count)| count).sum::<u64>() < row.count;
        row.p99 =
            (!row.lost).then(|| percentile(counts.iter().map(|(b, n)| (value_of(*b as usize), *n)), 99.0)).flatten();
        if self.kept + counts.len() <= MOST_KEPT {
            self.kept += counts.len();
            row.kept = counts;
        }
        self.rows.insert(row.second, row);
    }

    /// The seconds in which there was something, in order, and the buckets of all together.
    pub(crate) fn into_rows(mut self) -> (Vec<Row>, Vec<u64>) {
        self.put_away();
        let without = |row: Row| Row { kept: Vec::new(), lost: false, ..row };
        (self.rows.into_values().map(without).collect(), self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(samples: &[(u64, u64)]) -> Vec<(u64, u64, u128, Option<u64>)> {
        let mut seconds = Seconds::default();
        for (second, value) in samples {
            seconds.add(*second, *value, 512).expect("few rows");
        }
        seconds.into_rows().0.into_iter().map(|row| (row.second, row.count, row.sum, row.p99)).collect()
    }

    #[test]
    fn late_lines_count_in_their_second() {
        let expected = [(0, 3, 60, Some(30)), (7, 1, 99, Some(99))];
        assert_eq!(rows(&[(0, 10), (0, 20), (0, 30), (7, 99)]), expected);
        assert_eq!(rows(&[(7, 99), (0, 30), (0, 10), (7, 98), (0, 20)])[0], expected[0]);
        assert_eq!(rows(&[(0, 30), (7, 99), (0, 10), (0, 20)]), expected);
    }

    #[test]
    fn nothing_leaves_no_rows() {
        assert!(rows(&[]).is_empty());
    }
}
