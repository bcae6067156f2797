//! Flash translation: where every logical page lies, and which blocks are collected.
//!
//! A pure state machine without time: it is told what is written and trimmed, in order, and says through
//! [`FlashWork`] what the flash has to do. The same writes give the same mapping whether somebody times them or not,
//! so that a drive can be preconditioned fast.
//!
//! Space is counted in units of 16 bytes, so that compressed pages of any size can be packed. A *block* is what is
//! erased in one go: the same-numbered blocks of all dies (a superblock), less the parity.
//!
//! Write amplification of greedy collection under uniform random writes is that of Xiang and Kurkoski
//! (arXiv 1110.4245) within 3 %; see `docs/models/ssd.md` and `crates/drives/tests/ftl_theory.rs`.
//!
//! Leaves out: mapping tables that do not fit into memory, read disturb and refresh, and data that is lost.

mod blocks;
mod check;
mod collect;
mod compact;
mod heat;
mod map;
mod wear;

pub use blocks::State;
pub use check::{Broken, Placement};
pub use wear::Endurance;

use std::collections::VecDeque;

use blocks::Blocks;
use collect::Collection;
use map::{DIRTY, Map, UNMAPPED};

/// Bytes of a logical page.
pub const PAGE: u64 = 4096;
/// Bytes of a unit of space.
pub const UNIT: u64 = 16;
/// Units of a page that does not compress.
pub const PAGE_UNITS: u32 = (PAGE / UNIT) as u32;

/// How a block is chosen for collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimPolicy {
    /// The block with the least valid data.
    Greedy,
    /// The same among this many of the oldest blocks (Hu et al., SYSTOR 2009).
    WindowedGreedy(u32),
    /// The block with the highest (1 - u) / (2 u) x age, u its share of valid data (Rosenblum and Ousterhout 1992).
    CostBenefit,
}

/// What is kept in blocks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separation {
    /// Nothing: host and relocated data share a block.
    None,
    /// Data of the host, and data that was relocated.
    Relocated,
    /// The same, and host data that was overwritten soon after it was written.
    HotCold,
}

/// A translation layer.
#[derive(Clone, Debug)]
pub struct FtlParams {
    /// Logical pages of 4 KiB.
    pub pages: u64,
    /// Blocks, without those held in reserve for bad ones.
    pub blocks: u32,
    /// Blocks held in reserve.
    pub spare_blocks: u32,
    /// Space of a block for data, in units.
    pub block_units: u32,
    /// Space of a flash page, in units.
    pub flash_page_units: u32,
    /// What is programmed in one pass, in units.
    pub program_units: u32,
    /// Whether pages may be shorter than 4 KiB.
    pub compressed: bool,
    /// How blocks are chosen for collection.
    pub victims: VictimPolicy,
    /// What is kept apart.
    pub separation: Separation,
    /// Collection in the foreground begins when no more blocks than this are free.
    pub free_low: u32,
    /// Collection in the background goes on until so many blocks are free.
    pub free_high: u32,
    /// Pages that the write buffer holds before the oldest is placed.
    pub buffer_pages: usize,
    /// Cold data is moved once the erase counts of two blocks are this far apart.
    pub wear_gap: Option<u32>,
    /// When blocks wear out.
    pub endurance: Option<Endurance>,
}

impl FtlParams {
    /// Bytes of memory that the layer takes: of the map once pages are written at random, of the logs of its blocks too
    /// once all have been written (`filled`).
    pub fn memory(&self, filled: bool) -> u64 {
        let blocks = u64::from(self.blocks + self.spare_blocks);
        let logs = if filled { u64::from(self.blocks) * u64::from(self.block_units / PAGE_UNITS) * 4 } else { 0 };
        Map::memory(self) + blocks * Blocks::MEMORY + logs
    }
}

/// The system refused memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What was asked for.
    pub bytes: u64,
}

