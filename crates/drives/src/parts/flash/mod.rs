//! A flash read cache inside a disk: hot blocks of the media, copied into flash, never the only copy.
//!
//! The disk asks about every random read. Reads are counted by region, and the counts fade. Now and then the regions
//! are ranked: as many as fit into the flash are hot until the next ranking. A block that is read in a hot region is
//! promoted: its data comes from the media read that is made for the host anyway, drawn out to the whole
//! block, and is programmed into the flash after it. Promotions are rationed, for the sake of wear; a block of a hotter
//! region takes the place of one of a colder. A write drops the pages that it overlaps, no more of their block: flash
//! is mapped and programmed by pages. Once it is on the media its data, which is still in memory, takes their place;
//! if it does not, the next read of such a page brings it back.
//!
//! Counting by region is ours: a count for each of 900,000 regions of 1 MiB fits a drive's memory, one for each block
//! hardly would. Ranking from time to time fits a drive of 2013, which began to promote after about three minutes.
//!
//! Leaves out: the layout inside the flash (programming is sequential, so that no garbage collection of its own is
//! needed), the loss of the map when power is cut (it starts cold), and reads that are partly in flash (they go to
//! the media whole).

mod counters;
mod params;
mod ration;

pub use counters::FlashCounters;
pub use params::FlashParams;

use std::collections::HashMap;

use hotband_machine::Warmth;
use hotband_units::{Instant, Span};
use rustc_hash::FxBuildHasher;

use super::geometry::SECTOR;
use super::heat::Heat;
use ration::Ration;

/// A block in the flash, or on its way there. Pages are bits, the first page the lowest.
#[derive(Clone, Copy, Debug)]
struct Slot {
    block: u32,
    held: bool,
    /// Programmed, or being programmed.
    pages: u64,
    /// Their media read is still to come.
    filling: u64,
    /// Were held until a write came that is not on the media yet.
    rewritten: u64,
    /// Not to be read before `ready`: being programmed.
    fresh: u64,
    ready: Instant,
}

impl Slot {
    /// Readable pages among the requested ones.
    #[inline]
    fn readable(&self, now: Instant) -> u64 {
        if self.ready <= now { self.pages } else { self.pages & !self.fresh }
    }
}

/// Work of the flash for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashRead {
    /// Served from flash, from the first time to the second.
    Hit(Instant, Instant),
    /// Not held; the media read is extended to these sectors, which the flash will store.
    Promote(u64, u64),
    /// The cache does not hold the data.
    Miss,
}

/// A flash read cache.
#[derive(Clone, Debug)]
pub struct Flash {
    params: FlashParams,
    block_shift: u32,
    /// Sectors per page, the unit that a write drops.
    page_sectors: u64,
    /// Slot of each block.
    index: HashMap<u32, u32, FxBuildHasher>,
    slots: Vec<Slot>,
    most: usize,
    free: Vec<u32>,
    hand: usize,
    /// Reads of each region, halved with every ageing time.
    heat: Heat,
    period_ends: Instant,
    ranked_next: Instant,
    /// Time when each lane is free.
    lanes: Vec<Instant>,
    ration: Ration,
    began: Option<Instant>,
    /// Pages that are held and written.
    valid: u64,
    /// Pages that wait for their media read.
    filling: u64,
    /// Number of whole blocks of the disk; a partial last block is never cached.
    end: u32,
    /// Counters so far.
    pub counters: FlashCounters,
}

/// Slots that are examined for the coldest.
const CANDIDATES: usize = 8;
/// Pages of a block at most: each is a bit.
const MOST_PAGES: u64 = 64;
/// Sectors of a page at least: 4 KiB, the unit of the map in caches of flash (Facebook's flashcache, EnhanceIO) and in
/// translation layers, and of writes to a 512e disk.
const LEAST_PAGE: u64 = 8;

