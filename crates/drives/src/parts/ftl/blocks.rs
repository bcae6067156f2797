//! Blocks: what is in them, which are free, and which hold the least valid data.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use hotband_machine::Carrier;

use super::params::{FtlParams, PAGE_UNITS, VictimPolicy};
use super::wear::Limits;

/// Marks the absence of a block.
pub(super) const NONE: u32 = u32::MAX;

/// Use of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Erased.
    Free,
    /// Being written.
    Open,
    /// Full.
    Closed,
    /// Being collected.
    Victim,
    /// Held in reserve for bad ones.
    Spare,
    /// Worn out.
    Bad,
}

/// All states, in the order of their numbers.
const STATES: [State; 6] = [State::Free, State::Open, State::Closed, State::Victim, State::Spare, State::Bad];

/// One block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Units of valid data.
    pub live: u32,
    /// Valid pages.
    pub valid: u32,
    pub erases: u32,
    pub state: State,
    /// Mean time at which the host wrote the contents.
    pub born: u64,
    /// Neighbours among the closed blocks with about as much valid data.
    before: u32,
    after: u32,
    /// Neighbours in the order of closing.
    older: u32,
    newer: u32,
    /// The clock when it was closed.
    pub closed_at: u64,
}

/// Logs of the blocks of a model. A block of the drive consists of `times` copies of a log; each copy numbers its pages
/// `pages` higher. The logs take a fraction of the memory until a block is collected.
#[derive(Clone, Debug)]
struct Copies {
    logs: Vec<Vec<u32>>,
    times: u32,
    pages: u32,
}

impl Copies {
    fn of_block(&self, block: u32) -> impl Iterator<Item = u32> + '_ {
        let Self { logs, times, pages } = self;
        (0..*times).flat_map(move |section| logs[block as usize].iter().map(move |page| section * pages + page))
    }
}

/// Most lists of closed blocks by valid data.
const BUCKETS: u32 = 8192;

/// All blocks of a drive.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    pub all: Vec<Block>,
    /// Pages written to each block, in order; not all of them are still valid.
    pub logs: Vec<Vec<u32>>,
    /// Logs that closed blocks of an enlarged drive have in its model.
    copies: Option<Box<Copies>>,
    /// Erased blocks, the least worn first (dynamic wear levelling).
    free: BinaryHeap<Reverse<(u32, u32)>>,
    spares: Vec<u32>,
    /// Closed blocks by valid data: first and last of each list.
    buckets: Vec<(u32, u32)>,
    /// Every list before this one is empty.
    lowest: usize,
    bucket_shift: u32,
    /// Closed blocks in order of closing.
    oldest: u32,
    newest: u32,
    /// Entries in all logs.
    pub entries: u64,
    pub limits: Limits,
    pub bad: u32,
    erases: u64,
    pub most_erases: u32,
    block_units: u32,
}

impl Blocks {
    /// Bytes of a block without its log: itself, the head of its log, its place among the free ones.
    pub const MEMORY: u64 = (size_of::<Block>() + size_of::<Vec<u32>>() + size_of::<(u32, u32)>()) as u64;

    pub fn new(params: &FtlParams) -> Self {
        let count = params.blocks + params.spare_blocks;
        let bucket_shift = (0..32).find(|shift| params.block_units >> shift < BUCKETS).unwrap_or(31);
        let block = |state| Block {
            live: 0,
            valid: 0,
            erases: 0,
            state,
            born: 0,
            before: NONE,
            after: NONE,
            older: NONE,
            newer: NONE,
            closed_at: 0,
        };
        let states = (0..count).map(|n| if n < params.blocks { State::Free } else { State::Spare });
        Self {
            all: states.map(block).collect(),
            logs: vec![Vec::new(); count as usize],
            copies: None,
            free: (0..params.blocks).map(|n| Reverse((0, n))).collect(),
            spares: (params.blocks..count).rev().collect(),
            buckets: vec![(NONE, NONE); (params.block_units >> bucket_shift) as usize + 1],
            lowest: 0,
            bucket_shift,
            oldest: NONE,
            newest: NONE,
            entries: 0,
            limits: Limits::new(params.endurance),
            bad: 0,
            erases: 0,
            most_erases: 0,
            block_units: params.block_units,
        }
    }

