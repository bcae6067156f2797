//! I/Os of a batch: their number, bytes, time and latencies.

use hotband_units::Instant;

use crate::probes::streams::Streams;

/// Bits of a latency that its bucket resolves: 0.4 %.
const BITS: u32 = 8;
/// Buckets of a power of two.
const EACH: usize = 1 << BITS;
/// Longest latency with its own bucket, in powers of two, as in the histograms of records.
const LONGEST: u32 = 42;
const BUCKETS: usize = (LONGEST - BITS + 1) as usize * EACH;
/// Percentile of the tail.
const TAIL: f64 = 0.99;

/// Reads and writes of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    time_ns: u64,
    ios: u64,
    bytes: u64,
    latency_ns: u128,
    /// Bucket and I/Os in it, in order.
    buckets: Vec<(u16, u32)>,
}

/// Counts the batch that is under way.
pub struct Counting {
    begin: Instant,
    /// Bytes of the phase when it began, and now.
    bytes: (u64, u64),
    latency_ns: u128,
    /// I/Os in each bucket, and the buckets that have some.
    buckets: Box<[u32]>,
    used: Vec<u16>,
}

fn bucket_of(latency: u64) -> usize {
    let latency = latency.min((1 << LONGEST) - 1);
    if latency < EACH as u64 {
        return latency as usize;
    }
    let shift = latency.ilog2() - BITS;
    (shift as usize + 1) * EACH + (latency >> shift) as usize - EACH
}

/// The least latency of a bucket, and by how much the next one's is longer.
fn bounds_of(bucket: u16) -> (f64, f64) {
    let (power, part) = (usize::from(bucket) / EACH, usize::from(bucket) % EACH);
    if power == 0 {
        return (part as f64, 1.0);
    }
    let width = (1_u64 << (power - 1)) as f64;
    ((EACH + part) as f64 * width, width)
}

impl Counting {
    pub fn new(begin: Instant) -> Self {
        Self { begin, bytes: (0, 0), latency_ns: 0, buckets: vec![0; BUCKETS].into(), used: Vec::new() }
    }

    /// Adds the I/Os of streams since the last call.
    pub fn add(&mut self, streams: &mut Streams) {
        let (buckets, used, mut sum) = (&mut self.buckets, &mut self.used, 0_u128);
        let bytes = streams.take_latencies(|latency| {
            sum += u128::from(latency);
            let bucket = bucket_of(latency);
            if buckets[bucket] == 0 {
                used.push(bucket as u16);
            }
            buckets[bucket] += 1;
        });
        self.latency_ns += sum;
        self.bytes.1 = bytes;
    }

    /// Bytes of the phase.
    pub fn bytes(&self) -> u64 {
        self.bytes.1
    }

    /// Ends the batch; the next one begins.
    pub fn end(&mut self, now: Instant) -> Batch {
        self.used.sort_unstable();
        let taken = self.used.drain(..).map(|bucket| (bucket, std::mem::take(&mut self.buckets[usize::from(bucket)])));
        let buckets: Vec<(u16, u32)> = taken.collect();
        let ios = buckets.iter().map(|(_, ios)| u64::from(*ios)).sum();
        let (time_ns, bytes) = (now.since(self.begin).0, self.bytes.1 - self.bytes.0);
        (self.begin, self.bytes.0) = (now, self.bytes.1);
        Batch { time_ns, ios, bytes, latency_ns: std::mem::take(&mut self.latency_ns), buckets }
    }
}

impl Batch {
    /// Both as one.
    pub fn joined(&self, other: &Self) -> Self {
        let mut buckets: Vec<(u16, u32)> = self.buckets.iter().chain(&other.buckets).copied().collect();
        buckets.sort_unstable_by_key(|(bucket, _)| *bucket);
        buckets.dedup_by(|next, before| {
            let is_same = next.0 == before.0;
            before.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        Self {
            time_ns: self.time_ns + other.time_ns,
            ios: self.ios + other.ios,
            bytes: self.bytes + other.bytes,
            latency_ns: self.latency_ns + other.latency_ns,
            buckets,
        }
    }

    /// Rates of I/Os and bytes, mean latency and its 99th percentile, each with a value for every batch. A rate is that of a
    /// mean batch with this one's excess (a ratio of means is nearly unbiased, a mean of ratios is not).
    pub fn figures(batches: &[Self]) -> [Vec<f64>; 4] {
        let sum = |value: fn(&Self) -> f64| batches.iter().map(value).sum::<f64>();
        let (time, ios) = (sum(|batch| batch.time_ns as f64), sum(|batch| batch.ios as f64));
        let (bytes, latency) = (sum(|batch| batch.bytes as f64), sum(|batch| batch.latency_ns as f64));
        let count = batches.len() as f64;
        let ratio = |part: fn(&Self) -> f64, of: fn(&Self) -> f64, ratio: f64, mean: f64| {
            batches.iter().map(|batch| ratio + (part(batch) - ratio * of(batch)) / mean).collect::<Vec<f64>>()
        };
        [
            ratio(|batch| batch.ios as f64, |batch| batch.time_ns as f64, ios / time, time / count),
            ratio(|batch| batch.bytes as f64, |batch| batch.time_ns as f64, bytes / time, time / count),
            ratio(|batch| batch.latency_ns as f64, |batch| batch.ios as f64, latency / ios, ios / count),
            batches.iter().map(Self::tail).collect(),
        ]
    }

    /// The 99th percentile, between the bounds of its bucket.
    fn tail(&self) -> f64 {
        let mut left = TAIL * self.ios as f64;
        for (bucket, ios) in &self.buckets {
            let here = f64::from(*ios);
            if left <= here {
                let (low, width) = bounds_of(*bucket);
                return low + width * left / here;
            }
            left -= here;
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_lies_within_its_bucket() {
        for latency in [0, 1, 255, 256, 257, 511, 512, 1000, 123_456, 987_654_321, (1 << 42) - 1] {
            let (low, width) = bounds_of(bucket_of(latency) as u16);
            assert!(low <= latency as f64 && (latency as f64) < low + width, "{latency}: {low} and {width}");
            assert!(width <= 1.0 || width <= latency as f64 / 256.0, "{latency}: {width}");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn joined_batches_have_the_tail_of_both() {
        let batch = |from: u64| {
            let mut counts = Counting::new(Instant(0));
            for latency in from..from + 100 {
                let bucket = bucket_of(latency);
                counts.used.push(bucket as u16);
                counts.buckets[bucket] = 1;
            }
            counts.end(Instant(1000))
        };
        let joined = batch(0).joined(&batch(100));
        assert_eq!((joined.ios, joined.time_ns, joined.buckets.len()), (200, 2000, 200));
        assert_eq!((batch(0).tail(), joined.tail()), (99.0, 198.0));
    }
}