impl Flash {
    /// An empty cache for a disk of `sectors` sectors.
    pub fn new(params: FlashParams, sectors: u64) -> Self {
        let most = (params.size / (params.block_sectors * SECTOR)).max(1) as usize;
        Self {
            block_shift: params.block_sectors.trailing_zeros(),
            page_sectors: LEAST_PAGE.max(params.block_sectors / MOST_PAGES).min(params.block_sectors),
            index: HashMap::default(),
            slots: Vec::new(),
            most,
            free: Vec::new(),
            hand: 0,
            heat: Heat::new(sectors, params.region_sectors),
            period_ends: Instant(params.ageing.0),
            ranked_next: Instant::NEVER,
            lanes: vec![Instant::ZERO; params.lanes],
            ration: Ration::new(params.promotion_rate),
            began: None,
            valid: 0,
            filling: 0,
            end: (sectors / params.block_sectors) as u32,
            counters: FlashCounters::default(),
            params,
        }
    }

    #[inline]
    fn blocks(&self, first: u64, end: u64) -> std::ops::Range<u32> {
        // Blocks are a power of two: the catalog is checked for that.
        let size = self.params.block_sectors;
        (first >> self.block_shift) as u32..((end + size - 1) >> self.block_shift) as u32
    }

    /// `first..end` drawn out to whole pages.
    pub fn whole_pages(&self, first: u64, end: u64) -> (u64, u64) {
        // Pages are a power of two, as blocks are.
        (first & !(self.page_sectors - 1), end.next_multiple_of(self.page_sectors))
    }

    /// Pages of `block` that `first..end` touches.
    #[inline]
    fn touched(&self, block: u32, first: u64, end: u64) -> u64 {
        let (from, to) = self.whole_pages(first, end);
        self.within(block, from, to)
    }

    /// Pages of `block` that lie in `first..end` whole.
    #[inline]
    fn within(&self, block: u32, first: u64, end: u64) -> u64 {
        let (begin, size) = (u64::from(block) * self.params.block_sectors, self.params.block_sectors);
        let from = first.saturating_sub(begin).min(size).div_ceil(self.page_sectors);
        let to = end.saturating_sub(begin).min(size) / self.page_sectors;
        let below = |page: u64| if page >= 64 { u64::MAX } else { (1 << page) - 1 };
        below(to) & !below(from)
    }

    /// Every page of a block.
    fn whole(&self) -> u64 {
        u64::MAX >> (64 - self.params.block_sectors / self.page_sectors)
    }

    fn page_bytes(&self) -> u64 {
        self.page_sectors * SECTOR
    }

    /// A random read of `first..end`: whether the flash has it, and whether it is to have it.
    #[inline]
    pub fn read(&mut self, now: Instant, first: u64, end: u64) -> FlashRead {
        if end - first > self.params.largest_sectors {
            return FlashRead::Miss;
        }
        self.heat.read(first, end);
        self.keep_time(now);
        let blocks = self.blocks(first, end);
        if let Some(hit) = self.hit(now, first, end) {
            return hit;
        }
        self.counters.misses += 1;
        let (mut from, mut to) = (first, end);
        let mut promotes = false;
        for block in blocks {
            let pages = self.promote(now, block, first, end);
            if pages != 0 {
                let begin = u64::from(block) * self.params.block_sectors;
                from = from.min(begin + u64::from(pages.trailing_zeros()) * self.page_sectors);
                to = to.max(begin + u64::from(64 - pages.leading_zeros()) * self.page_sectors);
                promotes = true;
            }
        }
        if promotes { FlashRead::Promote(from, to) } else { FlashRead::Miss }
    }

    /// The answer, if every page is held.
    #[inline]
    fn hit(&mut self, now: Instant, first: u64, end: u64) -> Option<FlashRead> {
        let held = |block: u32| {
            let slot = self.index.get(&block).map(|slot| &self.slots[*slot as usize]);
            slot.is_some_and(|slot| self.touched(block, first, end) & !slot.readable(now) == 0)
        };
        if !self.blocks(first, end).all(held) {
            return None;
        }
        let bytes = (end - first) * SECTOR;
        self.counters.hits += 1;
        self.counters.hit_bytes += bytes;
        let took = self.params.read_latency + self.params.read_rate.time_for(bytes);
        let (from, to) = self.book(now, took);
        Some(FlashRead::Hit(from, to))
    }

