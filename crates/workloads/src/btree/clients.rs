//! Clients: each issues one operation after the other, as YCSB's threads do.

use std::cmp::Reverse;

use hotband_units::Span;

use crate::app::Ended;
use crate::btree::cache;
use crate::btree::spec::Operation;
use crate::btree::state::{BTree, Client, Step, Timer};

impl BTree {
    /// The next operation of a client begins: it first needs a processor.
    pub(super) fn begin(&mut self, index: u32) {
        let operation = self.keys.operation();
        let record = if operation == Operation::Insert { 0 } else { self.keys.record() };
        let wanted = if operation == Operation::Scan { self.keys.scan_length() } else { 1 };
        let client = &mut self.clients[index as usize];
        *client = Client { operation, began: self.now, record, wanted, ..Client::default() };
        self.compute(index, Span(self.shape.cpu.0.saturating_mul(u64::from(wanted))));
    }

    /// A client gets `time` of the processor that is free first, first come first served.
    fn compute(&mut self, index: u32, time: Span) {
        let free = self.processors.pop().map_or(self.now, |Reverse(free)| free.max(self.now));
        let end = free + time;
        if self.spec.clients > self.spec.processors {
            self.processors.push(Reverse(end));
        }
        self.later(end, Timer::Client(index));
    }

    /// A client continues as far as it can.
    pub(super) fn run(&mut self, index: u32) {
        loop {
            let client = self.clients[index as usize];
            match client.step {
                Step::Index if client.operation == Operation::Insert => {
                    let record = self.keys.records;
                    if !self.touch(index, self.keys.index_page(record, 0)) {
                        return;
                    }
                    let client = &mut self.clients[index as usize];
                    (client.record, client.step) = (record, Step::Data);
                }
                Step::Index => {
                    if !self.touch(index, self.keys.index_page(client.record, client.seen)) {
                        return;
                    }
                    self.clients[index as usize].step = Step::Data;
                }
                Step::Data if client.operation == Operation::Insert => {
                    let page = self.keys.data_page(self.keys.records);
                    if (page as usize) < self.pages.len() && !self.touch(index, page) {
                        return;
                    }
                    self.clients[index as usize].step = Step::Change;
                }
                Step::Data => {
                    let record = self.keys.following(client.record, client.seen);
                    if !self.touch(index, self.keys.data_page(record)) || !self.seen(index) {
                        return;
                    }
                }
                Step::Change => {
                    let changed = match client.operation {
                        Operation::Insert => self.insert(index),
                        _ => self.update(index),
                    };
                    if !changed {
                        return;
                    }
                }
                Step::Answer => {
                    self.answer(index);
                    return;
                }
            }
        }
    }

    /// A client has seen a record; whether it continues at once.
    fn seen(&mut self, index: u32) -> bool {
        let client = &mut self.clients[index as usize];
        client.seen += 1;
        match client.operation {
            Operation::Scan if client.seen < client.wanted => client.step = Step::Index,
            Operation::Update => client.step = Step::Change,
            Operation::ReadModifyWrite => {
                // YCSB sends the update when it has the answer to the read.
                client.step = Step::Change;
                self.compute(index, self.shape.cpu);
                return false;
            }
            _ => client.step = Step::Answer,
        }
        true
    }

    /// Looks at a page for a client; false while it is not in the cache.
    fn touch(&mut self, index: u32, page: u32) -> bool {
        let waited = std::mem::take(&mut self.clients[index as usize].waited);
        let slot = self.pages[page as usize].cached;
        if slot != cache::NONE && !self.cache.has(slot, cache::flag::READING) {
            self.cache.set(slot, cache::flag::REFERENCED);
            self.counts.hits += u64::from(!waited);
            return true;
        }
        let slot = if slot == cache::NONE {
            self.counts.misses += 1;
            self.read(page)
        } else {
            self.counts.joined += 1;
            slot
        };
        let first = std::mem::replace(&mut self.cache.slots[slot as usize].waiter, index);
        let client = &mut self.clients[index as usize];
        (client.next_waiter, client.waited) = (first, true);
        false
    }

    /// Whether a page is in the cache; one that is being read is not.
    fn is_cached(&self, page: u32) -> bool {
        let slot = self.pages[page as usize].cached;
        slot != cache::NONE && !self.cache.has(slot, cache::flag::READING)
    }

    /// Changes the record of a client; false while that has to wait.
    fn update(&mut self, index: u32) -> bool {
        let page = self.keys.data_page(self.clients[index as usize].record);
        if !self.is_cached(page) && !self.touch(index, page) {
            return false;
        }
        let bytes = self.shape.update_bytes;
        if !self.has_room(&[page], bytes) {
            self.stall(index);
            return false;
        }
        self.dirty(page);
        self.journal_change(index, bytes)
    }

    /// Adds a record behind the last one, and its key to the index; false while that has to wait.
    fn insert(&mut self, index: u32) -> bool {
        let page = self.keys.data_page(self.keys.records);
        let entry = self.keys.index_page(self.clients[index as usize].record, 0);
        let new = page as usize == self.pages.len();
        if new && self.is_full() {
            self.counts.refused_inserts += 1;
            self.begin(index);
            return false;
        }
        if !self.is_cached(entry) || (!new && !self.is_cached(page)) {
            // Both were there, and one had to make room since.
            self.clients[index as usize].step = Step::Index;
            return true;
        }
        let bytes = self.shape.insert_bytes;
        if !self.has_room(&[page, entry], bytes) {
            self.stall(index);
            return false;
        }
        if new {
            self.add_page();
        }
        self.keys.records += 1;
        self.dirty(page);
        self.dirty(entry);
        self.journal_change(index, bytes)
    }

    /// Writes a change to the journal; returns whether the client's operation completes at once.
    fn journal_change(&mut self, index: u32, bytes: u64) -> bool {
        self.clients[index as usize].step = Step::Answer;
        self.append(bytes);
        if self.spec.wait_for_journal {
            self.journal.waiting.push_back((self.journal.head, index));
            self.commit();
        }
        !self.spec.wait_for_journal
    }

    fn stall(&mut self, index: u32) {
        let client = &mut self.clients[index as usize];
        self.counts.stalls += u64::from(!client.stalled);
        client.stalled = true;
        self.stalled.push_back(index);
        self.relieve();
    }

    /// There may be room again: clients that waited longest continue first.
    pub(super) fn wake_stalled(&mut self) {
        for _ in 0..self.stalled.len() {
            let Some(index) = self.stalled.pop_front() else { return };
            let waiting = self.stalled.len();
            self.run(index);
            if self.stalled.len() > waiting && self.stalled.back() == Some(&index) {
                self.stalled.pop_back();
                self.stalled.push_front(index);
                return;
            }
        }
    }

    /// A client's operation is complete, and it issues the next.
    fn answer(&mut self, index: u32) {
        let client = self.clients[index as usize];
        let operation = self.reported[client.operation as usize];
        self.ended.push(Ended { operation, began: client.began, ended: self.now });
        self.begin(index);
    }
}