    pub fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// Mean and highest erase count, and bad blocks.
    pub fn wear(&self) -> (f64, u64, u64) {
        (self.erases as f64 / self.all.len() as f64, u64::from(self.most_erases), u64::from(self.bad))
    }

    pub fn take_free(&mut self) -> Option<u32> {
        let Reverse((_, block)) = self.free.pop()?;
        self.all[block as usize].state = State::Open;
        let log = &mut self.logs[block as usize];
        if log.capacity() == 0 {
            log.reserve_exact((self.block_units / PAGE_UNITS) as usize);
        }
        Some(block)
    }

    /// A page is written to an open block.
    #[inline]
    pub fn add(&mut self, block: u32, page: u32, units: u32) {
        let entry = &mut self.all[block as usize];
        entry.live += units;
        entry.valid += 1;
        self.entries += 1;
        self.logs[block as usize].push(page);
    }

    /// Pages that follow one another are written to an open block, none of which is compressed.
    pub fn add_run(&mut self, block: u32, pages: Range<u32>) {
        let entry = &mut self.all[block as usize];
        entry.live += pages.len() as u32 * PAGE_UNITS;
        entry.valid += pages.len() as u32;
        self.entries += pages.len() as u64;
        self.logs[block as usize].extend(pages);
    }

    /// A page of a block is not valid any more.
    #[inline]
    pub fn remove(&mut self, block: u32, units: u32) {
        self.remove_pages(block, units, 1);
    }

    /// Pages of a block, this many units together, are no longer valid.
    #[inline]
    pub fn remove_pages(&mut self, block: u32, units: u32, pages: u32) {
        let entry = &mut self.all[block as usize];
        let before = entry.live >> self.bucket_shift;
        entry.live -= units;
        entry.valid -= pages;
        let after = entry.live >> self.bucket_shift;
        if before != after && entry.state == State::Closed {
            self.unlink(block, before as usize);
            self.link(block, after as usize);
        }
    }

    /// Pages of the victim, which is on no list, are moved away.
    #[inline]
    pub fn remove_from_victim(&mut self, block: u32, units: u32, pages: u32) {
        let entry = &mut self.all[block as usize];
        entry.live -= units;
        entry.valid -= pages;
    }

    #[inline]
    fn link(&mut self, block: u32, bucket: usize) {
        let (first, last) = self.buckets[bucket];
        let entry = &mut self.all[block as usize];
        (entry.before, entry.after) = (last, NONE);
        if last == NONE {
            self.buckets[bucket] = (block, block);
        } else {
            self.all[last as usize].after = block;
            self.buckets[bucket] = (first, block);
        }
        self.lowest = self.lowest.min(bucket);
    }

    #[inline]
    fn unlink(&mut self, block: u32, bucket: usize) {
        let Block { before, after, .. } = self.all[block as usize];
        match before {
            NONE => self.buckets[bucket].0 = after,
            _ => self.all[before as usize].after = after,
        }
        match after {
            NONE => self.buckets[bucket].1 = before,
            _ => self.all[after as usize].before = before,
        }
    }

    /// An open block is full.
    pub fn close(&mut self, block: u32, clock: u64, born: u64) {
        let newest = self.newest;
        let entry = &mut self.all[block as usize];
        (entry.state, entry.closed_at, entry.born) = (State::Closed, clock, born);
        (entry.older, entry.newer) = (newest, NONE);
        let bucket = entry.live >> self.bucket_shift;
        match newest {
            NONE => self.oldest = block,
            _ => self.all[newest as usize].newer = block,
        }
        self.newest = block;
        self.link(block, bucket as usize);
    }

    /// Returns a copy of a block's log.
    pub fn logged(&self, block: u32) -> Vec<u32> {
        let copies = self.copies.iter().flat_map(|copies| copies.of_block(block));
        self.logs[block as usize].iter().copied().chain(copies).collect()
    }

