//! Cache of mapping-table pages, for a table that does not fit in memory.
//!
//! Two memories, the controller's own and one that the host lends (NVMe host memory buffer). A page of the table is in
//! one of them or on flash alone. Each memory is a clock: a page requested since the hand last passed is spared once.
//! Pages that leave the controller's memory go to the host's and come back when requested; a page that leaves the
//! host's memory has to be written if its entries have changed.
//!
//! Leaves out: entries kept singly (DFTL keeps entries, we keep pages), runs of entries that are compressed.

/// The page is on flash alone.
const ABSENT: u32 = u32::MAX;

/// Place where a page of the table was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The page is in the controller's memory.
    Controller,
    /// The page was in the host's memory; the controller has it now.
    Host,
    /// On flash alone.
    Flash,
}

/// A place for a page of the table.
#[derive(Clone, Copy, Debug)]
struct Frame {
    page: u32,
    /// Asked for since the hand passed.
    asked: bool,
    /// Entries have changed since it was read or written.
    changed: bool,
}

const EMPTY: Frame = Frame { page: ABSENT, asked: false, changed: false };

/// The pages of a table that are in memory.
#[derive(Clone, Debug)]
pub struct MapCache {
    /// The frame of every page of the table.
    places: Vec<u32>,
    controller: Clock,
    host: Clock,
}

/// Frames in a circle; those of the host are numbered after those of the controller.
#[derive(Clone, Debug)]
struct Clock {
    frames: Vec<Frame>,
    first: u32,
    hand: usize,
}

impl Clock {
    fn new(frames: u32, first: u32) -> Self {
        Self { frames: vec![EMPTY; frames as usize], first, hand: 0 }
    }

    /// The frame that is given up next: an empty one, or the first that was not asked for since the hand passed.
    fn next_free(&mut self) -> usize {
        loop {
            let at = self.hand;
            self.hand = if at + 1 < self.frames.len() { at + 1 } else { 0 };
            if !std::mem::take(&mut self.frames[at].asked) {
                return at;
            }
        }
    }
}

impl MapCache {
    /// Creates the empty cache of a table of `pages`, with frames for this many pages.
    ///
    /// # Panics
    /// If the controller has room for none: what it works with is there.
    pub fn new(pages: u32, controller: u32, host: u32) -> Self {
        assert!(controller > 0, "the page that the controller works with is in its memory");
        let (controller, host) = (controller.min(pages), host.min(pages));
        Self {
            places: vec![ABSENT; pages as usize],
            controller: Clock::new(controller, 0),
            host: Clock::new(host, controller),
        }
    }

    /// Pages in memory.
    pub fn held(&self) -> u64 {
        let count = |clock: &Clock| clock.frames.iter().filter(|frame| frame.page != ABSENT).count();
        (count(&self.controller) + count(&self.host)) as u64
    }

    /// Looks up a page, to change its entries or only to read them. Pages on flash stay there until
    /// [`MapCache::bring`] loads them.
    pub fn ask(&mut self, page: u32, changes: bool) -> Found {
        let frame_number = self.places[page as usize];
        if frame_number == ABSENT {
            return Found::Flash;
        }
        if frame_number < self.host.first {
            let frame = &mut self.controller.frames[frame_number as usize];
            frame.asked = true;
            frame.changed |= changes;
            return Found::Controller;
        }
        let at = (frame_number - self.host.first) as usize;
        let mut frame = std::mem::replace(&mut self.host.frames[at], EMPTY);
        frame.changed |= changes;
        let out = self.give_controller(frame);
        // They change places: the host's frame was just left.
        self.give_host(at, out);
        Found::Host
    }

    /// Brings a page from flash; returns the page that leaves memory for it and has entries that changed.
    pub fn bring(&mut self, page: u32, changes: bool) -> Option<u32> {
        debug_assert_eq!(self.places[page as usize], ABSENT, "only what is on flash alone is brought");
        let mut out = self.give_controller(Frame { page, asked: true, changed: changes });
        if out.page != ABSENT && !self.host.frames.is_empty() {
            let at = self.host.next_free();
            let left = self.host.frames[at];
            self.give_host(at, out);
            out = left;
        }
        if out.page == ABSENT {
            return None;
        }
        self.places[out.page as usize] = ABSENT;
        out.changed.then_some(out.page)
    }

    /// Puts a page into the controller's memory; returns the page that it replaces.
    fn give_controller(&mut self, frame: Frame) -> Frame {
        let at = self.controller.next_free();
        self.places[frame.page as usize] = at as u32;
        std::mem::replace(&mut self.controller.frames[at], Frame { asked: true, ..frame })
    }