/// What the flash has to do, in order.
pub trait FlashWork {
    /// A pass of frontier number `frontier` is full: program number `pass` of `block`.
    fn program(&mut self, block: u32, pass: u32, frontier: usize);
    /// A flash page with valid data is read for relocation.
    fn read(&mut self, block: u32, flash_page: u32);
    /// All of `block` is erased.
    fn erase(&mut self, block: u32);
    /// A page is placed; its last byte is on the pass of its frontier that is programmed next.
    fn placed(&mut self, placement: &Placement) {
        let _ = placement;
    }
}

/// Nobody times it.
pub struct Untimed;

impl FlashWork for Untimed {
    #[inline]
    fn program(&mut self, _: u32, _: u32, _: usize) {}
    #[inline]
    fn read(&mut self, _: u32, _: u32) {}
    #[inline]
    fn erase(&mut self, _: u32) {}
}

/// Counters since the drive was new, in units of 16 bytes unless the name says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FtlCounters {
    /// Host data placed, after compression and packing.
    pub host: u64,
    /// Data relocated.
    pub relocated: u64,
    /// Space left empty at the end of passes and blocks.
    pub padding: u64,
    /// Passes programmed.
    pub passes: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Pages overwritten while they were in the write buffer.
    pub coalesced_pages: u64,
    /// Pages trimmed that held data.
    pub trimmed_pages: u64,
    /// Blocks collected to level wear.
    pub levelled: u64,
}

/// Where data is appended.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    block: u32,
    /// Units filled.
    filled: u32,
    /// Flash page that comes next, and where it ends.
    flash_page: u32,
    page_end: u32,
    /// Pass that comes next, and where it ends.
    pass: u32,
    pass_end: u32,
    /// Sum over the units of the times at which the host wrote them; kept where hot and cold data are told apart.
    born: f64,
}

impl Frontier {
    /// At the beginning of `block`.
    fn begin(block: u32, params: &FtlParams) -> Self {
        let (page_end, pass_end) = (params.flash_page_units, params.program_units);
        Self { block, filled: 0, flash_page: 0, page_end, pass: 0, pass_end, born: 0.0 }
    }

    /// Nowhere: the first page that is appended takes a block.
    fn nowhere(params: &FtlParams) -> Self {
        Self { filled: params.block_units, ..Self::begin(NONE, params) }
    }

    /// `units` are appended; returns whether they end the pass.
    #[inline]
    fn fill(&mut self, units: u32, params: &FtlParams) -> bool {
        self.filled += units;
        if self.filled >= self.page_end {
            self.flash_page += 1;
            self.page_end += params.flash_page_units;
        }
        let ended = self.filled >= self.pass_end;
        if ended {
            self.pass += 1;
            self.pass_end += params.program_units;
        }
        ended
    }

    /// Fills up the pass; returns how many units were left in it.
    fn pad(&mut self, params: &FtlParams) -> u32 {
        let open = self.filled + params.program_units - self.pass_end;
        if self.block == NONE || open == 0 {
            return 0;
        }
        let rest = params.program_units - open;
        self.filled = self.pass_end;
        self.flash_page = self.filled / params.flash_page_units;
        self.page_end = (self.flash_page + 1) * params.flash_page_units;
        self.pass += 1;
        self.pass_end += params.program_units;
        rest
    }
}