    /// Expands the log of a block from its copies before the log is read or written.
    pub fn write_out(&mut self, block: u32) {
        let Some(copies) = self.copies.as_mut().filter(|copies| !copies.logs[block as usize].is_empty()) else {
            return;
        };
        let mut log = Vec::with_capacity((self.block_units / PAGE_UNITS) as usize);
        log.extend(copies.of_block(block));
        copies.logs[block as usize] = Vec::new();
        self.logs[block as usize] = log;
    }

    /// A closed block becomes the victim.
    pub fn begin_collection(&mut self, block: u32) {
        self.write_out(block);
        let Block { live, older, newer, .. } = self.all[block as usize];
        self.unlink(block, (live >> self.bucket_shift) as usize);
        match older {
            NONE => self.oldest = newer,
            _ => self.all[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.all[newer as usize].older = older,
        }
        self.all[block as usize].state = State::Victim;
    }

    /// A block without valid data is erased; it is free again, or retired and replaced by a spare one.
    ///
    /// # Panics
    /// If it holds valid data.
    pub fn erase(&mut self, block: u32) {
        let log = &mut self.logs[block as usize];
        self.entries -= log.len() as u64;
        log.clear();
        log.shrink_to((self.block_units / PAGE_UNITS) as usize);
        let entry = &mut self.all[block as usize];
        assert!(entry.live == 0 && entry.valid == 0, "no block is erased while it holds valid data");
        entry.erases += 1;
        self.erases += 1;
        self.most_erases = self.most_erases.max(entry.erases);
        if self.limits.is_worn(block, entry.erases) {
            entry.state = State::Bad;
            self.bad += 1;
            self.logs[block as usize] = Vec::new();
            if let Some(spare) = self.spares.pop() {
                self.all[spare as usize].state = State::Free;
                self.free.push(Reverse((self.all[spare as usize].erases, spare)));
            }
        } else {
            entry.state = State::Free;
            self.free.push(Reverse((entry.erases, block)));
        }
    }

    /// The closed block to collect next.
    pub fn victim(&mut self, policy: VictimPolicy, clock: u64) -> Option<u32> {
        match policy {
            VictimPolicy::Greedy => {
                while self.buckets.get(self.lowest)?.0 == NONE {
                    self.lowest += 1;
                    if self.lowest == self.buckets.len() {
                        self.lowest = 0;
                        return None;
                    }
                }
                Some(self.buckets[self.lowest].0)
            }
            VictimPolicy::WindowedGreedy(window) => {
                self.by_age().take(window as usize).min_by_key(|block| self.all[*block as usize].live)
            }
            VictimPolicy::CostBenefit => {
                let worth = |block: &u32| {
                    let entry = &self.all[*block as usize];
                    let used = f64::from(entry.live) / f64::from(self.block_units);
                    (1.0 - used) / (2.0 * used).max(1e-9) * (clock - entry.closed_at + 1) as f64
                };
                let by_worth =
                    |first: &u32, second: &u32| worth(first).total_cmp(&worth(second)).then(second.cmp(first));
                self.by_age().max_by(by_worth)
            }
        }
    }

    /// The closed block that was erased least.
    pub fn least_worn(&self) -> Option<u32> {
        self.by_age().min_by_key(|block| self.all[*block as usize].erases)
    }

    /// Closed blocks, oldest first.
    pub fn by_age(&self) -> impl Iterator<Item = u32> + '_ {
        let next = |block: &u32| Some(self.all[*block as usize].newer).filter(|block| *block != NONE);
        std::iter::successors(Some(self.oldest).filter(|block| *block != NONE), next)
    }
}

impl Block {
    fn carry(&mut self, carrier: &mut Carrier) {
        let Self { live, valid, erases, state, born, before, after, older, newer, closed_at } = self;
        let mut number = STATES.iter().position(|have| have == state).expect("every state is listed") as u32;
        for field in [live, valid, erases, before, after, older, newer, &mut number] {
            carrier.word(field);
        }
        match STATES.get(number as usize) {
            Some(carried) => *state = *carried,
            None => carrier.refuse(),
        }
        carrier.number(born);
        carrier.number(closed_at);
    }
}

