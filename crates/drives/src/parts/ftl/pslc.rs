//! A pseudo-SLC cache: writes go to cells that hold one bit, and are folded into cells of three or four later.
//!
//! First in, first out. Its size is a fixed part and, of what is not used of the drive, as much as one bit a cell
//! leaves, up to a limit. When it is full, writes go to the slow cells (`direct`) or wait until older ones are folded
//! (`fold`). Folded data is programmed twice.
//!
//! Leaves out: erases of its blocks and their wear, and the blocks that its dynamic part takes from collection.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use hotband_machine::Carrier;
use rustc_hash::FxBuildHasher;

use super::Ftl;
use super::frontier::PSLC;
use super::map::DIRTY;
use super::params::{PAGE_UNITS, PslcParams, WhenFull};
use super::work::{FlashWork, Placement};

/// Contents of the cache.
#[derive(Clone, Debug)]
pub(super) struct Pslc {
    pub params: PslcParams,
    /// Pages in the order in which they came; some were written again or trimmed since.
    queue: VecDeque<u32>,
    /// Obsolete entries of the queue, per page: they come before the page's valid entry, if there is one.
    stale: HashMap<u32, u32, FxBuildHasher>,
    /// A bit a page: its newest data is here.
    held: Vec<u64>,
    valid: u64,
    /// Units of the pass that is not full.
    open: u32,
}

impl Pslc {
    pub fn new(params: PslcParams, pages: u64) -> Self {
        let held = vec![0; pages.div_ceil(64) as usize];
        Self { params, queue: VecDeque::new(), stale: HashMap::default(), held, valid: 0, open: 0 }
    }

    pub fn holds(&self, page: u32) -> bool {
        self.held[page as usize / 64] >> (page % 64) & 1 == 1
    }

    fn put(&mut self, page: u32) {
        self.held[page as usize / 64] |= 1 << (page % 64);
        self.valid += 1;
        self.queue.push_back(page);
    }

    /// The cached data of the page is obsolete; returns whether there was any.
    pub fn forget(&mut self, page: u32) -> bool {
        let was = self.holds(page);
        if was {
            self.drop_held(page);
            *self.stale.entry(page).or_default() += 1;
        }
        was
    }

    pub fn carry(&mut self, carrier: &mut Carrier) {
        let Self { params: _, queue, stale, held, valid, open } = self;
        let mut pages: Vec<u32> = std::mem::take(queue).into();
        carrier.words(&mut pages);
        *queue = pages.into();
        *stale = carrier.pairs(stale.iter().map(|(page, count)| (*page, *count))).into_iter().collect();
        for bits in held.iter_mut() {
            carrier.number(bits);
        }
        carrier.number(valid);
        carrier.word(open);
    }

    /// Pages in the order in which they came.
    pub fn queued(&self) -> impl Iterator<Item = u32> + '_ {
        self.queue.iter().copied()
    }

    /// Takes over `times` copies of the contents of a model, whose pages are numbered `pages` further in each.
    pub fn enlarge(&mut self, model: &Self, (times, pages): (u32, u32)) {
        let sections = |page: u32| (0..times).map(move |section| section * pages + page);
        self.queue = model.queue.iter().flat_map(|page| sections(*page)).collect();
        self.stale = model.stale.iter().flat_map(|(page, count)| sections(*page).map(|page| (page, *count))).collect();
        for page in (0..pages).filter(|page| model.holds(*page)).flat_map(sections) {
            self.held[page as usize / 64] |= 1 << (page % 64);
        }
        self.valid = model.valid * u64::from(times);
        self.open = model.open * times % self.params.pass_units;
    }

    /// Check that every entry is needed or stale, and that counts match the contents.
    pub fn check(&self) -> Result<(), String> {
        let stale: u64 = self.stale.values().map(|count| u64::from(*count)).sum();
        let held: u64 = self.held.iter().map(|word| u64::from(word.count_ones())).sum();
        let entries = self.queue.len() as u64;
        if entries != self.valid + stale || held != self.valid {
            let counted = format!("of which {} are needed and {stale} are not", self.valid);
            return Err(format!("the pseudo-SLC cache has {entries} entries, {counted}"));
        }
        Ok(())
    }

    fn drop_held(&mut self, page: u32) {
        self.held[page as usize / 64] &= !(1 << (page % 64));
        self.valid -= 1;
    }

    /// Pages that it may hold on a drive of `capacity` pages, of which `used` are in use.
    fn size(&self, capacity: u64, used: u64) -> u64 {
        let PslcParams { fixed_pages, dynamic_pages, bits, .. } = self.params;
        fixed_pages + dynamic_pages.min(self.unused(capacity, used) / bits)
    }

    /// Pages of the slow cells that hold no data.
    fn unused(&self, capacity: u64, used: u64) -> u64 {
        capacity - (used - self.valid).min(capacity)
    }

    /// How many of these pages come before the first whose newest data is here.
    pub fn unheld(&self, pages: Range<u32>) -> u32 {
        let mut page = pages.start;
        while page < pages.end {
            let held = self.held[page as usize / 64] >> (page % 64);
            if held != 0 {
                page += held.trailing_zeros();
                break;
            }
            page += 64 - page % 64;
        }
        page.min(pages.end) - pages.start
    }

    /// Of `pages` pages that are written, on a drive of `capacity` pages with `used` pages in use, those for which the full
    /// cache has no room and folds no pass of `pass` pages.
    pub fn placed_beside(&self, capacity: u64, used: u64, pages: u32, pass: u32) -> u32 {
        let cached = self.queue.len() as u64;
        if self.params.when_full != WhenFull::Direct || cached < self.size(capacity, used) {
            return 0;
        }
        let PslcParams { fixed_pages, dynamic_pages, bits, .. } = self.params;
        // The least that its dynamic part may shrink to until it folds.
        let least = (cached + 1).saturating_sub(u64::from(pass) + fixed_pages);
        let unused = self.unused(capacity, used);
        let until_it_folds = match unused.checked_sub(least * bits) {
            _ if least == 0 => u64::MAX,
            Some(left) if least <= dynamic_pages => left,
            _ => return 0,
        };
        // Each page may use one more of the drive, where any is left.
        if used == capacity { pages } else { until_it_folds.min(u64::from(pages)) as u32 }
    }

    /// Takes out the oldest entry: its page, and whether its data is needed.
    fn pop(&mut self) -> Option<(u32, bool)> {
        let page = self.queue.pop_front()?;
        if let Some(stale) = self.stale.get_mut(&page) {
            *stale -= 1;
            if *stale == 0 {
                self.stale.remove(&page);
            }
            return Some((page, false));
        }
        self.drop_held(page);
        Some((page, true))
    }
}