    /// Chooses the part of a missed block to store in flash: all of it if none is held, else the pages of the read that
    /// a write has dropped. Returns it as bits.
    fn promote(&mut self, now: Instant, block: u32, first: u64, end: u64) -> u64 {
        // The ration is asked before the heat, which is far to fetch.
        if !self.ration.lets_in(now) || block >= self.end {
            return 0;
        }
        let held = self.index.get(&block).copied();
        let pages = held.map_or(self.whole(), |number| {
            let slot = &self.slots[number as usize];
            self.touched(block, first, end) & !(slot.pages | slot.filling)
        });
        if pages == 0 || !self.heat.is_hot(u64::from(block) * self.params.block_sectors) {
            return 0;
        }
        let Some(number) = held.or_else(|| self.make_room(now, block)) else { return 0 };
        self.slots[number as usize].filling |= pages;
        let count = u64::from(pages.count_ones());
        self.filling += count;
        self.ration.promoted(now, count * self.page_bytes());
        self.counters.promoted_bytes += count * self.page_bytes();
        pages
    }

    /// Takes the lane that is free first.
    fn book(&mut self, at: Instant, took: Span) -> (Instant, Instant) {
        let lane = self.lanes.iter_mut().min().expect("a flash cache has a lane");
        let from = at.max(*lane);
        *lane = from + took;
        (from, *lane)
    }

    /// Ranks the regions: those that are hot fit into the flash.
    fn rank(&mut self) {
        let most = self.most * self.params.block_sectors as usize / self.params.region_sectors as usize;
        self.heat.rank(most.max(1), self.params.hot_reads);
    }

    /// Ranks regions, fades their counts and ends minutes.
    #[inline]
    fn keep_time(&mut self, now: Instant) {
        if self.began.is_none() {
            (self.began, self.ranked_next) = (Some(now), now + self.params.ranking);
        }
        if now >= self.ranked_next {
            self.rank();
            self.ranked_next = now + self.params.ranking;
        }
        while now >= self.period_ends {
            self.heat.fade();
            self.period_ends += self.params.ageing;
        }
        self.ration.keep_time(now);
    }

    /// Reserves a slot for `block`, if there is one.
    fn make_room(&mut self, now: Instant, block: u32) -> Option<u32> {
        let slot = Slot { block, held: true, pages: 0, filling: 0, rewritten: 0, fresh: 0, ready: Instant::ZERO };
        let number = if let Some(free) = self.free.pop() {
            self.slots[free as usize] = slot;
            free
        } else if self.slots.len() < self.most {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let heat = self.heat_of(block);
            let coldest = self.coldest(now, heat)?;
            self.drop_slot(coldest);
            self.counters.evictions += 1;
            self.free.pop();
            self.slots[coldest as usize] = slot;
            coldest
        };
        self.index.insert(block, number);
        Some(number)
    }

    /// Reads of the region of a block.
    #[inline]
    fn heat_of(&mut self, block: u32) -> u8 {
        self.heat.at(u64::from(block) * self.params.block_sectors)
    }

    /// The slot, of a few, whose region was read least, if that is less than `heat`.
    fn coldest(&mut self, now: Instant, heat: u8) -> Option<u32> {
        let mut best: Option<(u8, u32)> = None;
        for _ in 0..CANDIDATES.min(self.slots.len()) {
            self.hand = (self.hand + 1) % self.slots.len();
            let slot = self.slots[self.hand];
            let have = self.heat_of(slot.block);
            if slot.held && slot.filling == 0 && slot.ready <= now && have < best.map_or(heat, |(least, _)| least) {
                best = Some((have, self.hand as u32));
            }
        }
        best.map(|(_, slot)| slot)
    }

    /// Gives up the slot of a block.
    fn drop_slot(&mut self, place: u32) {
        let slot = &mut self.slots[place as usize];
        slot.held = false;
        self.index.remove(&slot.block);
        self.valid -= u64::from(slot.pages.count_ones());
        self.filling -= u64::from(slot.filling.count_ones());
        self.free.push(place);
    }

    /// A media read of `first..end` is over: pages that waited for it are programmed.
    #[inline]
    pub fn fill(&mut self, now: Instant, first: u64, end: u64) {
        if self.filling > 0 {
            self.fill_blocks(now, first, end);
        }
    }

    /// Whether a page waits for its media read.
    pub fn is_filling(&self) -> bool {
        self.filling > 0
    }

