//! Long untimed runs of pages: the writes of a sequential fill of a drive.
//!
//! They leave the state that their pages leave when written singly, in order. Between two events (a block fills up, a
//! victim is collected) no search is needed, so that a page costs a few instructions.

use std::ops::Range;

use super::Ftl;
use super::blocks::NONE;
use super::frontier::HOST;
use super::map::{DIRTY, UNMAPPED};
use super::params::{FtlParams, PAGE_UNITS, Separation};
use super::work::Untimed;

impl Ftl {
    /// Writes `pages`, which do not compress, as [`Ftl::write`] does one after the other.
    #[inline]
    pub fn write_run(&mut self, pages: Range<u64>) {
        if pages.end - pages.start <= self.params.buffer_pages as u64 {
            pages.for_each(|page| {
                self.write(page, PAGE_UNITS, &mut Untimed);
            });
            return;
        }
        self.write_long_run(pages.start as u32..pages.end as u32);
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

    /// Whether the pages of a run are placed in order, after all that is in the write buffer, and in one block after the
    /// other.
    fn passes_through(&self, pages: &Range<u32>) -> bool {
        let FtlParams { in_place, compressed, separation, .. } = self.params;
        let is_plain = self.pslc.is_none() && !in_place && !compressed && separation != Separation::HotCold;
        is_plain && self.buffer.iter().all(|(page, _)| !pages.contains(page))
    }

    fn place_run(&mut self, mut pages: Range<u32>) {
        while !pages.is_empty() {
            let room = (self.params.block_units - self.frontiers[HOST].filled) / PAGE_UNITS;
            let collects = self.collection.victim != NONE || self.blocks.free_count() <= self.params.free_low;
            // The last page of a block closes it.
            if room <= 1 || collects || self.write_protected {
                self.used_pages += u64::from(self.map.get(pages.start) == UNMAPPED);
                self.place_host(pages.start, PAGE_UNITS, &mut Untimed);
                pages.start += 1;
                continue;
            }
            let end = pages.end.min(pages.start + room - 1);
            self.append_run(pages.start..end);
            pages.start = end;
        }
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
    use super::super::{Endurance, VictimPolicy};
    use super::*;
    use proptest::prelude::*;

    fn ftl(separation: Separation, victims: VictimPolicy, cycles: f64) -> Ftl {
        Ftl::new(FtlParams {
            pages: 4096,
            blocks: 80,
            spare_blocks: 2,
            block_units: 64 * PAGE_UNITS,
            flash_page_units: 4 * PAGE_UNITS,
            program_units: 16 * PAGE_UNITS,
            compressed: false,
            in_place: false,
            pslc: None,
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
        let Ftl { blocks, frontiers, buffer, collection, counters, clock, used_pages, write_protected, .. } = ftl;
        let rest = format!("{blocks:?} {frontiers:?} {buffer:?} {collection:?} {counters:?}");
        ((0..4096).map(|page| ftl.map.get(page)).collect(), format!("{rest} {clock} {used_pages} {write_protected}"))
    }

    proptest! {
        #[test]
        fn a_run_leaves_what_its_pages_leave_when_they_are_written_singly(
            runs in prop::collection::vec((0_u64..4096, 1_u64..4096, 0_u8..8), 1..40),
            kind in 0_usize..3, policy in 0_usize..3, wears_out in any::<bool>(),
        ) {
            let separation = [Separation::None, Separation::Relocated, Separation::HotCold][kind];
            let victims = [VictimPolicy::Greedy, VictimPolicy::WindowedGreedy(20), VictimPolicy::CostBenefit][policy];
            let cycles = if wears_out { 12.0 } else { 1e6 };
            let (mut together, mut singly) = (ftl(separation, victims, cycles), ftl(separation, victims, cycles));
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
                    _ => {
                        together.write_run(pages.clone());
                        pages.for_each(|page| { singly.write(page, PAGE_UNITS, &mut Untimed); });
                    }
                }
                prop_assert_eq!(together.check(), Ok(()));
            }
            prop_assert_eq!(state(&together), state(&singly));
        }
    }
}