impl Ftl {
    /// Pages in the pseudo-SLC cache, those included that were written again since.
    pub fn cached(&self) -> u64 {
        self.pslc.as_ref().map_or(0, |pslc| pslc.queue.len() as u64)
    }

    /// Whether the newest data of `page` is in the pseudo-SLC cache.
    pub fn is_cached(&self, page: u64) -> bool {
        self.pslc.as_ref().is_some_and(|pslc| pslc.holds(page as u32))
    }

    /// Pages that the cache may hold now.
    pub fn cache_pages(&self) -> u64 {
        self.pslc.as_ref().map_or(0, |pslc| pslc.size(self.params.pages, self.used_pages))
    }

    pub(super) fn open_cache_units(&self) -> u64 {
        self.pslc.as_ref().map_or(0, |pslc| u64::from(pslc.open))
    }

    /// Takes a page of the write buffer into the cache; returns whether it did, or the page was not needed any more.
    // Out of line: drives that do otherwise do not pay for it.
    #[cold]
    pub(super) fn place_in_cache(&mut self, page: u32, flash: &mut impl FlashWork) -> bool {
        let size = self.cache_pages();
        let Some(pslc) = &self.pslc else { return false };
        if pslc.holds(page) {
            return true;
        }
        if self.cached() >= size {
            match pslc.params.when_full {
                WhenFull::Direct => {
                    // What is written beside it leaves less room for it. A pass is folded at a time: of pages that were
                    // written in a row none then lies between two that are written now.
                    let pass = u64::from(self.params.program_units / PAGE_UNITS);
                    if self.cached() >= size + pass {
                        for _ in 0..pass {
                            self.fold_oldest(flash);
                        }
                    }
                    return false;
                }
                WhenFull::Fold => {
                    while self.cached() > 0 && self.cached() >= size {
                        self.fold_oldest(flash);
                    }
                    if self.cached() >= self.cache_pages() {
                        return false;
                    }
                }
            }
        }
        let old = self.map.get(page) & !DIRTY;
        let Some(pslc) = &mut self.pslc else { return false };
        pslc.put(page);
        pslc.open += PAGE_UNITS;
        let is_full = pslc.open >= pslc.params.pass_units;
        flash.placed(&Placement { page, old, old_units: PAGE_UNITS, place: old, frontier: PSLC, relocated: false });
        self.counters.host += u64::from(PAGE_UNITS);
        if is_full {
            self.program_cache(flash);
        }
        true
    }

    fn program_cache(&mut self, flash: &mut impl FlashWork) {
        let Some(pslc) = &mut self.pslc else { return };
        pslc.open = 0;
        self.counters.cached += u64::from(pslc.params.pass_units);
        let pass = self.counters.cached / u64::from(pslc.params.pass_units);
        flash.program_cache(pass, PSLC);
    }

    /// Fills up the open pass of the cache.
    pub(super) fn pad_cache(&mut self, flash: &mut impl FlashWork) {
        if let Some(pslc) = self.pslc.as_ref().filter(|pslc| pslc.open > 0) {
            self.counters.padding += u64::from(pslc.params.pass_units - pslc.open);
            self.program_cache(flash);
        }
    }

    /// Folds the oldest page of the cache, or drops it where it was written again or trimmed; returns
    /// whether there was one.
    pub fn fold_oldest(&mut self, flash: &mut impl FlashWork) -> bool {
        let Some((page, is_needed)) = self.pslc.as_mut().and_then(Pslc::pop) else { return false };
        if !is_needed {
            return true;
        }
        let before = self.counters.host;
        self.place_host(page, PAGE_UNITS, flash);
        self.counters.relocated += self.counters.host - before;
        self.counters.folded += self.counters.host - before;
        self.counters.host = before;
        true
    }
}

#[cfg(test)]
pub(super) mod tests;
