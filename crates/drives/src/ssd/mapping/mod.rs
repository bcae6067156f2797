//! A mapping table that does not fit into memory: what a look-up costs.
//!
//! A read whose entry is with the controller goes on at once; one whose entry is in the memory that the host lends goes on
//! after a round trip over PCI Express; else the page of the table is read from its die first, and whoever asks for the
//! same page meanwhile waits for the same read. Entries change when pages are placed: the page of the table is brought
//! in the background where it is not there, and written when it leaves memory.
//!
//! The table lies in the pseudo-SLC cells where the drive has such cells (sabrent.com/blogs/storage/mapping), its pages
//! dealt out to the dies in turn.
//!
//! Leaves out: trims as changes, look-ups of writes that begin within a page, journals of changes, and the table after a
//! loss of power.

mod params;

pub use params::MappingParams;
pub(super) use params::read_mapping;

use std::ops::Range;

use hotband_machine::{Command, Counter};
use hotband_units::{Instant, Span};

use crate::parts::ftl::{Ftl, PAGE, Placement};
use crate::parts::map_cache::{Found, MapCache};
use crate::parts::nand::{Job, NandParams};
use crate::ssd::Ssd;
use crate::ssd::params::SsdParams;
use crate::ssd::slot::Event;
use crate::ssd::work::Timed;

/// The part of the table that is in memory, and what is on its way there.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    params: MappingParams,
    cache: MapCache,
    /// Pages of the table that have an entry, as far as anybody asked: what has none is not on flash.
    has_entries: Vec<bool>,
    /// Pages of the table that are being read, and the reads that wait for each; empty ones are free.
    loads: Vec<Load>,
    /// Time to read a page of the table.
    reading: Span,
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

/// Look-ups, by where the entry was, and what they caused.
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
    fn note(&mut self, found: Found) {
        match found {
            Found::Controller => self.controller += 1,
            Found::Host => self.host += 1,
            Found::Flash => self.flash += 1,
        }
    }
}

impl Mapping {
    /// Nothing is in memory.
    pub fn new(params: MappingParams, of: &SsdParams) -> Self {
        let pages = of.ftl.pages.div_ceil(params.covers) as u32;
        let NandParams { quick, read, program_bytes, .. } = of.nand;
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

    /// Where the entries of a page of the table are; one without any is known to be so, and nowhere.
    fn find(&mut self, page: u32, ftl: &Ftl) -> Option<Found> {
        let found = self.cache.ask(page, false);
        if found == Found::Flash && !self.has_entries[page as usize] {
            let covers = self.params.covers;
            let mut entries = u64::from(page) * covers..((u64::from(page) + 1) * covers).min(ftl.params().pages);
            if !entries.any(|page| ftl.is_buffered(page) || ftl.place_of(page).is_some()) {
                return None;
            }
            self.has_entries[page as usize] = true;
        }
        self.counts.note(found);
        Some(found)
    }

    /// Bytes programmed of the table.
    pub fn programmed_bytes(&self) -> u64 {
        self.passes * self.pass_bytes
    }

    /// Pages of the table that were read beside those of the host's reads.
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
    /// Returns the number of the load where it has just begun.
    fn await_page(&mut self, page: u32, index: u32) -> Option<u32> {
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
}

impl Ssd {
    /// Looks up the entries of a read at `at`, then asks the flash for its data.
    // Out of line: drives that hold their table do not pay for it.
    #[cold]
    pub(super) fn look_up(&mut self, index: u32, at: Instant, pages: Range<u64>) {
        let Some(mapping) = self.work.mapping.as_deref_mut() else { return };
        let (mut ready, mut parts, mut begun) = (at, 0, Vec::new());
        let covers = mapping.params.covers;
        for page in (pages.start / covers) as u32..pages.end.div_ceil(covers) as u32 {
            match mapping.find(page, &self.ftl) {
                None | Some(Found::Controller) => {}
                Some(Found::Host) => ready = at + mapping.params.host_latency,
                Some(Found::Flash) => {
                    parts += 1;
                    begun.extend(mapping.await_page(page, index).map(|load| (load, page)));
                }
            }
        }
        let reading = mapping.reading;
        for (load, page) in begun {
            let die = page % self.params.nand.dies;
            let read = self.nand.read_one(at, die, page / self.params.nand.dies, reading);
            self.push(read, Event::Table(load, Some(die)));
        }
        self.slots[index as usize].parts = parts;
        if parts == 0 {
            self.slots[index as usize].asked = ready;
            self.read_data(index, ready, pages);
        }
    }

    /// A page of the table that `die` has read crosses the channel; without die, it is in the controller, and the reads that
    /// waited for it go on.
    #[cold]
    pub(super) fn go_on_with_table(&mut self, at: Instant, load: u32, die: Option<u32>) {
        let Some(mapping) = self.work.mapping.as_deref_mut() else { return };
        if let Some(die) = die {
            let here = self.nand.cross(at, die, mapping.params.page_bytes);
            return self.push(here, Event::Table(load, None));
        }
        let load = &mut mapping.loads[load as usize];
        let (page, waiting) = (load.page, std::mem::take(&mut load.waiting));
        // A write may have brought it meanwhile.
        let left = if mapping.cache.ask(page, false) == Found::Flash { mapping.cache.bring(page, false) } else { None };
        if left.is_some() {
            let account = self.account.as_deref_mut();
            Timed { nand: &mut self.nand, queue: &mut self.work, account, now: at }.write_table_page();
        }
        for index in waiting {
            let slot = &mut self.slots[index as usize];
            slot.parts -= 1;
            if slot.parts == 0 {
                slot.asked = at;
                let Command { offset, len, .. } = slot.command;
                self.read_data(index, at, offset / PAGE..(offset + u64::from(len)).div_ceil(PAGE));
            }
        }
    }
}

impl Timed<'_> {
    /// The entry of a page changes: it was placed.
    pub(super) fn change_entry(&mut self, placement: &Placement) {
        let Some(mapping) = self.queue.mapping.as_deref_mut() else { return };
        let page = (u64::from(placement.page) / mapping.params.covers) as u32;
        let found = mapping.cache.ask(page, true);
        mapping.counts.note(found);
        if found != Found::Flash {
            return;
        }
        let left = mapping.cache.bring(page, true);
        // Of what was never written there is nothing to read.
        if std::mem::replace(&mut mapping.has_entries[page as usize], true) || placement.replaces() {
            mapping.counts.background_reads += 1;
            let die = page % self.nand.params().dies;
            self.nand.queue(self.now, die, Job::Read(1));
        }
        if left.is_some() {
            self.write_table_page();
        }
    }

    /// A page of the table with changes leaves memory: a pass is programmed for as many as fill it.
    fn write_table_page(&mut self) {
        let Some(mapping) = self.queue.mapping.as_deref_mut() else { return };
        mapping.counts.written += 1;
        mapping.due += mapping.params.page_bytes;
        if mapping.due < mapping.pass_bytes {
            return;
        }
        mapping.due -= mapping.pass_bytes;
        mapping.passes += 1;
        let die = (mapping.passes % u64::from(self.nand.params().dies)) as u32;
        let number = self.queue.issue();
        let job = if self.nand.params().quick.is_some() { Job::Quick(number) } else { Job::Program(number) };
        self.nand.queue(self.now, die, job);
    }
}
