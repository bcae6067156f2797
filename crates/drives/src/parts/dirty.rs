//! Written data that is acknowledged and not yet on the media: extents that do not overlap, sorted by address.
//!
//! Writes that touch or overlap are joined up to a limit, so the last write of a sector is the only one kept, and
//! neighbours reach the media in one go. Data itself is not kept: only where it is and since when.

use hotband_units::Instant;

use super::geometry::Geometry;
use super::pending::{Pending, Waiting};

/// In the slot of an extent that waits in the cache, together with the number of its entries: it belongs to no command.
const CACHED: u32 = 1 << 31;

/// Whether the waiting entry lies in the cache and belongs to no command.
#[inline]
pub fn is_cached(waiting: &Waiting) -> bool {
    waiting.slot & CACHED != 0
}

/// Entries of an extent.
#[inline]
fn entries_of(extent: &Waiting) -> usize {
    (extent.slot & !CACHED) as usize
}

/// Contents of a write cache.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Most entries.
    pub entries: usize,
    /// Most sectors.
    pub sectors: u64,
    /// Whether a write keeps an entry of its own until it is on the media; else one that was joined to others shares
    /// theirs.
    pub each_write: bool,
}

/// The write cache's contents.
#[derive(Clone, Debug)]
pub struct Dirty {
    extents: Pending,
    sectors: u64,
    room: Room,
    /// Entries beyond one of each extent that waits.
    more: usize,
    /// Longest extent that joining makes.
    longest: u64,
    /// The extent on its way to the media: no longer joined to, still held.
    in_flight: Option<Waiting>,
    /// Writes that were joined to an extent already there.
    pub joined: u64,
}

/// A run of sectors.
type Run = (u64, u64);

impl Dirty {
    /// An empty cache.
    pub fn new(room: Room, longest: u64) -> Self {
        Self { extents: Pending::default(), sectors: 0, room, more: 0, longest, in_flight: None, joined: 0 }
    }

    /// Changes the size of an empty cache.
    pub fn resize(&mut self, room: Room) {
        assert!(self.is_empty(), "a cache is written to the media before it becomes another one");
        self.room = room;
    }

    /// The extents, as commands for the arm.
    pub fn extents(&self) -> &Pending {
        &self.extents
    }

    /// Sectors waiting to be written.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The extent on its way to the media.
    pub fn on_its_way(&self) -> Option<&Waiting> {
        self.in_flight.as_ref()
    }

    /// Entries of the writes that wait.
    pub fn entries(&self) -> usize {
        self.extents.len() + self.more
    }

    /// Entries and sectors held, waiting or on their way.
    pub fn held(&self) -> (usize, u64) {
        let sums = |extent: Waiting| (entries_of(&extent), u64::from(extent.count));
        let (on_its_way, sectors) = self.in_flight.map_or((0, 0), sums);
        (self.entries() + on_its_way, self.sectors + sectors)
    }

