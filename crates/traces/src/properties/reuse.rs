//! Different blocks touched since a block was, and what an LRU cache of any size would have missed.
//!
//! Mattson, Gecsei, Slutz & Traiger (IBM Systems Journal 1970): a cache of n blocks has a block if fewer than n others
//! were touched since. A distance among sampled blocks represents one that is larger by the inverse of the rate
//! (SHARDS, FAST 2015). The number of accesses is known, and so is the number that the sample represents: the excess
//! is subtracted from the misses to the degree that misses vary with accesses from one part of the sample to another
//! (regression estimator: Cochran, Sampling Techniques, 1977, chapter 7). If every block is touched once, misses are
//! accesses, and the ratio of both is right; if a few hot blocks have most of the accesses, and are in the sample or
//! not, misses are not scaled, as with SHARDS-adj of the same paper. The error is that between parts of the sample
//! (random groups: Wolter, Introduction to Variance Estimation, 2007, chapter 2).

use super::figures::{Curve, Reuse as Found};
use super::quantiles::Values;
use super::sample::{Before, Sample};

/// Parts of the sample: a variance of this many is right to a fifth.
const GROUPS: usize = 64;
/// Classes of distances in an octave, for errors.
const FINE: u32 = 8;
/// Points nearer to the previous one than this are left out, of a curve that has to be right to 0.01.
const STEP: f64 = 0.001;

/// Blocks touched, each time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accesses {
    pub reads: u64,
    pub writes: u64,
}

impl Accesses {
    fn total(self) -> u64 {
        self.reads + self.writes
    }
}

/// Distances so far.
#[derive(Debug)]
pub(super) struct Reuse {
    accesses: Accesses,
    /// Distances of all accesses, and of reads, in blocks.
    all: Values,
    reads: Values,
    /// First uses by weight.
    first: u64,
    first_reads: u64,
    groups: Groups,
    read_groups: Groups,
}

impl Default for Reuse {
    fn default() -> Self {
        let (groups, read_groups) = (Groups::new(), Groups::new());
        let (all, reads) = (Values::fine(), Values::fine());
        Self { accesses: Accesses::default(), all, reads, first: 0, first_reads: 0, groups, read_groups }
    }
}

/// Distances by part of the sample.
#[derive(Debug)]
struct Groups {
    classes: Vec<[u64; GROUPS]>,
    first: [u64; GROUPS],
}

/// The class of a number of blocks: its octave, and the bits below the first.
fn class_of(blocks: u64) -> usize {
    let octave = (blocks | 1).ilog2();
    let below = if octave >= 3 { blocks >> (octave - 3) } else { blocks << (3 - octave) };
    (octave * FINE) as usize + (below as usize & (FINE as usize - 1))
}

impl Reuse {
    #[inline]
    pub(super) fn accesses(&mut self, is_write: bool, blocks: u64) {
        if is_write {
            self.accesses.writes += blocks;
        } else {
            self.accesses.reads += blocks;
        }
    }

    pub(super) fn total(&self) -> Accesses {
        self.accesses
    }

    /// A block of the sample was used, of which this was known.
    #[inline]
    pub(super) fn access(&mut self, hash: u64, is_write: bool, before: Option<&Before>, weight: u64) {
        let distance = before.map(|before| before.distance * weight);
        self.groups.add(hash, distance, weight);
        if !is_write {
            self.read_groups.add(hash, distance, weight);
        }
        let Some(distance) = distance else {
            self.first += weight;
            self.first_reads += if is_write { 0 } else { weight };
            return;
        };
        self.all.add(distance, weight);
        if !is_write {
            self.reads.add(distance, weight);
        }
    }

    pub(super) fn finish(mut self, sample: &Sample, block: u64) -> Found {
        let mut distance_bytes = self.all.finish();
        let quantiles = &mut distance_bytes;
        for value in [
            &mut quantiles.min,
            &mut quantiles.p10,
            &mut quantiles.p25,
            &mut quantiles.p50,
            &mut quantiles.p75,
            &mut quantiles.p90,
            &mut quantiles.p99,
            &mut quantiles.p999,
            &mut quantiles.max,
        ] {
            *value *= block;
        }
        quantiles.mean *= block as f64;
        let Accesses { reads, .. } = self.accesses;
        let (groups, of_reads) = (std::mem::replace(&mut self.groups, Groups::new()), Groups::new());
        let of_reads = std::mem::replace(&mut self.read_groups, of_reads).fits(reads, sample.rate());
        let all = groups.fits(self.accesses.total(), sample.rate());
        Found {
            accesses: self.accesses.total(),
            reads,
            first: all.ratio(self.first).0,
            distance_bytes,
            curve: self.curve(&all, &of_reads, block),
        }
    }

    /// Points of the curve: at both ends of every class of distances, as far as they differ.
    fn curve(&self, of_all: &Fits, of_reads: &Fits, block: u64) -> Curve {
        if self.accesses.total() == 0 {
            return Curve::default();
        }
        let (mut left, mut left_reads) = (self.first + self.all.count(), self.first_reads + self.reads.count());
        let mut points = Points { lowest: [1.0; 2], ..Points::default() };
        let values = |misses: u64, reads: u64| {
            let (ratio, error) = of_all.ratio(misses);
            [ratio, of_reads.ratio(reads).0, error]
        };
        points.push(0, values(left, left_reads));
        let mut reads = self.reads.classes().peekable();
        for (from, to, count) in self.all.classes() {
            points.push(from * block, values(left, left_reads));
            // A cache of one block more than the largest distance here hits them all.
            left -= count;
            while let Some((_, _, count)) = reads.next_if(|class| class.1 <= to) {
                left_reads -= count;
            }
            points.push((to + 1) * block, values(left, left_reads));
        }
        points.finish()
    }
}

