//! Durability of writes: flushes, and saving changes of the map.
//!
//! A drive that reports no volatile cache (`wce = "off"`) gets no FLUSH: hosts know that acknowledged data is
//! durable (Linux drops it before the driver, block/blk-flush.c). Such a drive acknowledges from a protected buffer,
//! or, if that is not protected, once a write is on flash. With `wce = "on"` a FLUSH comes, and what it does is the
//! firmware's: `durable` takes a protected buffer at its word; `write-out` fills up the open passes, waits until they
//! are programmed, and saves the map's changes, as a drive without protection must.
//!
//! The map's changes are gathered in a page of memory. The write that fills it waits until the page is on flash.
//!
//! Linux has one FLUSH under way per device and sends those that come meanwhile as one, after it (block/blk-flush.c): what
//! is written during a flush becomes durable with the next one. So eight threads that write and flush get four times the
//! rate of one, not eight times. A drive does the same with writes that it must have on flash: those that come while it
//! programs and saves the map are the next group.
//!
//! Leaves out: dies that are busy with the page, and its share of what is written, which `mapping_overhead` has.

use hotband_machine::{Command, Done, Op, Times};
use hotband_units::Instant;

use crate::ssd::Ssd;
use crate::ssd::slot::Event;
use crate::ssd::tails::JournalParams;
use crate::ssd::work::Timed;

/// Position in the changes of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Writes until the page is full, that one included.
    left: u64,
    /// Changes of the map that no write counts.
    notes: u64,
}

/// Changes of the map that are not on flash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Journal {
    params: JournalParams,
    changes: Mark,
    /// Position up to which the map was last saved.
    saved: Mark,
    /// Time when the last page that was sent is on flash.
    saved_at: Instant,
}

impl Journal {
    pub fn new(params: JournalParams) -> Self {
        let changes = Mark { left: params.entries.unwrap_or(u64::MAX), notes: 0 };
        Self { params, changes, saved: changes, saved_at: Instant::ZERO }
    }

    /// Records a change of the map for which no command waits.
    pub fn note(&mut self) {
        self.changes.notes += 1;
    }

    /// A write has changed the map at `now`: when its change is where it has to be.
    #[inline]
    pub fn written(&mut self, now: Instant) -> Instant {
        self.changes.left -= 1;
        if self.changes.left > 0 { now } else { self.save(now) }
    }

    #[cold]
    fn save(&mut self, now: Instant) -> Instant {
        self.changes.left = self.params.entries.unwrap_or(u64::MAX);
        self.saved = self.changes;
        self.saved_at = now + self.params.time;
        self.saved_at
    }

    /// Time when all changes up to the moment `begun` are on flash.
    fn flush(&mut self, now: Instant, begun: Mark) -> Instant {
        // A page that filled up meanwhile holds them.
        let Some(later) = begun.left.checked_sub(self.changes.left) else { return now.max(self.saved_at) };
        if begun == self.saved {
            return now.max(self.saved_at);
        }
        let at = self.save(now);
        // Later changes belong to the next flush.
        self.saved.notes = begun.notes;
        self.changes.left = self.changes.left.saturating_sub(later).max(1);
        at
    }
}

/// Flushes of the host, by slot: those that are under way as one, and those that wait for its end.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    under_way: Vec<u32>,
    /// Position when they began: later changes belong to the next flush.
    begun: Mark,
    next: Vec<u32>,
}

impl Ssd {
    /// A flush that its host does not send.
    #[cold]
    pub(super) fn forgo_flush(&mut self, now: Instant, command: Command, submitted: Instant) {
        self.counters.flushes += 1;
        let times = Times { queue: now.since(submitted), ..Times::default() };
        self.finish(Done { token: command.token, at: now, times, bytes_back: 0, fault: None });
    }

    /// A flush of the host: at once where the buffer counts as durable, else with those that came during the last one.
    pub(super) fn take_flush(&mut self, now: Instant, index: u32) {
        self.counters.flushes += 1;
        if !self.params.cache.flush_writes {
            return self.acknowledge(now, index);
        }
        self.join_flush(now, index);
    }

    /// Adds a flush or forced write to the next group, which begins at once if none is under way.
    pub(super) fn join_flush(&mut self, now: Instant, index: u32) {
        self.flushes.next.push(index);
        if self.flushes.under_way.is_empty() {
            self.begin_flush(now);
        }
    }

    /// The flush under way has ended: those that waited are the next.
    pub(super) fn begin_flush(&mut self, now: Instant) {
        let Flushes { under_way, begun, next } = &mut self.flushes;
        under_way.clear();
        std::mem::swap(under_way, next);
        if under_way.iter().any(|index| self.slots[*index as usize].command.op == Op::Write) {
            self.journal.note();
        }
        *begun = self.journal.changes;
        if let Some(&first) = under_way.first() {
            self.flush(now, first);
        }
    }

    /// Everything in the buffer becomes durable, and then the group of which `index` is the first is acknowledged.
    fn flush(&mut self, now: Instant, index: u32) {
        let mut flash =
            Timed { nand: &mut self.nand, queue: &mut self.work, account: self.account.as_deref_mut(), now };
        self.ftl.drain(&mut flash);
        flash.flush_reads();
        self.slots[index as usize].until = self.work.issued();
        if self.work.is_done(self.work.issued()) {
            return self.save_map(now);
        }
        self.waiting_flush.push_back(index);
    }

    /// Data that a flush or a forced write waited for is on flash, except the map's changes.
    pub(super) fn save_map(&mut self, now: Instant) {
        let at = self.journal.flush(now, self.flushes.begun);
        for number in 0..self.flushes.under_way.len() {
            self.acknowledge(at, self.flushes.under_way[number]);
        }
        self.push(at, Event::Flushed);
    }
}

#[cfg(test)]
mod tests {
    use hotband_units::Span;

    use super::*;

    const SAVED: Span = Span(1_000);

    fn journal() -> Journal {
        Journal::new(JournalParams { entries: Some(100), time: SAVED })
    }

    #[test]
    fn a_change_during_a_flush_is_saved_by_the_next() {
        let mut journal = journal();
        journal.written(Instant(0));
        let first = journal.changes;
        journal.note();
        assert_eq!(journal.flush(Instant(10), first), Instant(10) + SAVED);
        let second = journal.changes;
        assert_eq!(journal.flush(Instant(5_000), second), Instant(5_000) + SAVED, "a trim came during the first");
        assert_eq!(journal.flush(Instant(9_000), journal.changes), Instant(9_000), "nothing has changed since");
    }

    #[test]
    fn a_page_that_fills_up_saves_what_came_before_it() {
        let mut journal = journal();
        journal.note();
        for _ in 0..100 {
            journal.written(Instant(0));
        }
        assert_eq!(journal.flush(Instant(5_000), journal.changes), Instant(5_000));
    }
}
