//! Long untimed runs of pages: the writes of a sequential fill of a drive.
//!
//! They leave the state that their pages leave when written singly, in order. Between two events (a block fills up, a
//! victim is collected, a pseudo-SLC cache folds) no search is needed, so that a page costs a few instructions.

use std::ops::Range;

use super::Ftl;
use super::blocks::NONE;
use super::frontier::HOST;
use super::map::{DIRTY, UNMAPPED};
use super::params::{FtlParams, PAGE_UNITS, Separation};
use super::work::Untimed;

/// Pages of a run that are examined together, and the fewest that are.
const WINDOW: u32 = 4096;
const SHORTEST: u64 = 64;

impl Ftl {
    /// Writes `pages`, which do not compress, as [`Ftl::write`] does one after the other.
    #[inline]
    pub fn write_run(&mut self, pages: Range<u64>) {
        let has_cache = self.pslc.is_some();
        let shortest = if has_cache { SHORTEST } else { self.params.buffer_pages as u64 };
        if pages.end - pages.start <= shortest {
            pages.for_each(|page| {
                self.write(page, PAGE_UNITS, &mut Untimed);
            });
            return;
        }
        let pages = pages.start as u32..pages.end as u32;
        if has_cache { self.write_run_past_cache(pages) } else { self.write_long_run(pages) }
    }

    /// A run longer than the write buffer: earlier pages leave first, and the last pages of the run stay.
    #[inline(never)]
    fn write_long_run(&mut self, pages: Range<u32>) {
        if !self.passes_through(&pages) {
            for page in pages {
                self.write(u64::from(page), PAGE_UNITS, &mut Untimed);
            }
            return;
        }
        let before = std::mem::take(&mut self.buffer);
        let mut run = 0..0;
        for &(page, _) in &before {
            if page != run.end {
                self.place_run(run);
                run = page..page;
            }
            // What was trimmed, or placed already, is skipped.
            run.end += u32::from(self.map.get(page) & DIRTY != 0);
        }
        self.place_run(run);
        self.buffer = before;
        self.buffer.clear();
        let stay = pages.end - self.params.buffer_pages as u32;
        self.place_run(pages.start..stay);
        for page in stay..pages.end {
            let at = self.map.get(page);
            self.used_pages += u64::from(at == UNMAPPED);
            self.map.set(page, at | DIRTY);
            self.buffer.push_back((page, PAGE_UNITS as u16));
        }
    }

    /// A run on a drive with a pseudo-SLC cache: pages that find it full are placed together.
    #[inline(never)]
    fn write_run_past_cache(&mut self, mut pages: Range<u32>) {
        let behind = (0..pages.start).rev().zip(self.buffer.iter().rev());
        let mut in_a_row = behind.take_while(|(page, (buffered, _))| page == buffered && self.waits(*page)).count();
        let mut is_checked = in_a_row == self.buffer.len();
        while !pages.is_empty() {
            if in_a_row >= self.buffer.len() && !is_checked {
                // An older entry of a page that was trimmed and written again has placed it.
                in_a_row = self.buffer.iter().rev().take_while(|(page, _)| self.waits(*page)).count();
                is_checked = in_a_row == self.buffer.len();
            }
            let together = if in_a_row < self.buffer.len() { 0 } else { self.pages_past_cache(&pages) };
            if together == 0 {
                let was_buffered = self.write(u64::from(pages.start), PAGE_UNITS, &mut Untimed);
                in_a_row = if was_buffered { 0 } else { in_a_row + 1 };
                is_checked = is_checked && !was_buffered && self.waits(pages.start);
                pages.start += 1;
            } else {
                pages.start = self.place_past_cache(pages.start..pages.start + together);
            }
        }
    }

    /// Whether a page in the write buffer is to be placed: it was neither trimmed nor placed, and no cache holds it.
    fn waits(&self, page: u32) -> bool {
        self.map.get(page) & DIRTY != 0 && !self.pslc.as_ref().is_some_and(|pslc| pslc.holds(page))
    }

    /// How many of these pages, which follow those in the write buffer, may be written together: the oldest of the buffer
    /// then go past the full cache in order, and it folds nothing.
    fn pages_past_cache(&self, pages: &Range<u32>) -> u32 {
        let is_full = self.buffer.len() == self.params.buffer_pages && !self.buffer.is_empty();
        let (Some(pslc), true) = (&self.pslc, self.is_plain() && is_full && !self.write_protected) else { return 0 };
        let FtlParams { pages: capacity, program_units, .. } = self.params;
        let most = pslc.placed_beside(capacity, self.used_pages, WINDOW, program_units / PAGE_UNITS);
        pslc.unheld(pages.start..pages.end.min(pages.start + most))
    }

