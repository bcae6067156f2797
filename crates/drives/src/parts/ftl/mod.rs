//! Flash translation: where every logical page lies, and which blocks are collected.
//!
//! A pure state machine without time: it receives writes and trims in order, and returns the work of the flash
//! through [`FlashWork`]. The same writes give the same mapping whether somebody times them or not,
//! so that a drive can be preconditioned fast.
//!
//! Space is counted in units of 16 bytes, so that compressed pages of any size can be packed. A *block* is what is
//! erased in one go: the same-numbered blocks of all dies (a superblock), less the parity.
//!
//! Write amplification of greedy collection under uniform random writes is that of Xiang and Kurkoski
//! (arXiv 1110.4245) within 3 %; see `docs/models/ssd.md` and `crates/drives/tests/integration/ftl_theory.rs`.
//!
//! Leaves out: mapping tables that do not fit into memory, read disturb and refresh, and data that is lost.

mod blocks;
mod bounds;
mod check;
mod collect;
mod compact;
mod contents;
mod counters;
mod enlarge;
mod frontier;
mod heat;
mod in_place;
mod map;
mod params;
mod pslc;
mod run;
mod victim;
mod wear;
mod work;

pub use blocks::State;
pub use check::Broken;
pub use counters::FtlCounters;
pub use frontier::FRONTIERS;
pub use map::Refused;
pub use params::{FtlParams, PAGE, PAGE_UNITS, PslcParams, Separation, UNIT, VictimPolicy, WhenFull};
pub use wear::Endurance;
pub use work::{FlashWork, Placement, Untimed};

use std::collections::VecDeque;

use blocks::{Blocks, NONE};
use frontier::{Frontier, HOST, HOT};
use map::{DIRTY, Map, UNMAPPED};
use pslc::Pslc;
use victim::Collection;
use work::Origin;

/// The translation layer of one drive.
#[derive(Debug)]
pub struct Ftl {
    params: FtlParams,
    map: Map,
    blocks: Blocks,
    frontiers: [Frontier; FRONTIERS],
    /// Pages in the write buffer, oldest first, and their sizes.
    buffer: VecDeque<(u32, u16)>,
    collection: Collection,
    pslc: Option<Pslc>,
    counters: FtlCounters,
    /// Host pages placed, in units before compression: the clock of ages.
    clock: u64,
    /// Pages that hold data, in the write buffer or on flash.
    used_pages: u64,
    write_protected: bool,
}

impl Ftl {
    /// A new drive: nothing is written, every block is erased.
    ///
    /// # Panics
    /// Where `try_new` does, or if the system refuses the memory.
    pub fn new(params: FtlParams) -> Self {
        Self::try_new(params).expect("memory for the map of a drive")
    }

    /// Like `new`, but reports insufficient memory.
    ///
    /// # Errors
    /// The system refuses the memory.
    ///
    /// # Panics
    /// If the blocks cannot hold the logical pages and the free blocks that collection needs; parameters are checked
    /// when a drive is read.
    pub fn try_new(params: FtlParams) -> Result<Self, Refused> {
        let room = u64::from(params.blocks) * u64::from(params.block_units);
        assert!(params.pages * u64::from(PAGE_UNITS) < room, "a drive has more flash than it shows");
        assert!(params.block_units.is_multiple_of(params.program_units), "a block is programmed in whole passes");
        let nowhere = Frontier::nowhere(&params);
        Ok(Self {
            map: Map::new(&params)?,
            blocks: Blocks::new(&params),
            frontiers: [nowhere; FRONTIERS],
            buffer: VecDeque::with_capacity(params.buffer_pages + 1),
            collection: Collection::default(),
            pslc: params.pslc.map(|pslc| Pslc::new(pslc, params.pages)),
            counters: FtlCounters::default(),
            clock: 0,
            used_pages: 0,
            write_protected: false,
            params,
        })
    }

    /// Bytes of memory that a layer of these parameters takes: of the map once pages are written at random, of the logs
    /// of its blocks too once all have been written (`filled`).
    pub fn memory(params: &FtlParams, filled: bool) -> u64 {
        let blocks = u64::from(params.blocks + params.spare_blocks);
        let logs = if filled { u64::from(params.blocks) * u64::from(params.block_units / PAGE_UNITS) * 4 } else { 0 };
        Map::memory(params) + blocks * Blocks::MEMORY + logs
    }

    /// Parameters that it was built with.
    pub fn params(&self) -> &FtlParams {
        &self.params
    }

    /// Counters since the drive was new.
    pub fn counters(&self) -> &FtlCounters {
        &self.counters
    }

    /// Whether so many blocks are worn out that the drive takes no more writes.
    pub fn is_write_protected(&self) -> bool {
        self.write_protected
    }

