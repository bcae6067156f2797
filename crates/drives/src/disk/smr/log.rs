//! The media cache: a log of writes that goes round, and the map that says which addresses it holds.
//!
//! Positions in the log only grow; their place on the media is the remainder by its size. A record that is written over
//! stays where it is until those before it are gone: space comes back at the oldest end.

use std::collections::{BTreeMap, VecDeque};

use crate::disk::smr::params::PHYSICAL;

/// Addresses that the log holds in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First sector of the host.
    pub first: u64,
    /// Sectors.
    pub count: u64,
    /// Position of the first in the log.
    pub at: u64,
}

/// A write as it was appended.
#[derive(Clone, Copy, Debug)]
struct Record {
    at: u64,
    /// Sectors with what fills the last physical one.
    room: u64,
    first: u64,
    /// Sectors that the map still names.
    live: u64,
}

/// The log and its map.
#[derive(Clone, Debug)]
pub struct Log {
    size: u64,
    most: usize,
    /// First sector of the host to how many, and where.
    map: BTreeMap<u64, (u64, u64)>,
    records: VecDeque<Record>,
    head: u64,
    live: u64,
}

impl Log {
    /// An empty log of `size` sectors that maps at most `most` extents.
    pub fn new(size: u64, most: usize) -> Self {
        Self { size, most, map: BTreeMap::new(), records: VecDeque::new(), head: 0, live: 0 }
    }

    /// Return the position of the next write.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Sectors between its oldest record and its head, those that are dead included.
    pub fn used(&self) -> u64 {
        self.head - self.records.front().map_or(self.head, |record| record.at)
    }

    /// Sectors of the host that it holds.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// Extents that it maps.
    pub fn extents(&self) -> usize {
        self.map.len()
    }

    /// Return the fill of the space or of the map, whichever is fuller.
    pub fn fill(&self) -> f64 {
        (self.used() as f64 / self.size as f64).max(self.map.len() as f64 / self.most as f64)
    }

    /// Space to skip, so that a write of `room` does not go over the end.
    fn skip(&self, room: u64) -> u64 {
        let left = self.size - self.head % self.size;
        if left < room { left } else { 0 }
    }

    /// Whether a write of `count` sectors finds room; it may split an extent in two.
    pub fn has_room(&self, count: u64) -> bool {
        let room = count.next_multiple_of(PHYSICAL);
        self.used() + self.skip(room) + room <= self.size && self.map.len() + 2 <= self.most
    }

    /// Takes a write that has room; returns its position.
    pub fn put(&mut self, first: u64, count: u64) -> u64 {
        let room = count.next_multiple_of(PHYSICAL);
        self.forget(first, first + count);
        self.head += self.skip(room);
        let at = self.head;
        self.records.push_back(Record { at, room, first, live: count });
        self.map.insert(first, (count, at));
        self.live += count;
        self.head += room;
        at
    }

    /// The first extent, or part of one, within `first..end`.
    fn overlap(&self, first: u64, end: u64) -> Option<Extent> {
        let whole = |(&first, &(count, at)): (&u64, &(u64, u64))| Extent { first, count, at };
        let before = self.map.range(..=first).next_back().map(whole).filter(|have| have.first + have.count > first);
        before.or_else(|| self.map.range(first..end).next().map(whole)).filter(|_| first < end)
    }

    /// Extents and parts of extents within `first..end`, in order.
    pub fn within(&self, first: u64, end: u64) -> impl Iterator<Item = Extent> {
        let mut from = first;
        std::iter::from_fn(move || {
            let have = self.overlap(from, end)?;
            let (begin, stop) = (have.first.max(from), (have.first + have.count).min(end));
            from = stop;
            Some(Extent { first: begin, count: stop - begin, at: have.at + (begin - have.first) })
        })
    }

    /// The log holds nothing of `first..end` any more.
    pub fn forget(&mut self, first: u64, end: u64) {
        while let Some(have) = self.overlap(first, end) {
            let stop = have.first + have.count;
            self.map.remove(&have.first);
            if have.first < first {
                self.map.insert(have.first, (first - have.first, have.at));
            }
            if stop > end {
                self.map.insert(end, (stop - end, have.at + (end - have.first)));
            }
            self.end_of(have.at, stop.min(end) - have.first.max(first));
        }
        while self.records.front().is_some_and(|record| record.live == 0) {
            self.records.pop_front();
        }
    }

    /// `gone` sectors of the record that holds `at` are dead.
    fn end_of(&mut self, at: u64, gone: u64) {
        let index = self.records.partition_point(|record| record.at + record.room <= at);
        self.records[index].live -= gone;
        self.live -= gone;
    }

    /// First sector of the oldest write that still counts, if it lies before `limit`.
    pub fn oldest(&self, limit: u64) -> Option<u64> {
        self.records.front().filter(|record| record.at < limit).map(|record| record.first)
    }

    /// Marks the log's entries of `first..end` before `limit` as dead, because the band's own sectors are current.
    pub fn forget_before(&mut self, limit: u64, first: u64, end: u64) {
        let old: Vec<Extent> = self.within(first, end).filter(|extent| extent.at < limit).collect();
        for extent in old {
            self.forget(extent.first, extent.first + extent.count);
        }
    }
}
