//! Different blocks touched within a time (Denning, "The working set model for program behavior", CACM 1968).
//!
//! Series: a block is new in an interval if its last use lies in another. All widths from the finest, doubled, are counted
//! at once: a block is new in intervals of those widths at which the numbers of both uses differ. Averages: over all windows
//! of width w the different blocks are on average the sum of min(w, time to the next use) over uses, by the span (Denning &
//! Schwartz, CACM 1972).

use super::figures::{Window, WorkingSet as Found};
use super::quantiles::Values;
use super::rate::{FINEST, MOST_INTERVALS};
use super::sample::{Before, Sample};

/// Widths: as many as 2^64 ns have.
const WIDTHS: usize = 44;
/// Widths of windows in a decade: 1, 2, 5.
const STEPS: [u64; 3] = [1, 2, 5];
/// The shortest window: a millisecond.
const SHORTEST: u64 = 1_000_000;

/// Working sets on their way.
#[derive(Debug)]
pub(super) struct WorkingSet {
    /// New blocks by width (doubled each) and interval; those with too many intervals are empty.
    new: Vec<Vec<u64>>,
    /// The finest width that is still counted.
    finest: usize,
    /// Blocks touched for the first time, by interval of that width.
    first: Vec<u64>,
    /// Times from a use of a block to the next.
    gaps: Values,
}

impl Default for WorkingSet {
    fn default() -> Self {
        Self { new: vec![Vec::new(); WIDTHS], finest: 0, first: Vec::new(), gaps: Values::default() }
    }
}

impl WorkingSet {
    #[inline]
    pub(super) fn access(&mut self, now: u64, before: Option<&Before>, weight: u64) {
        let at = now / FINEST;
        if at >> self.finest >= MOST_INTERVALS as u64 {
            self.coarsen(at);
        }
        let coarsest = match before {
            None => {
                add(&mut self.first, (at >> self.finest) as usize, weight);
                WIDTHS - 1
            }
            Some(before) => {
                self.gaps.add(now - before.used, weight);
                match (at ^ (before.used / FINEST)).checked_ilog2() {
                    Some(width) => width as usize,
                    None => return,
                }
            }
        };
        for width in self.finest..=coarsest {
            add(&mut self.new[width], (at >> width) as usize, weight);
        }
    }

    /// Gives up widths of which there are too many intervals.
    fn coarsen(&mut self, at: u64) {
        while at >> self.finest >= MOST_INTERVALS as u64 {
            self.new[self.finest] = Vec::new();
            self.finest += 1;
            self.first = self.first.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
    }

    pub(super) fn finish(mut self, sample: &Sample, span: u64, block: u64) -> Found {
        self.coarsen(span / FINEST);
        let intervals = ((span / FINEST) >> self.finest) as usize + 1;
        let (mut new, mut first) = (std::mem::take(&mut self.new[self.finest]), std::mem::take(&mut self.first));
        new.resize(intervals, 0);
        first.resize(intervals, 0);
        let mut so_far = 0;
        let so_far_bytes = first.iter().map(|count| {
            so_far += count * block;
            so_far
        });
        Found {
            interval_ns: FINEST << self.finest,
            so_far_bytes: so_far_bytes.collect(),
            bytes: new.iter().map(|count| count * block).collect(),
            windows: self.windows(sample, span, block),
        }
    }

    /// Averages over windows up to the span.
    fn windows(mut self, sample: &Sample, span: u64, block: u64) -> Vec<Window> {
        // The last use of a block counts until the end.
        let weight = sample.weight();
        sample.last_used().for_each(|used| self.gaps.add(span - used, weight));
        let widths = (0..).map_while(|power| SHORTEST.checked_mul(10_u64.checked_pow(power)?));
        let widths = widths.flat_map(|decade| STEPS.map(|step| decade.saturating_mul(step)));
        let classes: Vec<(u64, u64, u64)> = self.gaps.classes().collect();
        let mean = |width: u64| {
            let least = |&(from, to, count): &(u64, u64, u64)| width.min(from.midpoint(to)) as f64 * count as f64;
            classes.iter().map(least).sum::<f64>() / span as f64 * block as f64
        };
        widths
            .take_while(|width| *width <= span)
            .map(|window_ns| Window { window_ns, bytes: mean(window_ns) })
            .collect()
    }
}

fn add(counts: &mut Vec<u64>, index: usize, weight: u64) {
    if index >= counts.len() {
        counts.resize(index + 1, 0);
    }
    counts[index] += weight;
}
