//! Different blocks touched since a block was, and what an LRU cache of any size would have missed.
//!
//! Mattson, Gecsei, Slutz & Traiger (IBM Systems Journal 1970): a cache of n blocks has a block if fewer than n others were
//! touched since. A distance among sampled blocks stands for one that is larger by the inverse of the rate (SHARDS, FAST
//! 2015). Misses are counted by their weights and taken of all accesses, which are known: what hot blocks that are in the
//! sample, or are not, add to the accesses of the sample changes nothing then, as with SHARDS-adj there. The error is that
//! between sixteen parts of the sample (random groups: Wolter, Introduction to Variance Estimation, 2007, chapter 2).

use super::figures::{Curve, Reuse as Found};
use super::quantiles::{Values, share};
use super::sample::{Before, Sample};

/// Parts of the sample.
const GROUPS: usize = 16;
/// Classes of distances in an octave, for errors.
const FINE: u32 = 8;
/// Points nearer to the one before than this are left out, of a curve that has to be right to 0.01.
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
    /// Of all, and of reads, in blocks.
    all: Values,
    reads: Values,
    /// First uses by weight.
    first: u64,
    first_reads: u64,
    groups: Groups,
}

impl Default for Reuse {
    fn default() -> Self {
        let groups = Groups { classes: vec![[0; GROUPS]; (FINE * 64) as usize], first: [0; GROUPS] };
        let (all, reads) = (Values::default(), Values::default());
        Self { accesses: Accesses::default(), all, reads, first: 0, first_reads: 0, groups }
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
        let group = hash as usize & (GROUPS - 1);
        let Some(before) = before else {
            self.first += weight;
            self.first_reads += if is_write { 0 } else { weight };
            self.groups.first[group] += weight;
            return;
        };
        let distance = before.distance * weight;
        self.all.add(distance, weight);
        if !is_write {
            self.reads.add(distance, weight);
        }
        self.groups.classes[class_of(distance + 1)][group] += weight;
    }

    pub(super) fn finish(self, sample: &Sample, block: u64) -> Found {
        let mut distance_bytes = self.all.finish();
        let of = &mut distance_bytes;
        for value in [
            &mut of.min,
            &mut of.p10,
            &mut of.p25,
            &mut of.p50,
            &mut of.p75,
            &mut of.p90,
            &mut of.p99,
            &mut of.p999,
            &mut of.max,
        ] {
            *value *= block;
        }
        of.mean *= block as f64;
        Found {
            accesses: self.accesses.total(),
            reads: self.accesses.reads,
            first: share(self.first, self.accesses.total()).min(1.0),
            distance_bytes,
            curve: self.curve(sample, block),
        }
    }

    /// Points of the curve: at the end of every class of distances, as far as they differ.
    fn curve(&self, sample: &Sample, block: u64) -> Curve {
        let (total, reads) = (self.accesses.total(), self.accesses.reads);
        if total == 0 {
            return Curve::default();
        }
        let ratio = |misses: u64, whole: u64| share(misses, whole).min(1.0);
        let errors = self.groups.errors(total, sample.rate());
        let mut points = Points::default();
        points.push(0, [1.0, ratio(reads, reads), 0.0]);
        let (mut left, mut left_reads) = (self.first + self.all.count(), self.first_reads + self.reads.count());
        let mut of_reads = self.reads.classes().peekable();
        for (from, to, count) in self.all.classes() {
            let before = [ratio(left, total), ratio(left_reads, reads), errors[class_of(from)]];
            points.push(from * block, before);
            // A cache of one block more than the largest distance here hits them all.
            left -= count;
            while let Some((_, _, count)) = of_reads.next_if(|class| class.1 <= to) {
                left_reads -= count;
            }
            let blocks = to + 1;
            points.push(blocks * block, [ratio(left, total), ratio(left_reads, reads), errors[class_of(blocks)]]);
        }
        points.finish()
    }
}

impl Groups {
    /// The standard error of the share of misses of a cache in each class, of whose end it is told.
    fn errors(&self, total: u64, rate: f64) -> Vec<f64> {
        let mut left: [u64; GROUPS] =
            std::array::from_fn(|group| self.first[group] + self.classes.iter().map(|class| class[group]).sum::<u64>());
        let of_one = GROUPS as f64 / total as f64;
        let error = |left: &[u64; GROUPS]| {
            let mean = left.iter().map(|misses| *misses as f64).sum::<f64>() / GROUPS as f64;
            let squares = left.iter().map(|misses| (*misses as f64 - mean).powi(2)).sum::<f64>();
            let of_mean = squares / (GROUPS * (GROUPS - 1)) as f64;
            of_one * (of_mean * (1.0 - rate)).sqrt()
        };
        let mut errors = Vec::with_capacity(self.classes.len());
        for class in &self.classes {
            left.iter_mut().zip(class).for_each(|(left, count)| *left -= count);
            errors.push(error(&left));
        }
        errors
    }
}

/// Points of a curve, of which those are left out that say nothing new.
#[derive(Default)]
struct Points {
    curve: Curve,
    /// The last one, if it was left out.
    waiting: Option<(u64, [f64; 3])>,
}

impl Points {
    fn push(&mut self, bytes: u64, values: [f64; 3]) {
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
