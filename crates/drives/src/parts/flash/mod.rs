//! A flash read cache inside a disk: hot blocks of the media, copied into flash, never the only copy.
//!
//! The disk asks about every random read. Reads are counted by region, and the counts fade. Now and then the regions are
//! ranked: as many as fit into the flash are hot until the next ranking. A block that is read in a hot region is
//! promoted: its data comes from the media read that is made for the host anyway, drawn out to the whole
//! block, and is programmed into the flash after it. Promotions are rationed, for the sake of wear; a block of a hotter
//! region takes the place of one of a colder. A write drops what it overlaps.
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

/// A block in the flash, or on its way there.
#[derive(Clone, Copy, Debug)]
struct Slot {
    block: u32,
    held: bool,
    /// When its data can be read; never while the media read is still to come.
    ready: Instant,
}

/// What the flash does for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashRead {
    /// Answers it: begins at the first time, is done at the second.
    Hit(Instant, Instant),
    /// Not held; the media read is to be drawn out to these sectors, which the flash will take.
    Promote(u64, u64),
    /// Not held.
    Miss,
}

/// A flash read cache.
#[derive(Clone, Debug)]
pub struct Flash {
    params: FlashParams,
    block_shift: u32,
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
    /// When each lane is free.
    lanes: Vec<Instant>,
    ration: Ration,
    began: Option<Instant>,
    /// Blocks that are held and written.
    valid: u64,
    /// Blocks that wait for their media read.
    filling: u64,
    /// The disk has this many whole blocks; what is left of a last one is never held.
    end: u32,
    /// What it counted so far.
    pub counters: FlashCounters,
}