    /// Blocks that are erased and not in use.
    pub fn free_blocks(&self) -> u32 {
        self.blocks.free_count()
    }

    /// Pages that hold data.
    pub fn used_pages(&self) -> u64 {
        self.used_pages
    }

    /// Mean and highest erase count, and blocks that were retired.
    pub fn wear(&self) -> (f64, u64, u64) {
        if self.params.in_place {
            return (self.times_written(), self.times_written().ceil() as u64, 0);
        }
        self.blocks.wear()
    }

    /// Space filled in passes that are not programmed yet.
    pub fn open_units(&self) -> u64 {
        let pass = self.params.program_units;
        self.frontiers.iter().filter(|f| f.block != NONE).map(|f| u64::from(f.filled % pass)).sum::<u64>()
            + self.open_cache_units()
    }

    /// Where `page` lies: its block and its flash page; none if it was never written, or is in the write buffer
    /// (see [`Ftl::is_buffered`]).
    #[inline]
    pub fn place_of(&self, page: u64) -> Option<(u32, u32)> {
        let at = self.map.get(page as u32) & !DIRTY;
        (at != UNMAPPED).then(|| self.map.split(at))
    }

    /// Whether the newest data of `page` is in the write buffer.
    #[inline]
    pub fn is_buffered(&self, page: u64) -> bool {
        self.map.get(page as u32) & DIRTY != 0
    }

    /// Units of `page` on flash.
    #[inline]
    pub fn size_of(&self, page: u64) -> u32 {
        self.map.size(page as u32)
    }

    /// Whether pass number `pass` of `block` was handed to the flash.
    #[inline]
    pub fn is_programmed(&self, block: u32, pass: u32) -> bool {
        let open = self.frontiers.iter().find(|frontier| frontier.block == block);
        open.is_none_or(|frontier| pass < frontier.pass)
    }

    /// Takes a page of the host, of `units` after compression, into the write buffer; if that is full, its
    /// oldest page is placed on flash, and collection does its share. Returns whether the page was in the buffer.
    #[inline]
    pub fn write(&mut self, page: u64, units: u32, flash: &mut impl FlashWork) -> bool {
        let page = page as u32;
        let at = self.map.get(page);
        if at & DIRTY != 0 && !self.leaves_cache(page) {
            self.counters.coalesced_pages += 1;
            return true;
        }
        self.used_pages += u64::from(at == UNMAPPED);
        self.map.set(page, at | DIRTY);
        self.buffer.push_back((page, units as u16));
        if self.buffer.len() > self.params.buffer_pages {
            self.place_oldest(flash);
        }
        false
    }

    /// Touches the map entries of pages that are written next, so that their memory latencies overlap.
    #[inline]
    pub fn touch(&self, pages: impl Iterator<Item = u64> + Clone) {
        self.map.touch(pages.map(|page| page as u32));
    }

    /// Pages in the write buffer.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// Places the oldest page of the write buffer, if there is one.
    #[inline]
    pub fn place_oldest(&mut self, flash: &mut impl FlashWork) {
        let Some((page, units)) = self.buffer.pop_front() else { return };
        if self.map.get(page) & DIRTY == 0 {
            // It was trimmed, or written again after that and placed already.
            return;
        }
        if self.pslc.is_none() || !self.place_in_cache(page, flash) {
            self.place_host(page, u32::from(units), flash);
        }
    }

    /// Whether the newest data of `page` was in the pseudo-SLC cache, in which it is old now.
    #[inline]
    fn leaves_cache(&mut self, page: u32) -> bool {
        self.pslc.as_mut().is_some_and(|pslc| pslc.forget(page))
    }

    /// Places everything in the write buffer and fills up the open passes of host data.
    pub fn drain(&mut self, flash: &mut impl FlashWork) {
        while !self.buffer.is_empty() {
            self.place_oldest(flash);
        }
        self.pad_cache(flash);
        for which in [HOST, HOT] {
            self.pad_pass(which, flash);
        }
    }

    fn pad_pass(&mut self, which: usize, flash: &mut impl FlashWork) {
        let Frontier { block, pass, .. } = self.frontiers[which];
        let rest = self.frontiers[which].pad(&self.params);
        if rest > 0 {
            self.counters.padding += u64::from(rest);
            self.programmed(block, pass, which, flash);
            self.close_if_full(which);
        }
    }