/// Index of a frontier.
const HOST: usize = 0;
const RELOCATED: usize = 1;
const HOT: usize = 2;
const FRONTIERS: usize = 3;
/// No block.
const NONE: u32 = u32::MAX;

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

    /// The same where there may be no memory for it.
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
            counters: FtlCounters::default(),
            clock: 0,
            used_pages: 0,
            write_protected: false,
            params,
        })
    }

    /// What it was built with.
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
        self.blocks.wear()
    }

    /// Space filled in passes that are not programmed yet.
    pub fn open_units(&self) -> u64 {
        let pass = self.params.program_units;
        self.frontiers.iter().filter(|f| f.block != NONE).map(|f| u64::from(f.filled % pass)).sum()
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

    /// Units that `page` takes on flash.
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

    /// Takes a page of the host, of `units` after compression, into the write buffer; where that is full, its
    /// oldest page is placed on flash, and collection does its share. Returns whether the page was in the buffer.
    #[inline]
    pub fn write(&mut self, page: u64, units: u32, flash: &mut impl FlashWork) -> bool {
        let page = page as u32;
        let at = self.map.get(page);
        if at & DIRTY != 0 {
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

    /// Touches the map entries of pages that are written next: what they cost in memory latency overlaps.
    #[inline]
    pub fn touch(&self, pages: impl Iterator<Item = u64>) -> u32 {
        pages.fold(0, |sum, page| sum ^ self.map.get(page as u32))
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
        self.place_host(page, u32::from(units), flash);
    }

    /// Places everything in the write buffer and fills up the open passes of host data.
    pub fn drain(&mut self, flash: &mut impl FlashWork) {
        while !self.buffer.is_empty() {
            self.place_oldest(flash);
        }
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

    fn place_host(&mut self, page: u32, units: u32, flash: &mut impl FlashWork) {
        if self.frontiers[self.frontier_of_host(self.map.get(page) & !DIRTY)].filled + units > self.params.block_units {
            self.make_room(flash);
        }
        // Making room may have moved the page.
        let old = self.map.get(page) & !DIRTY;
        let no_room = self.blocks.free_count() == 0 && self.frontiers[HOST].filled + units > self.params.block_units;
        self.write_protected |= no_room;
        if self.write_protected {
            self.map.set(page, old);
            self.used_pages -= u64::from(old == UNMAPPED);
            return;
        }
        let which = self.frontier_of_host(old);
        self.invalidate(page, old);
        self.note_birth(which, units, self.clock);
        self.append(which, page, units, (old, false), flash);
        self.counters.host += u64::from(units);
        // Ages are counted in pages written, whatever they take on flash.
        self.clock += u64::from(PAGE_UNITS);
        self.collect_for(units, flash);
    }

    /// What lies at `old` is no longer valid.
    #[inline]
    fn invalidate(&mut self, page: u32, old: u32) {
        if old != UNMAPPED {
            self.blocks.remove(self.map.block_of(old), self.map.size(page));
        }
    }

    /// Appends a page to a frontier.
    #[inline]
    fn append(
        &mut self,
        which: usize,
        page: u32,
        units: u32,
        (old, relocated): (u32, bool),
        flash: &mut impl FlashWork,
    ) {
        if self.frontiers[which].filled + units > self.params.block_units {
            self.open(which, flash);
        }
        let Frontier { block, flash_page, pass, pass_end, .. } = self.frontiers[which];
        if block == NONE {
            return self.cannot_place(page);
        }
        let place = self.map.join(block, flash_page);
        let old_units = self.map.size(page);
        self.map.place(page, place, units);
        self.blocks.add(block, page, units);
        let placement = Placement { page, old, old_units, place, frontier: which, relocated };
        if !self.frontiers[which].fill(units, &self.params) {
            return flash.placed(&placement);
        }
        let straddles = self.frontiers[which].filled > pass_end;
        if !straddles {
            flash.placed(&placement);
        }
        self.programmed(block, pass, which, flash);
        if straddles {
            flash.placed(&placement);
        }
        self.close_if_full(which);
    }

    #[cold]
    fn cannot_place(&mut self, page: u32) {
        assert!(self.write_protected, "collection keeps a block free for every frontier");
        self.map.set(page, UNMAPPED);
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
        // What is in the write buffer is skipped when its turn comes.
        if at & !DIRTY != UNMAPPED {
            self.invalidate(page, at & !DIRTY);
        }
        self.map.set(page, UNMAPPED);
        self.used_pages -= 1;
        self.counters.trimmed_pages += 1;
        true
    }
}
