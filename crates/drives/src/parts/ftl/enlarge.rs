//! Contents of a drive from those of a model at a fraction of its size.
//!
//! A model has as many blocks, each a fraction as large, and that fraction of the pages. Uniform writes leave as large a
//! share of its blocks valid as of those of the whole drive. Each block of the drive is made of copies of the model's,
//! one per section of its addresses, so that every section lies on all blocks and dies, as after writes all over it.
//!
//! Leaves out: random differences between sections. Every section repeats the model's order of writes.

use super::blocks::{Blocks, NONE};
use super::frontier::Frontier;
use super::map::{DIRTY, Map, UNMAPPED};
use super::params::{FtlParams, PAGE_UNITS, Separation, VictimPolicy};
use super::pslc::Pslc;
use super::victim::Collection;
use super::work::Untimed;
use super::{Ftl, FtlCounters};

impl FtlParams {
    /// Parameters of a model at `1 / times` of the size, whose pages are a multiple of `unit_pages`; none if the pages
    /// of the drive lie where no copy of a block would have them, or collection goes by age, which differed by 3 %.
    #[must_use]
    pub fn model(&self, times: u32, unit_pages: u64) -> Option<Self> {
        let is_plain = !self.compressed && !self.in_place && self.separation != Separation::HotCold;
        let is_greedy = self.victims == VictimPolicy::Greedy;
        if !is_plain || !is_greedy || !self.block_units.is_multiple_of(times * self.program_units) {
            return None;
        }
        let size = u64::from(times);
        let pslc = self.pslc.map(|pslc| super::PslcParams {
            fixed_pages: pslc.fixed_pages / size,
            dynamic_pages: pslc.dynamic_pages / size,
            ..pslc
        });
        Some(Self {
            pages: self.pages / size / unit_pages * unit_pages,
            block_units: self.block_units / times,
            buffer_pages: (self.buffer_pages / times as usize).max(1),
            pslc,
            ..self.clone()
        })
    }
}

impl Ftl {
    /// Takes over what writes left in a model of this new layer.
    ///
    /// # Panics
    /// If its parameters are no model of this layer's.
    pub fn enlarge(&mut self, model: &Self) {
        let times = self.params.block_units / model.params.block_units;
        let pages = model.params.pages as u32;
        assert!(
            u64::from(times) * u64::from(pages) <= self.params.pages && self.params.blocks == model.params.blocks,
            "a model is a fraction of the drive"
        );
        self.map.enlarge(&model.map, (times, model.params.block_units / self.params.flash_page_units));
        self.blocks = Blocks::enlarged(&model.blocks, &self.params, (times, pages));
        for (frontier, of_model) in self.frontiers.iter_mut().zip(&model.frontiers) {
            *frontier = of_model.enlarged(times, &self.params);
            if frontier.block != NONE {
                self.map.place_sections(&self.blocks.logs[frontier.block as usize], frontier.block, &self.params);
            }
        }
        let Collection { victim, ratio, due, victims, .. } = model.collection;
        // The pages before the cursor have moved away: passing them again changes nothing.
        self.collection = Collection { victim, ratio, due, victims, ..Collection::default() };
        self.pslc = model.pslc.as_ref().zip(self.params.pslc).map(|(pslc, params)| {
            let mut enlarged = Pslc::new(params, self.params.pages);
            enlarged.enlarge(pslc, (times, pages));
            enlarged
        });
        self.counters = model.counters.enlarged(u64::from(times));
        self.clock = model.clock * u64::from(times);
        self.used_pages = model.used_pages * u64::from(times);
        self.write_protected = model.write_protected;
        let sections = |page: u32| (0..times).map(move |section| section * pages + page);
        self.buffer =
            model.buffer.iter().flat_map(|(page, units)| sections(*page).map(|page| (page, *units))).collect();
        while self.buffer.len() > self.params.buffer_pages {
            self.place_oldest(&mut Untimed);
        }
        // Fewer pages than one mapping unit per section remain: they are written if the model's last page was.
        if model.map.get(pages - 1) != UNMAPPED {
            for page in u64::from(times) * u64::from(pages)..self.params.pages {
                self.write(page, PAGE_UNITS, &mut Untimed);
            }
        }
    }
}

impl Map {
    /// Entries of `times` sections: in each, pages lie `step` flash pages after those of the section before it.
    fn enlarge(&mut self, model: &Self, (times, step): (u32, u32)) {
        let pages = model.pages() as usize;
        let first: Vec<u32> = (0..model.pages())
            .map(|page| {
                let entry = model.get(page);
                let (block, flash_page) = model.split(entry & !DIRTY);
                if entry & !DIRTY == UNMAPPED { entry } else { self.join(block, flash_page) | entry & DIRTY }
            })
            .collect();
        for (section, entries) in (0..times).zip(self.entries_mut().chunks_exact_mut(pages)) {
            for (to, entry) in entries.iter_mut().zip(&first) {
                let after = if entry & !DIRTY == UNMAPPED { 0 } else { section * step };
                *to = Self::stored(entry + after);
            }
        }
    }

    /// Places the pages in the log of an open block, whose sections are shorter than those of full blocks.
    fn place_sections(&mut self, log: &[u32], block: u32, params: &FtlParams) {
        for (position, page) in (0_u32..).zip(log) {
            let entry = self.get(*page);
            if entry & !DIRTY != UNMAPPED && self.block_of(entry & !DIRTY) == block {
                let flash_page = position * PAGE_UNITS / params.flash_page_units;
                self.set(*page, self.join(block, flash_page) | entry & DIRTY);
            }
        }
    }
}

impl Frontier {
    fn enlarged(&self, times: u32, params: &FtlParams) -> Self {
        if self.block == NONE {
            return Self::nowhere(params);
        }
        let filled = self.filled * times;
        let (flash_page, pass) = (filled / params.flash_page_units, filled / params.program_units);
        Self {
            block: self.block,
            filled,
            flash_page,
            page_end: (flash_page + 1) * params.flash_page_units,
            pass,
            pass_end: (pass + 1) * params.program_units,
            // Sum of birth times: `times` as many units, each `times` as late.
            born: self.born * f64::from(times) * f64::from(times),
        }
    }
}

impl FtlCounters {
    /// Scales the counters to `times` the data in as many blocks.
    fn enlarged(self, times: u64) -> Self {
        Self {
            host: self.host * times,
            relocated: self.relocated * times,
            padding: self.padding * times,
            cached: self.cached * times,
            folded: self.folded * times,
            passes: self.passes * times,
            coalesced_pages: self.coalesced_pages * times,
            trimmed_pages: self.trimmed_pages * times,
            erases: self.erases,
            levelled: self.levelled,
        }
    }
}

#[cfg(test)]
mod tests;