impl Groups {
    fn new() -> Self {
        Self { classes: vec![[0; GROUPS]; (FINE * 64) as usize], first: [0; GROUPS] }
    }

    /// A use, at a distance in blocks or for the first time.
    #[inline]
    fn add(&mut self, hash: u64, distance: Option<u64>, weight: u64) {
        let group = hash as usize & (GROUPS - 1);
        match distance {
            Some(distance) => self.classes[class_of(distance + 1)][group] += weight,
            None => self.first[group] += weight,
        }
    }

    /// Relation of misses to accesses from group to group: at no cache, and at the end of each class.
    fn fits(self, accesses: u64, rate: f64) -> Fits {
        let mut left = self.first;
        self.classes.iter().for_each(|class| left.iter_mut().zip(class).for_each(|(left, count)| *left += count));
        let of_group = left.map(|count| count as f64);
        let mut points = vec![Fit::through(&left, &of_group, rate)];
        for class in &self.classes {
            left.iter_mut().zip(class).for_each(|(left, count)| *left -= count);
            points.push(Fit::through(&left, &of_group, rate));
        }
        let excess = of_group.iter().sum::<f64>() - accesses as f64;
        Fits { points, excess, accesses: accesses as f64 }
    }
}

/// Misses in groups as a line of accesses in groups.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// All misses.
    misses: f64,
    slope: f64,
    /// Standard error of all misses, the line taken out.
    error: f64,
}

impl Fit {
    fn through(misses: &[u64; GROUPS], accesses: &[f64; GROUPS], rate: f64) -> Self {
        let count = GROUPS as f64;
        let of_group = misses.map(|misses| misses as f64);
        let (sum, mean) = (of_group.iter().sum::<f64>(), accesses.iter().sum::<f64>() / count);
        let apart = |accesses_of_group: &f64| accesses_of_group - mean;
        let variance = accesses.iter().map(|accesses_of_group| apart(accesses_of_group).powi(2)).sum::<f64>();
        let both = of_group
            .iter()
            .zip(accesses)
            .map(|(misses, accesses_of_group)| (misses - sum / count) * apart(accesses_of_group))
            .sum::<f64>();
        let slope = if variance > 0.0 { both / variance } else { 0.0 };
        let rest = |(misses, accesses_of_group): (&f64, &f64)| {
            (misses - sum / count - slope * apart(accesses_of_group)).powi(2)
        };
        let squares = of_group.iter().zip(accesses).map(rest).sum::<f64>();
        Self { misses: sum, slope, error: (squares / (count - 2.0) * count * (1.0 - rate)).sqrt() }
    }
}

/// Estimated misses of all accesses, from a sample with both counts.
#[derive(Debug)]
struct Fits {
    /// The more misses, the earlier.
    points: Vec<Fit>,
    /// Accesses that the sample represents beyond those that there are.
    excess: f64,
    accesses: f64,
}

impl Fits {
    /// Share of misses, and its standard error, for a sample that represents this many accesses.
    fn ratio(&self, misses: u64) -> (f64, f64) {
        if self.accesses == 0.0 {
            return (0.0, 0.0);
        }
        let misses = misses as f64;
        let next = self.points.partition_point(|fit| fit.misses > misses).min(self.points.len() - 1);
        let (low, high) = (self.points[next], self.points[next.saturating_sub(1)]);
        let part = if high.misses > low.misses { (misses - low.misses) / (high.misses - low.misses) } else { 0.0 };
        let between = |low: f64, high: f64| low + part * (high - low);
        let all = misses - between(low.slope, high.slope) * self.excess;
        ((all / self.accesses).clamp(0.0, 1.0), between(low.error, high.error) / self.accesses)
    }
}

/// Points of a curve, of which those are left out that say nothing new.
#[derive(Default)]
struct Points {
    curve: Curve,
    /// The last one, if it was left out.
    waiting: Option<(u64, [f64; 3])>,
    /// Least ratios so far, of all and of reads.
    lowest: [f64; 2],
}

impl Points {
    fn push(&mut self, bytes: u64, mut values: [f64; 3]) {
        // A larger cache misses no more: what says else is the sample's noise.
        for (value, lowest) in values.iter_mut().zip(&mut self.lowest) {
            *value = value.min(*lowest);
            *lowest = *value;
        }
        let last = self.curve.miss_ratio.last().copied();
        let last_reads = self.curve.read_miss_ratio.last().copied();
        let is_near = |last: Option<f64>, value: f64| last.is_some_and(|last| (last - value).abs() < STEP);
        if is_near(last, values[0]) && is_near(last_reads, values[1]) {
            self.waiting = Some((bytes, values));
            return;
        }
        // A step stays one: what stood before it stands there still.
        if let Some((bytes, values)) = self.waiting.take() {
            self.keep(bytes, values);
        }
        self.keep(bytes, values);
    }

    fn keep(&mut self, bytes: u64, [miss_ratio, read_miss_ratio, error]: [f64; 3]) {
        self.curve.cache_bytes.push(bytes);
        self.curve.miss_ratio.push(miss_ratio);
        self.curve.read_miss_ratio.push(read_miss_ratio);
        self.curve.error.push(error);
    }

    fn finish(mut self) -> Curve {
        if let Some((bytes, values)) = self.waiting.take() {
            self.keep(bytes, values);
        }
        self.curve
    }
}
