//! Pages: read into the cache, changed there, and written to new places.

use hotband_machine::Op;

use crate::btree::cache::{self, flag};
use crate::btree::shape::{DATA, INTERNAL};
use crate::btree::state::{BTree, DATA_STREAM, Internal, Page, What};

/// Dirty pages that are passed over for being asked for again, at most, before one is written.
const CHANCES: u32 = 8;

impl BTree {
    /// Begins to read a page; returns its place in the cache.
    pub(super) fn read(&mut self, page: u32) -> u32 {
        let bytes = self.shape.bytes(page);
        self.make_room(bytes);
        let slot = self.cache.add(page, bytes, flag::READING);
        self.pages[page as usize].cached = slot;
        let file = &self.files[self.shape.file(page)];
        let (offset, len) = (file.offset(self.pages[page as usize].slot), file.extent());
        self.transfer(What::Read { slot }, DATA_STREAM, Op::Read, offset, len);
        slot
    }

    /// Takes clean pages out of the cache until this many bytes fit.
    fn make_room(&mut self, bytes: u64) {
        while self.cache.used + bytes > self.cache.size {
            let shape = &self.shape;
            let page = self.cache.drop_one(|page| shape.bytes(page));
            self.pages[page as usize].cached = cache::NONE;
            self.counts.dropped += 1;
        }
    }

    /// A page is in the cache: the operations that wait for it continue, the latest one first.
    pub(super) fn page_read(&mut self, slot: u32) {
        self.cache.clear(slot, flag::READING);
        let mut next = std::mem::replace(&mut self.cache.slots[slot as usize].waiter, cache::NONE);
        while next != cache::NONE {
            let client = next;
            next = std::mem::replace(&mut self.clients[client as usize].next_waiter, cache::NONE);
            self.run(client);
        }
    }

    /// Whether pages may be changed now: what is dirty stays below its share of the cache, every dirty page finds an
    /// extent when it is written, and the journal holds `journal` more bytes. A page that is yet to be added counts.
    pub(super) fn has_room(&mut self, pages: &[u32], journal: u64) -> bool {
        let (mut bytes, mut extents) = (0, [0; 3]);
        for &page in pages {
            let slot = self.pages.get(page as usize).map_or(cache::NONE, |page| page.cached);
            let flags = if slot == cache::NONE { 0 } else { self.cache.slots[slot as usize].flags };
            extents[self.shape.file(page)] += u64::from(flags & flag::DIRTY == 0);
            bytes += if flags & (flag::DIRTY | flag::WRITING) == 0 { self.shape.bytes(page) } else { 0 };
        }
        let most = (self.spec.dirty_trigger * self.cache.size as f64) as u64;
        let free =
            (0..3).all(|file| extents[file] == 0 || self.dirty_pages[file] + extents[file] <= self.files[file].count);
        if !free || !self.journal.holds(journal) {
            self.checkpoint.wanted = true;
            return false;
        }
        bytes == 0 || self.dirty_bytes + bytes <= most
    }

    /// Whether the file of the data has no room for one more page.
    pub(super) fn is_full(&self) -> bool {
        let data = self.pages.len() as u64 - self.shape.index_pages;
        let spare = u64::from(self.spec.write_depth + self.spec.eviction_threads + self.spec.clients);
        data + spare >= self.shape.areas[DATA].slots
    }

    /// Adds an empty page behind the last one.
    pub(super) fn add_page(&mut self) {
        let page = self.pages.len() as u32;
        let bytes = self.shape.bytes(page);
        self.make_room(bytes);
        let cached = self.cache.add(page, bytes, 0);
        self.pages.push(Page { slot: cache::NONE, since: 0, cached });
        if self.shape.parent(page) == self.internals.len() {
            self.internals.push(Internal { slot: cache::NONE });
        }
    }

    /// A page in the cache was changed.
    pub(super) fn dirty(&mut self, page: u32) {
        let slot = self.pages[page as usize].cached;
        let flags = self.cache.slots[slot as usize].flags;
        if flags & flag::DIRTY != 0 {
            return;
        }
        self.dirty_pages[self.shape.file(page)] += 1;
        if flags & flag::WRITING == 0 {
            self.dirty_bytes += self.shape.bytes(page);
        }
        self.cache.set(slot, flag::DIRTY);
        if flags & flag::QUEUED == 0 {
            self.cache.set(slot, flag::QUEUED);
            self.dirty_queue.push_back(slot);
        }
        self.relieve();
    }

