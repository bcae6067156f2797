//! The part of a mapping table that is in memory or on its way there, and its counters.

use hotband_machine::Counter;
use hotband_units::Span;

use crate::parts::ftl::{Ftl, Placement};
use crate::parts::map_cache::{Found, MapCache};
use crate::parts::nand::NandParams;
use crate::ssd::mapping::params::MappingParams;

/// The part of the table in memory, and the pages on their way there.
#[derive(Clone, Debug)]
pub struct Mapping {
    pub(super) params: MappingParams,
    cache: MapCache,
    /// Pages of the table known to have an entry: pages without one are not on flash.
    has_entries: Vec<bool>,
    /// Pages of the table that are being read, and the reads that wait for each; empty ones are free.
    loads: Vec<Load>,
    /// Time to read a page of the table.
    pub(super) reading: Span,
    /// Bytes of a pass that programs the table.
    pass_bytes: u64,
    /// Changed pages that left memory and do not fill a pass yet, in bytes.
    due: u64,
    /// Passes of the table that were programmed.
    passes: u64,
    counts: Counts,
}

#[derive(Clone, Debug)]
struct Load {
    page: u32,
    waiting: Vec<u32>,
}

/// Look-ups by location of the entry, and their effects.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    controller: u64,
    host: u64,
    flash: u64,
    /// Pages of the table read in the background.
    background_reads: u64,
    /// Changed pages that left memory.
    written: u64,
}

impl Counts {
    fn note(&mut self, lookup: Found) {
        match lookup {
            Found::Controller => self.controller += 1,
            Found::Host => self.host += 1,
            Found::Flash => self.flash += 1,
        }
    }
}

impl Mapping {
    /// Creates the table of a drive of this many logical pages, with nothing in memory.
    pub fn new(params: MappingParams, pages: u64, nand: &NandParams) -> Self {
        let pages = pages.div_ceil(params.covers) as u32;
        let &NandParams { quick, read, program_bytes, .. } = nand;
        Self {
            cache: MapCache::new(pages, params.controller_pages, params.host_pages),
            has_entries: vec![false; pages as usize],
            loads: Vec::new(),
            reading: quick.map_or(read, |quick| quick.read),
            pass_bytes: quick.map_or(program_bytes, |quick| quick.bytes),
            due: 0,
            passes: 0,
            counts: Counts::default(),
            params,
        }
    }

    /// Place of the entries of a page of the table; none for a page that is known to have no entries.
    pub(super) fn find(&mut self, page: u32, ftl: &Ftl) -> Option<Found> {
        let lookup = self.cache.ask(page, false);
        if lookup == Found::Flash && !self.has_entries[page as usize] {
            let covers = self.params.covers;
            let mut entries = u64::from(page) * covers..((u64::from(page) + 1) * covers).min(ftl.params().pages);
            if !entries.any(|page| ftl.is_buffered(page) || ftl.place_of(page).is_some()) {
                return None;
            }
            self.has_entries[page as usize] = true;
        }
        self.counts.note(lookup);
        Some(lookup)
    }

    /// Bytes programmed of the table.
    pub fn programmed_bytes(&self) -> u64 {
        self.passes * self.pass_bytes
    }

    /// Pages of the table that were read in addition to those for the host's reads.
    pub fn background_reads(&self) -> u64 {
        self.counts.background_reads
    }

    pub fn counters(&self) -> [Counter; 4] {
        let Counts { controller, host, flash, written, .. } = self.counts;
        [
            ("map_controller_hits", controller),
            ("map_host_hits", host),
            ("map_misses", flash),
            ("map_written_bytes", written * self.params.page_bytes),
        ]
    }

    pub fn levels(&self) -> [Counter; 1] {
        [("map_held_bytes", self.cache.held() * self.params.page_bytes)]
    }

    /// Looks for a page of the table that a read needs; one that is on flash alone is brought, and the read waits.
    /// Returns the number of the load if it has just begun.
    pub(super) fn await_page(&mut self, page: u32, index: u32) -> Option<u32> {
        if let Some(load) = self.loads.iter_mut().find(|load| load.page == page && !load.waiting.is_empty()) {
            load.waiting.push(index);
            return None;
        }
        if let Some(free) = self.loads.iter().position(|load| load.waiting.is_empty()) {
            self.loads[free].page = page;
            self.loads[free].waiting.push(index);
            return Some(free as u32);
        }
        self.loads.push(Load { page, waiting: vec![index] });
        Some(self.loads.len() as u32 - 1)
    }

    /// A page of the table is here: the reads that waited for it, and whether a changed one leaves memory for it.
    pub(super) fn take(&mut self, load: u32) -> (Vec<u32>, bool) {
        let load = &mut self.loads[load as usize];
        let (page, waiting) = (load.page, std::mem::take(&mut load.waiting));
        // A write may have brought it meanwhile.
        let left = if self.cache.ask(page, false) == Found::Flash { self.cache.bring(page, false) } else { None };
        (waiting, left.is_some())
    }

    /// The entry of a page changes: the page of the table that is read for it, if one is, and whether a changed one
    /// leaves memory for it.
    pub(super) fn change(&mut self, placement: &Placement) -> (Option<u32>, bool) {
        let page = (u64::from(placement.page) / self.params.covers) as u32;
        let lookup = self.cache.ask(page, true);
        self.counts.note(lookup);
        if lookup != Found::Flash {
            return (None, false);
        }
        let left = self.cache.bring(page, true);
        // Of what was never written there is nothing to read.
        let has_entries = std::mem::replace(&mut self.has_entries[page as usize], true) || placement.replaces();
        self.counts.background_reads += u64::from(has_entries);
        (has_entries.then_some(page), left.is_some())
    }

    /// A changed page leaves memory: the number of the pass that it fills, if it does.
    pub(super) fn write_back(&mut self) -> Option<u64> {
        self.counts.written += 1;
        self.due += self.params.page_bytes;
        if self.due < self.pass_bytes {
            return None;
        }
        self.due -= self.pass_bytes;
        self.passes += 1;
        Some(self.passes)
    }
}
