//! I/Os over time, and how even they are.

use hotband_machine::Op;

use super::figures::{Dispersion, Time};
use super::quantiles::Values;

/// Finest interval of series: 1/512 s, so that doubled ones are whole seconds.
pub(super) const FINEST: u64 = 1_953_125;
/// Most intervals of a series: more than a chart has pixels for.
pub(super) const MOST_INTERVALS: usize = 512;
/// Widths of windows: a tenth of a millisecond to a thousand seconds, by tens.
const WINDOWS: [u64; 8] =
    [100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000, 1_000_000_000_000];
/// Fewest windows that a variance is estimated of: its standard error is a third then.
const FEWEST_WINDOWS: u64 = 20;

/// I/Os over time.
#[derive(Debug)]
pub(super) struct Rate {
    interval: u64,
    intervals: Vec<Interval>,
    last: Option<u64>,
    gaps: Values,
    /// Sum of squares of gaps.
    squares: f64,
    windows: [Window; WINDOWS.len()],
}

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    reads: u64,
    writes: u64,
    others: u64,
    read_bytes: u64,
    written_bytes: u64,
}

impl Interval {
    fn add(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.others += other.others;
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
    }
}

/// Counts in windows of one width.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// End of the window that is counted now, and its I/Os.
    end: u64,
    count: u64,
    sum: u64,
    squares: u128,
}

impl Window {
    fn close(&mut self) {
        self.sum += self.count;
        self.squares += u128::from(self.count) * u128::from(self.count);
        self.count = 0;
    }

    /// Result for the windows that are over at `end`.
    fn finish(mut self, width: u64, end: u64) -> Option<Dispersion> {
        if self.end <= end {
            self.close();
        }
        let windows = end / width;
        if windows < FEWEST_WINDOWS || self.sum == 0 {
            return None;
        }
        let (count, sum) = (windows as f64, self.sum as f64);
        let variance = (self.squares as f64 - sum * sum / count) / (count - 1.0);
        let mean = sum / count;
        let index = variance / mean;
        let error = index * (2.0 / (count - 1.0)).sqrt();
        Some(Dispersion { window_ns: width, windows, mean, index, error })
    }
}

impl Default for Rate {
    fn default() -> Self {
        Self {
            interval: FINEST,
            intervals: Vec::new(),
            last: None,
            gaps: Values::default(),
            squares: 0.0,
            windows: WINDOWS.map(|width| Window { end: width, ..Window::default() }),
        }
    }
}

impl Rate {
    #[inline]
    pub(super) fn io(&mut self, now: u64, op: Op, len: u64) {
        if let Some(last) = self.last {
            let gap = now - last;
            self.gaps.add(gap, 1);
            self.squares += gap as f64 * gap as f64;
        }
        self.last = Some(now);
        for (window, width) in self.windows.iter_mut().zip(WINDOWS) {
            if now >= window.end {
                window.close();
                window.end = now.saturating_sub(now % width).saturating_add(width);
            }
            window.count += 1;
        }
        let interval = self.at(now);
        match op {
            Op::Read => {
                (interval.reads, interval.read_bytes) = (interval.reads + 1, interval.read_bytes.saturating_add(len));
            }
            Op::Write => {
                (interval.writes, interval.written_bytes) =
                    (interval.writes + 1, interval.written_bytes.saturating_add(len));
            }
            Op::Flush | Op::Trim => interval.others += 1,
        }
    }

    /// The interval of a time.
    #[inline]
    fn at(&mut self, now: u64) -> &mut Interval {
        let mut index = now / self.interval;
        while index >= MOST_INTERVALS as u64 {
            let halved = self.intervals.chunks(2).map(|pair| {
                let mut both = pair[0];
                pair[1..].iter().for_each(|second| both.add(second));
                both
            });
            self.intervals = halved.collect();
            self.interval *= 2;
            index = now / self.interval;
        }
        let index = index as usize;
        if index >= self.intervals.len() {
            self.intervals.resize(index + 1, Interval::default());
        }
        &mut self.intervals[index]
    }

    pub(super) fn finish(self, end: u64) -> Time {
        let each_interval = |each: fn(&Interval) -> u64| self.intervals.iter().map(each).collect();
        let (count, sum) = (self.gaps.count() as f64, self.gaps.sum());
        let mean = sum / count;
        let scv = (count > 1.0 && sum > 0.0).then(|| (self.squares / count - mean * mean) / (mean * mean));
        let windows = self.windows.iter().zip(WINDOWS);
        Time {
            interval_ns: self.interval,
            reads: each_interval(|interval| interval.reads),
            writes: each_interval(|interval| interval.writes),
            others: each_interval(|interval| interval.others),
            read_bytes: each_interval(|interval| interval.read_bytes),
            written_bytes: each_interval(|interval| interval.written_bytes),
            gap_ns: self.gaps.finish(),
            gap_scv: scv,
            dispersion: windows.filter_map(|(window, width)| window.finish(width, end)).collect(),
        }
    }
}