    /// Evicts dirty pages if there are too many, and begins a checkpoint where one is wanted.
    pub(super) fn relieve(&mut self) {
        let target = (self.spec.dirty_target * self.cache.size as f64) as u64;
        // Beyond the trigger clients evict pages themselves.
        let most = self.spec.eviction_threads as usize + self.stalled.len();
        while self.dirty_bytes - self.writing_bytes > target && (self.evicting as usize) < most {
            let Some(slot) = self.oldest_dirty() else { break };
            self.write(slot, false);
        }
        self.begin_checkpoint_if_wanted();
    }

    /// The page that became dirty first, leaving out some that were requested since.
    fn oldest_dirty(&mut self) -> Option<u32> {
        let mut chances = CHANCES;
        for _ in 0..self.dirty_queue.len() {
            let slot = self.dirty_queue.pop_front()?;
            let flags = self.cache.slots[slot as usize].flags;
            if flags & flag::DIRTY == 0 {
                self.cache.clear(slot, flag::QUEUED);
                continue;
            }
            if flags & flag::WRITING != 0 || (flags & flag::REFERENCED != 0 && chances > 0) {
                chances = chances.saturating_sub(1);
                self.cache.clear(slot, flag::REFERENCED);
                self.dirty_queue.push_back(slot);
                continue;
            }
            self.cache.clear(slot, flag::QUEUED);
            return Some(slot);
        }
        None
    }

    /// Begins to write a dirty page to a new place.
    pub(super) fn write(&mut self, slot: u32, by_checkpoint: bool) {
        let page = self.cache.slots[slot as usize].page;
        let number = self.shape.file(page);
        let extent = self.files[number].allocate().expect("a page becomes dirty only if an extent is free for it");
        // A page that the running checkpoint has yet to write is written for it, whoever does it.
        let checkpoint = by_checkpoint || self.cache.has(slot, flag::CHECKPOINT);
        self.cache.clear(slot, flag::DIRTY | flag::CHECKPOINT);
        self.cache.set(slot, flag::WRITING);
        self.dirty_pages[number] -= 1;
        self.writing_bytes += self.shape.bytes(page);
        self.checkpoint.under_way += u32::from(checkpoint);
        if by_checkpoint {
            self.counts.checkpointed += 1;
        } else {
            self.counts.evicted += 1;
        }
        let evicts = !by_checkpoint;
        self.evicting += u32::from(evicts);
        let (offset, len) = (self.files[number].offset(extent), self.files[number].extent());
        self.transfer(What::Write { slot, place: extent, evicts, checkpoint }, DATA_STREAM, Op::Write, offset, len);
    }

    /// A page is at its new place; the old one is free, or kept for the last checkpoint.
    pub(super) fn page_written(&mut self, slot: u32, place: u32) {
        let page = self.cache.slots[slot as usize].page;
        let (file, bytes) = (self.shape.file(page), self.shape.bytes(page));
        let settled = self.checkpoint.settled;
        let entry = &mut self.pages[page as usize];
        match std::mem::replace(&mut entry.slot, place) {
            cache::NONE => {}
            // No checkpoint refers to it.
            old if entry.since == settled => self.files[file].release(old),
            old => self.files[file].keep(old),
        }
        entry.since = settled;
        self.checkpoint.change_parent(self.shape.parent(page));
        self.cache.clear(slot, flag::WRITING);
        self.writing_bytes -= bytes;
        if !self.cache.has(slot, flag::DIRTY) {
            self.dirty_bytes -= bytes;
        }
        if self.cache.has(slot, flag::HELD) {
            self.cache.clear(slot, flag::HELD);
            self.checkpoint.held -= 1;
            self.write(slot, true);
        }
        self.pump_checkpoint();
        self.wake_stalled();
        self.relieve();
    }

    /// An internal page is at its new place.
    pub(super) fn internal_written(&mut self, index: u32, place: u32) {
        let old = std::mem::replace(&mut self.internals[index as usize].slot, place);
        if old != cache::NONE {
            self.files[INTERNAL].keep(old);
        }
        self.checkpoint.under_way -= 1;
        self.pump_checkpoint();
    }
}