    fn fill_blocks(&mut self, now: Instant, first: u64, end: u64) {
        for block in self.blocks(first, end) {
            let Some(&place) = self.index.get(&block) else { continue };
            let pages = self.slots[place as usize].filling & self.within(block, first, end);
            if pages != 0 {
                self.slots[place as usize].filling &= !pages;
                self.filling -= u64::from(pages.count_ones());
                self.program(now, place, pages);
            }
        }
    }

    /// A lane programs pages of a slot.
    fn program(&mut self, now: Instant, place: u32, pages: u64) {
        let count = u64::from(pages.count_ones());
        let bytes = count * self.page_bytes();
        let (_, ready) = self.book(now, self.params.write_rate.time_for(bytes));
        let slot = &mut self.slots[place as usize];
        // What is still being programmed waits for the later of the two.
        slot.fresh = if slot.ready > now { slot.fresh | pages } else { pages };
        slot.ready = slot.ready.max(ready);
        slot.pages |= pages;
        self.counters.written_bytes += bytes;
        self.valid += count;
    }

    /// A write of `first..end` arrives: the pages that it overlaps are no longer held, and its regions are less hot by
    /// one. Data written as often as it is read (parity, logs) is not worth the wear.
    #[inline]
    pub fn write(&mut self, first: u64, end: u64) {
        self.heat.write(first, end);
        if self.index.is_empty() {
            return;
        }
        for block in self.blocks(first, end) {
            let Some(&place) = self.index.get(&block) else { continue };
            let dropped = self.drop_pages(place, self.touched(block, first, end));
            if dropped != 0 {
                self.slots[place as usize].rewritten |= dropped;
                self.counters.invalidations += 1;
            }
        }
    }

    /// A write of `first..end` is on the media. For pages that were held until now and that it covers completely, the
    /// new data is programmed, within the ration: it is in memory now, and costs the flash what the next read would.
    #[inline]
    pub fn landed(&mut self, now: Instant, first: u64, end: u64) {
        if self.index.is_empty() {
            return;
        }
        for block in self.blocks(first, end) {
            let Some(&place) = self.index.get(&block) else { continue };
            let touched = self.touched(block, first, end);
            let held = self.slots[place as usize].rewritten & touched | self.drop_pages(place, touched);
            let pages = held & self.within(block, first, end);
            let slot = &mut self.slots[place as usize];
            slot.rewritten &= !touched;
            let empty = slot.pages | slot.filling | slot.rewritten == 0;
            let hot = pages != 0 && self.heat.is_hot(u64::from(block) * self.params.block_sectors);
            if hot && self.ration.lets_in(now) {
                let bytes = u64::from(pages.count_ones()) * self.page_bytes();
                self.ration.promoted(now, bytes);
                self.counters.promoted_bytes += bytes;
                self.program(now, place, pages);
            } else if empty {
                self.drop_slot(place);
            }
        }
    }

    /// Drops pages of a slot; returns those that it held.
    fn drop_pages(&mut self, place: u32, pages: u64) -> u64 {
        let slot = &mut self.slots[place as usize];
        let (held, awaited) = (slot.pages & pages, slot.filling & pages);
        slot.pages &= !pages;
        slot.filling &= !pages;
        self.valid -= u64::from(held.count_ones());
        self.filling -= u64::from(awaited.count_ones());
        let dropped = held | awaited;
        if dropped != 0 {
            self.ration.dropped(u64::from(dropped.count_ones()) * self.page_bytes());
        }
        dropped
    }

    /// Whether a read was ever looked up.
    pub fn was_asked(&self) -> bool {
        self.began.is_some()
    }

    /// Bytes that the host can read from the flash, or will once they are programmed.
    pub fn used_bytes(&self) -> u64 {
        self.valid * self.page_bytes()
    }

    /// Cold while it holds nothing; warming until regions were ranked twice and a whole minute has promoted no more
    /// than a quarter of the ration, and a tenth of what it holds, beyond what writes dropped; warm from then on, even
    /// if nothing is hot.
    pub fn warmth(&self, now: Instant) -> Warmth {
        let began = self.began.unwrap_or(now);
        let settled =
            now.since(began).0 >= 2 * self.params.ranking.0 && self.ration.is_hardly_used(now, self.used_bytes());
        match (self.valid, settled) {
            (0, false) => Warmth::Cold,
            (_, false) => Warmth::Warming,
            (_, true) => Warmth::Warm,
        }
    }
}

#[cfg(test)]
mod tests;
