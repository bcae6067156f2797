//! fio's latency buckets (stat.c, plat_val_to_idx and plat_idx_to_val): 64 a power of two, exact below 128 ns.

/// FIO_IO_U_PLAT_BITS of fio's stat.h.
const BITS: u32 = 6;
/// Groups of 64 buckets in fio 3; fio 2 had 19, of microseconds.
const GROUPS: usize = 29;
/// Number of buckets (FIO_IO_U_PLAT_NR).
pub const BUCKETS: usize = GROUPS << BITS;

/// The bucket of a latency in ns; larger ones than fio knows (17 s) are in the last.
#[inline]
pub fn bucket_of(latency_ns: u64) -> usize {
    let highest = (latency_ns | 1).ilog2();
    if highest <= BITS {
        return latency_ns as usize;
    }
    let error_bits = highest - BITS;
    let base = ((error_bits + 1) as usize) << BITS;
    let offset = ((1 << BITS) - 1) & (latency_ns >> error_bits) as usize;
    (base + offset).min(BUCKETS - 1)
}

/// The latency in ns that fio prints for a bucket: its middle.
pub fn value_of(bucket: usize) -> u64 {
    if bucket < 2 << BITS {
        return bucket as u64;
    }
    let error_bits = (bucket >> BITS) - 1;
    let base = 1 << (error_bits + BITS as usize);
    let half = (2 * (bucket as u64 % (1 << BITS)) + 1) * (1 << error_bits) / 2;
    base + half
}

/// The first latency in ns that is above a bucket.
pub fn edge_above(bucket: usize) -> u64 {
    if bucket < 2 << BITS {
        return bucket as u64 + 1;
    }
    let error_bits = (bucket >> BITS) - 1;
    (1 << (error_bits + BITS as usize)) + (bucket as u64 % (1 << BITS) + 1) * (1 << error_bits)
}

/// The value at the rank that `percent` of the samples are at or below; None for none.
pub(crate) fn percentile(counts: impl Iterator<Item = (u64, u64)> + Clone, percent: f64) -> Option<u64> {
    let total: u64 = counts.clone().map(|(_, count)| count).sum();
    let rank = ((percent / 100.0 * total as f64).ceil() as u64).max(1);
    let mut seen = 0;
    for (value, count) in counts {
        seen += count;
        if seen >= rank && count > 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bucket_holds_the_value_it_prints() {
        for bucket in 0..BUCKETS {
            assert_eq!(bucket_of(value_of(bucket)), bucket);
            assert_eq!(bucket_of(edge_above(bucket) - 1), bucket, "last of {bucket}");
        }
    }

    #[test]
    fn what_is_too_large_is_in_the_last() {
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_of_ranks() {
        let counts = [(10, 50), (20, 49), (30, 1)];
        let at = |percent| percentile(counts.iter().copied(), percent);
        assert_eq!((at(50.0), at(50.1), at(99.0), at(100.0)), (Some(10), Some(20), Some(20), Some(30)));
    }
}