/// Slots that are looked at for the coldest.
const CANDIDATES: usize = 8;
impl Flash {
    /// An empty cache for a disk of `sectors` sectors.
    pub fn new(params: FlashParams, sectors: u64) -> Self {
        let most = (params.size / (params.block_sectors * SECTOR)).max(1) as usize;
        Self {
            block_shift: params.block_sectors.trailing_zeros(),
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

    /// `first..end` drawn out to whole blocks.
    pub fn whole_blocks(&self, first: u64, end: u64) -> (u64, u64) {
        let (blocks, size) = (self.blocks(first, end), self.params.block_sectors);
        (u64::from(blocks.start) * size, u64::from(blocks.end) * size)
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
        if let Some(hit) = self.hit(now, blocks.clone(), (end - first) * SECTOR) {
            return hit;
        }
        self.counters.misses += 1;
        let (mut from, mut to) = (None, None);
        for block in blocks {
            let sector = u64::from(block) * self.params.block_sectors;
            if self.may_promote(now, block) && self.heat.is_hot(sector) && self.make_room(now, block) {
                from = from.or(Some(block));
                to = Some(block + 1);
            }
        }
        let size = self.params.block_sectors;
        match (from, to) {
            (Some(from), Some(to)) => {
                FlashRead::Promote(first.min(u64::from(from) * size), end.max(u64::from(to) * size))
            }
            _ => FlashRead::Miss,
        }
    }

    /// The answer, if every block is held.
    #[inline]
    fn hit(&mut self, now: Instant, blocks: std::ops::Range<u32>, bytes: u64) -> Option<FlashRead> {
        let held = |block: u32| self.index.get(&block).is_some_and(|slot| self.slots[*slot as usize].ready <= now);
        if !{ blocks }.all(held) {
            return None;
        }
        self.counters.hits += 1;
        self.counters.hit_bytes += bytes;
        let took = self.params.read_latency + self.params.read_rate.time_for(bytes);
        let (from, to) = self.book(now, took);
        Some(FlashRead::Hit(from, to))
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

    /// Whether the ration lets in `block`, which is not there yet. Asked before the heat, which is far to fetch.
    #[inline]
    fn may_promote(&self, now: Instant, block: u32) -> bool {
        self.ration.lets_in(now) && block < self.end && !self.index.contains_key(&block)
    }

    /// Reserves a slot for `block`, where there is one.
    fn make_room(&mut self, now: Instant, block: u32) -> bool {
        let slot = Slot { block, held: true, ready: Instant::NEVER };
        let place = if let Some(free) = self.free.pop() {
            self.slots[free as usize] = slot;
            free
        } else if self.slots.len() < self.most {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let heat = self.heat_of(block);
            let Some(coldest) = self.coldest(now, heat) else { return false };
            self.drop_slot(coldest);
            self.counters.evictions += 1;
            self.free.pop();
            self.slots[coldest as usize] = slot;
            coldest
        };
        self.index.insert(block, place);
        let bytes = self.params.block_sectors * SECTOR;
        self.ration.promoted(now, bytes);
        self.counters.promoted_bytes += bytes;
        self.filling += 1;
        true
    }

    /// Reads of the region of a block.
    #[inline]
    fn heat_of(&mut self, block: u32) -> u8 {
        self.heat.at(u64::from(block) * self.params.block_sectors)
    }

    /// Of a few slots the one whose region was read least, if that is less than `heat`.
    fn coldest(&mut self, now: Instant, heat: u8) -> Option<u32> {
        let mut best: Option<(u8, u32)> = None;
        for _ in 0..CANDIDATES.min(self.slots.len()) {
            self.hand = (self.hand + 1) % self.slots.len();
            let slot = self.slots[self.hand];
            let have = self.heat_of(slot.block);
            if slot.held && slot.ready <= now && have < best.map_or(heat, |(least, _)| least) {
                best = Some((have, self.hand as u32));
            }
        }
        best.map(|(_, slot)| slot)
    }

    fn drop_slot(&mut self, place: u32) {
        let slot = &mut self.slots[place as usize];
        slot.held = false;
        self.index.remove(&slot.block);
        let filling = slot.ready == Instant::NEVER;
        self.filling -= u64::from(filling);
        self.valid -= u64::from(!filling);
        self.free.push(place);
    }

    /// A media read of `first..end` is over: blocks that waited for it are programmed.
    #[inline]
    pub fn fill(&mut self, now: Instant, first: u64, end: u64) {
        if self.filling > 0 {
            self.fill_blocks(now, first, end);
        }
    }

    /// Whether a block waits for its media read.
    pub fn is_filling(&self) -> bool {
        self.filling > 0
    }

    fn fill_blocks(&mut self, now: Instant, first: u64, end: u64) {
        let size = self.params.block_sectors;
        for block in self.blocks(first, end) {
            let whole = u64::from(block) * size >= first && (u64::from(block) + 1) * size <= end;
            let Some(&place) = self.index.get(&block).filter(|_| whole) else { continue };
            if self.slots[place as usize].ready == Instant::NEVER {
                let bytes = size * SECTOR;
                let (_, ready) = self.book(now, self.params.write_rate.time_for(bytes));
                self.slots[place as usize].ready = ready;
                self.counters.written_bytes += bytes;
                self.filling -= 1;
                self.valid += 1;
            }
        }
    }

    /// A write of `first..end` arrives: what it overlaps is no longer held, and its regions are half as hot. What is
    /// written as often as it is read (parity, logs) is not worth the wear.
    #[inline]
    pub fn write(&mut self, first: u64, end: u64) {
        self.heat.write(first, end);
        self.forget(first, end);
    }

    /// What `first..end` overlaps is no longer held.
    #[inline]
    pub fn forget(&mut self, first: u64, end: u64) {
        if self.index.is_empty() {
            return;
        }
        for block in self.blocks(first, end) {
            if let Some(&place) = self.index.get(&block) {
                self.drop_slot(place);
                self.ration.dropped(self.params.block_sectors * SECTOR);
                self.counters.invalidations += 1;
            }
        }
    }

    /// Whether a read was ever looked up.
    pub fn was_asked(&self) -> bool {
        self.began.is_some()
    }

    /// Bytes that the host can read from the flash, or will once they are programmed.
    pub fn used_bytes(&self) -> u64 {
        self.valid * self.params.block_sectors * SECTOR
    }

    /// Cold while it holds nothing; warming until regions were ranked twice and a whole minute has promoted less than a
    /// quarter of the ration beyond what writes dropped; warm from then on, also where nothing is hot.
    pub fn warmth(&self, now: Instant) -> Warmth {
        let began = self.began.unwrap_or(now);
        let settled = now.since(began).0 >= 2 * self.params.ranking.0 && self.ration.is_hardly_used(now);
        match (self.valid, settled) {
            (0, false) => Warmth::Cold,
            (_, false) => Warmth::Warming,
            (_, true) => Warmth::Warm,
        }
    }
}

#[cfg(test)]
mod tests;
