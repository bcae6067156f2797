//! Version of the data that every byte holds.

use std::ops::Range;

use rangemap::RangeMap;

/// Byte ranges and the number of the write whose data they hold. Zero means older than the first write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    held: RangeMap<u64, u64>,
}

impl Versions {
    /// `range` holds `version`, whatever it held before.
    pub fn set(&mut self, range: Range<u64>, version: u64) {
        if !range.is_empty() {
            self.held.insert(range, version);
        }
    }

    /// Nothing is held of `range` any more.
    pub fn forget(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            self.held.remove(range);
        }
    }

    /// Return the versions held of `range`, by address, cut at its ends; gaps are left out.
    pub fn held(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, u64)> {
        let within = range.clone();
        let overlap = (!range.is_empty()).then(|| self.held.overlapping(range));
        let cut = move |held: &Range<u64>| held.start.max(within.start)..held.end.min(within.end);
        overlap.into_iter().flatten().map(move |(held, version)| (cut(held), *version))
    }

    /// Return the versions of `range` including gaps, which hold version zero.
    pub fn all(&self, range: Range<u64>) -> Vec<(Range<u64>, u64)> {
        let (mut all, mut reached) = (Vec::new(), range.start);
        for (held, version) in self.held(range.clone()) {
            if reached < held.start {
                all.push((reached..held.start, 0));
            }
            reached = held.end;
            all.push((held, version));
        }
        if reached < range.end {
            all.push((reached..range.end, 0));
        }
        all
    }

    /// Takes over everything that `newer` holds.
    pub fn overlay(&mut self, newer: &Self) {
        newer.iter().for_each(|(range, version)| self.set(range, version));
    }

    /// Everything held, by address.
    pub fn iter(&self) -> impl Iterator<Item = (Range<u64>, u64)> {
        self.held.iter().map(|(range, version)| (range.clone(), *version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_byte_holds_what_was_set_last(
            steps in proptest::collection::vec((0_u64..40, 0_u64..20, 0_u64..6), 0..40), from in 0_u64..60, len in 0_u64..30,
        ) {
            let (mut versions, mut model) = (Versions::default(), [0_u64; 64]);
            for (first, count, version) in steps {
                let range = first..first + count;
                model[first as usize..(first + count) as usize].fill(version);
                // Version 0 and nothing at all are the same.
                if version == 0 { versions.forget(range) } else { versions.set(range, version) }
            }
            let mut reached = from;
            for (range, version) in versions.all(from..from + len) {
                prop_assert_eq!(range.start, reached);
                prop_assert!(range.clone().all(|byte| model.get(byte as usize).copied().unwrap_or(0) == version));
                reached = range.end;
            }
            prop_assert_eq!(reached, from + len);
        }
    }
}
