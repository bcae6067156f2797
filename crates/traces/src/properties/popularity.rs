//! Popularity of blocks: most are touched rarely, a few often. Python fits Zipf's law to the counts.

use super::figures::{CountClass, Popularity, Top};
use super::quantiles::Values;
use super::reuse::Accesses;
use super::sample::Sample;

/// Shares of blocks whose part of the accesses is reported.
const TOPS: [f64; 5] = [0.001, 0.01, 0.1, 0.2, 0.5];

/// Counts of the blocks followed to the end, each from its first use.
pub(super) fn popularity(sample: &Sample, accesses: Accesses) -> Popularity {
    let mut values = Values::default();
    let mut counts: Vec<u32> = sample.accesses().collect();
    for count in &counts {
        values.add(u64::from(*count), 1);
    }
    counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
    let counted: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let total = (accesses.reads + accesses.writes) as f64;
    let top = |share: f64| {
        let blocks = (share * counts.len() as f64).round() as usize;
        let of_top: u64 = counts[..blocks].iter().map(|count| u64::from(*count)).sum();
        // The many others are sampled well, the few most popular are not: all but the others is what these have.
        let others = (counted - of_top) as f64 * sample.weight() as f64;
        Top { blocks: share, accesses: (1.0 - others / total).clamp(0.0, 1.0) }
    };
    Popularity {
        counts: values.classes().map(|(from, to, blocks)| CountClass { from, to, blocks }).collect(),
        top: if counts.is_empty() { Vec::new() } else { TOPS.iter().map(|share| top(*share)).collect() },
    }
}