    /// Writes pages that follow those in the write buffer and places as many of the oldest; returns the page after the
    /// last one written, which comes early if the drive wears out.
    fn place_past_cache(&mut self, mut pages: Range<u32>) -> u32 {
        let buffered = self.buffer.len() as u32;
        let first = pages.start;
        while !pages.is_empty() && !self.write_protected {
            let end = pages.start + self.room_of_run().min(pages.len() as u32);
            for page in pages.start..end {
                let at = self.map.get(page);
                self.used_pages += u64::from(at == UNMAPPED);
                self.map.set(page, at | DIRTY);
            }
            self.place_run(pages.start - buffered..end - buffered);
            pages.start = end;
        }
        for page in first..pages.start {
            self.buffer.pop_front();
            self.buffer.push_back((page, PAGE_UNITS as u16));
        }
        pages.start
    }

    /// Whether host data is placed in one block after the other, in whole pages.
    fn is_plain(&self) -> bool {
        let FtlParams { in_place, compressed, separation, .. } = self.params;
        !in_place && !compressed && separation != Separation::HotCold
    }

    /// Whether the pages of a run are placed in order, after all that is in the write buffer, and in one block after the
    /// other.
    fn passes_through(&self, pages: &Range<u32>) -> bool {
        self.is_plain() && self.buffer.iter().all(|(page, _)| !pages.contains(page))
    }

    fn place_run(&mut self, mut pages: Range<u32>) {
        while !pages.is_empty() {
            let end = pages.start + self.room_of_run().min(pages.len() as u32);
            if end - pages.start == 1 {
                self.used_pages += u64::from(self.map.get(pages.start) == UNMAPPED);
                self.place_host(pages.start, PAGE_UNITS, &mut Untimed);
            } else {
                self.append_run(pages.start..end);
            }
            pages.start = end;
        }
    }

    /// Pages that are placed without any other work: at least one, which may cause some.
    fn room_of_run(&self) -> u32 {
        let room = (self.params.block_units - self.frontiers[HOST].filled) / PAGE_UNITS;
        let collects = self.collection.victim != NONE || self.blocks.free_count() <= self.params.free_low;
        // The last page of a block closes it.
        if collects || self.write_protected { 1 } else { room.saturating_sub(1).max(1) }
    }

    /// Appends pages to the open block, which they do not fill, while nothing is collected.
    fn append_run(&mut self, pages: Range<u32>) {
        let mut frontier = self.frontiers[HOST];
        let mut replaced = (NONE, 0);
        for page in pages.clone() {
            let at = self.map.get(page);
            self.used_pages += u64::from(at == UNMAPPED);
            let old = at & !DIRTY;
            let block = if old == UNMAPPED { NONE } else { self.map.block_of(old) };
            if block != replaced.0 {
                self.invalidate_pages(replaced);
                replaced = (block, 0);
            }
            replaced.1 += 1;
            self.map.set(page, self.map.join(frontier.block, frontier.flash_page));
            self.counters.passes += u64::from(frontier.fill(PAGE_UNITS, &self.params));
        }
        self.invalidate_pages(replaced);
        self.frontiers[HOST] = frontier;
        let units = u64::from(PAGE_UNITS) * pages.len() as u64;
        self.blocks.add_run(frontier.block, pages);
        self.counters.host += units;
        self.clock += units;
    }