    /// Puts a page that the controller evicted into a frame of the host.
    fn give_host(&mut self, at: usize, frame: Frame) {
        self.host.frames[at] = Frame { asked: frame.page != ABSENT, ..frame };
        if frame.page != ABSENT {
            self.places[frame.page as usize] = self.host.first + at as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts afresh where every page is, and compares.
    fn check(cache: &MapCache) {
        let mut seen = vec![ABSENT; cache.places.len()];
        let frames = cache.controller.frames.iter().chain(&cache.host.frames);
        for (number, frame) in frames.enumerate().filter(|(_, frame)| frame.page != ABSENT) {
            assert_eq!(seen[frame.page as usize], ABSENT, "page {} is held twice", frame.page);
            seen[frame.page as usize] = number as u32;
        }
        assert_eq!(seen, cache.places);
    }

    /// Looks a page up, and fetches it if it is missing.
    fn touch(cache: &mut MapCache, page: u32, changes: bool) -> (Found, Option<u32>) {
        let lookup = cache.ask(page, changes);
        (lookup, if lookup == Found::Flash { cache.bring(page, changes) } else { None })
    }

    #[test]
    fn what_the_controller_gives_up_is_with_the_host_and_comes_back() {
        let mut cache = MapCache::new(10, 1, 1);
        assert_eq!(touch(&mut cache, 3, true), (Found::Flash, None));
        assert_eq!(touch(&mut cache, 4, false), (Found::Flash, None));
        assert_eq!(cache.ask(3, false), Found::Host);
        assert_eq!((cache.ask(3, false), cache.ask(4, false)), (Found::Controller, Found::Host));
        // The page that leaves both is the one that was not asked for; that it changed is known all the way.
        assert_eq!(touch(&mut cache, 5, false), (Found::Flash, Some(3)));
        assert_eq!((cache.ask(3, false), cache.held()), (Found::Flash, 2));
        check(&cache);
    }

    #[test]
    fn a_page_that_is_asked_for_again_stays_and_one_that_is_not_goes() {
        let mut cache = MapCache::new(100, 4, 0);
        for page in 0..4 {
            touch(&mut cache, page, false);
        }
        for new in 10..30 {
            // The first sweep clears what all were brought with, and takes page 0.
            touch(&mut cache, new, false);
            assert_eq!(cache.ask(1, false), Found::Controller, "after page {new}");
        }
        assert!((0..10).filter(|page| *page != 1).all(|page| cache.ask(page, false) == Found::Flash));
    }

    #[test]
    fn a_page_that_did_not_change_is_dropped_without_a_write() {
        let mut cache = MapCache::new(100, 2, 2);
        let written = (0..100).filter_map(|page| touch(&mut cache, page, page % 3 == 0).1).collect::<Vec<_>>();
        assert_eq!(written, (0..96).filter(|page| page % 3 == 0).collect::<Vec<_>>());
    }

    #[test]
    fn memory_for_the_whole_table_misses_every_page_once() {
        let mut cache = MapCache::new(50, 8, 1000);
        let misses = (0..5000_u32).filter(|n| touch(&mut cache, n * 7 % 50, true).0 == Found::Flash).count();
        assert_eq!((misses, cache.held()), (50, 50));
        check(&cache);
    }

    proptest::proptest! {
        #[test]
        fn memory_is_never_overfull_and_no_change_is_lost(
            frames in (1_u32..6, 0_u32..6),
            asked in proptest::collection::vec((0_u32..24, proptest::bool::ANY), 1..300),
        ) {
            let mut cache = MapCache::new(24, frames.0, frames.1);
            let mut unwritten = [false; 24];
            for (page, changes) in asked {
                unwritten[page as usize] |= changes;
                let (_, out) = touch(&mut cache, page, changes);
                // What leaves with changes is written; the page that is there now cannot be it.
                if let Some(out) = out {
                    assert!(out != page && std::mem::take(&mut unwritten[out as usize]), "page {out}");
                }
                check(&cache);
                assert!(cache.held() <= u64::from(frames.0 + frames.1));
                assert_eq!(cache.ask(page, false), Found::Controller, "what was asked for is with the controller");
            }
            for page in (0..24).filter(|page| unwritten[*page]) {
                assert_ne!(cache.places[page], ABSENT, "page {page} changed and is nowhere");
            }
        }
    }
}
