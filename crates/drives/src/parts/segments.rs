//! The segmented read cache: a few runs of sectors, least recently used first out, and sequential detection.
//!
//! Leaves out: adaptive segment sizes, and reads served from parts of two segments.

/// A run of sectors in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First sector held.
    pub start: u64,
    /// First sector beyond those held.
    pub end: u64,
    /// First sector beyond those that a host was given; what lies after it was read ahead.
    pub given: u64,
    /// Age stamp; larger is more recent.
    used: u64,
}

/// Cached part of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// This segment has all of the data.
    Hit(usize),
    /// The read continues at the end of this segment, or overlaps it: a sequential reader.
    Continues(usize),
    /// Nothing.
    Miss,
}

/// Addresses are compared in grains of this many sectors (64 KiB) first: 32 bits hold the grains of 100 TB, and
/// twice as many of them fit into a register.
const GRAIN_SHIFT: u32 = 7;

/// Segments that are compared at once.
const GROUP: usize = 8;

#[inline]
fn grain(sector: u64) -> i32 {
    (sector >> GRAIN_SHIFT) as i32
}

/// Whether `first..=last` (in grains) touches one of a group, without a branch.
#[inline]
fn group_touches(starts: &[i32; GROUP], ends: &[i32; GROUP], first: i32, last: i32) -> bool {
    let near = |(start, end): (&i32, &i32)| u32::from(*start <= last) & u32::from(first <= *end);
    starts.iter().zip(ends).map(near).fold(0, |any, near| any | near) != 0
}

/// Links of a segment in the order of use.
#[derive(Clone, Copy, Debug)]
struct Links {
    older: u16,
    newer: u16,
}

/// A fixed number of segments of a fixed size.
#[derive(Clone, Debug)]
pub struct Segments {
    all: Vec<Segment>,
    /// Grains of the starts and ends, apart from the rest: every read and write is compared with all of them. The last
    /// group is filled up with what touches nothing.
    starts: Vec<[i32; GROUP]>,
    ends: Vec<[i32; GROUP]>,
    /// A ring in the order of use; the entry behind the last segment joins the newest and the oldest.
    links: Vec<Links>,
    clock: u64,
    /// Most sectors a segment holds.
    size: u64,
}

impl Segments {
    /// `count` empty segments of `size` sectors.
    pub fn new(count: usize, size: u64) -> Self {
        let ring = count as u16 + 1;
        let links = (0..ring).map(|i| Links { older: (i + ring - 1) % ring, newer: (i + 1) % ring });
        let (all, groups) = (vec![Segment::default(); count], count.div_ceil(GROUP));
        let (mut starts, mut ends) = (vec![[0; GROUP]; groups], vec![[0; GROUP]; groups]);
        for index in count..groups * GROUP {
            (starts[index / GROUP][index % GROUP], ends[index / GROUP][index % GROUP]) = (i32::MAX, i32::MIN);
        }
        Self { all, starts, ends, links: links.collect(), clock: 0, size }
    }

