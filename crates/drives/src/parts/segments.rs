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
    /// Age stamp; larger is more recent.
    used: u64,
}

/// What the cache has for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All of it is in this segment.
    Hit(usize),
    /// It goes on where this segment ends (or overlaps its end): a sequential reader.
    Continues(usize),
    /// Nothing.
    Miss,
}

/// A fixed number of segments of a fixed size.
#[derive(Clone, Debug)]
pub struct Segments {
    /// Starts and ends apart from the rest: every read compares against all of them.
    starts: Vec<u64>,
    ends: Vec<u64>,
    used: Vec<u64>,
    clock: u64,
    /// Most sectors a segment holds.
    size: u64,
}

impl Segments {
    /// `count` empty segments of `size` sectors.
    pub fn new(count: usize, size: u64) -> Self {
        Self { starts: vec![0; count], ends: vec![0; count], used: vec![0; count], clock: 0, size }
    }

    /// Most sectors a segment holds.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The segment at `index`.
    pub fn get(&self, index: usize) -> Segment {
        Segment { start: self.starts[index], end: self.ends[index], used: self.used[index] }
    }

    /// What is held of `first..end`.
    #[inline]
    pub fn find(&self, first: u64, end: u64) -> Found {
        // Without early exit, so that the comparison runs over whole vectors: almost every random read misses.
        let touched = self.starts.iter().zip(&self.ends).fold(false, |touched, (start, stop)| {
            touched | ((*start <= first) & (first <= *stop) & (*stop > 0))
        });
        if touched { self.find_touched(first, end) } else { Found::Miss }
    }

    fn find_touched(&self, first: u64, end: u64) -> Found {
        let touched = |i: &usize| self.starts[*i] <= first && first <= self.ends[*i] && self.ends[*i] > 0;
        let all = (0..self.starts.len()).filter(touched);
        match all.clone().find(|&i| end <= self.ends[i]) {
            Some(index) => Found::Hit(index),
            None => all.max_by_key(|&i| self.ends[i]).map_or(Found::Miss, Found::Continues),
        }
    }

    /// Marks a segment as just used.
    pub fn touch(&mut self, index: usize) {
        self.clock += 1;
        self.used[index] = self.clock;
    }

    /// Puts `first..end` into the least recently used segment; returns which.
    #[inline]
    pub fn replace(&mut self, first: u64, end: u64) -> Option<usize> {
        let index = (0..self.used.len()).min_by_key(|&i| self.used[i])?;
        self.starts[index] = first.max(end.saturating_sub(self.size));
        self.ends[index] = end;
        self.touch(index);
        Some(index)
    }

    /// Adds `from..end` to a segment that reached up to `from` (a write may have cut it since: then it begins
    /// there); what no longer fits falls off its start.
    pub fn extend(&mut self, index: usize, from: u64, end: u64) {
        if self.ends[index] < from {
            self.starts[index] = from;
        }
        self.ends[index] = self.ends[index].max(end);
        self.starts[index] = self.starts[index].max(self.ends[index].saturating_sub(self.size));
    }

    /// Forgets whatever overlaps `first..end`, which was just written.
    #[inline]
    pub fn forget(&mut self, first: u64, end: u64) {
        let overlaps = |start: u64, stop: u64| start < end && first < stop;
        let any = self.starts.iter().zip(&self.ends).fold(false, |any, (s, e)| any | overlaps(*s, *e));
        if !any {
            return;
        }
        for index in 0..self.starts.len() {
            if overlaps(self.starts[index], self.ends[index]) {
                // What lies before the write stays: a reader who has come this far is still sequential.
                self.ends[index] = first.max(self.starts[index]);
                if self.starts[index] == self.ends[index] {
                    (self.starts[index], self.ends[index], self.used[index]) = (0, 0, 0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn without_segments_everything_misses() {
        let mut cache = Segments::new(0, 1000);
        assert_eq!(cache.replace(0, 8), None);
        assert_eq!(cache.find(0, 8), Found::Miss);
    }
}
