//! Places of records: a record that is written goes to the next free place, and its old one becomes free.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

/// Places of equal size, for as many records as a volume has and some more.
///
/// A pool that was filled from front to back; then writes continue behind it, and, at the end of the pool, begin again
/// at its front, in what has become free since (a "next fit" with one cursor, as OpenZFS's metaslabs have one each).
pub(super) struct Places {
    /// Records that are not where they were when the pool was filled.
    moved: FxHashMap<u64, u64>,
    /// Free places in front of `fresh`.
    freed: BTreeSet<u64>,
    /// From here on nothing was ever written.
    fresh: u64,
    /// All places.
    count: u64,
    cursor: u64,
}

impl Places {
    /// `records` in the first of `count` places; there are more places than records.
    pub fn new(records: u64, count: u64) -> Self {
        Self { moved: FxHashMap::default(), freed: BTreeSet::new(), fresh: records, count, cursor: records }
    }

    /// Place of a record.
    pub fn of(&self, record: u64) -> u64 {
        self.moved.get(&record).copied().unwrap_or(record)
    }

    /// The next free place; none if all are in use.
    pub fn take(&mut self) -> Option<u64> {
        let slot = if self.fresh < self.count {
            self.fresh += 1;
            self.fresh - 1
        } else {
            let next = self.freed.range(self.cursor..).next().or_else(|| self.freed.first()).copied()?;
            self.freed.remove(&next);
            next
        };
        self.cursor = slot + 1;
        Some(slot)
    }

    /// Whether there is a free place.
    pub fn has_free(&self) -> bool {
        self.fresh < self.count || !self.freed.is_empty()
    }

    /// A place that was taken is free again.
    pub fn give_back(&mut self, place: u64) {
        self.freed.insert(place);
    }

    /// Notes that a record is now at `place`, which was taken for it; returns its old place, to be given back.
    pub fn put(&mut self, record: u64, place: u64) -> u64 {
        self.moved.insert(record, place).unwrap_or(record)
    }

    /// Places that were ever used.
    pub fn used(&self) -> u64 {
        self.fresh
    }

    /// Places from `from` on that something is in.
    pub fn in_use_from(&self, from: u64) -> u64 {
        (self.fresh - from) - self.freed.range(from..).count() as u64
    }

    /// Whether anything is in a place.
    pub fn is_used(&self, place: u64) -> bool {
        place < self.fresh && !self.freed.contains(&place)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn writes_go_on_to_the_end_and_begin_again_in_front() {
        let mut places = Places::new(3, 5);
        let mut write = |record| {
            let slot = places.take().unwrap();
            let before = places.put(record, slot);
            places.give_back(before);
            slot
        };
        assert_eq!([write(1), write(0), write(2), write(2), write(1)], [3, 4, 0, 1, 2]);
    }

    proptest! {
        #[test]
        fn no_two_records_share_a_place(records in 1_u64..20, more in 1_u64..5, writes in proptest::collection::vec(0_u64..20, 0..200)) {
            let (count, mut places) = (records + more, Places::new(records, records + more));
            let mut at: BTreeMap<u64, u64> = (0..records).map(|record| (record, record)).collect();
            for record in writes.into_iter().map(|record| record % records) {
                let slot = places.take().unwrap();
                prop_assert!(slot < count && !at.values().any(|have| *have == slot));
                let before = places.put(record, slot);
                places.give_back(before);
                at.insert(record, slot);
                prop_assert!(at.iter().all(|(record, slot)| places.of(*record) == *slot));
                prop_assert_eq!((0..count).filter(|slot| places.is_used(*slot)).count() as u64, records);
                let behind = (1..count).filter(|slot| places.is_used(*slot)).count() as u64;
                prop_assert_eq!((places.in_use_from(0), places.in_use_from(1)), (records, behind));
            }
        }
    }
}