    /// Whether nothing is held, waiting or on its way.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty() && self.in_flight.is_none()
    }

    /// Sequence of the oldest write held, waiting or on its way.
    pub fn oldest(&self) -> Option<u64> {
        let waiting = self.extents.by_address().map(|extent| extent.sequence);
        waiting.chain(self.in_flight.map(|extent| extent.sequence)).min()
    }

    /// Whether a write of `count` sectors at `first` can be taken in, with `others` (entries, sectors) held for other
    /// actuators. An empty cache takes anything.
    pub fn has_room(&self, first: u64, count: u64, others: (usize, u64)) -> bool {
        if self.is_empty() && others.0 == 0 {
            return true;
        }
        let (entries, sectors) = self.held();
        let fits = sectors + others.1 + count <= self.room.sectors;
        let full = entries + others.0 >= self.room.entries;
        fits && (!full || (!self.room.each_write && !self.touched(first, first + count).is_empty()))
    }

    /// Whether all of `first..end` is held.
    pub fn covers(&self, first: u64, end: u64) -> bool {
        let held = |extent: &Waiting| extent.sector <= first && end <= extent.end();
        if self.in_flight.as_ref().is_some_and(held) {
            return true;
        }
        let mut reached = first;
        for extent in self.touched(first, end).map(|index| self.extents.get(index)) {
            if extent.sector > reached {
                return false;
            }
            reached = reached.max(extent.end());
        }
        reached >= end
    }

    /// Whether any of `first..end` is held.
    pub fn overlaps(&self, first: u64, end: u64) -> bool {
        let overlaps = |extent: &Waiting| extent.sector < end && first < extent.end();
        self.in_flight.as_ref().is_some_and(overlaps)
            || self.touched(first, end).any(|index| overlaps(self.extents.get(index)))
    }

    /// Indices of the extents that overlap or touch `first..end`.
    fn touched(&self, first: u64, end: u64) -> std::ops::Range<usize> {
        let to = self.extents.before(end + 1);
        let mut from = to;
        while from > 0 && self.extents.end(from - 1) >= first {
            from -= 1;
        }
        from..to
    }

    /// Takes in a write. `sequence` orders it among all writes.
    pub fn insert(&mut self, geometry: &Geometry, now: Instant, first: u64, count: u64, sequence: u64) {
        let (mut run, mut since): (Run, (u64, Instant)) = ((first, first + count), (sequence, now));
        let (mut touched, mut entries) = (self.touched(run.0, run.1), 1);
        if touched.is_empty() {
            let extent = self.extent(geometry, run, since, entries);
            return self.extents.insert_at(touched.start, extent);
        }
        while let Some(index) = touched.next_back() {
            let have = *self.extents.get(index);
            let stop = have.end();
            let joined = (run.0.min(have.sector), run.1.max(stop));
            if joined.1 - joined.0 <= self.longest {
                self.take(index);
                entries += entries_of(&have) as u32;
                self.joined += 1;
                (run, since) = (joined, since.min((have.sequence, have.ready)));
            } else if have.sector < run.1 && run.0 < stop {
                // Too long to join: the older extent keeps only what the new write does not replace.
                self.take(index);
                let tail_sequence = have.sequence;
                for (from, to) in [(have.sector, run.0), (run.1, stop)] {
                    if from < to {
                        self.put(geometry, (from, to), (tail_sequence, have.ready), 1);
                    }
                }
            }
        }
        self.put(geometry, run, since, if self.room.each_write { entries } else { 1 });
    }

    /// Drops `first..end`, which has been written past the cache.
    pub fn supersede(&mut self, geometry: &Geometry, first: u64, end: u64) {
        let mut touched = self.touched(first, end);
        while let Some(index) = touched.next_back() {
            let have = *self.extents.get(index);
            let stop = have.end();
            if have.sector >= end || stop <= first {
                continue;
            }
            self.take(index);
            for (from, to) in [(have.sector, first), (end, stop)] {
                if from < to {
                    self.put(geometry, (from, to), (have.sequence, have.ready), 1);
                }
            }
        }
    }

    /// Sends the extent at `index` on its way to the media; it stays held until [`Dirty::landed`].
    pub fn send(&mut self, index: usize) -> Waiting {
        debug_assert!(self.in_flight.is_none(), "one arm writes one extent at a time");
        let sent = self.take(index);
        self.in_flight = Some(sent);
        sent
    }

    /// The extent on its way is on the media; returns it.
    pub fn landed(&mut self) -> Option<Waiting> {
        self.in_flight.take()
    }

    /// Holds an extent that has landed until it was read back; false if a newer write of it waits already.
    pub fn verify(&mut self, landed: Waiting) -> bool {
        let free = !self.overlaps(landed.sector, landed.end());
        if free {
            self.more += entries_of(&landed) - 1;
            self.sectors += u64::from(landed.count);
            self.extents.insert(Waiting { write: false, ..landed });
        }
        free
    }

    fn take(&mut self, index: usize) -> Waiting {
        let taken = self.extents.remove(index);
        self.sectors -= u64::from(taken.count);
        self.more -= entries_of(&taken) - 1;
        taken
    }

    fn put(&mut self, geometry: &Geometry, run: Run, since: (u64, Instant), entries: u32) {
        let extent = self.extent(geometry, run, since, entries);
        self.extents.insert(extent);
    }

    /// An extent that is about to wait, counted already.
    fn extent(&mut self, geometry: &Geometry, run: Run, since: (u64, Instant), entries: u32) -> Waiting {
        let position = geometry.place(run.0);
        self.more += entries as usize - 1;
        self.sectors += run.1 - run.0;
        Waiting {
            sector: run.0,
            count: (run.1 - run.0) as u32,
            write: true,
            place: position,
            angle: position.angle(),
            ready: since.1,
            since: since.1,
            sequence: since.0,
            slot: CACHED | entries,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::geometry::GeometryParams;
    use crate::parts::rotation::Rotation;
    use hotband_units::{Bytes, Rate, Rpm, Span};
    use proptest::prelude::*;

    fn geometry() -> Geometry {
        Geometry::new(&GeometryParams {
            capacity: Bytes(1_000_000_000),
            heads: 2,
            zones: 2,
            outer: Rate(100_000_000),
            inner: Rate(50_000_000),
            head_skew: Span(500_000),
            track_skew: Span(500_000),
            rotation: Rotation::new(Rpm(10_000)),
        })
    }

    fn dirty(entries: usize, sectors: u64, longest: u64) -> Dirty {
        Dirty::new(Room { entries, sectors, each_write: false }, longest)
    }

    fn runs(dirty: &Dirty) -> Vec<(u64, u32)> {
        dirty.extents().by_address().map(|extent| (extent.sector, extent.count)).collect()
    }

    #[test]
    fn neighbours_and_overwrites_are_joined() {
        let (geometry, mut dirty) = (geometry(), dirty(10, 1000, 100));
        for (sequence, (first, count)) in [(10, 10), (20, 10), (5, 8), (50, 5), (40, 12)].into_iter().enumerate() {
            dirty.insert(&geometry, Instant(0), first, count, sequence as u64);
        }
        assert_eq!(runs(&dirty), [(5, 25), (40, 15)]);
        assert_eq!(dirty.sectors(), 40);
    }

    #[test]
    fn joining_stops_at_the_longest() {
        let (geometry, mut dirty) = (geometry(), dirty(10, 1000, 20));
        dirty.insert(&geometry, Instant(0), 0, 16, 0);
        dirty.insert(&geometry, Instant(0), 16, 16, 1);
        dirty.insert(&geometry, Instant(0), 8, 16, 2);
        assert_eq!(runs(&dirty), [(0, 8), (8, 16), (24, 8)]);
    }

    #[test]
    fn a_full_cache_takes_only_what_joins() {
        let (geometry, mut dirty) = (geometry(), dirty(1, 1000, 100));
        dirty.insert(&geometry, Instant(0), 0, 8, 0);
        assert!(dirty.has_room(8, 8, (0, 0)));
        assert!(!dirty.has_room(80, 8, (0, 0)));
    }

    #[test]
    fn a_write_that_is_joined_keeps_its_entry_where_each_has_one() {
        let geometry = geometry();
        let room = |each_write| Room { entries: 2, sectors: 1000, each_write };
        let after_two = |each_write| {
            let mut dirty = Dirty::new(room(each_write), 100);
            dirty.insert(&geometry, Instant(0), 0, 8, 0);
            dirty.insert(&geometry, Instant(0), 8, 8, 1);
            dirty
        };
        let mut dirty = after_two(true);
        assert_eq!((dirty.extents().len(), dirty.held()), (1, (2, 16)));
        assert!(!dirty.has_room(16, 8, (0, 0)) && after_two(false).has_room(16, 8, (0, 0)));
        dirty.send(0);
        assert_eq!((dirty.entries(), dirty.held()), (0, (2, 16)));
        dirty.landed();
        assert!(dirty.has_room(16, 8, (0, 0)) && dirty.held() == (0, 0));
    }

    #[test]
    fn what_touches_does_not_overlap() {
        let (geometry, mut dirty) = (geometry(), dirty(10, 1000, 100));
        dirty.insert(&geometry, Instant(0), 10, 10, 0);
        let ranges = [(0, 10), (0, 11), (12, 14), (19, 30), (20, 30)];
        assert_eq!(ranges.map(|(first, end)| dirty.overlaps(first, end)), [false, true, true, true, false]);
    }

    #[test]
    fn what_is_read_back_takes_the_entries_that_it_had() {
        let geometry = geometry();
        let mut dirty = Dirty::new(Room { entries: 10, sectors: 1000, each_write: true }, 100);
        for (sequence, first) in [10, 20, 30].into_iter().enumerate() {
            dirty.insert(&geometry, Instant(0), first, 10, sequence as u64);
        }
        assert_eq!(dirty.entries(), 3);
        dirty.send(0);
        let landed = dirty.landed().expect("it was sent");
        assert!(dirty.verify(landed));
        assert_eq!(dirty.entries(), 3);
        assert!(!dirty.extents().get(0).write, "the arm reads it");
    }

    #[test]
    fn an_empty_cache_takes_anything() {
        assert!(dirty(1, 12, 100).has_room(0, 100, (0, 0)));
    }

    #[test]
    fn what_is_on_its_way_is_held_until_it_has_landed() {
        let (geometry, mut dirty) = (geometry(), dirty(1, 1000, 100));
        dirty.insert(&geometry, Instant(0), 0, 8, 7);
        dirty.send(0);
        assert!(dirty.covers(0, 8) && !dirty.is_empty() && !dirty.has_room(80, 8, (0, 0)));
        assert_eq!(dirty.oldest(), Some(7));
        dirty.landed();
        assert!(!dirty.covers(0, 8) && dirty.is_empty() && dirty.has_room(80, 8, (0, 0)));
    }

    proptest! {
        #[test]
        fn what_was_written_and_not_taken_is_covered_exactly(
            writes in proptest::collection::vec((0_u64..300, 1_u64..40, 0_u8..5), 1..60),
        ) {
            let (geometry, mut dirty) = (geometry(), dirty(1000, 100_000, 64));
            let mut model = vec![false; 400];
            for (sequence, (first, count, what)) in writes.into_iter().enumerate() {
                let range = first as usize..(first + count) as usize;
                if what == 0 {
                    dirty.supersede(&geometry, first, first + count);
                    model[range].fill(false);
                } else {
                    dirty.insert(&geometry, Instant(0), first, count, sequence as u64);
                    model[range].fill(true);
                }
                let mut held = vec![false; 400];
                for (first, count) in runs(&dirty) {
                    for sector in &mut held[first as usize..][..count as usize] {
                        prop_assert!(!std::mem::replace(sector, true), "extents overlap");
                    }
                }
                prop_assert_eq!(&held, &model);
                prop_assert_eq!(dirty.sectors(), model.iter().filter(|s| **s).count() as u64);
                for first in 0..390_u64 {
                    let expected = model[first as usize..first as usize + 4].iter().all(|held| *held);
                    prop_assert_eq!(dirty.covers(first, first + 4), expected);
                }
            }
        }
    }
}