impl Blocks {
    pub fn carry(&mut self, carrier: &mut Carrier) {
        (0..self.all.len() as u32).for_each(|block| self.write_out(block));
        let Self {
            all,
            logs,
            copies: _,
            free,
            spares,
            buckets,
            lowest,
            bucket_shift: _,
            oldest,
            newest,
            entries,
            limits: _,
            bad,
            erases,
            most_erases,
            block_units: _,
        } = self;
        for block in all.iter_mut() {
            block.carry(carrier);
        }
        for log in logs.iter_mut() {
            carrier.words(log);
        }
        *free = carrier.pairs(free.iter().map(|Reverse(pair)| *pair)).into_iter().map(Reverse).collect();
        carrier.words(spares);
        *buckets = carrier.pairs(buckets.iter().copied());
        carrier.index(lowest);
        for field in [oldest, newest, bad, most_erases] {
            carrier.word(field);
        }
        carrier.number(entries);
        carrier.number(erases);
    }
}

impl Blocks {
    /// The same blocks with the valid data that was counted, closed ones in the order of their closing.
    pub fn restored(old: &Self, params: &FtlParams, live: &[u32], valid: &[u32]) -> Self {
        let mut blocks = old.clone();
        blocks.buckets.fill((NONE, NONE));
        (blocks.oldest, blocks.newest, blocks.lowest) = (NONE, NONE, 0);
        for (number, block) in blocks.all.iter_mut().enumerate() {
            (block.live, block.valid) = (live[number], valid[number]);
        }
        let closed: Vec<u32> = old.by_age().collect();
        for block in closed {
            let Block { closed_at, born, .. } = old.all[block as usize];
            blocks.close(block, closed_at, born);
        }
        debug_assert!(blocks.all.len() == (params.blocks + params.spare_blocks) as usize, "no block is lost");
        blocks
    }
}

impl Blocks {
    /// Whether every block number exists and every logged page is below `pages`.
    pub fn are_within_bounds(&self, pages: u64) -> bool {
        let Self { all, logs, free, spares, buckets, lowest, oldest, newest, .. } = self;
        let is_block = |block: u32| (block as usize) < all.len();
        let of_list = |block: &u32| *block == NONE || is_block(*block);
        let links = all.iter().flat_map(|block| [block.before, block.after, block.older, block.newer]);
        let ends = buckets.iter().flat_map(|(first, last)| [*first, *last]).chain([*oldest, *newest]);
        links.chain(ends).all(|block| of_list(&block))
            && buckets.len() == (self.block_units >> self.bucket_shift) as usize + 1
            && *lowest < buckets.len()
            && free.iter().all(|Reverse((_, block))| is_block(*block))
            && spares.iter().all(|block| is_block(*block))
            && all.iter().all(|block| block.live <= self.block_units)
            && logs.iter().flatten().all(|page| u64::from(*page) < pages)
    }

    /// Blocks made of `times` copies of those of a model, whose pages are numbered `pages` further in each.
    pub fn enlarged(model: &Self, params: &FtlParams, (times, pages): (u32, u32)) -> Self {
        let mut blocks = Self::new(params);
        for (block, of_model) in blocks.all.iter_mut().zip(&model.all) {
            let Block { live, valid, erases, state, .. } = *of_model;
            *block = Block { live: live * times, valid: valid * times, erases, state, ..block.clone() };
        }
        blocks.copies = Some(Box::new(Copies { logs: model.logs.clone(), times, pages }));
        let is_closed = |block: &u32| model.all[*block as usize].state == State::Closed;
        (0..blocks.all.len() as u32).filter(|block| !is_closed(block)).for_each(|block| blocks.write_out(block));
        let time = |of_model: u64| of_model * u64::from(times);
        for block in model.by_age() {
            let Block { closed_at, born, .. } = model.all[block as usize];
            blocks.close(block, time(closed_at), time(born));
        }
        let Self { free, spares, entries, bad, erases, most_erases, .. } = model;
        (blocks.free, blocks.spares) = (free.clone(), spares.clone());
        (blocks.entries, blocks.bad, blocks.erases, blocks.most_erases) = (time(*entries), *bad, *erases, *most_erases);
        blocks
    }
}

#[cfg(test)]
mod tests;
