//! Ranges in bytes on a target whose drives are modelled at a fraction of their size.

use crate::bounds::GRAIN;
use crate::spec::{RangeSpec, StreamSpec};

/// Largest share of the nominal capacity that a full-size model may lack, because chunks and pages are rounded.
const ROUNDED: f64 = 0.001;

/// A target whose drives are modelled at a fraction of their size. Ranges in bytes shrink with the drives, but not
/// below a size at which they would fit into caches that do not shrink.
///
/// Leaves out: files, regions of clients, traces and apps, whose sizes in bytes stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modelled {
    capacity: u64,
    scale: u64,
    /// Ends of ranges at full size and in the model, in ascending order.
    ends: Vec<(u64, u64)>,
}

impl From<u64> for Modelled {
    /// Return a target of `capacity` bytes at full size.
    fn from(capacity: u64) -> Self {
        Self { capacity, scale: 1, ends: Vec::new() }
    }
}

impl Modelled {
    /// Return a target of `capacity` bytes, which is 1/`scale` of its size. Parts between the ends of the ranges of
    /// `streams` keep their size up to `exact` bytes. If that takes more than half of the model, `exact` is halved.
    pub fn new(capacity: u64, scale: u64, exact: u64, streams: &[&StreamSpec]) -> Self {
        if scale == 1 {
            return capacity.into();
        }
        let ends = streams.iter().filter(|stream| stream.shrinks()).flat_map(|stream| [stream.from, stream.to]);
        let in_bytes = |end: RangeSpec| match end {
            RangeSpec::At(bytes) | RangeSpec::Sum(_, bytes) => Some(bytes.0),
            RangeSpec::Share(_) => None,
        };
        let mut full: Vec<u64> = ends.filter_map(in_bytes).collect();
        full.sort_unstable();
        full.dedup();
        let share = |bytes: u64| bytes / scale / GRAIN * GRAIN;
        let shrink = |exact: u64| {
            let ends = full.iter().scan((0, 0), |last: &mut (u64, u64), end| {
                let length = end - last.0;
                *last = (*end, last.1 + share(length).max(length.min(exact)));
                Some(*last)
            });
            ends.collect::<Vec<_>>()
        };
        let fits = |ends: &[(u64, u64)]| {
            let (full, modelled) = ends.last().copied().unwrap_or_default();
            modelled <= capacity && modelled.saturating_sub(share(full)) <= capacity / 2
        };
        let smaller = |exact: &u64| Some(exact / 2 / GRAIN * GRAIN);
        let mut tried = std::iter::successors(Some(exact / GRAIN * GRAIN), smaller).map(|exact| (exact, shrink(exact)));
        let ends = tried.find(|(exact, ends)| *exact == 0 || fits(ends)).map(|(_, ends)| ends).unwrap_or_default();
        Self { capacity, scale, ends }
    }

    /// Bytes that are modelled.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes at full size.
    pub(crate) fn full(&self) -> u64 {
        self.capacity.saturating_mul(self.scale)
    }

    /// Return where in the model the end of a range lies; beyond its capacity if it lies beyond the full size.
    pub(crate) fn address(&self, end: u64) -> u64 {
        let Some(&(_, modelled)) = self.ends.iter().find(|(full, _)| *full == end) else { return end };
        let is_rounded = self.capacity < modelled && end as f64 <= self.full() as f64 * (1.0 + ROUNDED);
        if is_rounded { self.capacity } else { modelled }
    }
}