    /// So many pages of a block, where they lay in one, are no longer valid.
    fn invalidate_pages(&mut self, (block, pages): (u32, u32)) {
        if block != NONE {
            self.blocks.remove_pages(block, pages * PAGE_UNITS, pages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Endurance, PslcParams, VictimPolicy, WhenFull};
    use super::*;
    use proptest::prelude::*;

    /// A cache of a tenth of the drive at most, as long as the drive is empty.
    fn cache(when_full: WhenFull) -> PslcParams {
        PslcParams { pass_units: 4 * PAGE_UNITS, fixed_pages: 100, dynamic_pages: 300, bits: 3, when_full }
    }

    fn ftl(separation: Separation, victims: VictimPolicy, cycles: f64, pslc: Option<PslcParams>) -> Ftl {
        Ftl::new(FtlParams {
            pages: 4096,
            blocks: 80,
            spare_blocks: 2,
            block_units: 64 * PAGE_UNITS,
            flash_page_units: 4 * PAGE_UNITS,
            program_units: 16 * PAGE_UNITS,
            compressed: false,
            in_place: false,
            pslc,
            victims,
            separation,
            free_low: 3,
            free_high: 8,
            buffer_pages: 64,
            wear_gap: Some(4),
            endurance: Some(Endurance { cycles, spread: 0.1 }),
        })
    }

    /// All that writes change.
    fn state(ftl: &Ftl) -> (Vec<u32>, String) {
        let Ftl { blocks, frontiers, buffer, collection, pslc, counters, clock, used_pages, write_protected, .. } = ftl;
        let rest = format!("{blocks:?} {frontiers:?} {buffer:?} {collection:?} {pslc:?} {counters:?}");
        ((0..4096).map(|page| ftl.map.get(page)).collect(), format!("{rest} {clock} {used_pages} {write_protected}"))
    }

    proptest! {
        #[test]
        fn a_run_leaves_what_its_pages_leave_when_they_are_written_singly(
            runs in prop::collection::vec((0_u64..4096, 1_u64..4096, 0_u8..10), 1..40),
            kind in 0_usize..3, policy in 0_usize..3, cached in 0_usize..3, wears_out in any::<bool>(),
        ) {
            let separation = [Separation::None, Separation::Relocated, Separation::HotCold][kind];
            let victims = [VictimPolicy::Greedy, VictimPolicy::WindowedGreedy(20), VictimPolicy::CostBenefit][policy];
            let cycles = if wears_out { 12.0 } else { 1e6 };
            let pslc = [None, Some(cache(WhenFull::Direct)), Some(cache(WhenFull::Fold))][cached];
            let [mut together, mut singly] = [(); 2].map(|()| ftl(separation, victims, cycles, pslc));
            let mut written = 0;
            for (from, len, what) in runs {
                let pages = from..(from + len).min(4096);
                match what {
                    // Pages at random, as many as half of the drive.
                    0 | 1 => for number in 0..len / 2 {
                        let page = (from + number * 1237) % 4096;
                        together.write(page, PAGE_UNITS, &mut Untimed);
                        singly.write(page, PAGE_UNITS, &mut Untimed);
                    },
                    2 => for page in pages.take(100) {
                        prop_assert_eq!(together.trim(page), singly.trim(page));
                    },
                    // Some of the last pages before the run that goes on, which are still buffered.
                    3 => for page in (written.max(64) - 64..written).step_by(1 + len as usize % 7) {
                        prop_assert_eq!(together.trim(page), singly.trim(page));
                    },
                    _ => {
                        let pages = if what < 7 { pages } else { written..(written + len).min(4096) };
                        written = pages.end % 4096;
                        together.write_run(pages.clone());
                        pages.for_each(|page| { singly.write(page, PAGE_UNITS, &mut Untimed); });
                    }
                }
                prop_assert_eq!(together.check(), Ok(()));
            }
            prop_assert_eq!(state(&together), state(&singly));
        }
    }

    #[test]
    fn a_page_that_an_older_entry_of_the_buffer_has_placed_is_not_placed_again() {
        let [mut together, mut singly] =
            [(); 2].map(|()| ftl(Separation::None, VictimPolicy::Greedy, 1e6, Some(cache(WhenFull::Direct))));
        for pages in [0..22, 22..4096, 0..2352, 2352..4020, 3956..4084] {
            if pages.start == 3956 {
                for page in (3956..4020).step_by(7) {
                    assert_eq!(together.trim(page), singly.trim(page));
                }
            }
            together.write_run(pages.clone());
            pages.for_each(|page| {
                singly.write(page, PAGE_UNITS, &mut Untimed);
            });
        }
        assert!(state(&together) == state(&singly), "written in runs and singly");
    }

    #[test]
    fn most_pages_of_a_fill_pass_a_full_cache_together() {
        let mut ftl = ftl(Separation::Relocated, VictimPolicy::Greedy, 1e6, Some(cache(WhenFull::Direct)));
        let mut singly = 0;
        for _ in 0..2 {
            // The write buffer follows no other run.
            (0..64).for_each(|page| assert!(!ftl.write(page, PAGE_UNITS, &mut Untimed)));
            let mut pages = 64..4096;
            while !pages.is_empty() {
                let together = ftl.pages_past_cache(&pages);
                singly += u32::from(together == 0);
                if together == 0 {
                    ftl.write(u64::from(pages.start), PAGE_UNITS, &mut Untimed);
                    pages.start += 1;
                } else {
                    pages.start = ftl.place_past_cache(pages.start..pages.start + together);
                }
            }
        }
        // Those that go into the cache, those that find theirs in it, the write buffer, and one a fold.
        assert!(singly < 2000, "{singly} of 8192 pages");
    }
}