    #[inline]
    fn place_host(&mut self, page: u32, units: u32, flash: &mut impl FlashWork) {
        if self.params.in_place {
            return self.place_in_place(page, flash);
        }
        let mut old = self.map.get(page) & !DIRTY;
        let mut which = self.frontier_of_host(old);
        if !self.has_room(which, units) {
            self.make_room(flash);
            // That may have moved the page.
            old = self.map.get(page) & !DIRTY;
            which = self.frontier_of_host(old);
        }
        self.write_protected |= self.blocks.free_count() == 0 && !self.has_room(HOST, units);
        if self.write_protected {
            self.map.set(page, old);
            self.used_pages -= u64::from(old == UNMAPPED);
            return;
        }
        self.invalidate(page, old);
        self.note_birth(which, units, self.clock);
        self.append(which, page, units, Origin::Host(old), flash);
        self.counters.host += u64::from(units);
        // Ages are counted in pages written, whatever they take on flash.
        self.clock += u64::from(PAGE_UNITS);
        self.collect_for(units, flash);
    }

    /// Whether the block of a frontier has room for `units` more.
    #[inline]
    fn has_room(&self, which: usize, units: u32) -> bool {
        self.frontiers[which].filled + units <= self.params.block_units
    }

    /// Data at `old` is no longer valid.
    #[inline]
    fn invalidate(&mut self, page: u32, old: u32) {
        if old != UNMAPPED {
            self.blocks.remove(self.map.block_of(old), self.map.size(page));
        }
    }

    /// Appends a page to a frontier.
    #[inline]
    fn append(&mut self, which: usize, page: u32, units: u32, from: Origin, flash: &mut impl FlashWork) {
        if !self.has_room(which, units) {
            self.open(which, flash);
        }
        let Frontier { block, flash_page, .. } = self.frontiers[which];
        if block == NONE {
            return self.cannot_place(page, from);
        }
        let physical = self.map.join(block, flash_page);
        let relocated = matches!(from, Origin::Relocated(_));
        let old_units = self.map.size(page);
        let placement = Placement { page, old: from.place(), old_units, place: physical, frontier: which, relocated };
        self.map.place(page, physical | from.kept(), units);
        self.blocks.add(block, page, units);
        if self.frontiers[which].fill(units, &self.params) {
            self.end_pass(&placement, flash);
        } else {
            flash.placed(&placement);
        }
    }

    /// The page that was placed ends a pass; its rest, if it has one, is the first of the next.
    fn end_pass(&mut self, placement: &Placement, flash: &mut impl FlashWork) {
        let which = placement.frontier;
        let Frontier { block, filled, pass, pass_end, .. } = self.frontiers[which];
        let straddles = filled > pass_end - self.params.program_units;
        if !straddles {
            flash.placed(placement);
        }
        self.programmed(block, pass - 1, which, flash);
        if straddles {
            flash.placed(placement);
        }
        self.close_if_full(which);
    }

    #[cold]
    fn cannot_place(&mut self, page: u32, from: Origin) {
        assert!(self.write_protected, "collection keeps a block free for every frontier");
        self.map.set(page, UNMAPPED | from.kept());
        self.used_pages -= 1;
    }

    fn programmed(&mut self, block: u32, pass: u32, which: usize, flash: &mut impl FlashWork) {
        self.counters.passes += 1;
        flash.program(block, pass, which);
    }

    /// A block with no room left becomes one that can be collected.
    #[inline]
    fn close_if_full(&mut self, which: usize) {
        let Frontier { block, filled, born, .. } = self.frontiers[which];
        if filled == self.params.block_units {
            self.frontiers[which].block = NONE;
            self.blocks.close(block, self.clock, (born / f64::from(filled)) as u64);
        }
    }

    /// Closes the block of a frontier, which has no room for the next page, and takes a free one.
    #[cold]
    fn open(&mut self, which: usize, flash: &mut impl FlashWork) {
        let Frontier { block, filled, pass, .. } = self.frontiers[which];
        if block != NONE {
            // Compressed pages do not fill a block exactly.
            let rest = self.params.block_units - filled;
            self.counters.padding += u64::from(rest);
            self.frontiers[which].filled = self.params.block_units;
            self.programmed(block, pass, which, flash);
            self.close_if_full(which);
        }
        let free = self.blocks.take_free();
        self.frontiers[which] = match free {
            Some(block) => Frontier::begin(block, &self.params),
            None => Frontier::nowhere(&self.params),
        };
        self.keep_logs_short();
    }

    /// `page` is not needed any more; returns whether it held data.
    #[inline]
    pub fn trim(&mut self, page: u64) -> bool {
        let page = page as u32;
        let at = self.map.get(page);
        if at == UNMAPPED {
            return false;
        }
        self.leaves_cache(page);
        // What is in the write buffer is skipped when its turn comes.
        if at & !DIRTY != UNMAPPED && !self.params.in_place {
            self.invalidate(page, at & !DIRTY);
        }
        self.map.set(page, UNMAPPED);
        self.used_pages -= 1;
        self.counters.trimmed_pages += 1;
        true
    }
}