    /// Most sectors a segment holds.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The segment at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Segment {
        self.all[index]
    }

    /// Whether `first..=last` may touch a segment: never wrongly no, seldom wrongly yes.
    #[inline]
    fn may_touch(&self, first: u64, last: u64) -> bool {
        let (first, last) = (grain(first), grain(last));
        // Without early exit, so that the comparison runs over whole vectors: almost every random I/O misses.
        let groups = self.starts.iter().zip(&self.ends);
        groups
            .map(|(starts, ends)| u32::from(group_touches(starts, ends, first, last)))
            .fold(0, |any, touched| any | touched)
            != 0
    }

    /// The segments that `first..=last` may touch, by index.
    #[inline]
    fn touched(&self, first: u64, last: u64) -> impl Iterator<Item = usize> {
        let (first, last) = (grain(first), grain(last));
        let groups = self.starts.iter().zip(&self.ends).enumerate();
        let touched = groups.filter(move |(_, (starts, ends))| group_touches(starts, ends, first, last));
        touched.flat_map(move |(group, (starts, ends))| {
            let near = move |at: &usize| starts[*at] <= last && first <= ends[*at];
            (0..GROUP).filter(near).map(move |at| group * GROUP + at)
        })
    }

    /// Held part of `first..end`.
    #[inline]
    pub fn find(&self, first: u64, end: u64) -> Found {
        if self.may_touch(first, first) { self.find_touched(first, end) } else { Found::Miss }
    }

    fn find_touched(&self, first: u64, end: u64) -> Found {
        let mut longest: Option<(u64, usize)> = None;
        for index in self.touched(first, first) {
            let have = self.all[index];
            if first < have.start || first > have.end || have.end == 0 {
                continue;
            }
            if end <= have.end {
                return Found::Hit(index);
            }
            longest = longest.max(Some((have.end, index)));
        }
        longest.map_or(Found::Miss, |(_, index)| Found::Continues(index))
    }

    /// Marks a segment as just used.
    #[inline]
    pub fn touch(&mut self, index: usize) {
        self.clock += 1;
        self.all[index].used = self.clock;
        self.move_behind(index, self.links[self.all.len()].older);
    }

    /// Moves a segment in the order of use: it becomes the next newer one after `older`.
    #[inline]
    fn move_behind(&mut self, index: usize, older: u16) {
        if usize::from(older) == index {
            return;
        }
        let links = self.links[index];
        self.links[usize::from(links.older)].newer = links.newer;
        self.links[usize::from(links.newer)].older = links.older;
        let newer = self.links[usize::from(older)].newer;
        self.links[index] = Links { older, newer };
        self.links[usize::from(older)].newer = index as u16;
        self.links[usize::from(newer)].older = index as u16;
    }

    /// A host was given sectors up to `end`.
    #[inline]
    pub fn give(&mut self, index: usize, end: u64) {
        self.all[index].given = end;
    }

    /// Puts `first..end` into the least recently used segment; returns which.
    #[inline]
    pub fn replace(&mut self, first: u64, end: u64) -> Option<usize> {
        let index = usize::from(self.links[self.all.len()].newer);
        if index == self.all.len() {
            return None;
        }
        self.set(index, first.max(end.saturating_sub(self.size)), end);
        self.all[index].given = end;
        self.touch(index);
        Some(index)
    }

    #[inline]
    fn set(&mut self, index: usize, start: u64, end: u64) {
        (self.all[index].start, self.all[index].end) = (start, end);
        let (group, at) = (index / GROUP, index % GROUP);
        (self.starts[group][at], self.ends[group][at]) = (grain(start), grain(end));
    }

    /// Adds `from..end` to a segment that reached up to `from` (a write may have cut it since: then it begins
    /// there); what no longer fits falls off its start.
    pub fn extend(&mut self, index: usize, from: u64, end: u64) {
        let have = self.all[index];
        let start = if have.end < from { from } else { have.start };
        let end = have.end.max(end);
        self.set(index, start.max(end.saturating_sub(self.size)), end);
    }

    /// Forgets whatever overlaps `first..end`, which was just written.
    #[inline]
    pub fn forget(&mut self, first: u64, end: u64) {
        if self.may_touch(first, end) {
            self.forget_touched(first, end);
        }
    }

    #[inline(never)]
    fn forget_touched(&mut self, first: u64, end: u64) {
        for group in 0..self.starts.len() {
            if !group_touches(&self.starts[group], &self.ends[group], grain(first), grain(end)) {
                continue;
            }
            for index in group * GROUP..self.all.len().min((group + 1) * GROUP) {
                let have = self.all[index];
                if have.start < end && first < have.end {
                    // What lies before the write stays: a reader who has come this far is still sequential.
                    self.set(index, have.start, first.max(have.start));
                    if first <= have.start {
                        self.empty(index);
                    }
                }
            }
        }
    }

    /// Empties a segment: it is taken before any other, the empty ones by index.
    fn empty(&mut self, index: usize) {
        self.set(index, 0, 0);
        self.all[index].used = 0;
        let ring = self.all.len();
        let mut next = usize::from(self.links[ring].newer);
        while next < ring && self.all[next].used == 0 && next < index {
            next = usize::from(self.links[next].newer);
        }
        if next != index {
            self.move_behind(index, self.links[next].older);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_read_hits_continues_or_misses() {
        let mut cache = Segments::new(2, 1000);
        cache.replace(100, 200);
        assert_eq!(cache.find(100, 200), Found::Hit(0));
        assert_eq!(cache.find(150, 160), Found::Hit(0));
        assert_eq!(cache.find(200, 208), Found::Continues(0));
        assert_eq!(cache.find(190, 208), Found::Continues(0));
        assert_eq!(cache.find(99, 120), Found::Miss);
        assert_eq!(cache.find(201, 208), Found::Miss);
        assert_eq!(cache.find(0, 8), Found::Miss);
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut cache = Segments::new(2, 1000);
        let (a, b) = (cache.replace(0, 10).unwrap(), cache.replace(100, 110).unwrap());
        cache.touch(a);
        assert_eq!(cache.replace(200, 210), Some(b));
        assert_eq!(cache.find(0, 10), Found::Hit(a));
        assert_eq!(cache.find(100, 110), Found::Miss);
    }

    #[test]
    fn a_segment_never_holds_more_than_its_size() {
        let mut cache = Segments::new(1, 100);
        cache.replace(0, 60);
        cache.extend(0, 60, 180);
        assert_eq!((cache.get(0).start, cache.get(0).end), (80, 180));
    }

    #[test]
    fn a_segment_that_was_cut_begins_where_it_goes_on() {
        let mut cache = Segments::new(1, 1000);
        cache.replace(100, 200);
        cache.forget(90, 210);
        cache.extend(0, 200, 300);
        assert_eq!((cache.get(0).start, cache.get(0).end), (200, 300));
    }

    #[test]
    fn what_is_overwritten_is_forgotten() {
        let mut cache = Segments::new(2, 1000);
        cache.replace(100, 200);
        cache.forget(150, 160);
        assert_eq!(cache.find(150, 151), Found::Continues(0));
        assert_eq!(cache.find(100, 150), Found::Hit(0));
        assert_eq!(cache.find(160, 170), Found::Miss);
        cache.forget(90, 160);
        assert_eq!(cache.find(100, 101), Found::Miss);
    }

    #[test]
    fn a_write_beside_a_segment_leaves_it_alone() {
        let mut cache = Segments::new(1, 1000);
        cache.replace(100, 200);
        cache.forget(90, 100);
        cache.forget(200, 210);
        assert_eq!(cache.find(100, 200), Found::Hit(0));
    }

    #[test]
    fn without_segments_everything_misses() {
        let mut cache = Segments::new(0, 1000);
        assert_eq!(cache.replace(0, 8), None);
        assert_eq!(cache.find(0, 8), Found::Miss);
    }

    #[test]
    fn emptied_segments_are_taken_first_by_index() {
        let mut cache = Segments::new(4, 1000);
        for start in [1000, 2000, 3000, 4000] {
            cache.replace(start, start + 10);
        }
        cache.forget(3000, 3010);
        cache.forget(2000, 2010);
        let taken: Vec<_> = [5000, 6000, 7000, 8000].iter().map(|s| cache.replace(*s, s + 10).unwrap()).collect();
        assert_eq!(taken, [1, 2, 0, 3]);
    }

    proptest! {
        #[test]
        fn the_order_of_use_is_that_of_the_stamps(
            steps in proptest::collection::vec((0_u8..4, 0_u64..4000, 1_u64..300), 1..200),
        ) {
            let mut cache = Segments::new(6, 256);
            for (what, first, count) in steps {
                let expected = (0..6).min_by_key(|&i| cache.get(i).used);
                match what {
                    0 => cache.forget(first, first + count),
                    1 => cache.touch(first as usize % 6),
                    2 => cache.extend(first as usize % 6, first, first + count),
                    _ => prop_assert_eq!(cache.replace(first, first + count), expected),
                }
            }
        }

        #[test]
        fn what_is_found_is_what_looking_everywhere_finds(
            held in proptest::collection::vec((0_u64..2_000, 1_u64..300), 1..6), first in 0_u64..2_000,
        ) {
            let mut cache = Segments::new(6, 256);
            for (start, count) in held {
                cache.replace(start, start + count);
            }
            let all = (0..6).map(|index| (cache.get(index), index)).filter(|(have, _)| have.end > 0);
            let mut touched = all.filter(|(have, _)| have.start <= first && first <= have.end);
            let hit = touched.clone().find(|(have, _)| first + 8 <= have.end).map(|(_, index)| Found::Hit(index));
            let longest = touched.by_ref().max_by_key(|(have, _)| have.end).map(|(_, index)| Found::Continues(index));
            prop_assert_eq!(cache.find(first, first + 8), hit.or(longest).unwrap_or(Found::Miss));
        }
    }
}
